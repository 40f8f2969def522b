"""Exit codes and standard output of the commands, as docs/cli.md describes them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from indexer.errors import (
    ExtractionError,
    ExtractorUnavailable,
    NearfoldError,
    StoreError,
    StoreNotReady,
    StoreStopped,
    UsageError,
)
from indexer.wording import visible

if TYPE_CHECKING:
    from rich.console import Console


EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_STOPPED = 4
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
# The first class that fits decides: a subclass comes before its base class.
_CODES: tuple[tuple[type[NearfoldError], int], ...] = (
    (UsageError, EXIT_USAGE),
    (StoreStopped, EXIT_STOPPED),
    (StoreNotReady, EXIT_STOPPED),
    (StoreError, EXIT_STORE),
    (ExtractorUnavailable, EXIT_STORE),
    (ExtractionError, EXIT_FAILED),
)


def exit_code_of(error: NearfoldError) -> int:
    """Return the exit code of a command that ends with this error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), EXIT_FAULT)


LISTED = 50  # lines that are printed


def console() -> Console:
    """Return standard output; colours only on a terminal, `NO_COLOR` respected.

    Square brackets are text, as in `nearfold[web]`.
    """
    from rich.console import Console  # loads sixty modules, of which JSON needs none

    return Console(highlight=False, soft_wrap=True, markup=False)


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
