"""Look-ups and folded searches of a store, beside those of another checkout of nearfold.

    python benchmarks/load.py --documents 100000 --folder DIR --build
    python benchmarks/lookups.py DIR/load.db [--before CHECKOUT] [--runs 100] [--warm 5] [--cold 10]
    python benchmarks/load.py --documents 10000 --folder DIR --build --store opensearch://HOST/NAME
    python benchmarks/lookups.py DIR/load.db --store opensearch://HOST/NAME [--before CHECKOUT]

similar by id / text      `similar` of stored documents, from all over the store
search none / live        `search` for two words of a document, unfolded and folded
cold similar              `nearfold similar FILE` from a new process; modules are compiled, as in
                          an installed package

Both checkouts have a process of their own and take turns with the same requests, after `--warm`
others of each kind. Prints quantiles in milliseconds of processor time and of wall time, the ratio
of the sums to the other checkout's, and whether the results are the same. Of a search engine, which
`--store` names and which has the same documents, processor time is that of the client alone, and a
look-up by a new process is not measured. Compare the ratios: processor time grows, too, where other
programs share the machine. A checkout has its own kernel, `indexer/_kernel.abi3.so`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from harness import ROOT, arguments, head, quantile, row, run_python

KINDS = ("similar by id", "similar by text", "search none", "search live")
Times = list[tuple[float, float]]  # processor and wall time


def answer(url: str) -> None:
    """Answer the requests on stdin, one a line, with times and a digest of the result."""
    from indexer.searching.search import SearchOptions, search
    from indexer.searching.similar import similar
    from indexer.stores import open_store

    store = open_store(url)
    answers: dict[str, Callable[[str], Any]] = {
        "similar by id": lambda name: similar(store, id=name),
        "similar by text": lambda text: similar(store, text),
        "search none": lambda words: search(store, words, SearchOptions(fold="none")),
        "search live": lambda words: search(store, words),
    }
    for line in sys.stdin:
        kind, value = json.loads(line)
        cpu, wall = time.process_time(), time.perf_counter()
        result = answers[kind](value)
        times = time.process_time() - cpu, time.perf_counter() - wall
        # the number of groups may be a lower bound, which another checkout reads other texts for
        digest = hashlib.sha256(repr(getattr(result, "hits", result)).encode()).hexdigest()
        print(json.dumps([*times, digest]), flush=True)


@contextmanager
def process_of(
    checkout: Path, url: str
) -> Iterator[Callable[[str, str], tuple[float, float, str]]]:
    """Yield a function that sends a request to a process of a checkout."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--answer", url],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout

    def send(kind: str, value: str) -> tuple[float, float, str]:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps([kind, value]) + "\n")
        process.stdin.flush()
        return tuple(json.loads(process.stdout.readline()))

    try:
        yield send
    finally:
        process.stdin.close()
        process.wait()


def requests(path: str, count: int) -> dict[str, list[str]]:
    """Return `count` requests of each kind, from documents all over the store."""
    chance = random.Random(5)
    with closing(sqlite3.connect(path)) as db:
        last = db.execute("SELECT max(number) FROM documents").fetchone()[0]
        numbers = chance.sample(range(1, last + 1), min(count, last))
        select = "SELECT d.id, t.text FROM documents d JOIN texts t USING (number) WHERE number = ?"
        rows = [found for number in numbers if (found := db.execute(select, (number,)).fetchone())]
    ids, texts = (list(column) for column in zip(*rows, strict=True))
    words = [" ".join(chance.sample(sorted(set(text.split())), 2)) for text in texts]
    return dict(zip(KINDS, (ids, texts, words, words), strict=True))


def print_times(kind: str, before: Times, after: Times) -> None:
    for name, times in ((f"{kind}, before", before), (kind, after)):
        columns = [list(column) for column in zip(*times, strict=True)]
        base = [sum(column) for column in zip(*before, strict=True)]
        cells = [f"{1000 * quantile(of, at):.1f}" for of in columns for at in (0.5, 0.9, 0.99)]
        ratios = [f"{sum(of) / total:.2f}" for of, total in zip(columns, base, strict=True)]
        print(row([name, str(len(times)), *cells, *ratios]), flush=True)


def print_cold(checkouts: tuple[Path, Path], url: str, text: str, count: int) -> None:
    """Print the times of look-ups of a text by new processes, after one that compiles modules."""
    times: tuple[Times, Times] = ([], [])
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        for number in range(count + 1):
            for checkout, seen in zip(checkouts, times, strict=True):
                command = ["-m", "indexer", "similar", file.name, "--store", url]
                usage = run_python(command, checkout)
                if number:
                    seen.append((usage.busy, usage.seconds))
    print_times("cold similar", *times)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("store", help="a SQLite file")
    parser.add_argument("--store", dest="url", help="a search engine's index to use instead")
    parser.add_argument("--before", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--cold", type=int, default=10)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.store)
        return
    url = options.url or f"sqlite:///{Path(options.store).resolve()}"
    checkouts = (options.before.resolve(), ROOT)
    quantiles = ["cpu p50", "p90", "p99", "wall p50", "p90", "p99", "cpu ratio", "wall ratio"]
    print(*head(["request", "runs", *quantiles]), sep="\n")
    different = 0
    by_kind = requests(options.store, options.runs + options.warm)
    with process_of(checkouts[0], url) as before, process_of(checkouts[1], url) as after:
        for kind in KINDS:
            times: tuple[Times, Times] = ([], [])
            for number, value in enumerate(by_kind[kind]):
                results = [before(kind, value), after(kind, value)]
                different += results[0][2] != results[1][2]
                if number >= options.warm:
                    for of, result in zip(times, results, strict=True):
                        of.append(result[:2])
            print_times(kind, *times)
    if not options.url and options.cold:
        print_cold(checkouts, url, by_kind["similar by text"][0], options.cold)
    print(f"\n{different} results differ; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
