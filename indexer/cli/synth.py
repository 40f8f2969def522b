"""`nearfold synth`: make a corpus with synthetic ground truth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from indexer.cli import progress
from indexer.cli.console import console, print_json
from indexer.cli.options import json_option
from indexer.lab.synthesis.kinds import KINDS
from indexer.lab.synthesis.synth import DOCUMENTS, SynthResult, synth
from indexer.text.visible import visible
from indexer.text.wording import count_of


@click.command("synth")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A new folder for the corpus.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The same seed makes the same files."
)
@click.option("--kinds", metavar="KIND,...", default="", help=f"Only these: {', '.join(KINDS)}.")
@click.option(
    "--documents",
    type=click.IntRange(2),
    default=DOCUMENTS,
    show_default=True,
    help="Originals at most.",
)
@click.option(
    "--no-programs",
    is_flag=True,
    help="Nothing by LibreOffice and Tesseract, whose bytes differ from run to run.",
)
@json_option
def synth_command(
    folder: Path, out: Path, seed: int, kinds: str, documents: int, no_programs: bool, as_json: bool
) -> int:
    """Plant near duplicates of every kind in texts of a folder, with the truth about each pair in
    gold.csv.
    """
    wanted = [one.strip() for one in kinds.split(",") if one.strip()]
    with progress.of_stages() as advance:
        made = synth(
            folder,
            out,
            seed=seed,
            kinds=wanted,
            documents=documents,
            programs=not no_programs,
            progress=advance,
        )
    _print_corpus(made, as_json)
    return 0


def _print_corpus(made: SynthResult, json: bool) -> None:
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
