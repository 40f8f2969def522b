"""The files of a run: where its output goes, and the folder beside it that a killed run leaves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import UsageError
from indexer.sources.dataset_files import KINDS, DatasetFile, kind_of_rows
from indexer.system.whole_file import check_place, is_special, write_error

SPOOL = "rows.db"
_OWN = {
    "report",
    "rows",
    "spans",
    *(f"{SPOOL}{ending}" for ending in ("", "-wal", "-shm", "-journal")),
}


@dataclass(frozen=True, slots=True)
class Output:
    """Where the rows of a run go: one file, or a folder with a file for each input file.

    `names`: of each input file, its path below the folder that holds all of them. `replace`: files
    that are there already are replaced; a folder never is.
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
        each with the place it goes to.
        """
        spans = (self.work / "spans", self.spans)
        rows = (self.work / "rows" / self.out.name, self.out)
        return (self.work / "report", self.report), rows, *([spans] if self.has_spans else [])

    def check_new(self) -> None:
        """Raise `UsageError` when the place of the output or of the report is taken."""
        for _, place in self.parts:
            self._check_place(place)

    def _check_place(self, place: Path) -> None:
        if not os.path.lexists(place):
            return
        if place == self.out and self.is_folder:
            if not place.is_dir() or any(place.iterdir()):
                raise UsageError(
                    f"{place} exists; give --out the name of a new folder, or of a file that ends "
                    f"in {' or '.join(KINDS)}"
                )
        elif not self.replace:
            raise UsageError(
                f"{place} exists; give --out another name, or --replace to replace that file"
            )

    def publish(self) -> None:
        """Put everything that is written in its place.

        Raises `UsageError` when that fails, or a place was taken meanwhile.
        """
        for part, place in self.parts:
            if not part.exists():
                continue
            self._check_place(place)
            try:
                part.replace(place)
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

    `paths` are those that the caller gave. Raises `UsageError` for a place that cannot be written,
    that is part of the input, or whose kind is not that of the files.
    """
    kind = kind_of_rows(out.name)
    output = Output(out, kind is None, _names(files), replace, has_spans)
    _check_outside(output, files, paths)
    for file in files:
        if kind not in (None, file.kind):
            raise UsageError(
                f"{file.blob.path} holds rows of another kind than {out}; end --out in "
                f"{_ending(file.kind)}, or give it the name of a new folder for a file of each"
            )
    if is_special(out):
        raise UsageError(f"{out} is a link or no file; give --out another place")
    if not output.is_folder:
        check_place(out)
    return output


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
    for place in (place.resolve() for _, place in output.parts):
        is_inside = not folders.isdisjoint((place, *place.parents))
        if is_inside or place in inputs or any(place in path.parents for path in inputs):
            raise UsageError(f"{place} belongs to the input; give --out a place outside of it")
