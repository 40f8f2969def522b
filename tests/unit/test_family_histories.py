"""Documents come, change, go and are grouped, in any order, and whatever fails in between: families
hold at any time.

Failures strike between the steps of a job, and inside a step: a store may have done a part of what
it was asked.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from family_oracle import expected, families_of, lone_incomplete_principals, violations
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sample_library import edited, library, rows, sentence

from indexer.defaults import FOLD, PRINCIPAL
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.jobs.arrival import Arrivals
from indexer.jobs.index import IndexOptions, index
from indexer.model import Assignment
from indexer.recipe import DEFAULT
from indexer.stores import open_store

CUT = frozenset({"t", "u"})
names = st.sampled_from("abcdefghtu")


def text_variant(seed: int, edits: int, more: int) -> str:
    """Replace the last words of one of two texts, and add a few."""
    return " ".join([edited(sentence(seed), edits), *(f"more{place}" for place in range(more))])


contents = st.one_of(
    st.builds(
        text_variant, st.integers(0, 1), st.sampled_from([0, 1, 2, 3, 12]), st.integers(0, 4)
    ),
    st.builds(text_variant, st.just(0), st.integers(0, 2), st.integers(0, 4)),
    st.sampled_from(["", "12 34", "short"]),
)
batches = st.lists(st.tuples(names, contents), min_size=1, max_size=6)
soon = st.sampled_from([1, 2, 3, 4, 6, 9, 1_000])


class PowerCut(Exception):
    """Raised when a store did a part of a change and will do no more."""


class Fragile:
    """Store that loses power after so many single changes and refuses some documents."""

    shared = True

    def __init__(self, store: Any) -> None:
        self._store, self.left, self.refused = store, 0, frozenset[str]()
        self.families = FragileFamilies(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, changes: Iterable[Any]) -> Any:
        """Write the last of two rows with one id, as every store does."""
        rows = list(changes)
        last = {row.id: row for row in rows if row.id not in self.refused}
        self.some(self._store.write, list(last.values()))
        return ["refused" if row.id in self.refused else None for row in rows]

    def delete(self, ids: Iterable[str]) -> Any:
        return self.some(self._store.delete, list(ids))

    def some(self, change: Callable[[list[Any]], Any], changes: list[Any]) -> Any:
        result = change(changes[: self.left])
        self.left -= len(changes)
        if self.left < 0:
            raise PowerCut
        return result


class FragileFamilies:
    """The families of such a store."""

    def __init__(self, store: Fragile) -> None:
        self._store, self._families = store, store._store.families

    def __getattr__(self, name: str) -> Any:
        return getattr(self._families, name)

    def assign(self, assignments: Iterable[Any]) -> Any:
        return self._store.some(self._families.assign, list(assignments))


class Histories(RuleBasedStateMachine):
    """`held` is what the store holds, read from it again after each cut."""

    @initialize()
    def begin(self) -> None:
        self.texts: dict[str, str] = {}
        self.whole = library([])
        self.store = Fragile(self.whole)
        self.new_job(True)

    @rule(joining=st.booleans())
    def new_job(self, joining: bool) -> None:
        self.arrivals = Arrivals(self.store, DEFAULT, joins=joining)

    @rule(batch=batches, writes=soon)
    def arrive(self, batch: list[tuple[str, str]], writes: int) -> None:
        """Index one batch of new and changed documents; one may occur twice."""
        arriving = [rows({name: text}, cut=CUT)[0] for name, text in batch]

        def come() -> None:
            placed = self.arrivals.assign(arriving, self.texts.keys())
            assert self.arrivals.write(placed) == [None] * len(arriving)

        self.until(writes, come)

    @rule(
        batches=st.lists(
            st.dictionaries(names, contents, min_size=1, max_size=4), min_size=2, max_size=3
        ),
        refusing=st.booleans(),
    )
    def overlap(self, batches: list[dict[str, str]], refusing: bool) -> None:
        """Batches of new documents are placed one after the other and written at once, the last one
        first.

        `refusing`: the store takes nothing of the first batch.
        """
        ids = set(self.texts)
        under_way = []
        for batch in batches:
            new = {name: text for name, text in batch.items() if name not in ids}
            ids |= new.keys()
            under_way.append(self.arrivals.assign(rows(new, cut=CUT)))
        self.store.refused = frozenset(row.id for row in under_way[0] if refusing)
        with ThreadPoolExecutor(len(under_way)) as threads:
            self.until(1_000, lambda: list(threads.map(self.arrivals.write, reversed(under_way))))
        self.store.refused = frozenset()

    @rule(ids=st.lists(names, min_size=1, max_size=3), writes=soon)
    def go(self, ids: list[str], writes: int) -> None:
        self.until(writes, lambda: delete(self.store, ids))

    @rule(member=st.booleans(), writes=soon)
    def lose_the_principal(self, member: bool, writes: int) -> None:
        """Delete the principal of the largest family, alone or with a member."""
        families = families_of(self.whole)
        head = max(families.values(), key=list(families.values()).count, default="a")
        members = [id for id, family in families.items() if family == head and id != head]
        self.until(writes, lambda: delete(self.store, [head, *(members[:1] if member else [])]))

    @rule(writes=soon)
    def group(self, writes: int) -> None:
        self.until(writes, lambda: group(self.store))

    @rule()
    def group_whole(self) -> None:
        self.until(1_000, lambda: group(self.store))
        stored = rows(dict(sorted(self.texts.items())), cut=CUT)
        assert families_of(self.whole) == expected(stored, FOLD, PRINCIPAL, 1000)
        assert lone_incomplete_principals(self.whole.scan()) == []
        self.store.left = 0
        assert group(self.store).changed == 0

    def until(self, writes: int, job: Callable[[], Any]) -> None:
        """Run a job with power for so many changes; the next one after a cut is a new one."""
        self.store.left = writes
        try:
            job()
        except PowerCut:
            self.new_job(True)
        self.texts = {row.id: row.text for row in self.whole.scan()}

    @invariant()
    def families_hold(self) -> None:
        if hasattr(self, "whole"):
            assert violations(self.whole.scan()) == []


Histories.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestHistories = pytest.mark.long(Histories.TestCase)


def test_a_document_that_lost_its_cluster_leaves_no_cluster_of_its_name() -> None:
    """A change that was cut short wrote the document that a cluster is called after, no other."""
    store = library(rows({"a": sentence(1), "b": sentence(1)}))
    group(store)
    store.write(rows({"a": sentence(1)}))
    store.families.assign([Assignment("a", "a", True, None, None)])
    delete(store, ["a"])
    assert violations(store.scan()) == []


def test_files_join_families_as_they_are_indexed_or_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in {
        "a": sentence(1),
        "b": sentence(1) + " more",
        "c": "12 34",
        "d": "12 34",
    }.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    families = {}
    for threshold in (0.8, 0.999, None):
        store = open_store("sqlite://:memory:")
        index([str(folder)], store, IndexOptions(family_threshold=threshold))
        families[threshold] = len(set(families_of(store).values()))
        assert violations(store.scan()) == []
    assert families == {0.8: 3, 0.999: 4, None: 4}
