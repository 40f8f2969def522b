"""The near-duplicate pairs of a store, how they were found, and what may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.external_sort import Codes, Sorter
from indexer.joins.hot_bands import MissedEstimate
from indexer.joins.memory_budget import MemoryBudget, parts
from indexer.joins.runs import Places, slices_of_runs
from indexer.joins.slot_bounds import equal_slots, similarity_intervals
from indexer.joins.string_sequences import StringSequence
from indexer.similarity.omissions import Omission, OmissionLog, OmissionSummary
from indexer.sketch.passage_keys import GUARANTEED_LENGTH
from indexer.sketch.plan import Plan, describe_plan
from indexer.statistics.strata import Audit, describe_audit
from indexer.text.wording import count_of, percent

PLACE_BITS = 36  # of a pair's place, beside the number of a document in 64 bits


@dataclass(frozen=True, slots=True)
class Pair:
    """Two near duplicates.

    `measure` names what `similarity` is: `estimate` where the slots alone decided. `low` and
    `high`: the 95 % Wilson interval of an estimate; both equal an exact measure. `containment`, of
    `match` with `contained`: how much of a lies in b, and of b in a. `as_read`: a text was cut, and
    the rest of it is not known. `left_out`: what approved passages took out of both texts; None
    without such a list.
    """

    a: str
    b: str
    similarity: float
    measure: str
    low: float
    high: float
    containment: tuple[float, float] | None = None
    as_read: bool = False
    left_out: Omission | None = None


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The pairs of a store, each once, and how they were found.

    Iterating gives them sorted by a, then b; a < b, or with `against` a document without the label
    and then one with it. `slots`: how many a sketch has, 0 for a recipe without, of
    `slot_bits` each. `plan` is None in
    the complete mode. `candidates` counts pairs of distinct texts that were looked at,
    `copies_left_out` the pairs between copies of the same texts that were too many to list.
    `audit`: an estimate of what was missed, or None. `truncated`: the documents whose texts were
    cut, as places in `ids`. `left_out`: what approved passages took out of the texts, None without
    such a list.
    """

    documents: int
    threshold: float
    plan: Plan | None
    candidates: int
    capped: CapReport
    copies_left_out: int
    against: str | None
    measure: str
    slots: int
    slot_bits: int
    ids: Sequence[str]
    paths: Sequence[str]
    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    budget: MemoryBudget
    within: NDArray[np.float64] | None = None
    audit: Audit | None = None
    truncated: frozenset[int] = frozenset()
    left_out: OmissionLog | None = None

    def __len__(self) -> int:
        return len(self.left)

    @property
    def names(self) -> Sequence[str]:
        """The path of each document, or its id where it has none."""
        return _FirstNames(self.paths, self.ids)

    def __iter__(self) -> Iterator[Pair]:
        for part in parts(len(self), self.budget.block):
            columns = (
                self.left[part],
                self.right[part],
                self.similarity[part],
                *self.intervals(part),
            )
            rows = zip(*(column.tolist() for column in columns), self.measures(part), strict=True)
            for place, (a, b, similarity, low, high, measure) in enumerate(rows, part.start):
                scores = similarity, measure, low, high, self._containment(place)
                left_out = self._left_out(self.ids[a], self.ids[b])
                yield Pair(self.ids[a], self.ids[b], *scores, self._is_cut(a, b), left_out)

    def _left_out(self, a: str, b: str) -> Omission | None:
        return None if self.left_out is None else self.left_out.of_pair(a, b)

    @property
    def omissions(self) -> OmissionSummary | None:
        """The totals of what was left out of all texts; None without a list."""
        return None if self.left_out is None else self.left_out.summary()

    def _is_cut(self, a: int, b: int) -> bool:
        return a in self.truncated or b in self.truncated

    def _containment(self, place: int) -> tuple[float, float] | None:
        if self.within is None:
            return None
        return float(self.within[place, 0]), float(self.within[place, 1])

    def as_read(self, part: slice) -> list[bool]:
        """Return for each of these pairs whether a text was cut."""
        return list(map(self._is_cut, self.left[part].tolist(), self.right[part].tolist()))

    def measures(self, part: slice) -> list[str]:
        """Return the name of the measure of each of these pairs."""
        return [self.measure if exact else "estimate" for exact in self.exact[part]]

    def intervals(self, part: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bound of the similarity of each of these pairs.

        The 95 % Wilson interval of estimates; both bounds equal an exact similarity.
        """
        similarity = self.similarity[part]
        exact = self.exact[part] & (self.measure != "estimate")
        equal = equal_slots(similarity, self.slots, self.slot_bits)
        lows, highs = similarity_intervals(self.slots, bits=self.slot_bits)
        return np.where(exact, similarity, lows[equal]), np.where(exact, similarity, highs[equal])

    def by_document(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Yield every document that has matches, by id, with all its matches.

        Documents are places in `ids`; matches come most similar first, ties by id. With `against`
        those that carry the label are matches only.
        """
        low = np.uint64((1 << PLACE_BITS) - 1)
        codes = self._sorted_codes()
        for part in slices_of_runs(codes, low, self.budget.block):
            documents = codes[part] >> np.uint64(PLACE_BITS)
            places = codes[part] & low
            others = np.where(self.left[places] == documents, self.right[places], self.left[places])
            similarity = self.similarity[places]
            order = np.lexsort((others, -similarity, documents))
            rows = zip(
                documents[order].tolist(),
                others[order].tolist(),
                similarity[order].tolist(),
                strict=True,
            )
            for document, matches in groupby(rows, key=lambda row: row[0]):
                yield document, [(other, value) for _, other, value in matches]

    def _sorted_codes(self) -> Codes:
        """Return document << PLACE_BITS | place of the pair, ascending."""
        sorter = Sorter(self.budget)
        sides = [self.left, self.right] if self.against is None else [self.left]
        for part in parts(len(self), self.budget.block):
            places = np.arange(part.start, part.stop, dtype=np.uint64)
            for side in sides:
                sorter.add(side[part].astype(np.uint64) << np.uint64(PLACE_BITS) | places)
        return sorter.sorted()

    def _passage_notes(self) -> Iterator[str]:
        yield (
            f"one text holds {percent(self.threshold)} or more of the other in shared passages; "
            f"every such pair with a shared stretch of {GUARANTEED_LENGTH} letters"
        )
        if self.capped.keys:
            yield (
                f"{count_of(self.capped.keys, 'passage')} in many texts "
                f"(up to {self.capped.largest:,}) left out: texts that share no other are not "
                "listed; raise --cap"
            )

    def notes(self) -> Iterator[str]:
        """Yield how pairs were found and what may be missing, in sentences."""
        if self.within is not None:
            yield from self._passage_notes()
        elif self.plan is None:
            yield f"complete: every pair with {self.measure} of {self.threshold:g} or more"
        else:
            yield describe_plan(self.plan)
        if self.capped.keys and self.within is None:
            yield (
                f"in {count_of(self.capped.keys, 'hot band')} "
                f"(up to {self.capped.largest:,} texts) "
                f"all were paired with the first text only, and "
                f"{count_of(self.capped.pairs, 'pair')} not looked at; "
                "raise --cap, or use --complete"
            )
        if self.capped.missed:
            yield describe_missed(self.capped.missed)
        if self.copies_left_out:
            yield (
                f"{count_of(self.copies_left_out, 'pair')} of copies of the same texts left out; "
                "raise --cap to list them"
            )
        if self.omissions:
            yield str(self.omissions)
        if self.audit:
            yield from describe_audit(self.audit)


class _FirstNames(StringSequence):
    """The first of two strings of each document that is not empty."""

    def __init__(self, first: Sequence[str], second: Sequence[str]) -> None:
        self._first, self._second = first, second

    def __len__(self) -> int:
        return len(self._first)

    def at(self, place: int) -> str:
        """Return one of both strings."""
        return self._first[place] or self._second[place]


def describe_missed(missed: MissedEstimate) -> str:
    """Return a sentence on the near duplicates among the pairs that a cap left out."""
    if missed.low == missed.high:
        return (
            f"all {missed.sampled:,} of these were verified: "
            f"{missed.estimate:,.0f} pairs of texts that no other band finds "
            f"reach {missed.threshold:g} and are left out"
        )
    return (
        f"of these pairs a random sample of {missed.sampled:,} was verified: "
        f"{missed.found:,} that no other band finds reach {missed.threshold:g}, "
        f"so about {missed.estimate:,.0f} pairs of texts are left out "
        f"({missed.low:,.0f} to {missed.high:,.0f})"
    )
