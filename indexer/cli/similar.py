"""The command that looks one document up: similar."""

from __future__ import annotations

from typing import Any

import click

from indexer.cli import similar_output as printing
from indexer.cli.options import (
    json_option,
    measure_option,
    open_for_command,
    store_option,
    threshold_option,
)
from indexer.errors import UsageError
from indexer.indexing.documents import document_at
from indexer.searching import similar as lookup
from indexer.stores.requirements import require_recipe


@click.command("similar")
@click.argument("path", required=False)
@click.option("--id", "id", help="Ask for a stored document instead of a file.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@click.option(
    "--of",
    type=click.Choice(["documents", "parts", "both"]),
    help="What is looked up (default: parts for the id of a part, else documents).",
)
@threshold_option
@measure_option
@store_option
@json_option
def similar_command(
    path: str | None, id: str | None, store_url: str, as_json: bool, **options: Any
) -> int:
    """Near duplicates of a file, of text on stdin (-), or of a stored document."""
    if (path is None) == (id is None):
        raise UsageError("give a PATH, - for stdin, or --id ID, and only one of them")
    chosen = lookup.SimilarOptions(**options)
    with open_for_command(store_url) as store:
        require_recipe(store)
        if path is None:
            found = lookup.similar(store, options=chosen, id=id)
        else:
            where, document = document_at(path)
            found = lookup.similar(store, document.text, chosen, path=where)
    printing.found(found, as_json)
    return 0
