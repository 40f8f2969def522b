"""Candidate pairs: texts that share a band of slots, a block of bits, or a key of a few words.

A key that more texts than a cap share pairs them with one of them only; what that costs is
estimated from a sample of the pairs that were left out.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import GAMMA, MASK, mix64, mix64_array
from indexer.fingerprinting.keys import Design, band_hashes, block_hashes, count_ones, tables
from indexer.fingerprinting.minhash import wilson
from indexer.grouping.words_in_common import PassedOver, short_keys
from indexer.system.external_memory import (
    AT_ONCE,
    BLOCK,
    Codes,
    Column,
    MemoryBudget,
    Positions,
    Sorter,
    bits_for,
    encode_pair,
    find_runs,
    offsets,
    pairs_in_runs,
    parts,
    slices_of_runs,
)

SAMPLE_SIZE = 1000
_TOP = float(1 << 64)


@dataclass(frozen=True, slots=True)
class MissedEstimate:
    """An estimate of the near duplicates that a cap left out.

    `sampled` pairs were verified, of which `found` are near duplicates. `estimate`, with its 95 %
    interval from `low` to `high`, counts pairs of distinct texts at `threshold` or above, each
    once; all three are equal when every pair that was left out was examined. A pair that several
    bands left out is in the sample once for each.
    """

    threshold: float
    sampled: int
    found: int
    estimate: float
    low: float
    high: float

    def add(self, other: MissedEstimate) -> MissedEstimate:
        """Return the sum of two estimates at the same threshold."""
        return MissedEstimate(
            self.threshold,
            self.sampled + other.sampled,
            self.found + other.found,
            self.estimate + other.estimate,
            self.low + other.low,
            self.high + other.high,
        )


class FrequentBands:
    """Hot bands, and a sample of the pairs that were left out in them.

    The sample has `SAMPLE_SIZE` pairs with equal chance, or all if there are no more. A pair that
    several frequent bands left out counts once for each, which `weights` corrects. The centre of a
    band is paired with all others, so the pairs left out are those among the others.
    """

    def __init__(self, slots: NDArray[np.uint32], bands: int, rows: int) -> None:
        self._slots, self._bands, self._rows = slots, bands, rows
        self._numbers, self._values, self._centres = array("i"), array("Q"), array("i")
        self._left = np.zeros(SAMPLE_SIZE, dtype=np.int32)
        self._right = np.zeros(SAMPLE_SIZE, dtype=np.int32)
        self._every: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self.pairs = self.largest = 0

    def __len__(self) -> int:
        return len(self._values)

    def add(self, band: int, value: int, centre: int, others: NDArray[np.int32]) -> None:
        """Add a frequent band: its number and hash, the document paired with all others, the
        others.
        """
        self._numbers.append(band)
        self._values.append(value)
        self._centres.append(centre)
        self.largest = max(self.largest, len(others) + 1)
        count = len(others)
        left_out = count * (count - 1) // 2
        self.pairs += left_out
        if self.pairs > SAMPLE_SIZE:
            self._every.clear()
        elif left_out:
            left, right = np.triu_indices(count, 1)
            self._every.append((others[left], others[right]))
        if left_out:
            self._sample(mix64(value ^ mix64(band)), others, left_out / self.pairs)

    def _sample(self, seed: int, others: NDArray[np.int32], chance: float) -> None:
        """Replace each sampled pair with this chance by a pair of this band."""
        steps = np.arange(3 * SAMPLE_SIZE, dtype=np.uint64) * np.uint64(GAMMA)
        randoms = mix64_array(steps + np.uint64(seed & MASK)).reshape(3, SAMPLE_SIZE)
        positions = np.flatnonzero(randoms[0] / _TOP <= chance)
        a = randoms[1][positions] % np.uint64(len(others))
        b = randoms[2][positions] % np.uint64(len(others) - 1)
        b += b >= a
        self._left[positions] = np.minimum(others[a], others[b])
        self._right[positions] = np.maximum(others[a], others[b])

    @property
    def ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The pairs of the sample: the smaller and the larger document of each."""
        if self.pairs > SAMPLE_SIZE:
            return self._left, self._right
        none = np.zeros(0, np.int32)
        left = np.concatenate([none, *(pairs[0] for pairs in self._every)])
        right = np.concatenate([none, *(pairs[1] for pairs in self._every)])
        return np.minimum(left, right), np.maximum(left, right)

    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each pair of the sample.

        It is 0 for a pair that another band made a candidate, else 1 / the number of bands that
        left the pair out.
        """
        if not self.pairs:
            return np.zeros(0)
        left, right = self.ends
        left_hashes = band_hashes(self._slots[left], self._bands, self._rows)
        right_hashes = band_hashes(self._slots[right], self._bands, self._rows)
        centre, shared = self._centre_of(left_hashes), left_hashes == right_hashes
        frequent = centre >= 0
        compared = shared & (~frequent | (centre == left[:, None]) | (centre == right[:, None]))
        left_out = (shared & frequent).sum(axis=1)
        return np.where(compared.any(axis=1), 0.0, 1.0 / np.maximum(left_out, 1))

    def _centre_of(self, values: Codes) -> NDArray[np.int32]:
        """Return the centre of each band, -1 where it is not frequent; values: (n, bands)."""
        centres = np.full(values.shape, -1, dtype=np.int32)
        numbers, frequent_values = np.array(self._numbers), np.array(self._values)
        frequent_centres = np.array(self._centres)
        for band in range(values.shape[1]):
            mine = np.flatnonzero(numbers == band)
            mine = mine[np.argsort(frequent_values[mine])]
            if not len(mine):
                continue
            frequent = frequent_values[mine]
            positions = np.minimum(np.searchsorted(frequent, values[:, band]), len(mine) - 1)
            is_frequent = frequent[positions] == values[:, band]
            centres[:, band] = np.where(is_frequent, frequent_centres[mine][positions], -1)
        return centres

    def missed(
        self, threshold: float, is_duplicate: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> MissedEstimate:
        """Return the estimate, given which pairs of the sample are near duplicates."""
        total = float(weights[is_duplicate].sum())
        sampled = len(is_duplicate)
        duplicates = int(np.count_nonzero(weights[is_duplicate]))
        if self.pairs <= SAMPLE_SIZE:
            count = round(total)
            return MissedEstimate(threshold, sampled, duplicates, count, count, count)
        low, high = wilson(total, sampled)
        estimate = total / sampled * self.pairs
        return MissedEstimate(
            threshold, sampled, duplicates, estimate, low * self.pairs, high * self.pairs
        )


# Candidate pairs from MinHash slots: documents that share a band, each pair once.


@dataclass(frozen=True, slots=True)
class CapReport:
    """The pairs that the cap left out.

    `keys`: band values that more documents share than the cap allows; `largest`: the most documents
    that share one; `pairs`: the pairs of documents that were not compared because of it. A pair
    that shares several such values counts once for each. `missed`: an estimate of the near
    duplicates among them, if one was made.
    """

    keys: int = 0
    largest: int = 0
    pairs: int = 0
    missed: MissedEstimate | None = None

    def merge(self, other: CapReport) -> CapReport:
        """Return the sum of both reports; the interval of `missed` then covers at least 95 %."""
        missed = self.missed or other.missed
        if self.missed and other.missed:
            missed = self.missed.add(other.missed)
        return CapReport(
            self.keys + other.keys,
            max(self.largest, other.largest),
            self.pairs + other.pairs,
            missed,
        )


class Join:
    """All pairs of documents that share a band of `rows` slots, except those that the cap excludes.

    A band value that more than `cap` documents share is frequent: of its pairs only those with the
    document of the least `rank` are candidates, unless the pair shares a band that is not frequent.
    `rank`: (n,) distinct numbers. Pairs and caps depend on slots, ranks and settings only, not on
    the memory budget. `frequent` and `capped` are complete when `blocks` has been read to the end;
    `done` of `total` bands of documents have been processed.
    """

    def __init__(
        self,
        slots: Slots,
        bands: int,
        rows: int,
        rank: NDArray[np.int64],
        cap: int,
        budget: MemoryBudget | None = None,
    ) -> None:
        self._slots, self._rows, self._rank, self._cap = slots, rows, rank, cap
        self._budget = budget or MemoryBudget()
        self._labels: Positions = self._budget.array((bands, len(slots)), np.int32)
        self._values: Codes = self._budget.array(len(slots), np.uint64)
        self._stars = Sorter(self._budget, unique=True)
        self.frequent = FrequentBands(slots, bands, rows)
        self.done, self.total = 0, bands * len(slots)

    def blocks(self) -> Iterator[tuple[Positions, Positions]]:
        """Yield the pairs as two arrays, left < right, at most about a million pairs at a time."""
        size = self._budget.block
        for band in range(len(self._labels)):
            for members, starts, sizes in self._buckets(band):
                frequent = sizes > self._cap
                for left, right in pairs_in_runs(starts[~frequent], sizes[~frequent], size):
                    yield self._exclude_seen(members[left], members[right], band)
                if frequent.any():
                    self._cap_buckets(band, members, starts[frequent], sizes[frequent])
        stars = self._stars.sorted()
        for part in parts(len(stars), size):
            left, right = np.divmod(stars[part], np.uint64(len(self._slots)))
            first, second = left.astype(np.int32), right.astype(np.int32)
            yield self._exclude_seen(first, second, len(self._labels))

    def _buckets(
        self, band: int
    ) -> Iterator[tuple[Positions, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield documents sorted by one band, with start and size of each shared value."""
        count = len(self._slots)
        bits = np.uint64(bits_for(count))
        low = (np.uint64(1) << bits) - np.uint64(1)
        codes = self._sorted_codes(band, low)
        for part in slices_of_runs(codes, low, self._budget.block):
            self.done = band * count + part.stop
            members, starts, sizes = self._shared(codes[part], bits, low)
            self._label(band, members, starts, sizes)
            yield members, starts, sizes

    def _sorted_codes(self, band: int, low: np.uint64) -> Codes:
        """Return the band's values in order; the bits of `low` hold the number of the document."""
        sorter = Sorter(self._budget)
        columns = slice(band * self._rows, (band + 1) * self._rows)
        size = self._budget.items(8, 8 * (self._rows + 2), limit=AT_ONCE)
        for part in parts(len(self._slots), size):
            numbers = np.arange(part.start, part.stop)
            self._labels[band, part] = -1 - numbers
            self._values[part] = band_hashes(self._slots[part, columns], 1, self._rows)[:, 0]
            sorter.add(self._values[part] & ~low | numbers.astype(np.uint64))
        return sorter.sorted()

    def _label(
        self, band: int, members: Positions, starts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> None:
        """Label the documents of each value that is not frequent with the first of them."""
        cool = sizes <= self._cap
        positions = np.repeat(starts[cool], sizes[cool]) + offsets(sizes[cool])
        self._labels[band][members[positions]] = np.repeat(members[starts[cool]], sizes[cool])

    def _shared(
        self, codes: Codes, bits: np.uint64, low: np.uint64
    ) -> tuple[Positions, NDArray[np.int64], NDArray[np.int64]]:
        """Return the documents whose whole value is shared, sorted by it.

        `codes` are sorted by the upper bits of the value.
        """
        representatives = codes >> bits
        same = representatives[1:] == representatives[:-1]
        alone = ~(np.append(same, False) | np.append(False, same))
        members = (codes[~alone] & low).astype(np.int32)
        values = self._values[members]
        if (values[1:] < values[:-1]).any():
            order = np.lexsort((members, values))
            members, values = members[order], values[order]
        starts, sizes = find_runs(values)
        return members, starts[sizes > 1], sizes[sizes > 1]

    def _exclude_seen(
        self, left: Positions, right: Positions, bands: int
    ) -> tuple[Positions, Positions]:
        """Return the pairs that share none of the first `bands` bands, frequent values aside."""
        for labels in self._labels[:bands]:
            unseen = labels[left] != labels[right]
            if not unseen.all():
                left, right = left[unseen], right[unseen]
        return left, right

    def _cap_buckets(
        self, band: int, members: Positions, starts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> None:
        """Pair the document of the lowest rank with all others, for each frequent value."""
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            bucket = members[start : start + size].astype(np.int64)
            centre = bucket[np.argmin(self._rank[bucket])]
            others = bucket[bucket != centre]
            pairs = np.minimum(others, centre) * len(self._slots) + np.maximum(others, centre)
            self._stars.add(pairs.astype(np.uint64))
            self.frequent.add(band, int(self._values[centre]), int(centre), others.astype(np.int32))

    @property
    def capped(self) -> CapReport:
        """The report of what the cap has left out so far."""
        return CapReport(len(self.frequent), self.frequent.largest, self.frequent.pairs)


# Candidate pairs of short texts, without chance: texts that share a choice of their words.

_AT_ONCE = 1000  # texts whose keys are made together


class ShortTexts:
    """The pairs of texts of which one is short, and that may reach a threshold of `lcs`.

    `rank`: (texts,) distinct numbers. A key that more than `cap` texts share is frequent: it pairs
    the text of the lowest rank with all others. The memory budget holds 8 bytes a key, and 8 a
    pair.
    """

    def __init__(
        self, threshold: float, rank: NDArray[np.int64], cap: int, budget: MemoryBudget
    ) -> None:
        self._threshold, self._rank, self._cap, self._budget = threshold, rank, cap, budget
        self._bits = np.uint64(bits_for(len(rank)))
        self._keys = Sorter(budget)
        self._waiting: dict[int, list[tuple[int, NDArray[np.uint64]]]] = defaultdict(list)
        self.capped = CapReport()

    def put(self, text: int, words: NDArray[np.uint64]) -> None:
        """Add a text, by a hash for each occurrence of each word: (words,) uint64, distinct."""
        waiting = self._waiting[len(words)]
        waiting.append((text, words))
        if len(waiting) == _AT_ONCE:
            self._add_keys(len(words))

    def pairs(self) -> Codes:
        """Return the pairs as codes of `encode_pair`, left < right, each once, ascending.

        No text may be added afterwards.
        """
        for length in list(self._waiting):
            self._add_keys(length)
        low = (np.uint64(1) << self._bits) - np.uint64(1)
        codes = self._keys.sorted()
        pairs = Sorter(self._budget, unique=True)
        for part in slices_of_runs(codes, low, self._budget.block):
            texts = (codes[part] & low).astype(np.int32)
            starts, sizes = find_runs(codes[part] & ~low)
            frequent = sizes > self._cap
            for left, right in pairs_in_runs(
                starts[~frequent], sizes[~frequent], self._budget.block
            ):
                pairs.add(encode_pair(texts[left], texts[right]))
            for start, size in zip(
                starts[frequent].tolist(), sizes[frequent].tolist(), strict=True
            ):
                pairs.add(self._star(texts[start : start + size]))
        return pairs.sorted()

    def _add_keys(self, length: int) -> None:
        """Make the keys of the texts of so many words that wait for it."""
        waiting = self._waiting.pop(length)
        texts = np.array([text for text, _ in waiting], dtype=np.uint64)
        words = np.sort(np.stack([hashes for _, hashes in waiting]), axis=1)
        keys = short_keys(words, self._threshold)
        self._keys.add((keys >> self._bits << self._bits | texts[:, None]).ravel())

    def _star(self, texts: Positions) -> Codes:
        """Return the pairs of the text of the lowest rank with all others."""
        centre = texts[np.argmin(self._rank[texts])]
        others = texts[texts != centre]
        size = len(texts)
        left_out = (size - 1) * (size - 2) // 2
        self.capped = self.capped.merge(CapReport(1, size, left_out))
        return encode_pair(np.minimum(others, centre), np.maximum(others, centre))


# Candidate pairs from sketches of bits: sketches that share a block of bits, by sort and tables.


class ClosePairs:
    """The pairs of sketches within `distance` bits, each once.

    `sketches`: (n, words) uint64, the first bits first, bits beyond the design 0.

    A block that more than `cap` sketches share gives pairs with the one of the least `rank` only,
    unless the pair shares another; `capped` says so when `blocks` has been read to the end.
    `candidates` counts the pairs that share a block.
    """

    def __init__(
        self,
        sketches: NDArray[np.uint64],
        design: Design,
        distance: int,
        rank: NDArray[np.int64],
        cap: int,
        budget: MemoryBudget,
    ) -> None:
        masks = tables(design)
        keys = budget.array((len(sketches), len(masks)), np.uint32)
        for table, mask in enumerate(masks):
            keys[:, table] = block_hashes(sketches, mask)
        self._sketches, self._distance = sketches, distance
        self._join = Join(keys, len(masks), 1, rank, cap, budget)
        self.candidates = 0

    def blocks(self) -> Iterator[tuple[Positions, Positions, NDArray[np.int64]]]:
        """Yield the pairs as left, right and the number of different bits; left < right."""
        for left, right in self._join.blocks():
            self.candidates += len(left)
            apart = count_ones(self._sketches[left] ^ self._sketches[right])
            is_close = apart <= self._distance
            yield left[is_close], right[is_close], apart[is_close]

    @property
    def capped(self) -> CapReport:
        """Return the report of what the cap has left out so far."""
        return self._join.capped

    @property
    def progress(self) -> tuple[int, int]:
        """Blocks of sketches that have been compared, and of how many."""
        return self._join.done, self._join.total


# Pairs of the distinct texts of a collection, at or above a threshold.

NOTHING_CAPPED = CapReport()
PAIRS_AT_ONCE = 1 << 14  # pairs that are verified at a time


@dataclass(frozen=True, slots=True)
class TextPairs:
    """Pairs of texts at or above a threshold, sorted by left, then right.

    `exact`: measured on the texts, else estimated from the slots. `candidates`: how many pairs were
    looked at. `within`, of contained texts: (pairs, 2) how much of the left text is in the right
    one, and of the right in the left. `rank` orders pairs: the similarity less what new words cost.
    `passed_over`: how many of the candidates by `lcs` are rearranged or grown.
    """

    left: Positions
    right: Positions
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    rank: NDArray[np.float64]
    candidates: int = 0
    capped: CapReport = NOTHING_CAPPED
    within: NDArray[np.float64] | None = None
    passed_over: PassedOver = field(default_factory=PassedOver)


def merge_text_pairs(one: TextPairs, other: TextPairs) -> TextPairs:
    """Return the pairs of two results that have none in common and no containment."""
    left, right = np.append(one.left, other.left), np.append(one.right, other.right)
    order = np.lexsort((right, left))
    return TextPairs(
        left[order],
        right[order],
        np.append(one.similarity, other.similarity)[order],
        np.append(one.exact, other.exact)[order],
        np.append(one.rank, other.rank)[order],
        one.candidates + other.candidates,
        one.capped.merge(other.capped),
        passed_over=one.passed_over + other.passed_over,
    )


PairRank = Callable[[Positions, Positions, NDArray[np.float64]], NDArray[np.float64]]


class TextPairsBuilder:
    """Collects the pairs that reach the threshold, block after block.

    `rank` returns the ranks of pairs, given left, right and similarity.
    """

    def __init__(self, budget: MemoryBudget, threshold: float, rank: PairRank) -> None:
        self._threshold = threshold
        self._rank = rank
        dtypes = (np.int32, np.int32, np.float64, np.bool_, np.float64)
        self._columns = [Column(budget, dtype) for dtype in dtypes]

    def add(
        self,
        left: Positions,
        right: Positions,
        similarity: NDArray[np.float64],
        exact: NDArray[np.bool_],
    ) -> TextPairs:
        """Take the pairs among these that reach the threshold, and all that are not `exact`.

        The slots of the latter have decided before. Returns the pairs that were taken.
        """
        reaches = ~exact | ((similarity >= self._threshold) & (similarity > 0))
        left, right, similarity = left[reaches], right[reaches], similarity[reaches]
        rank = self._rank(left, right, similarity)
        taken = TextPairs(left, right, similarity, exact[reaches], rank)
        arrays: tuple[NDArray[Any], ...] = (left, right, similarity, taken.exact, rank)
        for column, values in zip(self._columns, arrays, strict=True):
            column.add(values)
        return taken

    def build(self, candidates: int, capped: CapReport) -> TextPairs:
        """Return the pairs; none may be added afterwards."""
        left, right, similarity, exact, rank = (column.whole() for column in self._columns)
        return TextPairs(left, right, similarity, exact, rank, candidates, capped)


# Pairs of texts that share a band, with the number of their equal slots, sorted.


class BandPairs:
    """Pairs of texts and how many of their slots are equal; ascending by left, then right.

    `texts`: how many there are. `width`: slots of a sketch. `candidates` counts all pairs that
    share a band, those with too few equal slots included, and those found by their words alone:
    these have 0 for their equal slots, by which no pair is ruled out. A pair takes 8 bytes of the
    memory budget. Raises `UsageError` for more texts than a code can number.
    """

    def __init__(self, texts: int, width: int, budget: MemoryBudget) -> None:
        self._budget = budget
        self._text_bits = np.uint64(bits_for(texts))
        self._slot_bits = np.uint64(bits_for(width + 1))
        if 2 * self._text_bits + self._slot_bits > 64:
            raise UsageError(
                f"{texts:,} distinct texts are too many for one machine; use nearfold on Spark"
            )
        self._sorter: Sorter | None = Sorter(budget)
        self._codes: Codes = np.zeros(0, dtype=np.uint64)
        self.candidates = 0
        self.capped = CapReport()

    def add(self, left: Positions, right: Positions, equal: NDArray[np.uint16]) -> None:
        """Take more pairs, each once."""
        if self._sorter is None:
            raise ValueError("the pairs are sorted already")
        pairs = left.astype(np.uint64) << self._text_bits | right.astype(np.uint64)
        self._sorter.add(pairs << self._slot_bits | equal.astype(np.uint64))

    def sort(self) -> None:
        """Put the pairs in order; none may be added afterwards."""
        if self._sorter is not None:
            self._codes = self._sorter.sorted()
            self._sorter = None

    def __len__(self) -> int:
        return len(self._codes)

    def blocks(
        self, minimum: int = 0, size: int = BLOCK
    ) -> Iterator[tuple[Positions, Positions, NDArray[np.uint16]]]:
        """Yield the pairs with `minimum` equal slots or more, as left, right and equal slots.

        Those found by their words alone are among them, with 0. `size` pairs are looked at a time.
        """
        for part in parts(len(self._codes), min(size, self._budget.block)):
            codes = self._codes[part]
            equal = (codes & _ones(self._slot_bits)).astype(np.uint16)
            is_enough = (equal >= minimum) | (equal == 0)
            left, right = self._texts(codes[is_enough] >> self._slot_bits)
            yield left, right, equal[is_enough]

    def sample(self, number: int) -> tuple[Positions, Positions, NDArray[np.uint16]]:
        """Return at most so many pairs, as `blocks` does, at equal distances in their order."""
        positions = np.linspace(0, max(0, len(self) - 1), min(number, len(self))).astype(np.int64)
        codes = np.asarray(self._codes[positions])
        left, right = self._texts(codes >> self._slot_bits)
        return left, right, (codes & _ones(self._slot_bits)).astype(np.uint16)

    def nearest_first(self) -> Iterator[tuple[Positions, Positions]]:
        """Yield the pairs in blocks, those with most equal slots first, then in order."""
        sorter = Sorter(self._budget)
        pair_bits = np.uint64(2) * self._text_bits
        for part in parts(len(self._codes), self._budget.block):
            codes = self._codes[part]
            different = ~codes & _ones(self._slot_bits)
            sorter.add(different << pair_bits | codes >> self._slot_bits)
        sorted_codes = sorter.sorted()
        for part in parts(len(sorted_codes), PAIRS_AT_ONCE):
            yield self._texts(sorted_codes[part] & _ones(pair_bits))

    def _texts(self, pairs: Codes) -> tuple[Positions, Positions]:
        left = (pairs >> self._text_bits).astype(np.int32)
        right = (pairs & _ones(self._text_bits)).astype(np.int32)
        return left, right


def _ones(bits: np.uint64) -> np.uint64:
    ones: np.uint64 = np.uint64((1 << int(bits)) - 1)
    return ones


# The equal MinHash slots of pairs.

STEP = 1 << 12


Slots: TypeAlias = NDArray[np.uint32]
"""MinHash slots, (documents, slots)."""


class SlotCounter:
    """A counter of the equal slots of pairs.

    The low byte of each slot is compared first: it rules out most pairs at a quarter of the memory
    traffic.
    """

    def __init__(self, slots: Slots, budget: MemoryBudget | None = None) -> None:
        budget = budget or MemoryBudget()
        size = budget.items(8, 8 * slots.shape[1] or 1, limit=AT_ONCE)
        self._slots = slots
        self._low: NDArray[np.uint8] = budget.array(slots.shape, np.uint8)
        for part in parts(len(slots), size):
            self._low[part] = slots[part]

    def at_least(
        self, left: Positions, right: Positions, minimum: int
    ) -> tuple[Positions, Positions, NDArray[np.uint16]]:
        """Return the pairs with at least `minimum` equal slots, in order, and their equal slots.

        `left` and `right` are positions of documents, (pairs,); the results are (pairs that
        reach,).
        """
        promising = _count_equal(self._low, left, right) >= minimum
        left, right = left[promising], right[promising]
        equal = _count_equal(self._slots, left, right)
        reached = equal >= minimum
        return left[reached], right[reached], equal[reached]

    def count(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Return the number of equal slots of each pair, (pairs,) uint16."""
        return _count_equal(self._slots, left, right)

    def reaches(self, left: Positions, right: Positions, minimum: int) -> NDArray[np.bool_]:
        """Return for each pair whether it has at least `minimum` equal slots, (pairs,) bool."""
        return _count_equal(self._slots, left, right) >= minimum


def _count_equal(
    slots: NDArray[np.uint32] | NDArray[np.uint8], left: NDArray[Any], right: NDArray[Any]
) -> NDArray[np.uint16]:
    counts = np.empty(len(left), dtype=np.uint16)
    for start in range(0, len(left), STEP):
        part = slice(start, start + STEP)
        same = slots[left[part]] == slots[right[part]]
        np.add.reduce(same.view(np.uint8), axis=1, dtype=np.uint16, out=counts[part])
    return counts
