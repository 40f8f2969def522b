"""Repair a store and its journal: recompute whatever no longer agrees with the documents' texts."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from indexer.documents.blobs import INSIDE, file_ids, identifier
from indexer.errors import StoreDamaged
from indexer.fingerprinting.fingerprint import fresh_rows
from indexer.grouping.delete import delete_and_repair, rename_clusters, repair_strays
from indexer.grouping.group_options import (
    DEFAULT_OPTIONS,
    FamilyOptions,
    GroupOptions,
    last_options,
)
from indexer.jobs.review_file import review_file
from indexer.model import Row, is_part_id
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore, outlines
from indexer.stores.journal import TABLES, Journal, journal_path, record_job
from indexer.stores.maintenance import Repairable, Shareable
from indexer.stores.requirements import (
    ALIAS,
    MERGED,
    former_ids,
    is_shared,
    require_updatable,
    require_writable,
)
from indexer.system.files import make_private, move_aside, rename_durably
from indexer.wording import count_of, format_labels

# Rebuild a damaged journal from every entry that can still be read.

_PAGE = 4096  # bytes
_MAX_PADDING = 1 << 30  # bytes


def salvage(path: Path) -> tuple[int, str]:
    """Replace a damaged journal by a new one with every entry that can be read.

    Returns the number of entries and the path of the damaged file.
    """
    half = Path(f"{path}.half")
    torn = Path(f"{path}.torn")
    for temporary in (half, torn):
        temporary.unlink(missing_ok=True)
        make_private(temporary, path)
    torn.write_bytes(_padded(path.read_bytes()))
    with closing(sqlite3.connect(half)) as new, closing(sqlite3.connect(torn)) as old, new:
        entries = _copy_entries(old, new)
    damaged_file = move_aside(str(path))
    rename_durably(str(half), str(path))
    for suffix in ("", "-journal"):
        Path(f"{torn}{suffix}").unlink(missing_ok=True)
    return entries, damaged_file


def _padded(data: bytes) -> bytes:
    """Return a database file with zeros for the pages that its header counts and it lacks; they are
    read as no rows.
    """
    size = int.from_bytes(data[28:32], "big") * _PAGE
    return data + bytes(max(-len(data) % _PAGE, min(size - len(data), _MAX_PADDING)))


def _copy_entries(old: sqlite3.Connection, new: sqlite3.Connection) -> int:
    entries = 0
    for table, definition in _tables(old):
        new.execute(definition)
        for row in _readable_rows(old, table):
            marks = ", ".join("?" * len(row))
            insert = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"
            entries += new.execute(insert, row).rowcount
    return entries


def _tables(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return name and definition of each journal table that can still be read."""
    try:
        tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.DatabaseError:
        return []
    return [(name, definition) for name, definition in tables if name in TABLES]


