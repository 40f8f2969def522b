"""Another recipe for a SQLite file in service: signatures are made beside it, and take their places
in one transaction.

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
from typing import Any

from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.address import MEMORY
from indexer.stores.maintenance import OnProgress, ReindexResult, SignRows
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite.file import File
from indexer.stores.sqlite.parts_sql import PART
from indexer.system.durable_files import rename_durably

BATCH = 200
_SIGNED = ("status", "exact", "words", "chars", "bands", "blocks", "minhash", "simhash")
_PLACES = [packed.COLUMNS.index(name) for name in _SIGNED]
_ROW = f"SELECT t.text, {', '.join(f'd.{name}' for name in packed.COLUMNS)} FROM documents d JOIN texts t USING (number)"


def replace_recipe(
    file: File,
    rows: Iterator[Row],
    recipe: Recipe,
    sign_rows: SignRows,
    keep: bool,
    on_progress: OnProgress,
) -> ReindexResult:
    """Sign all rows beside the file, then put the signatures in place."""
    stored = file.recipe()
    if stored is None or stored.id == recipe.id:
        return ReindexResult(file.path, 0)
    beside, done = ReplacementFile(file.path, recipe), False
    try:
        copied = beside.sign(rows, sign_rows, on_progress)
        kept = set_aside(file.path, stored.name) if keep and file.path != MEMORY else None
        with file.writing() as db:
            copied += put_in_place(db, beside, recipe, sign_rows, on_progress)
        done = True
    finally:
        beside.close(remove=done)
        file.forget_recipe()
    return ReindexResult(file.path, copied, kept)


class ReplacementFile:
    """Signatures under way to a store, in a file beside it; what a former run made is taken up.

    A signature is good for the text and the status that it was made from.
    """

    def __init__(self, path: str, recipe: Recipe) -> None:
        self.path = path if path == MEMORY else f"{path}.reindex"
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._db.execute(
            "PRAGMA synchronous = OFF"
        )  # it is checked against the texts, and made again
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS made (recipe TEXT, id TEXT, of TEXT, signed TEXT, minhash BLOB, PRIMARY KEY (id))"
        )
        self._db.execute("DELETE FROM made WHERE recipe != ?", (recipe.id,))
        self._recipe = recipe

    def sign(self, rows: Iterable[Row], sign_rows: SignRows, on_progress: OnProgress) -> int:
        """Make the signatures of rows that have none yet; returns how many were made."""
        waiting, made = iter(rows), 0
        while batch := list(islice(waiting, BATCH)):
            missing = [row for row in batch if self.values(row) is None]
            self._db.execute("BEGIN")
            for row, signed in zip(missing, sign_rows(missing) if missing else (), strict=True):
                values = dict(
                    zip(_SIGNED, (packed.columns(signed)[place] for place in _PLACES), strict=True)
                )
                minhash = values.pop("minhash")
                line = (self._recipe.id, row.id, _digest(row), json.dumps(values), minhash)
                self._db.execute("INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?, ?)", line)
            self._db.execute("COMMIT")
            made += len(missing)
            on_progress(made)
        return made

    def values(self, row: Row) -> dict[str, object] | None:
        """The columns of a row's signature; None when there is none of this very text."""
        found = self._db.execute(
            "SELECT signed, minhash FROM made WHERE id = ? AND of = ?", (row.id, _digest(row))
        ).fetchone()
        return None if found is None else {**json.loads(found[0]), "minhash": found[1]}

    def close(self, remove: bool) -> None:
        """End the connection; `remove` the file when all is done."""
        self._db.close()
        if remove and self.path != MEMORY:
            Path(self.path).unlink()


def put_in_place(
    db: sqlite3.Connection,
    beside: ReplacementFile,
    recipe: Recipe,
    sign_rows: SignRows,
    on_progress: OnProgress,
) -> int:
    """Inside the caller's transaction give every row its signature; returns how many were signed
    here, changed since.
    """
    late = beside.sign(_rows(db), sign_rows, on_progress)
    db.execute("INSERT INTO postings (postings) VALUES ('delete-all')")
    marks = ", ".join(f"{name} = :{name}" for name in _SIGNED)
    for number, row in _numbered(db):
        values = beside.values(row) or {}
        db.execute(
            f"UPDATE documents SET recipe = :recipe, provisional = 1, {marks} WHERE number = :number",
            {**values, "recipe": recipe.id, "number": number},
        )
        prefix = "" if row.parent is None else PART
        keys = packed.posted(str(values["bands"]).split(), str(values["blocks"]).split(), prefix)
        db.execute("INSERT INTO postings (rowid, carried) VALUES (?, ?)", (number, " ".join(keys)))
    db.execute("UPDATE store SET value = ? WHERE name = 'recipe'", (json.dumps(recipe.settings),))
    return late


def set_aside(path: str, name: str) -> str:
    """Copy the store, as it is now, into a file beside it; returns its path. An earlier copy of
    that name is replaced.
    """
    kept, half = f"{path}.{name}", f"{path}.{name}.half"
    Path(half).unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("VACUUM INTO ?", (half,))
    rename_durably(half, kept)
    return kept


def _rows(db: sqlite3.Connection) -> Iterator[Row]:
    return (row for _, row in _numbered(db))


def _numbered(db: sqlite3.Connection) -> Iterator[tuple[int, Row]]:
    """Every row with its number, a batch at a time: rows are written while they are read."""
    last = 0
    while page := _page(db, last):
        for number, *values in page:
            last = number
            yield number, packed.row(values[1:], values[0])


def _page(db: sqlite3.Connection, last: int) -> Sequence[tuple[Any, ...]]:
    select = _ROW.replace("SELECT ", "SELECT d.number, ", 1)
    return db.execute(
        f"{select} WHERE d.number > ? ORDER BY d.number LIMIT {BATCH}", (last,)
    ).fetchall()


def _digest(row: Row) -> str:
    return f"{row.status} {hashlib.sha256(row.text.encode()).hexdigest()}"
