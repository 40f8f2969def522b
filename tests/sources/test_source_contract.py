"""The contract of every source: stable ids, one outcome a document, no repeated work, and failures
that affect no other document.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from places import CONTAINERS, FILLS, Place, place_fixture, store_fixture  # noqa: F401

from indexer import open_store
from indexer.documents.base import Limits
from indexer.documents.containers import CONTAINERS as TYPES

ONE = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
TWO = "A quite different text about the price of bread and the people who pay it every day."
THREE = "The third text tells of a long road through the hills that nobody has walked for years."
BROKEN = b"\x00\x01\x02\xff\xfe no text at all"


def test_every_kind_of_container_keeps_the_contract() -> None:
    names = [name for _, name, _ in FILLS.values()]
    absent = [
        kind.suffixes for kind in TYPES if not any(name.endswith(kind.suffixes) for name in names)
    ]
    assert not absent, f"add these to FILLS in places.py: {absent}"


def outcomes(account) -> tuple[int, int, int, int]:
    return account.seen, account.indexed, account.unchanged, len(account.failed)


def test_each_document_is_indexed_once_and_then_unchanged(place: Place) -> None:
    assert outcomes(place.index({"one": ONE, "two": TWO})) == (2, 2, 0, 0)
    first = place.texts()
    assert [text.strip() for text in sorted(first.values())] == sorted((ONE, TWO))
    assert outcomes(place.index({"one": ONE, "two": TWO})) == (2, 0, 2, 0)
    assert place.texts() == first


def test_ids_do_not_depend_on_the_store_or_the_order(place: Place) -> None:
    place.index({"one": ONE, "two": TWO})
    elsewhere = Place(place.kind, place.folder, open_store("sqlite://:memory:"))
    elsewhere.index({"two": TWO, "one": ONE})
    assert {id: text.strip() for id, text in elsewhere.texts().items()} == {
        id: text.strip() for id, text in place.texts().items()
    }
    elsewhere.store.close()


def test_what_changed_is_indexed_again_under_its_id(place: Place) -> None:
    place.index({"one": ONE, "two": TWO})
    before = place.texts()
    assert outcomes(place.index({"one": ONE, "two": THREE})) == (2, 1, 1, 0)
    after = place.texts()
    assert after.keys() == before.keys()
    assert {text.strip() for text in after.values()} == {ONE, THREE}


def test_a_broken_document_fails_alone(place: Place) -> None:
    if place.kind == "mbox":
        pytest.skip("any bytes are a message")
    account = place.index({"one": ONE, "two": BROKEN, "three": THREE})
    assert outcomes(account) == (3, 2, 0, 1)
    assert len(account.failed[0].error) > 20
    assert outcomes(place.index({"one": ONE, "two": BROKEN, "three": THREE})) == (3, 0, 2, 1)


def test_a_document_that_breaks_loses_its_row(place: Place) -> None:
    if place.kind == "mbox":
        pytest.skip("any bytes are a message")
    place.index({"one": ONE, "two": TWO})
    place.index({"one": ONE, "two": BROKEN}, prune=place.kind in ("csv", "tsv"))
    assert {text.strip() for text in place.texts().values()} == (
        {ONE, TWO} if place.kind in ("csv", "tsv") else {ONE}
    )


def test_too_large_ones_fail_alone(place: Place) -> None:
    account = place.index({"one": ONE, "two": TWO * 200, "three": THREE}, Limits(bytes=4096))
    assert account.indexed == 2 or place.kind in ("csv", "tsv")  # a line too long ends those
    assert account.failed
    assert "the limit of 4,096 bytes" in account.failed[0].error


def test_long_texts_are_cut_and_said_to_be(place: Place) -> None:
    place.index({"one": ONE * 10}, Limits(chars=200))
    [row] = place.store.scan()
    assert row.status == "truncated"
    assert len(row.text) == 200


def test_prune_removes_what_is_gone_and_nothing_else(place: Place) -> None:
    place.index({"one": ONE, "two": TWO})
    account = place.index({"one": ONE}, prune=True)
    assert account.removed == 1
    assert [text.strip() for text in place.texts().values()] == [ONE]


def test_labels_and_namespace(place: Place) -> None:
    place.index({"one": ONE}, labels=("a",), namespace="case 7")
    [row] = place.store.scan()
    assert row.labels == ("a",)
    assert row.path.endswith("one.txt") or "!/" in row.path


@pytest.mark.parametrize("kind", sorted(CONTAINERS - {"memory zip"}))
def test_a_damaged_container_fails_and_keeps_its_rows(kind: str, tmp_path: Path, store) -> None:
    place = Place(kind, tmp_path, store)
    texts = {f"{number}": f"{ONE} {number} {TWO * 20}" for number in range(20)}
    place.index(texts)
    url = Path(place.fill(texts))
    content = url.read_bytes()
    url.write_bytes(b"\x07\x08" + content[2 : len(content) // 2])
    before = place.texts()
    place._fill = lambda *_: str(url)
    account = place.index(texts, prune=True)
    assert any(blob.path.startswith(str(url)) for blob in account.failed)
    assert place.texts() == before
