"""Rows as documents of an engine; the contract suite tests the round trip through a real one."""

import dataclasses
import hashlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sample_rows import band, row

from indexer.fingerprinting.fingerprint import lengthen, shorten
from indexer.model import Assignment, Candidate, RankedRow
from indexer.stores.engine import rows
from indexer.stores.engine.search_bodies import LAST


def test_empty_fields_are_left_out():
    document = rows.source(row("1", modified=None))
    empty = [name for name, value in document.items() if value is None]
    assert empty == ["near_principal", "near_similarity", "near_cluster"]  # `group` sets them
    for name in ("modified", "near_minhash", "near_simhash", "near_parent", "near_unsearchable"):
        assert name not in document


def test_bits_are_signed_and_slots_are_base64():
    document = rows.source(
        row("1", simhash=2**64 - 1, minhash=b"\x00\x01\xff", bands=(band(0, 1),))
    )
    assert (document["near_simhash"], document["near_minhash"]) == (-1, "AAH/")


def test_values_that_cannot_be_indexed_are_stored_apart():
    metadata = {"a": "x" * 32_000, "b": "y" * 31_999, "c\0d": "z", "ж" * 8_000: "ж" * 8_001}
    document = rows.source(row("1", metadata=metadata))
    assert set(document["metadata"]) == {"b"}
    assert set(document["near_unsearchable"]) == {"a", "c\0d", "ж" * 8_000}
    assert rows.row_of_hit("1", document).metadata == metadata


def test_a_document_of_another_program_has_empty_fields():
    result = rows.row_of_hit("1", {"text": "x"})
    assert dataclasses.replace(result, text="") == row(
        "1", recipe="", status="complete", title="", text="", path="", content_type="",
        modified=None, size=0, source="",
        extractor="", raw="", exact="", words=0, chars=0, family="1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "milliseconds"),
    [
        (None, None),
        (-5, -5),
        ("1700000000123", 1_700_000_000_123),
        ("-5", -5),
        ("1970-01-01T00:00:01Z", 1_000),
        ("1970-01-01", 0),
        ("1970-01-01T01:00:00.250+01:00", 250),
    ],
)
def test_times(stored, milliseconds):
    assert rows.row_of_hit("1", {"modified": stored}).modified == milliseconds


def test_documents_of_other_programs_are_read_as_far_as_they_can_be():
    source = {
        "text": ["one", 2],
        "title": None,
        "path": 7,
        "labels": "press",
        "metadata": "none",
        "near_family": None,
    }
    result = rows.row_of_hit("1", source)
    assert (result.text, result.title, result.path, result.labels, result.metadata) == (
        "one\n2",
        "",
        "7",
        ("press",),
        {},
    )
    assert (result.family, result.bands, result.status) == ("1", (), "complete")
    hit = {"_id": "1", "_score": 2.0, "sort": [2.0, LAST, LAST, 7]}
    assert rows.candidate(hit) == Candidate("1", "", 2, None, None)
    assert rows.ranked(hit, True) == RankedRow("1", "", 2.0, "1", "complete", None)


SHA = hashlib.sha256(b"a file").hexdigest()


@given(st.one_of(st.binary(min_size=32, max_size=32).map(bytes.hex), st.text()))
@example("A" * 43)
@example("." + "A" * 43)
@example("A" * 42 + "B")
@example(SHA.upper())
def test_any_digest_comes_back(digest):
    assert lengthen(shorten(digest)) == digest


def test_digests_are_stored_short_where_nothing_searches_them():
    signed = row("1", raw=SHA, source=SHA, exact=SHA)
    document = json.loads(json.dumps(rows.source(signed)))
    assert "near_raw" not in document
    assert {document[f"near_{name}"] for name in ("file", "source", "exact")} == {shorten(SHA)}
    assert len(shorten(SHA)) == 43
    assert rows.row_of_hit("1", document) == signed


@pytest.mark.parametrize(("status", "has_file"), [("empty", True), ("complete", False)])
def test_bytes_of_an_empty_file_can_be_searched_and_so_they_can_in_an_older_index(status, has_file):
    signed = row("1", raw=SHA, status=status)
    document = json.loads(json.dumps(rows.source(signed, has_file)))
    assert (document["near_raw"], "near_file" in document) == (SHA, False)
    assert rows.row_of_hit("1", document) == signed


def test_digests_of_earlier_documents_are_read():
    former = {"near_raw": SHA, "near_source": SHA, "near_exact": SHA, "near_recipe": "r"}
    read = rows.row_of_hit("1", former)
    assert (read.raw, read.source, read.exact) == (SHA, SHA, SHA)
    for stored in (SHA, shorten(SHA)):
        hit = {
            "_id": "1",
            "_score": None,
            "sort": ["p", "1", 0],
            "fields": {"near_exact": [stored]},
        }
        assert rows.ranked(hit, False).digest == SHA


def test_what_most_documents_have_in_common_stands_together_and_before_the_text():
    names = [*rows.source(row("1", minhash=b"x"))]
    assert names[:4] == ["near_recipe", "near_status", "near_extractor", "near_provisional"]
    assert names[-1] == "text"
    assigned = rows.assignment_fields(Assignment("1", "1", False, 0.9, "1", False))
    assert assigned.keys() <= {*rows.source(row("1"))}
