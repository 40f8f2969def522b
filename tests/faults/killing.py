"""Random kill -9 while folders are indexed; after each, every acknowledged document is in the
store.

Kills strike at a random moment, half of them at a random step of the job where that is reached
before. Jobs on one store follow each other until one comes to its end; then everything is checked,
and the next store begins. A seed makes the same choices again; the moments at which they strike
depend on the machine as well.
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

from drill import OPTIONS, PROGRAM, ROOT, Ended, library
from oracle import Standing, alive, conserved, economical, grouped, kept, sound, standing, told
from servers.process import Server

from indexer.errors import StoreUnreachable
from indexer.stores import open_store

EMBEDDED = (
    "before_read", "after_read", "before_extract", "after_extract", "before_fingerprint", "after_fingerprint", "before_write",
    "before_commit", "after_commit", "after_write", "before_journal", "after_journal", "before_acknowledge",
    "after_acknowledge", "before_checkpoint", "after_checkpoint",
)  # fmt: skip
ENGINE = (
    *(name for name in EMBEDDED if "commit" not in name and "checkpoint" not in name),
    "before_send",
    "after_send",
)
EACH_FILE = {"before_read", "after_read", "before_extract", "after_extract", "after_acknowledge"}
SHARDS = 60.0  # seconds that a cluster may take to find its shards again
STOPPED = (3, 4)  # no answer when a job began, or no answer any more


@dataclass
class Toll:
    """The counts of a campaign: kills by place, jobs that ended by themselves, stores that were
    filled to the end.
    """

    kills: Counter[str] = field(default_factory=Counter)
    jobs: int = 0
    stores: int = 0
    files: int = 0

    def __str__(self) -> str:
        places = ", ".join(f"{name} {number}" for name, number in sorted(self.kills.items()))
        return f"{self.kills.total()} kills ({places}); {self.jobs} jobs; {self.stores} stores of {self.files:,} files filled"


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
        self.toll = Toll(files=sum(1 for _ in self.folder.iterdir()))
        self.expected = self._undisturbed()

    def run(self, kills: int, until: float = float("inf")) -> Toll:
        """Kill so often, or until that time of the monotonic clock, and fill the last store to its
        end.
        """
        while self.toll.kills.total() < kills and time.monotonic() < until:
            self._fill(kills, until)
        return self.toll

    def _undisturbed(self) -> dict[str, tuple[object, ...]]:
        started = time.monotonic()
        job = self._begin(f"sqlite:///{self.home}/whole.db", self.home / "whole.log")
        assert self._ended(job).code == 0
        self.say(
            f"undisturbed on an embedded store: {time.monotonic() - started:.1f} s for {self.toll.files:,} files"
        )
        return grouped(f"sqlite:///{self.home}/whole.db")

    def _fill(self, kills: int, until: float) -> None:
        """Fill one store, from nothing to its end."""
        url, number = self.url(self.toll.stores), 0
        acknowledged: set[str] = set()
        while True:
            number += 1
            log = self.home / f"store{self.toll.stores}-{number}.log"
            spared = self.toll.kills.total() >= kills or time.monotonic() > until
            ended = self._one(url, log, None if spared else self.chance.random())
            again = acknowledged & set(told(log, "extracted"))
            assert not again, f"I5: acknowledged before and extracted again: {sorted(again)[:5]}"
            acknowledged |= set(told(log, "indexed"))
            if ended is not None and ended.code == 0:
                break
            self._look(url, log, acknowledged)
            log.unlink(missing_ok=True)
        self._judge(url, ended, acknowledged)

    def _one(self, url: str, log: Path, draw: float | None) -> Ended | None:
        """Run one job; None when it was killed."""
        step = self.chance.choice(self.steps) if draw is not None and draw < 0.5 else None
        hit = self.chance.randint(
            1, min(self.toll.files // 2, 3_000) if step in EACH_FILE else self.batches
        )
        moment = self.chance.uniform(0.0, 1.1 * self.seconds) if draw is not None else None
        started = time.monotonic()
        job = self._begin(
            url, log, {} if step is None else {"NEARFOLD_FAILPOINTS": f"{step}:{hit}=kill"}
        )
        self.toll.jobs += 1
        while job.poll() is None and (moment is None or time.monotonic() - started < moment):
            time.sleep(0.005)
            if self.node and draw is not None and self.chance.random() < 0.015 / self.seconds:
                self._kill_node(log)
        if job.poll() is None:
            os.kill(job.pid, signal.SIGKILL)
            step = None
        ended = self._ended(job)
        if ended.code == -signal.SIGKILL:
            self.toll.kills[step or "any moment"] += 1
            self.say(
                f"{self.toll.kills.total():4} {step or f'after {time.monotonic() - started:.2f} s'}"
            )
            return None
        assert ended.code == 0 or (self.node and ended.code in STOPPED), (
            f"exit {ended.code}\n{ended.err}"
        )
        return ended

    def _kill_node(self, log: Path) -> None:
        assert self.node
        self.node.kill()
        self.toll.kills["the server"] += 1
        time.sleep(self.chance.uniform(0, 2))
        started = time.monotonic()
        self.node.start()
        self.say(
            f"{self.toll.kills.total():4} the server, up again after {time.monotonic() - started:.0f} s"
        )

    def _look(self, url: str, log: Path, acknowledged: set[str]) -> None:
        """Check after a kill that every acknowledged document is in the store; of an embedded store
        check everything.
        """
        if self.node is None:
            now = standing(url)
            sound(now)
            kept(now, log)
        missing = acknowledged - (now.paths if self.node is None else self._there(url))
        assert not missing, f"I2: acknowledged and gone: {sorted(missing)[:5]}"

    def _there(self, url: str) -> frozenset[str]:
        """Return the paths of a cluster's documents, looked up by id, once it answers for all its
        shards again.
        """
        until = time.monotonic() + SHARDS
        while (there := self._asked(url)) is None:
            assert time.monotonic() < until, "I6: no answer long after the server was there again"
            time.sleep(0.5)
        return there

    def _asked(self, url: str) -> frozenset[str] | None:
        store = open_store(url)
        try:
            there = store.sources(list(self.expected)) if store.stored_recipe() else ()
        except StoreUnreachable:
            return None
        finally:
            store.close()
        return frozenset(str(self.expected[id][0]) for id in there)

    def _judge(self, url: str, ended: Ended, acknowledged: set[str]) -> None:
        """Check every invariant at the end of a store."""
        after = standing(url)
        conserved(ended, after, self.folder)
        sound(after)
        assert acknowledged <= after.paths, "I2"
        economical(Standing({}, {}), after, self.home / "none.log")
        assert grouped(url) == self.expected, "I9: not what an undisturbed run makes"
        word = f"fresh{self.toll.stores}word"
        fresh = self.home / f"{word}.txt"
        fresh.write_text(f"{word} came after the fault and is found", encoding="utf-8")
        assert self._ended(self._begin(url, self.home / "fresh.log", folder=fresh)).code == 0
        assert alive(url, word), "I6"
        self.toll.stores += 1
        self.say(
            f"     store {self.toll.stores} is whole: {len(after.rows):,} documents, each once, keys as recomputed"
        )

    def _begin(
        self,
        url: str,
        log: Path,
        environment: dict[str, str] | None = None,
        folder: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        settings = {
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(self.home / "state"),
            "DRILL_LOG": str(log),
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
                env={**os.environ, **settings, "DRILL_BATCH": self.batch, **(environment or {})},
                stdout=out,
                stderr=err,
            )

    def _ended(self, job: subprocess.Popen[bytes]) -> Ended:
        job.wait(900)
        return Ended(
            job.returncode,
            (self.home / "out").read_text(encoding="utf-8"),
            (self.home / "err").read_text(encoding="utf-8"),
            0,
        )


def embedded(home: Path, seed: int, files: int, say: Callable[[str], None] = print) -> Campaign:
    """Kill jobs on SQLite files."""
    folder = library(home / "papers", files, seed)
    return Campaign(
        home,
        folder,
        random.Random(seed),
        lambda n: f"sqlite:///{home}/store{n}.db",
        4.0,
        EMBEDDED,
        files // 25,
        "25",
        say=say,
    )


def cluster(
    home: Path, seed: int, files: int, node: Server, say: Callable[[str], None] = print
) -> Campaign:
    """Kill jobs, and the search engine that they fill."""
    folder, address = (
        library(home / "papers", files, seed),
        node.url.replace("http", node.engine.name.lower()),
    )
    url, batches = (lambda number: f"{address}/killed{number}"), max(1, files // 2_000)
    return Campaign(
        home, folder, random.Random(seed), url, files / 1_000, ENGINE, batches, node=node, say=say
    )
