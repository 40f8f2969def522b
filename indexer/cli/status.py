"""The commands on the state of a store: status, doctor."""

from __future__ import annotations

import click

from indexer.cli import status_output as printing
from indexer.cli.exit_codes import EXIT_STORE
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.errors import MissingExtra, UsageError
from indexer.jobs.history import job_history
from indexer.jobs.journal import journal_path
from indexer.operations import doctor as checkup
from indexer.operations import repair as repairing
from indexer.operations import status as overview
from indexer.stores.base import Store


@click.command("status")
@click.option(
    "--failures",
    is_flag=True,
    help="List what could not be read or stored instead, with --json as lines.",
)
@click.option(
    "--jobs", is_flag=True, help="List what the last jobs did instead, with --json as lines."
)
@click.option(
    "--prometheus",
    is_flag=True,
    help="Print the figures for monitoring instead, in Prometheus' text format.",
)
@store_option
@json_option
def status_command(
    store_url: str, as_json: bool, failures: bool, jobs: bool, prometheus: bool
) -> int:
    """What is in the store, and what could not be."""
    with open_for_command(store_url) as store:
        if prometheus:
            click.echo(_figures(store), nl=False)
            return 0
        if jobs:
            printing.jobs(job_history(journal_path(store.address)), as_json)
            return 0
        (printing.failures if failures else printing.status)(overview.status(store), as_json)
    return 0


@click.command("doctor")
@click.option(
    "--repair", is_flag=True, help="Read all documents and repair what does not agree with them."
)
@click.option(
    "--dry-run", is_flag=True, help="With --repair: change nothing; print what would be repaired."
)
@store_option
@json_option
def doctor_command(store_url: str, as_json: bool, repair: bool, dry_run: bool) -> int:
    """What is wrong with the set-up, and how to mend it."""
    if repair:
        with open_for_command(store_url) as store:
            return (
                EXIT_STORE
                if printing.repairs(repairing.repair(store, dry_run=dry_run), as_json, dry_run)
                else 0
            )
    if dry_run:
        raise UsageError("--dry-run is for --repair: without it nothing is changed")
    checks = checkup.doctor(store_url)
    printing.checks(checks, as_json)
    return EXIT_STORE if any(check.verdict == "bad" for check in checks) else 0


def _figures(store: Store) -> bytes:
    """A store's figures in Prometheus' text format. Raises `MissingExtra`, and `StoreError` when
    nothing was indexed yet.
    """
    try:
        from indexer.operations.metrics import Figures
    except ModuleNotFoundError as error:
        raise MissingExtra(package="prometheus-client", extra="metrics") from error
    return Figures(store).text()
