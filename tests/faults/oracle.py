"""The nine invariants, checked from outside: the folder, the store, the journal and what a job
reported, compared.

I1 every file ends in one outcome; I2 what was reported as indexed is there, once; I3 stored keys
equal recomputed keys; I4 no cut text is called complete; I5 nothing that was acknowledged is
extracted again; I6 after the fault a fresh document is indexed and found; I7 time and memory are
bounded (see `jobs`); I8 one recipe; I9 the same result as an undisturbed run.
"""

from __future__ import annotations

import stat
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from family_oracle import FOLD, violations
from jobs import JobResult

from indexer.fingerprinting.fingerprint import content_digest, fingerprint
from indexer.fingerprinting.keys import stored_bits, stored_sketch
from indexer.grouping.group import group
from indexer.model import Query, Row
from indexer.recipe import DEFAULT, Recipe
from indexer.stores import open_store
from indexer.stores.address import parse_address
from indexer.stores.journal import journal_path, stored_failures

EVENTS = {"extracted", "indexed", "failed", "paused"}


@dataclass(frozen=True)
class StoreState:
    """The content of a store, by id, and of its journal, digests by path, at one time."""

    rows: dict[str, Row]
    failed: dict[str, str]

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(row.path for row in self.rows.values())

    def decided(self) -> set[tuple[str, str]]:
        """Return the path and the digest of everything that was stored, or failed."""
        return {(row.path, row.source) for row in self.rows.values()} | set(self.failed.items())


def _recipe_now(url: str) -> Recipe:
    """Return the recipe of a store after its rows were read: an engine may have put another index
    in service meanwhile, by a request that was under way when its client was killed.
    """
    with closing(open_store(url)) as store:
        recipe = store.stored_recipe()
    assert recipe is not None
    return recipe


def read_state(url: str) -> StoreState:
    """Read the store and its journal; check that each id is there once (I2), one recipe (I8)."""
    store = open_store(url)
    try:
        recipe = store.stored_recipe()
        if recipe is None:
            return StoreState({}, {})
        store.refresh()
        rows = list(store.scan())
        assert store.counts().documents == len(rows) == len({row.id for row in rows}), (
            "I2: a document is there twice"
        )
        recipes = {row.recipe for row in rows}
        if recipes - {recipe.id}:
            recipe = _recipe_now(url)
        assert recipes <= {recipe.id}, f"I8: rows of the recipes {recipes}, not of {recipe.id}"
    finally:
        store.close()
    failed = stored_failures(journal_path(parse_address(url)))
    assert failed is not None, "the journal is held by a job that has ended"
    rows_by_id = {row.id: row for row in rows}
    sources_by_path = {failure.path: failure.source for failure in failed}
    return StoreState(rows_by_id, sources_by_path)


_fingerprint = lru_cache(maxsize=1 << 12)(fingerprint)


def check_soundness(state: StoreState, recipe: Recipe = DEFAULT, threshold: float = FOLD) -> None:
    """Check what holds at any time: I3, keys recomputed from the texts; I4; families whose
    principals exist, made at the threshold.
    """
    for row in state.rows.values():
        if row.recipe != recipe.id:
            continue
        expected = _fingerprint(row.text, recipe)
        cut = row.status == "truncated"
        assert row.status in (expected.status, "truncated"), f"I3: {row.path} is {row.status}"
        stored = (row.bands, row.blocks, row.minhash, row.simhash, row.exact, row.words)
        assert stored == (
            expected.bands,
            expected.blocks,
            stored_sketch(expected),
            stored_bits(expected),
            content_digest(expected.exact, row.embedded),
            expected.words,
        ), f"I3: keys of {row.path}"
        assert not cut or row.principal is not True, (
            f"I4: {row.path} is cut and is the principal of a family"
        )
    assert violations(state.rows.values(), threshold) == []


def count_events(log: Path, word: str) -> Counter[str]:
    """Return how often each path is in a job's log with this word: `extracted`, `indexed` or
    `failed`; with `paused` the seconds of each delay.
    """
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    events = [line.partition(" ") for line in lines]
    assert {event for event, _, _ in events} <= EVENTS, f"{log} has other events"
    return Counter(path for event, _, path in events if event == word)


def check_acknowledged(state: StoreState, log: Path, most_chars: int = 3000) -> None:
    """Check I2 after a fault: every document reported as indexed is in the store, with the present
    text of its file.
    """
    by_path = {row.path: row for row in state.rows.values()}
    for path in count_events(log, "indexed"):
        assert path in by_path, f"I2: {path} was acknowledged and is not there"
        if path.endswith(".txt"):
            assert by_path[path].text == Path(path).read_text(encoding="utf-8")[:most_chars].strip(
                "\ufeff"
            ), f"I2: {path} has another text"
    assert set(count_events(log, "failed")) <= set(state.failed), (
        "I1: a failure was reported and is not recorded"
    )


def check_account(job: JobResult, state: StoreState, folder: Path) -> None:
    """Check I1: the account adds up to the folder, and each file is in the store, in the journal,
    or special.
    """
    account = job.account
    assert account is not None, f"exit {job.code}\n{job.err}"
    files = [path for path in folder.rglob("*") if not path.is_dir()]
    plain = {str(path) for path in files if stat.S_ISREG(path.lstat().st_mode)}
    outcomes = (
        account["indexed"]
        + account["unchanged"]
        + sum(account["skipped"].values())
        + len(account["failed"])
    )
    assert outcomes == account["seen"] == len(files), f"I1: {account}"
    assert {failure["path"] for failure in account["failed"]} == set(state.failed), (
        "I1: the reported failures are not the recorded ones"
    )
    assert state.paths | set(state.failed) == plain and not state.paths & set(state.failed), (
        "I1: a file has no outcome, or two"
    )
    assert job.code == (1 if account["failed"] else 0), f"I1: exit {job.code}"


def check_no_repeats(before: StoreState, after: StoreState, log: Path) -> None:
    """Check I5: no file that was in the store or the journal when a job began was extracted again,
    and none twice.
    """
    extracted = count_events(log, "extracted")
    spared = {path for path, _ in before.decided() & after.decided()}
    assert not set(extracted) & spared, (
        f"I5: extracted again: {sorted(set(extracted) & spared)[:5]}"
    )
    assert set(extracted.values()) <= {1}, "I5: extracted twice"


def grouped_rows(url: str) -> dict[str, tuple[object, ...]]:
    """Return the part of a store that the order of events must not change (I9), by id, families as
    `group` makes them.
    """
    store = open_store(url)
    try:
        group(store)
        return {
            row.id: (
                row.path,
                row.text,
                row.status,
                row.source,
                row.bands,
                row.blocks,
                row.minhash,
                row.simhash,
                row.family,
            )
            for row in store.scan()
        }
    finally:
        store.close()


def is_searchable(url: str, word: str) -> bool:
    """Check I6: a search for this word finds a document."""
    store = open_store(url)
    try:
        store.refresh()
        return store.search(Query(word)).total == 1
    finally:
        store.close()
