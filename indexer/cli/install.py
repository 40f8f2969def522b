"""`nearfold install`: let a cluster fingerprint documents of any client."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import (
    dry_run_option,
    index_recipe_option,
    json_option,
    layout_option,
    open_for_command,
    store_option,
)
from indexer.cli.output import print_json
from indexer.errors import UsageError
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.jobs.install import Installation


@click.command("install")
@index_recipe_option
@click.option(
    "--text-field",
    help="Field that holds the text (default: the field that is fingerprinted already, else text).",
)
@layout_option("Where fingerprints are computed (default: as before, else pipeline).")
@dry_run_option("Change nothing; print what would change.")
@click.option("--create", is_flag=True, help="Also create the index, for users who may only write.")
@click.option(
    "--roles",
    is_flag=True,
    help="Also create the roles that `nearfold roles` prints.",
)
@click.option(
    "--dashboards",
    metavar="URL|FILE",
    help="Write a dashboard to OpenSearch Dashboards or Kibana, or to a file.",
)
@click.option(
    "--time-field",
    help="With --dashboards: date field of its time filter (default: one that all documents have).",
)
@click.option(
    "--pages",
    metavar="URL",
    help="With --dashboards: address of the review pages, for links to groups.",
)
@store_option
@json_option
def install_command(
    recipe_name: str | None,
    dashboards: str | None,
    time_field: str | None,
    pages: str | None,
    store_url: str,
    as_json: bool,
    dry_run: bool,
    **options: Any,
) -> int:
    """Set up a cluster to fingerprint documents and fold searches."""
    from indexer.jobs.install import install, install_dashboards
    from indexer.system.files import check_output_path
    from indexer.system.recipe_inputs import recipe_asked

    for option, value in (("--time-field", time_field), ("--pages", pages)):
        if value and not dashboards:
            raise UsageError(f"{option} is for --dashboards; give both, or neither")
    fields = {"time_field": time_field, "pages": pages}
    if dashboards and "://" not in dashboards and not dry_run:
        check_output_path(Path(dashboards), "--dashboards", replace=True)
    with open_for_command(store_url) as store:
        if dashboards:
            install_dashboards(store, dashboards, dry_run=True, **fields)
        recipe = recipe_asked(recipe_name) if recipe_name else None
        result = install(store, recipe, dry_run=dry_run, **options)
        if dashboards:
            change = install_dashboards(store, dashboards, dry_run=dry_run, **fields)
            result = result.plus(change)
    print_installation(result, as_json, dry_run)
    if result.complete and not (as_json or dry_run):
        has_index = any(change.kind == "index" for change in result.changes)
        when = "next" if has_index else "once clients have sent documents"
        command = f"`nearfold group --store {store_url}`"
        print(f"{when}: {command} puts the documents into near-duplicate groups")
    return 0 if result.complete else EXIT_FAILED


def print_installation(result: Installation, as_json: bool, dry_run: bool) -> None:
    """Print what was installed or removed, in the order of the work."""
    if as_json:
        assets = [
            {
                "kind": change.kind,
                "name": change.name,
                "action": change.action,
                "detail": change.detail,
            }
            for change in result.changes
        ]
        print_json(
            {
                "store": result.store,
                "recipe": result.recipe.name,
                "dry_run": dry_run,
                "installed": assets,
            }
        )
        return
    for change in result.changes:
        is_planned = dry_run and change.action in ("created", "updated", "removed")
        action = f"would be {change.action}" if is_planned else change.action
        detail = f": {change.detail}" if change.detail else ""
        print(visible(f"{action}  {change.kind} {change.name}{detail}"))
    if not result.changes:
        print("nothing is installed there")
