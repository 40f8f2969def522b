"""The command that gives a store another recipe: reindex."""

from __future__ import annotations

import json

import click

from indexer.cli import progress
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.operations import reindex as renewing
from indexer.system.keyed_recipes import recipe_asked
from indexer.text.wording import count_of


@click.command("reindex")
@click.option(
    "--recipe",
    "recipe_name",
    required=True,
    help="Settings of the fingerprint that the store is to have.",
)
@click.option("--keep", is_flag=True, help="Keep the old index, or a copy of the old file.")
@store_option
@json_option
def reindex_command(recipe_name: str, keep: bool, store_url: str, as_json: bool) -> int:
    """Sign all stored texts by another recipe, while searches go on; then put the new rows in
    service in one step.
    """
    recipe = recipe_asked(recipe_name)
    with open_for_command(store_url) as store, progress.show_stages() as advance:
        total = store.counts().documents if store.stored_recipe() else 0
        done = renewing.reindex(
            store, recipe, keep=keep, on_progress=lambda signed: advance("signing", signed, total)
        )
    if as_json:
        click.echo(
            json.dumps(
                {
                    "recipe": recipe.name,
                    "index": done.index,
                    "signed": done.copied,
                    "kept": done.kept,
                }
            )
        )
        return 0
    kept = f"; the old one is kept as {done.kept}" if done.kept else ""
    click.echo(
        f"{count_of(done.copied, 'document')} signed by {recipe.name}; {done.index} is in service{kept}"
    )
    return 0