def _readable_rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows before the first damage, and those after the last one."""
    for order in ("", " ORDER BY 1 DESC"):
        try:
            yield from db.execute(f"SELECT * FROM {table}{order}")
        except sqlite3.DatabaseError:
            continue
        return


BATCH = 256
What = Literal[
    "journal",
    "index",
    "copies",
    "codings",
    "keys",
    "parts",
    "foreign",
    "families",
    "clusters",
    "provisional",
]
REPORTED_ONLY: Collection[What] = ("foreign", "provisional", "codings")  # never repaired


@dataclass(frozen=True, slots=True)
class Repair:
    """One inconsistency: `what` it concerns, `found` in a sentence, and whether it was
    `repaired`.
    """

    what: What
    found: str
    repaired: bool


def repair(store: FullStore, *, dry_run: bool = False) -> tuple[Repair, ...]:
    """Read every document, find what does not agree with it, and repair that unless `dry_run`; a
    second run finds nothing.

    Repaired are: a damaged journal (readable entries are kept, the damaged file next to it as
    FILE.damaged); in SQLite, indexes out of step; keys, sketches and digests that differ from those
    of the text; files that are stored twice, which are merged (`merge_copies`); parts of deleted
    documents; families and clusters named after a document that is deleted or is not their
    principal. A document that gets new keys leaves its family. Documents
    that wait for `group` are reported and left to it, and documents of other programs that name a
    parent are reported and left alone.

    Raises `StoreBusy` while a job works on the store, `StoreDamaged` for a store that cannot be
    read at all (restore a backup), and `StoreError` when nothing was indexed yet.
    """
    recipe = require_updatable(store) if dry_run else require_writable(store)
    repairs = list(_repair_journal(store, dry_run))
    if repairs and dry_run:
        return (*repairs, *_repair_documents(store, recipe, dry_run))
    last = last_options(store)
    families = last.documents
    with Journal(journal_path(store.address)) as journal, record_job(journal, "repair") as job:
        repairs += merge_copies(store, last, dry_run)
        repairs += _repair_documents(store, recipe, dry_run, families)
        done = sum(repair.repaired for repair in repairs)
        job.counts.update(found=len(repairs), repaired=done)
    return tuple(repairs)


def _repair_journal(store: FullStore, dry_run: bool) -> Iterator[Repair]:
    path = journal_path(store.address)
    try:
        if path is None or path.exists():
            Journal(path).close()
    except StoreDamaged as error:
        if path is None:
            raise
        outcome = ""
        if not dry_run:
            entries, damaged_file = salvage(path)
            kept = count_of(entries, "entry")
            outcome = f"; {kept} kept, the old file is {Path(damaged_file).name}"
        yield Repair("journal", f"{error.reason}{outcome}", not dry_run)


def _repair_documents(
    store: FullStore, recipe: Recipe, dry_run: bool, families: GroupOptions = DEFAULT_OPTIONS
) -> Iterator[Repair]:
    if isinstance(store.maintenance, Repairable):
        faults = store.maintenance.inconsistencies()
        if faults and not dry_run:
            store.maintenance.rebuild()
        yield from (Repair("index", fault, not dry_run) for fault in faults)
    store.refresh()
    references = _References(is_shared(store))
    wrong = 0
    for batch in _batches(stored_rows(store)):
        corrected = []
        for stored, fresh in fresh_rows(batch, recipe):
            references.add(stored, fresh)
            if fresh is not stored:
                corrected.append(fresh)
        wrong += len(corrected)
        if corrected and not dry_run:
            _write_keys(store, corrected)
    if wrong:
        problem = f"{count_of(wrong, 'row')} had keys, sketches or digests not of their text"
        yield Repair("keys", problem, not dry_run)
    store.refresh()
    yield from _repair_references(store, recipe, references, dry_run, families)
    if references.provisional:
        documents = count_of(references.provisional, "document")
        yield Repair("provisional", f"{documents} to be made final by `nearfold group`", False)


# Files that two PATHs stored under two ids.


def stored_rows(store: FullStore) -> Iterator[Row]:
    """Scan documents and parts, in an engine as `Shareable.stored_rows` does."""
    if isinstance(store.maintenance, Shareable):
        return store.maintenance.stored_rows()
    return store.parts.view("both").scan()


def stored_twice(store: FullStore) -> dict[str, list[str]]:
    """Return the ids of each path that is stored under several ids of its own, in the order in
    which SQLite got them, by id in engines; ids by an explicit namespace are not among these.
    """
    ids = defaultdict(list)
    for outline in outlines(store):
        ids[outline.path].append(outline.id)
    twice: dict[str, list[str]] = {}
    for path, several in ids.items():
        own = _own_ids(path) if path and len(several) > 1 else set()
        copies = [id for id in several if id in own]
        if len(copies) > 1:
            twice[path] = copies
    return twice


def _own_ids(path: str) -> set[str]:
    """Return the ids that a file, or what lies in one, has by the PATHs above it."""
    outer, inside, key = path.rpartition(INSIDE)
    if not inside:
        return set(file_ids(b"", os.fsencode(path)))
    inner = os.fsencode(f"{INSIDE}{key}")
    return {identifier(id.encode(), inner) for id in _own_ids(outer)}


def merge_copies(store: FullStore, families: FamilyOptions, dry_run: bool) -> Iterator[Repair]:
    """Merge each file that is stored twice into the older id: labels and notes are united, and the
    other id stays as an alias.

    Of copies whose labels differ, so that neither has all of the other's, none is merged: a person
    decides on these.
    """
    merged: dict[str, str] = {}
    for path, ids in stored_twice(store).items():
        rows = store.get(ids)
        labels = set().union(*(row.labels for row in rows.values()))
        if not any(labels <= set(row.labels) for row in rows.values()):
            codings = (f"{id} has {format_labels(row.labels)}" for id, row in rows.items())
            yield Repair("codings", f"{path} is stored twice: {', '.join(codings)}", False)
            continue
        oldest, *others = ids
        merged |= dict.fromkeys(others, oldest)
        if not dry_run:
            store.write([_united(rows[oldest], [rows[id] for id in others])])
            store.labels.relabel({oldest: sorted(labels)})
    if merged and not dry_run:
        review_file(store).merge(merged)
        delete_and_repair(store, list(merged), families)
    if merged:
        yield Repair(
            "copies", f"{count_of(len(merged), 'document')} stored twice, by two PATHs", not dry_run
        )


def _united(row: Row, others: Sequence[Row]) -> Row:
    """Return a row with the ids of others, and with their former ids, as its former ids."""
    former = {name: value for other in others for name, value in former_ids(other).items()}
    former |= {f"{ALIAS}{other.id}": MERGED for other in others}
    return replace(row, metadata={**row.metadata, **former})


def _write_keys(store: FullStore, rows: Sequence[Row]) -> None:
    """Write the keys of rows; nothing else changes in documents of other programs."""
    if isinstance(store.maintenance, Shareable):
        store.maintenance.fingerprint_again(rows)
    else:
        store.write(rows)


class _References:
    """The ids of all rows, and the families, clusters and parents that rows refer to.

    `shared`: other programs write rows too; one of theirs that names a parent is no part of ours.
    """

    def __init__(self, shared: bool) -> None:
        self._shared = shared
        self.foreign_parts = 0
        self.is_principal: dict[str, bool] = {}
        self.families: set[str] = set()
        self.left: set[str] = set()  # the families of rows that got new keys
        self.clusters: dict[str, int] = {}
        self.parts: list[tuple[str, str]] = []
        self.provisional = 0

    def add(self, row: Row, fresh: Row) -> None:
        """Add a row that is stored, whose family is that of the row with the keys of its text."""
        self.is_principal[row.id] = fresh.family == row.id
        families = self.families if fresh is row else self.left
        families |= {fresh.family} - {row.id}
        if fresh.cluster is not None:
            self.clusters[fresh.cluster] = self.clusters.get(fresh.cluster, 0) + 1
        if row.parent is not None:
            is_own = is_part_id(row.id, row.parent) and row.start is not None
            if is_own or not self._shared:
                self.parts.append((row.id, row.parent))
            else:
                self.foreign_parts += 1
        self.provisional += row.provisional and row.parent is None and row.status == "complete"

    def headless(self) -> list[str]:
        """Return families whose name is not a row, or a row that is in another family itself."""
        return sorted(
            family for family in self.families if not self.is_principal.get(family, False)
        )

    def misnamed(self) -> list[str]:
        """Return clusters whose name is not a row, or that have one member."""
        return sorted(
            name
            for name, members in self.clusters.items()
            if name not in self.is_principal or members < 2
        )

    def orphans(self) -> list[str]:
        """Return the parts of documents that no longer exist."""
        return [id for id, parent in self.parts if parent not in self.is_principal]


def _repair_references(
    store: FullStore,
    recipe: Recipe,
    references: _References,
    dry_run: bool,
    families: GroupOptions,
) -> Iterator[Repair]:
    """Repair what refers to rows that no longer exist."""
    orphans = references.orphans()
    if orphans:
        if not dry_run:
            store.delete(orphans)
        problem = f"{count_of(len(orphans), 'part')} of documents that no longer exist"
        yield Repair("parts", problem, not dry_run)
    if references.foreign_parts:
        rows = count_of(references.foreign_parts, "document")
        problem = f"{rows} of other programs with a `near_parent`, which are left as they are"
        yield Repair("foreign", problem, False)
    headless = references.headless()
    if not dry_run and (headless or references.left):
        repair_strays(store, recipe, sorted({*headless, *references.left}), families)
    if headless:
        problem = f"{count_of(len(headless), 'group')} without a principal"
        yield Repair("families", problem, not dry_run)
    misnamed = references.misnamed()
    if misnamed:
        if not dry_run:
            missing = {name for name in misnamed if name not in references.is_principal}
            rename_clusters(store, misnamed, missing)
        clusters = count_of(len(misnamed), "cluster")
        problem = f"{clusters} of one member, or named after a document that no longer exists"
        yield Repair("clusters", problem, not dry_run)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        yield batch
