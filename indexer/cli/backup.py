"""`nearfold backup`: copy an embedded store into a file while it is in use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from indexer.cli.options import json_option, open_for_command, store_option
from indexer.wording import count_of

if TYPE_CHECKING:
    from indexer.jobs.backup import Copy


_JOURNAL = {
    True: ", with its journal",
    False: "; its journal is in use by a job and was left out",
    None: "",
}


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--replace", is_flag=True, help="Replace FILE if it is a store.")
@store_option
@json_option
def backup_command(file: str, replace: bool, store_url: str, as_json: bool) -> int:
    """Back up an embedded store to a file while it is in use. The copy is a store itself."""
    from indexer.jobs.backup import backup

    with open_for_command(store_url) as store:
        print_copy(backup(store, file, replace=replace), as_json, f"copied into {file}")
    return 0


def print_copy(copy: Copy, as_json: bool, action: str) -> None:
    """Print how many documents were copied, and whether journal and notes were copied too."""
    if as_json:
        fields = {"file": copy.path, "documents": copy.documents, "journal": copy.journal}
        click.echo(json.dumps({**fields, "review": copy.review}))
    else:
        review = "; with notes and assignments of reviewers" if copy.review else ""
        documents = count_of(copy.documents, "document")
        click.echo(f"{documents} {action}{_JOURNAL[copy.journal]}{review}")
