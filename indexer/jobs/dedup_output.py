"""The files of a run: where its output goes, and the folder next to it that a killed run leaves."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any, BinaryIO, cast

from indexer.documents.base import ReadOptions
from indexer.documents.tables import text_of
from indexer.errors import ExtractionError, MissingExtra, UsageError
from indexer.jobs.dataset_files import (
    KINDS,
    DatasetFile,
    KeptRows,
    dataset_files,
    kind_of_rows,
)
from indexer.jobs.dedup_passages import SpanEdits, with_csv_text, with_json_text
from indexer.jobs.dedup_spool import RECORDS, TEXTS
from indexer.system.files import check_new, check_output_path, is_special, write_error

SPOOL = "rows.db"
_OWN = {
    "report",
    "rows",
    "spans",
    TEXTS,
    RECORDS,
    *(f"{SPOOL}{ending}" for ending in ("", "-wal", "-shm", "-journal")),
}


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a run: one file, or a folder with a file for each input file.

    `names` has the path of each input file below the folder that holds all of them. `replace`:
    files that are there already are replaced; a folder never is.
    """

    out: Path
    is_folder: bool
    names: Sequence[str]
    replace: bool
    has_spans: bool

    @property
    def spans(self) -> Path:
        """The list of the copies of approved passages that were removed from rows."""
        return self.out.with_name(f"{self.out.name}.spans.jsonl")

    @property
    def report(self) -> Path:
        """The list of the rows that are not in the output."""
        return self.out.with_name(f"{self.out.name}.removed.jsonl")

    @property
    def work(self) -> Path:
        """The folder of the run until it is complete."""
        return self.out.with_name(f".{self.out.name}.dedup")

    @property
    def parts(self) -> tuple[tuple[Path, Path], ...]:
        """The report, the rows, and the list of spans if there is one, in the folder of the run,
        each with the path it goes to.
        """
        spans = (self.work / "spans", self.spans)
        rows = (self.work / "rows" / self.out.name, self.out)
        return (self.work / "report", self.report), rows, *([spans] if self.has_spans else [])

    def check_new(self) -> None:
        """Raise `UsageError` when the path of the output or of the report is taken."""
        for _, position in self.parts:
            self._check_path(position)

    def _check_path(self, path: Path) -> None:
        if not os.path.lexists(path):
            return
        if path == self.out and self.is_folder:
            if not path.is_dir() or any(path.iterdir()):
                raise UsageError(
                    f"{path} exists; give --out the name of a new folder, or of a file that ends "
                    f"in {' or '.join(KINDS)}"
                )
        elif not self.replace:
            check_new(path)

    def publish(self) -> None:
        """Put everything that was written at its final path.

        Raises `UsageError` when that fails, or a path was taken meanwhile.
        """
        for part, position in self.parts:
            if not part.exists():
                continue
            self._check_path(position)
            try:
                part.replace(position)
            except OSError as error:
                raise write_error(self.out, "--out", error) from error


def plan_output(
    files: Sequence[DatasetFile],
    paths: Sequence[str],
    out: Path,
    replace: bool,
    has_spans: bool,
) -> Output:
    """Return where the rows of these files go.

    `paths` are those that the caller gave. Raises `UsageError` for a path that cannot be written,
    that is part of the input, or whose kind differs from the files.
    """
    kind = kind_of_rows(out.name)
    output = Output(out, kind is None, _names(files), replace, has_spans)
    _check_outside(output, files, paths)
    for file in files:
        if kind not in (None, file.kind):
            raise UsageError(
                f"{file.blob.path} holds rows of another kind than {out}; end --out in "
                f"{_ending(file.kind)}, or give it the name of a new folder for one file of each "
                "kind"
            )
    if is_special(out):
        raise UsageError(f"{out} is a link or no file; choose another path for --out")
    if not output.is_folder:
        check_output_path(out, replace=True)  # `Output.check_new` knows what an earlier run wrote
    return output


def output_in(folder: Path, files: Sequence[DatasetFile]) -> Output:
    """Return the output of a run in a new folder, which nothing is moved out of."""
    return Output(folder / "rows", True, _names(files), replace=False, has_spans=False)


