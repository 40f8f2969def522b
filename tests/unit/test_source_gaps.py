"""What `_source` lacks of the documents of an index, by the mapping and the settings alone."""

import pytest

from indexer.stores.engine.partial_updates import is_sourced, source_gap

TEXT = {"type": "text"}


def index(source, properties, dynamic="strict", **settings):
    mappings = {"_source": source, "properties": properties, "dynamic": dynamic}
    return {"mappings": mappings, "settings": {"index": settings}}


@pytest.mark.parametrize(
    ("source", "properties", "lost"),
    [
        ({"excludes": ["a"]}, {"a": TEXT, "ab": TEXT}, ["a"]),
        ({"excludes": ["a"]}, {"a": {"properties": {"b": TEXT}}}, ["a.b"]),
        ({"excludes": ["*.b"]}, {"a": {"properties": {"b": TEXT, "c": TEXT}}}, ["a.b"]),
        ({"excludes": ["a.*"]}, {"a": {"properties": {"b": TEXT}}, "b": TEXT}, ["a.b"]),
        ({"includes": ["a", "b*"]}, {"a": TEXT, "bc": TEXT, "cb": TEXT}, ["cb"]),
        ({"includes": ["a"], "excludes": ["a.b"]}, {"a": {"properties": {"b": TEXT}}}, ["a.b"]),
        ({"excludes": ["gone"]}, {"a": TEXT}, []),
        ({"excludes": ["a"]}, {"a": {"type": "binary"}}, []),
        ({"excludes": ["a"]}, {"a": {"type": "binary", "doc_values": True}}, ["a"]),
        ({"excludes": ["a"]}, {"a": {"type": "text", "index": False}}, []),
        ({"excludes": ["a"]}, {"a": {"type": "keyword", "index": False}}, ["a"]),
        ({"excludes": ["a"]}, {"a": {"type": "keyword", "index": False, "doc_values": False}}, []),
        ({"excludes": ["a"]}, {"a": {"type": "text", "index": False, "copy_to": "b"}}, ["a"]),
        ({"excludes": ["a"]}, {"a": {"type": "object", "enabled": False}}, []),
        ({"excludes": ["a"]}, {"a": {"type": "alias", "path": "b"}}, []),
    ],
)
def test_fields_that_an_index_holds_outside_of_source(source, properties, lost):
    names = ", ".join(lost)
    assert source_gap(index(source, properties)) == (names and f"leaves {names} out of `_source`")


@pytest.mark.parametrize(
    ("source", "dynamic", "gap"),
    [
        ({"excludes": ["later"]}, True, "leaves later out of `_source`"),
        ({"excludes": ["later"]}, False, ""),
        ({"excludes": ["data"]}, True, ""),
        ({"includes": ["data"]}, True, "leaves fields that are not mapped yet out of `_source`"),
        ({"includes": ["*"]}, True, ""),
        ({"includes": [], "excludes": []}, True, ""),
    ],
)
def test_fields_that_documents_may_add_count_where_the_mapping_allows_them(source, dynamic, gap):
    assert source_gap(index(source, {"data": {"type": "binary"}}, dynamic)) == gap


def test_an_object_may_take_new_fields_where_the_mapping_takes_none():
    properties = {"open": {"dynamic": True, "properties": {"a": TEXT}}}
    assert source_gap(index({"excludes": ["open.b"]}, properties)) == (
        "leaves open.b out of `_source`"
    )


@pytest.mark.parametrize(
    ("source", "settings", "gap"),
    [
        ({"mode": "synthetic"}, {}, "synthetic"),
        ({}, {"mapping": {"source": {"mode": "SYNTHETIC"}}}, "synthetic"),
        ({}, {"mapping": {"source": {"mode": "disabled"}}}, "disabled"),
        ({}, {"mode": "logsdb"}, "synthetic"),
        ({}, {"derived_source": {"enabled": "true"}}, "derived"),
    ],
)
def test_a_source_that_an_engine_makes_from_fields_does_not_prove_anything(source, settings, gap):
    assert gap in source_gap(index(source, {"a": TEXT}, **settings))


def test_a_source_that_is_stored_by_setting_lacks_nothing():
    settings = {"mode": "logsdb", "mapping": {"source": {"mode": "stored"}}}
    assert source_gap(index({}, {"a": TEXT}, **settings)) == ""


def test_texts_are_read_from_source_only_where_it_has_them():
    assert is_sourced(index({"excludes": ["data"]}, {}), "text")
    assert not is_sourced(index({"excludes": ["page"]}, {}), "page.body")
    assert not is_sourced(index({"enabled": False}, {}), "text")
