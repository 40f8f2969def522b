"""Look-ups, folded searches, review pages and indexing at once, requested at times that do not
depend on the responses.

    python benchmarks/load.py [--documents 10000] [--seconds 60] [--folder DIR] [--store URL]
        [--build]

Builds a store of so many documents, unless `--folder` has it from an earlier run; `--build` does
nothing else. Without `--folder` a temporary one; without `--store` a SQLite file in it. Then
requests arrive as a Poisson process, at `--lookups`, `--searches` (two words), `--frequent` (a
word in nearly every document) and `--pages` (overview, search, document and comparison of a
`nearfold serve`) a second, while `--indexing` new documents a second come in jobs of 200. A latency
counts from the time at which the request was due, so a stall is paid by every request that it holds
up. Prints tables in Markdown; exits with 1 when any request failed.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import psutil
from corpora import revised_texts, write_lines
from harness import ROOT, arguments, head, machine, quantile, row, serve
from pages import request

from indexer.searching.search import search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.base import Store

THREADS = 16
FRESH, SAMPLES = 200, 500
ENOUGH = {0.5: 1, 0.9: 30, 0.99: 300, 0.999: 3000}  # requests that a quantile needs


@dataclass
class Kind:
    """One kind of request. `send` is given its number; errors are counted by their texts."""

    name: str
    rate: float
    send: Callable[[int], object]
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    sent: int = 0

    @property
    def waiting(self) -> int:
        """Return the number of requests without a response."""
        return self.sent - len(self.seconds) - self.errors.total()

    def send_at(self, due: float, number: int) -> None:
        try:
            self.send(number)
        except Exception as error:
            self.errors[f"{type(error).__name__}: {error}"[:200]] += 1
        else:
            self.seconds.append(time.monotonic() - due)

    def send_all(self, started: float, seconds: float, seed: int, pool: ThreadPoolExecutor) -> None:
        """Send requests as a Poisson process."""
        chance, due, number = random.Random(seed), 0.0, 0
        while self.rate and (due := due + chance.expovariate(self.rate)) < seconds:
            time.sleep(max(0.0, started + due - time.monotonic()))
            self.sent += 1
            pool.submit(self.send_at, started + due, number)
            number += 1


def run(kinds: list[Kind], seconds: float, watch: Callable[[], None]) -> float:
    """Send all kinds at once, calling `watch` once a second; return the seconds until the last
    response.
    """
    started = time.monotonic()
    with ThreadPoolExecutor(THREADS) as pool:
        senders = [
            threading.Thread(target=kind.send_all, args=(started, seconds, seed, pool))
            for seed, kind in enumerate(kinds)
        ]
        for sender in senders:
            sender.start()
        while any(sender.is_alive() for sender in senders) or any(kind.waiting for kind in kinds):
            watch()
            time.sleep(min(1.0, seconds / 20))
    return time.monotonic() - started


def start_index(file: Path, url: str, *more: str) -> subprocess.Popen[str]:
    """Start `nearfold index` in a process of its own."""
    words = ["-m", "indexer", "index", str(file), "--store", url, "--workers", "1", "--json", *more]
    pipe = subprocess.PIPE
    command = [sys.executable, *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def await_end(job: subprocess.Popen[str]) -> int:
    """Return how many documents a job indexed."""
    out, errors = job.communicate()
    if job.returncode:
        sys.exit(f"a job of indexing failed: {errors}")
    return int(json.loads(out)["indexed"])


def build(url: str, folder: Path, count: int) -> Path:
    """Make a store of so many documents, without families, where it is not there; return the file
    that they came from.
    """
    file = folder / "documents.jsonl"
    if not file.exists():
        part = folder / "documents.part"
        write_lines(part, revised_texts(count, 1), prefix="1-").rename(file)
    with closing(open_store(url)) as store:
        if store.stored_recipe() is None or store.counts().documents < count:
            started = time.monotonic()
            indexed = await_end(start_index(file, url, "--no-families"))
            seconds = time.monotonic() - started
            speed = f"{indexed / seconds:,.0f} a second"
            print(f"{indexed:,} documents indexed in {seconds:,.0f} s, {speed}", flush=True)
    return file


def sample_texts(file: Path, count: int) -> list[str]:
    """Return texts from all over a file of JSON Lines."""
    chance, size = random.Random(2), file.stat().st_size
    texts = []
    with file.open("rb") as lines:
        for _ in range(count):
            lines.seek(chance.randrange(size))
            lines.readline()
            texts.append(json.loads(lines.readline() or b'{"text": "di1 pe14"}')["text"])
    return texts


def kinds_of(store: Store, address: str, file: Path, options: Namespace) -> list[Kind]:
    """Return the requests to a store: its own texts, words of them, and pages that show them."""
    chance, texts = random.Random(3), sample_texts(file, SAMPLES)
    queries = [" ".join(chance.sample(sorted(set(text.split())), 2)) for text in texts]
    frequent = Counter(word for text in texts for word in text.split()).most_common(1)[0][0]
    pairs: list[list[str]] = []
    for text in texts:
        ids = [match.id for match in similar(store, text, SimilarOptions(limit=2)).matches]
        pairs += [ids] if len(ids) == 2 else []
        if len(pairs) == 20:
            break
    pairs = pairs or [ids[:1] * 2]
    while options.overview and b'"ready": true' not in request(address, "/api/survey?wait=30"):
        pass

    def get_page(number: int) -> None:
        a, b = pairs[number // 4 % len(pairs)]
        words = urlencode({"q": queries[number % len(queries)]})
        overview = "/overview" if options.overview else "/api"
        paths = (f"/?{words}", f"/document?id={a}", f"/compare?a={a}&b={b}", overview)
        request(address, paths[number % 4])

    limit = SimilarOptions(limit=5)
    return [
        Kind("look-up", options.lookups, lambda n: similar(store, texts[n % len(texts)], limit)),
        Kind(
            "search for two words", options.searches, lambda n: search(store, queries[n % SAMPLES])
        ),
        Kind("search for a frequent word", options.frequent, lambda _: search(store, frequent)),
        Kind("page", options.pages, get_page),
    ]


class Feeding:
    """New documents in jobs, each started when it is due or as soon as the one before has ended."""

    def __init__(self, url: str, folder: Path, rate: float) -> None:
        self._url, self._folder, self._rate = url, folder, rate
        self._ended, self.done = threading.Event(), list[int]()
        self.job: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._feed)

    def __enter__(self) -> Feeding:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _feed(self) -> None:
        started = time.monotonic()
        while self._rate:
            due = started + len(self.done) * FRESH / self._rate
            if self._ended.wait(max(0.0, due - time.monotonic())):
                return
            number = len(self.done)
            texts = revised_texts(FRESH, 100 + number)
            file = write_lines(self._folder / f"fresh-{number}.jsonl", texts, f"{100 + number}-")
            self.job = start_index(file, self._url)
            self.done.append(await_end(self.job))


@dataclass
class Samples:
    """Samples taken once a second: resident megabytes of the processes, and waiting requests."""

    kinds: list[Kind]
    server: int
    feeding: Feeding
    memory: dict[str, list[float]] = field(default_factory=dict)
    waiting: list[float] = field(default_factory=list)

    def __call__(self) -> None:
        self.waiting.append(sum(kind.waiting for kind in self.kinds))
        job = self.feeding.job
        pids = {"requests": os.getpid(), "pages": self.server, "indexing": job.pid if job else 0}
        for name, pid in pids.items():
            with suppress(psutil.Error):
                megabytes = psutil.Process(pid).memory_info().rss / 2**20
                self.memory.setdefault(name, []).append(megabytes)

    def __str__(self) -> str:
        memory = "; ".join(f"{name} {thirds(samples)}" for name, samples in self.memory.items())
        waiting = f"Requests without a response, by thirds of the run: {thirds(self.waiting)}."
        return f"{waiting} Resident megabytes by thirds: {memory}."


def thirds(samples: list[float]) -> str:
    """Return the medians of the first, the second and the last third, and the maximum."""
    width = max(1, len(samples) // 3)
    parts = (samples[:width], samples[width : 2 * width] or samples, samples[-width:])
    medians = ", ".join(f"{statistics.median(part):,.0f}" for part in parts)
    return f"{medians}, at most {max(samples):,.0f}"


def print_load(store: str, documents: int, kinds: list[Kind], took: float, offered: float) -> None:
    heads = ["store", "documents", "request", "sent/s", "answered/s", "number"]
    print("", *head([*heads, "p50", "p90", "p99", "p99.9", "slowest"]), sep="\n")
    for kind in kinds:
        count = len(kind.seconds)
        wanted = {fraction: needed <= count for fraction, needed in ENOUGH.items()}
        wanted[1.0] = count > 0
        cells = [
            f"{1000 * quantile(kind.seconds, fraction):,.0f}" if has_enough else "–"
            for fraction, has_enough in wanted.items()
        ]
        rates = [f"{kind.sent / offered:.3g}", f"{count / took:.3g}", f"{count:,}"]
        print(row([store, f"{documents:,}", kind.name, *rates, *cells]))
    for kind in kinds:
        for error, count in kind.errors.items():
            print(f"\n{kind.name}: {count:,} failed: {error}")


def load(store: Store, file: Path, folder: Path, options: Namespace) -> bool:
    """Run, print the tables, and return whether every request was answered."""
    with serve(store.url) as (address, server):
        kinds = kinds_of(store, address, file, options)
        run(kinds, options.warm, lambda: None)
        kinds = [Kind(kind.name, kind.rate, kind.send) for kind in kinds]
        before = store.counts().documents
        with Feeding(store.url, folder, options.indexing) as feeding:
            samples = Samples(kinds, server, feeding)
            took = run(kinds, options.seconds, samples)
    print_load(store.address.kind, before, kinds, took, options.seconds)
    print(
        f"\n{sum(feeding.done):,} documents indexed meanwhile in {len(feeding.done)} jobs.", samples
    )
    print(f"{machine()}, load {os.getloadavg()[0]:.1f} at the end.")
    return not any(kind.errors for kind in kinds)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--warm", type=float, default=5, help="seconds before, not counted")
    rates = {"lookups": 10, "searches": 5, "frequent": 0.2, "pages": 2, "indexing": 20}
    for name, rate in rates.items():
        parser.add_argument(f"--{name}", type=float, default=rate, help="a second")
    parser.add_argument(
        "--no-overview", dest="overview", action="store_false", help="it reads the whole store once"
    )
    parser.add_argument("--folder", type=Path, help="kept, and used again when it is there")
    parser.add_argument("--store", help="a search engine's index, or a SQLite file")
    parser.add_argument("--build", action="store_true", help="only build the store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        url = options.store or f"sqlite:///{folder.resolve()}/load.db"
        file = build(url, folder, options.documents)
        if not options.build:
            with closing(open_store(url)) as store:
                is_answered = load(store, file, Path(temporary), options)
            sys.exit(0 if is_answered else 1)


if __name__ == "__main__":
    main()
