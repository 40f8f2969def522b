"""Where the commands print: standard output as lines for people, or one JSON document."""

from __future__ import annotations

import json
import sys

from rich.console import Console


def console() -> Console:
    """Standard output; colours only on a terminal, `NO_COLOR` respected."""
    return Console(highlight=False, soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON document on one line of stdout; what is not valid Unicode is written as escapes."""
    sys.stdout.write(
        json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
    )
