"""`nearfold doctor`: check the set-up and say how to repair it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from indexer.cli.exit_codes import EXIT_STORE
from indexer.cli.options import dry_run_option, json_option, open_for_command, store_option
from indexer.cli.output import console, print_json
from indexer.errors import UsageError
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.jobs.doctor import Check
    from indexer.jobs.repair import Repair


_MARKS = {
    "good": ("ok", "green"),
    "note": ("note", "yellow"),
    "bad": ("bad", "red"),
}


@click.command("doctor")
@click.option(
    "--repair",
    is_flag=True,
    help="Read all documents and repair stored values that disagree with them.",
)
@dry_run_option("With --repair: change nothing; print what would be repaired.")
@store_option
@json_option
def doctor_command(store_url: str, as_json: bool, repair: bool, dry_run: bool) -> int:
    """Check the setup and suggest repairs."""
    from indexer.jobs.doctor import doctor

    if repair:
        is_unrepaired = _print_repairs(_repairs(store_url, dry_run), as_json, dry_run)
        return EXIT_STORE if is_unrepaired else 0
    if dry_run:
        raise UsageError("--dry-run is for --repair: without it nothing is changed")
    checks = doctor(store_url)
    _print_checks(checks, as_json)
    return EXIT_STORE if any(check.verdict == "bad" for check in checks) else 0


def _print_checks(checks: Sequence[Check], as_json: bool) -> None:
    """Print the verdicts of `doctor`."""
    from rich.text import Text

    if as_json:
        verdicts = [
            {"name": check.name, "verdict": check.verdict, "detail": check.detail}
            for check in checks
        ]
        print_json({"checks": verdicts})
        return
    out = console()
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark, style = _MARKS[check.verdict]
        line = Text.assemble((f"{mark:<6}", style), f"{check.name:<{width}}  ")
        out.print(line + Text(visible(check.detail)))


def _repairs(store_url: str, dry_run: bool) -> Sequence[Repair]:
    from indexer.jobs.repair import repair

    with open_for_command(store_url) as store:
        return repair(store, dry_run=dry_run)


def _print_repairs(repairs: Sequence[Repair], as_json: bool, dry_run: bool) -> bool:
    """Print what was found and repaired.

    Return whether something is left that the same command without --dry-run would repair.
    """
    from indexer.jobs.repair import REPORTED_ONLY

    left = [
        repair for repair in repairs if not repair.repaired and repair.what not in REPORTED_ONLY
    ]
    if as_json:
        fields = [
            {"what": repair.what, "found": repair.found, "repaired": repair.repaired}
            for repair in repairs
        ]
        print_json({"dry_run": dry_run, "repairs": fields})
        return bool(left)
    for repair in repairs:
        verdict = "would be repaired" if repair in left else "note"
        if repair.repaired:
            verdict = "repaired"
        print(f"{verdict}  {repair.what}: {visible(repair.found)}")
    if not repairs:
        print("everything agrees with the documents")
    return bool(left)
