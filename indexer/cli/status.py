"""`nearfold status`: what is in a store, what failed, what its jobs did."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from typing import Any

import click

from indexer.cli.console import console, print_json
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.errors import MissingExtra
from indexer.jobs.history import JobSummary, job_history
from indexer.jobs.journal import Failure, journal_path
from indexer.operations.status import Overview, status
from indexer.stores.base import Store
from indexer.text.visible import visible
from indexer.text.wording import count_of


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
            _print_jobs(job_history(journal_path(store.address)), as_json)
            return 0
        report = _print_failures if failures else _print_status
        report(status(store), as_json)
    return 0


def _figures(store: Store) -> bytes:
    """A store's figures in Prometheus' text format. Raises `MissingExtra`, and `StoreError` when
    nothing was indexed yet.
    """
    try:
        from indexer.operations.metrics import Figures
    except ModuleNotFoundError as error:
        raise MissingExtra(package="prometheus-client", extra="metrics") from error
    return Figures(store).text()


def _print_status(seen: Overview, as_json: bool) -> None:
    """What is in the store."""
    counts = seen.counts
    if as_json:
        print_json(
            {
                "store": seen.store,
                "recipe": {"name": seen.recipe.name, "id": seen.recipe.id},
                "documents": counts.documents,
                "parts": counts.parts,
                "families": counts.families,
                "status": counts.by_status,
                "content_types": counts.by_content_type,
                "failed": list(map(_failure_json, seen.failed)),
                "bytes": counts.size_bytes,
                "running": seen.running,
            }
        )
        return
    out = console()
    parts = f" in {count_of(counts.parts, 'part')}" if counts.parts else ""
    size = f", {counts.size_bytes / 1e6:,.1f} MB" if counts.size_bytes is not None else ""
    out.print(
        f"{seen.store}: {count_of(counts.documents, 'document')}{parts}, recipe {seen.recipe.name} ({seen.recipe.id}){size}"
    )
    if seen.running:
        out.print("a job is at work on it")
    out.print(_tally("status", counts.by_status))
    out.print(_tally("content type", counts.by_content_type))
    if seen.failed:
        out.print(
            f"{len(seen.failed):>10,}  failed: `nearfold status --failures` says why, `index --retry` tries again"
        )


def _print_failures(seen: Overview, as_json: bool) -> None:
    """Every file that could not be read or stored, one a line: when, id, path and reason."""
    for one in seen.failed:
        if as_json:
            print_json(_failure_json(one))
        else:
            id = "not read" if one.unread else visible(one.id)
            print(
                f"{_iso_time(one.at) or 'long ago'}  {id}  {visible(one.path)}: {visible(one.error)}"
            )
    if seen.running:
        print("a job is at work on the store: what failed is known when it ends", file=sys.stderr)


def _failure_json(one: Failure) -> dict[str, Any]:
    return {
        "id": None if one.unread else one.id,
        "path": one.path,
        "error": one.error,
        "at": _iso_time(one.at),
    }


def _iso_time(at: float | None) -> str | None:
    """A time in seconds as ISO 8601 in UTC."""
    return (
        None
        if at is None
        else datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="seconds")
    )


def _tally(title: str, numbers: dict[Any, int]) -> str:
    rows = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(
        [
            f"{'documents':>10}  {title}",
            *(f"{number:>10,}  {visible(name)}" for name, number in rows),
        ]
    )


def _print_jobs(made: tuple[JobSummary, ...], as_json: bool) -> None:
    """The jobs of a store, the last one first."""
    for one in made:
        began = _iso_time(one.began)
        if as_json:
            values = {"job": one.id, "command": one.command, "began": began, "seconds": one.seconds}
            print_json({**values, "outcome": one.outcome, "counts": one.counts})
        else:
            took = "" if one.seconds is None else f"  {one.seconds:,.1f} s"
            counts = ", ".join(
                f"{number:,} {name.replace('_', ' ')}" for name, number in one.counts.items()
            )
            print(
                f"{began}  {one.id}  {one.command}  {one.outcome}{took}{counts and f'  {counts}'}"
            )
