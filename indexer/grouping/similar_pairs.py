"""Pairs of which one text is short: their few features have too few bands in common to be found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import Plan, enough_equal, equal_parts, sketch_size
from indexer.fingerprinting.hashing import mix64_array
from indexer.fingerprinting.keys import (
    RunIndex,
    allowed_distance,
    bit_words,
    design_for,
    farthest,
    passage_keys,
)
from indexer.fingerprinting.minhash import slot_similarity, wilson
from indexer.fingerprinting.rare_terms import common_entries
from indexer.grouping.candidates import (
    PAIRS_AT_ONCE,
    BandPairs,
    CapReport,
    ClosePairs,
    FrequentBands,
    Join,
    MissedEstimate,
    ShortTexts,
    SlotCounter,
    TextPairs,
    TextPairsBuilder,
)
from indexer.grouping.collection import Collection, PairFilter
from indexer.grouping.verification import SLACK, MatchContext, ParityMaps, Verifier
from indexer.grouping.words_in_common import FEW_WORDS, PassedOver, max_words
from indexer.model import TERM_PREFIX
from indexer.system.external_memory import (
    Codes,
    Column,
    MemoryBudget,
    Positions,
    Sorter,
    bits_for,
    decode_pair,
    encode_pair,
    find_runs,
    pairs_in_runs,
    pairs_with_followers,
    parts,
    slices_of_runs,
)


class ShortPairs:
    """The pairs that may reach a threshold of `lcs`, of which one text is short.

    `join`: the texts of so few words; None by other measures, and without short texts.
    """

    def __init__(self, join: ShortTexts | None) -> None:
        self.codes: Codes = np.zeros(0, dtype=np.uint64) if join is None else join.pairs()
        self.capped = CapReport() if join is None else join.capped
        self._is_left = np.ones(len(self.codes), dtype=bool)

    def contains(self, left: Positions, right: Positions) -> NDArray[np.bool_]:
        """Return for each pair whether it is one of these."""
        return self._positions(left, right) >= 0

    def discard(self, left: Positions, right: Positions) -> None:
        """Take out the pairs among these."""
        positions = self._positions(left, right)
        self._is_left[positions[positions >= 0]] = False

    def rest(self, selection: PairFilter) -> tuple[Positions, Positions]:
        """Return the selected pairs that were not taken out."""
        return selection.texts(*decode_pair(self.codes[self._is_left]))

    def _positions(self, left: Positions, right: Positions) -> NDArray[np.intp]:
        """Return the position of each pair in `codes`, -1 for others."""
        if not len(self.codes):
            return np.full(len(left), -1)
        codes = encode_pair(left, right)
        positions = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[positions] == codes, positions, -1)


# Pairs of texts that share a band, or are short, and reach a threshold by slots or texts.

REPORTED = 1 << 12  # pairs that are verified before those that reach the threshold are reported
ESTIMATED = 20_000  # pairs to verify above which an estimate comes first
SAMPLE = 300  # pairs that are verified for the estimate


def find_likely_pairs(
    context: MatchContext, layout: Plan, threshold: float, cap: int, exact: bool
) -> TextPairs:
    """Return the selected pairs that share a band and reach the threshold.

    Pairs with fewer equal slots than the layout requires are left out. Of the others, by `jaccard`,
    slots decide where their interval does not hold the threshold, and texts the rest; texts decide
    all if `exact`, or if there are criteria. `estimate` needs no texts, every other measure reads
    them.
    """
    slots, verifier = context.collection.slots, context.verifier
    width, bits = slots.shape[1], context.collection.slot_bits
    decisive = enough_equal(verifier.measure, width, threshold, exact, bits)
    if context.collection.criteria:
        decisive = width + 1
    rank = np.arange(len(slots))
    pairs = find_band_pairs(context, layout, rank, layout.fewest_equal, threshold, cap)
    total = sum(int((equal < decisive).sum()) for _, _, equal in pairs.blocks())
    if total > ESTIMATED:
        context.on_estimate(_expected_pairs(context, pairs, decisive, threshold, total, cap))
    builder = TextPairsBuilder(context.collection.budget, threshold, verifier.ranks)
    done, passed_over = 0, PassedOver()
    for left, right, equal in pairs.blocks(size=REPORTED):
        is_open = equal < decisive
        similarity = slot_similarity(equal, width, bits)
        similarity[is_open] = verifier.similarities(left[is_open], right[is_open], threshold)
        is_below = is_open & (similarity < threshold)
        passed_over += verifier.count_passed_over(left[is_below], right[is_below])
        context.on_pairs(builder.add(left, right, similarity, is_open))
        done += int(is_open.sum())
        context.progress("verifying pairs", done, total)
    found = builder.build(pairs.candidates, pairs.capped)
    return replace(found, passed_over=passed_over)


def _expected_pairs(
    context: MatchContext,
    pairs: BandPairs,
    decisive: int,
    threshold: float,
    total: int,
    cap: int,
) -> str:
    """Estimate how many pairs reach the threshold, from a sample of those to verify.

    Each pair of texts stands for the pairs of their copies, on average of those in the sample, and
    the copies of one text are pairs too; where only some pairs of documents are selected, these are
    not counted.
    """
    left, right, equal = pairs.sample(SAMPLE)
    is_open = equal < decisive
    left, right = left[is_open], right[is_open]
    values = context.verifier.similarities(left, right, threshold)
    reaches = (values >= threshold) & (values > 0)
    low, high = wilson(int(np.count_nonzero(reaches)), len(values))
    decided = len(pairs) - total
    documents, of_each, copies = context.collection.documents, 1.0, 0
    unit = "pairs of texts, not counting copies,"
    if context.selection.selects_all:
        between = documents.pairs_between(left[reaches], right[reaches], cap)
        of_each = float(between.mean()) if len(between) else 1.0
        copies, unit = documents.pairs_of_copies(cap), "pairs of documents"
    ends = (copies + of_each * (decided + fraction * total) for fraction in (low, high))
    minimum, limit = (f"{end:,.0f}" for end in ends)
    return (
        f"{total:,} pairs of texts to verify, after which about {minimum} to {limit} {unit} "
        f"reach {threshold:g}"
    )


def find_band_pairs(
    context: MatchContext,
    layout: Plan,
    rank: NDArray[np.int64],
    minimum: int,
    threshold: float,
    cap: int,
) -> BandPairs:
    """Return the selected pairs that share a band and have `minimum` equal slots or more.

    By `lcs` also pairs of which one text is short, at the threshold of the layout.

    `rank`: (texts,) the order in which texts are preferred. In a band that more than `cap` texts
    share, only the first by rank is paired with all others; of the pairs that this leaves out a
    sample is verified at `threshold`. The memory budget holds 4 bytes a band and text, 5 a slot and
    text, 8 a pair.
    """
    slots, budget = context.collection.slots, context.collection.budget
    short = ShortPairs(_short_texts(context, layout.threshold, rank, cap))
    join = Join(slots, layout.bands, layout.rows, rank, cap, budget)
    counter = SlotCounter(slots, budget)
    pairs = BandPairs(len(slots), slots.shape[1], budget)
    for left, right in join.blocks():
        pairs.candidates += len(left) - int(short.contains(left, right).sum())
        near = counter.at_least(*context.selection.texts(left, right), minimum)
        short.discard(*near[:2])
        pairs.add(*near)
        context.progress("comparing slots", join.done, join.total)
    left, right = short.rest(context.selection)
    pairs.candidates += len(short.codes)
    pairs.add(left, right, np.zeros(len(left), dtype=np.uint16))
    pairs.sort()
    pairs.capped = join.capped.merge(short.capped)
    if join.frequent.pairs:
        missed = _missed(context, join.frequent, counter, short, minimum, threshold)
        pairs.capped = replace(pairs.capped, missed=missed)
    return pairs


def _short_texts(
    context: MatchContext, threshold: float, rank: NDArray[np.int64], cap: int
) -> ShortTexts | None:
    """Return the texts that short ones may resemble by `lcs`, which are read; None if none is."""
    words = context.collection.words
    if context.verifier.measure != "lcs" or not (words < FEW_WORDS).any():
        return None
    chosen = np.flatnonzero(words <= max_words(threshold))
    join = ShortTexts(threshold, rank, cap, context.collection.budget)
    texts = context.verifier.occurrences(chosen, context.progress, "comparing short texts")
    for text, hashes in zip(chosen.tolist(), texts, strict=True):
        join.put(text, hashes)
    return join


def _missed(
    context: MatchContext,
    frequent: FrequentBands,
    counter: SlotCounter,
    short: ShortPairs,
    minimum: int,
    threshold: float,
) -> MissedEstimate:
    """Estimate how many pairs frequent bands left out.

    Verifies the pairs of their random sample that would have been listed otherwise.
    """
    weights = frequent.weights()
    smaller, larger = frequent.ends
    order = np.lexsort((larger, smaller))
    order = order[weights[order] > 0]
    left, right = smaller[order], larger[order]
    is_promising = counter.reaches(left, right, minimum) & ~short.contains(left, right)
    is_promising &= context.selection.may_include(left, right)
    similarities = context.verifier.similarities(left[is_promising], right[is_promising], threshold)
    is_missed = np.zeros(len(weights), dtype=bool)
    is_missed[order[is_promising]] = similarities >= threshold
    return frequent.missed(threshold, is_missed, weights)


# Complete candidate pairs: every pair of sets whose similarity reaches a threshold.

COUNTERS = 1 << 22


class FeatureOrder:
    """A total order of features: by the sets that have them, then by hash.

    Features share 4 million counters. Any order gives the same pairs in the end; a good one gives
    fewer candidates.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(COUNTERS, dtype=np.uint32)

    def count(self, hashes: NDArray[np.uint64]) -> None:
        """Count the distinct features of one set; two that share a counter count once."""
        self._counts[_counters_of(hashes)] += 1

    def first(self, hashes: NDArray[np.uint64], length: int) -> tuple[NDArray[np.uint64], int]:
        """Return the first `length` of these features, and the sum of their counts.

        `hashes`: (n,), distinct; the result holds min(n, `length`) of them, rarest first.
        """
        counts = self._counts[_counters_of(hashes)]
        order = np.lexsort((hashes, counts))[:length]
        return hashes[order], int(counts[order].sum())


