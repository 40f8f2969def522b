"""Look-ups, folded searches, review pages and indexing at once, asked at times that do not depend
on the answers.

    python benchmarks/load.py [--documents 10000] [--seconds 60] [--folder DIR] [--store URL]
        [--build]

Builds a store of so many documents, unless `--folder` has it from an earlier run; `--build` does
nothing else. Without `--folder` a temporary one; without `--store` a SQLite file in it. Then
questions arrive as a Poisson process, at `--lookups`, `--searches` (two words), `--frequent` (a
word in nearly every document) and `--pages` (overview, search, document and comparison of a
`nearfold serve`) a second, while `--indexing` new documents a second come in jobs of 200. A latency
counts from the time at which the question was due. Prints tables in Markdown; exits with 1 when
any question failed.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import psutil
from openloop import Asking, run, thirds
from pages import body, serve_pages

from indexer.searching.search import search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.base import Store

ROOT = Path(__file__).parent.parent
WORDS, COPIES = (40, 200), 0.2
FRESH, QUESTIONS = 200, 500
ENOUGH = {
    0.5: 1,
    0.9: 30,
    0.99: 300,
    0.999: 3000,
}  # questions without which a quantile says nothing


def texts(count: int, seed: int) -> Iterator[str]:
    """Texts of words whose frequencies fall as in a language, one in five a revision of an earlier
    one.
    """
    chance = random.Random(seed)
    vocabulary = [
        f"{chance.choice('bdfgklmnprst')}{chance.choice('aeiou')}{number:x}"
        for number in range(20_000)
    ]
    recent: list[list[str]] = []
    for _ in range(count):
        if recent and chance.random() < COPIES:
            words = list(chance.choice(recent))
            words[chance.randrange(len(words))] = chance.choice(vocabulary)
        else:
            words = [
                vocabulary[min(int(chance.paretovariate(0.6)), len(vocabulary) - 1)]
                for _ in range(chance.randint(*WORDS))
            ]
        recent = [*recent[-999:], words]
        yield " ".join(words)


def write_texts(path: Path, count: int, seed: int) -> Path:
    with path.open("w") as out:
        for number, text in enumerate(texts(count, seed)):
            out.write(json.dumps({"id": f"{seed}-{number}", "text": text}) + "\n")
    return path


def index(file: Path, url: str, *more: str) -> subprocess.Popen[str]:
    """A job of its own, in a process of its own."""
    words = [
        sys.executable,
        "-m",
        "indexer",
        "index",
        str(file),
        "--store",
        url,
        "--workers",
        "1",
        "--json",
        *more,
    ]
    return subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def await_end(job: subprocess.Popen[str]) -> int:
    """Return how many documents a job indexed."""
    out, errors = job.communicate()
    if job.returncode:
        sys.exit(f"a job of indexing failed: {errors}")
    return int(json.loads(out)["indexed"])


def build(url: str, folder: Path, count: int) -> Path:
    """A store with so many documents, made without families where it is not there; the file that
    they came from.
    """
    file = folder / "documents.jsonl"
    if not file.exists():
        write_texts(folder / "documents.part", count, 1).rename(file)
    store = open_store(url)
    try:
        if store.stored_recipe() is None or store.counts().documents < count:
            start_time = time.monotonic()
            account = await_end(index(file, url, "--no-families"))
            seconds = time.monotonic() - start_time
            print(
                f"{account:,} documents indexed in {seconds:,.0f} s, "
                f"{account / seconds:,.0f} a second",
                flush=True,
            )
    finally:
        store.close()
    return file


def sample_texts(file: Path, count: int) -> list[str]:
    """Texts from all over the file."""
    chance, size = random.Random(2), file.stat().st_size
    with file.open("rb") as lines:
        texts = []
        for _ in range(count):
            lines.seek(chance.randrange(size))
            lines.readline()
            texts.append(json.loads(lines.readline() or b'{"text": "di1 pe14"}')["text"])
    return texts


@dataclass
class Questions:
    """The requests to a store: its own texts, words of them, and pages that show them."""

    store: Store
    address: str
    texts: list[str]
    words: list[str]
    frequent: str
    pairs: list[tuple[str, str]]
    overview: str

    def look_up(self, number: int) -> None:
        similar(self.store, self.texts[number % len(self.texts)], SimilarOptions(limit=5))

    def search(self, number: int) -> None:
        search(self.store, self.words[number % len(self.words)])

    def search_frequent(self, number: int) -> None:
        search(self.store, self.frequent)

    def page(self, number: int) -> None:
        a, b = self.pairs[number // 4 % len(self.pairs)]
        words = self.words[number % len(self.words)]
        path = (
            f"/?{urlencode({'q': words})}",
            f"/document?id={a}",
            f"/compare?a={a}&b={b}",
            self.overview,
        )[number % 4]
        connection = http.client.HTTPConnection(self.address, timeout=300)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path.partition('?')[0]} answered {answer.status}")


def questions(store: Store, address: str, file: Path, overview: bool) -> Questions:
    chance, chosen = random.Random(3), sample_texts(file, QUESTIONS)
    words = [" ".join(chance.sample(sorted(set(text.split())), 2)) for text in chosen]
    frequent = Counter(word for text in chosen for word in text.split()).most_common(1)[0][0]
    pairs: list[tuple[str, str]] = []
    for text in chosen:
        ids = [match.id for match in similar(store, text, SimilarOptions(limit=2)).matches]
        pairs += [(ids[0], ids[1])] if len(ids) == 2 else []
        if len(pairs) == 20:
            break
    while overview and b'"ready": true' not in body(address, "/api/survey?wait=30"):
        pass
    prefix = "/overview" if overview else "/api"
    return Questions(store, address, chosen, words, frequent, pairs or [(ids[0], ids[0])], prefix)


def kinds_of(queries: Questions, rates: argparse.Namespace) -> list[Asking]:
    return [
        Asking("look-up", rates.lookups, queries.look_up),
        Asking("search for two words", rates.searches, queries.search),
        Asking("search for a frequent word", rates.frequent, queries.search_frequent),
        Asking("page", rates.pages, queries.page),
    ]


class Feeding:
    """New documents, one job of them after the other, a job when it is due or as soon as the one
    before it has ended.
    """

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
        start_time = time.monotonic()
        while self._rate and not self._ended.wait(
            max(0.0, start_time + len(self.done) * FRESH / self._rate - time.monotonic())
        ):
            file = write_texts(self._folder / "fresh.jsonl", FRESH, 100 + len(self.done))
            self.job = index(
                file.rename(file.with_name(f"fresh-{len(self.done)}.jsonl")), self._url
            )
            self.done.append(await_end(self.job))


@dataclass
class ProcessSamples:
    """Samples taken once a second: resident megabytes of the processes, and questions without an
    answer.
    """

    kinds: list[Asking]
    pages: int
    feeding: Feeding
    memory: dict[str, list[float]] = field(default_factory=dict)
    waiting: list[float] = field(default_factory=list)

    def __call__(self) -> None:
        self.waiting.append(sum(kind.waiting for kind in self.kinds))
        job = self.feeding.job
        for name, pid in (
            ("asking", os.getpid()),
            ("pages", self.pages),
            ("indexing", job.pid if job else 0),
        ):
            with contextlib.suppress(psutil.Error):
                self.memory.setdefault(name, []).append(
                    psutil.Process(pid).memory_info().rss / 2**20
                )

    def __str__(self) -> str:
        memory = "; ".join(
            f"{name} {thirds(samples)}, at most {max(samples):,.0f}"
            for name, samples in self.memory.items()
        )
        return (
            f"Questions without an answer, by thirds of the run: {thirds(self.waiting)}, at most "
            f"{max(self.waiting):,.0f}. "
            f"Resident megabytes by thirds: {memory}."
        )


def load(store: Store, file: Path, folder: Path, options: argparse.Namespace) -> bool:
    """Run, print the tables, and return whether every question was answered."""
    with serve_pages(store.url) as (address, pages):
        queries = questions(store, address, file, options.overview)
        run(kinds_of(queries, options), options.warm, lambda: None)
        kinds = kinds_of(queries, options)
        before = store.counts().documents
        with Feeding(store.url, folder, options.indexing) as feeding:
            watched = ProcessSamples(kinds, pages, feeding)
            seconds = run(kinds, options.seconds, watched)
    print_load(store.address.kind, before, kinds, seconds, options.seconds)
    print(
        f"\n{sum(feeding.done):,} documents indexed meanwhile in {len(feeding.done)} jobs.", watched
    )
    gigabytes = psutil.virtual_memory().total / 2**30
    machine = f"{os.cpu_count()} processors ({platform.machine()}), {gigabytes:.0f} GB"
    print(f"{machine}, load {os.getloadavg()[0]:.1f} at the end.")
    return not any(kind.errors for kind in kinds)


def print_load(
    store: str, documents: int, kinds: list[Asking], seconds: float, offered: float
) -> None:
    print(
        "\n| store | documents | question | asked/s | answered/s | number | p50 | p90 | p99 | "
        "p99.9 | slowest |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for kind in kinds:
        total = kind.found.total
        cells = [
            f"{1000 * kind.found.quantile(share):,.0f}" if total >= least else "–"
            for share, least in ENOUGH.items()
        ]
        rates = f"{kind.asked / offered:.3g} | {total / seconds:.3g}"
        slowest = f"{1000 * kind.found.quantile(1.0):,.0f}"
        print(
            f"| {store} | {documents:,} | {kind.name} | {rates} | {total:,} | {' | '.join(cells)} "
            f"| {slowest} |"
        )
        for error, count in kind.errors.items():
            print(f"\n{kind.name}: {count:,} failed: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--warm", type=float, default=5, help="seconds before, that are not counted"
    )
    parser.add_argument("--lookups", type=float, default=10, help="a second, as are all rates")
    parser.add_argument("--searches", type=float, default=5)
    parser.add_argument("--frequent", type=float, default=0.2)
    parser.add_argument("--pages", type=float, default=2)
    parser.add_argument(
        "--no-overview",
        dest="overview",
        action="store_false",
        help="which reads the whole store once",
    )
    parser.add_argument("--indexing", type=float, default=20)
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
            store = open_store(url)
            try:
                sys.exit(0 if load(store, file, Path(temporary), options) else 1)
            finally:
                store.close()


if __name__ == "__main__":
    main()
