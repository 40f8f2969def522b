"""`nearfold roles`: print the roles that a secured cluster needs."""

from __future__ import annotations

import json

import click

from indexer.cli.options import open_for_command, store_option
from indexer.errors import UsageError


@click.command("roles")
@click.argument("name", required=False, metavar="[searcher|indexer|admin]")
@store_option
def roles_command(name: str | None, store_url: str) -> int:
    """Print the roles that a secured cluster needs. The output is JSON for its security API."""
    from indexer.jobs.install import roles

    with open_for_command(store_url) as store:
        bodies = roles(store)
    if name is None:
        click.echo(json.dumps(bodies, indent=2))
        return 0
    chosen = next((body for role, body in bodies.items() if role.endswith(f"-{name}")), None)
    if chosen is None:
        raise UsageError(f"there is no role {name!r}; choose one of: searcher, indexer, admin")
    click.echo(json.dumps(chosen, indent=2))
    return 0
