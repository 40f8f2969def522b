"""What study prints."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from indexer.cli.console import console, print_json
from indexer.lab.studies.findings import sentences
from indexer.lab.studies.methods import METHODS
from indexer.lab.studies.study import StudyResult
from indexer.lab.studies.study_files import REPORT, read_results
from indexer.text.visible import visible
from indexer.text.wording import count_of


def studied(made: StudyResult, out: Path, json: bool) -> None:
    """What was studied, the documents a signature by method and length, the findings, and where the
    report is.
    """
    if json:
        print_json({**read_results(made), "report": str(out / REPORT)})
        return
    screen, account = console(), made.account
    apart = (
        (account.failed, "could not be read"), (account.empty, "without text"), (account.copies, "copies"),
        (account.numbers_only, "of numbers alone"), (account.too_short, "under four characters"),
    )  # fmt: skip
    rest = "".join(f", {number:,} {name}" for number, name in apart if number)
    screen.print(f"{count_of(account.documents, 'document')}: {account.studied:,} studied{rest}\n")
    screen.print("documents a signature, itself included")
    table = Table(
        "bits", *(one.label for one in METHODS), box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    by = {(one.method, one.bits): f"{one.collisions:.3f}" for one in made.spreads}
    for bits in made.bits:
        table.add_row(str(bits), *(by.get((one.name, bits), "–") for one in METHODS))
    screen.print(table)
    screen.print()
    for one in sentences(made):
        screen.print(one)
    screen.print(f"\nthe report: {visible(str(out / REPORT))}")
