"""Operations of every kind in random order on several stores at once, killed at random places.

A store begins empty. Each operation is a command of nearfold; files are written, changed and
removed before it. Several follow each other in one process, which is killed more often than not,
at a failpoint or after a random time. A model knows what the store must hold
after each operation. After a kill the store must hold what it held before the command that was
interrupted or what it must hold after, document by document, and the same command must complete.
After each process everything is checked: every document once, with its text and labels, its keys as
recomputed, families that hold. A seed gives the same operations and failpoints; the times depend on
the machine.
"""

from __future__ import annotations

import json
import math
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from jobs import SECONDS, JobResult, JobRunner, Step, index_names
from oracle import StoreState, check_soundness, read_state
from planned_operations import Expected, Operation, Planner

from indexer.recipe import recipe_named

KILLED_SHARE = 3 / 4
LONGEST_DELAY = 0.03  # seconds until a kill, for each operation; many take less
FAILPOINTS = ("before_extract", "before_repair", "after_repair", "before_write", "after_write")
FAILPOINTS_OF_STORES = {
    "sqlite": ("before_commit", "after_commit", "before_journal", "after_journal"),
    "opensearch": ("before_send", "after_send", "before_journal"),
    "elasticsearch": ("before_send", "after_send", "before_journal"),
}
MAX_TOGETHER = 12  # operations in one process, unless others are asked for
TOGETHER = 4  # stores at a time
PROGRESS = 10_000  # operations from one line of progress to the next
ACCEPTED_CODES = (0, 1)  # 1: `doctor` and `consistency` report what they found


