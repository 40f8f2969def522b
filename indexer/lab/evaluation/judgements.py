"""Values of an evaluation: judged pairs and sets, sheets of assessors, documents that they name."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from indexer.lab.evaluation.precision_recall import ordered_pair

# Kappa: agreement of assessors beyond chance, over categories without order.

Table = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement of `raters` on `objects`.

    `observed` is P(A), `expected` P(E), each None without objects. `kappa` is (P(A) - P(E)) / (1 -
    P(E)), from below 0 to 1: None where everything is in one category, because chance then explains
    all. `variance` is the variance of kappa under agreement by chance only, `z` is kappa /
    sqrt(variance), and `p` the chance of such a z or a greater one (H1: kappa > 0).
    """

    objects: int
    raters: int
    observed: float | None
    expected: float | None
    kappa: float | None
    variance: float | None

    @property
    def z(self) -> float | None:
        """Kappa in standard deviations; None where kappa is None or does not vary."""
        if self.kappa is None or not self.variance:
            return None
        return self.kappa / math.sqrt(self.variance)

    @property
    def p(self) -> float | None:
        """The one-sided p-value by the normal distribution."""
        return None if self.z is None else math.erfc(self.z / math.sqrt(2)) / 2


def siegel_castellan(
    table: Table, corrected: bool = False, times: Sequence[int] | None = None
) -> Kappa:
    """Return the kappa of k assessors, k at least 2.

    `table[i][j]` is how many of them put object i into category j; each row sums to k. `times`: how
    many objects each row stands for, by default one. The variance is the book's, which is Fleiss's
    of 1971; `corrected`: the variance by Fleiss, Nee & Landis (1979), who found the first one wrong
    for the hypothesis that it tests. Raises `ValueError` for rows of different sums.

    >>> agreement = siegel_castellan([[2, 0], [2, 0], [1, 1], [0, 2]])
    >>> round(agreement.kappa, 4), round(agreement.z, 4)
    (0.4667, 0.8767)
    """
    raters = sum(table[0]) if len(table) else 0
    if any(sum(row) != raters for row in table):
        raise ValueError("each object has the same number of judgements")
    weighted = list(zip(table, times or [1] * len(table), strict=True))
    objects = sum(number for _, number in weighted)
    if not objects or raters < 2:
        return Kappa(objects, raters, None, None, None, None)
    columns = [0] * len(table[0])
    for row, number in weighted:
        columns = [total + value * number for total, value in zip(columns, row, strict=True)]
    fractions = [column / (objects * raters) for column in columns]
    agreeing = sum(n * (n - 1) * number for row, number in weighted for n in row)
    observed = agreeing / (objects * raters * (raters - 1))
    expected = sum(fraction**2 for fraction in fractions)
    if max(columns) == objects * raters:
        return Kappa(objects, raters, observed, expected, None, None)
    variance_of = _fleiss_nee_landis_variance if corrected else _fleiss_variance
    variance = variance_of(objects, raters, fractions)
    kappa = (observed - expected) / (1 - expected)
    return Kappa(objects, raters, observed, expected, kappa, variance)


def _fleiss_variance(objects: int, raters: int, fractions: Sequence[float]) -> float:
    expected = sum(fraction**2 for fraction in fractions)
    cubes = sum(fraction**3 for fraction in fractions)
    spread = expected - (2 * raters - 3) * expected**2 + 2 * (raters - 2) * cubes
    return 2 * spread / (objects * raters * (raters - 1) * (1 - expected) ** 2)


def _fleiss_nee_landis_variance(objects: int, raters: int, fractions: Sequence[float]) -> float:
    apart = sum(fraction * (1 - fraction) for fraction in fractions)
    skewed = sum(fraction * (1 - fraction) * (1 - 2 * fraction) for fraction in fractions)
    return 2 * (apart**2 - skewed) / (objects * raters * (raters - 1) * apart**2)


def cohen(first: Sequence[Hashable], second: Sequence[Hashable]) -> Kappa:
    """Return Cohen's kappa of two assessors' categories, object by object.

    The variance is by Fleiss, Cohen & Everitt (1969).

    >>> agreement = cohen("yyyynnnnyn", "yyynnnnnyy")
    >>> round(agreement.kappa, 2), round(agreement.z, 2)
    (0.6, 1.9)
    """
    objects = len(first)
    if not objects:
        return Kappa(0, 2, None, None, None, None)
    kinds = sorted({*first, *second}, key=repr)
    fractions = [(_fraction_of(kind, first), _fraction_of(kind, second)) for kind in kinds]
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / objects
    expected = sum(a * b for a, b in fractions)
    if len(kinds) == 1:
        return Kappa(objects, 2, observed, expected, None, None)
    skewed = sum(a * b * (a + b) for a, b in fractions)
    variance = max(0.0, expected + expected**2 - skewed) / (objects * (1 - expected) ** 2)
    kappa = (observed - expected) / (1 - expected)
    return Kappa(objects, 2, observed, expected, kappa, variance)


def _fraction_of(kind: Hashable, judgements: Sequence[Hashable]) -> float:
    return list(judgements).count(kind) / len(judgements)


@dataclass(frozen=True, slots=True)
class MeanKappa:
    """The mean of the kappas of `tables` tables.

    The `undefined` tables, where everything is in one category, do not count.
    """

    mean: float | None
    tables: int
    undefined: int


