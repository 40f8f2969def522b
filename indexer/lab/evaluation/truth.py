"""A gold set with its names resolved: the judged pairs of each group, whatever names the documents
were given under.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import (
    DIFFERENT,
    DUPLICATES,
    Gold,
    GoldSet,
    LabelledPair,
    gold_sets,
)
from indexer.lab.evaluation.gold_documents import GoldDocuments
from indexer.statistics.precision_recall import ordered

Pair = tuple[str, str]


@dataclass(frozen=True)
class Group:
    """One group: its documents by key, what is known of pairs of them, and the sets that they form.

    Pairs are ordered keys. `closed`: a pair that is not known is different.
    """

    name: str
    documents: frozenset[str]
    known: Mapping[Pair, LabelledPair]
    sets: tuple[GoldSet, ...]
    closed: bool

    @property
    def true(self) -> set[Pair]:
        """The duplicates."""
        return {pair for pair, one in self.known.items() if one.type in DUPLICATES}

    @property
    def judged(self) -> int:
        """Of how many pairs the truth is known."""
        count = len(self.documents)
        return count * (count - 1) // 2 if self.closed else len(self.known)

    def among(self, found: Collection[Pair]) -> set[Pair]:
        """Those of the pairs found of which the truth is known here."""
        if not self.closed:
            return {pair for pair in found if pair in self.known}
        return {pair for pair in found if pair[0] in self.documents and pair[1] in self.documents}

    def type(self, pair: Pair) -> str:
        """What a judged pair is."""
        return self.known[pair].type if pair in self.known else DIFFERENT

    def kind(self, pair: Pair) -> str:
        """How a judged pair was made, if somebody has said so."""
        return self.known[pair].kind if pair in self.known else ""


def groups(gold: Gold, documents: Mapping[str, GoldDocuments]) -> list[Group]:
    """The groups of a gold set, by name. Raises `UsageError` when two names of a pair are the same
    document.
    """
    keys = {name: one.key for name, one in documents.items()}
    known: dict[str, dict[Pair, LabelledPair]] = {}
    for one in gold.pairs:
        if keys[one.a] == keys[one.b]:
            raise UsageError(f"{one.place}: {one.a} and {one.b} are the same document")
        before = known.setdefault(one.group, {}).setdefault(ordered(keys[one.a], keys[one.b]), one)
        if before.type != one.type:
            raise UsageError(
                f"{one.place} says {one.type}, {before.place} says {before.type} of the same two documents"
            )
    sets: dict[str, list[GoldSet]] = {}
    for held in gold_sets(gold):
        members = tuple(dict.fromkeys(keys[name] for name in held.documents))
        sets.setdefault(held.group, []).append(GoldSet(members, held.type, held.group, held.place))
    return [
        Group(
            name,
            frozenset(key for pair in pairs for key in pair),
            pairs,
            tuple(sets.get(name, ())),
            gold.closed,
        )
        for name, pairs in sorted(known.items())
    ]
