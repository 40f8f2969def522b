"""The command that orders the versions of a document."""

from __future__ import annotations

import click

from indexer.cli import versions_output as printing
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.comparing import versions as revisions


@click.command("versions")
@click.argument("id")
@click.option(
    "--redline", "redlined", is_flag=True, help="Show the words that came and went on each step."
)
@click.option("--no-dates", is_flag=True, help="Go by the texts alone.")
@store_option
@json_option
def versions_command(id: str, redlined: bool, no_dates: bool, store_url: str, as_json: bool) -> int:
    """Which document of a family probably came from which, as a tree of revisions."""
    with open_for_command(store_url) as store:
        found = revisions.versions(store, id, dates=not no_dates)
    printing.versions(found, as_json, redlined)
    return 0
