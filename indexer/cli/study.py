"""`nearfold study`: measure how signatures spread the documents of a folder or a store."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli import progress
from indexer.cli.options import json_option, out_folder_option
from indexer.cli.output import console, print_json
from indexer.defaults import STUDY_BITS, STUDY_TIMED
from indexer.errors import UsageError
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from rich.table import Table

    from indexer.lab.studies.results import StudyResult


def _lengths(_context: click.Context, _option: click.Parameter, text: str) -> tuple[int, ...]:
    from indexer.lab.studies.methods import lengths

    try:
        return lengths([int(bits) for bits in text.split(",")])
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 16,32,64") from None


@click.command("study")
@click.argument(
    "path", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False
)
@out_folder_option("Folder for the report and its tables.")
@click.option(
    "--bits",
    callback=_lengths,
    default=",".join(map(str, STUDY_BITS)),
    show_default=True,
    help="Lengths of fingerprints, in bits.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=STUDY_TIMED,
    show_default=True,
    help="Number of documents to time one by one.",
)
@click.option(
    "--keep-duplicates/--no-keep-duplicates",
    default=True,
    show_default=True,
    help="Count copies, empty and numeric texts in Table 2 and Figures 1 to 3, as published.",
)
@click.option("--store", "store_url", help="Study the documents of this store instead of a folder.")
@json_option
def study_command(
    path: Path | None,
    out: Path,
    bits: tuple[int, ...],
    sample: int,
    keep_duplicates: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Study how fingerprints of 16 to 1024 bits separate documents.

    Run the same command again to resume after an interruption.
    """
    from indexer.lab.studies.files import write
    from indexer.lab.studies.study import study
    from indexer.stores import open_store
    from indexer.system.files import folder_at

    if (path is None) == (store_url is None):
        raise UsageError("give the PATH of a folder, or --store URL, and only one of them")
    folder_at(out)
    run = partial(study, out=out, bits=bits, sample=sample, keep_duplicates=keep_duplicates)
    with progress.show_stages(as_json) as advance:
        if path is not None:
            result = run(path, progress=advance)
        else:
            with closing(open_store(store_url or "")) as store:
                result = run(store, progress=advance)
    write(result, out)
    _print_study(result, out, as_json)
    return 0


def _print_study(result: StudyResult, out: Path, as_json: bool) -> None:
    """Print what was studied, the documents a signature, the findings and the report's path."""
    from indexer.lab.studies.files import REPORT, read_results
    from indexer.lab.studies.report import sentences

    if as_json:
        print_json({**read_results(result), "report": str(out / REPORT)})
        return
    terminal = console()
    terminal.print(_document_counts(result))
    terminal.print("documents a signature, itself included")
    terminal.print(_collision_table(result))
    terminal.print()
    for sentence in sentences(result):
        terminal.print(sentence)
    terminal.print(f"\nthe report: {visible(str(out / REPORT))}")


def _document_counts(result: StudyResult) -> str:
    """Return the number of documents, and why some were not studied."""
    account = result.account
    reasons = (
        (account.failed, "could not be read"),
        (account.empty, "without text"),
        (account.copies, "copies"),
        (account.numbers_only, "of numbers alone"),
        (account.too_short, "under four characters"),
    )
    rest = "".join(f", {number:,} {reason}" for number, reason in reasons if number)
    counted = f"; {result.counted:,} counted below" if result.keep_duplicates else ""
    return (
        f"{count_of(account.documents, 'document')}: {account.studied:,} studied{rest}{counted}\n"
    )


def _collision_table(result: StudyResult) -> Table:
    """Return the mean number of documents that share a signature, by length and method."""
    from rich.table import Table

    from indexer.lab.studies.methods import METHODS

    labels = [method.label for method in METHODS]
    table = Table("bits", *labels, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    cells = {(spread.method, spread.bits): f"{spread.collisions:.3f}" for spread in result.spreads}
    for bits in result.bits:
        table.add_row(str(bits), *(cells.get((method.name, bits), "–") for method in METHODS))
    return table
