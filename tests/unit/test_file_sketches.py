"""Sketches of the hits of a search in a SQLite file: those of the best hits after the first."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_rows import row

from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.base import SketchRow
from indexer.stores.sqlite import full_text

WINDOW = 12
STATUSES = ("complete", "truncated", "numbers_only", "empty")
ROWS = st.lists(
    st.tuples(
        st.text("tx", min_size=1, max_size=4),  # words, of which every hit has the first one
        st.sampled_from("abc"),  # folders, so that the order of paths is not that of numbers
        st.sampled_from(STATUSES),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


def stored(rows):
    store = open_store("sqlite://:memory:")
    store.prepare(DEFAULT)
    store.write(
        [
            row(
                f"{place:02}",
                path=f"/{folder}/{place:02}",
                text=" ".join(f"t {word}" for word in words),
                status=status,
                minhash=bytes([place]) * DEFAULT.sketch_bytes if has_sketch else None,
                words=place,
            )
            for place, (words, folder, status, has_sketch) in enumerate(rows)
        ]
    )
    return store


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 8), st.integers(2, 40))
def test_they_are_those_of_the_next_best_hits(rows, first, sorted_at_first):
    store = stored(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(full_text, "_MAX_SORTED", max(sorted_at_first, WINDOW))
        whole = list(store.search(Query("t x")).hits)
        ranking = store.search(Query("t x", expected=WINDOW, first=first))
    assert list(ranking.hits) == whole
    sketches = ranking.sketches
    if sketches is None:
        ends = [end for end in range(first, len(whole)) if whole[end - 1].score != whole[end].score]
        assert not ends or ends[0] >= min(WINDOW, len(whole))
        return
    assert first <= sketches.first < min(WINDOW, len(whole))
    following = whole[sketches.first : WINDOW]
    best = sketches.best(WINDOW)
    assert [hit.score for hit in best] == [hit.score for hit in following]
    read = sketches.rows(range(len(best)))
    assert sorted(row.id for row in read) == sorted(hit.id for hit in following)
    by_id = {hit.id: hit for hit in following}
    for hit, stored_row in zip(best, read, strict=True):
        other = by_id[stored_row.id]
        assert hit == SketchRow(other.score, other.status, other.minhash, other.words)
    assert sketches.rows([]) == []
    store.close()


def test_of_hits_of_one_score_at_the_end_of_the_window_the_first_by_path_are_meant():
    store = stored(
        [("tt" if place < 3 else "t", "cba"[place % 3], "complete", True) for place in range(24)]
    )
    whole = [hit.id for hit in store.search(Query("t")).hits]
    sketches = store.search(Query("t", expected=WINDOW, first=2)).sketches
    assert sketches.first == 3
    best = sketches.best(WINDOW)
    assert [row.id for row in sketches.rows(range(len(best)))] == whole[3:WINDOW]
    store.close()


def test_hits_that_are_gone_have_no_sketch_and_no_row():
    store = stored([("tt" if place < 3 else "t", "a", "complete", True) for place in range(8)])
    sketches = store.search(Query("t", expected=WINDOW, first=2)).sketches
    before = [hit.minhash for hit in sketches.best(WINDOW)]
    store.delete(["05"])
    after = [hit.minhash for hit in sketches.best(WINDOW)]
    assert len(before) == len(after) == 5
    assert [place for place, sketch in enumerate(after) if sketch is None] == [2]
    assert [row.id for row in sketches.rows([1, 3])] == ["04", "06"]
    assert sketches.rows([1, 2]) is None
    store.close()


def test_there_are_none_where_all_hits_or_families_are_asked_for():
    store = stored([("tt" if place < 3 else "t", "a", "complete", True) for place in range(8)])
    for query in (
        Query("t", expected=WINDOW),
        Query("t", expected=WINDOW, first=2, families=True),
        Query("t", expected=3, first=2),
        Query("t", expected=WINDOW, first=4),
        Query("t", expected=WINDOW, first=2, sort="path"),
        Query("", expected=WINDOW, first=2),
        Query("unknown", expected=WINDOW, first=2),
    ):
        assert store.search(query).sketches is None
    store.close()


def test_a_search_that_ranks_few_hits_gives_none(monkeypatch):
    """Hits that are not ranked follow those that are, and no sketch would be among them."""
    monkeypatch.setattr("indexer.stores.sqlite.full_text._MIN_RANKED", 4)
    store = stored([("t" * (1 + place % 3), "a", "complete", True) for place in range(12)])
    ranking = store.search(Query("t", expected=WINDOW, first=1, max_ranked=4))
    assert ranking.unranked == 8
    assert ranking.sketches is None
    store.close()
