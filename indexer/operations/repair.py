"""Mending a store and its journal: what does not follow from the documents' texts any more is made
from them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from indexer.errors import StoreDamaged
from indexer.grouping.delete import rename_clusters, repair_strays
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, journal_path
from indexer.model import Row
from indexer.operations.reindex import sign_rows
from indexer.operations.salvage import salvage
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.stores.maintenance import RepairableStore
from indexer.stores.requirements import require_recipe
from indexer.text.wording import count_of

BATCH = 256
What = Literal["journal", "index", "keys", "parts", "families", "clusters", "provisional"]


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was found: `what` it is about, `found` in a sentence, and whether it was
    `mended`.
    """

    what: What
    found: str
    mended: bool


def repair(store: Store, *, dry_run: bool = False) -> tuple[Repair, ...]:
    """Read every document, find what does not agree with it, and mend that unless `dry_run`; run
    again, it finds nothing.

    Mended are: a torn journal (what can be read is kept, the damaged file beside it as
    FILE.damaged); in SQLite, indexes out of step; keys, sketches and digests that the text does not
    give; parts of documents that are gone; families and clusters with the name of a document that
    is gone or is not their principal. Documents that wait for `group` are told, and left to it.

    Raises `StoreBusy` while a job works on the store, `StoreDamaged` for a store that cannot be
    read at all (restore a backup), and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    made = list(_journal(store, dry_run))
    if made and dry_run:
        return (*made, *_documents(store, recipe, dry_run))
    with Journal(journal_path(store.url)) as journal, record_job(journal, "repair") as job:
        made += _documents(store, recipe, dry_run)
        job.counts.update(found=len(made), mended=sum(one.mended for one in made))
    return tuple(made)


def _journal(store: Store, dry_run: bool) -> Iterator[Repair]:
    path = journal_path(store.url)
    try:
        if path is None or path.exists():
            Journal(path).close()
    except StoreDamaged as error:
        if path is None:
            raise
        told = ""
        if not dry_run:
            kept, aside = salvage(path)
            told = f"; {kept:,} entries could be kept, the old file is {Path(aside).name}"
        yield Repair("journal", f"{error.reason}{told}", not dry_run)


def _documents(store: Store, recipe: Recipe, dry_run: bool) -> Iterator[Repair]:
    if isinstance(store, RepairableStore):
        found = store.out_of_step()
        if found and not dry_run:
            store.rebuild()
        yield from (Repair("index", one, not dry_run) for one in found)
    store.refresh()
    seen = _Seen()
    wrong = 0
    for batch in _batches(store.of("both").scan()):
        mended = [again for row in batch if (again := _signed(row, recipe, seen)) is not None]
        wrong += len(mended)
        if mended and not dry_run:
            store.write(mended)
    if wrong:
        yield Repair(
            "keys",
            f"{count_of(wrong, 'row')} had keys, sketches or digests not of their text",
            not dry_run,
        )
    store.refresh()
    yield from _strays(store, recipe, seen, dry_run)
    if seen.provisional:
        yield Repair(
            "provisional",
            f"{count_of(seen.provisional, 'document')} to be made final by `nearfold group`",
            False,
        )


class _Seen:
    """What must be known of all rows at once: ids, and who refers to whom."""

    def __init__(self) -> None:
        self.leading: dict[str, bool] = {}
        self.families: set[str] = set()
        self.clusters: dict[str, int] = {}
        self.parts: list[tuple[str, str]] = []
        self.provisional = 0

    def add(self, row: Row) -> None:
        self.leading[row.id] = row.family == row.id
        self.families |= {row.family} - {row.id}
        if row.cluster is not None:
            self.clusters[row.cluster] = self.clusters.get(row.cluster, 0) + 1
        if row.parent is not None:
            self.parts.append((row.id, row.parent))
        self.provisional += row.provisional and row.parent is None and row.status == "complete"

    def headless(self) -> list[str]:
        """Families that are called after no row, or after one that is in another family itself."""
        return sorted(family for family in self.families if not self.leading.get(family, False))

    def misnamed(self) -> list[str]:
        """Clusters that are called after no row, or have one member."""
        return sorted(
            name
            for name, members in self.clusters.items()
            if name not in self.leading or members < 2
        )

    def orphans(self) -> list[str]:
        """Parts of documents that are gone."""
        return [id for id, parent in self.parts if parent not in self.leading]


def _strays(store: Store, recipe: Recipe, seen: _Seen, dry_run: bool) -> Iterator[Repair]:
    """What refers to rows that are gone."""
    if orphans := seen.orphans():
        if not dry_run:
            store.delete(orphans)
        yield Repair(
            "parts", f"{count_of(len(orphans), 'part')} of documents that are gone", not dry_run
        )
    if headless := seen.headless():
        if not dry_run:
            repair_strays(store, recipe, headless)
        yield Repair(
            "families", f"{count_of(len(headless), 'family')} without a principal", not dry_run
        )
    if misnamed := seen.misnamed():
        if not dry_run:
            rename_clusters(
                store, misnamed, {name for name in misnamed if name not in seen.leading}
            )
        yield Repair(
            "clusters",
            f"{count_of(len(misnamed), 'cluster')} of one, or called after a document gone",
            not dry_run,
        )


def _signed(row: Row, recipe: Recipe, seen: _Seen) -> Row | None:
    """The row as its text gives it, None when it is so already, or was never signed."""
    seen.add(row)
    if row.status == "unsigned" or not row.recipe:
        return None
    (again,) = sign_rows([row], recipe)
    return None if _made_of_text(again) == _made_of_text(row) else replace(again, parts=None)


def _made_of_text(row: Row) -> tuple[object, ...]:
    return row.recipe, row.status, row.exact, row.bands, row.blocks, row.minhash, row.simhash


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, BATCH)):
        yield batch
