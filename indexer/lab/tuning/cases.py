"""The pairs that recipes are tried on: those of a gold set, and pairs of different groups, which
are taken for different.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import UsageError
from indexer.lab.evaluation.gold_documents import gold_documents
from indexer.lab.evaluation.judgements import DIFFERENT, DUPLICATES, Gold
from indexer.lab.evaluation.read_truth import read_truth
from indexer.lab.evaluation.truth import groups
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.statistics.precision_recall import linked_sets
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

UNRELATED = "unrelated"
TIMES_UNRELATED, MOST_UNRELATED = 4, 20_000


@dataclass(frozen=True, slots=True)
class Case:
    """A pair of texts by their places.

    `kind` is how it was made, else its type; `block` tells which pairs stay together when pairs are
    drawn or divided.
    """

    a: int
    b: int
    type: str
    kind: str
    block: int

    @property
    def similar(self) -> bool | None:
        """Whether the two are duplicates; None where one is contained in the other, which counts
        for neither.
        """
        if self.type in DUPLICATES:
            return True
        return False if self.type in (DIFFERENT, UNRELATED) else None


@dataclass(frozen=True, slots=True)
class Cases:
    """Texts, and the pairs among them; `digest` tells whether a run goes on with the same."""

    texts: tuple[str, ...]
    pairs: tuple[Case, ...]
    digest: str

    @property
    def kinds(self) -> dict[str, str]:
        """The type of every kind, in order of appearance."""
        return {one.kind: one.type for one in self.pairs}


def cases_of(
    paths: Sequence[str],
    store: Store | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Cases:
    """Read a gold set, or sheets, and their documents; draw four times as many pairs of documents
    of different blocks.

    A block is a group of the gold set, or what its pairs link together where it has no groups.
    Unrelated pairs are drawn only where there are blocks to draw from: at least two. Raises
    `UsageError` when no pair is a duplicate or none is different, and what `read_truth`, `gold_documents` and
    `groups` raise.
    """
    gold = read_truth(paths).gold
    progress("reading documents", 0, len(gold.documents))
    documents = gold_documents(gold.documents, gold.folder, store)
    groups(gold, documents)  # refuses pairs of one document, and two opinions of the same two
    keys = {one.key: one for one in documents.values()}
    numbers = {key: number for number, key in enumerate(keys)}
    place = {name: numbers[documents[name].key] for name in documents}
    blocks = _blocks(gold, place)
    listed = [
        Case(place[one.a], place[one.b], one.type, one.kind or one.type, blocks[place[one.a]])
        for one in gold.pairs
    ]
    pairs = (*listed, *_unrelated(listed, blocks, len(keys), seed))
    _check(pairs, paths)
    texts = tuple(one.text for one in keys.values())
    return Cases(texts, pairs, _digest(texts, pairs))


def _blocks(gold: Gold, place: dict[str, int]) -> dict[int, int]:
    """The block of every document."""
    if len({one.group for one in gold.pairs}) > 1:
        groups = {
            name: number for number, name in enumerate(sorted({one.group for one in gold.pairs}))
        }
        edges = [(place[name], -1 - groups[one.group]) for one in gold.pairs for name in one.pair]
    else:
        edges = [(place[one.a], place[one.b]) for one in gold.pairs]
    return {
        member: number
        for number, members in enumerate(linked_sets(edges))
        for member in members
        if member >= 0
    }


def _unrelated(
    listed: Sequence[Case], blocks: dict[int, int], documents: int, seed: int
) -> Iterator[Case]:
    if len(set(blocks.values())) < 2:
        return
    chance, seen = RandomSource(seed, UNRELATED), {(one.a, one.b) for one in listed}
    for _ in range(min(TIMES_UNRELATED * len(listed), MOST_UNRELATED)):
        a, b = sorted((chance.below(documents), chance.below(documents)))
        if blocks[a] != blocks[b] and (a, b) not in seen:
            seen.add((a, b))
            yield Case(a, b, UNRELATED, UNRELATED, blocks[a])


def _check(pairs: Sequence[Case], paths: Sequence[str]) -> None:
    for similar, what in (
        (True, "duplicates"),
        (False, "different documents, listed or of another group"),
    ):
        if not any(one.similar is similar for one in pairs):
            raise UsageError(
                f"{', '.join(paths)}: no pair of {what}; both are needed to choose a recipe"
            )


def _digest(texts: Sequence[str], pairs: Sequence[Case]) -> str:
    made = hashlib.sha256()
    for text in texts:
        made.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    for one in pairs:
        made.update(f"{one.a} {one.b} {one.type} {one.kind}\n".encode())
    return made.hexdigest()[:16]
