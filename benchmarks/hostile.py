"""Cost of the largest hostile texts: one line of 50 MiB, ten million tokens alike, ten million
unalike, and of marks alone.

    python benchmarks/hostile.py [--tokens 10000000]

Each is fingerprinted in a process of its own. Printed are its characters, status, processor
seconds, and the peak of resident memory beyond what the process had before, on Linux; the program
ends with 1 when a text took more than 60 bytes a character and 200 MB.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable

from harness import Watch, arguments

from indexer.fingerprinting.fingerprint import fingerprint

MARKED = "e" + "\u0301" * 40
TEXTS: dict[str, Callable[[int], str]] = {
    "one line": lambda tokens: "abcde " * (tokens * 5 // 6),
    "tokens alike": lambda tokens: "token " * tokens,
    "tokens unalike": lambda tokens: " ".join(map(str, range(tokens))) + " tokens",
    "letters and marks": lambda tokens: MARKED * (tokens // 8) + " letters and marks",
}


def measure_text(name: str, tokens: int) -> tuple[int, str, float, float]:
    """Return characters, status, processor seconds, and megabytes beyond those of the text."""
    text = TEXTS[name](tokens)
    with Watch() as watch:
        status = fingerprint(text).status
    return len(text), status, watch.busy, watch.resident


def main() -> int:
    """Print the table; return 1 when a text took too much."""
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=10_000_000)
    tokens, is_beyond = parser.parse_args().tokens, False
    print(f"{'text':18} {'characters':>12} {'status':>10} {'seconds':>8} {'MB':>7}")
    for name in TEXTS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            chars, status, seconds, megabytes = pool.apply(measure_text, (name, tokens))
        print(f"{name:18} {chars:12,} {status:>10} {seconds:8.2f} {megabytes:7.0f}")
        is_beyond |= megabytes > 60 * chars / 2**20 + 200
    return int(is_beyond)


if __name__ == "__main__":
    sys.exit(main())
