"""`nearfold uninstall`: remove from a cluster what install put there."""

from __future__ import annotations

import click

from indexer.cli.install import print_installation
from indexer.cli.options import dry_run_option, json_option, open_for_command, store_option


@click.command("uninstall")
@dry_run_option("Change nothing; print what would change.")
@click.option("--roles", is_flag=True, help="Also remove the roles from the cluster.")
@click.option(
    "--dashboards",
    metavar="URL",
    help="Also remove the dashboard from OpenSearch Dashboards or Kibana.",
)
@store_option
@json_option
def uninstall_command(
    dry_run: bool, roles: bool, dashboards: str | None, store_url: str, as_json: bool
) -> int:
    """Remove what install added to a cluster; documents stay."""
    from indexer.jobs.install import uninstall, uninstall_dashboards

    with open_for_command(store_url) as store:
        removed = uninstall_dashboards(store, dashboards, dry_run=dry_run) if dashboards else ()
        result = uninstall(store, dry_run=dry_run, roles=roles).plus(*removed)
    print_installation(result, as_json, dry_run)
    return 0
