"""The survey of a store and the view of one family, compared with `group`."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import edited, library, rows, sentence

from indexer.defaults import MEASURE
from indexer.errors import DocumentNotFound, StoreError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.review.compared_statistics import threshold_statistics
from indexer.review.family_view import family
from indexer.stores import open_store

CUT = frozenset({"t", "u"})
contents = st.one_of(
    st.builds(edited, st.integers(0, 1).map(sentence), st.integers(0, 12), st.sampled_from("xy")),
    st.sampled_from(["", "12 34", "short"]),
)
texts = st.dictionaries(st.sampled_from("abcdefghijtu"), contents, min_size=1, max_size=12)


@settings(max_examples=6, deadline=None)
@given(texts, st.sampled_from([0.6, 0.7, 0.8, 0.9, 1.0]))
def test_a_preview_is_what_group_would_write(documents: dict[str, str], threshold: float) -> None:
    store = library(rows(documents, cut=CUT))
    preview = threshold_statistics(store).at(threshold)
    grouped = group(store, GroupOptions(threshold=threshold))
    assert (preview.families, preview.measure) == (grouped.families, MEASURE)
    after = threshold_statistics(store).at(threshold)
    assert (after.families, after.moved, after.moves) == (grouped.families, 0, ())
    assert preview.moved == sum(row.family != row.id for row in store.scan())


def test_a_survey_counts_what_repeats() -> None:
    text = sentence(0)
    store = library(
        rows({"a": text, "b": text, "c": edited(text, 2), "d": sentence(5), "e": "", "f": ""})
    )
    group(store)
    figures = threshold_statistics(store)
    assert (figures.documents, figures.redundant, figures.same_text, figures.same_bytes) == (
        6,
        3,
        1,
        2,
    )
    assert dict(figures.sizes) == {
        "1": 1,
        "2": 1,
        "3–5": 1,
        "6–10": 0,
        "11–50": 0,
        "51–200": 0,
        "201+": 0,
    }
    assert sum(figures.similarities) == 3
    assert [family.documents for family in figures.largest] == [3, 2]
    families = [step.families for step in figures.steps]
    assert families[0] == 2
    assert [step.threshold for step in figures.steps][-1] == 1.0


def test_moves_name_both_families() -> None:
    text = sentence(0)
    store = library(rows({"a": text, "b": edited(text, 8)}))
    [move] = threshold_statistics(store).at(0.5).moves
    assert (move.before, move.after, move.documents) in {("b", "a", 1), ("a", "b", 1)}
    assert {move.before_path, move.after_path} == {"/library/a.txt", "/library/b.txt"}


def test_a_store_without_an_index_is_reported(tmp_path: Path) -> None:
    for ask in (threshold_statistics, lambda store: family(store, "a")):
        with pytest.raises(StoreError, match="nearfold index"):
            ask(open_store(f"sqlite:///{tmp_path}/new.db"))


def test_a_family_is_seen_whole_from_any_member() -> None:
    text = sentence(0)
    labels = {"a": ("privileged",), "c": ("privileged", "hot")}
    texts = {
        "a": text,
        "b": edited(text, 4),
        "c": edited(text, 2),
        "d": sentence(5),
        "t": edited(text, 1),
    }
    store = library(rows(texts, cut=CUT, labels=labels))
    group(store, GroupOptions(threshold=0.5))
    seen = family(store, "b")
    assert seen == family(store, seen.id)
    assert seen.principal is not None
    similarities = [row.similarity for row in seen.members]
    assert similarities == sorted(similarities)
    assert seen.size == len(seen.members) + 1 == 4
    assert seen.labels == {"hot": 1, "privileged": 2}
    assert {
        "labels do not agree: 2 of 4 documents carry none",
        "the text of 1 document is cut; similarity is that of what was read",
    } <= set(seen.warnings)
    assert len(seen.matrix) == len(seen.compared) == 4
    assert all(seen.matrix[i][j] == seen.matrix[j][i] for i in range(4) for j in range(4))
    assert all(seen.matrix[i][i].similarity == 1 for i in range(4))


def test_a_document_on_its_own_is_a_family_of_one() -> None:
    store = library(rows({"a": sentence(0)}))
    seen = family(store, "a")
    assert (seen.size, seen.members, seen.warnings) == (1, (), ())
    with pytest.raises(DocumentNotFound):
        family(store, "nowhere")
