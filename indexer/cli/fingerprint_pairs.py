"""Pairs of a file of fingerprints, for `nearfold match --fingerprints`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console

from indexer.cli.options import refuse_options
from indexer.defaults import REVIEW
from indexer.matching.fingerprint_lists import BITS, match_fingerprints, read_fingerprints
from indexer.sketch.blocks import DISTANCE, design_for
from indexer.sketch.distance import allowed_distance
from indexer.system.whole_file import check_place, write_whole
from indexer.text.visible import visible
from indexer.text.wording import count_of


def _refuse_store_options() -> None:
    """Refuse options of the command line that go with a store alone."""
    context = click.get_current_context()
    taken = {"fingerprints", "tables", "threshold", "cap", "out", "memory", "store_url"}
    refuse_options(sorted(context.params.keys() - taken), "with --fingerprints")


def print_fingerprint_pairs(
    file: TextIO, threshold: float, cap: int, tables: int | None, out: Path | None
) -> int:
    """Print the pairs of a file of fingerprints, and how they were found; return 0."""
    _refuse_store_options()
    fingerprints = read_fingerprints(file)
    least = 1 - DISTANCE / BITS if threshold == REVIEW else threshold
    distance = allowed_distance(least)
    design = design_for(BITS, distance, tables)
    count = 0
    with contextlib.ExitStack() as opened:
        target = sys.stdout
        if out is not None:
            check_place(out)
            part = opened.enter_context(write_whole(out))
            target = opened.enter_context(part.open("w", encoding="utf-8", errors="replace"))
        for pair in match_fingerprints(fingerprints, distance, cap, tables):
            names = f"{visible(pair.a)}\t{visible(pair.b)}"
            target.write(f"{pair.similarity:.3f}\t{names}\n")
            count += 1
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    notes.print(f"{count_of(count, 'pair')} in {count_of(len(fingerprints.names), 'fingerprint')}")
    notes.print(
        f"every pair within {count_of(distance, 'bit')}: {count_of(design.tables, 'table')} of "
        f"{design.key_bits} bits, {design.expected_candidates(1_000_000):,.3g} candidates of each "
        "among a million random ones"
    )
    return 0
