"""Rows as documents of an engine; the contract suite tests the round trip through a real one."""

import dataclasses

import pytest
from sample_rows import band, row

from indexer.model import Candidate, RankedRow
from indexer.stores.engine import rows as documents
from indexer.stores.engine.sort_keys import LAST


def test_empty_fields_are_left_out():
    document = documents.source(row("1", modified=None))
    assert None not in document.values()
    for name in ("modified", "near_minhash", "near_simhash", "near_cluster", "near_unsearchable"):
        assert name not in document


def test_bits_are_signed_and_slots_are_base64():
    document = documents.source(
        row("1", simhash=2**64 - 1, minhash=b"\x00\x01\xff", bands=(band(0, 1),))
    )
    assert (document["near_simhash"], document["near_minhash"]) == (-1, "AAH/")


def test_values_that_cannot_be_indexed_are_stored_apart():
    metadata = {"a": "x" * 32_000, "b": "y" * 31_999, "c\0d": "z", "ж" * 8_000: "ж" * 8_001}
    document = documents.source(row("1", metadata=metadata))
    assert set(document["metadata"]) == {"b"}
    assert set(document["near_unsearchable"]) == {"a", "c\0d", "ж" * 8_000}
    assert documents.row("1", document).metadata == metadata


def test_a_document_of_another_program_has_empty_fields():
    result = documents.row("1", {"text": "x"})
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
    assert documents.row("1", {"modified": stored}).modified == milliseconds


def test_documents_of_other_programs_are_read_as_far_as_they_can_be():
    source = {
        "text": ["one", 2],
        "title": None,
        "path": 7,
        "labels": "press",
        "metadata": "none",
        "near_family": None,
    }
    result = documents.row("1", source)
    assert (result.text, result.title, result.path, result.labels, result.metadata) == (
        "one\n2",
        "",
        "7",
        ("press",),
        {},
    )
    assert (result.family, result.bands, result.status) == ("1", (), "complete")
    hit = {"_id": "1", "_score": 2.0, "sort": [2.0, LAST, LAST, 7]}
    assert documents.candidate(hit) == Candidate("1", "", 2, None, None)
    assert documents.ranked(hit, True) == RankedRow("1", "", 2.0, "1", "complete", None)
