"""Pairs of a file of fingerprints, for `nearfold match --fingerprints`."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from rich.console import Console

from indexer.cli.options import opened_out, refuse_all_but, unset_options
from indexer.matching.fingerprint_lists import BITS, match_fingerprints, read_fingerprints
from indexer.sketch.blocks import DISTANCE, design_for
from indexer.sketch.distance import allowed_distance
from indexer.text.visible import visible
from indexer.text.wording import count_of


def print_fingerprint_pairs(
    file: TextIO, threshold: float, cap: int, tables: int | None, out: Path | None
) -> int:
    """Print the pairs of a file of fingerprints, and how they were found; return 0."""
    refuse_all_but(
        {"fingerprints", "tables", "threshold", "cap", "out", "memory", "store_url"},
        "with --fingerprints",
    )
    fingerprints = read_fingerprints(file)
    least = 1 - DISTANCE / BITS if unset_options(["threshold"]) else threshold
    distance = allowed_distance(least)
    design = design_for(BITS, distance, tables)
    count = 0
    with opened_out(out) as target:
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
