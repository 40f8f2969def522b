"""Random kill -9 of the nodes of a cluster, while documents are indexed, searched, grouped and
signed anew.

One node of three at a time, at a random time, is killed and started again; the next one is killed
when every shard has its replica back. No command may end with an error meanwhile, and at the end
every document is there once, as in an undisturbed run on an embedded store. A seed repeats the
choices; the times depend on the machine as well.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs import OPTIONS, ROOT, JobResult, library, write
from oracle import check_account, check_soundness, grouped_rows, read_state
from sample_library import sentence
from servers.cluster import Cluster
from servers.process import Server

from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import similar
from indexer.stores import open_store

CHANGED, ADDED = 200, 20  # files before every run of `index`
CYCLE = (
    ("index", "PAPERS", *OPTIONS),
    ("group", "--json"),
    ("reindex", "--recipe", "default_v1", "--json"),
    ("reindex", "--recipe", "default", "--json"),
)
PAUSE = 10.0  # the most seconds between a replica's return and the next kill, and without a node
REPLICATION_SECONDS = 300
JOB_SECONDS = 900


@dataclass
class Counts:
    """What happened: kills of each node, commands that completed, searches that were answered."""

    kills: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    searches: int = 0
    documents: int = 0

    def __str__(self) -> str:
        jobs = ", ".join(f"{name} {number}" for name, number in sorted(self.jobs.items()))
        return (
            f"{self.kills.total()} kills of nodes; completed: {jobs}; {self.searches} searches "
            f"and look-ups answered; {self.documents:,} documents, each once"
        )


@dataclass
class NodeKills:
    """A cluster whose nodes are killed until `until` on the monotonic clock, and the folder that
    fills it.
    """

    home: Path
    cluster: Cluster
    files: int
    seed: int
    until: float
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        self.folder = library(self.home / "papers", self.files, self.seed)
        self.url = f"{self.cluster.kind}://{self.cluster.hosts}/papers?shards=3&replicas=1"
        self.counts = Counts()
        self._is_over = threading.Event()

    def run(self) -> Counts:
        """Work and kill, then check everything; raise `AssertionError` for what is not as it must
        be, and the error of a search that was not answered.
        """
        self._job(CYCLE[0])
        with ThreadPoolExecutor(2) as pool:
            others = [pool.submit(self._kill_nodes), pool.submit(self._search)]
            try:
                self._work()
            finally:
                self._is_over.set()
            for other in others:
                other.result()
        self._check()
        return self.counts

    def _work(self) -> None:
        """Run the commands in turn; a round that has begun is completed."""
        chance = random.Random(self.seed)
        while time.monotonic() < self.until:
            self._change_files(chance)
            for words in CYCLE:
                self._job(words)

    def _change_files(self, chance: random.Random) -> None:
        files = sorted(self.folder.iterdir())
        numbers = range(len(files), len(files) + ADDED)
        added = [self.folder / f"{number:05}.txt" for number in numbers]
        for file in [*chance.sample(files, CHANGED), *added]:
            seed = chance.randrange(1_000_000)
            write(file, sentence(seed, 100), seed)

    def _job(self, words: tuple[str, ...]) -> JobResult:
        """Run a command; it must complete, whatever node is lost."""
        started = time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "indexer"),
                *(str(self.folder) if word == "PAPERS" else word for word in words),
                *("--store", self.url),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(self.home / "state")},
            capture_output=True,
            text=True,
            timeout=JOB_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{words[0]} ended with {done.returncode}\n{done.stderr}"
        self.counts.jobs[words[0]] += 1
        self.say(f"     {' '.join(words[:3])}: {time.monotonic() - started:.0f} s")
        return JobResult(done.returncode, done.stdout, done.stderr, 0)

    def _search(self) -> None:
        """Search and look up until the work is done; each must find the documents of before."""
        chance = random.Random(self.seed + 1)
        while not self._is_over.is_set():
            with closing(open_store(self.url)) as store:
                assert search(store, "", SearchOptions(limit=1)).total >= self.files
                number = chance.randrange(self.files)
                text = (self.folder / f"{number:05}.txt").read_text(encoding="utf-8")
                similar(store, text)
            self.counts.searches += 2

    def _kill_nodes(self) -> None:
        chance = random.Random(self.seed + 2)
        while time.monotonic() < self.until and not self._is_over.is_set():
            self._is_over.wait(chance.uniform(0, PAUSE))
            node = chance.choice(self.cluster.nodes)
            node.kill()
            self.counts.kills[node.url] += 1
            name = f"node {self.cluster.nodes.index(node) + 1}"
            self.say(f"{self.counts.kills.total():4} {name} is killed")
            self._is_over.wait(chance.uniform(0, PAUSE))
            self._restore(node)

    def _restore(self, node: Server) -> None:
        """Start a node again and wait until every shard has its replica."""
        started = time.monotonic()
        node.start()
        health = f"_cluster/health?wait_for_status=green&timeout={REPLICATION_SECONDS}s"
        with urllib.request.urlopen(
            f"{node.url}/{health}", timeout=REPLICATION_SECONDS + 30
        ) as answer:
            assert json.load(answer)["status"] == "green"
        self.say(f"     replicated again after {time.monotonic() - started:.0f} s")

    def _check(self) -> None:
        """Check accounts, rows, keys and families against the folder and an undisturbed run."""
        account = self._job(CYCLE[0])
        state = read_state(self.url)
        check_account(account, state, self.folder)
        check_soundness(state)
        for id, row in state.rows.items():
            text = Path(row.path).read_text(encoding="utf-8")
            assert row.text == text, f"I2: {id} has another text"
        scrolled = sorted(scrolled_paths(self.cluster.url))
        assert scrolled == sorted((id, row.path) for id, row in state.rows.items()), (
            "I2: the engine's own scroll has other documents than the scan"
        )
        whole, self.url = self.url, f"sqlite:///{self.home}/whole.db"
        self._job(CYCLE[0])
        assert grouped_rows(whole) == grouped_rows(self.url), (
            "I9: not the result of an undisturbed run"
        )
        self.counts.documents = len(state.rows)


def scrolled_paths(url: str) -> Iterator[tuple[str, str]]:
    """Yield id and path of each document of the index, by the engine's scroll, which has no limit
    of 10,000 hits; nothing of nearfold takes part.
    """
    query = {"size": 1_000, "_source": ["path"], "sort": ["_doc"]}
    page = _post(f"{url}/papers/_search?scroll=1m", query)
    while page["hits"]["hits"]:
        for hit in page["hits"]["hits"]:
            yield hit["_id"], hit["_source"]["path"]
        page = _post(f"{url}/_search/scroll", {"scroll": "1m", "scroll_id": page["_scroll_id"]})


def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), kind)
    with urllib.request.urlopen(request, timeout=60) as answer:
        page: dict[str, Any] = json.load(answer)
    assert page["_shards"]["failed"] == 0, page["_shards"]
    return page
