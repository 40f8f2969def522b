"""What export prints: how much was written, and who is to read what."""

from __future__ import annotations

import dataclasses

from rich.table import Table
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.exports.export import ExportResult
from indexer.text.visible import visible
from indexer.text.wording import count_of


def exported(done: ExportResult, as_json: bool) -> None:
    """What was written, and for batches the share of each reviewer."""
    if as_json:
        print_json(dataclasses.asdict(done))
        return
    out = console()
    records = count_of(done.records, "document" if done.what != "pairs" else "pair")
    told = f"report on {records}" if done.what == "report" else f"{done.what}: {records}"
    out.print(Text(f"{told} written to {visible(done.out)}"))
    if done.loads:
        table = Table(box=None, padding=(0, 2, 0, 0))
        for name in ("reviewer", "batches", "groups", "documents", "words"):
            table.add_column(name, justify="left" if name == "reviewer" else "right")
        for load in done.loads:
            numbers = (load.batches, load.groups, load.documents, load.words)
            table.add_row(
                Text(visible(load.reviewer) or "(nobody named)"),
                *(f"{number:,}" for number in numbers),
            )
        out.print(table)
    for note in done.notes:
        out.print(Text(f"note: {visible(note)}"))
