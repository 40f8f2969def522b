"""`nearfold consistency`: list near-duplicate groups whose documents carry different labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import json_option, limit_option, open_for_command, store_option
from indexer.cli.output import console, first_items, print_json, print_lines, short_path
from indexer.wording import count_of, format_labels, visible

if TYPE_CHECKING:
    from indexer.grouping.consistency import Disagreement


@click.command("consistency")
@click.option("--field", default="", metavar="NAME", help="Compare this coding field only.")
@limit_option
@store_option
@json_option
def consistency_command(field: str, limit: int | None, store_url: str, as_json: bool) -> int:
    """List near-duplicate groups whose labels differ.

    The largest come first; with --json, each is a line. Nothing is grouped or written.
    """
    from indexer.grouping.consistency import consistency
    from indexer.jobs.review_file import stored_coding

    with open_for_command(store_url) as store:
        if field:
            stored_coding(store).field(field)
        _print_disagreements(consistency(store, field), limit, as_json)
    return 0


def _print_disagreements(
    disagreements: Sequence[Disagreement], limit: int | None, as_json: bool
) -> None:
    """Print groups whose documents carry different labels, each with its documents."""
    from rich.text import Text

    if as_json:
        for disagreement in first_items(disagreements, limit, as_json):
            print_json(_disagreement_json(disagreement))
        return
    out = console()
    out.print(
        f"{count_of(len(disagreements), 'near-duplicate group')} whose documents carry different "
        f"labels"
    )
    for disagreement in first_items(disagreements, limit):
        counts = [f"{label} {number:,}" for label, number in disagreement.labels.items()]
        counts.append(f"none {disagreement.unlabelled:,}")
        documents = count_of(len(disagreement.members), "document")
        line = f"{disagreement.family}  {documents}: {', '.join(counts)}"
        out.print(Text(visible(line)))
        print_lines(
            f"  {format_labels(member.labels)}  {member.id}  {short_path(member.path)}"
            for member in disagreement.members
        )


def _disagreement_json(disagreement: Disagreement) -> dict[str, Any]:
    members = [
        {
            "id": member.id,
            "path": member.path,
            "labels": list(member.labels),
            "principal": member.principal,
            "similarity": member.similarity,
        }
        for member in disagreement.members
    ]
    return {
        "family": disagreement.family,
        "labels": disagreement.labels,
        "unlabelled": disagreement.unlabelled,
        "members": members,
    }
