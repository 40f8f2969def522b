"""The preview of thresholds: at the options of `group` no document moves, and at others it is what
`group` makes there.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import edited, library, rows, sentence

from indexer.comparing.criteria import Criteria, Window
from indexer.defaults import FOLD, MEASURE
from indexer.grouping import preview
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, Recipe, recipe_named
from indexer.review.compared_statistics import threshold_statistics
from indexer.stores import open_store

RECIPES = pytest.mark.parametrize(
    "recipe",
    [pytest.param(DEFAULT_V1, marks=pytest.mark.slow), DEFAULT_V2],
    ids=lambda recipe: recipe.name,
)
TEXTS = {
    f"{family}{edits:02}": edited(sentence(family, 60), edits, "xyz"[edits % 3])
    for family in range(5)
    for edits in range(0, 24, 2)
}


@pytest.fixture
def place(tmp_path: Any) -> str:
    """The URL of a store in a file, which remembers its jobs."""
    return f"sqlite:///{tmp_path}/store.db"


def filled(place: str, recipe: Recipe, texts: dict[str, str] = TEXTS, **changes: Any) -> Any:
    """Return a store in a file that holds these texts."""
    store = open_store(place)
    store.prepare(recipe)
    assert not any(store.write(rows(texts, recipe, **changes)))
    return store


def families(store: Any) -> dict[str, str]:
    return {row.id: row.family for row in store.scan()}


OPTIONS = [
    pytest.param(GroupOptions(measure="jaccard", threshold=0.8), marks=pytest.mark.slow),
    GroupOptions(measure="jaccard", threshold=0.55, cluster_threshold=0.5),
    GroupOptions(measure="lcs", threshold=0.8),
    GroupOptions(measure="lcs", threshold=0.9, principal="first"),
    pytest.param(
        GroupOptions(measure="lcs", threshold=0.825, principal="central"), marks=pytest.mark.slow
    ),
    GroupOptions(measure="overlap", threshold=0.7, principal="path"),
    GroupOptions(measure="estimate", threshold=0.6),
    pytest.param(GroupOptions(measure="lcs", threshold=0.3), marks=pytest.mark.slow),
    pytest.param(GroupOptions(measure="lcs", threshold=0.8, cap=2), marks=pytest.mark.slow),
    GroupOptions(measure="lcs", threshold=0.7, within="labels"),
    pytest.param(
        GroupOptions(measure="lcs", threshold=0.6, criteria=Criteria(window=(Window("size", 6),))),
        marks=pytest.mark.slow,
    ),
    GroupOptions(measure="lcs", threshold=0.6, criteria=Criteria(require=(("resemblance", 0.6),))),
]


@pytest.mark.long
@RECIPES
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(options.settings()))
def test_no_document_moves_at_the_options_of_the_families(
    place: str, recipe: Recipe, options: GroupOptions
) -> None:
    labels = {id: ("even" if int(id) % 4 else "odd",) for id in TEXTS}
    store = filled(place, recipe, labels=labels)
    group(store, options)
    figures = threshold_statistics(store)
    assert (figures.measure, figures.threshold, figures.is_grouped) == (
        options.measure,
        options.threshold,
        True,
    )
    same = figures.at()
    assert (same.threshold, same.moved, same.moves) == (options.threshold, 0, ())
    assert same.measure == options.measure
    assert not same.estimated
    assert same.gathered == figures.documents - dict(figures.sizes)["1"]
    assert figures.at(1.0).moved > 0
    store.close()


@pytest.mark.long
@RECIPES
@pytest.mark.parametrize("measure", ["jaccard", "lcs"])
@pytest.mark.parametrize("principal", ["original", "longest", "central"])
def test_another_threshold_is_what_group_makes_there(
    place: str, recipe: Recipe, measure: str, principal: str
) -> None:
    store = filled(place, recipe)
    group(store, GroupOptions(0.8, measure, principal))
    figures = threshold_statistics(store)
    before = families(store)
    for threshold in (0.5, 0.7, 0.85, 1.0):
        shown = figures.at(threshold)
        group(store, GroupOptions(threshold, measure, principal))
        after = families(store)
        assert not shown.estimated
        assert shown.moved == sum(before[id] != after[id] for id in before), threshold
    store.close()


@pytest.mark.long
def test_the_progress_of_measuring_goes_on(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.grouping.verification.BATCH", 10)
    stages: list[tuple[str, int, int]] = []
    threshold_statistics(filled(place, DEFAULT_V2), lambda *stage: stages.append(stage))
    measured = [(done, total) for stage, done, total in stages if stage == "measuring pairs"]
    total = measured[0][1]
    assert total > 20
    assert measured == [(done, total) for done in [*range(0, total, 10), total]]


@pytest.mark.long
def test_a_store_without_a_group_is_shown_by_the_default() -> None:
    figures = threshold_statistics(library(rows(TEXTS)))
    shown = figures.at()
    assert (shown.measure, shown.threshold, figures.is_grouped) == (MEASURE, FOLD, False)


@pytest.mark.long
@RECIPES
@pytest.mark.parametrize("measure", ["jaccard", "lcs"])
def test_lower_thresholds_with_too_many_pairs_are_estimated(
    place: str, recipe: Recipe, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MAX_VERIFIED", 5)
    store = filled(place, recipe)
    group(store, GroupOptions(0.9, measure))
    figures = threshold_statistics(store)
    assert (figures.at().moved, figures.at().estimated) == (0, False)
    assert not figures.at(0.95).estimated
    assert figures.at(0.6).estimated
    assert figures.at(0.6).moved > 0
    assert [step.estimated for step in figures.steps] == [s.threshold < 0.9 for s in figures.steps]
    store.close()


@RECIPES
def test_with_too_many_pairs_the_stored_families_are_those_of_their_threshold(
    place: str, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MAX_GROUPED", 5)
    store = filled(place, recipe)
    group(store, GroupOptions(0.9, "lcs"))
    figures = threshold_statistics(store)
    assert (figures.at().moved, figures.at().estimated) == (0, False)
    assert figures.at(0.89).estimated
    store.write(rows({"new": edited(TEXTS["000"], 1)}, recipe))
    assert threshold_statistics(store).at().estimated
    store.close()


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["jaccard", "lcs", "containment", "resemblance"]),
    st.sampled_from(["chars_v1", "word_pairs_v1"]),
)
def test_the_usual_similarity_rises_with_that_of_the_features(measure: str, kind: str) -> None:
    usual = preview.usual_similarity(measure, preview._GRID, kind)
    assert (usual[1:] >= usual[:-1]).all()
    assert usual[-1] == 1.0


def test_a_store_without_slots_has_no_preview() -> None:
    recipe = recipe_named("simhash-doc")
    figures = threshold_statistics(library(rows(TEXTS, recipe), recipe))
    assert (figures.measure, figures.at().families, figures.steps) == ("none", 0, ())


def test_measured_similarities_go_before_estimates() -> None:
    estimated = np.array([1, 2, 3], np.uint64), np.array([0.95, 0.6, 0.9])
    measured = np.array([2, 3, 4], np.uint64), np.array([0.85, 0.0, 0.8])
    codes, values = preview._combine(estimated, measured, 0.8)
    assert codes.tolist() == [1, 2, 3, 4]
    assert values.tolist() == [np.nextafter(0.8, 0), 0.85, np.nextafter(0.8, 0), 0.8]
