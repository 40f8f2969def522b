"""Exact similarities of pairs of texts, which are read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.measures import (
    ComparedText,
    jaccard,
    measure_named,
    measure_pair,
    parity_map,
    stored_text,
)
from indexer.comparing.reasons import Rarity
from indexer.fingerprinting.keys import count_ones, pack_slots
from indexer.grouping.candidates import TextPairs
from indexer.grouping.collection import Collection, PairFilter
from indexer.grouping.words_in_common import (
    BATCH,
    BYTES_A_CHAR,
    MAX_CHARS,
    PassedOver,
    SequenceCache,
    count_passed_over,
)
from indexer.model import Progress, no_progress
from indexer.system.approved_passages import OmissionLog
from indexer.system.external_memory import LruCache, MemoryBudget, parts

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

ACCEPTED = 50  # pairs whose words are looked up together
UNDECIDED = -3.0  # below the marks `words_in_common.BELOW`


class HasText(Protocol):
    """A row with its text."""

    @property
    def text(self) -> str:
        """The text."""
        ...


class TextReader(Protocol):
    """A store of texts, of which verification needs no more."""

    def get(self, ids: Sequence[str]) -> Mapping[str, HasText]:
        """Return rows by id; ids that do not exist are absent."""
        ...


class Verifier:
    """Measures pairs of a collection's texts, exactly.

    Texts are named by their numbers in the collection, and read in batches; a quarter of the memory
    budget, 250 MB at the most, keeps them. A text is 1 to itself by every measure, a pair that does
    not meet the criteria of the collection is 0, and a text that has left the store is empty.
    `rarity` has the frequencies that criteria on novelty need. `refused`, if set, receives the
    measure of each pair that reaches a minimum and does not meet the criteria on texts. With
    `marks_passed_over` pairs below a minimum of `lcs` have a mark of `words_in_common.BELOW` as
    their value if they are rearranged or grown. Methods raise `UnknownMeasure`.
    """

    def __init__(
        self,
        store: TextReader,
        collection: Collection,
        measure: str,
        rarity: Rarity | None = None,
    ) -> None:
        self.measure = measure
        self._store = store
        self._collection = collection
        self._limit = collection.budget.items(4, BYTES_A_CHAR, limit=MAX_CHARS)
        self._texts = LruCache[int, ComparedText](self._limit // 3, lambda text: len(text.text))
        self._kept = LruCache[int, str](self._limit // 3, len)
        self._rarity = rarity
        self.refused: dict[tuple[int, int], float] | None = None
        self.marks_passed_over = False
        self._sequences = SequenceCache(self._contents, BYTES_A_CHAR * self._limit)

    def similarities(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        minimum: float = 0.0,
        progress: Progress = no_progress,
    ) -> NDArray[np.float64]:
        """Return the measure of each pair; may be 0 for one below `minimum`.

        Fastest for pairs that are sorted by `left`.
        """
        values = np.empty(len(left))
        progress("measuring pairs", 0, len(left))
        for part in self.batches(left, right):
            pairs = list(zip(left[part].tolist(), right[part].tolist(), strict=True))
            values[part] = self.measure_pairs(pairs, minimum)
            progress("measuring pairs", part.stop, len(left))
        return values

    def batches(self, left: NDArray[np.int32], right: NDArray[np.int32]) -> Iterator[slice]:
        """Yield the pairs in slices whose texts may be read and kept at once."""
        return self._batches(self._collection.chars[left] + self._collection.chars[right])

    def may_reach(
        self, left: NDArray[np.int32], right: NDArray[np.int32], minimum: float
    ) -> NDArray[np.bool_]:
        """Return for each pair whether it may reach `minimum`, by the words of both texts.

        They rule out pairs of `lcs` only. Fastest for pairs that are sorted by `left`.
        """
        flags = np.ones(len(left), dtype=bool)
        if self.measure == "lcs":
            for part in self.batches(left, right):
                pairs = list(zip(left[part].tolist(), right[part].tolist(), strict=True))
                flags[part] = self._sequences.may_reach(pairs, minimum)
            flags |= self._collection.are_copies(left, right)
        return flags

    def count_passed_over(self, left: NDArray[np.int32], right: NDArray[np.int32]) -> PassedOver:
        """Return how many of these pairs, which are below a threshold of `lcs`, are rearranged or
        grown. Other measures have none, nor has `lcs` with criteria, which refuse pairs above it.
        """
        passed_over = PassedOver()
        if self.measure != "lcs" or self._collection.criteria:
            return passed_over
        for part in self.batches(left, right):
            pairs = list(zip(left[part].tolist(), right[part].tolist(), strict=True))
            passed_over += count_passed_over(np.array(self._sequences.values_below(pairs)))
        return passed_over

    def ranks(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        similarity: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the values by which pairs are ordered: the similarity less what new words cost."""
        measure = measure_named(self.measure)
        if not measure.new_word_cost:
            return similarity
        new = np.zeros(len(left), np.int64)
        for part in self.batches(left, right):
            pairs = list(zip(left[part].tolist(), right[part].tolist(), strict=True))
            new[part] = [
                self._count_new_words(a, b) if count is None else count
                for (a, b), count in zip(pairs, self._sequences.new_words(pairs), strict=True)
            ]
        return measure.ranks(similarity, new)

    def _count_new_words(self, a: int, b: int) -> int:
        return len(self.text(a).words.numbering.keys() ^ self.text(b).words.numbering.keys())

    def measure_with(self, text: int, others: Sequence[int], minimum: float = 0.0) -> list[float]:
        """Return the measure of one text with each of others; may be 0 for one below `minimum`."""
        return self.measure_pairs([(text, other) for other in others], minimum)

    def measure_nearest(
        self, text: int, others: Sequence[int], minimum: float = 0.0
    ) -> list[float]:
        """Return the measure of one text with each of others, as `measure_with` does.

        Pairs are compared by criteria on texts from the nearest on, up to one that meets them;
        those after it are `UNDECIDED` less their measure.
        """
        pairs = [(text, other) for other in others]
        if not self._decides_nearest:
            return self.measure_pairs(pairs, minimum)
        values, is_open = self._measure_allowed(pairs, minimum)
        near = [number for number, value in enumerate(values) if value >= minimum]
        order = sorted(near, key=values.__getitem__, reverse=True)
        first = self._first_accepted(order, pairs, is_open)
        for number in order[:first]:
            values[number] = 0.0
        for number in order[first + 1 :]:
            if is_open[number]:
                values[number] = UNDECIDED - values[number]
        return values

    @property
    def _decides_nearest(self) -> bool:
        """True if criteria decide on pairs one by one; novelty asks for the words of all."""
        criteria = self._collection.criteria
        return bool(criteria) and criteria.novelty is None

    def _first_accepted(
        self, order: Sequence[int], pairs: Sequence[tuple[int, int]], is_open: Sequence[bool]
    ) -> int:
        """Return how many pairs in order are refused before the first that is not open, or meets
        the criteria on texts. Ever more texts are read together.
        """
        end = next((each for each, pair in enumerate(order) if not is_open[pair]), len(order))
        start, size = 0, 1
        while batch := [pairs[each] for each in order[start : min(start + size, end)]]:
            if size > 1:
                self._contents(list(dict.fromkeys(chain.from_iterable(batch))))
            for number, pair in enumerate(batch, start):
                if self._accept([pair])[0]:
                    return number
            start, size = start + size, min(2 * size, ACCEPTED)
        return end

    def measure_pairs(self, pairs: Sequence[tuple[int, int]], minimum: float = 0.0) -> list[float]:
        """Return the measure of each pair; may be 0 for one below `minimum`.

        Texts that are not kept are read in one request; pairs that the rules refuse are not.
        """
        if not self._collection.criteria:
            return self._measure(pairs, minimum)
        values, is_open = self._measure_allowed(pairs, minimum)
        near = [number for number, may_be_refused in enumerate(is_open) if may_be_refused]
        for start in range(0, len(near), ACCEPTED):
            batch = near[start : start + ACCEPTED]
            accepted = self._accept([pairs[position] for position in batch])
            for position, is_met in zip(batch, accepted, strict=True):
                if not is_met and self.refused is not None:
                    self.refused[pairs[position]] = values[position]
                values[position] *= is_met
        return values

    def _measure_allowed(
        self, pairs: Sequence[tuple[int, int]], minimum: float
    ) -> tuple[list[float], list[bool]]:
        """Return the measure of each pair, 1 for copies and 0 for those that the rules refuse; and
        whether it is open: at `minimum`, of two texts that may not meet the criteria on texts.
        """
        values = [1.0 if self.allows(a, b) else 0.0 for a, b in pairs]
        are_copies = self._collection.are_copies
        measured = [
            number for number, (a, b) in enumerate(pairs) if values[number] and not are_copies(a, b)
        ]
        found = self._measure([pairs[number] for number in measured], minimum)
        is_open = [False] * len(pairs)
        for number, value in zip(measured, found, strict=True):
            values[number] = value
            is_open[number] = value >= minimum
        return values, is_open

    def _accept(self, pairs: Sequence[tuple[int, int]]) -> list[bool]:
        """Return whether each pair meets the criteria on texts; texts are read if they matter."""
        criteria, compared = self._collection.criteria, self._collection.recipe.compared
        texts = list(dict.fromkeys(chain.from_iterable(pairs)))
        contents = dict(zip(texts, map(compared, self._contents(texts)), strict=True))
        accepted = [criteria.accepts_change(contents[a], contents[b]) for a, b in pairs]
        if all(accepted):
            return accepted
        is_open = [not is_met for is_met in accepted]
        others = iter(self._accept_facts(list(compress(pairs, is_open))))
        return [is_met or next(others) for is_met in accepted]

    def _accept_facts(self, pairs: Sequence[tuple[int, int]]) -> list[bool]:
        criteria = self._collection.criteria
        reads_texts = criteria.needs_facts or criteria.reads_changes
        words = None if reads_texts else self._sequences.words(pairs)
        if words is None:
            self.read(text for pair in pairs for text in pair)
            texts = [(self.text(a), self.text(b)) for a, b in pairs]
            return self.accepts_each(texts, are_changed=True)
        by_words = [criteria.accepts_by_words(left, right) for left, right in words]
        is_open = [not isinstance(result, bool) for result in by_words]
        self.read(text for pair in compress(pairs, is_open) for text in pair)
        return [
            result
            if isinstance(result, bool)
            else criteria.accepts_texts(result, self.text(a), self.text(b))
            for (a, b), result in zip(pairs, by_words, strict=True)
        ]

    def _measure(self, pairs: Sequence[tuple[int, int]], minimum: float) -> list[float]:
        if self.measure == "lcs":
            return self._measure_in_order(pairs, minimum)
        self.read(text for pair in pairs for text in pair)
        if self.measure != "jaccard" or minimum <= 0:
            return [self.similarity(a, b, minimum) for a, b in pairs]
        values: list[float] = []
        for start in range(0, len(pairs), BATCH):
            batch = pairs[start : start + BATCH]
            for (a, b), may_reach in zip(batch, self._parity_allows(batch, minimum), strict=True):
                values.append(self.similarity(a, b, minimum) if may_reach else 0.0)
        return values

    def _measure_in_order(self, pairs: Sequence[tuple[int, int]], minimum: float) -> list[float]:
        """Return `lcs` of each pair, by sequences where they decide and else on the texts."""
        values = self._sequences.measure_pairs(pairs, minimum)
        measured = [
            self.similarity(a, b, minimum) if value is None or a == b else value
            for (a, b), value in zip(pairs, values, strict=True)
        ]
        if not self.marks_passed_over:
            return measured
        below = [pair for pair, value in zip(pairs, measured, strict=True) if value < minimum]
        marks = iter(self._sequences.values_below(below))
        return [next(marks) if value < minimum else value for value in measured]

    def _parity_allows(self, pairs: Sequence[tuple[int, int]], minimum: float) -> list[bool]:
        """Return whether the parity maps of the features of each pair allow such a similarity."""
        texts = [(self.text(a), self.text(b)) for a, b in pairs]
        sizes = [len(left.features) + len(right.features) for left, right in texts]
        left_maps = np.stack([left.parity for left, _ in texts])
        right_maps = np.stack([right.parity for _, right in texts])
        apart = count_ones(left_maps ^ right_maps)
        may_reach: list[bool] = (apart <= max_distance(np.array(sizes, np.int64), minimum)).tolist()
        return may_reach

    def similarity(self, a: int, b: int, minimum: float = 0.0) -> float:
        """Return the measure of two texts by their numbers, whether they meet the criteria or not.

        It may be 0 for one below `minimum`.
        """
        if a == b:
            return 1.0
        left = self.text(a)
        right = self.text(b)
        if self.measure == "jaccard":
            return jaccard(left.features, right.features)
        return measure_pair(self.measure, left, right, minimum=minimum).similarity

    def allows(self, a: int, b: int) -> bool:
        """Return whether the fields of two texts meet the rules of the criteria."""
        collection = self._collection
        if not collection.criteria.fields and not collection.has_embedded:
            return True
        return collection.criteria.allows(collection.rule_values(a), collection.rule_values(b))

    def accepts_each(
        self, pairs: Sequence[tuple[ComparedText, ComparedText]], *, are_changed: bool = False
    ) -> list[bool]:
        """Return whether each pair of texts meets the criteria on texts, as `Criteria` does."""
        criteria = self._collection.criteria
        return criteria.accepts_each(pairs, self._rarity, are_changed=are_changed)

    def all_texts(
        self, progress: Progress = no_progress, stage: str = ""
    ) -> Iterator[ComparedText]:
        """Yield every text in order."""
        count = len(self._collection.chars)
        for part in self._batches(self._collection.chars):
            self.read(range(part.start, part.stop))
            yield from map(self.text, range(part.start, part.stop))
            progress(stage, part.stop, count)

    def occurrences(
        self, texts: NDArray[np.intp], progress: Progress = no_progress, stage: str = ""
    ) -> Iterator[NDArray[np.uint64]]:
        """Yield a hash for each occurrence of each word of these texts, in order."""
        for part in self._batches(self._collection.chars[texts]):
            yield from self._sequences.occurrences(texts[part].tolist())
            progress(stage, part.stop, len(texts))

    def text(self, text: int) -> ComparedText:
        """Return one text; it is read from the store unless it is kept."""
        if text not in self._texts:
            self.read([text])
        return self._texts[text]

    def read(self, texts: Iterable[int]) -> None:
        """Read the texts that are not cached, in one request; evict the longest unused."""
        distinct = dict.fromkeys(texts)
        self._texts.use(distinct)
        missing = [text for text in distinct if text not in self._texts]
        self._texts.trim()
        for text, content in zip(missing, self._contents(missing), strict=True):
            self._texts.add(text, self._new_text(text, content))

    def read_ahead(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Read the texts of pairs that may be measured soon, as many as are kept at once."""
        allowed = [pair for pair in pairs if self.allows(*pair)]
        texts = list(dict.fromkeys(chain.from_iterable(allowed)))
        chars = np.cumsum(self._collection.chars[texts])
        kept = texts[: int(np.searchsorted(chars, self._limit // 2))]
        (self._contents if self.measure == "lcs" else self.read)(kept)

    def _batches(self, chars: NDArray[np.int64]) -> Iterator[slice]:
        """Yield slices of at most `BATCH` items.

        They have at most half the characters that may be kept, unless a single item has more.
        """
        ends = np.cumsum(chars)
        start = 0
        while start < len(chars):
            done = int(ends[start - 1]) if start else 0
            fitting = int(np.searchsorted(ends, done + self._limit // 2, side="right"))
            end = max(start + 1, min(start + BATCH, fitting))
            yield slice(start, end)
            start = end

    def _contents(self, texts: Sequence[int]) -> list[str]:
        uses_sketches = self.measure in ("estimate", "hamming") and not self._collection.criteria
        if not texts or uses_sketches:
            return ["" for _ in texts]
        self._kept.use(texts)
        contents = {text: self._kept[text] for text in texts if text in self._kept}
        self._kept.trim()
        if missing := [text for text in texts if text not in contents]:
            for text, content in zip(missing, self._read_contents(missing), strict=True):
                contents[text] = content
                self._kept.add(text, content)
        return [contents[text] for text in texts]

    def _read_contents(self, texts: Sequence[int]) -> list[str]:
        """Return texts as the store has them now; an empty one for a document that is gone."""
        ids = list(map(self._collection.first_id, texts))
        rows = self._store.get(ids)
        return [rows[id].text if id in rows else "" for id in ids]

    def _new_text(self, text: int, content: str) -> ComparedText:
        collection = self._collection
        recipe = collection.recipe
        if recipe.has_vector:
            return stored_text(content, recipe, pack_slots(collection.slots[text]))
        slots = collection.slots[text] if collection.slots.shape[1] else None
        bits = int(collection.simhash[text]) if recipe.simhash else None
        return ComparedText(content, recipe, slots, bits)


def ignore_pairs(_pairs: TextPairs) -> None:
    """Take no notice of pairs that reach the threshold."""


def ignore_text(_text: str) -> None:
    """Take no notice of a sentence."""


@dataclass(frozen=True, slots=True)
class MatchContext:
    """The texts of a store, their verifier, and which of their pairs are selected.

    `on_pairs` takes the pairs of texts that reach the threshold as soon as they are verified,
    `on_estimate` a sentence on how many pairs to expect, before many are verified. `left_out`:
    what approved passages took out of the texts, None without such a list.
    """

    collection: Collection
    verifier: Verifier
    selection: PairFilter
    progress: Progress = no_progress
    on_pairs: Callable[[TextPairs], None] = ignore_pairs
    on_estimate: Callable[[str], None] = ignore_text
    left_out: OmissionLog | None = None


# Parity maps: a few hundred bytes a set that bound the intersection of two sets. Bit b of a map
# says whether an odd number of features have b in the low bits of their hash. Two maps differ in at
# most as many bits as there are features in only one of the sets, so most pairs need not be
# compared. The compiled kernel, where installed, counts those bits faster with the same result.

MIN_BITS, MAX_BITS = 1 << 10, 1 << 16
STEP = 1 << 11
SLACK = 1e-9


class ParityMaps:
    """The maps of sets of these `sizes`, added one by one.

    A map has about three bits for each feature of a set of median size: (sets, words) uint64 of the
    memory budget. Similarity is Jaccard's, or if `of_larger` the fraction of the larger set
    that the other has too.
    """

    def __init__(
        self, sizes: NDArray[np.int64], budget: MemoryBudget, of_larger: bool = False
    ) -> None:
        self._sizes = sizes
        self._of_larger = of_larger
        median = int(np.median(sizes)) if len(sizes) else 0
        self.bits = min(MAX_BITS, max(MIN_BITS, 1 << (3 * median - 1).bit_length()))
        self._maps: NDArray[np.uint64] = budget.array((len(sizes), self.bits // 64), np.uint64)

    def put(self, index: int, hashes: NDArray[np.uint64]) -> None:
        """Store the map of the set at `index`, given the distinct hashes of its features, (n,)."""
        self._maps[index] = parity_map(hashes, self.bits)

    def may_reach(
        self, left: NDArray[np.int32], right: NDArray[np.int32], threshold: float
    ) -> NDArray[np.bool_]:
        """Return for each pair whether its similarity may be `threshold` or more, (pairs,) bool.

        Two sets share at most half of the sum of their sizes minus the bits that differ. The bound
        is widened by less than 1e-9 of a feature, so that rounding never loses a pair.
        """
        if self._of_larger:
            limit = max_distance_of_larger(self._sizes[left], self._sizes[right], threshold)
        else:
            limit = max_distance(self._sizes[left] + self._sizes[right], threshold)
        if _kernel is not None and hasattr(_kernel, "differ_at_most"):
            arguments = map(_bytes, (left, right, limit))
            flags = _kernel.differ_at_most(self._maps.ctypes.data, *self._maps.shape, *arguments)
            return np.frombuffer(flags, dtype=bool)
        return self.differ_at_most(left, right, limit)

    def differ_at_most(
        self, left: NDArray[np.int32], right: NDArray[np.int32], limit: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Return for each pair whether its maps differ in at most `limit` bits, by numpy.

        All arguments and the result are (pairs,).
        """
        near = np.empty(len(left), dtype=bool)
        for part in parts(len(left), STEP):
            differing = self._maps[left[part]] ^ self._maps[right[part]]
            near[part] = count_ones(differing) <= limit[part]
        return near


def max_distance(sizes: NDArray[np.int64], threshold: float) -> NDArray[np.int32]:
    """Return the most bits in which the maps of two sets of this Jaccard similarity may differ.

    `sizes`: the sum of the features of both sets.

    >>> max_distance(np.array([20, 7]), 0.5).tolist()
    [6, 2]
    """
    return _apart(sizes, threshold / (1 + threshold) * sizes)


def max_distance_of_larger(
    left: NDArray[np.int64], right: NDArray[np.int64], threshold: float
) -> NDArray[np.int32]:
    """Return the same for sets of these sizes that share so much of the larger.

    >>> max_distance_of_larger(np.array([10, 10]), np.array([10, 8]), 0.8).tolist()
    [4, 2]
    """
    return _apart(left + right, threshold * np.maximum(left, right))


def _apart(sizes: NDArray[np.int64], shared: NDArray[np.floating[Any]]) -> NDArray[np.int32]:
    apart: NDArray[np.int32] = np.floor(sizes - 2 * (shared - SLACK)).astype(np.int32)
    return apart


def _bytes(values: NDArray[np.int32]) -> bytes:
    return np.ascontiguousarray(values, dtype=np.int32).tobytes()
