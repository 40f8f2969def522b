"""Pairs of a file of fingerprints, for `nearfold match --fingerprints`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from rich.console import Console

from indexer.cli.console import json_line
from indexer.cli.options import opened_out, refuse_all_but, unset_options
from indexer.errors import UsageError
from indexer.matching.fingerprint_lists import (
    BITS,
    FingerprintPair,
    match_fingerprints,
    read_fingerprints,
)
from indexer.sketch.blocks import DISTANCE, design_for
from indexer.sketch.distance import allowed_distance
from indexer.sketch.sketch_options import HAMMING
from indexer.text.visible import visible
from indexer.text.wording import count_of

_OPTIONS = frozenset(
    ["fingerprints", "tables", "threshold", "cap", "out", "memory", "store_url", "form", "as_json"]
)
_FORMS = "its pairs are written as text, or with --format jsonl"


def print_fingerprint_pairs(
    file: TextIO,
    threshold: float,
    cap: int,
    tables: int | None,
    out: Path | None,
    form: str,
    as_json: bool,
) -> int:
    """Print the pairs of a file of fingerprints, and how they were found; return 0.

    `form`: text or jsonl; `UsageError` for others, and for a file that is not UTF-8.
    """
    refuse_all_but(_OPTIONS, "with --fingerprints")
    if form not in ("text", "jsonl"):
        raise UsageError(f"a list of fingerprints has no rows of a store for {form}; {_FORMS}")
    try:
        fingerprints = read_fingerprints(file)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name} is not UTF-8 ({error.reason}); save it as such") from error
    least = 1 - DISTANCE / BITS if unset_options(["threshold"]) else threshold
    distance = allowed_distance(least)
    design = design_for(BITS, distance, tables)
    count = 0
    with opened_out(out) as target:
        for pair in match_fingerprints(fingerprints, distance, cap, tables):
            target.write(_text_pair(pair) if form == "text" and not as_json else _json_pair(pair))
            count += 1
    if as_json:
        counts = {"fingerprints": len(fingerprints.names), "pairs": count, "distance": distance}
        tables_used = {"tables": design.tables, "key_bits": design.key_bits}
        sys.stderr.write(json_line({**counts, "threshold": least, **tables_used}))
        return 0
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    notes.print(f"{count_of(count, 'pair')} in {count_of(len(fingerprints.names), 'fingerprint')}")
    notes.print(
        f"every pair within {count_of(distance, 'bit')}: {count_of(design.tables, 'table')} of "
        f"{design.key_bits} bits, {design.expected_candidates(1_000_000):,.3g} candidates of each "
        "among a million random ones"
    )
    return 0


def _text_pair(pair: FingerprintPair) -> str:
    return f"{pair.similarity:.3f}\t{visible(pair.a)}\t{visible(pair.b)}\n"


def _json_pair(pair: FingerprintPair) -> str:
    """Return a line with the fields of other pairs, and the number of different bits."""
    measured = {"similarity": pair.similarity, "measure": HAMMING, "distance": pair.distance}
    return json_line({"a": pair.a, "b": pair.b, **measured})
