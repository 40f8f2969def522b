"""Lines as copietje prints them, of the pairs of a store and of a database of its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from indexer.cli.options import opened_out, refuse_all_but, unset_options
from indexer.matching.copietje_database import match_database
from indexer.text.wording import join_names, unmistakable

DEFAULT_THRESHOLD = 0.5


def copietje_line(name: str, matches: Iterable[tuple[float, str]]) -> str:
    """Return the line of one document, given its matches, at least one, by similarity and name.

    >>> copietje_line("a", [(0.5, "b"), (0.9996, "c"), (0.9996, "d")])
    'a  # max 1.000 matches d, c, b\\n'
    """
    ranked = sorted(matches, reverse=True)
    others = join_names(other for _, other in ranked)
    return f"{unmistakable(name)}  # max {ranked[0][0]:.3f} matches {others}\n"


def print_database_lines(path: Path, threshold: float, weight: float, out: Path | None) -> int:
    """Print the lines of a database of copietje; return 0."""
    refuse_all_but(
        {"minhashes", "threshold", "false_negative_weight", "form", "out", "store_url", "memory"},
        "with --minhashes",
    )
    least = DEFAULT_THRESHOLD if unset_options(["threshold"]) else threshold
    with opened_out(out) as file:
        for match in match_database(path, least, weight):
            file.write(copietje_line(match.uid, match.matches))
    return 0
