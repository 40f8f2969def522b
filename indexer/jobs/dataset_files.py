"""Files of datasets: which ones a PATH names, their records, and their rows as they stand."""

from __future__ import annotations

import glob
import gzip
import hashlib
import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from indexer.documents import blobs
from indexer.documents.base import ReadOptions, Records, SourceItem
from indexer.documents.blobs import DamagedRecord
from indexer.documents.containers import RECORD_FORMATS, RecordFormat, record_format
from indexer.documents.sources import walk
from indexer.errors import ExtractionError, UnreadableFile, UsageError
from indexer.model import Blob, FailedBlob

Columns: TypeAlias = dict[str, str]
"""The columns of a table in their order, each with its type."""
ENDS_BYTES = 64 << 10
KINDS: dict[str, str] = {
    suffix: format.name for format in RECORD_FORMATS for suffix in format.suffixes
}


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The facts by which a change of a file is noticed.

    `size` in bytes; `modified` and `changed`, of its content and of its entry, in nanoseconds since
    1970 UTC; the `device` and `inode` that it lies on; `ends`: SHA-256 of its first and its last
    64 KiB. A change in the middle of a larger file that leaves its size and sets both times back is
    not noticed.
    """

    size: int
    modified: int
    changed: int
    device: int
    inode: int
    ends: str


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file of rows.

    `name`: the absolute path under which it was found, whose end says what it holds; a file that
    was given may be a link. `folder`: the folder that was given, or that holds the file. `version`
    is the one that was listed.
    """

    blob: Blob
    name: str
    folder: str
    version: FileVersion

    @property
    def kind(self) -> str:
        """One of the values of `KINDS`."""
        return self._format.name

    @property
    def _format(self) -> RecordFormat:
        return cast(RecordFormat, record_format(self.name))

    @property
    def path(self) -> str:
        """The real path; bytes that are not UTF-8 are lone surrogates."""
        return os.fsdecode(cast(bytes, self.blob.opener))

    def records(self, read_options: ReadOptions) -> Records:
        """Yield each row with its position; raises `UsageError` for a file that cannot be read."""
        with self._open_records() as stream:
            yield from self._format.records(self.name, stream, read_options)

    def columns(self, read_options: ReadOptions) -> Columns:
        """Return the columns of a table; none of JSON Lines, whose rows have fields of their own.

        Raises `UsageError` for a file that cannot be read, or lacks the column of the texts.
        """
        if self._format.columns is None:
            return {}
        with self._open_records() as stream:
            return self._format.columns(self.name, stream, read_options)

    def raw_rows(self, read_options: ReadOptions) -> Iterator[bytes]:
        """Yield each row of a text format in UTF-8, of CSV the names of the columns first."""
        if self._format.lines is None:
            raise TypeError(f"{self.kind} is no text format")
        with self.stream() as stream:
            yield from self._format.lines(self.name, stream, read_options)

    @contextmanager
    def _open_records(self) -> Iterator[BinaryIO]:
        with self.stream() as stream:
            try:
                yield stream
            except DamagedRecord as error:
                raise UsageError(f"{self.blob.path}: {error}") from error

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Open the bytes, unpacked from gzip. Raises `UsageError` when that fails."""
        try:
            stream = blobs.stream(self.blob)
        except UnreadableFile as error:
            raise UsageError(f"{self.blob.path}: {error}") from error
        with stream:
            if not self.name.lower().endswith(".gz"):
                yield stream
                return
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield cast(BinaryIO, unpacked)

    def check_unchanged(self) -> None:
        """Raise `UsageError` when the file is not the one that was listed."""
        try:
            now = file_version(self.path)
        except OSError:
            now = None
        # a new name or right of the same content changes its entry only
        if now is None or replace(now, changed=self.version.changed) != self.version:
            raise UsageError(
                f"{self.blob.path} changed while it was read; run again when nothing writes to it"
            )


class RowText(NamedTuple):
    """The text of a row, None without one, or the error of a row that cannot be read; `own`: the
    JSON of its own id.
    """

    file: int
    number: int
    text: str | ExtractionError | None
    own: str | None = None

    @property
    def chars(self) -> int:
        """The length of the text, 0 without one."""
        return len(self.text) if isinstance(self.text, str) else 0


KeptRows: TypeAlias = Sequence[tuple[DatasetFile, NDArray[np.bool_]]]
"""Files, each with (rows,) bool: whether a row is kept."""


def check_columns(files: Sequence[DatasetFile], read_options: ReadOptions, alike: bool) -> None:
    """Raise `UsageError` for a file that lacks the column of the texts or, where all must be
    `alike`, has other columns than the first one.
    """
    first: Columns = {}
    for index, file in enumerate(files):
        columns = file.columns(read_options)
        if index == 0:
            first = columns
        elif alike and list(columns.items()) != list(first.items()):
            raise other_columns(file, files[0], column_difference(columns, first))


def other_columns(file: DatasetFile, first: DatasetFile, difference: str) -> UsageError:
    """Return the error for a file whose columns differ from the first one's."""
    return UsageError(
        f"{file.blob.path} has other columns than {first.blob.path} ({difference}), so one file "
        "cannot hold the rows of both; give --out the name of a new folder"
    )


