"""The command that writes files for other programs and for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from indexer.cli import export_output as printing
from indexer.cli import progress
from indexer.cli.options import (
    json_option,
    measure_option,
    open_for_command,
    store_option,
    threshold_option,
)
from indexer.errors import UsageError
from indexer.exports import export as exporting
from indexer.exports.export import Form, What

_FOR_BATCHES = ("reviewers", "batch_size", "balance")


@click.command("export")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "dat", "html"]),
    default="csv",
    show_default=True,
)
@click.option(
    "--what",
    type=click.Choice(["families", "pairs", "batches", "queue"]),
    default="families",
    show_default=True,
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file to write.",
)
@click.option("--reviewers", metavar="A,B,C", default="", help="Batches: who shares the work.")
@click.option(
    "--batch-size",
    type=click.IntRange(1),
    default=exporting.BATCH_SIZE,
    show_default=True,
    help="Most documents.",
)
@click.option(
    "--balance",
    type=click.Choice(["words", "documents"]),
    default="words",
    show_default=True,
    help="Batches.",
)
@click.option(
    "--review",
    multiple=True,
    metavar="LABEL",
    help="Queue: near duplicates of these are to be reviewed.",
)
@click.option("--date", help="What stands at the top of the report (html) instead of today's date.")
@click.option(
    "--audit",
    type=click.IntRange(20),
    metavar="N",
    help="Report: verify N pairs to estimate what is missed.",
)
@threshold_option
@measure_option
@store_option
@json_option
def export_command(
    store_url: str, as_json: bool, form: Form, what: What, out: Path, reviewers: str, **options: Any
) -> int:
    """Families, pairs, review batches or a review queue as a table or a load file; --format html is
    a report for people.

    --threshold and --measure are for pairs; families are those of the last group, whose --threshold
    --audit is to be given.
    """
    context = click.get_current_context()
    given = {
        name
        for name in context.params
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    _check(given, form, what)
    names = [name.strip() for name in reviewers.split(",") if name.strip()]
    settings = exporting.ExportOptions(reviewers=names, **_without_none(options))
    with open_for_command(store_url) as store, progress.of_stages() as advance:
        done = exporting.export(store, out, form, what, settings, progress=advance)
    printing.exported(done, as_json)
    return 0


def _without_none(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _check(given: set[str], form: Form, what: What) -> None:
    """Refuse options that would do nothing."""
    fitting = {
        "batches": what == "batches",
        "pairs": what == "pairs",
        "queue": what == "queue",
        "html": form == "html",
    }
    for names, of in (
        (_FOR_BATCHES, "batches"),
        (("measure",) if "audit" in given else ("threshold", "measure"), "pairs"),
        (("review",), "queue"),
        (("date", "audit"), "html"),
    ):
        for name in names:
            if name in given and (not fitting[of] or (form == "html" and of != "html")):
                where = "--format html" if of == "html" else f"--what {of}"
                raise UsageError(f"--{name.replace('_', '-')} is for {where} only; leave it out")
    if form == "html" and "what" in given:
        raise UsageError("--format html is one report about everything; leave --what out")