def mean_kappa(tables: Sequence[Table]) -> MeanKappa:
    """Return the mean of one kappa a table, None when none is defined.

    Conrad & Raymond (ICAIL 2007) call it "micro-averaged".
    """
    kappas = [siegel_castellan(table).kappa for table in tables]
    defined = [kappa for kappa in kappas if kappa is not None]
    mean = math.fsum(defined) / len(defined) if defined else None
    return MeanKappa(mean, len(defined), len(tables) - len(defined))


def count_table(judgements: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """Return the table of objects from their judgements, one a rater, over occurring categories.

    >>> count_table([("yes", "yes"), ("yes", "no")])
    [[0, 2], [1, 1]]
    """
    kinds = sorted({kind for row in judgements for kind in row}, key=repr)
    rows = [list(row) for row in judgements]
    return [_counts(row, kinds) for row in rows]


def _counts(row: list[Hashable], kinds: Sequence[Hashable]) -> list[int]:
    return [row.count(kind) for kind in kinds]


IDENTICAL, NEAR_IDENTICAL, FUZZY, DUPLICATE, DIFFERENT = (
    "identical",
    "near-identical",
    "fuzzy",
    "duplicate",
    "different",
)


DUPLICATES = (IDENTICAL, NEAR_IDENTICAL, FUZZY, DUPLICATE)


TYPES = (*DUPLICATES, "contained", DIFFERENT)


UNSURE = "unsure"  # a judgement of an assessor who gives no type


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One judged pair as written. `group` is the query or result set that it belongs to, `kind`
    the change that made it, `location` its file and line.
    """

    a: str
    b: str
    type: str
    group: str
    kind: str
    location: str

    @property
    def pair(self) -> tuple[str, str]:
        """Return both names in sorted order."""
        return ordered_pair(self.a, self.b)


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Documents that were judged to be duplicates of one another."""

    documents: tuple[str, ...]
    type: str
    group: str
    location: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The ground truth about some documents, each pair once.

    `closed`: unlisted pairs of documents of the same group are not duplicates; else they are
    unknown. `folder`: the base of relative paths.
    """

    pairs: tuple[LabelledPair, ...]
    sets: tuple[GoldSet, ...]
    closed: bool
    folder: str

    @property
    def documents(self) -> tuple[str, ...]:
        """Return every name, sorted."""
        names = {name for labelled in self.pairs for name in labelled.pair}
        names.update(name for gold_set in self.sets for name in gold_set.documents)
        return tuple(sorted(names))


Role: TypeAlias = Literal["assessor", "arbiter"]


ROLES: Mapping[str, Role] = {"assessor": "assessor", "arbiter": "arbiter"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The type that one assessor gives one pair, or `UNSURE`; `location` is its file and line,
    `note` what the assessor wrote about it.
    """

    a: str
    b: str
    type: str
    group: str
    location: str
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """The judgements of one assessor, by pair. An arbiter judges where others disagree.

    `verdicts`: the judgements and the pairs that the assessor is unsure of, the last one last.
    """

    assessor: str
    role: Role
    folder: str
    judgements: dict[tuple[str, str], Judgement] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], Judgement] = field(default_factory=dict)

    def put(self, judgement: Judgement) -> None:
        """Set the judgement for a pair instead of an earlier one."""
        pair = ordered_pair(judgement.a, judgement.b)
        self.withdraw(pair)
        self.verdicts[pair] = judgement
        if judgement.type != UNSURE:
            self.judgements[pair] = judgement

    def withdraw(self, pair: tuple[str, str]) -> None:
        """Remove the judgement for a pair, if there is one."""
        self.verdicts.pop(pair, None)
        self.judgements.pop(pair, None)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that assessors judge differently, or that one is unsure of: their judgements by name,
    and the settled `type`; None when unsettled. `notes`: what they wrote about it, by name.
    """

    a: str
    b: str
    judgements: Mapping[str, str]
    type: str | None
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The gold set of some sheets, and the disagreements of assessors. `alone`: number of pairs
    that only one assessor judged.
    """

    gold: Gold
    disagreements: tuple[Disagreement, ...]
    alone: int

    @property
    def unsettled(self) -> int:
        """Return the number of unsettled disagreements; these pairs are not in the gold set."""
        return sum(disagreement.type is None for disagreement in self.disagreements)


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document. `key` identifies it whatever its name: its id if it is `stored`, else its real
    path.
    """

    key: str
    path: str
    text: str
    stored: bool


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Agreement on one distinction.

    `pooled` is the kappa of one table of all pairs, which the paper calls macro-averaged;
    `by_group` is the mean of the kappas of the groups, which it calls micro-averaged. `corrected`
    has the variance of 1979; `cohen` is None unless there are two raters.
    """

    pooled: Kappa
    corrected: Kappa
    by_group: MeanKappa
    cohen: Kappa | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of assessors on the pairs that all of them judged; `left_out` counts the others.

    `duplicate`: the agreement on whether a pair is a duplicate, which the paper reports; `types`:
    the agreement on its type.
    """

    assessors: tuple[str, ...]
    pairs: int
    left_out: int
    duplicate: MeasuredAgreement
    types: MeasuredAgreement
