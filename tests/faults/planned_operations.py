"""Commands of every kind in random order, and what a store must hold after each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from family_oracle import FOLD
from jobs import EPOCH, OPTIONS, FileContent, JobResult
from sample_library import edited, sentence

from indexer.defaults import RECIPE
from indexer.model import Row

MAX_FILES = 40
RECIPES = ("default_v1", "default_v2", "default_v3")


@dataclass(frozen=True)
class Expected:
    """The content that a store must have: text and labels by path, recipe, family threshold."""

    texts: dict[str, str] = field(default_factory=dict)
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    recipe: str = RECIPE
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
class Planner:
    """Chooses commands for a store by chance: `planned` is what it must hold after those chosen,
    `rows` what it held when they were last read.
    """

    home: Path
    chance: random.Random
    has_copies: bool

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True)
        self.folder = self.home / "papers"
        self.folder.mkdir()
        self.inbox = self.home / "inbox"
        self.inbox.mkdir()
        self.copy = self.home / "copy.db"
        self.copied: Expected | None = None
        self.planned = Expected()
        self.disk: dict[str, FileContent] = {}
        self.rows: dict[str, Row] = {}
        self.files = 0
        self.kinds = [
            *(self._add, self._add, self._change, self._prune, self._delete, self._check),
            *(self._label, self._label, self._label_family, self._group, self._reindex),
            *(self._search, self._similar, self._match, self._families, self._doctor),
            *(self._status, self._consistency, self._export, self._passages, self._versions),
        ]
        if self.has_copies:
            self.kinds += [self._backup, self._restore]

    def first(self) -> list[Operation]:
        """Return the command that makes the store."""
        return self._plan(self._add())

    def choose(self, count: int) -> list[Operation]:
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
        if len(self.planned.texts) > MAX_FILES:
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
        return self._index(self.planned.without(path), {path: None}, "--prune", "--force")

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
        if len(self.planned.texts) > MAX_FILES:
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
        words = (
            "export",
            "--what",
            "families",
            "--out",
            str(self.home / "families.csv"),
            "--replace",
        )
        return Operation(words, self.planned)

    def _passages(self) -> Operation:
        return Operation(("passages", "--min", "2", "--json"), self.planned)

    def _versions(self) -> Operation | None:
        path = self._stored_path()
        if path is None:
            return None
        return Operation(("versions", self.rows[path].id, "--json"), self.planned)

    def _doctor(self) -> Operation:
        return Operation(("doctor", "--repair", "--json"), self.planned)

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
