"""The commands on what a search engine is given and must allow: install, uninstall, roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from indexer.cli import install_output as printing
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.errors import UsageError
from indexer.operations import install as installing
from indexer.operations import roles as role_listing
from indexer.operations import uninstall as removing
from indexer.system.secrets import recipe_asked
from indexer.system.whole_file import check_place


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
            installing.install_dashboards(store, dashboards, dry_run=True)
        done = installing.install(store, recipe_asked(recipe_name), dry_run=dry_run, **options)
        if dashboards:
            done = done.plus(installing.install_dashboards(store, dashboards, dry_run=dry_run))
    printing.installation(done, as_json, dry_run)
    return 0 if done.complete else EXIT_FAILED


@click.command("uninstall")
@click.option("--dry-run", is_flag=True, help="Change nothing; print what would change.")
@click.option("--roles", is_flag=True, help="Remove the roles from the cluster as well.")
@click.option(
    "--dashboards",
    metavar="URL",
    help="Remove the dashboard from OpenSearch Dashboards or Kibana as well.",
)
@store_option
@json_option
def uninstall_command(
    dry_run: bool, roles: bool, dashboards: str | None, store_url: str, as_json: bool
) -> int:
    """Remove from a cluster what install put there; documents stay."""
    with open_for_command(store_url) as store:
        gone = (
            removing.uninstall_dashboards(store, dashboards, dry_run=dry_run) if dashboards else ()
        )
        done = removing.uninstall(store, dry_run=dry_run, roles=roles).plus(*gone)
    printing.installation(done, as_json, dry_run)
    return 0


@click.command("roles")
@click.argument("name", required=False, metavar="[searcher|indexer|admin]")
@store_option
def roles_command(name: str | None, store_url: str) -> int:
    """The roles that a secured cluster needs, as JSON that its security API takes; nothing is
    changed.
    """
    with open_for_command(store_url) as store:
        known = role_listing.roles(store)
    if name is None:
        click.echo(json.dumps(known, indent=2))
        return 0
    chosen = next((body for role, body in known.items() if role.endswith(f"-{name}")), None)
    if chosen is None:
        raise UsageError(f"there is no role {name!r}; choose one of: searcher, indexer, admin")
    click.echo(json.dumps(chosen, indent=2))
    return 0
