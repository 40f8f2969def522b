"""The commands on labels: label, consistency."""

from __future__ import annotations

import click

from indexer.cli import label_output as printing
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import ShareType, json_option, open_for_command, store_option
from indexer.errors import UsageError
from indexer.grouping import consistency as agreement
from indexer.grouping import label as labelling


@click.command("label")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--carrying", metavar="LABEL", help="Name the documents that carry this label.")
@click.option(
    "--label", "add", multiple=True, metavar="LABEL", help="Add it; may be given several times."
)
@click.option(
    "--remove", multiple=True, metavar="LABEL", help="Remove it; may be given several times."
)
@click.option("--family", is_flag=True, help="Do the same to all members of their families.")
@click.option(
    "--review",
    multiple=True,
    metavar="LABEL",
    help="With --family: list families that carry it for review, change nothing.",
)
@click.option(
    "--threshold",
    type=ShareType(0, 1),
    default=0.0,
    show_default=True,
    help="With --family: list less similar members for review.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would change.")
@click.option(
    "--undo",
    type=int,
    metavar="JOB",
    help="Give documents the labels back that they had before this labelling.",
)
@click.option("--history", is_flag=True, help="List the labellings that were made.")
@store_option
@json_option
def label_command(
    ids: tuple[str, ...],
    carrying: str | None,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    family: bool,
    review: tuple[str, ...],
    threshold: float,
    dry_run: bool,
    undo: int | None,
    history: bool,
    store_url: str,
    as_json: bool,
) -> int:
    """Label documents and the members of their families; every change can be undone."""
    named = bool(ids or carrying is not None or add or remove)
    if named + (undo is not None) + history != 1:
        raise UsageError(
            "name documents and labels, or give --undo JOB, or --history, and only one of these"
        )
    if (review or threshold) and not family:
        raise UsageError(
            "--review and --threshold are about the members of families; give --family too"
        )
    with open_for_command(store_url) as store:
        if history:
            printing.history(labelling.label_history(store), as_json)
            return 0
        if undo is not None:
            undone = labelling.undo_labels(store, undo, dry_run=dry_run)
            printing.undone(undone, as_json, dry_run)
            return EXIT_FAILED if undone.changed_since or undone.absent else 0
        done = labelling.label(
            store,
            ids,
            add=add,
            remove=remove,
            carrying=carrying,
            family=family,
            review=review,
            threshold=threshold,
            dry_run=dry_run,
        )
    printing.labelled(done, as_json, dry_run)
    return EXIT_FAILED if done.absent else 0


@click.command("consistency")
@store_option
@json_option
def consistency_command(store_url: str, as_json: bool) -> int:
    """Families whose documents do not all carry the same labels; nothing is grouped or written."""
    with open_for_command(store_url) as store:
        printing.disagreements(agreement.consistency(store), as_json)
    return 0
