"""Indices of other programs that are mapped, named or closed in a way that nearfold cannot use, and
documents without a text: refused with what is in the way, or left alone.
"""

import re

import pytest
from pipelines import good

from indexer.errors import MappingMismatch, StoreStopped, UsageError
from indexer.grouping.group import group
from indexer.indexing.index import IndexOptions
from indexer.indexing.index import index as indexing
from indexer.operations.install import install
from indexer.searching.search import SearchOptions, search
from indexer.sources.base import Reading

pytestmark = pytest.mark.engines
FERRY = "Ferries leave the harbour at eight in the morning; dogs travel free on all of them."
TEXTS = {"properties": {"text": {"type": "text"}}}


@pytest.fixture
def theirs(stores, engine, server, tmp_path, monkeypatch):
    """Yield a function that makes an index of another program; the store at it, its name and the
    server.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, name = stores(engine, server)

    def make(mappings, documents=(), name=name):
        good("PUT", f"{server}/{name}", {"mappings": mappings})
        for number, document in enumerate(documents):
            good("PUT", f"{server}/{name}/_doc/{number}?refresh=true", document)

    return make, store, name, server


def sign(store, field="text"):
    return indexing([store.url], store, IndexOptions(reading=Reading(text_field=field)))


def test_documents_without_a_text_are_no_copies_of_each_other(theirs):
    make, store, _, _ = theirs
    documents = [{"title": "Ferry timetable"}, {"title": "Ferry logo", "text": ""}]
    make(TEXTS, [*documents, {"title": "Ferry scan", "text": None}, {"text": FERRY}])
    sign(store)
    result = group(store)
    assert (result.families, result.singletons) == (0, 4)
    assert {row.id: row.family for row in store.scan()} == {id: id for id in "0123"}
    for fold in ("family", "live"):
        hits = search(store, "ferry", SearchOptions(fold=fold)).hits
        assert [len(hit.folded) for hit in hits] == [0] * len(hits)


def test_another_name_of_a_field_holds_no_texts(theirs):
    make, store, name, server = theirs
    alias = {"type": "alias", "path": "body"}
    make({"properties": {"body": {"type": "text"}, "text": alias}}, [{"body": FERRY}])
    before = good("GET", f"{server}/{name}")
    for refused in (lambda: sign(store), lambda: install(store)):
        with pytest.raises(UsageError, match=r"another name of its field body.*--text-field body"):
            refused()
    assert good("GET", f"{server}/{name}") == before
    assert sign(store, "body").indexed == 1


def test_a_mapping_without_objects_is_refused_first(theirs, engine):
    if engine == "opensearch":
        pytest.skip("OpenSearch has no `subobjects`")
    make, store, name, server = theirs
    make({**TEXTS, "subobjects": False}, [{"text": FERRY}])
    before = good("GET", f"{server}/{name}"), good("GET", f"{server}/_component_template")
    for refused in (lambda: sign(store), lambda: install(store)):
        with pytest.raises(UsageError, match="subobjects: false"):
            refused()
    assert (good("GET", f"{server}/{name}"), good("GET", f"{server}/_component_template")) == before


def test_an_index_behind_an_alias_is_named_where_it_is_in_the_way(theirs, open_at):
    make, store, name, server = theirs
    make(TEXTS, [{"text": FERRY}])
    sign(store)
    other, alias = f"{name}-other", f"{name}-all"
    make(TEXTS, [{"text": FERRY}], other)
    for member in (name, other):
        good("PUT", f"{server}/{member}/_alias/{alias}")
    store_of_all = open_at(f"{store.url}-all")
    command = re.escape(f"nearfold index {store.url}-other --text-field")
    with pytest.raises(MappingMismatch, match=f"{other}, which it stands for, .*{command}"):
        group(store_of_all)
    with pytest.raises(MappingMismatch, match=f"stands for {name}, {other}; .*own name of one"):
        install(store_of_all)
    good("POST", f"{server}/{name}/_close")
    with pytest.raises(StoreStopped, match=f"{name} is closed; open the index"):
        store.counts()
