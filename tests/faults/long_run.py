"""Operations of every kind in random order on several stores at once, killed at random places.

A store begins empty. Each operation is a command of nearfold; files are written, changed and
removed before it. A model knows what the store must hold after each, so everything is checked after
each: every document once, with its text and labels, its keys as recomputed, families that hold.
A third of the operations are killed, at a failpoint or after a random time; then the store must
hold what it held before or what it must hold after, document by document, and the same command
must complete. A seed gives the same operations and failpoints; the times depend on the machine.
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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from family_oracle import FOLD
from jobs import OPTIONS, SECONDS, JobResult, JobRunner, write
from oracle import StoreState, check_soundness, read_state
from sample_library import edited, sentence

from indexer.model import Row
from indexer.recipe_names import recipe_named

KILLED_SHARE = 1 / 3
LONGEST_DELAY = 0.1  # seconds until a kill; many commands take less
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
    """A command, and what the store must hold once it is done."""

    words: tuple[str, ...]
    expected: Expected
    check: Callable[[JobResult], None] = lambda _: None


@dataclass
class LongRun:
    """One store, its folder of files, and its model."""

    home: Path
    url: str
    seed: str

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.home.mkdir(parents=True)
        self.folder = self.home / "papers"
        self.folder.mkdir()
        self.inbox = self.home / "inbox"
        self.inbox.mkdir()
        self.copy = self.home / "copy.db"
        self.copied: Expected | None = None
        self.expected = Expected()
        self.rows: dict[str, Row] = {}
        self.files = 0
        self.operations: Counter[str] = Counter()
        self.kills: Counter[str] = Counter()
        scheme = self.url.partition(":")[0]
        self.failpoints = (*FAILPOINTS, *FAILPOINTS_OF_STORES[scheme])
        self.kinds = [
            *(self._add, self._add, self._change, self._prune, self._delete, self._check),
            *(self._label, self._label, self._label_family, self._group, self._reindex),
            *(self._search, self._similar, self._match, self._families, self._doctor),
        ]
        if scheme == "sqlite":
            self.kinds += [self._backup, self._restore]

    def run(self, operations: int, seconds: float = math.inf) -> None:
        """Run so many operations, or as many as begin in so many seconds; raise `AssertionError`
        where the store is not as it must be.
        """
        until = time.monotonic() + seconds
        with closing(JobRunner(self.home)) as jobs:
            self._complete(jobs, self._add())
            while self.operations.total() < operations and time.monotonic() < until:
                operation = self.chance.choice(self.kinds)()
                if operation is not None:
                    self._do(jobs, operation)

    def _do(self, jobs: JobRunner, operation: Operation) -> None:
        """Run an operation, killed first in a third of the cases."""
        number, name = self.operations.total(), operation.words[0]
        place = f"{self.seed} operation {number}: {' '.join(operation.words)}"
        try:
            if self.chance.random() < KILLED_SHARE and self._is_killed(jobs, operation):
                self.kills[name] += 1
                self._check_between(operation.expected)
            self._complete(jobs, operation)
        except AssertionError as error:
            raise AssertionError(f"{place}: {error}") from error

    def _is_killed(self, jobs: JobRunner, operation: Operation) -> bool:
        """Run an operation until it is killed; False if it ended before."""
        environment, delay = {}, self.chance.uniform(0, LONGEST_DELAY)
        if self.chance.random() < 0.5:
            point = self.chance.choice(self.failpoints)
            environment["NEARFOLD_FAILPOINTS"] = f"{point}:{self.chance.randint(1, 3)}=kill"
            delay = SECONDS
        job = jobs.start(*operation.words, "--store", self.url, **environment)
        timer = threading.Timer(delay, _kill, [job])
        timer.start()
        result = jobs.wait(job)
        timer.cancel()
        assert result.code in (*ACCEPTED_CODES, -signal.SIGKILL), f"{result.code} {result.err}"
        return result.code == -signal.SIGKILL

    def _complete(self, jobs: JobRunner, operation: Operation) -> None:
        result = jobs.run(*operation.words, "--store", self.url)
        assert result.code in ACCEPTED_CODES, f"exit {result.code}\n{result.err}"
        assert "Traceback" not in result.err, result.err
        operation.check(result)
        self.expected = operation.expected
        self.operations[operation.words[0]] += 1
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

    def _write(self, file: Path, text: str) -> dict[str, str]:
        self.files += 1
        write(file, text, self.files)
        return {str(file): text}

    def _text(self) -> str:
        """Return a text; half of them are near duplicates of a stored one."""
        if self.expected.texts and self.chance.random() < 0.5:
            known = self.expected.texts[self._path()]
            return edited(known, self.chance.randint(0, 6), f"new{self.files}")
        return sentence(self.chance.randrange(1_000_000), 80) + f" word{self.files}"

    def _path(self, inside: str = "") -> str:
        """Return a random path; with `inside`, one that has it."""
        return self.chance.choice(sorted(path for path in self.expected.texts if inside in path))

    def _add(self) -> Operation | None:
        if len(self.expected.texts) > MOST_FILES:
            return None
        texts: dict[str, str] = {}
        for _ in range(self.chance.randint(1, 12)):
            texts |= self._write(self.folder / f"{self.files:06}.txt", self._text())
        return self._index(self.expected.with_texts(texts))

    def _change(self) -> Operation | None:
        if not self._has_papers():
            return None
        texts: dict[str, str] = {}
        for _ in range(self.chance.randint(1, 5)):
            texts |= self._write(Path(self._path("papers")), self._text())
        return self._index(self.expected.with_texts(texts))

    def _prune(self) -> Operation | None:
        if not self._has_papers():
            return None
        path = self._path("papers")
        Path(path).unlink()
        return self._index(self.expected.without(path), "--prune")

    def _index(self, expected: Expected, *more: str) -> Operation:
        return Operation(("index", str(self.folder), *OPTIONS, *more), expected)

    def _has_papers(self) -> bool:
        return sum("papers" in path for path in self.expected.texts) > 20

    def _delete(self) -> Operation | None:
        if not self._has_papers():
            return None
        path = self._path("papers")
        Path(path).unlink()
        return Operation(("delete", self._id(path)), self.expected.without(path))

    def _check(self) -> Operation | None:
        if len(self.expected.texts) > MOST_FILES:
            return None
        file = self.inbox / f"{self.files:06}.txt"
        expected = self.expected.with_texts(self._write(file, self._text()))
        return Operation(("check", str(file), "--store-it", "--json"), expected)

    def _label(self) -> Operation:
        path, label = self._path(), self.chance.choice("abcdef")
        words = ("label", self._id(path), "--label", label)
        return Operation(words, self.expected.labelled([path], label))

    def _label_family(self) -> Operation:
        path, label = self._path(), self.chance.choice("abcdef")
        family = self.rows[path].family
        members = [row.path for row in self.rows.values() if row.family == family]
        words = ("label", self._id(path), "--family", "--label", label)
        return Operation(words, self.expected.labelled(members, label))

    def _group(self) -> Operation:
        threshold = self.chance.choice([0.7, 0.8, 0.9])
        words = ("group", "--threshold", str(threshold), "--json")
        return Operation(words, replace(self.expected, threshold=threshold))

    def _reindex(self) -> Operation:
        recipe = self.chance.choice(RECIPES)
        return Operation(("reindex", "--recipe", recipe), replace(self.expected, recipe=recipe))

    def _search(self) -> Operation:
        word = self.expected.texts[self._path()].split()[0]
        total = sum(word in text.split() for text in self.expected.texts.values())

        def check(result: JobResult) -> None:
            found = json.loads(result.out)["total"]
            assert found == total, f"{found} hits instead of {total}"

        return Operation(("search", word, "--json"), self.expected, check)

    def _similar(self) -> Operation:
        return Operation(("similar", "--id", self._id(self._path()), "--json"), self.expected)

    def _match(self) -> Operation:
        return Operation(("match", "--threshold", "0.8", "--json"), self.expected)

    def _families(self) -> Operation:
        return Operation(("families", "--json"), self.expected)

    def _doctor(self) -> Operation:
        return Operation(("doctor", "--repair", "--json"), self.expected)

    def _backup(self) -> Operation:
        def keep(_: JobResult) -> None:
            self.copied = self.expected

        return Operation(("backup", str(self.copy), "--replace"), self.expected, keep)

    def _restore(self) -> Operation | None:
        """Put the copy back, and files as they were then."""
        if self.copied is None:
            return None
        for file in [*self.folder.iterdir(), *self.inbox.iterdir()]:
            if str(file) not in self.copied.texts:
                file.unlink()
        for path, text in self.copied.texts.items():
            if not Path(path).exists() or Path(path).read_text(encoding="utf-8") != text:
                self._write(Path(path), text)
        return Operation(("restore", str(self.copy), "--replace"), self.copied)

    def _id(self, path: str) -> str:
        return self.rows[path].id


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
