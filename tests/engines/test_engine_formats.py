"""Indices that an earlier nearfold made, or whose `_meta` somebody cut: brought up to date, or
refused with what to do.
"""

import pytest
from pipelines import METADATA, call, core_analysis, store_url
from sample_rows import row

from indexer.errors import MappingMismatch
from indexer.model import EmbeddedFile, Query, pack_embedded
from indexer.recipe import DEFAULT
from indexer.stores.engine import index_mapping


def test_an_index_of_the_first_nearfold_gets_the_fields_it_lacks(engine, server, index, open_at):
    body = index_mapping.new_index(DEFAULT, METADATA[engine], core_analysis(server), None, None)
    for name in (*index_mapping.LATER, *index_mapping.OF_PARTS):
        del body["mappings"]["properties"][name]
    assert call("PUT", f"{server}/{index}", {**body, "aliases": {f"{index}-write": {}}})[0] == 200
    store = open_at(store_url(engine, server, index))
    store.prepare(DEFAULT)
    assert store.write([row("1", text="a warehouse at the quay")]) == [None]
    store.refresh()
    assert [hit.id for hit in store.search(Query("warehouse")).hits] == ["1"]
    mapping = call("GET", f"{server}/{index}/_mapping")[1][index]["mappings"]
    assert mapping["properties"]["near_error"] == {"type": "keyword"}
    assert mapping["_meta"] == body["mappings"]["_meta"]


def test_files_in_documents_are_stored_in_an_index_that_no_job_has_prepared(
    engine, server, index, open_at
):
    body = index_mapping.new_index(DEFAULT, METADATA[engine], core_analysis(server), None, None)
    del body["mappings"]["properties"]["near_embedded"]
    assert call("PUT", f"{server}/{index}", {**body, "aliases": {f"{index}-write": {}}})[0] == 200
    store = open_at(store_url(engine, server, index))
    embedded = pack_embedded([EmbeddedFile("picture", "a.png", "0f" * 32)])
    assert store.write([row("1", text="a warehouse at the quay", embedded=embedded)]) == [None]
    assert store.get(["1"])["1"].embedded == embedded
    mapping = call("GET", f"{server}/{index}/_mapping")[1][index]["mappings"]
    expected = index_mapping.index_body()["mappings"]["properties"]["near_embedded"]
    assert mapping["properties"]["near_embedded"] == expected


@pytest.mark.parametrize("missing_key", ["format", "recipe"])
def test_an_index_that_lost_what_it_says_of_itself_is_refused(
    missing_key, engine, server, index, open_at
):
    body = index_mapping.new_index(DEFAULT, METADATA[engine], core_analysis(server), None, None)
    del body["mappings"]["_meta"]["nearfold"][missing_key]
    assert call("PUT", f"{server}/{index}", body)[0] == 200
    with pytest.raises(MappingMismatch, match=r"_meta\.nearfold.*another index name"):
        open_at(store_url(engine, server, index)).prepare(DEFAULT)
