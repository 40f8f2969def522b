"""An estimate of the pairs that `match` misses, from a stratified random sample.

1. Bands so short that hardly a pair escapes find all pairs whose sketches could be those of near
   duplicates.
2. By `lcs`, pairs with too few words in common are ruled out.
3. The rest is divided into strata by the chance that a pair reaches the threshold, given its equal
   slots. All other pairs are one stratum, "far apart".
4. A random sample of each stratum is verified on the texts.

For measures other than `jaccard` the chances come from `indexer.comparing.plan`. They
decide how far the strata reach and how many pairs of each are sampled, but of the figures only the
share that may lie far apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.plan import (
    ALMOST_ONE,
    RELATED,
    SHARE_BELOW,
    Plan,
    binomial_tails,
    equal_share,
    feature_similarities,
    plan_for_recall,
    unrelated_similarity,
)
from indexer.errors import UsageError
from indexer.fingerprinting.minhash import slot_similarity
from indexer.grouping.candidates import PAIRS_AT_ONCE, BandPairs, Join, SlotCounter, TextPairs
from indexer.grouping.precision_recall import (
    ESCAPING,
    MEASURED,
    RARE,
    RULED_OUT,
    Audit,
    OtherPairs,
    Stratum,
    allot,
    are_in,
    audit_strata,
    distinct_places,
)
from indexer.grouping.verification import MatchContext
from indexer.recipe import Recipe
from indexer.system.external_memory import (
    Codes,
    Column,
    Places,
    decode_pair,
    encode_pair,
    pairs_with_followers,
)

EDGES = (0.9, 0.5, 0.1, RARE)  # chances to reach the threshold between which strata lie
SKETCH_PRECISION = 0.98  # chance that a pair which its sketches alone list is rightly listed
FAR_SHARE = 8  # one in so many pairs is sampled from those far apart
FAR = "far apart by their sketches"
MEASURES = ("jaccard", *RELATED)  # of which misses can be estimated


@dataclass(frozen=True)
class _Group:
    """The pairs of one stratum before they are sampled."""

    name: str
    codes: Codes
    expected: float
    listed: bool

    @property
    def spread(self) -> float:
        """The standard deviation of one draw, by the expected share of pairs at the threshold.

        At least `RARE`: other texts than the relation was measured on have more.
        """
        expected = max(self.expected, RARE)
        return math.sqrt(expected * (1 - expected))


@dataclass(frozen=True)
class _NearPairs:
    """The strata of pairs that are not listed and may reach the threshold, nearest first.

    `ruled_out`: the codes of those that cannot, by their words.
    """

    groups: Sequence[_Group]
    ruled_out: Codes


class AuditFrame:
    """All pairs of distinct texts by strata, to be sampled as often as wanted.

    `listed` are those that `match` lists at the threshold; the measure is the verifier's, one of
    `MEASURES`. Compares the slots of all pairs that may reach the threshold, without caps, and for
    `lcs` reads their texts; the memory budget holds 16 bytes for each of them.
    """

    def __init__(self, context: MatchContext, listed: TextPairs, threshold: float) -> None:
        self._context, self._threshold = context, threshold
        self._measured = int(listed.exact.sum())
        codes = encode_pair(listed.left, listed.right)
        by_sketch = codes[~listed.exact]
        near = _near_pairs_by_stratum(context, codes, threshold)
        groups = [_Group("listed by their sketches", by_sketch, SKETCH_PRECISION, True)]
        self._groups = [group for group in [*groups, *near.groups] if len(group.codes)]
        self._ruled_out = len(near.ruled_out)
        others = [codes, near.ruled_out, *(group.codes for group in near.groups)]
        self._far = OtherPairs(len(context.collection.slots), others)

    def estimate(self, sample_size: int, seed: int) -> Audit:
        """Estimate which share of the pairs at the threshold are listed.

        Verifies about `sample_size` pairs of distinct texts, 20 or more, sampled by `seed`.
        """
        sizes = [len(group.codes) for group in self._groups]
        spreads = [group.spread for group in self._groups]
        far = self._far
        far_draws = min(far.size, max(sample_size // FAR_SHARE, sample_size - sum(sizes)))
        draws = allot(sizes, spreads, sample_size - far_draws)
        sampler = _Sampler(self._context, self._threshold)
        strata = [Stratum(MEASURED, self._measured, self._measured, self._measured, 1.0, True)]
        for group, number in zip(self._groups, draws, strict=True):
            size = len(group.codes)
            hits = sampler.count_reaching(group.codes[distinct_places(number, size, seed)])
            strata.append(Stratum(group.name, size, number, hits, group.expected, group.listed))
        if self._ruled_out:
            strata.append(Stratum(RULED_OUT, self._ruled_out, self._ruled_out, 0, 0.0, False))
        sample = far.sample(far_draws, seed)
        hits = sampler.count_reaching(sample)
        strata.append(Stratum(FAR, far.size, len(sample), hits, 0.0, False, placed=False))
        measure = self._context.verifier.measure
        escaping = ESCAPING if measure == "jaccard" else SHARE_BELOW
        return audit_strata(self._threshold, strata, measure, escaping)


def check_audited(measure: str) -> None:
    """Raise `UsageError` for a measure of which misses cannot be estimated."""
    if measure not in MEASURES:
        raise UsageError(
            f"--audit is not known to hold for {measure}; choose one of: {', '.join(MEASURES)}"
        )


def _near_pairs_by_stratum(context: MatchContext, listed: Codes, threshold: float) -> _NearPairs:
    """Return the pairs that may reach the threshold by their slots, and are not listed."""
    collection = context.collection
    width = collection.slots.shape[1]
    shares = _shares(context, threshold)
    chances = binomial_tails(shares, width + 1)[:, : width + 1].mean(axis=0)
    stratum_of = np.searchsorted(-np.array(EDGES), -chances, side="left")
    columns = [Column(collection.budget, np.uint64) for _ in range(len(EDGES) + 1)]
    ruled_out = Column(collection.budget, np.uint64)
    counts = np.zeros(width + 1, dtype=np.int64)
    pairs = _near_pairs(context, float(shares.min()))
    done = 0
    for left, right, equal in pairs.blocks(size=PAIRS_AT_ONCE):
        codes = encode_pair(left, right)
        is_new = ~are_in(codes, listed)
        may_reach = is_new.copy()
        may_reach[is_new] = context.verifier.may_reach(left[is_new], right[is_new], threshold)
        ruled_out.add(codes[is_new & ~may_reach])
        counts += np.bincount(equal[may_reach], minlength=width + 1)
        for number, column in enumerate(columns):
            column.add(codes[may_reach & (stratum_of[equal] == number)])
        done += len(left)
        context.progress("auditing: ruling out pairs", done, len(pairs))
    groups = []
    for number, column in enumerate(columns):
        numbers = np.flatnonzero((stratum_of == number) & (counts > 0)).astype(np.uint16)
        if len(numbers):
            low, high = slot_similarity(numbers[[0, -1]], width, collection.slot_bits)
            expected = float(np.average(chances[numbers], weights=counts[numbers]))
            name = f"not listed, features estimated {low:.2f} to {high:.2f}"
            groups.append(_Group(name, column.whole(), expected, False))
    return _NearPairs(groups, ruled_out.whole())


def _shares(context: MatchContext, threshold: float) -> NDArray[np.float64]:
    """Return shares of equal slots, all equally likely, of pairs at the threshold."""
    recipe, measure = context.collection.recipe, context.verifier.measure
    similarities = feature_similarities(measure, min(threshold, ALMOST_ONE), recipe.relation)
    return equal_share(similarities, recipe.packed)


def _near_pairs(context: MatchContext, share: float) -> BandPairs:
    """Return the pairs of which so large a share of the slots may be expected to be equal.

    By a layout and by a least number of equal slots that let one in ten thousand escape together.
    """
    slots, budget = context.collection.slots, context.collection.budget
    width = slots.shape[1]
    tails = binomial_tails(np.array([share]), width)[0]
    least = int(np.argmax(tails > ESCAPING / 2))
    counter = SlotCounter(slots, budget)
    pairs = BandPairs(len(slots), width, budget)
    for left, right in _possible_pairs(context, _short_bands(share, context.collection.recipe)):
        pairs.add(*counter.at_least(left, right, least))
    pairs.sort()
    return pairs


def _short_bands(share: float, recipe: Recipe) -> Plan | None:
    """Return bands that hardly one pair escapes; None where it is faster to take all pairs."""
    try:
        layout = plan_for_recall(min(share, ALMOST_ONE), 1 - ESCAPING / 2, recipe.slots or 0)
    except UsageError:
        return None
    unrelated = equal_share(np.array([unrelated_similarity(recipe)]), recipe.packed)[0]
    visits = layout.bands * unrelated**layout.rows  # of a pair of unrelated documents
    return layout if visits < 1 else None


def _possible_pairs(context: MatchContext, layout: Plan | None) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs of texts that share a band, or all of them, each once."""
    slots, budget = context.collection.slots, context.collection.budget
    places = np.arange(len(slots))
    if layout is None:
        done, total = 0, len(slots) * (len(slots) - 1) // 2
        for first, second in pairs_with_followers(places, places[::-1], budget.block):
            yield first.astype(np.int32), second.astype(np.int32)
            done += len(first)
            context.progress("auditing: comparing slots", done, total)
        return
    join = Join(slots, layout.bands, layout.rows, places, max(2, len(slots)), budget)
    for left, right in join.blocks():
        yield left, right
        context.progress("auditing: comparing slots", join.done, join.total)


class _Sampler:
    """Verifies pairs by their codes."""

    def __init__(self, context: MatchContext, threshold: float) -> None:
        self._context = context
        self._threshold = threshold
        self._done = 0

    def count_reaching(self, codes: Codes) -> int:
        """Return how many of these pairs reach the threshold on their texts."""
        codes = np.sort(codes)
        left, right = decode_pair(codes)
        similarity = self._context.verifier.similarities(left, right, self._threshold)
        self._done += len(codes)
        self._context.progress("auditing: verifying pairs", self._done, 0)
        return int(np.count_nonzero((similarity >= self._threshold) & (similarity > 0)))
