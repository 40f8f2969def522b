"""The rows of a run, in files next to its output, with their fingerprints and decisions.

Each batch is one transaction, so that a run that was killed goes on behind the last one. The texts
are in a file of their own, one after the other, and what is known of each row in another, in
records of one size; both are written before the transaction counts the rows.
"""

from __future__ import annotations

import heapq
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import Criteria, Value
from indexer.errors import ExtractionError, StoreBusy, StoreDamaged, StoreStopped
from indexer.grouping.collection import (
    STATUSES,
    Carriers,
    Collection,
    Entries,
    Entry,
    SketchColumns,
    TextColumns,
)
from indexer.jobs.dataset_files import RowText
from indexer.model import Progress, Row, Status
from indexer.recipe import DEFAULT
from indexer.system.external_memory import (
    Codes,
    Column,
    MemoryBudget,
    Sorter,
    StringSequence,
    are_in,
)
from indexer.system.failpoints import reached

FORMAT = 4  # a run with files of another format begins anew
TEXTS, RECORDS = "texts", "records"  # the names of their files
_SCHEMA = """
CREATE TABLE run (
    settings TEXT NOT NULL, step TEXT NOT NULL, visited INTEGER NOT NULL, rows INTEGER NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE removal (
    position INTEGER PRIMARY KEY, kept INTEGER NOT NULL, similarity REAL NOT NULL,
    exact INTEGER NOT NULL
);
"""
AT_ONCE = 4096  # records read together
FAILED = len(STATUSES)  # the status of a row that could not be read; its text is the error
DIGEST = 32  # bytes
# Of each row: where it stands in the input; its fingerprint, with the digest of the text itself
# where nothing is left of it when it is normalised; and where its text, of so many bytes, begins,
# which the JSON of its own id follows (-1 for none). `embedded`: the begin of the digest of its
# pictographs, 0 without any.
RECORD = np.dtype(
    [
        *((name, "<i8") for name in ("file", "number", "start", "size", "own", "words", "chars")),
        ("status", "u1"),
        ("has_slots", "?"),
        ("embedded", "<u8"),
        ("digest", "u1", (DIGEST,)),
        ("slots", "u1", (DEFAULT.sketch_bytes,)),
    ]
)


@dataclass(frozen=True, slots=True)
class FingerprintedTexts:
    """Texts of rows with their fingerprints, an item a row; those without a text are empty.

    `exact`: SHA-256 of the normalised text and its pictographs, empty without a text. `embedded`:
    the pictographs, as `with_pictographs` gives them. `words` and `chars`: (rows,) int64. `slots`:
    (rows, bytes) uint8, of the rows that have them, (rows,) bool.
    """

    texts: Sequence[str]
    statuses: Sequence[Status]
    exact: Sequence[str]
    embedded: Sequence[str]
    words: NDArray[np.int64]
    chars: NDArray[np.int64]
    has_slots: NDArray[np.bool_]
    slots: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.texts)

    def raw(self, position: int) -> str:
        """Return the digest of a text of which nothing is left when it is normalised."""
        if self.chars[position] or not self.exact[position]:
            return ""
        return sha256(self.texts[position].encode("utf-8", "surrogatepass")).hexdigest()

    def row(self, position: int, id: str) -> Row:
        """Return a row as matching and grouping take it."""
        slots = self.slots[position].tobytes() if self.has_slots[position] else None
        digests = self.raw(position), self.exact[position]
        counts = int(self.words[position]), int(self.chars[position])
        row = _row(id, self.statuses[position], self.texts[position], *digests, *counts, slots)
        return replace(row, embedded=self.embedded[position])


