"""Searches of a SQLite file give the same by what is kept of it as by reading it again."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.model import Query, RankedRow
from indexer.recipe import DEFAULT
from indexer.searching.search import parse_filters
from indexer.stores import open_store
from indexer.stores.base import Ranking
from indexer.stores.sqlite import connections, full_text
from indexer.stores.sqlite.store import SqliteStore
from tests.sample_rows import row

FACETS = ("content_type", "status", "labels", "family", "path")
TEXTS = (
    "ferry ferry boat",
    "boat",
    "ferry",
    "quay ferry",
    "quay",
    "boat boat boat",
    "pier",
    "tide",
)
QUERIES = ("", "ferry", "ferry boat", "+ferry boat", "boat -quay", "none")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with_rows(tmp_path / "store.db").close()
    return tmp_path / "store.db"


def with_rows(path: Path) -> SqliteStore:
    """Return a store with a row for each text; the last ones are of the families of others."""
    store = opened(path)
    store.prepare(DEFAULT)
    rows = [
        row(
            f"d{number}",
            text=text,
            labels=("hot", "cold")[: number % 3],
            family=("d0", "gone")[number % 2] if number > 4 else f"d{number}",
        )
        for number, text in enumerate(TEXTS)
    ]
    assert store.write(rows) == [None] * len(rows)
    return store


def opened(path: Path) -> SqliteStore:
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqliteStore)
    return store


def answers(store: SqliteStore) -> Iterator[object]:
    for text in QUERIES:
        for sort in ("relevance", "path"):
            answer: Ranking = store.search(Query(text, (), sort, FACETS, families=True))
            yield text, sort, answer.total, answer.families, answer.facets, list(answer.hits)
    yield store.counts()


def by_id(store: SqliteStore, query: Query) -> list[RankedRow]:
    return sorted(store.search(query).hits, key=lambda hit: hit.id)


@pytest.mark.parametrize("few", [0, 8, 1000])
def test_the_second_answer_is_that_of_a_new_connection(
    file: Path, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether all rows are read for columns, or those that match, or all are too many."""
    monkeypatch.setattr(connections, "_FEW", few)
    monkeypatch.setattr(connections, "MAX_ROWS", 1 << 22 if few else 0)
    store, other = opened(file), opened(file)
    first = list(answers(store))
    assert list(answers(store)) == first == list(answers(other))
    store.close()
    other.close()


