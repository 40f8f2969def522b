"""The command that makes a corpus with planted truth."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli import progress
from indexer.cli import tune_output as printing
from indexer.cli.options import json_option
from indexer.lab.synthesis.kinds import KINDS
from indexer.lab.synthesis.synth import DOCUMENTS, synth


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
    printing.synthesised(made, as_json)
    return 0
