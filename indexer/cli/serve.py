"""`nearfold serve`: serve the review pages."""

from __future__ import annotations

import click

from indexer.cli.options import open_for_command, port_option, store_option
from indexer.errors import MissingExtra


@click.command("serve")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; there is no password.",
)
@port_option(8765)
@click.option(
    "--originals",
    type=click.Path(exists=True, file_okay=False),
    metavar="ROOT",
    help="Let clients fetch files inside this folder, by the id of their document.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME",
    help="Answer to this name too, behind a proxy.",
)
@store_option
def serve_command(
    host: str, port: int, originals: str | None, allow_hosts: tuple[str, ...], store_url: str
) -> int:
    """Serve review pages for a browser. They show search, families, comparisons and an overview."""
    try:
        from indexer.web.serve import is_loopback, serve
    except ModuleNotFoundError as error:
        raise MissingExtra(package=str(error.name), extra="web") from error
    if not is_loopback(host):
        click.echo(
            f"warning: everybody who reaches {host} can read every document; there is no password",
            err=True,
        )
    with open_for_command(store_url) as store:
        serve(
            store,
            host=host,
            port=port,
            originals=originals,
            allow_hosts=allow_hosts,
            ready=lambda address: click.echo(
                f"nearfold serves {store_url} at {address}  (Ctrl-C ends it)"
            ),
        )
    return 0
