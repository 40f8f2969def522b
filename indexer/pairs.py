"""Matching: the near-duplicate pairs of a whole store, at any threshold.

Bands are made anew from the stored slots. Slots decide where the 95 % interval of their estimate lies on one side of the
threshold, texts decide inside it. The complete mode does without chance: it reads all texts and finds every pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from indexer.collection import Collection, Progress, collect, silent
from indexer.copies import Wanted, spelled_out
from indexer.errors import UnknownMeasure, UsageError
from indexer.joining import Capped, Places
from indexer.lookup import recipe_of
from indexer.measures import MEASURES
from indexer.planning import Plan, plan
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.textpairs import TextPairs, complete, likely
from indexer.verifying import Verifier

CAP = 1000
ALMOST_ONE = 0.999


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
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[Pair]:
        columns = (self.left, self.right, self.similarity, self.exact)
        for a, b, similarity, exact in zip(*columns, strict=True):
            yield Pair(self.ids[a], self.ids[b], float(similarity), self.measure if exact else "estimate")

    def by_document(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Every document that has matches, by id, with all of them, most similar first, ties by id; as places in `ids`.

        With `against` those that carry the label are matches only.
        """
        a, b, similarity = self.left, self.right, self.similarity
        if self.against is None:
            a, b, similarity = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([similarity, similarity])
        order = np.lexsort((b, -similarity, a))
        rows = zip(a[order].tolist(), b[order].tolist(), similarity[order].tolist(), strict=True)
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
    progress: Progress = silent,
) -> Matched:
    """Find the pairs of documents whose `measure` is `threshold` or more.

    `against`: only pairs of a document without this label and one that carries it. `new`: only pairs that touch a document
    that came after the last `group`. `exact`: measure every pair on its texts, not only those that the slots leave open.
    `all_pairs`: find every pair by `features`, without chance and caps, at the price of reading all texts. `cap`: a band that
    more distinct texts share gives pairs with the first of them only; copies of a text that make more pairs, likewise.

    Documents without keys (empty, too short, numbers only) are in no pair. Raises `UsageError` for a value out of range and
    for a recipe without MinHash slots unless `all_pairs`, `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    recipe = recipe_of(store)
    check(recipe, threshold, measure, all_pairs, cap)
    collection = collect(store, recipe, progress)
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


def _wanted(collection: Collection, against: str | None, new: bool) -> Wanted:
    entries = collection.entries
    marked = None if against is None else np.array([against in entry.labels for entry in entries], dtype=bool)
    fresh = np.array([entry.provisional for entry in entries], dtype=bool) if new else None
    return Wanted(collection.documents, marked, fresh)


def _listed(
    collection: Collection, found: TextPairs, wanted: Wanted, asked: tuple[float, Plan | None, int | None, str | None, str]
) -> Matched:
    """The pairs of documents, sorted, that the pairs of texts stand for."""
    threshold, chosen, cap, against, measure = asked
    spelled = spelled_out(found.left, found.right, collection.documents, cap)
    similarity = np.append(found.similarity, 1.0)[spelled.origin]
    exact = np.append(found.exact, True)[spelled.origin]
    a, b, kept = wanted.turned(spelled.a, spelled.b)
    order = np.lexsort((b, a))
    order = order[kept[order]]
    return Matched(
        documents=len(collection.entries),
        threshold=threshold,
        plan=chosen,
        candidates=found.candidates,
        capped=found.capped,
        copies_left_out=spelled.left_out,
        against=against,
        measure=measure,
        ids=tuple(entry.id for entry in collection.entries),
        paths=tuple(entry.path for entry in collection.entries),
        left=a[order],
        right=b[order],
        similarity=similarity[order],
        exact=exact[order],
    )


def _steps(threshold: float) -> list[float]:
    """The threshold and a few similarities above it."""
    return [threshold, *(step for step in (0.6, 0.7, 0.8, 0.9) if step > threshold)][:4]
