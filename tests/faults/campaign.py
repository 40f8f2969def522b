"""Random kill -9 while folders are indexed; after each, every acknowledged document is in the
store.

A job is killed at a random time, half of them at a random step where that is reached first. Jobs on
one store follow each other until one completes; then everything is checked, and the next store
begins. A seed repeats the choices; the times of the kills depend on the machine as well.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jobs import OPTIONS, PROGRAM, ROOT, JobResult, library
from oracle import (
    StoreState,
    check_account,
    check_acknowledged,
    check_no_repeats,
    check_soundness,
    count_events,
    grouped_rows,
    is_searchable,
    read_state,
)
from servers.process import Server

from indexer.errors import StoreUnreachable
from indexer.stores import open_store

EMBEDDED = (
    "before_read",
    "after_read",
    "before_extract",
    "after_extract",
    "before_fingerprint",
    "after_fingerprint",
    "before_write",
    "before_commit",
    "after_commit",
    "after_write",
    "before_journal",
    "after_journal",
    "before_acknowledge",
    "after_acknowledge",
    "before_checkpoint",
    "after_checkpoint",
)
ENGINE = (
    *(name for name in EMBEDDED if "commit" not in name and "checkpoint" not in name),
    "before_send",
    "after_send",
)
EACH_FILE = {"before_read", "after_read", "before_extract", "after_extract", "after_acknowledge"}
SHARD_SECONDS = 60.0  # seconds that a cluster may take to find its shards again
STOPPED_CODES = (3, 4)  # no answer when a job began, or no answer any more


@dataclass
class Tally:
    """The counts of a campaign: kills by place, jobs that ended by themselves, stores that were
    filled to the end.
    """

    kills: Counter[str] = field(default_factory=Counter)
    jobs: int = 0
    stores: int = 0
    files: int = 0

    def __str__(self) -> str:
        places = ", ".join(f"{name} {number}" for name, number in sorted(self.kills.items()))
        stores = f"{self.stores} stores of {self.files:,} files filled"
        return f"{self.kills.total()} kills ({places}); {self.jobs} jobs; {stores}"


@dataclass
class Campaign:
    """Random kills on one folder. `seconds`: approximate time of an undisturbed job. `node`: a
    server to be killed as well.
    """

    home: Path
    folder: Path
    chance: random.Random
    url: Callable[[int], str]
    seconds: float
    steps: tuple[str, ...]
    batches: int
    batch: str = "0"
    node: Server | None = None
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        self.tally = Tally(files=sum(1 for _ in self.folder.iterdir()))
        self.expected = self._expected_rows()

    def run(self, kills: int, until: float = float("inf")) -> Tally:
        """Kill so often, or until that time of the monotonic clock, and fill the last store to its
        end.
        """
        while self.tally.kills.total() < kills and time.monotonic() < until:
            self._fill(kills, until)
        return self.tally

    def _expected_rows(self) -> dict[str, tuple[object, ...]]:
        started = time.monotonic()
        job = self._start(f"sqlite:///{self.home}/whole.db", self.home / "whole.log")
        assert self._wait(job).code == 0
        seconds = time.monotonic() - started
        self.say(f"undisturbed, embedded store: {seconds:.1f} s for {self.tally.files:,} files")
        return grouped_rows(f"sqlite:///{self.home}/whole.db")

    def _fill(self, kills: int, until: float) -> None:
        """Fill one store, from nothing to its end."""
        url, number = self.url(self.tally.stores), 0
        acknowledged: set[str] = set()
        while True:
            number += 1
            log = self.home / f"store{self.tally.stores}-{number}.log"
            is_last = self.tally.kills.total() >= kills or time.monotonic() > until
            result = self._run_job(url, log, None if is_last else self.chance.random())
            repeated = acknowledged & set(count_events(log, "extracted"))
            assert not repeated, f"I5: acknowledged and extracted again: {sorted(repeated)[:5]}"
            acknowledged |= set(count_events(log, "indexed"))
            if result is not None and result.code == 0:
                break
            self._check_after_kill(url, log, acknowledged)
            log.unlink(missing_ok=True)
        self._check_complete_store(url, result, acknowledged)

    def _run_job(self, url: str, log: Path, random_number: float | None) -> JobResult | None:
        """Run one job; None when it was killed."""
        step = None
        if random_number is not None and random_number < 0.5:
            step = self.chance.choice(self.steps)
        most = min(self.tally.files // 2, 3_000) if step in EACH_FILE else self.batches
        occurrence = self.chance.randint(1, most)
        kill_after = None
        if random_number is not None:
            kill_after = self.chance.uniform(0.0, 1.1 * self.seconds)
        started = time.monotonic()
        failpoints = {} if step is None else {"NEARFOLD_FAILPOINTS": f"{step}:{occurrence}=kill"}
        job = self._start(url, log, failpoints)
        self.tally.jobs += 1
        while job.poll() is None:
            if kill_after is not None and time.monotonic() - started >= kill_after:
                break
            time.sleep(0.005)
            kills_node = self.node is not None and random_number is not None
            if kills_node and self.chance.random() < 0.015 / self.seconds:
                self._kill_node(log)
        if job.poll() is None:
            os.kill(job.pid, signal.SIGKILL)
            step = None
        result = self._wait(job)
        if result.code == -signal.SIGKILL:
            self.tally.kills[step or "any moment"] += 1
            place = step or f"after {time.monotonic() - started:.2f} s"
            self.say(f"{self.tally.kills.total():4} {place}")
            return None
        assert result.code == 0 or (self.node and result.code in STOPPED_CODES), (
            f"exit {result.code}\n{result.err}"
        )
        return result

    def _kill_node(self, log: Path) -> None:
        assert self.node
        self.node.kill()
        self.tally.kills["the server"] += 1
        time.sleep(self.chance.uniform(0, 2))
        started = time.monotonic()
        self.node.start()
        seconds = time.monotonic() - started
        self.say(f"{self.tally.kills.total():4} the server, up again after {seconds:.0f} s")

    def _check_after_kill(self, url: str, log: Path, acknowledged: set[str]) -> None:
        """Check after a kill that every acknowledged document is in the store; of an embedded store
        check everything.
        """
        if self.node is None:
            state = read_state(url)
            check_soundness(state)
            check_acknowledged(state, log)
        missing = acknowledged - (state.paths if self.node is None else self._stored_paths(url))
        assert not missing, f"I2: acknowledged and gone: {sorted(missing)[:5]}"

    def _stored_paths(self, url: str) -> frozenset[str]:
        """Return the paths of a cluster's documents, looked up by id, once it answers for all its
        shards again.
        """
        until = time.monotonic() + SHARD_SECONDS
        while True:
            paths = self._paths_if_answering(url)
            if paths is not None:
                return paths
            assert time.monotonic() < until, "I6: no answer long after the server was there again"
            time.sleep(0.5)

    def _paths_if_answering(self, url: str) -> frozenset[str] | None:
        store = open_store(url)
        try:
            ids = store.sources(list(self.expected)) if store.stored_recipe() else ()
        except StoreUnreachable:
            return None
        finally:
            store.close()
        return frozenset(str(self.expected[id][0]) for id in ids)

    def _check_complete_store(self, url: str, result: JobResult, acknowledged: set[str]) -> None:
        """Check every invariant at the end of a store."""
        state = read_state(url)
        check_account(result, state, self.folder)
        check_soundness(state)
        assert acknowledged <= state.paths, "I2"
        check_no_repeats(StoreState({}, {}), state, self.home / "none.log")
        assert grouped_rows(url) == self.expected, "I9: not the result of an undisturbed run"
        word = f"fresh{self.tally.stores}word"
        fresh = self.home / f"{word}.txt"
        fresh.write_text(f"{word} came after the fault and is found", encoding="utf-8")
        assert self._wait(self._start(url, self.home / "fresh.log", folder=fresh)).code == 0
        assert is_searchable(url, word), "I6"
        self.tally.stores += 1
        self.say(
            f"     store {self.tally.stores} is complete: {len(state.rows):,} documents, "
            "each once, keys as recomputed"
        )

    def _start(
        self,
        url: str,
        log: Path,
        environment: dict[str, str] | None = None,
        folder: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        settings = {
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(self.home / "state"),
            "JOB_LOG": str(log),
        }
        with (self.home / "out").open("wb") as out, (self.home / "err").open("wb") as err:
            return subprocess.Popen(
                [
                    sys.executable,
                    str(PROGRAM),
                    "index",
                    str(folder or self.folder),
                    "--store",
                    url,
                    *OPTIONS,
                ],
                env={**os.environ, **settings, "JOB_BATCH": self.batch, **(environment or {})},
                stdout=out,
                stderr=err,
            )

    def _wait(self, job: subprocess.Popen[bytes]) -> JobResult:
        job.wait(900)
        return JobResult(
            job.returncode,
            (self.home / "out").read_text(encoding="utf-8"),
            (self.home / "err").read_text(encoding="utf-8"),
            0,
        )


def embedded_campaign(
    home: Path, seed: int, files: int, say: Callable[[str], None] = print
) -> Campaign:
    """Return a campaign that kills jobs on SQLite files."""
    folder = library(home / "papers", files, seed)
    return Campaign(
        home,
        folder,
        random.Random(seed),
        lambda number: f"sqlite:///{home}/store{number}.db",
        4.0,
        EMBEDDED,
        files // 25,
        "25",
        say=say,
    )


def cluster_campaign(
    home: Path, seed: int, files: int, node: Server, say: Callable[[str], None] = print
) -> Campaign:
    """Return a campaign that kills jobs, and the search engine that they fill."""
    address = node.url.replace("http", node.engine.name.lower())
    return Campaign(
        home,
        library(home / "papers", files, seed),
        random.Random(seed),
        lambda number: f"{address}/killed{number}",
        files / 1_000,
        ENGINE,
        max(1, files // 2_000),
        node=node,
        say=say,
    )
