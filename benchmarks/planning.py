"""The memory, disk and hours to plan for a number of documents: the table of docs/operating.md.

    python benchmarks/planning.py [--documents 10000,100000] [--words 700] [--opensearch]
        [--folder DIR]

Texts of so many words (700 take about 4 kB), half of them in families of edited copies, are written
as JSON Lines. Then `nearfold index --no-families`, `group` and `match` run, each a command of its
own, on a new SQLite file, or in an OpenSearch with 2 GB of heap that is started for the run. The
table has the processor hours of each (with an engine, which works beside it, the hours that pass),
the largest memory of one of its processes, and the bytes of the store (of an engine in one segment
and without replicas). Below the measured sizes are those that follow from the growth between the
two largest, marked as extrapolated.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from engine_lab import merge_segments, server
from quality_tables import head, row
from synthetic_collections import random_texts

from indexer import open_store

ROOT = Path(__file__).parent.parent
BATCH = 10_000  # texts that are made at once
EXTRAPOLATED = (10**6, 10**7, 10**8)
COLUMNS = (
    "documents",
    "text, GB",
    "store, GB",
    "index, hours",
    "group, hours",
    "match, hours",
    "memory, GB",
)


@dataclass(frozen=True)
class Cost:
    """The cost of one size: bytes of the texts and of the store, hours of the three commands, and
    the largest memory of one of their processes in bytes.
    """

    documents: int
    text: float
    store: float
    index: float
    group: float
    match: float
    memory: float

    def cells(self) -> list[str]:
        """Return the cells of this size: GB, and hours."""
        sizes = [f"{bytes_ / 1e9:,.2f}" for bytes_ in (self.text, self.store)]
        hours = [f"{hours:,.2f}" for hours in (self.index, self.group, self.match)]
        return [f"{self.documents:,}", *sizes, *hours, f"{self.memory / 1e9:,.2f}"]


def write_texts(file: Path, documents: int, words: int) -> None:
    """Write so many texts as JSON Lines."""
    random = np.random.default_rng(1)
    with file.open("w", encoding="utf-8") as out:
        for start in range(0, documents, BATCH):
            for text in random_texts(min(BATCH, documents - start), words, random):
                print(json.dumps({"text": text}), file=out)


def run(*words: str) -> tuple[float, float, int]:
    """Run a command of nearfold; return its processor seconds, the seconds that passed, and its
    largest memory in bytes.
    """
    command = [sys.executable, "-m", "indexer", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"nearfold {' '.join(words)} ended with {process.returncode}")
    busy = usage.ru_utime + usage.ru_stime
    elapsed = time.monotonic() - started
    print(f"  {words[0]}: {elapsed:,.0f} s, {busy:,.0f} s busy", file=sys.stderr)
    return busy, elapsed, usage.ru_maxrss * 1024


def measure(documents: int, words: int, folder: Path, url: str) -> Cost:
    """Return the cost of one size in a new store."""
    file = folder / f"{documents}.jsonl"
    write_texts(file, documents, words)
    print(f"{documents:,} documents", file=sys.stderr)
    runs = [
        run("index", str(file), "--no-families", "--store", url),
        run("group", "--store", url),
        run("match", "--out", os.devnull, "--store", url),
    ]
    store = open_store(url)
    in_engine = store.address.file is None
    size = merge_segments(store, store.address.index) if in_engine else store.counts().size_bytes
    hours = [(elapsed if in_engine else busy) / 3600 for busy, elapsed, _ in runs]
    memory = max(most for _, _, most in runs)
    cost = Cost(documents, file.stat().st_size, size or 0, *hours, memory)
    file.unlink()
    return cost


def extrapolate(before: Cost, last: Cost, documents: int) -> Cost:
    """Return the cost of another size, if each figure goes on to grow by the same power."""
    step = math.log(last.documents / before.documents)
    powers = (
        math.log(b / a) / step if a > 0 and b > 0 else 1.0
        for a, b in zip(astuple(before), astuple(last), strict=True)
    )
    ratio = documents / last.documents
    figures = [b * ratio**power for b, power in zip(astuple(last), powers, strict=True)]
    return Cost(documents, *figures[1:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", default="10000,100000")
    parser.add_argument("--words", type=int, default=700)
    parser.add_argument("--opensearch", action="store_true", help="instead of SQLite")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    sizes = [int(size) for size in options.documents.split(",")]
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch, ExitStack() as servers:
        address, end = f"sqlite:///{scratch}", ".db"
        if options.opensearch:
            address, end = servers.enter_context(server(None)).replace("http", "opensearch"), ""
        costs = [
            measure(size, options.words, Path(scratch), f"{address}/{size}{end}") for size in sizes
        ]
    print("\n".join(head([*COLUMNS, ""])))
    for cost in costs:
        print(row([*cost.cells(), "measured"]))
    for documents in EXTRAPOLATED:
        if len(costs) > 1 and documents > sizes[-1]:
            print(row([*extrapolate(*costs[-2:], documents).cells(), "extrapolated"]))


if __name__ == "__main__":
    main()
