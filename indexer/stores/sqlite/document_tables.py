"""Tables of the embedded store, changed together: documents, texts, full-text index, postings."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain, count
from typing import Any, Literal

from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.file_format import recipe_in_use

_CHUNK = 500
_COLUMNS = ", ".join(f"d.{name}" for name in packed.COLUMNS)
_ROW = f"SELECT d.number, t.text, {_COLUMNS} FROM documents d JOIN texts t USING (number)"


def replace(db: sqlite3.Connection, rows: dict[str, Row], recipe: Recipe) -> None:
    """Insert rows, signed by the recipe of the file, or replace those with the same id."""
    numbers = _forget(db, list(rows), recipe)
    fresh = count((db.execute("SELECT max(number) FROM documents").fetchone()[0] or 0) + 1)
    numbered = [(numbers.get(name) or next(fresh), row) for name, row in rows.items()]
    columns = packed.columns([row for _, row in numbered], recipe)
    values = [(number, *row) for (number, _), row in zip(numbered, columns, strict=True)]
    texts = [(number, row.text) for number, row in numbered]
    words = [(number, *packed.words(row.title, row.text)) for number, row in numbered]
    keys = [(number, packed.posted_keys(row)) for number, row in numbered]
    names = ", ".join(packed.COLUMNS)
    _insert(db, f"INSERT OR REPLACE INTO documents (number, {names})", values)
    _insert(db, "INSERT OR REPLACE INTO texts", texts)
    _insert(db, "INSERT INTO fulltext (rowid, title, text)", words)
    _insert(db, "INSERT INTO postings (rowid, carried)", keys)


def _insert(db: sqlite3.Connection, into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by a statement for many of them: between statements, Python waits for its other
    threads.
    """
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        marks = f"({', '.join('?' * len(chunk[0]))})"
        values = list(chain.from_iterable(chunk))
        db.execute(f"{into} VALUES {', '.join([marks] * len(chunk))}", values)


def remove(db: sqlite3.Connection, ids: Sequence[str], recipe: Recipe) -> dict[str, int]:
    """Delete rows from every table; return the number of each id that existed."""
    numbers = _forget(db, ids, recipe)
    for table in ("documents", "texts"):
        values = [(number,) for number in numbers.values()]
        db.executemany(f"DELETE FROM {table} WHERE number = ?", values)
    return numbers


def _forget(db: sqlite3.Connection, ids: Sequence[str], recipe: Recipe) -> dict[str, int]:
    """Delete rows from the full-text index and the postings.

    Returns the number of each id that exists.
    """
    select = (
        "SELECT d.number, d.id, d.title, t.text, d.bands, d.minhash, d.blocks, "
        "d.parent FROM documents d JOIN texts t USING (number) WHERE d.id IN"
    )
    numbers = {}
    rows = chosen_rows(db, select, ids)
    every_band = packed.band_sets([(bands, slots) for *_, bands, slots, _, _ in rows], recipe)
    for row, bands in zip(rows, every_band, strict=True):
        number, name, title, text, _, _, blocks, parent = row
        numbers[name] = number
        db.execute(
            "INSERT INTO fulltext (fulltext, rowid, title, text) VALUES ('delete', ?, ?, ?)",
            (number, *packed.words(title, text)),
        )
        prefix = "" if parent is None else parts.PART
        keys = packed.posted(bands, blocks.split(), prefix)
        db.execute(
            "INSERT INTO postings (postings, rowid, carried) VALUES ('delete', ?, ?)",
            (number, " ".join(keys)),
        )
    return numbers


def whole_rows(
    db: sqlite3.Connection, column: Literal["id", "number"], among: Sequence[Any]
) -> dict[int, Row]:
    """Return the rows that have these ids or numbers, with their texts, by number."""
    read = chosen_rows(db, f"{_ROW} WHERE d.{column} IN", among)
    rows = packed.rows([values for _, *values in read], recipe_in_use(db))
    return {number: row for (number, *_), row in zip(read, rows, strict=True)}


def chosen_rows(db: sqlite3.Connection, select: str, among: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a SELECT that ends in IN, for any number of values."""
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(among), _CHUNK):
        chunk = among[start : start + _CHUNK]
        rows += db.execute(f"{select} ({', '.join('?' * len(chunk))})", chunk)
    return rows
