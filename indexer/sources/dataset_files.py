"""Files of datasets: which ones a PATH names, their records, and their rows as they stand."""

from __future__ import annotations

import glob
import gzip
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UnreadableFile, UsageError
from indexer.model import Blob, FailedBlob
from indexer.sources import delimited, jsonl, read_blob
from indexer.sources.base import Reading, Records, SourceItem
from indexer.sources.containers import RECORDS
from indexer.sources.folder import walk
from indexer.sources.payloads import DamagedRecord

RawReader: TypeAlias = Callable[[str, BinaryIO, Reading], Iterator[bytes]]
KINDS: dict[str, str] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
_RAW: dict[str, RawReader] = {
    "jsonl": jsonl.raw_rows,
    "csv": delimited.raw_rows,
    "tsv": delimited.raw_rows,
}


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file of rows.

    `name`: the absolute path under which it was found, whose end says what it holds; a file that
    was given may be a link. `folder`: the folder that was given, or that holds the file. `version`:
    size in bytes and time of the last change in nanoseconds since 1970 UTC, by which a change is
    noticed.
    """

    blob: Blob
    name: str
    folder: str
    version: tuple[int, int | None]

    @property
    def kind(self) -> str:
        """One of the values of `KINDS`."""
        return cast(str, kind_of_rows(self.name))

    @property
    def path(self) -> str:
        """The real path; bytes that are not UTF-8 are lone surrogates."""
        return os.fsdecode(cast(bytes, self.blob.opener))

    def records(self, reading: Reading) -> Records:
        """Yield each row with its place; raises `UsageError` for a file that cannot be read."""
        name = self.name.lower()
        reader = next(RECORDS[suffixes] for suffixes in RECORDS if name.endswith(suffixes))
        with self.stream() as stream:
            try:
                yield from reader(self.name, stream, reading)
            except DamagedRecord as error:
                raise UsageError(f"{self.blob.path}: {error}") from error

    def raw_rows(self, reading: Reading) -> Iterator[bytes]:
        """Yield each row of a text format in UTF-8, of CSV the names of the columns first."""
        with self.stream() as stream:
            yield from _RAW[self.kind](self.name, stream, reading)

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Open the bytes, unpacked from gzip. Raises `UsageError` when that fails."""
        try:
            stream = read_blob.stream(self.blob)
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
            info = Path(self.path).stat()
        except OSError:
            info = None
        if info is None or (info.st_size, info.st_mtime_ns) != self.version:
            raise UsageError(
                f"{self.blob.path} changed while it was read; run again when nothing writes to it"
            )


KeptRows: TypeAlias = Sequence[tuple[DatasetFile, NDArray[np.bool_]]]
"""Files, each with (rows,) bool: whether a row is kept."""


def other_columns(file: DatasetFile, first: DatasetFile) -> UsageError:
    """Return the error for a file whose columns are not those of the first one."""
    return UsageError(
        f"{file.blob.path} has other columns than {first.blob.path}, so one file cannot hold the "
        "rows of both; give --out the name of a new folder"
    )


def kind_of_rows(path: str) -> str | None:
    """Return the kind of rows that a file of this name holds; None for another file.

    >>> kind_of_rows("a/part-0.NDJSON.gz"), kind_of_rows("a.parquet.gz"), kind_of_rows("notes.txt")
    ('jsonl', None, None)
    """
    name = path.lower()
    kind = KINDS.get(os.path.splitext(name.removesuffix(".gz"))[1])  # noqa: PTH122
    return None if kind == "parquet" and name.endswith(".gz") else kind


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
    return DatasetFile(item, whole, folder, (item.size, item.modified))


def _expanded(path: str) -> list[str]:
    """Return the path itself, or what a pattern matches, by name; the pattern if it is nothing."""
    if Path(path).exists() or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]  # noqa: PTH207 - it may be absolute
