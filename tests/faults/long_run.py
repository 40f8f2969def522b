"""Operations of every kind in random order on several stores at once, killed at random places.

A store begins empty. Each operation is a command of nearfold; files are written, changed and
removed before it. Up to `MOST_TOGETHER` follow each other in one process, which is killed in
half of the cases, at a failpoint or after a random time. A model knows what the store must hold
after each operation. After a kill the store must hold what it held before the command that was
interrupted or what it must hold after, document by document, and the same command must complete.
After each process everything is checked: every document once, with its text and labels, its keys as
recomputed, families that hold. A seed gives the same operations and failpoints; the times depend on
the machine.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from family_oracle import FOLD
from jobs import EPOCH, OPTIONS, SECONDS, FileContent, JobResult, JobRunner, Step
from oracle import StoreState, check_soundness, read_state
from sample_library import edited, sentence

from indexer.model import Row
from indexer.recipe_names import recipe_named

KILLED_SHARE = 1 / 2
MOST_TOGETHER = 12  # operations in one process
LONGEST_DELAY = 0.03  # seconds until a kill, for each operation; many take less
MOST_FILES = 150
FAILPOINTS = ("before_extract", "before_repair", "after_repair", "before_write", "after_write")
FAILPOINTS_OF_STORES = {
    "sqlite": ("before_commit", "after_commit", "before_journal", "after_journal"),
    "opensearch": ("before_send", "after_send", "before_journal"),
    "elasticsearch": ("before_send", "after_send", "before_journal"),
}
RECIPES = ("default_v1", "default_v2")
TOGETHER = 2  # stores at a time
ACCEPTED_CODES = (0, 1)  # 1: `doctor` and `consistency` report what they found


@dataclass(frozen=True)
class Expected:
    """The content that a store must have: text and labels by path, recipe, family threshold."""

    texts: dict[str, str] = field(default_factory=dict)
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    recipe: str = "default_v2"
    threshold: float = FOLD

    def document(self, path: str) -> tuple[str, frozenset[str]] | None:
        """Return the text and the labels of a document, None if it is not there."""
        text = self.texts.get(path)
        return None if text is None else (text, self.labels.get(path, frozenset()))

    def with_texts(self, texts: dict[str, str]) -> Expected:
        """Return this with texts added or changed."""
        return replace(self, texts=self.texts | texts)

    def without(self, path: str) -> Expected:
        """Return this without one document."""
        texts = {name: text for name, text in self.texts.items() if name != path}
        labels = {name: several for name, several in self.labels.items() if name != path}
        return replace(self, texts=texts, labels=labels)

    def labelled(self, paths: list[str], label: str) -> Expected:
        """Return this with a label added to documents."""
        added = {path: self.labels.get(path, frozenset()) | {label} for path in paths}
        return replace(self, labels=self.labels | added)


@dataclass(frozen=True)
class Operation:
    """A command, the files that are written before it (None: removed), and what the store must hold
    once it is done.
    """

    words: tuple[str, ...]
    expected: Expected
    files: Mapping[str, FileContent | None] = field(default_factory=dict)
    check: Callable[[JobResult], None] = lambda _: None


@dataclass
class LongRun:
    """One store, its folder of files, and its model: `planned` is what the store must hold after
    the operations that were chosen, `expected` after those that were run.
    """

    home: Path
    url: str
    seed: str

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.fate = random.Random(f"{self.seed} kills")
        self.home.mkdir(parents=True)
        self.folder = self.home / "papers"
        self.folder.mkdir()
        self.inbox = self.home / "inbox"
        self.inbox.mkdir()
        self.copy = self.home / "copy.db"
        self.copied: Expected | None = None
        self.planned = self.expected = Expected()
        self.disk: dict[str, FileContent] = {}
        self.rows: dict[str, Row] = {}
        self.files = 0
        self.is_after_kill = False
        self.operations: Counter[str] = Counter()
        self.kills: Counter[str] = Counter()
        scheme = self.url.partition(":")[0]
        self.failpoints = (*FAILPOINTS, *FAILPOINTS_OF_STORES[scheme])
        self.kinds = [
            *(self._add, self._add, self._change, self._prune, self._delete, self._check),
            *(self._label, self._label, self._label_family, self._group, self._reindex),
            *(self._search, self._similar, self._match, self._families, self._doctor),
            *(self._status, self._consistency, self._export, self._passages, self._versions),
        ]
        if scheme == "sqlite":
            self.kinds += [self._backup, self._restore]

    def run(self, operations: int, seconds: float = math.inf) -> None:
        """Run so many operations, or as many as begin in so many seconds; raise `AssertionError`
        where the store is not as it must be.
        """
        until = time.monotonic() + seconds
        with closing(JobRunner(self.home)) as jobs:
            self._run_all(jobs, self._plan(self._add()))
            while (left := operations - self.operations.total()) > 0 and time.monotonic() < until:
                count = self.chance.randint(1, MOST_TOGETHER)
                self._run_all(jobs, self._choose(min(left, count)))

    def _choose(self, count: int) -> list[Operation]:
        """Return the next operations. One that depends on families is the first."""
        chosen: list[Operation] = []
        while len(chosen) < count:
            kind = self.chance.choice(self.kinds)
            if kind == self._label_family and chosen:
                continue
            chosen += self._plan(kind())
        return chosen

    def _plan(self, operation: Operation | None) -> list[Operation]:
        """Note what an operation will do; none where it cannot be done now."""
        if operation is None:
            return []
        self.planned = operation.expected
        for path, content in operation.files.items():
            if content is None:
                del self.disk[path]
            else:
                self.disk[path] = content
        return [operation]

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
        job = jobs.start_steps(steps)
        timer = threading.Timer(delay, _kill, [job])
        timer.start()
        code, results = jobs.wait_steps(job)
        timer.cancel()
        assert code in (0, -signal.SIGKILL), f"the process ended with {code}"
        assert code or len(results) == len(operations), "an operation has no result"
        return results

    def _note_result(self, operation: Operation, result: JobResult) -> None:
        assert result.code in ACCEPTED_CODES, f"exit {result.code}\n{result.err}"
        assert "Traceback" not in result.err, result.err
        operation.check(result)
        self.expected = operation.expected
        self.operations[operation.words[0]] += 1

    def _check_end(self) -> None:
        """Check that the store holds what it must, and note its rows."""
        state = self._sound_state({self.expected.recipe}, self.expected.threshold)
        self.rows = {row.path: row for row in state.rows.values()}
        stored = documents(state)
        wanted = {path: self.expected.document(path) for path in self.expected.texts}
        assert stored == wanted, difference(stored, wanted)

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

    def _content(self, text: str) -> FileContent:
        """Return the content of a file, later than all others."""
        self.files += 1
        return FileContent(text, EPOCH + self.files)

    def _text(self) -> str:
        """Return a text; half of them are near duplicates of a stored one."""
        if self.planned.texts and self.chance.random() < 0.5:
            known = self.planned.texts[self._path()]
            return edited(known, self.chance.randint(0, 6), f"new{self.files}")
        return sentence(self.chance.randrange(1_000_000), 80) + f" word{self.files}"

    def _path(self, inside: str = "") -> str:
        """Return a random path; with `inside`, one that has it."""
        return self.chance.choice(sorted(path for path in self.planned.texts if inside in path))

    def _stored_path(self, inside: str = "") -> str | None:
        """Return a random path whose id is known; None without one."""
        paths = sorted(path for path in self.planned.texts if inside in path and path in self.rows)
        return self.chance.choice(paths) if paths else None

    def _add(self) -> Operation | None:
        if len(self.planned.texts) > MOST_FILES:
            return None
        files = {}
        for _ in range(self.chance.randint(1, 12)):
            path = str(self.folder / f"{self.files:06}.txt")
            files[path] = self._content(self._text())
        return self._index_files(files)

    def _change(self) -> Operation | None:
        if not self._has_papers():
            return None
        count = self.chance.randint(1, 5)
        return self._index_files(
            {self._path("papers"): self._content(self._text()) for _ in range(count)}
        )

    def _index_files(self, files: dict[str, FileContent]) -> Operation:
        texts = {path: content.text for path, content in files.items()}
        return self._index(self.planned.with_texts(texts), files)

    def _prune(self) -> Operation | None:
        if not self._has_papers():
            return None
        path = self._path("papers")
        return self._index(self.planned.without(path), {path: None}, "--prune")

    def _index(
        self, expected: Expected, files: Mapping[str, FileContent | None], *more: str
    ) -> Operation:
        return Operation(("index", str(self.folder), *OPTIONS, *more), expected, files)

    def _has_papers(self) -> bool:
        return sum("papers" in path for path in self.planned.texts) > 20

    def _delete(self) -> Operation | None:
        path = self._stored_path("papers") if self._has_papers() else None
        if path is None:
            return None
        words = ("delete", self.rows[path].id)
        return Operation(words, self.planned.without(path), {path: None})

    def _check(self) -> Operation | None:
        if len(self.planned.texts) > MOST_FILES:
            return None
        path = str(self.inbox / f"{self.files:06}.txt")
        content = self._content(self._text())
        expected = self.planned.with_texts({path: content.text})
        return Operation(("check", path, "--store-it", "--json"), expected, {path: content})

    def _label(self) -> Operation | None:
        path, label = self._stored_path(), self.chance.choice("abcdef")
        if path is None:
            return None
        words = ("label", self.rows[path].id, "--label", label)
        return Operation(words, self.planned.labelled([path], label))

    def _label_family(self) -> Operation | None:
        path, label = self._stored_path(), self.chance.choice("abcdef")
        if path is None:
            return None
        row = self.rows[path]
        members = [other.path for other in self.rows.values() if other.family == row.family]
        words = ("label", row.id, "--family", "--label", label)
        return Operation(words, self.planned.labelled(members, label))

    def _group(self) -> Operation:
        threshold = self.chance.choice([0.7, 0.8, 0.9])
        words = ("group", "--threshold", str(threshold), "--json")
        return Operation(words, replace(self.planned, threshold=threshold))

    def _reindex(self) -> Operation:
        recipe = self.chance.choice(RECIPES)
        return Operation(("reindex", "--recipe", recipe), replace(self.planned, recipe=recipe))

    def _search(self) -> Operation:
        word = self.planned.texts[self._path()].split()[0]
        total = sum(word in text.split() for text in self.planned.texts.values())

        def check(result: JobResult) -> None:
            found = json.loads(result.out)["total"]
            assert found == total, f"{found} hits instead of {total}"

        return Operation(("search", word, "--json"), self.planned, check=check)

    def _similar(self) -> Operation | None:
        path = self._stored_path()
        if path is None:
            return None
        return Operation(("similar", "--id", self.rows[path].id, "--json"), self.planned)

    def _match(self) -> Operation:
        return Operation(("match", "--threshold", "0.8", "--json"), self.planned)

    def _families(self) -> Operation:
        return Operation(("families", "--json"), self.planned)

    def _status(self) -> Operation:
        documents = len(self.planned.texts)

        def check(result: JobResult) -> None:
            counted = json.loads(result.out)["documents"]
            assert counted == documents, f"{counted} documents instead of {documents}"

        return Operation(("status", "--json"), self.planned, check=check)

    def _consistency(self) -> Operation:
        return Operation(("consistency", "--json"), self.planned)

    def _export(self) -> Operation:
        words = ("export", "--what", "families", "--out", str(self.home / "families.csv"))
        return Operation(words, self.planned)

    def _passages(self) -> Operation:
        return Operation(("passages", "--min", "2", "--json"), self.planned)

    def _versions(self) -> Operation | None:
        path = self._stored_path()
        if path is None:
            return None
        return Operation(("versions", self.rows[path].id, "--json"), self.planned)

    def _doctor(self) -> Operation:
        def check(result: JobResult) -> None:
            repairs = json.loads(result.out)["repairs"]
            repaired = [entry["found"] for entry in repairs if entry["repaired"]]
            assert self.is_after_kill or not repaired, f"nothing was killed, and yet {repaired}"
            self.is_after_kill = False

        return Operation(("doctor", "--repair", "--json"), self.planned, check=check)

    def _backup(self) -> Operation:
        self.copied = self.planned
        return Operation(("backup", str(self.copy), "--replace"), self.planned)

    def _restore(self) -> Operation | None:
        """Put the copy back, and files as they were then."""
        if self.copied is None:
            return None
        files: dict[str, FileContent | None] = {
            path: None for path in self.disk if path not in self.copied.texts
        }
        for path, text in self.copied.texts.items():
            if path not in self.disk or self.disk[path].text != text:
                files[path] = self._content(text)
        return Operation(("restore", str(self.copy), "--replace"), self.copied, files)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


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
) -> dict[str, LongRun]:
    """Run operations on several stores, two at a time, for at most so many seconds in all; raise
    the first failure.
    """
    runs = {name: LongRun(home / name, url, f"{seed}-{name}") for name, url in urls.items()}
    share = seconds * TOGETHER / max(TOGETHER, len(runs))
    with ThreadPoolExecutor(TOGETHER) as pool:
        futures = {name: pool.submit(run.run, operations, share) for name, run in runs.items()}
        for name, future in futures.items():
            future.result()
            run = runs[name]
            say(f"{name}: {run.operations.total():,} operations, {run.kills.total():,} kills")
    return runs
