"""Answer times of the review pages over a large store, beside a bare full-text query of the same
words.

    python benchmarks/pages.py [--documents 100000] [--rounds 30] [--store FILE|URL]

Texts are synthetic: half of the documents stand in families of 2 to 40 that differ by a few words,
the rest alone; words follow a Zipf law. The store is made once in FILE (default: a temporary one)
or in a search engine, grouped, and served by `nearfold serve` in a process of its own; each page is
asked `--rounds` times, each time for other words or documents. The peer is an FTS5 table of the
same texts in a file of its own, asked for the best ten ids of the same words, without folding,
facets or a page around them.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import psutil

from indexer.grouping.group import group
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document, Row
from indexer.recipe import DEFAULT
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store

VOCABULARY, BATCH = 40_000, 1_000


def texts(documents: int, random: np.random.Generator) -> Iterator[tuple[str, int]]:
    """Yield texts of 60 to 600 words, families first, each with the place of its family's first."""
    count = 0
    while count < documents:
        base = np.minimum(random.zipf(1.25, int(random.integers(60, 600))), VOCABULARY)
        size = int(min(40, 2 + random.pareto(1.5))) if count < documents // 2 else 1
        first = count
        for copy in range(min(size, documents - count)):
            words = base.copy()
            if copy:
                places = random.integers(0, len(words), max(1, len(words) // 60))
                words[places] = random.integers(1, VOCABULARY, len(places))
            yield " ".join(f"w{word}" for word in words), first
            count += 1


def make(url: str, documents: int, families: str) -> None:
    """Write the store and, beside one in a file, the peer's table, then the families."""
    store = open_store(url)
    store.prepare(DEFAULT)
    started = time.monotonic()
    file = f"{url.removeprefix('sqlite:///')}.peer" if url.startswith("sqlite:") else ":memory:"
    with contextlib.closing(sqlite3.connect(file)) as peer, peer:
        peer.execute("CREATE VIRTUAL TABLE peer USING fts5(text)")
        for first, batch in batches(documents):
            made = rows(batch, first)
            store.write(made if families == "group" else with_families(made, batch, first))
            if file != ":memory:":
                peer.executemany("INSERT INTO peer VALUES (?)", ((text,) for text, _ in batch))
    store.refresh()
    print(
        f"store of {documents:,} documents made in {time.monotonic() - started:.0f} s", flush=True
    )
    if families == "group":
        started = time.monotonic()
        group(store)
        print(f"families in {time.monotonic() - started:.0f} s", flush=True)
    store.close()


def batches(documents: int) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Yield the place of the first text of each batch, and the batch."""
    remaining = texts(documents, np.random.default_rng(1))
    for first in range(0, documents, BATCH):
        yield first, list(islice(remaining, BATCH))


def rows(batch: Sequence[tuple[str, int]], first: int) -> list[Row]:
    """Return the rows of a batch; the kernel signs them together."""
    signed = fingerprints([text for text, _ in batch], DEFAULT)
    result = []
    for place, (text, _) in enumerate(batch):
        name, modified = f"d{first + place:07}", (first + place) * 1_000_000_000
        path = f"/synthetic/{name}.txt"
        blob = Blob(name, name.encode(), path, b"", len(text), modified)
        document = Document(text, content_type="text/plain")
        extracted = ExtractedBlob(blob, name, name, document)
        result.append(row_of(extracted, signed[place], DEFAULT.id))
    return result


def with_families(made: list[Row], batch: Sequence[tuple[str, int]], first: int) -> list[Row]:
    """Return rows in the families of the generator, each under its first text."""
    return [
        replace(row, family=f"d{head:07}", principal=head == first + place, provisional=False)
        for place, (row, (_, head)) in enumerate(zip(made, batch, strict=True))
    ]


@contextlib.contextmanager
def serve_pages(url: str) -> Iterator[tuple[str, int]]:
    """The host and port of the review pages of a store, and the process that serves them."""
    command = [sys.executable, "-m", "indexer", "serve", "--port", "0", "--store", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield (
                urlsplit(process.stdout.readline().split(" at ")[1].split()[0]).netloc,
                process.pid,
            )
        finally:
            process.terminate()


def time_calls(calls: Iterable[Callable[[], object]], server: psutil.Process | None = None) -> str:
    """Return the median, the 95th percentile and the greatest of the times, in milliseconds.

    With `server` the processor time that it takes for one call on average, too: what other jobs of
    the machine do changes it little.
    """
    took = []
    before = server.cpu_times() if server else None
    for call in calls:
        started = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - started))
    times = f"{np.median(took):8.1f}  {np.percentile(took, 95):8.1f}  {max(took):8.1f}"
    if server is None or before is None:
        return times
    after = server.cpu_times()
    used = after.user + after.system - before.user - before.system
    return f"{times}  {1000 * used / len(took):8.1f}"


def fetch(address: str, path: str, **parameters: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=300)
    connection.request("GET", f"{path}?{urlencode(parameters)}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        sys.exit(f"{path} {parameters}: {answer.status}")


def measure(url: str, rounds: int, has_survey: bool) -> None:
    """Print the times of the pages of a store, in the order in which they are asked for."""
    random = np.random.default_rng(2)
    queries = {
        "a rare word": [f"w{word}" for word in random.integers(2_000, VOCABULARY, rounds)],
        "two words": [f"w{a} w{b}" for a, b in random.integers(20, 400, (rounds, 2))],
        "a frequent word": [f"w{word}" for word in random.integers(10, 60, rounds)],
    }
    pairs = members(url, random, rounds)
    print(f"\n{'page':32}{'median ms':>10}{'p95 ms':>10}{'max ms':>10}{'CPU ms':>10}    bare FTS")
    with serve_pages(url) as (address, pid):
        table = Table(address, psutil.Process(pid))
        table.add("overview, while it is read", "/overview", until_figures(address))
    with serve_pages(url) as (address, pid):
        table = Table(address, psutil.Process(pid))
        table.add("first search of the server", "/", [{"q": "warm"}])
        for kind, words in queries.items():
            asked = [{"q": text} for text in words]
            table.add(f"search: {kind}", "/", asked, peer_times(url, words))
            table.add(f"search: {kind}, page 2", "/", [{**q, "page": "2"} for q in asked[-3:]])
        table.add("search: every document", "/", [{}] * min(rounds, 5))
        frequent = [{"q": text} for text in queries["a frequent word"]]
        table.add("search by family", "/", [{**q, "fold": "family"} for q in frequent])
        table.add("search by type of clause", "/", [{**q, "fold": "types"} for q in frequent])
        table.add("search with a filter", "/", [{**q, "folder": "/synthetic"} for q in frequent])
        ids = [{"id": member} for _, member in pairs]
        for page in ("family", "document", "versions", "matrix"):
            table.add(page, f"/{page}", ids)
        table.add("compare", "/compare", [{"a": a, "b": b} for a, b in pairs])
        table.add("jobs", "/jobs", [{}] * rounds)
        measure_work_list(table, rounds)
        table.add("overview, before it is read", "/overview", [{}])
        table.print_wait("figures", "/api/figures?wait=30")
        table.add("overview", "/overview", [{}] * rounds)
        if has_survey:
            measure_survey(table, rounds)
        print(f"greatest resident memory of the server: {peak_megabytes(pid):,.0f} MB")


def measure_survey(table: Table, rounds: int) -> None:
    table.add("threshold, before it is read", "/threshold", [{}] * rounds)
    ask_for_survey(table.address)
    table.print_wait("survey", "/api/survey?wait=30")
    thresholds = [{"threshold": f"{value:.2f}"} for value in np.linspace(0.505, 0.995, rounds)]
    table.add("threshold, for the first time", "/threshold", thresholds)
    for parameters in thresholds:
        table.wait_for(f"/api/preview?{urlencode(parameters)}&wait=30")
    table.add("threshold", "/threshold", thresholds)
    table.add("threshold to apply", "/regroup", thresholds)


def measure_work_list(table: Table, rounds: int) -> None:
    table.print_wait("work list", "/api/worklist?wait=30")
    lists = [
        {"order": order, "page": str(page)}
        for order in ("size", "similarity", "conflict", "unreviewed")
        for page in range(1, 1 + max(1, rounds // 4))
    ]
    table.add("work list", "/worklist", lists)


class Table:
    """Lines of the table, one a page."""

    def __init__(self, address: str, server: psutil.Process) -> None:
        self.address, self._server = address, server

    def add(self, name: str, path: str, asked: Iterable[dict[str, str]], peer: str = "") -> None:
        """Ask for a page with each of these parameters, and print a line."""
        calls = (lambda values=values: fetch(self.address, path, **values) for values in asked)
        print(f"{name:32}{time_calls(calls, self._server)}    {peer}".rstrip(), flush=True)

    def wait_for(self, path: str) -> None:
        """Wait until what is read in the background is ready."""
        while b'"ready": true' not in body(self.address, path):
            pass

    def print_wait(self, name: str, path: str) -> None:
        """Wait until what is read in the background is ready, and print how long that takes."""
        started = time.perf_counter()
        self.wait_for(path)
        print(f"{name}, read once in the background: {time.perf_counter() - started:.1f} s")


def until_figures(address: str) -> Iterator[dict[str, str]]:
    """Yield no parameters again and again, until a server that has just started has read the
    figures of its store.
    """
    while b'"ready": true' not in body(address, "/api/figures?wait=0"):
        yield {}


def ask_for_survey(address: str) -> None:
    """Have the pairs of the store compared, which those of a large one are only if asked for."""
    headers = {"x-nearfold-token": json.loads(body(address, "/api/token"))["token"]}
    headers["content-type"] = "application/json"
    connection = http.client.HTTPConnection(address, timeout=300)
    connection.request("POST", "/api/survey/refresh", "{}", headers)
    if (status := connection.getresponse().status) != 200:
        sys.exit(f"/api/survey/refresh: {status}")
    connection.close()


def members(url: str, random: np.random.Generator, rounds: int) -> list[tuple[str, str]]:
    """Return principals, each with a member of its family."""
    store = open_store(url)
    half = store.counts().documents // 2
    names = [f"d{number:07}" for number in random.integers(0, half, rounds * 3)]
    rows = store.get(names)
    store.close()
    pairs = [(rows[name].family, name) for name in names if rows[name].family != name]
    return pairs[:rounds]


def peer_times(url: str, words: list[str]) -> str:
    """Return the times of a bare full-text query of the same words, where there is the table."""
    file = Path(f"{url.removeprefix('sqlite:///')}.peer")
    if not file.exists():
        return ""
    best = "SELECT rowid FROM peer WHERE peer MATCH ? ORDER BY rank LIMIT 10"
    with contextlib.closing(sqlite3.connect(file)) as peer:
        return time_calls([lambda q=q: peer.execute(best, (q,)).fetchall() for q in words])


def peak_megabytes(pid: int) -> float:
    """Return the greatest resident memory of a process so far (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def body(address: str, path: str) -> bytes:
    connection = http.client.HTTPConnection(address, timeout=300)
    connection.request("GET", path)
    try:
        return connection.getresponse().read()
    finally:
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument(
        "--families",
        choices=("group", "generator"),
        default="group",
        help="those that group makes, or those of the generator, which take less time",
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--store", help="a file or the URL of a store; kept, and used again when it is there"
    )
    parser.add_argument(
        "--without-survey",
        action="store_true",
        help="leave out the pages that need the pairs of the whole store",
    )
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = settings.store or f"sqlite:///{folder}/pages.db"
        url = url if "://" in url else f"sqlite:///{Path(url).absolute()}"
        if not is_made(url):
            make(url, settings.documents, settings.families)
        measure(url, settings.rounds, not settings.without_survey)


def is_made(url: str) -> bool:
    """Return whether the store has been written by an earlier run."""
    store = open_store(url)
    has_recipe = store.stored_recipe() is not None
    store.close()
    return has_recipe


if __name__ == "__main__":
    main()
