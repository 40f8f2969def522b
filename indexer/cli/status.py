"""`nearfold status`: count documents of a store, list failures and jobs."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import (
    json_option,
    limit_option,
    open_for_command,
    refuse_options,
    store_option,
)
from indexer.cli.output import console, first_items, guessed_text, note, print_json, short_path
from indexer.errors import MissingExtra, UsageError
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.jobs.status import Overview
    from indexer.recipe import Recipe
    from indexer.stores.abilities import MaintainedStore
    from indexer.stores.journal import Failure, JobSummary


@click.command("status")
@click.option(
    "--failures",
    is_flag=True,
    help="Instead, list what could not be read or stored; --json prints one line for each.",
)
@click.option(
    "--jobs", is_flag=True, help="Instead, list the last jobs; --json prints one line for each."
)
@click.option(
    "--prometheus",
    is_flag=True,
    help="Instead, print metrics in the Prometheus text format.",
)
@limit_option
@store_option
@json_option
def status_command(
    store_url: str,
    as_json: bool,
    failures: bool,
    jobs: bool,
    prometheus: bool,
    limit: int | None,
) -> int:
    """Show document counts, failures and recent jobs of the store."""
    from indexer.jobs.status import status
    from indexer.stores.journal import job_history, journal_path

    if failures + jobs + prometheus > 1:
        raise UsageError("give only one of --failures, --jobs and --prometheus")
    with open_for_command(store_url) as store:
        if prometheus:
            click.echo(_statistics(store), nl=False)
            return 0
        if jobs:
            _print_jobs(job_history(journal_path(store.address)), limit, as_json)
        elif failures:
            _print_failures(status(store), limit, as_json)
        else:
            refuse_options(["limit"], "without --failures or --jobs")
            _print_status(status(store), as_json)
    return 0


def _statistics(store: MaintainedStore) -> bytes:
    """Return a store's numbers in Prometheus' text format.

    Raises `MissingExtra`, and `StoreError` when nothing was indexed yet.
    """
    try:
        from indexer.jobs.metrics import Statistics
    except ModuleNotFoundError as error:
        raise MissingExtra(package="prometheus-client", extra="metrics") from error
    return Statistics(store).text()


def _print_status(overview: Overview, as_json: bool) -> None:
    """Print how many documents the store has, by status and content type, and their size."""
    if as_json:
        print_json(_status_json(overview))
        return
    out = console()
    store = f" --store {overview.store}"
    counts = overview.counts
    parts = f" in {count_of(counts.parts, 'part')}" if counts.parts else ""
    size = f", {counts.size_bytes / 1e6:,.1f} MB" if counts.size_bytes is not None else ""
    documents = f"{count_of(counts.documents, 'document')}{parts}"
    recipe = f"recipe {overview.recipe.name} ({overview.recipe.id})"
    if overview.recipe.left_out:
        recipe += f" without the approved passages of list {overview.recipe.left_out}"
    out.print(f"{overview.store}: {documents}, {recipe}{size}")
    if overview.running:
        out.print("a job is at work on it")
    out.print(_tally("status", counts.by_status))
    out.print(_tally("content type", counts.by_content_type))
    if overview.guessed_encodings:
        out.print(f"  {guessed_text(overview.guessed_encodings)}")
    for unknown in overview.not_compared:
        out.print(f"  {unknown}")
    if overview.signed_earlier:
        out.print(
            f"{overview.signed_earlier:>10,}  fingerprinted by earlier statistics: "
            f"`nearfold reindex --recipe {overview.recipe.name}{store}` fingerprints them again"
        )
    if overview.without_principal:
        out.print(
            f"{overview.without_principal:>10,}  near-duplicate groups without their principal: "
            f"`nearfold group{store}` chooses others"
        )
    if overview.other_rules:
        out.print(
            f"near-duplicate groups are by the rules of another version: `nearfold group{store}` "
            "renews them"
        )
    if overview.waiting:
        out.print(
            f"{overview.waiting:>10,}  wait for a near-duplicate group: "
            f"`nearfold group{store}` puts them into one, and with --follow those that come later"
        )
    if overview.failed:
        out.print(
            f"{len(overview.failed):>10,}  failed: "
            f"`nearfold status --failures{store}` says why, `index --retry` tries again"
        )


def _recipe_json(recipe: Recipe) -> dict[str, str]:
    fields = {"name": recipe.name, "id": recipe.id}
    return {**fields, "left_out": recipe.left_out} if recipe.left_out else fields


def _status_json(overview: Overview) -> dict[str, Any]:
    counts = overview.counts
    return {
        "store": overview.store,
        "recipe": _recipe_json(overview.recipe),
        "documents": counts.documents,
        "parts": counts.parts,
        "families": counts.families,
        "families_relation": counts.families_relation,
        "status": counts.by_status,
        "signed_earlier": overview.signed_earlier,
        "without_principal": overview.without_principal,
        "waiting": overview.waiting,
        "other_rules": overview.other_rules,
        "content_types": counts.by_content_type,
        "guessed_encodings": dict(overview.guessed_encodings),
        "not_compared": list(map(dataclasses.asdict, overview.not_compared)),
        "failed": list(map(_failure_json, overview.failed)),
        "bytes": counts.size_bytes,
        "running": overview.running,
    }


def _print_failures(overview: Overview, limit: int | None, as_json: bool) -> None:
    """Print every file that could not be read or stored, one a line: time, id, path and reason."""
    for failure in first_items(overview.failed, limit, as_json):
        if as_json:
            print_json(_failure_json(failure))
            continue
        time = _iso_time(failure.at) or "long ago"
        id = "not read" if failure.unread else visible(failure.id)
        print(f"{time}  {id}  {short_path(failure.path)}: {visible(failure.error)}")
    if overview.running:
        note("a job is at work on the store: what failed is known when it ends", as_json)


def _failure_json(failure: Failure) -> dict[str, Any]:
    return {
        "id": None if failure.unread else failure.id,
        "path": failure.path,
        "error": failure.error,
        "at": _iso_time(failure.at),
    }


def _iso_time(at: float | None) -> str | None:
    """Return a time in seconds as ISO 8601 in UTC; None for None."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="seconds")


def _tally(title: str, numbers: dict[Any, int]) -> str:
    """Return a title and a line for each name, the most frequent first."""
    lines = [f"{'documents':>10}  {title}"]
    for name, number in sorted(numbers.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{number:>10,}  {visible(name)}")
    return "\n".join(lines)


def _print_jobs(jobs: tuple[JobSummary, ...], limit: int | None, as_json: bool) -> None:
    """Print the jobs of a store, the last one first."""
    from indexer.stores.journal import format_settings

    for job in first_items(jobs, limit, as_json):
        start = _iso_time(job.began)
        if as_json:
            fields: dict[str, Any] = {"job": job.id, "command": job.command, "began": start}
            fields |= {"seconds": job.seconds, "outcome": job.outcome, "counts": job.counts}
            fields["settings"] = job.settings
            print_json(fields)
            continue
        seconds = "" if job.seconds is None else f"  {job.seconds:,.1f} s"
        counts = [f"{number:,} {name.replace('_', ' ')}" for name, number in job.counts.items()]
        summary = f"  {', '.join(counts)}" if counts else ""
        options = visible(f"  {format_settings(job.settings)}") if job.settings else ""
        print(f"{start}  {job.id}  {job.command}  {job.outcome}{seconds}{summary}{options}")
