"""`nearfold serve`: serve the review pages."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from indexer.cli.exit_codes import EXIT_FAULT
from indexer.cli.options import coding_options, open_for_command, port_option, store_option
from indexer.errors import UsageError

if TYPE_CHECKING:
    from indexer.coding import CodingField, CodingRule
    from indexer.review.serve import ServeOptions


@click.command("serve")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; clients on other machines must log in.",
)
@port_option(8765)
@click.option(
    "--originals",
    type=click.Path(exists=True, file_okay=False),
    metavar="ROOT",
    help="Show original files from inside this folder on the pages, and offer them for download.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME",
    help="Also accept requests for this host name, behind a proxy; readers must log in then.",
)
@click.option(
    "--auth",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Require a login from this file, even on this machine.",
)
@click.option(
    "--auth-header",
    default="",
    metavar="NAME",
    help="Take the user name from this header, which a proxy on this machine sets. Without "
    "--auth-secret, any process on this machine can set it.",
)
@click.option(
    "--auth-secret",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Trust --auth-header only if the header X-Nearfold-Proxy has the content of FILE.",
)
@click.option(
    "--add-login",
    metavar="NAME",
    help="Prompt for a password, write the login to the file of --auth, and exit.",
)
@click.option(
    "--role",
    type=click.Choice(("reviewer", "reader")),
    default="reviewer",
    show_default=True,
    help="With --add-login: role of the user; a reader cannot label.",
)
@click.option(
    "--reviewer", default="", metavar="NAME", help="Reviewer name for labels made without a login."
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="Label for the keys 1 to 9, in this order (default: the labels of the store).",
)
@coding_options
@click.option(
    "--matter",
    default="",
    metavar="NAME",
    help="Name of the matter, for pages and reports; kept in the store.",
)
@click.option(
    "--tls-cert",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Serve HTTPS with this certificate.",
)
@click.option(
    "--tls-key",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Private key of the certificate.",
)
@click.option(
    "--search-log",
    type=click.IntRange(1, 3650),
    metavar="DAYS",
    help="Log searches to an index of their own and keep them for this many days, for dashboards: "
    "numbers of hits and groups, no words.",
)
@click.option(
    "--log-queries", is_flag=True, help="With --search-log: also log the words of searches."
)
@click.option(
    "--memory",
    type=click.IntRange(64),
    default=1024,
    show_default=True,
    metavar="MB",
    help="Resident memory above which the server empties its caches.",
)
@store_option
def serve_command(
    store_url: str,
    add_login: str | None,
    role: str,
    fields: tuple[CodingField, ...],
    rules: tuple[CodingRule, ...],
    **options: Any,
) -> int:
    """Serve the review pages to a browser.

    The pages offer search, near-duplicate groups, comparisons and an overview.

    Coding fields and rules are kept in the store.

    With --host or --allow-host a login is required: one from --auth, or any name with the password
    that is printed.
    """
    from indexer.jobs.review_file import define_coding
    from indexer.review.serve import serve

    if add_login is not None:
        return _add_login(options["auth"], add_login, role)
    settings = _settings(**options)

    def ready(address: str, password: str) -> None:
        login = f"; any name, password {password}" if password else ""
        click.echo(f"nearfold serves {store_url} at {address}  (Ctrl-C ends it{login})")

    code = 0
    with open_for_command(store_url) as store:
        if fields or rules:
            define_coding(store, fields, rules)
        try:
            serve(store, settings, ready)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else EXIT_FAULT
    return _exit(code)


def _exit(code: int) -> NoReturn:
    """End the process at once: threads may still read the store during requests.

    The interpreter would end them in the middle of compiled code, which aborts the process.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _settings(tls_cert: str | None, tls_key: str | None, **options: Any) -> ServeOptions:
    """Return the options of the server, with a warning where passwords can be read."""
    from indexer.review.safety import is_loopback
    from indexer.review.serve import ServeOptions

    if (tls_cert is None) != (tls_key is None):
        raise UsageError("give --tls-cert and --tls-key together")
    tls = (tls_cert, tls_key) if tls_cert is not None and tls_key is not None else None
    if tls is None and not is_loopback(options["host"]):
        click.echo(
            "warning: passwords and texts go over the network as they are; give --tls-cert and "
            "--tls-key, or put a proxy before it that serves HTTPS",
            err=True,
        )
    return ServeOptions(tls=tls, **options)


def _add_login(file: str | None, name: str, role: str) -> int:
    """Ask for a password and write the login."""
    from indexer.review.access import add_account

    if file is None:
        raise UsageError("--add-login needs the file: --auth FILE")
    password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    add_account(Path(file), name, "reader" if role == "reader" else "reviewer", password)
    click.echo(f"{file} has a login for {name}")
    return 0
