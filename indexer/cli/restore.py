"""`nearfold restore`: put the copy of an embedded store back."""

from __future__ import annotations

import click

from indexer.cli.backup import print_copy
from indexer.cli.options import json_option, open_for_command, store_option


@click.command("restore")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--replace", is_flag=True, help="Replace the existing store.")
@store_option
@json_option
def restore_command(file: str, replace: bool, store_url: str, as_json: bool) -> int:
    """Restore an embedded store from a backup, in one step."""
    from indexer.jobs.backup import restore

    with open_for_command(store_url) as store:
        print_copy(restore(store, file, replace=replace), as_json, f"put back from {file}")
    return 0
