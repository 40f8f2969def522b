"""`nearfold synth`: make a corpus with synthetic ground truth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli import progress
from indexer.cli.options import json_option, out_folder_option, seed_option
from indexer.cli.output import console, print_json
from indexer.defaults import SYNTH_DOCUMENTS, SYNTH_KINDS
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.lab.synthesis.synth import SynthResult


@click.command("synth")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@out_folder_option("A new folder for the corpus.")
@seed_option("Seed; the same seed makes the same files.")
@click.option(
    "--kinds", metavar="KIND,...", default="", help=f"Only these kinds: {', '.join(SYNTH_KINDS)}."
)
@click.option(
    "--documents",
    type=click.IntRange(2),
    default=SYNTH_DOCUMENTS,
    show_default=True,
    help="Maximum number of originals to use.",
)
@click.option(
    "--no-programs",
    is_flag=True,
    help="Do not make files with LibreOffice and Tesseract, whose bytes differ from run to run.",
)
@json_option
def synth_command(
    folder: Path, out: Path, seed: int, kinds: str, documents: int, no_programs: bool, as_json: bool
) -> int:
    """Make a corpus of near duplicates from the texts of a folder.

    The corpus has duplicates of every kind; gold.csv lists the true type of each pair.
    """
    from indexer.lab.synthesis.synth import SynthOptions, synth

    names = [name.strip() for name in kinds.split(",") if name.strip()]
    options = SynthOptions(seed, names, documents, programs=not no_programs)
    with progress.show_stages(as_json) as advance:
        result = synth(folder, out, options, progress=advance)
    _print_corpus(result, as_json)
    return 0


def _print_corpus(result: SynthResult, as_json: bool) -> None:
    """Print the pairs of a corpus by kind, and what could not be made."""
    from rich.table import Table

    from indexer.lab.synthesis.kinds import KINDS

    if as_json:
        print_json(asdict(result))
        return
    out = console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for kind, number in result.kinds.items():
        table.add_row(f"{number:,}", kind, KINDS[kind].type, KINDS[kind].meaning)
    out.print(table)
    pairs = count_of(sum(result.kinds.values()), "pair")
    files = count_of(result.files, "file")
    originals = count_of(result.originals, "original")
    out.print(f"\n{pairs} in {files}, of {originals}")
    for kind in result.absent:
        out.print(
            f"note: no {kind}: {KINDS[kind].meaning}, and that is not installed or not wanted"
        )
    for reason, number in result.passed.items():
        out.print(f"passed over: {count_of(number, 'file')}, {reason}")
    out.print(f"the truth: {visible(result.gold)}")
