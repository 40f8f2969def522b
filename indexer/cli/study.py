"""The command that shows how signatures spread the documents of a folder or a store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from indexer.cli import progress
from indexer.cli import study_output as printing
from indexer.cli.options import json_option
from indexer.errors import UsageError
from indexer.lab.studies.methods import BITS, lengths
from indexer.lab.studies.study import TIMED, StudyResult, study
from indexer.lab.studies.study_files import write
from indexer.stores import open_store
from indexer.system.whole_file import folder_at


def _lengths(_context: click.Context, _option: click.Parameter, spelled: str) -> tuple[int, ...]:
    try:
        return lengths([int(one) for one in spelled.split(",")])
    except ValueError:
        raise click.BadParameter(f"{spelled!r} is not a list of numbers such as 16,32,64") from None


@click.command("study")
@click.argument(
    "path", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="For report and tables.",
)
@click.option(
    "--bits",
    callback=_lengths,
    default=",".join(map(str, BITS)),
    show_default=True,
    help="Lengths of signatures.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=TIMED,
    show_default=True,
    help="Documents that are timed one by one.",
)
@click.option("--store", "store_url", help="Study the documents of this store instead of a folder.")
@json_option
def study_command(
    path: Path | None,
    out: Path,
    bits: tuple[int, ...],
    sample: int,
    store_url: str | None,
    as_json: bool,
) -> int:
    """How signatures of 16 to 1024 bits spread your documents; run again, it goes on."""
    if (path is None) == (store_url is None):
        raise UsageError("give the PATH of a folder, or --store URL, and only one of them")
    folder_at(out)
    made = _studied(path, store_url, out, bits, sample)
    write(made, out)
    printing.studied(made, out, as_json)
    return 0


def _studied(
    path: Path | None, store_url: str | None, out: Path, bits: tuple[int, ...], sample: int
) -> StudyResult:
    with progress.of_stages() as advance:
        if path is not None:
            return study(path, out, bits=bits, sample=sample, progress=advance)
        with closing(open_store(store_url or "")) as store:
            return study(store, out, bits=bits, sample=sample, progress=advance)
