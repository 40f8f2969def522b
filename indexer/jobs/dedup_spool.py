"""The rows of a run, in files next to its output, with their fingerprints and decisions.

Each batch is one transaction, so that a run that was killed goes on behind the last one. The texts
are in a file of their own, one after the other, which is written before the rows that name them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from indexer.errors import StoreBusy, StoreDamaged, StoreStopped
from indexer.model import Row, Status
from indexer.system.failpoints import reached

FORMAT = 2  # a run with files of another format begins anew
TEXTS = "texts"  # the name of their file
_SCHEMA = """
CREATE TABLE run (settings TEXT NOT NULL, step TEXT NOT NULL, visited INTEGER NOT NULL);
CREATE TABLE row (
    position INTEGER PRIMARY KEY, file INTEGER NOT NULL, number INTEGER NOT NULL,
    status TEXT NOT NULL, exact BLOB NOT NULL, raw BLOB,
    words INTEGER NOT NULL, chars INTEGER NOT NULL, minhash BLOB, own TEXT,
    start INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE TABLE failure (
    position INTEGER PRIMARY KEY, file INTEGER NOT NULL, number INTEGER NOT NULL,
    error TEXT NOT NULL
);
CREATE TABLE removal (
    position INTEGER PRIMARY KEY, kept INTEGER NOT NULL, similarity REAL NOT NULL,
    exact INTEGER NOT NULL
);
"""
_REPORT = """
SELECT file, number, exact, kept_file, kept_number, similarity, error, own, kept_own FROM (
    SELECT removal.position AS position, row.file AS file, row.number AS number,
           removal.exact AS exact, kept.file AS kept_file, kept.number AS kept_number, similarity,
           NULL AS error, row.own AS own, kept.own AS kept_own
    FROM removal JOIN row USING (position) JOIN row AS kept ON kept.position = removal.kept
    UNION ALL
    SELECT position, file, number, NULL, NULL, NULL, NULL, error, NULL, NULL FROM failure
) ORDER BY position
"""
_LAST = """
SELECT max(position) FROM (
    SELECT max(position) AS position FROM row UNION ALL SELECT max(position) FROM failure
)
"""
_SHARED = "exact IN (SELECT exact FROM row GROUP BY exact HAVING count(*) > 1)"
_COLUMNS = "position, status, exact, raw, words, chars, minhash, start, size"
AT_ONCE = 500  # rows read by one query


@dataclass(frozen=True, slots=True)
class FingerprintRow:
    """A row of a dataset: where it stands, and its text with its fingerprint or the error.

    `file` and `number` are as in the input; `raw`, the digest of the text, is needed where
    nothing is left of it when it is normalised. `own`: the JSON of its own id, None without one.
    """

    file: int
    number: int
    text: str = ""
    status: Status = "empty"
    exact: str = ""
    raw: str = ""
    words: int = 0
    chars: int = 0
    minhash: bytes | None = None
    error: str | None = None
    own: str | None = None

    def as_row(self, id: str) -> Row:
        """Return the row as matching and grouping take it."""
        digests = self.raw, self.exact
        return _row(id, self.status, self.text, *digests, self.words, self.chars, self.minhash)


@dataclass(frozen=True, slots=True)
class Removal:
    """A removed row, the row that is kept for it, and their similarity; both by position."""

    position: int
    kept: int
    similarity: float
    exact: bool


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A row that is not in the output: a copy (`exact`), a near duplicate, or a failure.

    `own` and `kept_own`: the JSON of the ids that both rows have themselves.
    """

    file: int
    number: int
    exact: bool | None
    kept_file: int | None
    kept_number: int | None
    similarity: float | None
    error: str | None
    own: str | None
    kept_own: str | None


class RowSpool:
    """The rows of a run by position, from 0 in the order of the input.

    `settings` describe the run: a file of another run is emptied. Raises `StoreBusy` while another
    process uses the file, `StoreStopped` when it cannot be written, and `StoreDamaged`.
    """

    def __init__(self, path: Path, settings: str) -> None:
        self._path = path
        with self._errors():
            self._connection = sqlite3.connect(path, timeout=0.2, isolation_level=None)
            try:
                self._begin(settings)
                [(size,)] = self._connection.execute("SELECT max(start + size) FROM row")
                self._texts = _Texts(path.with_name(TEXTS), size or 0)
            except BaseException:
                self._connection.close()
                raise
        [(position,)] = self._connection.execute(_LAST)
        self.rows_read = 0 if position is None else int(position) + 1

    def close(self) -> None:
        """Close the files."""
        self._texts.close()
        self._connection.close()

    @property
    def step(self) -> str:
        """The last step that is complete: none (empty), `fingerprinted`, `decided`, `written`."""
        [(step,)] = self._connection.execute("SELECT step FROM run")
        return str(step)

    def set_step(self, step: str) -> None:
        """Remember that a step is complete."""
        with self._transaction():
            self._connection.execute("UPDATE run SET step = ?", (step,))

    def add(self, rows: Sequence[FingerprintRow]) -> None:
        """Add the next rows, all or none."""
        numbered = list(enumerate(rows, self.rows_read))
        failures = [
            (position, row.file, row.number, row.error) for position, row in numbered if row.error
        ]
        fingerprinted = [(position, row) for position, row in numbered if not row.error]
        with self._transaction():
            spans = self._texts.add([row.text for _, row in fingerprinted])
            self._connection.executemany(
                "INSERT INTO row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        position,
                        row.file,
                        row.number,
                        row.status,
                        bytes.fromhex(row.exact),
                        bytes.fromhex(row.raw) or None,
                        row.words,
                        row.chars,
                        row.minhash,
                        row.own,
                        *span,
                    )
                    for (position, row), span in zip(fingerprinted, spans, strict=True)
                ],
            )
            self._connection.executemany("INSERT INTO failure VALUES (?, ?, ?, ?)", failures)
        self.rows_read += len(rows)

    def rows(self, texts: str) -> Iterator[Row]:
        """Yield the rows that are fingerprinted, ascending, with the texts of `all` rows, of those
        of `equal` digests, or of `none`.
        """
        is_read = {"all": "1", "equal": _SHARED, "none": "0"}[texts]
        query = f"SELECT {is_read}, {_COLUMNS} FROM row ORDER BY position"
        for with_text, *columns in self._connection.execute(query):
            yield self._stored_row(columns, with_text)

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows with their texts by id, which is the position."""
        by_id: dict[str, Row] = {}
        for start in range(0, len(ids), AT_ONCE):
            positions = [int(id) for id in ids[start : start + AT_ONCE]]
            marks = ",".join("?" * len(positions))
            query = f"SELECT {_COLUMNS} FROM row WHERE position IN ({marks})"
            for columns in self._connection.execute(query, positions):
                row = self._stored_row(columns)
                by_id[row.id] = row
        return by_id

    def _stored_row(self, columns: Sequence[Any], with_text: bool = True) -> Row:
        position, status, exact, raw, words, chars, minhash, start, size = columns
        text = self._texts.read(start, size) if with_text else ""
        digests = (raw or b"").hex(), exact.hex()
        return _row(row_id(position), status, text, *digests, words, chars, minhash)

    @property
    def visited(self) -> int:
        """The number of rows that are decided: the first ones in the order of deciding."""
        [(visited,)] = self._connection.execute("SELECT visited FROM run")
        return int(visited)

    def decide(self, removals: Iterable[Removal], visited: int) -> None:
        """Store the removals of the next rows up to `visited`; all others up to there stay."""
        rows = ((item.position, item.kept, item.similarity, item.exact) for item in removals)
        with self._transaction():
            self._connection.executemany("INSERT INTO removal VALUES (?, ?, ?, ?)", rows)
            self._connection.execute("UPDATE run SET visited = ?", (visited,))

    def removals(self) -> Iterator[tuple[int, int]]:
        """Yield the positions of each removed row and of the row that stays, in any order."""
        yield from self._connection.execute("SELECT position, kept FROM removal")

    def left_out(self) -> Iterator[int]:
        """Yield the positions of the rows that are not in the output, in any order."""
        for table in ("removal", "failure"):
            for (position,) in self._connection.execute(f"SELECT position FROM {table}"):
                yield position

    def rows_of_files(self, files: int) -> list[int]:
        """Return how many rows each of the files has."""
        counts = [0] * files
        for table in ("row", "failure"):
            groups = f"SELECT file, count(*) FROM {table} GROUP BY file"
            for file, count in self._connection.execute(groups):
                counts[file] += count
        return counts

    def report(self) -> Iterator[ReportLine]:
        """Yield the rows that are not in the output, ascending."""
        for file, number, exact, *others in self._connection.execute(_REPORT):
            yield ReportLine(file, number, None if exact is None else bool(exact), *others)

    @property
    def without_text(self) -> int:
        """The number of rows that have no text."""
        query = "SELECT count(*) FROM row WHERE chars = 0 AND raw IS NULL"
        [(count,)] = self._connection.execute(query)
        return int(count)

    def largest_kept(self, minimum: int, limit: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the rows that stay for at least `minimum` near duplicates, most first, by position,
        each with these duplicates.
        """
        found = self._connection.execute(
            "SELECT kept FROM removal WHERE NOT exact GROUP BY kept HAVING count(*) >= ? "
            "ORDER BY count(*) DESC, kept LIMIT ?",
            (minimum, limit),
        ).fetchall()
        removed = "SELECT position FROM removal WHERE kept = ? AND NOT exact ORDER BY position"
        for (kept,) in found:
            yield kept, [position for (position,) in self._connection.execute(removed, (kept,))]

    def source_of(self, position: int) -> tuple[int, int]:
        """Return the file of a row, and its number there."""
        [source] = self._connection.execute(
            "SELECT file, number FROM row WHERE position = ?", (position,)
        )
        return source[0], source[1]

    def counts(self) -> tuple[int, int, int]:
        """Return how many rows were removed as copies and as near duplicates, how many failed."""
        [(exact, near)] = self._connection.execute(
            "SELECT coalesce(sum(exact), 0), coalesce(sum(NOT exact), 0) FROM removal"
        )
        return exact, near, self._count("failure")

    def _begin(self, settings: str) -> None:
        """Lock the file, and empty it unless it is of this run."""
        for setting in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
            self._connection.execute(f"PRAGMA {setting}")
        tables = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [name for (name,) in tables.fetchall()]
        known = self._connection.execute("SELECT settings FROM run").fetchall() if names else []
        if known == [(settings,)]:
            return
        with self._transaction():
            for name in names:
                self._connection.execute(f"DROP TABLE {name}")
            for statement in filter(str.strip, _SCHEMA.split(";")):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO run VALUES (?, '', 0)", (settings,))

    def _count(self, table: str) -> int:
        [(count,)] = self._connection.execute(f"SELECT count(*) FROM {table}")
        return int(count)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                reached("before_commit", sqlite3.OperationalError)
                self._connection.execute("COMMIT")
                reached("after_commit", sqlite3.OperationalError)
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            raise _own_error(error, self._path) from error


