"""A stored field is declared once: what stores keep follows from it, and stays as it is."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from stored_fields import ROWS, kept, refused

from indexer import mappings
from indexer.model import Row
from indexer.recipe import DEFAULT
from indexer.spark import arrow_rows
from indexer.stores import fields as stored_fields
from indexer.stores.engine.rows import row_of_hit, source
from indexer.stores.sqlite.file_format import FORMAT, column_type, statements_of
from indexer.stores.sqlite.rows import packed_columns, unpacked_rows

PINNED = Path(__file__).parent.parent / "data" / "stored_fields.json"


def test_every_field_of_a_row_is_declared() -> None:
    declared = [field.name for field in stored_fields.FIELDS]
    assert sorted([*declared, "parts"]) == sorted(field.name for field in fields(Row))


def test_what_stores_keep_stays_as_it_is() -> None:
    assert json.loads(json.dumps(kept())) == json.loads(PINNED.read_text(encoding="utf-8"))


def test_rows_come_back_from_every_form() -> None:
    columns = packed_columns(ROWS, DEFAULT)
    read = [(row.text, *values) for row, values in zip(ROWS, columns, strict=True)]
    assert unpacked_rows(read, DEFAULT) == list(ROWS)
    documents = [json.loads(json.dumps(source(row))) for row in ROWS]
    assert [row_of_hit(document["near_id"], document) for document in documents] == list(ROWS)
    (batch,) = arrow_rows.pack_row(ROWS)
    assert list(arrow_rows.unpack_row(batch)) == list(ROWS)


def test_rows_are_packed_together_as_alone() -> None:
    digest = "0a" * 32
    strings = ["", digest, digest.upper(), "z" * 64, f"{digest} "]
    rows = [replace(ROWS[0], raw=raw, exact=exact) for raw in strings for exact in strings]
    alone = [columns for row in rows for columns in packed_columns([row], DEFAULT)]
    assert packed_columns(rows, DEFAULT) == alone
    digests = [row for row in rows if {row.raw, row.exact} == {digest}]
    assert packed_columns(digests, DEFAULT) == packed_columns(rows[6:7], DEFAULT)


@pytest.mark.parametrize("key", ["", "a b", " a", "A", "é", "\ud800", "a" * 65])
def test_keys_of_other_characters_or_lengths_are_refused(key: str) -> None:
    row = replace(ROWS[0], bands=("a", "z" * 64), blocks=())
    assert stored_fields.refusals([row, row], DEFAULT.id) == [None, None]
    refused, accepted = stored_fields.refusals([replace(row, blocks=(key,)), row], DEFAULT.id)
    assert refused
    assert accepted is None


@pytest.mark.parametrize("name", refused())
def test_a_value_beyond_its_bounds_is_refused(name: str) -> None:
    assert stored_fields.refusal(refused()[name], DEFAULT.id)


def test_files_of_each_format_have_the_columns_declared_for_it() -> None:
    db = sqlite3.connect(":memory:")
    for step in range(1, FORMAT + 1):
        db.executescript("".join(f"{statement.rstrip(';')};" for statement in statements_of(step)))
        columns = db.execute("PRAGMA table_info(documents)")
        present = {name: type for _, name, type, *_ in columns if name != "number"}
        assert present == {
            field.name: column_type(field)
            for field in stored_fields.FIELDS
            if field.is_column and field.sqlite_format <= step
        }


def test_the_pipeline_of_a_cluster_makes_the_fields_of_fingerprints_and_no_others() -> None:
    declared = {field.in_engine for field in stored_fields.FIELDS if field.fingerprinted}
    own = {"near_id", "near_family", "near_text_field"}
    made = re.findall(r"(?:ctx|signed)\.(near_\w+) = ", mappings.read("sign.painless"))
    assert set(made) == declared | own
    marked = re.findall(r"ctx\.(near_\w+) = ", mappings.read("mark.painless"))
    assert set(marked) < declared | own
    read = re.findall(r"ctx\.(near_\w+)", mappings.read("sign.painless"))
    of_clients = {field.in_engine for field in stored_fields.FIELDS if field.is_later}
    assert set(read) - {"near_attachment"} <= declared | own | of_clients


def test_the_mapping_of_an_engine_has_the_type_of_each_field() -> None:
    properties = mappings.load("index.json")["mappings"]["properties"]
    for field in stored_fields.FIELDS:
        if field.name not in ("id", "text"):
            expected = field.mapping["type"]
            assert properties.get(field.in_engine, field.mapping)["type"] == expected, field.name


@pytest.mark.long
def test_a_declared_field_is_kept_in_every_form() -> None:
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, root / "tests" / "extending" / "language.py"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (root, root / "tests")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_rows_are_checked_together_as_they_are_alone() -> None:
    broken = [replace(ROWS[0], **{name: "a\ud800b"}) for name in ("id", "text", "path", "exact")]
    broken.append(replace(ROWS[0], labels=("\udfff",), metadata={"\ud800": "a"}))
    rows = [*ROWS, *broken, *refused().values(), replace(ROWS[0], similarity=float("nan"))]
    for chosen in (rows, ROWS, ROWS[:1], *([row] for row in rows)):
        cleaned = [stored_fields.storable(row) for row in chosen]
        assert stored_fields.storable_rows(chosen) == cleaned
        for recipe in (DEFAULT.id, "another"):
            alone = [stored_fields.refusal(row, recipe) for row in cleaned]
            assert stored_fields.refusals(cleaned, recipe) == alone