@dataclass
class LongRun:
    """One store, and what it must hold after the operations that were run (`expected`); at most
    `most_together` are in one process.
    """

    home: Path
    url: str
    seed: str
    most_together: int = MAX_TOGETHER
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        scheme = self.url.partition(":")[0]
        self.chance = random.Random(self.seed)
        self.fate = random.Random(f"{self.seed} kills")
        self.planner = Planner(self.home, self.chance, has_copies=scheme == "sqlite")
        self.failpoints = (*FAILPOINTS, *FAILPOINTS_OF_STORES[scheme])
        self.expected = Expected()
        self.is_after_kill = False
        self.operations: Counter[str] = Counter()
        self.kills: Counter[str] = Counter()

    def __str__(self) -> str:
        operations, kills = self.operations.total(), self.kills.total()
        return f"{self.home.name}: {operations:,} operations, {kills:,} kills"

    def run(self, operations: int, seconds: float = math.inf) -> None:
        """Run so many operations, or as many as begin in so many seconds; raise `AssertionError`
        where the store is not as it must be.
        """
        until = time.monotonic() + seconds
        with closing(JobRunner(self.home)) as jobs:
            self._run_all(jobs, self.planner.first())
            while (left := operations - self.operations.total()) > 0 and time.monotonic() < until:
                count = self.chance.randint(1, self.most_together)
                self._run_all(jobs, self.planner.choose(min(left, count)))

    def _run_all(self, jobs: JobRunner, operations: Sequence[Operation]) -> None:
        """Run operations in one process, and in another one for what is left after each kill."""
        left = list(operations)
        place = ""
        try:
            while left:
                place = f"{self.seed} operation {self.operations.total()}: {left[0].words}"
                results = self._results(jobs, left)
                for operation, result in zip(left, results, strict=False):
                    place = f"{self.seed} operation {self.operations.total()}: {operation.words}"
                    self._note_result(operation, result)
                left = left[len(results) :]
                if left:
                    self.is_after_kill = True
                    self.kills[left[0].words[0]] += 1
                    self._check_between(left[0].expected)
            self._check_end()
        except AssertionError as error:
            raise AssertionError(f"{place}: {error}") from error

    def _results(self, jobs: JobRunner, operations: Sequence[Operation]) -> list[JobResult]:
        """Return the results of the operations until the process ended or was killed."""
        steps = [
            Step((*operation.words, "--store", self.url), operation.files)
            for operation in operations
        ]
        delay = SECONDS
        if self.fate.random() < KILLED_SHARE:
            if self.fate.random() < 0.5:
                point = self.fate.choice(self.failpoints)
                killed = self.fate.randrange(len(steps))
                steps[killed] = replace(
                    steps[killed], failpoints=f"{point}:{self.fate.randint(1, 3)}=kill"
                )
            else:
                delay = self.fate.uniform(0, LONGEST_DELAY * len(steps))
        code, results = jobs.wait_steps(jobs.start_steps(steps), delay)
        assert code in (0, -signal.SIGKILL), f"the process ended with {code}"
        assert code or len(results) == len(operations), "an operation has no result"
        return results

    def _note_result(self, operation: Operation, result: JobResult) -> None:
        assert result.code in ACCEPTED_CODES, f"exit {result.code}\n{result.err}"
        assert "Traceback" not in result.err, result.err
        operation.check(result)
        if operation.words[0] == "doctor":
            self._check_repairs(result)
        self.expected = operation.expected
        self.operations[operation.words[0]] += 1
        if self.operations.total() % PROGRESS == 0:
            self.say(str(self))

    def _check_repairs(self, result: JobResult) -> None:
        """Check that `doctor` found nothing to repair unless something was killed before."""
        repairs = json.loads(result.out)["repairs"]
        repaired = [entry["found"] for entry in repairs if entry["repaired"]]
        assert self.is_after_kill or not repaired, f"nothing was killed, and yet {repaired}"
        self.is_after_kill = False

    def _check_end(self) -> None:
        """Check that the store holds what it must, and note its rows."""
        state = self._sound_state({self.expected.recipe}, self.expected.threshold)
        self.planner.rows = {row.path: row for row in state.rows.values()}
        stored = documents(state)
        wanted = {path: self.expected.document(path) for path in self.expected.texts}
        assert stored == wanted, difference(stored, wanted)
        if not self.url.startswith("sqlite:"):
            _, _, server, index = self.url.split("/")
            names = index_names(f"http://{server}", index)
            assert len(names) == 1, f"an earlier version is left: {names}"

    def _check_between(self, after: Expected) -> None:
        """Check that each document is as before the killed command, or as it must be after it."""
        before = self.expected
        threshold = min(before.threshold, after.threshold)
        stored = documents(self._sound_state({before.recipe, after.recipe}, threshold))
        for path in {*stored, *before.texts, *after.texts}:
            allowed = (before.document(path), after.document(path))
            assert stored.get(path) in allowed, f"after the kill: {path} is {stored.get(path)}"

    def _sound_state(self, recipes: set[str], threshold: float) -> StoreState:
        state = read_state(self.url)
        stored = {row.recipe for row in state.rows.values()}
        named = {recipe_named(name).id: recipe_named(name) for name in recipes}
        assert stored <= set(named), f"recipes {stored}, expected {set(named)}"
        for id in stored:
            check_soundness(state, named[id], threshold)
        return state


def documents(state: StoreState) -> dict[str, tuple[str, frozenset[str]] | None]:
    """Return text and labels of the stored documents, by path."""
    rows = state.rows.values()
    assert len({row.path for row in rows}) == len(rows), "I2: a file is there twice"
    return {row.path: (row.text, frozenset(row.labels)) for row in rows}


def difference(stored: dict[str, object], wanted: dict[str, object]) -> str:
    """Return the first document that differs from what is wanted."""
    path = next(path for path in {*stored, *wanted} if stored.get(path) != wanted.get(path))
    return f"{path} is {stored.get(path)} instead of {wanted.get(path)}"


def run_all(
    home: Path,
    urls: dict[str, str],
    operations: int,
    seed: int,
    say: Callable[[str], None] = print,
    seconds: float = math.inf,
    most_together: int = MAX_TOGETHER,
) -> dict[str, LongRun]:
    """Run operations on several stores, four at a time, for at most so many seconds in all; raise
    the first failure.
    """
    runs = {
        name: LongRun(home / name, url, f"{seed}-{name}", most_together, say)
        for name, url in urls.items()
    }
    share = seconds * TOGETHER / max(TOGETHER, len(runs))
    with ThreadPoolExecutor(TOGETHER) as pool:
        futures = {name: pool.submit(run.run, operations, share) for name, run in runs.items()}
        for name, future in futures.items():
            future.result()
            say(f"{runs[name]}, done")
    return runs
