"""Indices of other programs that are mapped, named or closed in a way that nearfold cannot use, and
documents without a text: refused with what is in the way, or left alone.
"""

import re

import pytest
from pipelines import good

from indexer.documents.base import ReadOptions
from indexer.errors import MappingMismatch, StoreStopped, UsageError
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.install import install, uninstall
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import similar

pytestmark = pytest.mark.engines
FERRY = "Ferries leave the harbour at eight in the morning; dogs travel free on all of them."
OTHER_TITLES = {
    "long": ({"type": "long"}, 8),
    "date": ({"type": "date"}, "2026-01-01"),
    "boolean": ({"type": "boolean"}, True),
    "object": ({"properties": {"de": {"type": "text"}}}, {"de": "Fähre"}),
    "unindexed": ({"type": "text", "index": False}, "Fähre"),
}
SHOWN_TYPES = {"date": "2026-01-01T00:00:00.000Z", "boolean": "true"}
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
    return index([store.url], store, IndexOptions(reading=ReadOptions(text_field=field)))


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
        with pytest.raises(UsageError, match=r"an alias of its field body.*--text-field body"):
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


@pytest.mark.parametrize("kind", ["long", "date", "boolean", "object", "unindexed"])
def test_fields_of_an_owner_that_hold_no_words_are_passed_over(theirs, kind):
    make, store, _, _ = theirs
    mapped, value = OTHER_TITLES[kind]
    fields = dict.fromkeys(
        ("title", "path", "content_type", "modified", "size", "metadata"), mapped
    )
    documents = [{"text": text, **dict.fromkeys(fields, value)} for text in (FERRY, FERRY)]
    make({"properties": {"text": {"type": "text"}, **fields}}, documents)
    sign(store)
    group(store)
    for query in ("ferries", "leave*", '"leave the harbour"', "7"):
        for sort in ("relevance", "path", "modified"):
            (hit, *_) = search(store, query, SearchOptions(sort=sort)).hits or [None]
            assert (hit is None) == (query == "7")
            assert hit is None or len(hit.folded) == 1
    assert [match.id for match in similar(store, id="0").matches] == ["1"]
    types = store.counts().by_content_type
    (facet,) = search(store, "ferries", SearchOptions(facets=("content_type",))).facets.values()
    shown = {} if kind in ("object", "unindexed") else {SHOWN_TYPES.get(kind, str(value)): 2}
    assert types == shown == {counted.value: counted.documents for counted in facet}


@pytest.mark.parametrize("field", [{"type": "keyword"}, {"type": "text", "index": False}])
def test_an_index_that_keeps_no_words_says_so_and_finds_near_duplicates(theirs, open_at, field):
    make, store, name, server = theirs
    make({"properties": {"text": field}}, [{"text": FERRY}, {"text": FERRY.upper()}])
    sign(store)
    assert (group(store).families, search(store, "").total) == (1, 2)
    assert [match.id for match in similar(store, id="0").matches] == ["1"]
    with pytest.raises(UsageError, match="no words to search: add a subfield of type text to text"):
        search(store, "harbour")
    words = {"text": {**field, "fields": {"words": {"type": "text"}}}}
    good("PUT", f"{server}/{name}/_mapping", {"properties": words})
    good("POST", f"{server}/{name}/_update_by_query?refresh=true")
    assert search(open_at(store.url), "harbour").total == 2


@pytest.mark.parametrize("limit", [{"routing": "1"}, {"filter": {"term": {"text": "ferries"}}}])
def test_an_alias_of_a_part_of_an_index_is_not_installed_by(theirs, open_at, limit):
    make, store, name, server = theirs
    make(TEXTS, [{"text": FERRY}])
    good("PUT", f"{server}/{name}/_alias/{name}-part", limit)
    before = good("GET", f"{server}/{name}")
    part = open_at(f"{store.url}-part")
    for refused in (lambda: sign(part), lambda: install(part), lambda: uninstall(part)):
        with pytest.raises(UsageError, match=f"shows a part of {name} .*the index {name} itself"):
            refused()
    (check,) = (check for check in doctor(part.url) if check.name == "store")
    assert check.verdict == "bad" and "nearfold install" not in check.detail
    assert good("GET", f"{server}/{name}") == before


def test_what_was_installed_by_an_alias_too_leaves_no_trace(theirs, open_at):
    make, store, name, server = theirs
    make(TEXTS, [{"text": FERRY}])
    good("PUT", f"{server}/{name}/_alias/{name}-all", {})
    install(store)
    by_alias = open_at(f"{store.url}-all")
    assert {change.action for change in install(by_alias).changes} == {"unchanged", "left out"}
    assert group(by_alias).documents == 1
    uninstall(store)
    assert [*good("GET", f"{server}/{name}/_alias")[name]["aliases"]] == [f"{name}-all"]
