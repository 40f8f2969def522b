"""What is wrong with the set-up: one line a check, with the way to mend it."""

from __future__ import annotations

import importlib.util
import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from indexer.errors import NearfoldError, StoreDamaged
from indexer.jobs.journal import journal_path, stored_failures
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.sketch.fingerprint import fingerprints, kernel_name
from indexer.stores import open_store
from indexer.stores.base import Store
from indexer.stores.maintenance import faults_as_damage
from indexer.system.release import release
from indexer.text.wording import count_of

SAMPLE = 200
_EXTRAS = (("opensearchpy", "opensearch"), ("elasticsearch", "elasticsearch"), ("tika", "tika"))


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one thing: `good`, `note` (works, could be better) or `bad`; `detail` says
    what to do.
    """

    name: str
    verdict: Literal["good", "note", "bad"]
    detail: str


def doctor(store_url: str) -> list[Check]:
    """Check this machine and the store. Never raises for what it finds; a store that does not exist
    yet is a note.
    """
    return [*_machine(), *_store(store_url)]


def _machine() -> Iterator[Check]:
    yield Check(
        "python", "good", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    if kernel_name() == "rust":
        yield Check("kernel", "good", "rust (compiled)")
    else:
        yield Check(
            "kernel",
            "note",
            "numpy: the same bits, slower; install a Rust toolchain and reinstall nearfold for the compiled one",
        )
    yield _full_text()
    yield Check("extractor", "good", f"iscc-tika {release('iscc-tika')}")
    for module, extra in _EXTRAS:
        present = importlib.util.find_spec(module) is not None
        yield Check(
            extra,
            "good" if present else "note",
            "installed" if present else f"not installed; pip install 'nearfold[{extra}]'",
        )


def _full_text() -> Check:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return Check(
            "sqlite",
            "bad",
            f"SQLite {sqlite3.sqlite_version} has no FTS5; use a Python built with it",
        )
    finally:
        connection.close()
    return Check("sqlite", "good", f"SQLite {sqlite3.sqlite_version} with FTS5")


def _store(url: str) -> Iterator[Check]:
    try:
        store = open_store(url)
    except NearfoldError as error:
        yield Check("store", "bad", str(error))
        return
    try:
        recipe = store.stored_recipe()
        if recipe is None:
            yield Check("store", "note", f"nothing at {url} yet; nearfold index PATH makes it")
            return
        seen = store.counts()
        yield Check(
            "store",
            "good",
            f"{count_of(seen.documents, 'document')} in {url}, recipe {recipe.name}",
        )
        if missing := seen.documents - sum(seen.by_status.values()):
            way = f"nearfold index {url} --text-field FIELD --store {url}"
            yield Check(
                "signed",
                "note",
                f"{count_of(missing, 'document')} never signed; `{way}` signs what is there",
            )
        with faults_as_damage(store):
            yield _keys(store, recipe)
        yield _journal(store)
    except NearfoldError as error:
        yield Check("store", "bad", str(error))
    finally:
        store.close()


def _journal(store: Store) -> Check:
    try:
        failures = stored_failures(journal_path(store.url))
    except StoreDamaged as error:
        return Check(
            "journal",
            "bad",
            f"{error.path} cannot be used ({error.reason}); `nearfold doctor --repair` mends it",
        )
    said = "a job is at work" if failures is None else f"{len(failures):,} failures remembered"
    return Check("journal", "good", said)


def _keys(store: Store, recipe: Recipe) -> Check:
    """Stored keys equal keys computed again from the stored texts, on a sample of those that were
    signed.
    """
    rows = list(
        islice(
            (row for row in store.of("both").scan() if row.recipe and row.status != "unsigned"),
            SAMPLE,
        )
    )
    again = fingerprints([row.text for row in rows], recipe)
    wrong = [
        row.id
        for place, row in enumerate(rows)
        if _differs(row, again[place].bands, again[place].blocks)
    ]
    if wrong:
        return Check(
            "keys",
            "bad",
            f"{len(wrong)} of {len(rows)} rows have keys that their text does not give, first {wrong[0]}; "
            "`nearfold doctor --repair` mends all",
        )
    return Check("keys", "good", f"equal to recomputed keys in {len(rows)} rows")


def _differs(row: Row, bands: tuple[str, ...], blocks: tuple[str, ...]) -> bool:
    return (row.bands, row.blocks) != (bands, blocks)
