"""Matching: the near-duplicate pairs of a whole store, at any threshold.

Bands are made anew from the stored slots. Slots decide where the 95 % interval of their estimate lies on one side of the
threshold, texts decide inside it. The complete mode does without chance: it reads all texts and finds every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from indexer.collection import Collection, Progress, collect, silent
from indexer.copies import Spelling, Wanted
from indexer.errors import UnknownMeasure, UsageError
from indexer.hotbands import Missed
from indexer.joining import Capped, Places, whole_runs
from indexer.lookup import recipe_of
from indexer.measures import MEASURES
from indexer.planning import Plan, plan
from indexer.recipe import Recipe
from indexer.scratch import DEFAULT_MEGABYTES, Scratch
from indexer.sorting import Codes, Column, Room, Sorter, parts
from indexer.stores.base import Store
from indexer.textpairs import TextPairs, complete, likely
from indexer.verifying import Verifier

CAP = 1000
ALMOST_ONE = 0.999
PLACE_BITS = 36
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two near duplicates. `measure` names what `similarity` is: `estimate` where the slots alone decided."""

    a: str
    b: str
    similarity: float
    measure: str


@dataclass(frozen=True, slots=True)
class Matched:
    """The pairs of a store, each once, and how they were found.

    Iterating gives them sorted by a, then b; a < b, or with `against` a document without the label and then one with it.
    `plan` is None in the complete mode. `candidates` counts pairs of distinct texts that were looked at, `copies_left_out`
    the pairs between copies of the same texts that were too many to list.
    """

    documents: int
    threshold: float
    plan: Plan | None
    candidates: int
    capped: Capped
    copies_left_out: int
    against: str | None
    measure: str
    ids: Sequence[str]
    paths: Sequence[str]
    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    room: Room

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[Pair]:
        columns = (self.left, self.right, self.similarity, self.exact)
        for a, b, similarity, exact in zip(*columns, strict=True):
            yield Pair(self.ids[int(a)], self.ids[int(b)], float(similarity), self.measure if exact else "estimate")

    def by_document(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Every document that has matches, by id, with all of them, most similar first, ties by id; as places in `ids`.

        With `against` those that carry the label are matches only.
        """
        sorter, low = Sorter(self.room), np.uint64((1 << PLACE_BITS) - 1)
        for part in parts(len(self), self.room.block):
            places = np.arange(part.start, part.stop, dtype=np.uint64)
            for side in (self.left, self.right)[: 2 if self.against is None else 1]:
                sorter.add(side[part].astype(np.uint64) << np.uint64(PLACE_BITS) | places)
        codes = sorter.sorted()
        for part in whole_runs(codes, low, self.room.block):
            documents, places = codes[part] >> np.uint64(PLACE_BITS), codes[part] & low
            others = np.where(self.left[places] == documents, self.right[places], self.left[places])
            similarity = self.similarity[places]
            order = np.lexsort((others, -similarity, documents))
            rows = zip(documents[order].tolist(), others[order].tolist(), similarity[order].tolist(), strict=True)
            for document, matches in groupby(rows, key=lambda row: row[0]):
                yield document, [(other, value) for _, other, value in matches]

    def notes(self) -> Iterator[str]:
        """What an honest answer adds, in sentences."""
        if self.plan is None:
            yield f"complete: every pair with features at {self.threshold:g} or more"
        else:
            found = ", ".join(f"{self.plan.recall(s):.1%} at {s:.2f}" for s in _steps(self.threshold))
            yield f"{self.plan.bands} bands x {self.plan.rows} rows: expected to find of pairs {found}"
        if self.capped.keys:
            yield (
                f"{self.capped.keys:,} hot bands (up to {self.capped.largest:,} texts) were paired with their first text only; "
                f"{self.capped.pairs:,} pairs were not looked at there; raise --cap, or use --complete"
            )
        if self.capped.missed:
            yield told_missed(self.capped.missed)
        if self.copies_left_out:
            yield f"{self.copies_left_out:,} pairs of copies of the same texts are not listed; raise --cap to list them"


def match(
    store: Store,
    *,
    threshold: float = 0.5,
    false_negative_weight: float = 0.75,
    measure: str = "features",
    against: str | None = None,
    new: bool = False,
    exact: bool = False,
    all_pairs: bool = False,
    cap: int = CAP,
    memory: int = DEFAULT_MEGABYTES,
    progress: Progress = silent,
) -> Matched:
    """Find the pairs of documents whose `measure` is `threshold` or more.

    `against`: only pairs of a document without this label and one that carries it. `new`: only pairs that touch a document
    that came after the last `group`. `exact`: measure every pair on its texts, not only those that the slots leave open.
    `all_pairs`: find every pair by `features`, without chance and caps, at the price of reading all texts. `cap`: a band that
    more distinct texts share gives pairs with the first of them only; copies of a text that make more pairs, likewise.
    `memory`: megabytes that may be used; what does not fit is written to temporary files. The result is the same.

    Documents without keys (empty, too short, numbers only) are in no pair. Raises `UsageError` for a value out of range and
    for a recipe without MinHash slots unless `all_pairs`, `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    recipe = recipe_of(store)
    check(recipe, threshold, measure, all_pairs, cap)
    collection = collect(store, recipe, progress, room(memory))
    wanted = _wanted(collection, against, new)
    verifier = Verifier(store, collection, measure)
    chosen = None
    if all_pairs:
        found = complete(collection, verifier, threshold, wanted, progress)
    else:
        chosen = plan(min(threshold, ALMOST_ONE), collection.slots.shape[1], false_negative_weight)
        found = likely(collection, verifier, threshold, chosen, wanted, exact, cap, progress)
    return _listed(collection, found, wanted, (threshold, chosen, None if all_pairs else cap, against, measure))


def check_measure(measure: str) -> None:
    """Raise `UnknownMeasure` for a name that is none."""
    if measure not in MEASURES:
        raise UnknownMeasure(name=measure, known=tuple(MEASURES))


def check(recipe: Recipe, threshold: float, measure: str, all_pairs: bool, cap: int) -> None:
    """Raise `UsageError` or `UnknownMeasure` for what `match` cannot do."""
    check_measure(measure)
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold must lie between 0 (exclusive) and 1, not {threshold}")
    if all_pairs and measure != "features":
        raise UsageError(f"the complete mode finds all pairs by features, not by {measure}; leave --measure or --complete out")
    if not all_pairs and not recipe.minhash:
        raise UsageError(f"recipe {recipe.name} has no MinHash slots to make bands of; use --complete")
    if cap < 2:
        raise UsageError(f"the cap must be 2 or more, not {cap}")


def room(memory: int) -> Scratch:
    """A room of so many megabytes. Raises `UsageError` when that is none."""
    if memory < 1:
        raise UsageError(f"at least 1 MB of memory is needed, not {memory}")
    return Scratch(memory)


def told_missed(missed: Missed) -> str:
    """What a sample of pairs left out says, in a sentence."""
    return (
        f"of these pairs {missed.drawn:,} were drawn and looked at: {missed.found:,} that no other band finds reach "
        f"{missed.threshold:g}, so about {missed.estimate:,.0f} pairs of texts are left out "
        f"({missed.low:,.0f} to {missed.high:,.0f})"
    )


def _wanted(collection: Collection, against: str | None, new: bool) -> Wanted:
    if against is None and not new:
        return Wanted(collection.documents, None, None)
    flags = np.array([(against in one.labels, one.provisional) for one in collection.entries], dtype=bool).reshape(-1, 2)
    return Wanted(collection.documents, None if against is None else flags[:, 0], flags[:, 1] if new else None)


def _listed(
    collection: Collection, found: TextPairs, wanted: Wanted, asked: tuple[float, Plan | None, int | None, str | None, str]
) -> Matched:
    """The pairs of documents, sorted, that the pairs of texts stand for."""
    threshold, chosen, cap, against, measure = asked
    spelling = Spelling(collection.documents, cap)
    left, right, similarity, exact = _spelled(collection, found, wanted, spelling)
    return Matched(
        documents=len(collection.entries),
        threshold=threshold,
        plan=chosen,
        candidates=found.candidates,
        capped=found.capped,
        copies_left_out=spelling.left_out,
        against=against,
        measure=measure,
        ids=collection.entries.ids,
        paths=collection.entries.paths,
        left=left,
        right=right,
        similarity=similarity,
        exact=exact,
        room=collection.room,
    )


def _spelled(
    collection: Collection, found: TextPairs, wanted: Wanted, spelling: Spelling
) -> tuple[Places, Places, NDArray[np.float64], NDArray[np.bool_]]:
    """The wanted pairs of documents in order, with the similarity of their texts and how it was found."""
    documents, texts = Sorter(collection.room), Column(collection.room, np.uint64)
    for part in parts(len(found.left), collection.room.block):
        texts.add(_codes(found.left[part], found.right[part]))
        for a, b in spelling.between(found.left[part], found.right[part]):
            documents.add(_turned(a, b, wanted))
    for a, b in spelling.among():
        documents.add(_turned(a, b, wanted))
    known, codes = texts.whole(), documents.sorted()
    columns = [Column(collection.room, dtype) for dtype in (np.int32, np.int32, np.float64, np.bool_)]
    for part in parts(len(codes), collection.room.block):
        a, b = (codes[part] >> _HALF).astype(np.int32), (codes[part] & _LOW).astype(np.int32)
        one, other = collection.documents.texts[a], collection.documents.texts[b]
        copies = one == other
        places = np.searchsorted(known, _codes(np.minimum(one, other), np.maximum(one, other)))
        places[copies] = 0
        similarity, exact = np.ones(len(a)), np.ones(len(a), dtype=bool)
        similarity[~copies], exact[~copies] = found.similarity[places[~copies]], found.exact[places[~copies]]
        for column, values in zip(columns, (a, b, similarity, exact), strict=True):
            column.add(values)
    left, right, similarities, exacts = (column.whole() for column in columns)
    return left, right, similarities, exacts


def _turned(a: Places, b: Places, wanted: Wanted) -> Codes:
    one, other, kept = wanted.turned(a, b)
    return _codes(one[kept], other[kept])


def _codes(left: Places, right: Places) -> Codes:
    codes: Codes = left.astype(np.uint64) << _HALF | right.astype(np.uint64)
    return codes


def _steps(threshold: float) -> list[float]:
    """The threshold and a few similarities above it."""
    return [threshold, *(step for step in (0.6, 0.7, 0.8, 0.9) if step > threshold)][:4]
