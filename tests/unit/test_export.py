"""Exports as other programs read them, hostile documents included."""

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_library import edited, library, rows, sentence

from indexer.errors import StoreError, UsageError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.recipe import DEFAULT_V1
from indexer.review.exports.export import ExportOptions, export
from indexer.review.exports.writers import Column, Table, field, write_csv
from indexer.searching.stored_texts import StoredTexts
from indexer.stores import open_store
from indexer.stores.base import Store

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "exports.json").read_text(encoding="utf-8")
)
TEXT = sentence(0)
HOSTILE = {
    "formula": '=HYPERLINK("http://example.org","open")',
    "quotes": 'He said "no", then\r\nleft',
    "thorn": "\u00fe\u0014\u00ae þing",
    "markup": "<script>alert(1)</script>",
    "apostrophe": "'tis",
}


@pytest.fixture
def store() -> Store:
    """Return a store of families and singles.

    A family of four with a copy, a pair, and one each: alone, without text, with a hostile title.
    """
    texts = {
        "a": TEXT,
        "b": edited(TEXT, 1),
        "c": TEXT,
        "d": edited(TEXT, 2),
        "e": sentence(5),
        "f": edited(sentence(5), 1),
    }
    texts |= {"g": sentence(3), "h": ""} | {
        id: sentence(7, 20 + place) for place, id in enumerate(HOSTILE)
    }
    records = rows(
        texts, DEFAULT_V1, labels={"b": ("reviewer:Bo", "privileged"), "e": ("reviewer:Gone",)}
    )
    records = [
        dataclasses.replace(row, title=HOSTILE.get(row.id, f"Title {row.id}"), raw=f"{place:064x}")
        for place, row in enumerate(records)
    ]
    store = library(records, DEFAULT_V1)
    group(store, GroupOptions(0.85, "jaccard", "longest"))
    return store


BATCHES = ExportOptions(reviewers=["Al", "Bo"], batch_size=3)


def read_dat(path: Path) -> list[dict[str, str]]:
    """Read a load file: the fields of each record by the names in the header."""
    text = path.read_bytes().decode("utf-8-sig")
    assert text.endswith("\r\n")
    lines = [line.split("\u0014") for line in text.removesuffix("\r\n").split("\r\n")]
    assert all(
        len(field) >= 2 and field[0] == field[-1] == "\u00fe" for line in lines for field in line
    )
    header, *records = [[field[1:-1] for field in line] for line in lines]
    return [dict(zip(header, record, strict=True)) for record in records]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("what", ["families", "pairs", "batches"])
