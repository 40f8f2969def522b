"""The commands that copy a store into a file and put it back: backup, restore."""

from __future__ import annotations

import json

import click

from indexer.cli.options import json_option, open_for_command, store_option
from indexer.operations.backup import Copy, backup
from indexer.operations.restore import restore
from indexer.text.wording import count_of

_JOURNAL = {
    True: ", with its journal",
    False: "; its journal is in use by a job and was left out",
    None: "",
}


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False))
@store_option
@json_option
def backup_command(file: str, store_url: str, as_json: bool) -> int:
    """Copy an embedded store into a file while it is in use; the copy is a store itself."""
    with open_for_command(store_url) as store:
        _print_copy(backup(store, file), as_json, f"copied into {file}")
    return 0


@click.command("restore")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--replace", is_flag=True, help="Put the copy in place of the store that is there.")
@store_option
@json_option
def restore_command(file: str, replace: bool, store_url: str, as_json: bool) -> int:
    """Put the copy of an embedded store back, in one step."""
    with open_for_command(store_url) as store:
        _print_copy(restore(store, file, replace=replace), as_json, f"put back from {file}")
    return 0


def _print_copy(done: Copy, as_json: bool, what: str) -> None:
    if as_json:
        click.echo(
            json.dumps({"file": done.path, "documents": done.documents, "journal": done.journal})
        )
    else:
        click.echo(f"{count_of(done.documents, 'document')} {what}{_JOURNAL[done.journal]}")
