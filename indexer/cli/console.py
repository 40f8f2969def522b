"""Where the commands print: standard output as lines for people, or one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from indexer.text.visible import visible

LISTED = 50


def console() -> Console:
    """Standard output; colours only on a terminal, `NO_COLOR` respected."""
    return Console(highlight=False, soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON document on one line of stdout; what is not valid Unicode is written as escapes."""
    sys.stdout.write(
        json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
    )


def print_lines(lines: Iterable[str]) -> None:
    """Print the first `LISTED` lines, and how many there are beyond them."""
    every = list(lines)
    out = console()
    for line in every[:LISTED]:
        out.print(Text(visible(line)))
    if len(every) > LISTED:
        out.print(f"  ... and {len(every) - LISTED:,} more; --json lists all")
