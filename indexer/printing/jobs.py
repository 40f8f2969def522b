"""What is printed of jobs: one line each, or JSON Lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from indexer.jobhistory import JobSummary
from indexer.printing.console import print_json
from indexer.repairing import Repair
from indexer.terminal import visible


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


def repairs(made: Sequence[Repair], as_json: bool, dry_run: bool) -> bool:
    """What was found and mended; whether something is left that the same command without --dry-run would mend."""
    left = [one for one in made if not one.mended and one.what != "provisional"]
    if as_json:
        print_json(
            {"dry_run": dry_run, "repairs": [{"what": one.what, "found": one.found, "mended": one.mended} for one in made]}
        )
        return bool(left)
    for one in made:
        said = "mended" if one.mended else "note" if one not in left else "would be mended"
        print(f"{said}  {one.what}: {visible(one.found)}")
    if not made:
        print("everything agrees with the documents")
    return bool(left)
