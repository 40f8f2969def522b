"""How much was missed, from a stratified sample of pairs: totals after Horvitz & Thompson, and an
interval of the recall.

Of a stratum of N pairs n are drawn with equal chance, without replacement, so a pair is drawn with
chance n / N and stands for N / n: the total of x duplicates among those drawn is x N / n, whatever
the strata are made by. Its variance is N**2 (1 - n / N) p (1 - p) / (n - 1) with p = x / n
(Cochran, Sampling Techniques, 3.2), summed over strata.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.sketch.wilson import wilson
from indexer.statistics.intervals import z_value
from indexer.statistics.precision_recall import share

FEWEST = 5
ESCAPING = 1e-4  # of pairs at the threshold, those that may lie where sketches do not place them


@dataclass(frozen=True, slots=True)
class Stratum:
    """`size` pairs, of which `drawn` were verified on their texts and `found` reach the threshold.

    `expected` is the chance that sketches give a pair here to reach it, `listed` whether `match`
    lists these pairs. `placed`: the sketches say that pairs at the threshold may lie here; where
    they do not, one is hardly ever to be found.
    """

    name: str
    size: int
    drawn: int
    found: int
    expected: float
    listed: bool
    placed: bool = True

    @property
    def total(self) -> float:
        """How many pairs here reach the threshold, without bias."""
        return self.size * self.found / self.drawn if self.drawn else 0.0

    @property
    def variance(self) -> float:
        """Of `total`, without bias; 0 where all were verified or too few to tell."""
        if self.drawn < 2 or self.drawn == self.size:
            return 0.0
        part = self.found / self.drawn
        return self.size**2 * (1 - self.drawn / self.size) * part * (1 - part) / (self.drawn - 1)

    def likely(self) -> tuple[float, float]:
        """Mean and variance of the number of pairs here that reach the threshold, given what was
        found.

        Each pair that was not drawn reaches it with a chance of which a Beta distribution tells; it
        begins with one pair of the `expected` chance, so that a sample without a find does not say
        that there is none.
        """
        rest, weight = self.size - self.drawn, self.drawn + 1
        chance = (self.found + self.expected) / weight
        spread = chance * (1 - chance)
        return self.found + rest * chance, rest * spread + rest * (rest - 1) * spread / (weight + 1)


@dataclass(frozen=True, slots=True)
class Audit:
    """What `match` lists and misses of the pairs of distinct texts at `threshold`, estimated
    without bias from `strata`.

    `right` and `missed` count pairs; `recall` is right / (right + missed), `error` its standard
    error by the variances of the totals; `precision` is the share of listed pairs that reach the
    threshold. From `low` to `high` the recall lies with 95 %, if pairs that the sketches put far
    apart are as rare at the threshold as sketches promise, unless some were drawn. `floor` is the
    least recall at 95 % without that promise: by the upper end of Wilson's interval for the pairs
    far apart.
    """

    threshold: float
    strata: tuple[Stratum, ...]
    right: float
    missed: float
    recall: float | None
    precision: float | None
    error: float | None
    low: float
    high: float
    floor: float

    @property
    def drawn(self) -> int:
        """How many pairs were verified for it."""
        return sum(one.drawn for one in self.strata if one.name != "listed, measured on texts")


def audit_strata(threshold: float, strata: Sequence[Stratum]) -> Audit:
    """The estimate from strata that together hold every pair once."""
    listed, others = ([one for one in strata if one.listed is side] for side in (True, False))
    right, missed = (math.fsum(one.total for one in side) for side in (listed, others))
    recall = share(right, right + missed)
    error = None
    if recall is not None:
        spread = missed**2 * sum(one.variance for one in listed) + right**2 * sum(
            one.variance for one in others
        )
        error = math.sqrt(spread) / (right + missed) ** 2
    counted = [one for one in others if one.placed or one.found]
    low, high = _interval(listed, counted)
    far = sum(
        one.size * wilson(one.found, one.drawn)[1]
        for one in others
        if not one.placed and one.drawn < one.size
    )
    floor = (1 - low) / low * right + far if low else math.inf
    return Audit(
        threshold,
        tuple(strata),
        right,
        missed,
        recall,
        share(right, sum(one.size for one in listed)),
        error,
        low,
        high,
        right / (right + floor) if right + floor else 0.0,
    )


def _interval(listed: Sequence[Stratum], others: Sequence[Stratum]) -> tuple[float, float]:
    """From the ratio of missed to right, whose distribution is taken for a gamma of its mean and
    variance.
    """
    (right, right_spread), (missed, missed_spread) = (
        [math.fsum(part) for part in zip(*(one.likely() for one in side), strict=True)]
        or [0.0, 0.0]
        for side in (listed, others)
    )
    if not right:
        return 0.0, 1.0
    if not missed:
        return 1.0, 1.0
    relative = missed_spread / missed**2 + right_spread / right**2
    ends = [
        missed / right * _gamma(1 / relative, z) if relative else missed / right
        for z in (z_value(), -z_value())
    ]
    return 1 / (1 + ends[0]), 1 / (1 + ends[1])


def _gamma(shape: float, z: float) -> float:
    """A quantile of a gamma distribution of mean 1, given as a normal one (Wilson & Hilferty 1931).

    >>> round(_gamma(50, 1.96), 3)  # by tables 1.296
    1.296
    """
    return max(0.0, 1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape))) ** 3


def allot(sizes: Sequence[int], spreads: Sequence[float], draws: int) -> list[int]:
    """How many of `draws` each stratum gets: by size times spread (Neyman 1934), `FEWEST` at least,
    never more than it has.

    >>> allot([1000, 100, 3], [0.1, 0.5, 0.5], 50)
    [30, 17, 3]
    """
    given = [min(size, FEWEST) for size in sizes]
    while (left := draws - sum(given)) > 0:
        weights = [
            size * spread if given[i] < size else 0.0
            for i, (size, spread) in enumerate(zip(sizes, spreads, strict=True))
        ]
        total = sum(weights)
        if not total:
            break
        more = [
            min(size - has, int(left * weight / total))
            for size, has, weight in zip(sizes, given, weights, strict=True)
        ]
        if not any(more):
            more[weights.index(max(weights))] = 1
        given = [has + part for has, part in zip(given, more, strict=True)]
    return given


def chance_at_least(equal: int, slots: int, threshold: float) -> float:
    """The chance that a pair with so many equal slots is at the threshold or above, when all
    similarities are as common.

    >>> round(chance_at_least(103, 128, 0.8), 2), chance_at_least(40, 128, 0.8) < 1e-20
    (0.52, True)
    """
    return chance_at_most(equal, slots + 1, threshold)


def chance_at_most(equal: int, slots: int, similarity: float) -> float:
    """The chance that at most so many of `slots` are equal in a pair of this similarity."""
    terms = (
        math.comb(slots, k) * similarity**k * (1 - similarity) ** (slots - k)
        for k in range(equal + 1)
    )
    return min(1.0, math.fsum(terms))


def describe_audit(made: Audit) -> Iterator[str]:
    """What an audit says, in sentences; the first begins with `audit:`."""
    pairs = sum(one.size for one in made.strata)
    every = all(one.drawn == one.size for one in made.strata)
    if not pairs:
        yield "audit: there are no two different texts that have keys; copies of one text are always found"
        return
    if made.recall is None:
        yield _none_found(made, pairs, every)
        return
    is_or_are = "pair of texts is" if round(made.missed) == 1 else "pairs of texts are"
    missed = f"{made.missed:,.0f} {is_or_are} at {made.threshold:g} or above and not listed"
    if every:
        yield f"audit: all {pairs:,} pairs of different texts are verified; {missed}: recall {made.recall:.1%}"
    else:
        yield (
            f"audit: {made.drawn:,} pairs verified; about {missed}: recall {made.recall:.1%} "
            f"({_whole_only(made.low)} to {made.high:.1%}), standard error {made.error:.1%}"
        )
    if made.precision is not None and made.precision < 1:
        yield f"of the pairs listed about {made.precision:.1%} reach {made.threshold:g}; --exact lists no others"
    far = made.strata[-1]
    if far.drawn < far.size:
        yield (
            f"{far.found:,} of {far.drawn:,} pairs drawn from {far.size:,} that sketches put far apart reach it; the interval "
            f"trusts that at most one in {1 / ESCAPING:,.0f} of those at {made.threshold:g} lies there. By these draws alone "
            f"the recall is {made.floor:.1%} or more: misses so rare need larger samples"
        )


def _whole_only(low: float) -> str:
    """The lower end of an interval, rounded down: only what is whole says 100 %.

    >>> _whole_only(0.99996), _whole_only(0.4), _whole_only(1.0)
    ('99.9%', '40.0%', '100.0%')
    """
    return f"{math.floor(1000 * low + 1e-9) / 1000:.1%}"


def _none_found(made: Audit, pairs: int, every: bool) -> str:
    """That nothing was found, which proves that there is nothing only when every pair was
    verified.
    """
    none = f"and none reaches {made.threshold:g}"
    if every:
        return f"audit: all {pairs:,} pairs of different texts are verified, {none}: nothing was to be found"
    rest = [one for one in made.strata if one.drawn < one.size]
    most = sum(one.size * wilson(one.found, one.drawn)[1] for one in rest)
    trusted = "" if any(one.placed for one in rest) else "sketches put the others far apart; "
    return (
        f"audit: {made.drawn:,} of {pairs:,} pairs of different texts verified, {none}; {trusted}by these draws alone "
        f"{most:,.0f} may still do so: misses so rare need larger samples"
    )
