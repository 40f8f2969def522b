"""What status and doctor print: what is in a store, what failed, what its jobs did, what is wrong
and what was repaired.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from rich.table import Table
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.jobs.history import JobSummary
from indexer.jobs.journal import Failure
from indexer.operations.doctor import Check
from indexer.operations.repair import Repair
from indexer.operations.status import Overview
from indexer.text.visible import visible
from indexer.text.wording import count_of

_MARKS = {"good": "[green]ok[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}


def status(seen: Overview, as_json: bool) -> None:
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
                "failed": list(map(_failure, seen.failed)),
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


def failures(seen: Overview, as_json: bool) -> None:
    """Every file that could not be read or stored, one a line: when, id, path and reason."""
    for one in seen.failed:
        if as_json:
            print_json(_failure(one))
        else:
            id = "not read" if one.unread else visible(one.id)
            print(
                f"{_moment(one.at) or 'long ago'}  {id}  {visible(one.path)}: {visible(one.error)}"
            )
    if seen.running:
        print("a job is at work on the store: what failed is known when it ends", file=sys.stderr)


def _failure(one: Failure) -> dict[str, Any]:
    return {
        "id": None if one.unread else one.id,
        "path": one.path,
        "error": one.error,
        "at": _moment(one.at),
    }


def _moment(at: float | None) -> str | None:
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


def jobs(made: tuple[JobSummary, ...], as_json: bool) -> None:
    """The jobs of a store, the last one first."""
    for one in made:
        began = _moment(one.began)
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


def checks(made: Sequence[Check], as_json: bool) -> None:
    """The verdicts of `doctor`."""
    if as_json:
        print_json(
            {
                "checks": [
                    {"name": one.name, "verdict": one.verdict, "detail": one.detail} for one in made
                ]
            }
        )
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for one in made:
        table.add_row(_MARKS[one.verdict], one.name, Text(visible(one.detail)))
    console().print(table)


def repairs(made: Sequence[Repair], as_json: bool, dry_run: bool) -> bool:
    """What was found and mended; whether something is left that the same command without --dry-run
    would mend.
    """
    left = [one for one in made if not one.repaired and one.what != "provisional"]
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "repairs": [
                    {"what": one.what, "found": one.found, "repaired": one.repaired} for one in made
                ],
            }
        )
        return bool(left)
    for one in made:
        said = "repaired" if one.repaired else "note" if one not in left else "would be repaired"
        print(f"{said}  {one.what}: {visible(one.found)}")
    if not made:
        print("everything agrees with the documents")
    return bool(left)
