"""Lines as copietje prints them, of the pairs of a store and of a database of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from indexer.cli.console import json_line
from indexer.cli.options import opened_out, refuse_all_but, unset_options
from indexer.errors import UsageError
from indexer.matching.copietje_database import LabelledMatches, match_database
from indexer.text.wording import join_names, unmistakable

DEFAULT_THRESHOLD = 0.5
_SHARED = ["threshold", "form", "out", "store_url", "memory", "as_json"]
_OPTIONS = frozenset(["minhashes", "false_negative_weight", *_SHARED])


def copietje_line(name: str, matches: Iterable[tuple[float, str]]) -> str:
    """Return the line of one document, given its matches, at least one, by similarity and name.

    >>> copietje_line("a", [(0.5, "b"), (0.9996, "c"), (0.9996, "d")])
    'a  # max 1.000 matches d, c, b\\n'
    """
    ranked = sorted(matches, reverse=True)
    others = join_names(other for _, other in ranked)
    return f"{unmistakable(name)}  # max {ranked[0][0]:.3f} matches {others}\n"


def print_database_lines(
    path: Path, threshold: float, weight: float, out: Path | None, form: str, as_json: bool
) -> int:
    """Print the lines of a database of copietje, or a JSON line for each pair; return 0.

    `form`: text and copietje are its lines, jsonl the pairs; `UsageError` for others.
    """
    refuse_all_but(_OPTIONS, "with --minhashes")
    if form not in ("text", "copietje", "jsonl"):
        raise UsageError(
            f"the pairs of a database of copietje are not written as {form}; they are its lines, "
            "or JSON with --format jsonl"
        )
    least = DEFAULT_THRESHOLD if unset_options(["threshold"]) else threshold
    is_json = as_json or form == "jsonl"
    documents = pairs = 0
    with opened_out(out) as file:
        for match in match_database(path, least, weight):
            file.write(_json_pairs(match) if is_json else copietje_line(match.uid, match.matches))
            documents, pairs = documents + 1, pairs + len(match.matches)
    if as_json:
        sys.stderr.write(json_line({"documents": documents, "pairs": pairs, "threshold": least}))
    return 0


def _json_pairs(document: LabelledMatches) -> str:
    """Return a line for each match of a document, with the fields of other pairs."""
    ranked = sorted(document.matches, reverse=True)
    return "".join(
        json_line({"a": document.uid, "b": other, "similarity": share, "measure": "estimate"})
        for share, other in ranked
    )
