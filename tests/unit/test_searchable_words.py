"""Full-text search finds the words that normalisation sees, also in files made before it did."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sample_rows import row

from indexer.jobs.reindex import reindex
from indexer.model import Query
from indexer.recipe import DEFAULT, recipe_named
from indexer.stores import open_store
from indexer.stores.query_syntax import searchable
from indexer.stores.sqlite.file_format import ALL_ROWS, last_searchable

FORMATS = Path(__file__).parent.parent / "data" / "formats"
TEXTS = {
    "soft hyphen": "the harbour re\u00adport",
    "blank without width": "the harbour re\u200bport",
    "joiner": "the har\u200dbour report",
    "mark of order": "the har\ufeffbour re\u2060port",
    "line end": "the har-\nbour re-\r\n  port",
    "full width": "the ｈａｒｂｏｕｒ ｒｅｐｏｒｔ",
    "accents": "the hárbour repòrt",
    "accents apart": "the ha\u0301rbour repo\u0300rt",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_search_finds_words_however_they_are_written(text: str) -> None:
    with closing(open_store("sqlite://:memory:")) as store:
        store.prepare(DEFAULT)
        store.write([row("a", text=text), row("b", text="sea")])
        for query in ("harbour", "report", '"the harbour report"', "+harb* +rep*", text):
            assert [hit.id for hit in store.search(Query(query)).hits][:1] == ["a"], query
        store.write([row("a", text="sea")])
        assert list(store.search(Query("harbour")).hits) == []
        assert store.maintenance.inconsistencies() == ()
    assert searchable(text).isascii() or "accents" in text or "\u0301" in text or "á" in text


def test_ligatures_are_letters() -> None:
    with closing(open_store("sqlite://:memory:")) as store:
        store.prepare(DEFAULT)
        store.write([row("a", text="the ﬁnal oﬀer"), row("b", text="the final offer")])
        for query in ("final", "ﬁnal", "off*", '"final oﬀer"'):
            assert {hit.id for hit in store.search(Query(query)).hits} == {"a", "b"}, query


def test_reindex_renews_the_words_of_a_file_made_before(tmp_path: Path) -> None:
    shutil.copy(FORMATS / "format-6.db", tmp_path / "old.db")
    with closing(open_store(f"sqlite:///{tmp_path}/old.db")) as store:
        recipe = store.stored_recipe()
        store.write([row("new", text="the har-\nbour re\u00adport", recipe=recipe.id)])
        assert not list(store.search(Query("+harbour +report")).hits)
        assert store.maintenance.inconsistencies() == ()
        documents = len(list(store.scan()))
        assert reindex(store, recipe).copied == documents
        assert [hit.id for hit in store.search(Query("+harbour +report")).hits] == ["new"]
        assert store.maintenance.inconsistencies() == ()
        assert reindex(store, recipe).copied == 0
        store.delete(["new"])
        assert store.maintenance.inconsistencies() == ()
        other = recipe_named("default_v2" if recipe.name != "default_v2" else "default_v3")
        reindex(store, other)
        assert store.maintenance.inconsistencies() == ()
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        assert last_searchable(db) == ALL_ROWS
