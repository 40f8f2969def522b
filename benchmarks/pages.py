"""Response times of the review pages over a large store, beside a bare full-text query of the same
words.

    python benchmarks/pages.py [--documents 100000] [--words 60-600] [--rounds 30]
        [--store FILE|URL]

Texts are synthetic: half of the documents stand in families of 2 to 40 that differ by a few words,
the rest alone; words follow a Zipf law. The store is made once in FILE (default: a temporary one)
or in a search engine, grouped, and served by `nearfold serve` in a process of its own; each page is
requested `--rounds` times, each time for other words or documents. The peer is an FTS5 table of the
same texts in a file of its own, queried for the best ten ids of the same words, without folding,
facets or a page around them.
"""

from __future__ import annotations

import http.client
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import psutil
from corpora import signed_rows
from harness import arguments, memory_status, seconds_of, serve

from indexer.grouping.group import group
from indexer.recipe import DEFAULT
from indexer.stores import open_store

VOCABULARY, BATCH = 40_000, 1_000
SETTLED_SECONDS = 0.2  # after a request
LETTERS = str.maketrans("0123456789", "etaoinshrd")  # digits would be facts that texts state
Parameters = dict[str, str]


def texts(documents: int, lengths: range, rng: np.random.Generator) -> Iterator[tuple[str, int]]:
    """Yield texts of so many words, families first, each with the number of the first of it."""
    count = 0
    while count < documents:
        base = np.minimum(
            rng.zipf(1.25, int(rng.integers(lengths.start, lengths.stop))), VOCABULARY
        )
        size = int(min(40, 2 + rng.pareto(1.5))) if count < documents // 2 else 1
        first = count
        for copy in range(min(size, documents - count)):
            words = base.copy()
            if copy:
                changed = rng.integers(0, len(words), max(1, len(words) // 60))
                words[changed] = rng.integers(1, VOCABULARY, len(changed))
            yield " ".join(f"w{word}" for word in words).translate(LETTERS), first
            count += 1


def peer_file(url: str) -> Path:
    """Return the file of the peer's table, beside a store in a file."""
    return Path(f"{url.removeprefix('sqlite:///')}.peer")


def make_store(url: str, documents: int, lengths: range, families: str) -> None:
    """Write the store and, beside one in a file, the peer's table, then the families."""
    started = time.monotonic()
    in_file = url.startswith("sqlite:")
    remaining = texts(documents, lengths, np.random.default_rng(1))
    store = open_store(url)
    store.prepare(DEFAULT)
    with closing(sqlite3.connect(peer_file(url) if in_file else ":memory:")) as peer, peer:
        peer.execute("CREATE VIRTUAL TABLE peer USING fts5(text)")
        for start in range(0, documents, BATCH):
            batch = list(islice(remaining, BATCH))
            named = [(f"d{start + number:07}", text) for number, (text, _) in enumerate(batch)]
            rows = signed_rows(named, start)
            if families == "generator":
                firsts = [f"d{first:07}" for _, first in batch]
                rows = [
                    replace(row, family=first, principal=first == row.id, provisional=False)
                    for row, first in zip(rows, firsts, strict=True)
                ]
            store.write(rows)
            if in_file:
                peer.executemany("INSERT INTO peer VALUES (?)", ((text,) for text, _ in batch))
    store.refresh()
    print(f"{documents:,} documents in {time.monotonic() - started:.0f} s", flush=True)
    if families == "group":
        print(f"families in {seconds_of(lambda: group(store)):.0f} s", flush=True)
    store.close()


def request(address: str, path: str, **parameters: str) -> bytes:
    """Return the body of a page; another status than 200 ends the run."""
    with closing(http.client.HTTPConnection(address, timeout=300)) as connection:
        connection.request("GET", f"{path}?{urlencode(parameters)}" if parameters else path)
        response = connection.getresponse()
        body = response.read()
    if response.status != 200:
        sys.exit(f"{path} {parameters}: {response.status}")
    return body


def request_survey(address: str) -> None:
    """Have the pairs of the store compared, as a large one does only on request."""
    token = json.loads(request(address, "/api/token"))["token"]
    headers = {"x-nearfold-token": token, "content-type": "application/json"}
    with closing(http.client.HTTPConnection(address, timeout=300)) as connection:
        connection.request("POST", "/api/survey/refresh", "{}", headers)
        if (status := connection.getresponse().status) != 200:
            sys.exit(f"/api/survey/refresh: {status}")


def times_of(calls: Iterable[Callable[[], object]]) -> list[float]:
    return [1000 * seconds_of(call) for call in calls]


def quantiles(times: list[float]) -> str:
    """Return the median, the 95th percentile and the longest of times in milliseconds."""
    return f"{np.median(times):8.1f}  {np.percentile(times, 95):8.1f}  {max(times):8.1f}"


class Table:
    """Lines of the table, one a page, with mean and maximum of the server's processor time."""

    def __init__(self, address: str, pid: int) -> None:
        self.address, self._server = address, psutil.Process(pid)

    def add(self, name: str, path: str, requests: Iterable[Parameters], peer: str = "") -> None:
        """Request a page with each of these parameters, and print a line."""
        times, busy = [], []
        for values in requests:
            before = self._busy_ms()
            times += times_of([partial(request, self.address, path, **values)])
            time.sleep(SETTLED_SECONDS)  # what goes on in the background is part of it
            busy.append(self._busy_ms() - before)
        of_processor = f"{np.mean(busy):8.1f}  {max(busy):8.1f}"
        print(f"{name:32}{quantiles(times)}  {of_processor}    {peer}".rstrip(), flush=True)

    def _busy_ms(self) -> float:
        times = self._server.cpu_times()
        return 1000 * (times.user + times.system)

    def wait_for(self, path: str) -> None:
        """Wait until what is read in the background is ready."""
        while b'"ready": true' not in request(self.address, path):
            pass

    def print_wait(self, name: str, path: str) -> None:
        seconds = seconds_of(lambda: self.wait_for(path))
        print(f"{name}, read once in the background: {seconds:.1f} s")


def measure(url: str, rounds: int, has_survey: bool) -> None:
    """Print the times of the pages of a store, in the order in which they are requested."""
    rng = np.random.default_rng(2)
    queries = {
        "a rare word": [f"w{word}" for word in rng.integers(2_000, VOCABULARY, rounds)],
        "two words": [f"w{a} w{b}" for a, b in rng.integers(20, 400, (rounds, 2))],
        "a frequent word": [f"w{word}" for word in rng.integers(10, 60, rounds)],
    }
    pairs = members(url, rng, rounds)
    print(
        f"\n{'page':32}{'median ms':>10}{'p95 ms':>10}{'max ms':>10}{'CPU ms':>10}{'max':>10}"
        "    bare FTS"
    )
    with serve(url) as server:
        table = Table(*server)
        table.add("first search of the server", "/", [{"q": "warm"}])
        for kind, numbered in queries.items():
            words = [text.translate(LETTERS) for text in numbered]
            asked = [{"q": text, "fold": "family"} for text in words]
            table.add(f"search: {kind}", "/", asked, peer_times(url, words))
            table.add(f"search: {kind}, page 2", "/", [q | {"page": "2"} for q in asked[-3:]])
        table.add("search: every document", "/", [{"q": "", "fold": "family"}] * min(rounds, 5))
        frequent = [{"q": text.translate(LETTERS)} for text in queries["a frequent word"]]
        table.add("search by similarity", "/", [{**q, "fold": "live"} for q in frequent])
        table.add("search by type of clause", "/", [{**q, "fold": "types"} for q in frequent])
        table.add("search with a filter", "/", [{**q, "folder": "/synthetic"} for q in frequent])
        for page in ("family", "document", "versions", "matrix"):
            table.add(page, f"/{page}", [{"id": member} for _, member in pairs])
        table.add("compare", "/compare", [{"a": a, "b": b} for a, b in pairs])
        table.add("jobs", "/jobs", [{}] * rounds)
        table.print_wait("work list", "/api/worklist?wait=30")
        orders = ("size", "similarity", "conflict", "unreviewed")
        pages = [str(page) for page in range(1, 1 + max(1, rounds // 4))]
        lists = [{"order": order, "page": page} for order in orders for page in pages]
        table.add("work list", "/worklist", lists)
        table.print_wait("figures", "/api/figures?wait=30")
        table.add("overview", "/overview", [{}] * rounds)
        if has_survey:
            measure_survey(table, rounds)
        print(f"greatest resident memory: {memory_status('VmHWM', server[1]):,.0f} MB")


def measure_survey(table: Table, rounds: int) -> None:
    table.add("threshold, before it is read", "/threshold", [{}] * rounds)
    request_survey(table.address)
    table.print_wait("survey", "/api/survey?wait=30")
    thresholds = [{"threshold": f"{value:.2f}"} for value in np.linspace(0.505, 0.995, rounds)]
    table.add("threshold, for the first time", "/threshold", thresholds)
    for parameters in thresholds:
        table.wait_for(f"/api/preview?{urlencode(parameters)}&wait=30")
    table.add("threshold", "/threshold", thresholds)
    table.add("threshold to apply", "/regroup", thresholds)


def members(url: str, rng: np.random.Generator, rounds: int) -> list[tuple[str, str]]:
    """Return principals, each with a member of its family."""
    store = open_store(url)
    half = store.counts().documents // 2
    names = [f"d{number:07}" for number in rng.integers(0, half, rounds * 3)]
    rows = store.get(names)
    store.close()
    return [(rows[name].family, name) for name in names if rows[name].family != name][:rounds]


def peer_times(url: str, words: list[str]) -> str:
    """Return the times of a bare full-text query of the same words, where there is the table."""
    if not peer_file(url).exists():
        return ""
    best = "SELECT rowid FROM peer WHERE peer MATCH ? ORDER BY rank LIMIT 10"
    with closing(sqlite3.connect(peer_file(url))) as peer:
        return quantiles(times_of(lambda q=q: peer.execute(best, (q,)).fetchall() for q in words))


def is_made(url: str) -> bool:
    """Return whether the store has been written by an earlier run."""
    with closing(open_store(url)) as store:
        return store.stored_recipe() is not None


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", default="60-600", help="of a text: the fewest and the most")
    parser.add_argument("--families", choices=("group", "generator"), default="group")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--store", help="a file or a URL; kept, and used again when it is there")
    parser.add_argument(
        "--without-survey", action="store_true", help="compare no pairs of the store"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.store or f"sqlite:///{folder}/pages.db"
        url = url if "://" in url else f"sqlite:///{Path(url).absolute()}"
        if not is_made(url):
            first, last = map(int, options.words.split("-"))
            make_store(url, options.documents, range(first, last), options.families)
        measure(url, options.rounds, not options.without_survey)


if __name__ == "__main__":
    main()
