"""`nearfold install`: let a cluster sign documents of any client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from indexer.cli.console import print_json
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.operations.install import Installation, install, install_dashboards
from indexer.system.keyed_recipes import recipe_asked
from indexer.system.whole_file import check_place
from indexer.text.visible import visible


@click.command("install")
@click.option(
    "--recipe",
    "recipe_name",
    default="default",
    show_default=True,
    help="Settings of the fingerprint.",
)
@click.option(
    "--text-field",
    help="Field that holds the text (default: the one signed there already, else text).",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; print what would change.")
@click.option(
    "--create", is_flag=True, help="Make the index as well, for indexers who may only write."
)
@click.option(
    "--roles",
    is_flag=True,
    help="Put the roles that `nearfold roles` prints into the cluster as well.",
)
@click.option(
    "--dashboards",
    metavar="URL|FILE",
    help="Put a dashboard into OpenSearch Dashboards or Kibana, or a file.",
)
@store_option
@json_option
def install_command(
    recipe_name: str,
    dashboards: str | None,
    store_url: str,
    as_json: bool,
    dry_run: bool,
    **options: Any,
) -> int:
    """Let a cluster sign documents of any client, and fold their searches."""
    if dashboards and "://" not in dashboards and not dry_run:
        check_place(Path(dashboards), "--dashboards")
    with open_for_command(store_url) as store:
        if dashboards:
            install_dashboards(store, dashboards, dry_run=True)
        done = install(store, recipe_asked(recipe_name), dry_run=dry_run, **options)
        if dashboards:
            done = done.plus(install_dashboards(store, dashboards, dry_run=dry_run))
    print_installation(done, as_json, dry_run)
    return 0 if done.complete else EXIT_FAILED


def print_installation(done: Installation, as_json: bool, dry_run: bool) -> None:
    """What was installed or removed; `installed` lists the pieces in the order of the work."""
    pieces = [
        {"kind": one.kind, "name": one.name, "action": one.action, "detail": one.detail}
        for one in done.changes
    ]
    if as_json:
        print_json(
            {
                "store": done.store,
                "recipe": done.recipe.name,
                "dry_run": dry_run,
                "installed": pieces,
            }
        )
        return
    for one in done.changes:
        would = "would be " if dry_run and one.action in ("created", "updated", "removed") else ""
        print(
            visible(f"{would}{one.action}  {one.kind} {one.name}{one.detail and f': {one.detail}'}")
        )
    if not pieces:
        print("nothing is installed there")
