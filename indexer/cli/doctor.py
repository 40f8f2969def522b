"""`nearfold doctor`: what is wrong with the set-up, and how to repair it."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.table import Table
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.cli.exit_codes import EXIT_STORE
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.errors import UsageError
from indexer.operations.doctor import Check, doctor
from indexer.operations.repair import Repair
from indexer.operations.repair import repair as repair_store
from indexer.text.visible import visible

_MARKS = {"good": "[green]ok[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}


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
                if _print_repairs(repair_store(store, dry_run=dry_run), as_json, dry_run)
                else 0
            )
    if dry_run:
        raise UsageError("--dry-run is for --repair: without it nothing is changed")
    checks = doctor(store_url)
    _print_checks(checks, as_json)
    return EXIT_STORE if any(check.verdict == "bad" for check in checks) else 0


def _print_checks(made: Sequence[Check], as_json: bool) -> None:
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


def _print_repairs(made: Sequence[Repair], as_json: bool, dry_run: bool) -> bool:
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
