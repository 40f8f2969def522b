"""`nearfold export`: write files for other programs and for people."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli import progress
from indexer.cli.manifest import check_output, run_manifest, write_manifest
from indexer.cli.options import (
    drop_defaults,
    json_option,
    measure_option,
    open_for_command,
    out_file_option,
    replace_option,
    store_option,
    threshold_option,
)
from indexer.cli.output import console, print_json
from indexer.defaults import BATCH_SIZE
from indexer.errors import UsageError
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from rich.table import Table

    from indexer.model import Progress
    from indexer.review.exports.export import ExportOptions, ExportResult, Form, ReviewerLoad, What
    from indexer.stores.abilities import FullStore


_OF_BATCHES = ("reviewers", "batch_size", "balance")


@click.command("export")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "dat", "html"]),
    default="csv",
    show_default=True,
    help="A table (csv, parquet), a load file (dat), or a report (html).",
)
@click.option(
    "--what",
    type=click.Choice(["families", "pairs", "batches", "queue"]),
    default="families",
    show_default=True,
    help="What to write: near-duplicate groups (families), pairs, batches for reviewers, or "
    "documents to review.",
)
@out_file_option("The file to write; - is standard output.", required=True)
@replace_option
@click.option(
    "--reviewers",
    metavar="A,B,C",
    default="",
    help="Batches: the reviewers to divide the work between.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(1),
    default=BATCH_SIZE,
    show_default=True,
    help="Batches: maximum number of documents in a batch.",
)
@click.option(
    "--balance",
    type=click.Choice(["words", "documents"]),
    default="words",
    show_default=True,
    help="Batches: the quantity to divide evenly.",
)
@click.option(
    "--review",
    multiple=True,
    metavar="LABEL",
    help="Queue: list the near duplicates of documents with this label.",
)
@click.option(
    "--dedup",
    type=click.Choice(["none", "global", "custodian"]),
    default="none",
    show_default=True,
    help="Groups, batches, queue: omit duplicates, across all custodians or within each; a mail "
    "and its attachments are one unit.",
)
@click.option("--date", help="Report: text at the top instead of today's date.")
@click.option(
    "--audit",
    type=click.IntRange(20),
    metavar="N",
    help="Report: verify N pairs to estimate the recall.",
)
@threshold_option
@measure_option
@store_option
@json_option
def export_command(
    store_url: str,
    as_json: bool,
    form: Form,
    what: What,
    out: Path,
    replace: bool,
    reviewers: str,
    **options: Any,
) -> int:
    """Write groups, pairs, batches or a review queue to a file.

    The file is a table, a load file or an HTML report. --threshold and --measure apply to pairs;
    groups are those of the last `group`, and --audit needs the --threshold of that run.
    """
    from indexer.review.exports.export import export
    from indexer.stores.journal import known_group_settings

    _refuse_unused(form, what)
    settings = _options(reviewers, options)
    if str(out) == "-":
        if as_json:
            raise UsageError("--json prints an account where --out - writes; leave one of them out")
        with open_for_command(store_url) as store, progress.show_stages() as advance:
            _write_to_stdout(store, form, what, settings, advance)
        return 0
    check_output(out, replace=replace)
    with open_for_command(store_url) as store, progress.show_stages(as_json) as advance:
        result = export(store, out, form, what, settings, replace=replace, progress=advance)
        recipe = store.stored_recipe()
        grouped = known_group_settings(store.address)
    command = f"export --what {result.what} --format {result.form}"
    manifest = run_manifest(command, recipe, settings, {"records": result.records})
    if result.what != "pairs":
        manifest["families"] = grouped or None
        for name in () if settings.audit else ("threshold", "measure"):
            del manifest["settings"][name]  # families come from the last group
    write_manifest(out, manifest)
    _print_export(result, as_json)
    return 0


def _write_to_stdout(
    store: FullStore, form: Form, what: What, settings: ExportOptions, advance: Progress
) -> None:
    """Write an export to standard output once it is whole, and its notes to stderr."""
    from indexer.review.exports.export import export

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export"
        result = export(store, path, form, what, settings, progress=advance)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    for note in result.notes:
        click.echo(f"note: {visible(note)}", err=True)


def _options(reviewers: str, options: dict[str, Any]) -> ExportOptions:
    """Return the options of the export; those that are not set keep their default."""
    from indexer.review.exports.export import ExportOptions

    drop_defaults(options, "threshold", "measure")
    names = [name.strip() for name in reviewers.split(",") if name.strip()]
    values = {name: value for name, value in options.items() if value is not None}
    return ExportOptions(reviewers=names, **values)


def _refuse_unused(form: Form, what: What) -> None:
    """Refuse options of the command line that would do nothing."""
    context = click.get_current_context()
    command_line = click.core.ParameterSource.COMMANDLINE
    names = {name for name in context.params if context.get_parameter_source(name) == command_line}
    if form == "html" and "what" in names:
        raise UsageError("--format html is one report about everything; leave --what out")
    of_pairs = ("measure",) if "audit" in names else ("threshold", "measure")
    positions = (
        ("--what batches", what == "batches" and form != "html", _OF_BATCHES),
        ("--what pairs", what == "pairs" and form != "html", of_pairs),
        ("--what queue", what == "queue" and form != "html", ("review",)),
        ("--format html", form == "html", ("date", "audit")),
        ("families, batches and queues", what != "pairs" and form != "html", ("dedup",)),
    )
    for position, is_chosen, options in positions:
        for name in options:
            if name in names and not is_chosen:
                raise UsageError(f"--{name.replace('_', '-')} is for {position} only; leave it out")


def _print_export(result: ExportResult, as_json: bool) -> None:
    """Print what was written, and for batches the share of each reviewer."""
    from rich.text import Text

    if as_json:
        print_json(dataclasses.asdict(result))
        return
    out = console()
    records = count_of(result.records, "document" if result.what != "pairs" else "pair")
    title = f"report on {records}" if result.what == "report" else f"{result.what}: {records}"
    out.print(Text(f"{title} written to {visible(result.out)}"))
    if result.loads:
        out.print(_load_table(result.loads))
    for note in result.notes:
        out.print(Text(f"note: {visible(note)}"))


def _load_table(loads: Sequence[ReviewerLoad]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("reviewer", "batches", "groups", "documents", "words"):
        table.add_column(name, justify="left" if name == "reviewer" else "right")
    for load in loads:
        numbers = (load.batches, load.groups, load.documents, load.words)
        reviewer = visible(load.reviewer) or "(nobody named)"
        table.add_row(Text(reviewer), *(f"{number:,}" for number in numbers))
    return table