@pytest.mark.parametrize("text", ["ferry", "+ferry -boat", "ferry -quay"])
def test_a_filter_scores_no_word_again_whose_scores_are_kept(
    file: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hits and scores are those of a search that scores those that the filter leaves."""
    query = Query(text, (("labels", "hot"),), facets=FACETS, families=True)
    store, other = opened(file), opened(file)
    expected = other.search(query)
    hits = list(expected.hits)
    assert hits
    store.search(Query("ferry"))
    monkeypatch.setattr(full_text, "read_scores", None)
    answer = store.search(query)
    assert list(answer.hits) == hits
    assert (answer.total, answer.facets) == (expected.total, expected.facets)
    store.close()
    other.close()


@pytest.mark.parametrize("text", ["ferry", "ferry boat", "+ferry boat", "ferry -quay"])
@pytest.mark.parametrize("filters", [(), (("status", "complete"),)])
def test_the_last_matches_are_ranked_first_where_a_query_allows_it(
    file: Path, text: str, filters: tuple[tuple[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have the order and the scores of a ranking of all, and counts are of all."""
    monkeypatch.setattr(full_text, "_MIN_RANKED", 2)
    query = Query(text, filters, facets=FACETS, families=True)
    store, other = opened(file), opened(file)
    whole = other.search(query)
    scores = {hit.id: hit.score for hit in whole.hits}
    first = store.search(replace(query, max_ranked=2))
    hits = list(first.hits)
    ranked = hits[: first.total - first.unranked]
    assert [(hit.id, hit.score) for hit in ranked] == [
        item for item in scores.items() if item[0] in sorted(scores)[-2:]
    ]
    assert sorted(hit.id for hit in hits) == sorted(scores)
    assert (first.unranked, first.total, first.families, first.facets) == (
        whole.total - 2, whole.total, whole.families, whole.facets,
    )  # fmt: skip
    unlimited = other.search(replace(query, max_ranked=2))
    if not filters and text != "ferry -quay":  # the scores of these words are kept now
        assert unlimited.unranked == 0
        assert {hit.id: hit.score for hit in unlimited.hits} == scores
    store.close()
    other.close()


@pytest.mark.parametrize(
    "filters", [("status=complete",), ("label_conflict=true",), ("family=d0", "labels=hot")]
)
def test_the_rows_under_filters_are_the_same_when_they_are_kept(
    file: Path, filters: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after labels have changed."""
    queries = [Query(text, parse_filters(filters), facets=FACETS) for text in QUERIES[1:]]
    store, other = opened(file), opened(file)
    for labels in ([], ["new"]):
        store.labels.relabel({"d0": labels})
        monkeypatch.setattr(full_text, "_FEW", 0)  # each is looked up
        expected = [by_id(other, query) for query in queries]
        monkeypatch.setattr(full_text, "_FEW", 100)
        for _ in range(2):
            assert [by_id(store, query) for query in queries] == expected
    store.close()
    other.close()


def test_labels_of_this_connection_and_of_others_are_followed(file: Path) -> None:
    store, other = opened(file), opened(file)
    list(answers(store))
    assert store.labels.relabel({"d1": ["new"], "d6": [], "none": ["x"]}) == 2
    assert list(answers(store)) == list(answers(other))
    assert other.labels.relabel({"d2": ["newer", "new"]}) == 1
    assert list(answers(store)) == list(answers(other))
    values = [facet.value for facet in store.search(Query("", facets=("labels",))).facets["labels"]]
    assert {"new", "newer"} <= set(values)
    store.close()
    other.close()


def test_labels_that_are_rolled_back_are_not_counted(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(file)
    before = list(answers(store))
    with pytest.raises(KeyError), store.exclusive():
        store.labels.relabel({"d1": ["new"]})
        raise KeyError
    assert list(answers(store)) == before
    store.close()


def test_written_and_deleted_rows_are_searched(file: Path) -> None:
    store, other = opened(file), opened(file)
    list(answers(store))
    store.write([row("d8", text="ferry tide", content_type="text/html")])
    store.delete(["d0"])
    assert list(answers(store)) == list(answers(other))
    store.close()
    other.close()


@pytest.mark.parametrize(("text", "found"), [("", ["d4", "d5", "d6", "d7"]), ("quay", ["d4"])])
def test_no_times_are_kept_by_numbers_that_are_too_high(
    file: Path, text: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows may have high numbers: an array by numbers would be as long as the highest."""
    store = opened(file)
    store.delete([f"d{number}" for number in range(4)])
    monkeypatch.setattr(full_text, "MAX_ROWS", len(TEXTS))
    monkeypatch.setattr(connections.ColumnCache, "times", None)
    assert [hit.id for hit in store.search(Query(text, sort="newest")).hits] == found
    store.close()


@settings(max_examples=50)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=60), st.integers(1, 70))
def test_the_best_places_come_first_in_any_number_of_parts(scores: list[float], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(full_text, "_MAX_SORTED", most)
        best = full_text.best_positions(np.array(scores))
        others = full_text._other_positions(np.array(scores), len(best))
        places = [place for part in (best, *others) for place in part]
    assert places == sorted(range(len(scores)), key=lambda place: (-scores[place], place))


def test_words_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_SCORES", 200)
    cache, reads = connections.ScoreCache(), []

    def ask(word: str) -> list[int]:
        def read() -> connections.Scores:
            reads.append(word)
            return np.arange(60), np.ones(60)

        return cache.of(word, read)[0].tolist()

    assert ask("a") == ask("a") == ask("b") == list(range(60))
    assert reads == ["a", "b"]
    ask("a")
    assert reads == ["a", "b", "a"]  # two words of 110 entries are beyond the bound


def test_rows_of_a_word_are_read_once(file: Path) -> None:
    store = opened(file)
    statements: list[str] = []
    with store._file.reader() as db:
        assert isinstance(db, sqlite3.Connection)
        db.set_trace_callback(statements.append)
    for page in range(2):
        store.search(Query("ferry boat", facets=FACETS[:3]))
        scored = [statement for statement in statements if "bm25" in statement]
        assert len(scored) == 2, page
    store.close()


def test_a_family_is_found_by_indexes(file: Path) -> None:
    store = opened(file)
    found = {
        name: store.search(Query("", (("family", name),))) for name in ("d0", "d1", "gone", "")
    }
    ids = {name: [hit.id for hit in full_text.hits] for name, full_text in found.items()}
    assert ids == {"d0": ["d0", "d6"], "d1": ["d1"], "gone": ["d5", "d7"], "": []}
    with_word = store.search(Query("boat", (("family", "d0"),)))
    assert [hit.id for hit in with_word.hits] == ["d0"]
    statements: list[str] = []
    with store._file.reader() as db:
        db.set_trace_callback(statements.append)
    store.search(Query("", (("family", "d0"),)))
    with store._file.reader() as db:
        db.set_trace_callback(None)
        [statement] = [text for text in statements if "d.number AS number" in text]
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert not [step for step in plan if "SCAN d" in step], plan
    store.close()
