"""What is printed of jobs: one line each, or JSON Lines."""

from __future__ import annotations

from datetime import datetime, timezone

from indexer.jobhistory import JobSummary
from indexer.printing import print_json


def jobs(made: tuple[JobSummary, ...], as_json: bool) -> None:
    """The jobs of a store, the last one first."""
    for one in made:
        began = datetime.fromtimestamp(one.began, timezone.utc).isoformat(timespec="seconds")
        if as_json:
            values = {"job": one.id, "command": one.command, "began": began, "seconds": one.seconds}
            print_json({**values, "outcome": one.outcome, "counts": one.counts})
        else:
            took = "" if one.seconds is None else f"  {one.seconds:,.1f} s"
            counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in one.counts.items())
            print(f"{began}  {one.id}  {one.command}  {one.outcome}{took}{counts and f'  {counts}'}")
