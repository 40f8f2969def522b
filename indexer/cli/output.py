"""Standard output of the commands, as docs/cli.md describes it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from rich.console import Console


LISTED = 50  # lines that are printed


def console(stderr: bool = False) -> Console:
    """Return standard output, or stderr; colours only on a terminal, `NO_COLOR` respected.

    Square brackets are text, as in `nearfold[web]`.
    """
    from rich.console import Console  # loads sixty modules, of which JSON needs none

    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False)


def short_path(path: str) -> str:
    """Return a path as it is printed: relative to the working folder if it is below it."""
    return visible(path.removeprefix(os.path.join(os.getcwd(), "")))  # noqa: PTH109, PTH118 - speed


def json_line(value: object) -> str:
    """Return a JSON document as one line; a lone surrogate becomes `?`."""
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode() + "\n"


def print_json(value: object) -> None:
    """Print one JSON document on one line of stdout."""
    sys.stdout.write(json_line(value))


def print_lines(lines: Iterable[str]) -> None:
    """Print the first `LISTED` lines, and the number of lines beyond them."""
    from rich.text import Text

    all_lines = list(lines)
    out = console()
    for line in all_lines[:LISTED]:
        out.print(Text(visible(line)))
    if len(all_lines) > LISTED:
        out.print(f"  ... and {len(all_lines) - LISTED:,} more; --json lists all")


def guessed_text(encodings: Mapping[str, int]) -> str:
    """Return how many documents are not UTF-8, by the encoding in which they were read.

    >>> guessed_text({"cp1252": 1200, "johab": 1})
    '1,201 documents not in UTF-8, read in an encoding that is a guess: cp1252 (1,200), johab (1)'
    """
    documents = count_of(sum(encodings.values()), "document")
    names = ", ".join(f"{visible(name)} ({count:,})" for name, count in sorted(encodings.items()))
    return f"{documents} not in UTF-8, read in an encoding that is a guess: {names}"
