"""Families within labels: each set of labels grouped as if it were alone."""

import itertools
import random

import pytest
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.recipe import DEFAULT
from indexer.stores import open_store

LABELS = [("a",), ("b",), ("a", "b"), ("b", "a"), ()]
WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture
def rows():
    """Return near duplicates across every set of labels, and exact copies."""
    documents, numbers = [], itertools.count()
    for seed in range(6):
        text = random.Random(seed).choices(WORDS, k=120)
        for labels in [(), *LABELS]:
            for edit in ("", "", "more"):
                number = next(numbers)
                changed = [*text, *([f"{edit}{number}"] if edit else ())]
                documents.append(
                    row(f"d{number:03}", text=" ".join(changed), path=f"/n/{number}", labels=labels)
                )
    return fingerprint_rows(documents, DEFAULT)


def group_rows(rows, **options):
    """Return the family fields by id, after grouping these rows alone."""
    store = open_store("sqlite://:memory:")
    store.prepare(DEFAULT)
    store.write(rows)
    result = group(store, GroupOptions(threshold=0.8, **options))
    fields = {
        stored_row.id: (
            stored_row.family,
            stored_row.cluster,
            stored_row.principal,
            stored_row.similarity,
        )
        for stored_row in store.scan()
    }
    store.close()
    return fields, result


def test_each_set_of_labels_is_grouped_as_if_it_were_alone(rows):
    together, result = group_rows(rows, within="labels")
    alone = {}
    for labels in {frozenset(document.labels) for document in rows}:
        alone |= group_rows(
            [document for document in rows if frozenset(document.labels) == labels]
        )[0]
    assert together == alone
    assert result.documents == len(rows)
    assert result.families == 6 * 4
    assert result.inconsistent == ()


def test_a_reader_of_some_labels_sees_no_trace_of_others(rows):
    """Under document-level security by label: all that a family names is visible to whoever sees a
    member.
    """
    leaking, safe = group_rows(rows)[0], group_rows(rows, within="labels")[0]
    for granted in ("a", "b"):
        visible = {document.id for document in rows if granted in document.labels}
        assert names(leaking, visible) - visible
        assert names(safe, visible) <= visible
        without = group_rows(
            [document for document in rows if document.id in visible], within="labels"
        )[0]
        assert {id: safe[id] for id in visible} == without


def names(fields, ids):
    """Return the documents that the family and the cluster of these rows name."""
    return {name for id in ids for name in fields[id][:2] if name is not None}


def test_an_empty_store():
    assert group_rows([], within="labels")[1].documents == 0