def column_difference(columns: Columns, first: Columns) -> str:
    """Return in what the columns of two files differ.

    >>> column_difference({"text": "string", "n": "int64"}, {"text": "string", "m": "int64"})
    'only in it: n; only in the other: m'
    """
    only = [name for name in columns if name not in first]
    missing = [name for name in first if name not in columns]
    other = [
        f"{name} is {kind}, not {first[name]}"
        for name, kind in columns.items()
        if first.get(name, kind) != kind
    ]
    problems = [f"only in it: {', '.join(only)}"] if only else []
    problems += [f"only in the other: {', '.join(missing)}"] if missing else []
    return "; ".join([*problems, *other]) or "they come in another order"


def file_version(path: str) -> FileVersion:
    """Return the facts of a file as it is. Raises `OSError`."""
    with Path(path).open("rb") as file:
        facts = os.fstat(file.fileno())
        ends = hashlib.sha256(file.read(ENDS_BYTES))
        file.seek(max(0, facts.st_size - ENDS_BYTES))
        ends.update(file.read(ENDS_BYTES))
    times = facts.st_mtime_ns, facts.st_ctime_ns
    return FileVersion(facts.st_size, *times, facts.st_dev, facts.st_ino, ends.hexdigest())


def kind_of_rows(path: str) -> str | None:
    """Return the kind of rows that a file of this name holds; None for another file.

    >>> kind_of_rows("a/part-0.NDJSON.gz"), kind_of_rows("a.parquet.gz"), kind_of_rows("notes.txt")
    ('jsonl', None, None)
    """
    format = record_format(path)
    return None if format is None else format.name


def dataset_files(paths: Sequence[str]) -> tuple[list[DatasetFile], int]:
    """Return the files of rows at or below these paths, each once, and how many others lie there.

    A path that does not exist may be a pattern (`data/**/*.parquet`). Files come in the order of
    the paths, of one path by the bytes of their names. Raises `SourceNotFound`, and `UsageError`
    for a file that cannot be read, and where no file of rows is found.
    """
    files: dict[str, DatasetFile] = {}
    others = 0
    for path in itertools.chain.from_iterable(map(_expanded, paths)):
        for item in walk([path]):
            if isinstance(item, FailedBlob):
                raise UsageError(f"{item.path}: {item.error}")
            file = _file_of_rows(item, path)
            if file is None:
                others += 1
            else:
                files.setdefault(file.path, file)
    if not files:
        raise UsageError(
            f"no file of rows in {', '.join(paths)}; give files that end in {', '.join(KINDS)}"
        )
    return list(files.values()), others


def _file_of_rows(item: SourceItem, path: str) -> DatasetFile | None:
    """Return the file at or below a path that was given; None for one that holds no rows."""
    if not isinstance(item, Blob):
        return None
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - links stay
    if Path(path).is_dir():
        folder, name = os.path.realpath(path), os.fsdecode(item.key)
    whole = os.path.join(folder, name)  # noqa: PTH118
    if kind_of_rows(whole) is None:
        return None
    try:
        version = file_version(os.fsdecode(cast(bytes, item.opener)))
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{item.path} cannot be read ({reason}); check its rights") from error
    return DatasetFile(item, whole, folder, version)


def _expanded(path: str) -> list[str]:
    """Return the path itself, or what a pattern matches, by name; the pattern if it is nothing."""
    if Path(path).exists() or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]  # noqa: PTH207 - it may be absolute
