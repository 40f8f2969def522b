"""Kappa compared with textbooks, with its definition and with Conrad & Raymond's numbers."""

import math
import random
from fractions import Fraction
from itertools import combinations, permutations

import pytest

from indexer.lab.evaluation.judgements import cohen, count_table, mean_kappa, siegel_castellan

# Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76 (1971):
# 30 patients, 6 psychiatrists.
DIAGNOSES = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 "
    "144444 124444 222333 144444 224445 333335 111455 111112 224444 133555 "
    "555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
)
# The worked example of Fleiss's kappa that most texts on the web repeat: 10 objects, 14 raters, 5
# categories.
TEN = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_psychiatrists_of_fleiss() -> None:
    table = count_table(DIAGNOSES.split())
    agreement, corrected = siegel_castellan(table), siegel_castellan(table, corrected=True)
    assert (agreement.objects, agreement.raters) == (30, 6)
    assert (
        round(agreement.observed, 3),
        round(agreement.expected, 3),
        round(agreement.kappa, 3),
    ) == (
        0.556,
        0.220,
        0.430,
    )
    assert round(math.sqrt(agreement.variance), 4) == 0.0275
    assert round(corrected.z, 2) == 17.65  # as R's irr::kappam.fleiss prints


def test_ten_objects_of_fourteen_raters() -> None:
    agreement = siegel_castellan(TEN)
    assert (
        round(agreement.observed, 3),
        round(agreement.expected, 3),
        round(agreement.kappa, 3),
    ) == (
        0.378,
        0.213,
        0.210,
    )


def test_two_psychiatrists_of_fleiss_by_cohen() -> None:
    """Fleiss, Statistical Methods for Rates and Proportions, table 13.1: kappa .68, standard error
    .076.
    """
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    judged = [
        (a, b) for a, row in enumerate(table) for b, number in enumerate(row) for _ in range(number)
    ]
    agreement = cohen(*zip(*judged, strict=True))
    assert (round(agreement.kappa, 2), round(math.sqrt(agreement.variance), 3)) == (0.68, 0.076)


def by_definition(judgements: list[tuple[str, ...]]) -> Fraction:
    """P(A): how often two judgements of one object are the same; P(E): with all thrown together."""
    pairs = [(a == b) for row in judgements for a, b in combinations(row, 2)]
    everything = [judgement for row in judgements for judgement in row]
    chances = [Fraction(everything.count(kind), len(everything)) for kind in set(everything)]
    observed, expected = Fraction(sum(pairs), len(pairs)), sum(chance**2 for chance in chances)
    return (observed - expected) / (1 - expected)


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_kappa_is_its_definition(raters: int) -> None:
    chance = random.Random(raters)
    for _ in range(50):
        judged = [
            tuple(chance.choices("abc", [5, 2, 1], k=raters)) for _ in range(chance.randint(2, 30))
        ]
        if len({judgement for row in judged for judgement in row}) > 1:
            assert siegel_castellan(count_table(judged)).kappa == pytest.approx(
                float(by_definition(judged))
            )


@pytest.mark.parametrize(("raters", "kinds"), [(2, "aaaaabbb"), (3, "aaaaaabbbccc")])
def test_the_corrected_variance_is_that_of_shuffled_judgements(raters: int, kinds: str) -> None:
    """Under chance alone: judgements dealt to objects at random. The book's variance is off there,
    which is why both exist.
    """
    chance, objects = random.Random(7), 60
    judged = (kinds * 100)[: objects * raters]
    kappas = []
    for _ in range(1500):
        dealt = chance.sample(judged, len(judged))
        kappas.append(
            siegel_castellan(count_table([tuple(dealt[i::objects]) for i in range(objects)])).kappa
        )
    mean = sum(kappas) / len(kappas)
    seen = sum((kappa - mean) ** 2 for kappa in kappas) / len(kappas)
    agreement = siegel_castellan(
        count_table([tuple(judged[i::objects]) for i in range(objects)]), corrected=True
    )
    assert agreement.variance == pytest.approx(seen, rel=0.15)


def test_cohens_variance_is_that_of_all_pairings() -> None:
    """All ways to deal one assessor's judgements to the objects, which is what it describes for
    many objects.
    """
    first, second = "aaabbcc", "aabbbca"
    kappas = [cohen(first, dealt).kappa for dealt in permutations(second)]
    seen = sum(kappa**2 for kappa in kappas) / len(kappas)
    assert sum(kappas) == pytest.approx(0, abs=1e-6)
    assert cohen(first, second).variance == pytest.approx(
        seen * (len(first) - 1) / len(first), rel=1e-9
    )


def test_of_two_assessors_both_kappas_are_near_when_margins_are_alike() -> None:
    judged = [("y", "y")] * 40 + [("n", "n")] * 40 + [("y", "n")] * 5 + [("n", "y")] * 5
    assert siegel_castellan(count_table(judged)).kappa == pytest.approx(
        cohen(*zip(*judged, strict=True)).kappa
    )


def test_one_pooled_table_is_not_the_mean_of_tables() -> None:
    first, second = [[2, 0]] * 9 + [[1, 1]], [[2, 0], [0, 2], [1, 1]]
    pooled, mean = siegel_castellan([*first, *second]).kappa, mean_kappa([first, second]).mean
    assert mean == pytest.approx(
        (siegel_castellan(first).kappa + siegel_castellan(second).kappa) / 2
    )
    assert pooled != pytest.approx(mean)


def test_where_all_is_in_one_category_kappa_is_not_defined() -> None:
    agreement = siegel_castellan([[2, 0], [2, 0]])
    assert (agreement.kappa, agreement.z, agreement.p, agreement.observed) == (
        None,
        None,
        None,
        1.0,
    )
    assert cohen("aa", "aa").kappa is None
    assert mean_kappa([[[2, 0]], [[2, 0], [0, 2]]]) == mean_kappa([[[2, 0], [0, 2]], [[0, 2]]])
    assert mean_kappa([[[2, 0]]]).mean is None
    assert siegel_castellan([]).kappa is cohen("", "").kappa is None


def test_rows_of_different_sums_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        siegel_castellan([[2, 0], [1, 0]])
