"""`nearfold families`: list the near-duplicate groups of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from indexer.cli.options import (
    explain_option,
    json_option,
    limit_option,
    of_option,
    open_for_command,
    store_option,
)
from indexer.cli.output import console, first_items, print_json, short_path
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from indexer.comparing.reasons import Reasons
    from indexer.grouping.families import FamiliesOptions, ListedFamily, ListedMember
    from indexer.stores.abilities import FullStore


LISTED = 20  # documents of a family that are printed


@click.command("families")
@click.option(
    "--min",
    "least",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Minimum number of documents in a group.",
)
@click.option(
    "--label", metavar="LABEL", help="Only groups that contain a document with this label."
)
@click.option(
    "--path", metavar="PATH", help="Only groups that contain a document at or below PATH."
)
@limit_option
@explain_option
@of_option
@store_option
@json_option
def families_command(
    least: int,
    label: str | None,
    path: str | None,
    limit: int | None,
    explain: bool,
    of: Literal["documents", "parts"],
    store_url: str,
    as_json: bool,
) -> int:
    """List near-duplicate groups, the largest first.

    --json prints one line for each group.
    """
    from indexer.grouping.families import FamiliesOptions

    if path is not None and Path(path).exists():
        path = str(Path(path).resolve())
    options = FamiliesOptions(least, label, path, of)
    with open_for_command(store_url) as store:
        _print_families(store, options, limit, as_json, explain)
    return 0


def _print_families(
    store: FullStore, options: FamiliesOptions, limit: int | None, as_json: bool, explain: bool
) -> None:
    """Print each group as soon as it is read, and in the end how many there are."""
    from indexer.grouping.families import explain_pairs, families
    from indexer.stores.requirements import scope_view

    count = 0
    provisional = 0

    def counted() -> Iterator[ListedFamily]:
        nonlocal count, provisional
        for family in families(store, options):
            count += 1
            provisional += family.provisional
            yield family

    for family in first_items(counted(), limit, as_json):
        reasons: Sequence[Reasons | None] = [None] * (family.size - 1)
        if explain:
            members = family.members[1:] if as_json else family.members[1:LISTED]
            pairs = [(family.members[0].id, member.id) for member in members]
            reasons = list(explain_pairs(scope_view(store, options.of), pairs))
        if as_json:
            print_json(_family_json(family, reasons))
        else:
            _print_family(family, reasons, options.of)
    if as_json:
        return
    out = console()
    out.print(count_of(count, "near-duplicate group"))
    if provisional:
        number = count_of(provisional, options.of[:-1])
        command = f"`nearfold group --store {store.url}`"
        out.print(f"note: the groups of {number} are provisional until {command} is run")


def _print_family(family: ListedFamily, reasons: Sequence[Reasons | None], of: str) -> None:
    from rich.text import Text

    from indexer.comparing.reasons import format_reasons

    out = console()
    first, *others = family.members
    out.print(Text(f"{count_of(family.size, of[:-1])}  {_name(first, of)}", style="bold"))
    for member, explained in zip(others[: LISTED - 1], reasons, strict=False):
        fraction = "" if member.similarity is None else percent(member.similarity)
        read = "  (as far as read)" if first.is_cut or member.is_cut else ""
        out.print(Text(f"  {fraction:>4}  {_name(member, of)}{read}"))
        for sentence in format_reasons(explained) if explained else ():
            out.print(Text(f"        {visible(sentence)}"))
    if family.size > LISTED:
        out.print(f"  ... and {family.size - LISTED:,} more; --json lists all")


def _name(member: ListedMember, of: str) -> str:
    """Return what names a document: its path, or its id where there is none; of a part both."""
    if of == "parts":
        return f"{short_path(member.path)}  {visible(member.id)}"
    return short_path(member.path or member.id)


def _family_json(family: ListedFamily, reasons: Sequence[Reasons | None]) -> dict[str, object]:
    members = [
        {"id": member.id, "path": member.path, "similarity": member.similarity}
        | {"as_read": family.members[0].is_cut or member.is_cut}
        | (asdict(explained) if explained else {})
        for member, explained in zip(family.members, (None, *reasons), strict=True)
    ]
    return {"principal": family.principal, "size": family.size, "members": members}
