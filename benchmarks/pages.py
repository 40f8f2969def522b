"""Answer times of the review pages over a large store, beside a bare full-text query of the same
words.

    python benchmarks/pages.py [--documents 100000] [--rounds 30] [--store FILE]

Texts are synthetic: half of the documents stand in families of 2 to 40 that differ by a few words,
the rest alone; words follow a Zipf law. The store is made once in FILE (default: a temporary one),
grouped, and served by `nearfold serve` in a process of its own; each page is asked `--rounds`
times, each time for other words or documents. The peer is an FTS5 table of the same texts in a file
of its own, asked for the best ten ids of the same words, without folding, facets or a page around
them.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import psutil

from indexer.grouping.group import group
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document
from indexer.recipe import DEFAULT
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store

VOCABULARY, BATCH = 40_000, 1_000


def texts(documents: int, random: np.random.Generator) -> Iterator[str]:
    """Texts of 60 to 600 words; families first."""
    count = 0
    while count < documents:
        base = np.minimum(random.zipf(1.25, int(random.integers(60, 600))), VOCABULARY)
        size = int(min(40, 2 + random.pareto(1.5))) if count < documents // 2 else 1
        for copy in range(min(size, documents - count)):
            words = base.copy()
            if copy:
                places = random.integers(0, len(words), max(1, len(words) // 60))
                words[places] = random.integers(1, VOCABULARY, len(places))
            yield " ".join(f"w{word}" for word in words)
            count += 1


def make(file: Path, documents: int) -> None:
    store = open_store(f"sqlite:///{file}")
    store.prepare(DEFAULT)
    with sqlite3.connect(f"{file}.peer") as peer:
        peer.execute("CREATE VIRTUAL TABLE peer USING fts5(text)")
        pending: list[str] = []
        started, done = time.monotonic(), 0
        for text in chain(texts(documents, np.random.default_rng(1)), [None]):
            if text is not None:
                pending.append(text)
            if pending and (len(pending) == BATCH or text is None):
                signed = fingerprints(pending, DEFAULT)
                rows = []
                for place, pending_text in enumerate(pending):
                    name = f"d{done + place:07}"
                    blob = Blob(
                        name,
                        name.encode(),
                        f"/synthetic/{name}.txt",
                        b"",
                        len(pending_text),
                        (done + place) * 1_000_000_000,
                    )
                    document = Document(pending_text, content_type="text/plain")
                    rows.append(
                        row_of(ExtractedBlob(blob, name, name, document), signed[place], DEFAULT.id)
                    )
                store.write(rows)
                peer.executemany(
                    "INSERT INTO peer VALUES (?)", ((pending_text,) for pending_text in pending)
                )
                done, pending = done + len(pending), []
    print(f"store of {done:,} documents made in {time.monotonic() - started:.0f} s", flush=True)
    started = time.monotonic()
    grouped = group(store)
    print(
        f"grouped in {time.monotonic() - started:.0f} s: {grouped.families:,} families, largest "
        f"{grouped.largest}",
        flush=True,
    )
    store.close()


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


def time_calls(calls: list[Callable[[], object]], server: psutil.Process | None = None) -> str:
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
    return f"{times}  {1000 * used / len(calls):8.1f}"


def fetch(address: str, path: str, **parameters: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=300)
    connection.request("GET", f"{path}?{urlencode(parameters)}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        sys.exit(f"{path} {parameters}: {answer.status}")


def measure(file: Path, rounds: int) -> None:
    store = open_store(f"sqlite:///{file}")
    documents = store.counts().documents
    random = np.random.default_rng(2)
    kinds = {
        "a rare word": [f"w{word}" for word in random.integers(2_000, VOCABULARY, rounds)],
        "two words": [f"w{a} w{b}" for a, b in random.integers(20, 400, (rounds, 2))],
        "a frequent word": [f"w{word}" for word in random.integers(10, 60, rounds)],
        "every document": [""] * min(rounds, 5),
    }
    pairs = []
    for number in random.integers(0, documents // 2, rounds * 3):
        row = store.get([f"d{number:07}"])[f"d{number:07}"]
        if row.family != row.id:
            pairs.append((row.family, row.id))
    store.close()
    pairs = pairs[:rounds]
    peer = sqlite3.connect(f"{file}.peer")
    best = "SELECT rowid FROM peer WHERE peer MATCH ? ORDER BY rank LIMIT 10"
    print(f"\n{'page':32}{'median ms':>10}{'p95 ms':>10}{'max ms':>10}{'CPU ms':>10}    bare FTS")
    with serve_pages(f"sqlite:///{file}") as (address, pid):
        server = psutil.Process(pid)
        fetch(address, "/", q="warm")
        for kind, words in kinds.items():
            ours = time_calls([lambda q=q: fetch(address, "/", q=q) for q in words], server)
            peer_times = (
                time_calls([lambda q=q: peer.execute(best, (q,)).fetchall() for q in words])
                if words[0]
                else "       –         –         –"
            )
            print(f"{f'search: {kind}':32}{ours}    {peer_times}", flush=True)
        for page, calls in (
            ("family", [lambda b=b: fetch(address, "/family", id=b) for _, b in pairs]),
            ("compare", [lambda a=a, b=b: fetch(address, "/compare", a=a, b=b) for a, b in pairs]),
            ("document", [lambda b=b: fetch(address, "/document", id=b) for _, b in pairs]),
            ("versions", [lambda b=b: fetch(address, "/versions", id=b) for _, b in pairs]),
            ("matrix", [lambda b=b: fetch(address, "/matrix", id=b) for _, b in pairs]),
            ("jobs", [lambda: fetch(address, "/jobs")] * rounds),
        ):
            print(f"{page:32}{time_calls(calls, server)}", flush=True)
        started = time.perf_counter()
        fetch(address, "/api/survey", wait="30")
        while b'"ready": true' not in body(address, "/api/survey?wait=30"):
            pass
        print(f"\nsurvey, read once in the background: {time.perf_counter() - started:.1f} s")
        thresholds = [f"{value:.2f}" for value in np.linspace(0.505, 0.995, rounds)]
        overview = [lambda: fetch(address, "/overview")] * rounds
        print(f"{'overview':32}{time_calls(overview, server)}")
        steps = [lambda t=t: fetch(address, "/api/preview", threshold=t) for t in thresholds]
        print(f"{'slider: one step':32}{time_calls(steps, server)}", flush=True)
        threshold = [lambda t=t: fetch(address, "/threshold", threshold=t) for t in thresholds]
        print(f"{'threshold':32}{time_calls(threshold, server)}", flush=True)
        apply = [lambda t=t: fetch(address, "/regroup", threshold=t) for t in thresholds]
        print(f"{'threshold to apply':32}{time_calls(apply, server)}", flush=True)
        started = time.perf_counter()
        while b'"ready": true' not in body(address, "/api/worklist?wait=30"):
            pass
        print(f"work list, read once in the background: {time.perf_counter() - started:.1f} s")
        lists = [
            lambda order=order, page=page: fetch(address, "/worklist", order=order, page=str(page))
            for order in ("size", "similarity", "conflict", "unreviewed")
            for page in range(1, 1 + max(1, rounds // 4))
        ]
        print(f"{'work list':32}{time_calls(lists, server)}", flush=True)


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
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--store", type=Path, help="kept, and used again when it is there")
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = settings.store or Path(folder) / "pages.db"
        if not file.exists():
            make(file, settings.documents)
        measure(file, settings.rounds)


if __name__ == "__main__":
    main()
