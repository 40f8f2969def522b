"""Bands and rows: equality with datasketch's choice, and the recipe's own layout."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from datasketch.lsh import _optimal_param
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from indexer.comparing.band_plan import (
    chance,
    describe_plan,
    feature_similarities,
    plan,
    plan_by_weight,
    plan_for_recall,
    stored_recall,
)
from indexer.errors import UsageError
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, SCANS_V1, Recipe
from indexer.review.charts import s_curve


def more(*values: float) -> list[Any]:
    """Return values of slow tests."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


@pytest.mark.parametrize(("weight", "layout"), [(0.5, (25, 5)), (0.75, (26, 4))])
def test_known_layouts(weight: float, layout: tuple[int, int]) -> None:
    chosen = plan_by_weight(0.5, 128, weight)
    assert (chosen.bands, chosen.rows) == layout


@pytest.mark.long
@pytest.mark.parametrize("slots", [16, 128, *more(64, 200)])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 0.95, 0.97, *more(0.35, 0.62, 0.9)])
@pytest.mark.parametrize("weight", [0.1, 0.25, 0.5, 0.75])
def test_equal_to_datasketch(threshold: float, slots: int, weight: float) -> None:
    chosen = plan_by_weight(threshold, slots, weight)
    assert (chosen.bands, chosen.rows) == _optimal_param(threshold, slots, 1 - weight, weight)


def test_default_v1_is_what_the_plan_gives() -> None:
    chosen = plan_for_recall(DEFAULT_V1.similarity or 0, 0.998, DEFAULT_V1.slots or 0)
    assert (chosen.bands, chosen.rows) == (DEFAULT_V1.bands, DEFAULT_V1.rows)


def test_the_keys_of_default_v2_find_pairs_by_words_in_order() -> None:
    expected = stored_recall(DEFAULT_V2, "lcs", DEFAULT_V2.similarity or 0)
    assert expected is not None and expected >= 0.989  # exactly at .8; of all from .8 up, .998
    one_key = stored_recall(replace(DEFAULT_V2, shared=None), "lcs", 0.5)
    assert one_key is not None and one_key > (stored_recall(DEFAULT_V2, "lcs", 0.5) or 0)


@pytest.mark.long
@given(st.floats(0.05, 0.95), st.floats(0.5, 0.999), st.integers(32, 256))
def test_planned_recall_is_reached(similarity: float, recall: float, slots: int) -> None:
    try:
        chosen = plan_for_recall(similarity, recall, slots)
    except UsageError:
        assert chance(similarity, slots, 1) < recall
    else:
        assert chosen.recall(similarity) >= recall
        assert chosen.bands * chosen.rows <= slots


def test_curve_rises_from_nothing_to_certainty() -> None:
    curve = plan_by_weight(0.8).curve
    assert curve[0] == (0.0, 0.0)
    assert curve[-1] == (1.0, 1.0)
    assert [share for _, share in curve] == sorted(share for _, share in curve)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0])
def test_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        plan(threshold)


def test_more_shared_keys_mean_fewer_finds_and_binomial_chances() -> None:
    similarities, bands, rows = 0.7, 20, 4
    success = similarities**rows
    least_two = 1 - (1 - success) ** bands - bands * success * (1 - success) ** (bands - 1)
    assert chance(similarities, bands, rows, shared=2) == pytest.approx(least_two)
    assert chance(similarities, bands, rows, shared=2) < chance(similarities, bands, rows)


@given(st.integers(1, 4), st.integers(8, 40))
def test_budgets_of_keys_and_shared_keys_are_respected(shared: int, keys: int) -> None:
    try:
        chosen = plan_for_recall(0.8, 0.9, 128, keys, shared)
    except UsageError:
        assert max(chance(0.8, bands, 1, shared) for bands in range(shared, keys + 1)) < 0.9
    else:
        assert shared <= chosen.bands <= keys
        assert chosen.recall(0.8) >= 0.9


def test_expected_candidates_grow_with_the_documents() -> None:
    chosen = plan_for_recall(0.8, 0.998)
    assert chosen.expected_candidates(1000, 1.0) == pytest.approx(1000)
    assert chosen.expected_candidates(10**6) == pytest.approx(
        10 * chosen.expected_candidates(10**5)
    )


