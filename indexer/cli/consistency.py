"""`nearfold consistency`: list families whose documents carry different labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from indexer.cli.console import console, print_json, print_lines
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.grouping.consistency import Disagreement, consistency
from indexer.text.visible import visible
from indexer.text.wording import count_of, spell_labels


@click.command("consistency")
@store_option
@json_option
def consistency_command(store_url: str, as_json: bool) -> int:
    """Families whose documents do not all carry the same labels; nothing is grouped or written."""
    with open_for_command(store_url) as store:
        _print_disagreements(consistency(store), as_json)
    return 0


def _print_disagreements(found: Sequence[Disagreement], as_json: bool) -> None:
    """Families whose documents carry different labels, each with its documents."""
    if as_json:
        print_json({"families": [_disagreement_json(one) for one in found]})
        return
    out = console()
    out.print(f"{count_of(len(found), 'family')} whose documents carry different labels")
    for one in found:
        told = ", ".join(
            [
                *(f"{label} {number:,}" for label, number in one.labels.items()),
                f"none {one.unlabelled:,}",
            ]
        )
        out.print(Text(visible(f"{one.family}  {count_of(len(one.members), 'document')}: {told}")))
        print_lines(
            f"  {spell_labels(member.labels)}  {member.id}  {member.path}" for member in one.members
        )


def _disagreement_json(one: Disagreement) -> dict[str, Any]:
    members = [
        {
            "id": member.id,
            "path": member.path,
            "labels": list(member.labels),
            "principal": member.principal,
            "similarity": member.similarity,
        }
        for member in one.members
    ]
    return {
        "family": one.family,
        "labels": one.labels,
        "unlabelled": one.unlabelled,
        "members": members,
    }
