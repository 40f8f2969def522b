"""Cost of the largest hostile texts: one line of 50 MiB, ten million tokens alike, ten million
unalike, and of marks alone.

    python benchmarks/hostile.py [--tokens 10000000]

Each is fingerprinted in a process of its own. Printed are its characters, status, seconds, and the
most resident memory beyond what the process had before, on Linux; the program ends with 1 when a
text took more than 60 bytes a character and 200 MB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from indexer.sketch.fingerprint import fingerprint

BYTES_A_CHAR, BYTES = 60, 200 << 20
TEXTS: dict[str, Callable[[int], str]] = {
    "one line": lambda tokens: "abcde " * (tokens * 5 // 6),
    "tokens alike": lambda tokens: "token " * tokens,
    "tokens unalike": lambda tokens: " ".join(map(str, range(tokens))) + " tokens",
    "letters and marks": lambda tokens: (
        ("e" + "\u0301" * 40) * (tokens // 8) + " letters and marks"
    ),
}


def measure_text(name: str, tokens: int) -> tuple[int, str, float, int]:
    """Characters, status, seconds of CPU time, and bytes of memory beyond those of the text
    itself.
    """
    text = TEXTS[name](tokens)
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is counted anew
    before, started = _peak(), time.process_time()
    status = fingerprint(text).status
    return len(text), status, time.process_time() - started, _peak() - before


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def main() -> int:
    """Print the table; 1 when a text took too much."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=10_000_000)
    tokens, beyond = parser.parse_args().tokens, False
    print(f"{'text':18} {'characters':>12} {'status':>10} {'seconds':>8} {'MB':>7}")
    for name in TEXTS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            chars, status, seconds, memory = pool.apply(measure_text, (name, tokens))
        print(f"{name:18} {chars:12,} {status:>10} {seconds:8.2f} {memory / (1 << 20):7.0f}")
        beyond |= memory > BYTES_A_CHAR * chars + BYTES
    return int(beyond)


if __name__ == "__main__":
    sys.exit(main())
