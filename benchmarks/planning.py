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

import math
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from corpora import random_texts, write_lines
from harness import Usage, arguments, engine, head, merge_segments, row, run_python, sizes

from indexer import open_store

EXTRAPOLATED = (10**6, 10**7, 10**8)
COLUMNS = ["documents", "text, GB", "store, GB", "index, hours", "group, hours", "match, hours"]


@dataclass(frozen=True)
class Cost:
    """The cost of one size: bytes of the texts and of the store, hours of the three commands, and
    the largest memory of one of their processes in bytes.
    """

    documents: float
    text: float
    store: float
    index: float
    group: float
    match: float
    memory: float

    def cells(self) -> list[str]:
        """Return the cells of this size: GB, and hours."""
        gigabytes = [f"{size / 1e9:,.2f}" for size in (self.text, self.store, self.memory)]
        hours = [f"{hours:,.2f}" for hours in (self.index, self.group, self.match)]
        return [f"{self.documents:,.0f}", *gigabytes[:2], *hours, gigabytes[2]]


def made_texts(documents: int, words: int) -> Iterator[str]:
    rng = np.random.default_rng(1)
    for start in range(0, documents, 10_000):
        yield from random_texts(min(10_000, documents - start), words, rng)


def run(*words: str) -> Usage:
    """Run a command of nearfold."""
    usage = run_python(["-m", "indexer", *words])
    print(f"  {words[0]}: {usage.seconds:,.0f} s, {usage.busy:,.0f} s busy", file=sys.stderr)
    return usage


def measure(documents: int, words: int, folder: Path, url: str) -> Cost:
    """Return the cost of one size in a new store."""
    file = write_lines(folder / f"{documents}.jsonl", made_texts(documents, words))
    print(f"{documents:,} documents", file=sys.stderr)
    runs = [
        run("index", str(file), "--no-families", "--store", url),
        run("group", "--store", url),
        run("match", "--out", os.devnull, "--store", url),
    ]
    store = open_store(url)
    in_engine = store.address.file is None
    size = merge_segments(store, store.address.index) if in_engine else store.counts().size_bytes
    hours = [(usage.seconds if in_engine else usage.busy) / 3600 for usage in runs]
    memory = max(usage.megabytes for usage in runs) * 2**20
    cost = Cost(documents, file.stat().st_size, size or 0, *hours, memory)
    file.unlink()
    return cost


def extrapolate(before: Cost, last: Cost, documents: int) -> Cost:
    """Return the cost of another size, if each figure goes on to grow by the same power."""
    step = math.log(last.documents / before.documents)
    figures = []
    for a, b in zip(astuple(before), astuple(last), strict=True):
        power = math.log(b / a) / step if a > 0 and b > 0 else 1.0
        figures.append(b * (documents / last.documents) ** power)
    return Cost(*figures)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=sizes, default="10000,100000")
    parser.add_argument("--words", type=int, default=700)
    parser.add_argument("--opensearch", action="store_true", help="instead of SQLite")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch, ExitStack() as servers:
        address, end = f"sqlite:///{scratch}", ".db"
        if options.opensearch:
            url = servers.enter_context(engine(None, heap="2g"))
            address, end = url.replace("http", "opensearch"), ""
        costs = [
            measure(size, options.words, Path(scratch), f"{address}/{size}{end}")
            for size in options.documents
        ]
    print("\n".join(head([*COLUMNS, "memory, GB", ""])))
    for cost in costs:
        print(row([*cost.cells(), "measured"]))
    for documents in EXTRAPOLATED:
        if len(costs) > 1 and documents > costs[-1].documents:
            print(row([*extrapolate(*costs[-2:], documents).cells(), "extrapolated"]))


if __name__ == "__main__":
    main()
