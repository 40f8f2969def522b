"""Look-ups, folded searches and indexing at once, asked at moments that do not depend on the answers.

    python benchmarks/load.py [--documents 10000] [--seconds 60] [--lookups 10] [--searches 10] [--store URL]

Arrivals are a Poisson process; a latency counts from the moment at which the question was to be asked, so a stall is paid by
every question that it holds up. Another process indexes new documents all the time. A question that fails ends the run. Without
`--store` a SQLite file in a temporary folder; an index of that name in a search engine must not exist.
Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil

from indexer.ingest import index
from indexer.lookup import similar
from indexer.results import search
from indexer.sources.base import Reading
from indexer.stores import open_store
from indexer.stores.base import Store

ROOT = Path(__file__).parent.parent
THREADS, WORDS, COPIES = 16, 120, 0.2
FRESH = 1000  # documents in each file that is indexed during the run


class Histogram:
    """Latencies in classes of three significant digits, as many as there are, in little memory; safe to share by threads."""

    def __init__(self) -> None:
        self._lock, self._counts = threading.Lock(), Counter[float]()

    def add(self, seconds: float) -> None:
        with self._lock:
            self._counts[float(f"{seconds:.3g}")] += 1

    def quantile(self, share: float) -> float:
        """The least latency that this share of all does not exceed; 0 when there are none."""
        left = share * self._counts.total()
        for seconds in sorted(self._counts):
            if (left := left - self._counts[seconds]) <= 0:
                return seconds
        return 0.0

    @property
    def total(self) -> int:
        return self._counts.total()


def texts(count: int, seed: int) -> Iterator[str]:
    """Texts of words whose frequencies fall as in a language, one in five a revision of an earlier one."""
    chance = random.Random(seed)
    known = [f"{chance.choice('bdfgklmnprst')}{chance.choice('aeiou')}{number:x}" for number in range(20_000)]
    made: list[list[str]] = []
    for _ in range(count):
        if made and chance.random() < COPIES:
            words = list(chance.choice(made))
            words[chance.randrange(len(words))] = chance.choice(known)
        else:
            words = [known[min(int(chance.paretovariate(0.6)), len(known) - 1)] for _ in range(WORDS)]
        made = [*made[-999:], words]
        yield " ".join(words)


def written(path: Path, count: int, seed: int) -> Path:
    with path.open("w") as out:
        for number, text in enumerate(texts(count, seed)):
            out.write(json.dumps({"id": f"{seed}-{number}", "text": text}) + "\n")
    return path


def arrivals(rate: float, seconds: float, seed: int) -> Iterator[float]:
    """Seconds from the beginning at which a question is to be asked."""
    chance, at = random.Random(seed), 0.0
    while rate and (at := at + chance.expovariate(rate)) < seconds:
        yield at


def asked(ask: Callable[[int], object], moments: Iterator[float], began: float, pool: ThreadPoolExecutor) -> Histogram:
    """Ask at these moments, whether or not earlier questions were answered; returns when the last one was."""
    found, waiting = Histogram(), list[Future[None]]()

    def one(number: int, due: float) -> None:
        ask(number)
        found.add(time.monotonic() - due)

    for number, moment in enumerate(moments):
        time.sleep(max(0.0, began + moment - time.monotonic()))
        waiting.append(pool.submit(one, number, began + moment))
    for answer in waiting:
        answer.result()
    return found


def indexing(url: str, folder: Path, ended: threading.Event, done: list[int]) -> None:
    """One job of new documents after the other, each in a process of its own."""
    seed = 100
    while not ended.is_set():
        seed += 1
        fresh = written(folder / f"fresh-{seed}.jsonl", FRESH, seed)
        words = [sys.executable, "-m", "indexer", "index", str(fresh), "--store", url, "--json"]
        job = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        done.append(json.loads(job.stdout)["indexed"])


def run(store: Store, folder: Path, options: argparse.Namespace) -> None:
    began = time.monotonic()
    made = index([str(written(folder / "first.jsonl", options.documents, 1))], store, reading=Reading(), workers=1)
    print(f"{made.indexed:,} documents in {time.monotonic() - began:.0f} s", file=sys.stderr)
    questions = list(texts(200, 1))
    kinds: dict[str, tuple[float, Callable[[int], object]]] = {
        "look-up": (options.lookups, lambda number: similar(store, questions[number % 200], limit=5)),
        "folded search": (options.searches, lambda number: search(store, questions[number % 200].split()[number % WORDS])),
    }
    ended, indexed, process, memory = threading.Event(), list[int](), psutil.Process(), list[int]()
    feeding = threading.Thread(target=indexing, args=(store.url, folder, ended, indexed))
    feeding.start()
    pool, start = ThreadPoolExecutor(THREADS), time.monotonic()
    with ThreadPoolExecutor(len(kinds)) as asking:
        running = {
            name: asking.submit(asked, ask, arrivals(rate, options.seconds, seed), start, pool)
            for seed, (name, (rate, ask)) in enumerate(kinds.items())
        }
        while not all(one.done() for one in running.values()):
            memory.append(process.memory_info().rss)
            time.sleep(min(1.0, options.seconds / 20))
    pool.shutdown()
    seconds = time.monotonic() - start
    ended.set()
    feeding.join()
    for name, one in running.items():
        found = one.result()
        cells = " | ".join(f"{1000 * found.quantile(share):,.0f}" for share in (0.5, 0.99, 0.999, 1.0))
        print(f"| {store.url.partition(':')[0]} | {options.documents:,} | {name} | {found.total / seconds:.1f} | {cells} |")
    third = memory[len(memory) // 3]
    print(
        f"{sum(indexed):,} documents indexed meanwhile in {len(indexed)} jobs; resident memory {third / 2**20:.0f} MB after a "
        f"third, {memory[-1] / 2**20:.0f} MB at the end; {os.cpu_count()} processors ({platform.machine()}), "
        f"load {os.getloadavg()[0]:.1f} at the end",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lookups", type=float, default=10, help="a second")
    parser.add_argument("--searches", type=float, default=10, help="a second")
    parser.add_argument("--store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(options.store or f"sqlite:///{folder}/load.db")
        try:
            run(store, Path(folder), options)
        finally:
            store.close()


if __name__ == "__main__":
    main()
