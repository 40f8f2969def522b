"""What synth and tune print."""

from __future__ import annotations

from dataclasses import asdict

from rich.table import Table

from indexer.planting.corpus import Synthesised
from indexer.planting.kinds import KINDS
from indexer.printing import console, print_json
from indexer.terminal import counted, visible


def synthesised(made: Synthesised, as_json: bool) -> None:
    """The pairs of a corpus by kind, and what could not be made."""
    if as_json:
        print_json(asdict(made))
        return
    out = console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for kind, number in made.kinds.items():
        table.add_row(f"{number:,}", kind, KINDS[kind].type, KINDS[kind].meaning)
    out.print(table)
    pairs, files, originals = sum(made.kinds.values()), counted(made.files, "file"), counted(made.originals, "original")
    out.print(f"\n{counted(pairs, 'pair')} in {files}, of {originals}")
    for kind in made.absent:
        out.print(f"note: no {kind}: {KINDS[kind].meaning}, and that is not installed or not wanted")
    for reason, number in made.passed.items():
        out.print(f"passed over: {counted(number, 'file')}, {reason}")
    out.print(f"the truth: {visible(made.gold)}")
