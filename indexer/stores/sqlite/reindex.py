"""Another recipe for a SQLite file in service: fingerprints are computed into a second file, then
replaced in one transaction.

The file keeps its name and its texts: renaming another one into its place would leave readers on
the old one, and its write-ahead log to the wrong file. Readers see the old rows or the new ones,
never both.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.address import MEMORY
from indexer.stores.fields import FIELDS
from indexer.stores.maintenance import FingerprintRows, OnProgress, ReindexOptions, ReindexResult
from indexer.stores.sqlite import keys
from indexer.stores.sqlite.file_format import (
    ALL_ROWS,
    last_searchable,
    recipe_in_use,
    set_last_searchable,
)
from indexer.stores.sqlite.rows import (
    COLUMNS,
    DELETE_WORDS,
    INSERT_WORDS,
    every_key,
    full_text_words,
    packed_columns,
    unpacked_rows,
)
from indexer.system.files import rename_durably

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File


BATCH = 200
_FINGERPRINTED = tuple(
    field.name
    for field in FIELDS
    if field.fingerprinted and field.name not in ("recipe", "provisional")
)
_POSITIONS = [COLUMNS.index(name) for name in _FINGERPRINTED]
_NEXT_TEXTS = (
    "SELECT d.number, d.title, t.text FROM documents d JOIN texts t USING (number) "
    "WHERE d.number > ? ORDER BY d.number LIMIT ?"
)
_BYTES = ("exact", "minhash")  # the other columns of `_FINGERPRINTED` are kept as JSON
_COLUMNS = ", ".join(f"d.{name}" for name in COLUMNS)
_ROW = f"SELECT t.text, {_COLUMNS} FROM documents d JOIN texts t USING (number)"


def replace_recipe(file: File, rows: Iterator[Row], options: ReindexOptions) -> ReindexResult:
    """Fingerprint all rows into a second file, then put the fingerprints in place."""
    recipe, fingerprint_rows = options.recipe, options.fingerprint_rows
    on_progress = options.on_progress
    stored = file.recipe()
    if stored is None or stored.id == recipe.id:
        return ReindexResult(file.path, renew_full_text(file, on_progress))
    replacement = ReplacementFile(file.path, recipe)
    done = False
    try:
        copied = replacement.fingerprint(rows, fingerprint_rows, on_progress)
        is_kept = options.keep and file.path != MEMORY
        kept_path = copy_next_to(file.path, stored.name) if is_kept else None
        with file.writing() as db:
            copied += put_in_place(db, replacement, recipe, fingerprint_rows, on_progress)
        renew_full_text(file, on_progress)
        done = True
    finally:
        replacement.close(remove=done)
        file.forget_recipe()
    return ReindexResult(file.path, copied, kept_path)


def renew_full_text(file: File, on_progress: OnProgress) -> int:
    """Make the words of all rows `searchable` in a file that an earlier nearfold made; return how
    many rows were changed.

    Each batch is a transaction of its own, after which a later run goes on.
    """
    count = 0
    while True:
        with file.writing() as db:
            last = last_searchable(db)
            if last == ALL_ROWS:
                return count
            batch = db.execute(_NEXT_TEXTS, (last, BATCH)).fetchall()
            for number, title, text in batch:
                db.execute(DELETE_WORDS, (number, *full_text_words(False, title, text)))
                db.execute(INSERT_WORDS, (number, *full_text_words(True, title, text)))
            set_last_searchable(db, batch[-1][0] if batch else ALL_ROWS)
        count += len(batch)
        on_progress(count)


class ReplacementFile:
    """Signatures for a store in a second file, which a later run continues.

    A fingerprint is valid for the text and the status that it was computed from.
    """

    def __init__(self, path: str, recipe: Recipe) -> None:
        self.path = path if path == MEMORY else f"{path}.reindex"
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # Lost fingerprints are computed again, since all are compared with the texts.
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS signed "
            "(recipe TEXT, id TEXT PRIMARY KEY, of TEXT, fields TEXT, exact BLOB, minhash BLOB)"
        )
        self._db.execute("DELETE FROM signed WHERE recipe != ?", (recipe.id,))
        self._recipe = recipe

    def fingerprint(
        self, rows: Iterable[Row], sign_rows: FingerprintRows, on_progress: OnProgress
    ) -> int:
        """Compute the fingerprints of rows that have none yet; return how many were computed."""
        remaining = iter(rows)
        count = 0
        while batch := list(islice(remaining, BATCH)):
            missing = [row for row in batch if self.values(row) is None]
            self._db.execute("BEGIN")
            fingerprinted = packed_columns(sign_rows(missing) if missing else (), self._recipe)
            for row, columns in zip(missing, fingerprinted, strict=True):
                values = {
                    name: columns[position]
                    for name, position in zip(_FINGERPRINTED, _POSITIONS, strict=True)
                }
                sketches = [values.pop(name) for name in _BYTES]
                line = (self._recipe.id, row.id, _digest(row), json.dumps(values), *sketches)
                self._db.execute("INSERT OR REPLACE INTO signed VALUES (?, ?, ?, ?, ?, ?)", line)
            self._db.execute("COMMIT")
            count += len(missing)
            on_progress(count)
        return count

    def values(self, row: Row) -> dict[str, Any] | None:
        """Return the columns of a row's fingerprint; None when there is none of this very text."""
        select = "SELECT fields, exact, minhash FROM signed WHERE id = ? AND of = ?"
        stored = self._db.execute(select, (row.id, _digest(row))).fetchone()
        if stored is None:
            return None
        fields, *sketches = stored
        return {**json.loads(fields), **dict(zip(_BYTES, sketches, strict=True))}

    def close(self, remove: bool) -> None:
        """End the connection; `remove` the file when all is done."""
        self._db.close()
        if remove and self.path != MEMORY:
            Path(self.path).unlink()


