"""What synth and tune print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from indexer.cli.console import console, print_json
from indexer.lab.synthesis.kinds import KINDS
from indexer.lab.synthesis.synth import SynthResult
from indexer.lab.tuning.tune import TuneResult, as_json
from indexer.lab.tuning.tuning_files import REPORT
from indexer.text.visible import visible
from indexer.text.wording import count_of

LISTED = 10


def synthesised(made: SynthResult, json: bool) -> None:
    """The pairs of a corpus by kind, and what could not be made."""
    if json:
        print_json(asdict(made))
        return
    out = console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for kind, number in made.kinds.items():
        table.add_row(f"{number:,}", kind, KINDS[kind].type, KINDS[kind].meaning)
    out.print(table)
    pairs, files, originals = (
        sum(made.kinds.values()),
        count_of(made.files, "file"),
        count_of(made.originals, "original"),
    )
    out.print(f"\n{count_of(pairs, 'pair')} in {files}, of {originals}")
    for kind in made.absent:
        out.print(
            f"note: no {kind}: {KINDS[kind].meaning}, and that is not installed or not wanted"
        )
    for reason, number in made.passed.items():
        out.print(f"passed over: {count_of(number, 'file')}, {reason}")
    out.print(f"the truth: {visible(made.gold)}")


def tuned(made: TuneResult, out: Path, json: bool) -> None:
    """What to use and why, the best recipes, and where the report is."""
    if json:
        print_json({**as_json(made), "report": str(out / REPORT)})
        return
    screen, picked = console(), made.choice
    weight = "" if picked.weight is None else f", weight of false negatives {picked.weight:g}"
    screen.print(f"use {picked.recipe} with threshold {picked.threshold:g}{weight}")
    screen.print(f"  {picked.reason}")
    screen.print(f"  caution: {made.caution}\n" if made.caution else "")
    table = Table(
        "recipe",
        "fair F1",
        "best at",
        "F1",
        "own",
        "F1",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for one in sorted(made.results, key=lambda one: -(one.fair.f1 or 0.0))[:LISTED]:
        points = [
            text
            for at in (one.best, one.usual)
            for text in (f"{at.threshold:.3g}", f"{at.counts.f1 or 0.0:.3f}")
        ]
        table.add_row(one.recipe, f"{one.fair.f1 or 0.0:.3f}", *points)
    screen.print(table)
    told = f"{count_of(len(made.results), 'recipe')} on {count_of(made.pairs, 'pair')} of {count_of(made.documents, 'document')}"
    screen.print(f"\n{told}{f'; {made.kept} of them from an earlier run' if made.kept else ''}")
    for name, why in made.left_out.items():
        screen.print(f"not tried: {name}: {visible(why)}")
    screen.print(f"the report: {visible(str(out / REPORT))}")