class _Texts:
    """The texts of rows, one after the other in a file, of which `size` bytes are known."""

    def __init__(self, path: Path, size: int) -> None:
        self._file = path.open("a+b")
        self._file.truncate(size)
        self._size = size

    def close(self) -> None:
        self._file.close()

    def add(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """Store texts; return where each begins, and its size."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        sizes = list(map(len, encoded))
        starts = accumulate(sizes, initial=self._size)
        self._file.writelines(encoded)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._size += sum(sizes)
        return list(zip(starts, sizes, strict=False))

    def read(self, start: int, size: int) -> str:
        """Return a text."""
        self._file.seek(start)
        return self._file.read(size).decode("utf-8", "surrogatepass")


def _own_error(error: Exception, path: Path) -> Exception:
    """Return nearfold's error for one of SQLite or of the system."""
    if "locked" in str(error):
        return StoreBusy(what=str(path.parent), holder="another nearfold dedup")
    if isinstance(error, sqlite3.OperationalError | OSError):
        remedy = "free disk space, or make its folder writable"
        return StoreStopped(reason=f"{path}: {error}", remedy=remedy)
    remedy = f"remove {path.parent}; the run then starts anew"
    return StoreDamaged(path=str(path), reason=str(error), remedy=remedy)


def _row(
    id: str,
    status: Status,
    text: str,
    raw: str,
    exact: str,
    words: int,
    chars: int,
    minhash: bytes | None,
) -> Row:
    """Return a row as matching and grouping take it."""
    return Row(
        id=id,
        recipe="",
        status=status,
        title="",
        text=text,
        path="",
        content_type="",
        modified=None,
        size=0,
        source="",
        extractor="",
        raw=raw,
        exact=exact,
        words=words,
        chars=chars,
        family=id,
        minhash=minhash,
    )


def row_id(position: int) -> str:
    """Return the id of a row for matching and grouping; it ascends with the position."""
    return f"{position:012}"