def put_in_place(
    db: sqlite3.Connection,
    replacement: ReplacementFile,
    recipe: Recipe,
    fingerprint_rows: FingerprintRows,
    on_progress: OnProgress,
) -> int:
    """Give every row its fingerprint, inside the caller's transaction.

    Returns how many rows changed since they were fingerprinted, and were fingerprinted again here.
    """
    late = replacement.fingerprint(_rows(db), fingerprint_rows, on_progress)
    marks = ", ".join(f"{name} = :{name}" for name in _FINGERPRINTED)
    for number, row in _numbered(db):
        values = replacement.values(row) or {}
        db.execute(
            f"UPDATE documents SET recipe = :recipe, provisional = 1, {marks} "
            "WHERE number = :number",
            {**values, "recipe": recipe.id, "number": number},
        )
    keys.clear(db)
    for entries in every_key(db, recipe):
        keys.change(db, entries, entries[:0])
    db.execute("UPDATE store SET value = ? WHERE name = 'recipe'", (json.dumps(recipe.settings),))
    return late


def copy_next_to(path: str, name: str) -> str:
    """Copy the store, as it is now, into a file next to it, and return its path.

    An earlier copy of that name is replaced.
    """
    copy_path, half = f"{path}.{name}", f"{path}.{name}.half"
    Path(half).unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("VACUUM INTO ?", (half,))
    rename_durably(half, copy_path)
    return copy_path


def _rows(db: sqlite3.Connection) -> Iterator[Row]:
    return (row for _, row in _numbered(db))


def _numbered(db: sqlite3.Connection) -> Iterator[tuple[int, Row]]:
    """Yield every row with its number, a batch at a time: rows are written while they are read."""
    last, recipe = 0, recipe_in_use(db)
    while page := _page(db, last):
        rows = unpacked_rows([values for _, *values in page], recipe)
        yield from zip((number for number, *_ in page), rows, strict=True)
        last = page[-1][0]


def _page(db: sqlite3.Connection, last: int) -> Sequence[tuple[Any, ...]]:
    select = _ROW.replace("SELECT ", "SELECT d.number, ", 1)
    return db.execute(
        f"{select} WHERE d.number > ? ORDER BY d.number LIMIT {BATCH}", (last,)
    ).fetchall()


def _digest(row: Row) -> str:
    return f"{row.status} {hashlib.sha256(row.text.encode()).hexdigest()}"