class SpooledText(NamedTuple):
    """The text of a row."""

    text: str


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
                [(self.rows_read, size)] = self._connection.execute("SELECT rows, size FROM run")
                self._texts = _File(path.with_name(TEXTS), size)
                records = path.with_name(RECORDS)
                self._records = _File(records, self.rows_read * RECORD.itemsize)
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the files."""
        self._texts.close()
        self._records.close()
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

    def add(self, sources: Sequence[RowText], rows: FingerprintedTexts) -> None:
        """Add the next rows, all or none, with the errors of those that cannot be read."""
        records = np.zeros(len(rows), RECORD)
        for name in ("words", "chars", "has_slots", "slots"):
            records[name] = getattr(rows, name)
        records["file"] = [source.file for source in sources]
        records["number"] = [source.number for source in sources]
        records["status"] = list(map(STATUSES.index, rows.statuses))
        records["embedded"] = [int(digest[:16] or "0", 16) for digest in rows.embedded]
        digests = [rows.raw(index) or rows.exact[index] for index in range(len(rows))]
        joined = "".join(digest or "0" * 2 * DIGEST for digest in digests)
        records["digest"] = np.frombuffer(bytes.fromhex(joined), np.uint8).reshape(-1, DIGEST)
        texts = list(rows.texts)
        for index, source in enumerate(sources):
            if isinstance(source.text, ExtractionError):
                texts[index], records["status"][index] = str(source.text), FAILED
        own = [source.own for source in sources]
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ids = [b"" if each is None else each.encode() for each in own]
        records["size"] = list(map(len, encoded))
        records["own"] = [
            -1 if each is None else len(id) for each, id in zip(own, ids, strict=True)
        ]
        sizes = records["size"] + np.maximum(records["own"], 0)
        records["start"] = self._texts.size + np.cumsum(sizes) - sizes
        with self._transaction():
            self._texts.add(part for both in zip(encoded, ids, strict=True) for part in both)
            self._records.add([records.tobytes()])
            counts = self.rows_read + len(rows), self._texts.size
            self._connection.execute("UPDATE run SET rows = ?, size = ?", counts)
        self.rows_read += len(rows)

    def collection(
        self, criteria: Criteria, progress: Progress, budget: MemoryBudget
    ) -> tuple[Collection, NDArray[np.int64]]:
        """Return the collection of the rows that could be read, and their positions."""
        sketches = SketchColumns(DEFAULT, budget, criteria, criteria.folded)
        statuses, words = Column(budget, np.uint8), Column(budget, np.int64)
        embedded = Column(budget, np.uint64)
        shared = self._shared_digests(budget) if criteria else np.zeros(0, np.uint64)
        positions: list[NDArray[np.int64]] = []
        for start, every in self._batches():
            read = np.flatnonzero(every["status"] != FAILED)
            records = every[read]
            keys = self._keys(records, start + read, criteria, shared)
            names = "status", "has_slots", "slots", "words", "chars"
            columns = (np.ascontiguousarray(records[name]) for name in names)
            sketches.add_columns(TextColumns(keys, *columns), len(statuses))
            statuses.add(records["status"])
            words.add(records["words"])
            embedded.add(records["embedded"] * np.uint64(criteria.reads_embedded))
            positions.append(start + read)
            progress("reading rows", start, self.rows_read)
        whole = np.concatenate([np.zeros(0, np.int64), *positions])
        texts, distinct, first = sketches.texts(len(whole))
        codes = statuses.whole()
        pictographs = embedded.whole()
        entries = RowEntries(whole, codes, words.whole(), texts, pictographs)
        truncated = frozenset(np.flatnonzero(codes == STATUSES.index("truncated")).tolist())
        arrays = *sketches.sketches(first), budget, criteria
        documents = Carriers(texts, distinct)
        has_any = bool(pictographs.any())
        collection = Collection(
            DEFAULT, entries, documents, *arrays, truncated=truncated, has_embedded=has_any
        )
        return collection, whole

    def _shared_digests(self, budget: MemoryBudget) -> Codes:
        """Return the begins of the digests that several rows have, ascending."""
        sorter = Sorter(budget)
        for _, records in self._batches():
            sorter.add(_begins(records))
        begins = sorter.sorted()
        shared: Codes = begins[1:][begins[1:] == begins[:-1]]
        return shared

    def _keys(
        self,
        records: NDArray[Any],
        positions: NDArray[np.int64],
        criteria: Criteria,
        shared: Codes,
    ) -> NDArray[np.uint64]:
        """Return what copies have in common: the begin of the digest, or a digest of the key.

        Criteria distinguish copies by their texts: rows of equal digests, or any that state facts.
        """
        keys = np.ascontiguousarray(records["digest"][:, :16]).view(np.uint64)
        is_open = (records["chars"] == 0) | are_in(_begins(records), shared)
        if criteria.numbers == "distinguish":
            is_open[:] = True
        for index in np.flatnonzero(is_open).tolist():
            row = self._row(int(positions[index]), records[index], bool(criteria))
            key = blake2b(criteria.content_key(row).encode(), digest_size=16)
            keys[index] = np.frombuffer(key.digest(), np.uint64)
        return keys

    def get(self, ids: Sequence[str]) -> dict[str, SpooledText]:
        """Return the texts of rows by id, which is the position."""
        records = self._at(list(map(int, ids)))
        spans = zip(ids, records["start"].tolist(), records["size"].tolist(), strict=True)
        return {id: SpooledText(self._text(start, size)) for id, start, size in spans}

    def _at(self, positions: Sequence[int]) -> NDArray[Any]:
        size = RECORD.itemsize
        parts = [self._records.read(position * size, size) for position in positions]
        return np.frombuffer(b"".join(parts), RECORD)

    def _batches(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the records, `AT_ONCE` together, each time with the position of the first one."""
        size = AT_ONCE * RECORD.itemsize
        for start in range(0, self.rows_read, AT_ONCE):
            yield start, np.frombuffer(self._records.read(start * RECORD.itemsize, size), RECORD)

    def _text(self, start: int, size: int) -> str:
        return self._texts.read(start, size).decode("utf-8", "surrogatepass")

    def _row(self, position: int, record: Any, with_text: bool) -> Row:
        text = self._text(int(record["start"]), int(record["size"])) if with_text else ""
        digest = record["digest"].tobytes().hex() if record["digest"].any() else ""
        counts = int(record["words"]), int(record["chars"])
        raw, exact = ("", digest) if record["chars"] else (digest, "")
        return _row(row_id(position), STATUSES[record["status"]], text, raw, exact, *counts, None)

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
        for position, _ in self.removals():
            yield position
        yield from self._failures()

    def _failures(self) -> Iterator[int]:
        for start, records in self._batches():
            yield from (start + np.flatnonzero(records["status"] == FAILED)).tolist()

    def rows_of_files(self, files: int) -> list[int]:
        """Return how many rows each of the files has."""
        counts = np.zeros(files, np.int64)
        for _, records in self._batches():
            counts += np.bincount(records["file"], minlength=files)
        return list(map(int, counts))

    def report(self) -> Iterator[ReportLine]:
        """Yield the rows that are not in the output, ascending."""
        removals = self._connection.execute(
            "SELECT position, kept, similarity, exact FROM removal ORDER BY position"
        )
        failures = zip(self._failures(), repeat(None), repeat(None), repeat(None), strict=False)
        for position, kept, *decision in heapq.merge(removals, failures, key=itemgetter(0)):
            similarity, exact = decision
            record, other = self._at([position, position if kept is None else kept])
            own, other_own = self._own(record), self._own(other)
            source = int(record["file"]), int(record["number"])
            if kept is None:
                error = self._text(int(record["start"]), int(record["size"]))
                yield ReportLine(*source, None, None, None, None, error, None, None)
                continue
            of_kept = int(other["file"]), int(other["number"])
            yield ReportLine(*source, bool(exact), *of_kept, similarity, None, own, other_own)

    def _own(self, record: Any) -> str | None:
        """Return the JSON of the id that a row has itself."""
        size = int(record["own"])
        start = int(record["start"] + record["size"])
        return None if size < 0 else self._texts.read(start, size).decode()

    @property
    def without_text(self) -> int:
        """The number of rows that have no text."""
        count = 0
        for _, records in self._batches():
            is_read = records["status"] != FAILED
            count += int(np.count_nonzero(is_read & ~records["digest"].any(axis=1)))
        return count

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
        [record] = self._at([position])
        return int(record["file"]), int(record["number"])

    def counts(self) -> tuple[int, int, int]:
        """Return how many rows were removed as copies and as near duplicates, how many failed."""
        [(exact, near)] = self._connection.execute(
            "SELECT coalesce(sum(exact), 0), coalesce(sum(NOT exact), 0) FROM removal"
        )
        return exact, near, sum(1 for _ in self._failures())

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
            self._connection.execute("INSERT INTO run VALUES (?, '', 0, 0, 0)", (settings,))

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


