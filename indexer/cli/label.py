"""`nearfold label`: label documents and the members of their families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.label_lines import print_coding, print_history, print_labels, print_undo
from indexer.cli.options import (
    dry_run_option,
    encoding_option,
    json_option,
    open_for_command,
    refuse_options,
    store_option,
)
from indexer.cli.parameter_types import ShareType
from indexer.errors import UsageError
from indexer.grouping.label import LabelOptions, label
from indexer.grouping.label_from import LabelFileOptions, label_from
from indexer.grouping.undo_labels import label_history, undo_labels


@click.command("label")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--carrying", metavar="LABEL", help="Label the documents that carry this label.")
@click.option(
    "--label", "add", multiple=True, metavar="LABEL", help="Add it; may be given several times."
)
@click.option(
    "--remove", multiple=True, metavar="LABEL", help="Remove it; may be given several times."
)
@click.option("--family", is_flag=True, help="Label all members of their families too.")
@click.option("--others", is_flag=True, help="With --family: label these other members alone.")
@click.option(
    "--review",
    multiple=True,
    metavar="LABEL",
    help="With --family: list families that carry it for review, unchanged.",
)
@click.option(
    "--threshold",
    type=ShareType(0, 1),
    default=0.0,
    show_default=True,
    help="With --family: list less similar members for review.",
)
@click.option(
    "--attachments",
    is_flag=True,
    help="Treat a mail and its attachments as one unit: label all of it.",
)
@click.option(
    "--from",
    "label_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Add the labels that a load file (.dat) or a table (.csv, .tsv) gives its documents.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="With --from: also remove the labels that the file does not give its documents.",
)
@click.option("--id-field", help="With --from: field with the id (default: as usual, DOCID or id).")
@click.option("--label-field", help="With --from: field with the labels (default: Labels).")
@encoding_option
@dry_run_option("Write nothing; print what would change.")
@click.option("--reviewer", default="", metavar="NAME", help="Whose labelling or undo it is.")
@click.option(
    "--undo",
    type=int,
    metavar="JOB",
    help="Restore the labels that documents had before this labelling.",
)
@click.option("--history", is_flag=True, help="List earlier labellings.")
@store_option
@json_option
def label_command(
    ids: tuple[str, ...],
    carrying: str | None,
    dry_run: bool,
    reviewer: str,
    undo: int | None,
    history: bool,
    label_file: Path | None,
    store_url: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Label documents and the members of their families. Every change can be undone.

    With --from, labels come back from a review platform: they are added, and labels that a document
    has and the file does not are conflicts, which are listed and stay unless --replace is given.
    """
    is_labelling = bool(ids or carrying is not None or options["add"] or options["remove"])
    if is_labelling + (undo is not None) + history + (label_file is not None) != 1:
        raise UsageError(
            "name documents and labels, or give --from FILE, or --undo JOB, or --history, "
            "and only one of these"
        )
    of_file = _take_file_options(options, label_file)
    if (options["review"] or options["threshold"]) and not options["family"]:
        raise UsageError(
            "--review and --threshold are about the members of families; give --family too"
        )
    with open_for_command(store_url) as store:
        if history:
            print_history(label_history(store), as_json)
            return 0
        if undo is not None:
            undone = undo_labels(store, undo, dry_run=dry_run, reviewer=reviewer)
            print_undo(undone, as_json, dry_run)
            return EXIT_FAILED if undone.changed_since or undone.absent else 0
        if label_file is not None:
            coded = label_from(store, label_file, of_file, dry_run=dry_run, reviewer=reviewer)
            print_coding(coded, as_json, dry_run)
            return EXIT_FAILED if coded.conflicts or coded.failed or coded.absent else 0
        settings = LabelOptions(**options)
        result = label(store, ids, settings, carrying=carrying, dry_run=dry_run, reviewer=reviewer)
    print_labels(result, as_json, dry_run)
    return EXIT_FAILED if result.absent else 0


def _take_file_options(options: dict[str, Any], label_file: Path | None) -> LabelFileOptions:
    """Take the options of a file of labels out of these; refuse those that would do nothing."""
    names = ("replace", "id_field", "label_field", "encoding")
    if label_file is None:
        refuse_options(names, "without --from")
    else:
        of_families = ("family", "others", "review", "threshold", "attachments")
        refuse_options(of_families, "beside --from")
    return LabelFileOptions(**{name: options.pop(name) for name in names})