def test_picture_marks_the_threshold_and_is_well_formed() -> None:
    root = ElementTree.fromstring(s_curve(plan_by_weight(0.5)))
    paths = [path.attrib["d"] for path in root.iter("{http://www.w3.org/2000/svg}path")]
    curve = max(paths, key=len)
    heights = [float(point.split(",")[1]) for point in curve.removeprefix("M").split("L")]
    assert heights == sorted(heights, reverse=True) and len(heights) == 201
    assert "25 bands x 5 rows" in "".join(root.itertext())


@pytest.mark.long
@given(
    st.floats(0.05, 0.95),
    st.floats(0.5, 0.999),
    st.sampled_from(["jaccard", "lcs", "lcs_misread"]),
    st.sampled_from([DEFAULT_V1, DEFAULT_V2, SCANS_V1]),
)
def test_a_plan_keeps_its_promise_for_bands_and_slots(
    threshold: float, recall: float, measure: str, recipe: Recipe
) -> None:
    chosen = plan(threshold, recall, measure, recipe)
    similarities = feature_similarities(measure, threshold, recipe.relation)
    chance = 1 / 256 if recipe.packed else 0  # that slots of one byte agree by chance
    shares = [similarity + (1 - similarity) * chance for similarity in similarities]
    by_bands = np.array([chosen.recall(share) for share in shares])
    counts = np.arange(chosen.fewest_equal)
    rejected = np.array([binom.pmf(counts, recipe.slots, share).sum() for share in shares])
    assert chosen.expected_recall == pytest.approx(np.mean(by_bands * (1 - rejected)))
    assert chosen.expected_recall >= recall or chosen.rows == 1


def test_a_recall_that_slots_cannot_reach_is_planned_as_near_as_possible():
    chosen = plan(0.05, 0.99, recipe=replace(DEFAULT_V1, slots=16))
    assert (chosen.bands, chosen.rows) == (16, 1) and 0.5 < chosen.expected_recall < 0.99
    assert "less than the 99.0% asked for" in describe_plan(chosen)
    assert "less than the 99.0% asked for" in describe_plan(plan(0.8, 0.99, keys=3))
    assert "asked for" not in describe_plan(plan(0.8, 0.99))


def test_a_plan_for_words_in_order_expects_fewer_features_in_common():
    assert plan(0.8, measure="lcs").fewest_equal < plan(0.8, measure="jaccard").fewest_equal
    fewer, more = (plan(0.8, recall, "lcs").expected_candidates(1000) for recall in (0.9, 0.99))
    assert fewer < more


def test_slots_that_are_the_measure_reject_nothing_at_the_threshold():
    assert plan(0.5, measure="estimate", recipe=DEFAULT_V1).fewest_equal == 64
    assert plan(0.5, measure="estimate", recipe=DEFAULT_V2).fewest_equal == 65


def test_no_recall_is_promised_for_a_measure_without_evidence() -> None:
    assert "is not known" in describe_plan(plan(0.8, measure="hamming"))
    assert "expected to find" in describe_plan(plan(0.8, measure="lcs"))


def test_the_recall_for_misread_text_is_known_of_word_pairs_and_of_the_recipe_for_it() -> None:
    other = plan(0.8, measure="lcs_misread", recipe=DEFAULT_V1)
    assert "is not known" in describe_plan(other)
    by_words = plan(0.8, measure="lcs", recipe=DEFAULT_V1)
    assert (other.bands, other.rows) == (by_words.bands, by_words.rows)
    assert stored_recall(DEFAULT_V1, "lcs_misread", 0.8) is None
    assert plan(0.8, measure="lcs_misread", recipe=DEFAULT_V2).rows < plan(0.8, measure="lcs").rows
    assert 0.7 < (stored_recall(DEFAULT_V2, "lcs_misread", 0.8) or 0) < 0.8
    assert "expected to find" in describe_plan(plan(0.8, measure="lcs_misread", recipe=SCANS_V1))
    assert (stored_recall(SCANS_V1, "lcs_misread", 0.8) or 0) > 0.98