class _File:
    """A file that grows, of which `size` bytes are known."""

    def __init__(self, path: Path, size: int) -> None:
        self._file = path.open("a+b")
        self._file.truncate(size)
        self.size = size

    def close(self) -> None:
        self._file.close()

    def add(self, pieces: Iterable[bytes]) -> None:
        """Store bytes behind the others."""
        self._file.write(b"".join(pieces))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.size = self._file.tell()

    def read(self, start: int, size: int) -> bytes:
        """Return bytes."""
        return os.pread(self._file.fileno(), size, start)


class _RowIds(StringSequence):
    """The ids of rows at these positions."""

    def __init__(self, positions: NDArray[np.int64]) -> None:
        self._positions = positions

    def __len__(self) -> int:
        return len(self._positions)

    def at(self, position: int) -> str:
        return row_id(self._positions[position])


class RowEntries(Entries):
    """The entries of rows, which have no fields: status and words in columns.

    `embedded`: (rows,) uint64, equal for rows with the same pictographs; 0 where none matter.
    """

    def __init__(
        self,
        positions: NDArray[np.int64],
        statuses: NDArray[np.uint8],
        words: NDArray[np.int64],
        texts: NDArray[np.int32],
        embedded: NDArray[np.uint64],
    ) -> None:
        self.ids = _RowIds(positions)
        self._statuses, self._words, self._texts = statuses, words, texts
        self._embedded = embedded

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self[number] for number in range(*position.indices(len(self)))]
        id, words = self.ids[position], int(self._words[position])
        fields = id, "", STATUSES[self._statuses[position]], words, None, "", "", (), id
        family = None, None, None, True, None, None, (str(self._embedded[position]),)
        return Entry(*fields, *family, int(self._texts[position]))

    def __iter__(self) -> Iterator[Entry]:
        return map(self.__getitem__, range(len(self)))

    def order_fields(self) -> Iterator[tuple[Status, int, int | None, Value]]:
        """Yield status and words of each row."""
        statuses = map(STATUSES.__getitem__, self._statuses.tolist())
        return zip(statuses, self._words.tolist(), repeat(None), repeat(None), strict=False)


def _begins(records: NDArray[Any]) -> Codes:
    """Return the first eight bytes of the digests."""
    return np.ascontiguousarray(records["digest"][:, :8]).view(np.uint64).reshape(-1)


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