def stdout_name(paths: Sequence[str]) -> str:
    """Return a name for one file of the rows of these paths, whose ending says their kind.

    Raises `UsageError` for files of several kinds.
    """
    kinds = {file.kind for file in dataset_files(paths)[0]}
    if len(kinds) > 1:
        raise UsageError(
            f"--out - takes rows of one kind, not {' and '.join(sorted(kinds))}; give --out the "
            "name of a new folder"
        )
    return f"rows{_ending(kinds.pop())}"


def make_work_folder(output: Output) -> None:
    """Make the folder of the run, or take the one that an earlier run left.

    Raises `UsageError` for one that holds files of others, since it is removed in the end.
    """
    try:
        output.work.mkdir(exist_ok=True)
        others = sorted(path.name for path in output.work.iterdir() if path.name not in _OWN)
    except OSError as error:
        raise write_error(output.out, "--out", error) from error
    if others:
        raise UsageError(
            f"{output.work} holds {others[0]}, which dedup did not write; move it away, or give "
            "--out another name"
        )


def _ending(kind: str) -> str:
    return next(ending for ending, of_kind in KINDS.items() if of_kind == kind)


def _names(files: Sequence[DatasetFile]) -> list[str]:
    """Return the path of each file below the folder that they have in common."""
    base = os.path.commonpath({file.folder for file in files})
    return [Path(file.name).relative_to(base).as_posix() for file in files]


def _check_outside(output: Output, files: Sequence[DatasetFile], paths: Sequence[str]) -> None:
    """Raise `UsageError` where the output is, or would become, part of the input."""
    inputs = {Path(file.path) for file in files}
    folders = {Path(path).resolve() for path in paths if Path(path).is_dir()}
    for path in (path.resolve() for _, path in output.parts):
        is_inside = not folders.isdisjoint((path, *path.parents))
        if is_inside or path in inputs or any(path in path.parents for path in inputs):
            raise UsageError(f"{path} belongs to the input; give --out a path outside of it")


# Kept rows of dataset files, written to another file as they stand.


def copy_rows(
    parts: KeptRows, out: Path, read_options: ReadOptions, edits: SpanEdits | None
) -> None:
    """Write the rows that are kept of files of one kind into one file, in their order.

    `parts`: each file with (rows,) bool, whether a row is kept. A text file is packed by gzip where
    the name of `out` ends so. Of several files `check_columns` has accepted the columns. `edits`
    change the texts of rows. Raises `MissingExtra` for Parquet without pyarrow.
    """
    if parts[0][0].kind == "parquet":
        try:
            from indexer.jobs.dedup_parquet import copy_parquet_rows
        except ModuleNotFoundError as error:
            raise MissingExtra(package="pyarrow", extra="parquet") from error
        copy_parquet_rows(parts, out, read_options.text_field, edits)
        return
    with _opened(out) as stream:
        rows = _text_rows(parts, read_options, edits)
        stream.writelines(row if row.endswith(b"\n") else row + b"\n" for row in rows)


def _text_rows(
    parts: KeptRows, read_options: ReadOptions, edits: SpanEdits | None
) -> Iterator[bytes]:
    """Yield the rows that are kept, of CSV the names of the columns before them."""
    for index, (file, kept) in enumerate(parts):
        rows = file.raw_rows(read_options)
        if file.kind != "jsonl":
            names = next(rows)
            if index == 0:
                yield names
        if edits is None:
            yield from compress(rows, kept.tolist())
            continue
        both = zip(rows, file.records(read_options), strict=True)
        for row, (number, record) in compress(both, kept.tolist()):
            yield _edited(row, file, int(number), record, read_options, edits)


def _edited(
    row: bytes,
    file: DatasetFile,
    number: int,
    record: Mapping[str, Any] | ExtractionError,
    read_options: ReadOptions,
    edits: SpanEdits,
) -> bytes:
    """Return a row with its text edited; as it is where the text is not one string in it."""
    text = None if isinstance(record, ExtractionError) else text_of(record, read_options)
    if not isinstance(text, str):
        return row
    source = row.decode("utf-8", "surrogateescape")

    def replaced(shorter: str) -> str | None:
        if file.kind == "jsonl":
            return with_json_text(source, read_options.text_field, text, shorter)
        return with_csv_text(source, text, shorter)

    edited = edits.edit(file.name, number, text, replaced)
    return row if edited is None else edited.encode("utf-8", "surrogateescape")


@contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    with out.open("wb") as file:
        if not out.name.lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
