"""`nearfold delete`: remove documents and repair the near-duplicate groups they were in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from indexer.cli.exit_codes import EXIT_STORE
from indexer.cli.options import (
    FractionType,
    json_option,
    measure_option_with,
    open_for_command,
    store_option,
)
from indexer.cli.output import console, print_json
from indexer.defaults import FOLD, MEASURE, PRINCIPAL
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.grouping.delete import DeleteResult


@click.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID|PATH...")
@click.option(
    "--principal",
    metavar="ORDER",
    help="Principal of a near-duplicate group, as `group` takes it (default: that of the last "
    "`group`, or "
    f"{PRINCIPAL}).",
)
@click.option(
    "--threshold",
    type=FractionType(0, 1),
    help=f"Minimum similarity (default: that of the last `group`, or {FOLD}).",
)
@measure_option_with(f"Measure of similarity (default: that of the last `group`, or {MEASURE}).")
@store_option
@json_option
def delete_command(ids: tuple[str, ...], store_url: str, as_json: bool, **options: Any) -> int:
    """Remove documents and repair their near-duplicate groups.

    Options not given here are those of the last `group`, including its criteria. PATH is the path
    of a stored document.
    """
    from indexer.grouping.delete import delete
    from indexer.stores.requirements import stored_ids

    with open_for_command(store_url) as store:
        result = delete(store, stored_ids(store, ids), **options)
    _print_deletion(result, store_url, as_json)
    return EXIT_STORE if result.absent else 0


def _print_deletion(result: DeleteResult, store_url: str, as_json: bool) -> None:
    """Print which documents were removed or not there, and which groups were repaired."""
    from rich.text import Text

    if as_json:
        repaired = [{"family": repair.family, "into": repair.into} for repair in result.repaired]
        deleted, absent = list(result.deleted), list(result.absent)
        print_json({"deleted": deleted, "absent": absent, "repaired": repaired})
        return
    out = console()
    out.print(f"{count_of(len(result.deleted), 'document')} deleted")
    for repair in result.repaired:
        into = ", ".join(f"{family} ({number:,})" for family, number in repair.into.items())
        out.print(
            f"  the group of {repair.family} is now {into}; provisional until "
            f"`nearfold group --store {store_url}`"
        )
    for id in result.absent:
        out.print(Text(f"  not in the store: {visible(id)}"))