class SimilarSets:
    """The pairs of sets that may be similar enough; the sets are added one by one.

    `sizes`: the number of features of each set. `of_larger`: similarity is the fraction of the
    larger set that the other has too, instead of Jaccard's. Prefixes take 8 bytes a feature of the
    memory budget, and are abandoned when they meet more often than there are pairs.
    """

    def __init__(
        self,
        sizes: NDArray[np.int64],
        order: FeatureOrder,
        threshold: float,
        budget: MemoryBudget,
        of_larger: bool = False,
    ) -> None:
        self._order, self._threshold, self._budget = order, threshold, budget
        self._by_size = np.argsort(sizes, kind="stable").astype(np.int32)
        self._rank = np.empty(len(sizes), dtype=np.int64)
        self._rank[self._by_size] = np.arange(len(sizes))
        self._sizes = sizes[self._by_size]
        longest = np.floor(self._sizes / threshold + SLACK)
        # the last rank whose size fits
        self._reach = np.searchsorted(self._sizes, longest, side="right") - 1
        self._maps = ParityMaps(self._sizes, budget, of_larger)
        self._bits = np.uint64(bits_for(len(sizes)))
        self._prefixes: Sorter | None = Sorter(budget)
        self._meetings = 0
        self.pairs = int((self._reach - np.arange(len(sizes)))[self._sizes > 0].sum())

    def put(self, number: int, hashes: NDArray[np.uint64]) -> None:
        """Add the set `number`: the distinct hashes of its features, (`sizes[number]`,)."""
        rank = int(self._rank[number])
        self._maps.put(rank, hashes)
        if self._prefixes is None:
            return
        first, counts = self._order.first(hashes, prefix_length(len(hashes), self._threshold))
        self._prefixes.add(first >> self._bits << self._bits | np.uint64(rank))
        self._meetings += (counts - len(first)) // 2
        if self._meetings > self.pairs:
            self._prefixes = None

    def candidates(
        self, progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> Codes:
        """Return pairs of sets as left << 32 | right, left < right, each once, ascending.

        A set without features is in none. `progress` is called with the amounts done and in all.
        """
        candidates = Sorter(self._budget, unique=True)
        for done, total, left, right in self._meeting_ranks():
            near = self._maps.may_reach(left, right, self._threshold) & (left != right)
            a, b = self._by_size[left[near]], self._by_size[right[near]]
            candidates.add(encode_pair(np.minimum(a, b), np.maximum(a, b)))
            progress(done, total)
        return candidates.sorted()

    def _meeting_ranks(self) -> Iterator[tuple[int, int, Positions, Positions]]:
        """Yield pairs of ranks of fitting sizes, the smaller set first, with the progress.

        Either those whose prefixes meet, with repeats, or all.
        """
        if self._prefixes is None:
            return self._all_fitting()
        return self._meeting_prefixes(self._prefixes.sorted())

    def _all_fitting(self) -> Iterator[tuple[int, int, Positions, Positions]]:
        ranks, done = np.flatnonzero(self._sizes), 0
        followers = self._reach[ranks] - ranks
        for left, right in pairs_with_followers(ranks, followers, self._budget.block):
            done += len(left)
            yield done, self.pairs, left.astype(np.int32), right.astype(np.int32)

    def _meeting_prefixes(self, codes: Codes) -> Iterator[tuple[int, int, Positions, Positions]]:
        low = (np.uint64(1) << self._bits) - np.uint64(1)
        block = self._budget.block
        for part in slices_of_runs(codes, low, block):
            ranks = (codes[part] & low).astype(np.int32)
            last = codes[part] & ~low | self._reach[ranks].astype(np.uint64)
            positions = np.arange(len(ranks))
            followers = np.searchsorted(codes[part], last, side="right") - positions - 1
            for left, right in pairs_with_followers(positions, followers, block):
                yield part.stop, len(codes), ranks[left], ranks[right]


def prefix_length(size: int, threshold: float) -> int:
    """Return how many features of a set suffice to meet every similar set; 0 for an empty set.

    >>> prefix_length(10, 0.8), prefix_length(10, 0.7), prefix_length(0, 0.5)
    (3, 4, 0)
    """
    return min(size, size - math.ceil(threshold * size - SLACK) + 1)


def _counters_of(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    counters: NDArray[np.int64] = (hashes & np.uint64(COUNTERS - 1)).astype(np.int64)
    return counters


# Pairs of texts by stored bits or rare terms, for recipes that make no slots.


def collect_close_pairs(
    context: MatchContext, rank: NDArray[np.int64], threshold: float, cap: int
) -> BandPairs:
    """Return the selected pairs within the distance of a threshold, with their equal bits.

    At most those of `farthest`. `rank`: (texts,) the order in which texts are preferred where the
    cap leaves pairs out.
    """
    collection = context.collection
    bits = collection.recipe.bits or 64
    distance = min(allowed_distance(threshold, bits), farthest(bits))
    design = design_for(bits, distance)
    close = ClosePairs(_bit_words(collection), design, distance, rank, cap, collection.budget)
    pairs = BandPairs(len(collection.chars), bits, collection.budget)
    for left, right, apart in close.blocks():
        is_selected = context.selection.may_include(left, right)
        equal = (bits - apart[is_selected]).astype(np.uint16)
        pairs.add(left[is_selected], right[is_selected], equal)
        context.progress("comparing bits", *close.progress)
    pairs.sort()
    pairs.candidates, pairs.capped = close.candidates, close.capped
    return pairs


def _bit_words(collection: Collection) -> NDArray[np.uint64]:
    """Return the bits of texts as words of 64, the first bits first: (texts, words)."""
    if not collection.recipe.has_long_bits:
        return collection.simhash[:, None]
    octets = collection.slots
    words = collection.budget.array((len(octets), -(-octets.shape[1] // 8)), np.uint64)
    for part in parts(len(octets), collection.budget.block):
        words[part] = bit_words(octets[part])
    return words


def collect_term_pairs(context: MatchContext, threshold: float) -> BandPairs:
    """Return the selected pairs whose vectors reach a threshold, with their common entries.

    None is missed, and there is no cap: every such pair has an entry in common among the first of
    both in one order of all entries.
    """
    collection, recipe = context.collection, context.collection.recipe
    vectors, size = collection.slots, sketch_size(recipe)
    texts = len(vectors)
    order = FeatureOrder()
    for entries in _entries(vectors):
        order.count(entries)
    similar = SimilarSets(np.full(texts, size), order, threshold, collection.budget, of_larger=True)
    for text, entries in enumerate(_entries(vectors)):
        similar.put(text, entries)
        if text % 1000 == 0:
            context.progress("comparing rare terms", text, texts)
    codes = similar.candidates()
    pairs = BandPairs(texts, size, collection.budget)
    minimum = equal_parts(recipe, threshold)
    for part in parts(len(codes), collection.budget.block):
        left, right = decode_pair(np.asarray(codes[part]))
        common = common_entries(vectors[left], vectors[right])
        is_selected = (common >= minimum) & context.selection.may_include(left, right)
        pairs.add(left[is_selected], right[is_selected], common[is_selected])
    pairs.sort()
    pairs.candidates = len(codes)
    return pairs


def _entries(vectors: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the entries of vectors, spread over 64 bits: (texts, size)."""
    entries: NDArray[np.uint64] = mix64_array(vectors[:, TERM_PREFIX:].astype(np.uint64))
    return entries


def collect_sketch_pairs(
    context: MatchContext, rank: NDArray[np.int64], threshold: float, cap: int
) -> BandPairs:
    """Return the selected pairs by bits as above, or by rare terms, of which there is no cap."""
    if context.collection.recipe.terms:
        return collect_term_pairs(context, threshold)
    return collect_close_pairs(context, rank, threshold, cap)


def find_sketch_pairs(context: MatchContext, threshold: float, cap: int) -> TextPairs:
    """Return the selected pairs of texts that reach a threshold by the measure of their sketches.

    Stored sketches decide; texts are read where there are criteria.
    """
    collection = context.collection
    size = sketch_size(collection.recipe)
    pairs = collect_sketch_pairs(context, np.arange(len(collection.chars)), threshold, cap)
    minimum = math.nextafter(threshold, 0)
    builder = TextPairsBuilder(collection.budget, minimum, context.verifier.ranks)
    for left, right, equal in pairs.blocks(size=PAIRS_AT_ONCE):
        similarity = equal / size
        if collection.criteria:
            similarity = context.verifier.similarities(left, right, threshold)
        context.on_pairs(builder.add(left, right, similarity, np.ones(len(left), dtype=bool)))
    return builder.build(pairs.candidates, pairs.capped)


# All pairs of texts by their features or their words, without chance.

COMPLETE_MEASURES = ("jaccard", "lcs")  # of which all pairs can be found

Hashes = NDArray[np.uint64]


def find_all_pairs(context: MatchContext, threshold: float) -> TextPairs:
    """Return every selected pair whose `jaccard` or `lcs` is `threshold` or more.

    The verifier's measure is one of `COMPLETE_MEASURES`. Reads all texts twice for `jaccard` and
    once for `lcs`, and the texts of candidates again. The memory budget holds about three bits
    for each feature or word of a text, at high thresholds 8 bytes for each of a prefix, and 8 bytes
    for each word.
    """
    sets = _similar_sets(context, threshold)
    codes = sets.candidates(lambda done, total: context.progress("ruling out pairs", done, total))
    builder = TextPairsBuilder(context.collection.budget, threshold, context.verifier.ranks)
    candidates, passed_over = 0, PassedOver()
    for part in parts(len(codes), PAIRS_AT_ONCE):
        left, right = context.selection.texts(*decode_pair(codes[part]))
        similarity = context.verifier.similarities(left, right, threshold)
        is_below = similarity < threshold
        passed_over += context.verifier.count_passed_over(left[is_below], right[is_below])
        taken = builder.add(left, right, similarity, np.ones(len(left), dtype=bool))
        context.on_pairs(taken)
        candidates += len(left)
        context.progress("verifying pairs", part.stop, len(codes))
    found = builder.build(candidates, CapReport())
    return replace(found, passed_over=passed_over)


def _similar_sets(context: MatchContext, threshold: float) -> SimilarSets:
    budget = context.collection.budget
    order = FeatureOrder()
    sizes = np.zeros(len(context.collection.chars), dtype=np.int64)
    has_words = context.verifier.measure == "lcs"
    words = Column(budget, np.uint64)
    for text, hashes in enumerate(_hashes(context, "counting features")):
        order.count(hashes)
        sizes[text] = len(hashes)
        if has_words:
            words.add(hashes)
    sets = SimilarSets(sizes, order, threshold, budget, of_larger=has_words)
    again = _slices(words, sizes) if has_words else _hashes(context, "choosing features")
    for text, hashes in enumerate(again):
        sets.put(text, hashes)
    return sets


def _hashes(context: MatchContext, stage: str) -> Iterator[Hashes]:
    """Yield the distinct hashes of the features, or of the occurrences of words, of every text."""
    verifier = context.verifier
    if verifier.measure == "lcs":
        texts = np.arange(len(context.collection.chars))
        return verifier.occurrences(texts, context.progress, stage)
    return (text.features.hashes for text in verifier.all_texts(context.progress, stage))


def _slices(column: Column, sizes: NDArray[np.int64]) -> Iterator[Hashes]:
    values = column.whole()
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        yield values[end - size : end]


# Excerpts, replies that quote, documents inside longer ones.


def find_contained_pairs(context: MatchContext, threshold: float, cap: int) -> TextPairs:
    """Return the selected pairs of which one text lies in the other to `threshold` or more.

    They share the key of a passage. How much of a text lies in another is measured on the texts, in
    shared runs, both ways; the larger value is the similarity. A passage that more than `cap` texts
    share makes no pair: texts that share no other are not found, and `capped` counts such passages.
    Reads all texts once, and the texts of candidates again. The memory budget holds 8 bytes for
    each 13 letters of a text.
    """
    codes, capped = _candidates(context, cap)
    dtypes = (np.int32, np.int32, np.float64, np.float64)
    columns = [Column(context.collection.budget, dtype) for dtype in dtypes]
    for part in parts(len(codes), PAIRS_AT_ONCE):
        left, right = decode_pair(codes[part])
        within = _within(context.verifier, left, right, threshold)
        larger = within.max(axis=1)
        reaches = (larger >= threshold) & (larger > 0)
        left, right, within = left[reaches], right[reaches], within[reaches]
        for column, values in zip(columns, (left, right, *within.T), strict=True):
            column.add(values)
        exact = np.ones(len(left), dtype=bool)
        similarity = within.max(axis=1)
        context.on_pairs(TextPairs(left, right, similarity, exact, similarity, within=within))
        context.progress("verifying pairs", part.stop, len(codes))
    left, right, of_left, of_right = (column.whole() for column in columns)
    within = np.stack([of_left, of_right], axis=1)
    exact = np.ones(len(left), dtype=bool)
    similarity = within.max(axis=1)
    return TextPairs(left, right, similarity, exact, similarity, len(codes), capped, within)


def _candidates(context: MatchContext, cap: int) -> tuple[Codes, CapReport]:
    """Return the codes of the selected pairs that share a key, ascending, and what was capped."""
    budget = context.collection.budget
    bits = np.uint64(bits_for(len(context.collection.documents)))
    low = (np.uint64(1) << bits) - np.uint64(1)
    codes = _key_codes(context, low)
    pairs = Sorter(budget, unique=True)
    capped = CapReport()
    for part in slices_of_runs(codes, low, budget.block):
        texts = (codes[part] & low).astype(np.int32)
        starts, sizes = find_runs(codes[part] >> bits)
        is_frequent = sizes > cap
        capped = _with_frequent_passages(capped, sizes[is_frequent])
        for left, right in pairs_in_runs(starts[~is_frequent], sizes[~is_frequent], budget.block):
            a, b = context.selection.texts(texts[left], texts[right])
            is_apart = a != b
            pairs.add(encode_pair(a[is_apart], b[is_apart]))
        context.progress("pairing passages", part.stop, len(codes))
    return pairs.sorted(), capped


def _key_codes(context: MatchContext, low: np.uint64) -> Codes:
    """Return sorted codes: the high bits of a passage's key, the number of its text in `low`."""
    keys = Sorter(context.collection.budget)
    texts = context.verifier.all_texts(context.progress, "reading passages")
    for number, text in enumerate(texts):
        keys.add(passage_keys(text.runs) & ~low | np.uint64(number))
    return keys.sorted()


def _with_frequent_passages(capped: CapReport, sizes: NDArray[np.int64]) -> CapReport:
    return replace(
        capped,
        keys=capped.keys + len(sizes),
        largest=max(capped.largest, int(sizes.max(initial=0))),
        pairs=capped.pairs + int((sizes * (sizes - 1) // 2).sum()),
    )


def _within(
    verifier: Verifier, left: NDArray[np.int32], right: NDArray[np.int32], threshold: float
) -> NDArray[np.float64]:
    """Return (pairs, 2): how much of each left text lies in the right one, and the other way.

    0 for pairs below the threshold and for those that do not meet the criteria.
    """
    within = np.empty((len(left), 2))
    index, indexed = RunIndex(np.empty(0, dtype=np.uint64)), -1  # of the left text
    for part in verifier.batches(left, right):
        verifier.read([*left[part].tolist(), *right[part].tolist()])
        for position in range(part.start, part.stop):
            texts = int(left[position]), int(right[position])
            a, b = map(verifier.text, texts)
            if texts[0] != indexed:
                index, indexed = RunIndex(a.runs), texts[0]
            fractions = index.contained_fractions(b.runs)
            is_near = (
                max(fractions) >= threshold
                and verifier.allows(*texts)
                and verifier.accepts_each([(a, b)])[0]
            )
            within[position] = fractions if is_near else 0.0
    return within
