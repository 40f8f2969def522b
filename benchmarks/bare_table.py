"""The least a full-text index can do: read each file of a folder and insert its text into an FTS5
table, one durable transaction every 1,000 rows.

    python benchmarks/bare_table.py FOLDER

A plain script of the standard library, beside which `benchmarks/ingest.py` measures `index`.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

ROWS = 1000


def insert_into_bare_table(folder: Path) -> int:
    """Insert the texts of a folder into a new file, which is removed; return their number."""
    done = 0
    with tempfile.TemporaryDirectory(prefix="nearfold-bench-") as place:
        connection = sqlite3.connect(f"{place}/bare.db")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE VIRTUAL TABLE bare USING fts5(path, text)")
        batch: list[tuple[str, str]] = []
        for path in sorted(folder.rglob("*")):
            if not path.is_file():
                continue
            batch.append((str(path), path.read_text(encoding="utf-8")))
            done += 1
            if len(batch) == ROWS:
                insert(connection, batch)
                batch = []
        insert(connection, batch)
        connection.close()
    return done


def insert(connection: sqlite3.Connection, batch: list[tuple[str, str]]) -> None:
    with connection:
        connection.executemany("INSERT INTO bare VALUES (?, ?)", batch)


if __name__ == "__main__":
    insert_into_bare_table(Path(sys.argv[1]))
