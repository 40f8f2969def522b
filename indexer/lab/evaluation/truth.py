"""The judged pairs of each group of a gold set, by keys of documents instead of names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import gold_sets
from indexer.lab.evaluation.judgements import (
    DIFFERENT,
    DUPLICATES,
    Gold,
    GoldDocument,
    GoldSet,
    LabelledPair,
)
from indexer.statistics.precision_recall import ordered_pair

Pair = tuple[str, str]


@dataclass(frozen=True)
class Group:
    """One group: the keys of its documents, its judged pairs, and its sets.

    Pairs are ordered keys. `closed`: a pair that is not known is different.
    """

    name: str
    documents: frozenset[str]
    known: Mapping[Pair, LabelledPair]
    sets: tuple[GoldSet, ...]
    closed: bool

    @property
    def true(self) -> set[Pair]:
        """Return the pairs that are duplicates."""
        return {pair for pair, labelled in self.known.items() if labelled.type in DUPLICATES}

    @property
    def judged(self) -> int:
        """Return the number of pairs whose truth is known."""
        count = len(self.documents)
        return count * (count - 1) // 2 if self.closed else len(self.known)

    def among(self, found_pairs: Collection[Pair]) -> set[Pair]:
        """Return the found pairs whose truth is known in this group."""
        if not self.closed:
            return {pair for pair in found_pairs if pair in self.known}
        return {pair for pair in found_pairs if self.documents.issuperset(pair)}

    def type(self, pair: Pair) -> str:
        """Return the type of a judged pair."""
        return self.known[pair].type if pair in self.known else DIFFERENT

    def kind(self, pair: Pair) -> str:
        """Return the kind of change that made a judged pair; empty when unknown."""
        return self.known[pair].kind if pair in self.known else ""


def groups(gold: Gold, documents: Mapping[str, GoldDocument]) -> list[Group]:
    """Return the groups of a gold set, by name. Raises `UsageError` when two names of a pair are
    the same document.
    """
    keys = {name: labelled.key for name, labelled in documents.items()}
    judged: dict[str, dict[Pair, LabelledPair]] = {}
    for labelled in gold.pairs:
        if keys[labelled.a] == keys[labelled.b]:
            raise UsageError(
                f"{labelled.place}: {labelled.a} and {labelled.b} are the same document; "
                "remove the line"
            )
        earlier = judged.setdefault(labelled.group, {}).setdefault(
            ordered_pair(keys[labelled.a], keys[labelled.b]), labelled
        )
        if earlier.type != labelled.type:
            raise UsageError(
                f"{labelled.place} says {labelled.type}, {earlier.place} says {earlier.type} "
                "of the same two documents; correct one of them"
            )
    sets: dict[str, list[GoldSet]] = {}
    for gold_set in gold_sets(gold):
        members = tuple(dict.fromkeys(keys[name] for name in gold_set.documents))
        sets.setdefault(gold_set.group, []).append(
            GoldSet(members, gold_set.type, gold_set.group, gold_set.place)
        )
    return [
        Group(
            name,
            frozenset(chain.from_iterable(pairs)),
            pairs,
            tuple(sets.get(name, ())),
            gold.closed,
        )
        for name, pairs in sorted(judged.items())
    ]
