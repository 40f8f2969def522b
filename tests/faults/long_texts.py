"""Memory of the largest hostile texts: one line of 50 MiB, ten million tokens alike, ten million
unalike, and letters with 40 marks each.

    python tests/faults/long_texts.py [TOKENS]

Each is fingerprinted in a process of its own. Printed are its characters, status, processor
seconds, and the peak of resident memory beyond what the process had before, on Linux; the program
ends with 1 when a text took more than 60 bytes a character and 200 MB.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from indexer.fingerprinting.fingerprint import fingerprint

TEXTS: dict[str, Callable[[int], str]] = {
    "one line": lambda tokens: "abcde " * (tokens * 5 // 6),
    "tokens alike": lambda tokens: "token " * tokens,
    "tokens unalike": lambda tokens: " ".join(map(str, range(tokens))) + " tokens",
    "letters and marks": lambda tokens: (
        ("e" + "\u0301" * 40) * (tokens // 8) + " letters and marks"
    ),
}


def resident_megabytes(line: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{line}:")[2].split()[0]) / 1024


def measure_text(name: str, tokens: int) -> tuple[int, str, float, float]:
    """Return characters, status, processor seconds, and megabytes beyond those of the text."""
    text = TEXTS[name](tokens)
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is counted anew
    before, started = resident_megabytes("VmRSS"), time.process_time()
    status = fingerprint(text).status
    seconds = time.process_time() - started
    return len(text), status, seconds, resident_megabytes("VmHWM") - before


def main() -> int:
    """Print the table; return 1 when a text took too much."""
    tokens, is_beyond = int((*sys.argv, "10000000")[1]), False
    print(f"{'text':18} {'characters':>12} {'status':>10} {'seconds':>8} {'MB':>7}")
    for name in TEXTS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            chars, status, seconds, megabytes = pool.apply(measure_text, (name, tokens))
        print(f"{name:18} {chars:12,} {status:>10} {seconds:8.2f} {megabytes:7.0f}")
        is_beyond |= megabytes > 60 * chars / 2**20 + 200
    return int(is_beyond)


if __name__ == "__main__":
    sys.exit(main())