@pytest.mark.parametrize("form", ["csv", "parquet", "dat"])
def test_golden(store: Store, tmp_path: Path, what: str, form: str) -> None:
    options = BATCHES if what == "batches" else ExportOptions(measure="jaccard")
    done = export(store, tmp_path / "out", form, what, options)
    read = {
        "csv": read_csv,
        "dat": read_dat,
        "parquet": lambda path: pyarrow.parquet.read_table(path).to_pylist(),
    }[form]
    exported = json.loads(json.dumps(read(tmp_path / "out"), default=lambda time: time.isoformat()))
    assert len(exported) == done.records
    assert exported == GOLDEN[f"{what}.{form}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_exported_families_equal_those_of_the_store(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "out", "parquet")
    exported = {
        record["id"]: record for record in pyarrow.parquet.read_table(tmp_path / "out").to_pylist()
    }
    for row in store.scan():
        record = exported.pop(row.id)
        assert (record["path"], record["title"], record["family"], record["similarity"]) == (
            row.path,
            row.title,
            row.family,
            row.similarity,
        )
        assert (record["principal"], record["labels"], record["cluster"]) == (
            row.family == row.id,
            list(row.labels),
            row.cluster,
        )
        assert record["modified"] == datetime.fromtimestamp(row.modified / 1000, timezone.utc)
    assert not exported
    assert {
        record["id"]
        for record in pyarrow.parquet.read_table(tmp_path / "out").to_pylist()
        if record["same_text"] == "a"
    } == {
        "a",
        "c",
    }


def test_pairs_are_those_that_match_finds(store: Store, tmp_path: Path) -> None:
    options = ExportOptions(threshold=0.7, measure="resemblance")
    export(store, tmp_path / "out", "csv", "pairs", options)
    expected = {
        (record.a, record.b): record.similarity
        for record in match(store, MatchOptions(threshold=0.7, measure="resemblance"))
    }
    assert expected
    assert {
        (record["a"], record["b"]): float(record["similarity"])
        for record in read_csv(tmp_path / "out")
    } == expected


def test_pairs_are_read_together(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    differences = StoredTexts.differences

    def counted(self: StoredTexts, representative: str, ids: Sequence[str]) -> Any:
        calls.append(representative)
        return differences(self, representative, ids)

    monkeypatch.setattr(StoredTexts, "differences", counted)
    export(store, tmp_path / "out", "csv", "pairs", ExportOptions(threshold=0.7))
    read = [record["a"] for record in read_csv(tmp_path / "out")]
    assert len(read) > len(calls) == len(set(read))


def test_a_load_file_has_no_families(store: Store, tmp_path: Path) -> None:
    """There a family is an e-mail with its attachments, and a document alone has no group."""
    export(store, tmp_path / "out", "dat")
    records = {record["DOCID"]: record for record in read_dat(tmp_path / "out")}
    assert not [name for name in records["a"] if "family" in name.lower()]
    alone, principal, member = records["g"], records["a"], records["b"]
    assert [alone[f"NearDup{name}"] for name in ("Group", "Principal", "Similarity")] == [
        "",
        "N",
        "",
    ]
    assert [principal[f"NearDup{name}"] for name in ("Group", "Principal", "Similarity")] == [
        "a",
        "Y",
        "100.00",
    ]
    assert (member["NearDupGroup"], member["NearDupPrincipal"]) == ("a", "N")
    assert member["NearDupSimilarity"] == f"{100 * store.get(['b'])['b'].similarity:.2f}"


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_survives_csv(text: str) -> None:
    file = io.StringIO(newline="")
    assert (
        write_csv(Table((Column("text", "text", str), Column("end", "whole", len)), [text]), file)
        == 1
    )
    [row] = csv.DictReader(io.StringIO(file.getvalue(), newline=""), strict=True)
    assert row["text"].removeprefix("'") == text.replace("\0", "\ufffd")
    assert row["end"] == str(len(text))
    assert not row["text"].startswith(
        ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    )


@given(st.text())
def test_no_field_of_a_load_file_ends_early(text: str) -> None:
    assert not set(field(text)) & {"\u00fe", "\u0014", "\r", "\n", "\0"}


def test_batches_of_reviewers(store: Store, tmp_path: Path) -> None:
    done = export(store, tmp_path / "out", "csv", "batches", BATCHES)
    records = read_csv(tmp_path / "out")
    assert {record["reviewer"] for record in records if record["family"] == "a"} == {"Bo"}
    assert {record["because"] for record in records if record["family"] == "a"} == {"reviewed"}
    assert {record["because"] for record in records if record["family"] == "e"} == {"workload"}
    assert next(record for record in records if record["family"] == "a")["id"] == "a"
    assert sum(load.documents for load in done.loads) == len(records) == done.records
    assert sum(load.batches for load in done.loads) == len({record["batch"] for record in records})
    assert any("larger than a batch" in note for note in done.notes)


@pytest.mark.parametrize("form", ["csv", "dat"])
def test_a_queue_holds_near_duplicates_of_what_asks_for_review(
    store: Store, tmp_path: Path, form: str
) -> None:
    options = ExportOptions(review=["privileged", "reviewer:Gone"])
    export(store, tmp_path / "out", form, "queue", options)
    key, labels = ("id", "review_for") if form == "csv" else ("DOCID", "ReviewFor")
    exported = {
        record[key]: record[labels]
        for record in (read_csv if form == "csv" else read_dat)(tmp_path / "out")
    }
    assert exported == {
        "a": "privileged",
        "c": "privileged",
        "d": "privileged",
        "f": "reviewer:Gone",
    }
    with pytest.raises(UsageError, match="--review"):
        export(store, tmp_path / "none", "csv", "queue")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_unresolved_labels_are_reported(tmp_path: Path) -> None:
    done = export(library(rows({"a": TEXT, "b": TEXT})), tmp_path / "out")
    assert "2 documents came after the last group" in done.notes[0]


def test_what_cannot_be_written(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no index"):
        export(open_store(f"sqlite:///{tmp_path}/none.db"), tmp_path / "out")
    with pytest.raises(UsageError, match="cannot write"):
        export(store, tmp_path / "missing" / "out")
    with pytest.raises(UsageError, match="batch"):
        export(store, tmp_path / "out", "csv", "batches", ExportOptions(batch_size=0))
    with pytest.raises(UsageError):
        export(store, tmp_path / "out", "csv", "pairs", ExportOptions(threshold=0))
    assert list(tmp_path.iterdir()) == []
