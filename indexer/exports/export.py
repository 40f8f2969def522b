"""Exports: what is known of families and pairs, as files for other programs, batches for reviewers,
a report for people.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from indexer.errors import UsageError
from indexer.exports.export_records import (
    COLUMNS,
    BatchRecord,
    DocumentRecord,
    PairRecord,
    QueueRecord,
)
from indexer.exports.load_file import write_dat
from indexer.exports.parquet_tables import write_parquet
from indexer.exports.report import report
from indexer.exports.review_batches import Balance, Batch, Group, batches
from indexer.exports.tables import Table, write_csv
from indexer.grouping.assign_families import RECALL
from indexer.matching.match import MatchOptions, match
from indexer.model import Row
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.whole_file import check_place, write_whole
from indexer.text.wording import count_of

Form: TypeAlias = Literal["csv", "parquet", "dat", "html"]
What: TypeAlias = Literal["families", "pairs", "batches", "queue"]
BATCH_SIZE = 100
REVIEWER = "reviewer:"
THOROUGH = 0.99
EVERY = 1000


@dataclass(frozen=True, slots=True)
class ReviewerLoad:
    """What one reviewer is to read."""

    reviewer: str
    batches: int
    groups: int
    documents: int
    words: int


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written: `records` are lines of a table, or documents that a report is about.
    `notes` are sentences.
    """

    out: str
    form: Form
    what: str
    records: int
    notes: tuple[str, ...] = ()
    loads: tuple[ReviewerLoad, ...] = ()


def export(
    store: Store,
    out: str | Path,
    form: Form = "csv",
    what: What = "families",
    *,
    threshold: float = 0.8,
    measure: str = "jaccard",
    reviewers: Sequence[str] = (),
    batch_size: int = BATCH_SIZE,
    balance: Balance = "words",
    review: Sequence[str] = (),
    date: str | None = None,
    audit: int = 0,
    progress: Progress = no_progress,
) -> ExportResult:
    """Write families, pairs, review batches or a review queue into a file, or a report about the
    whole store (`html`).

    `families` and `batches` have one record a document, as the last `group` left it; `pairs` are
    those that `match` finds by `threshold` and `measure`. `batches` keep groups together, up to
    `batch_size` documents; a label `reviewer:NAME` says who has read a document, and `reviewers`
    who shares the work. A `queue` has the near duplicates of documents with a label of `review`
    that carry none of these themselves. `date` stands in the report and nowhere else; for it
    `audit` pairs are verified, by which `match` tells what bands as those of `group` miss at
    `threshold`. The file appears whole or not at all, and is the same, byte for byte, for the same
    documents and settings.

    Raises `UsageError` for what cannot be written, `MissingExtra` for Parquet without pyarrow,
    `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    out = Path(out)
    check_place(out)
    require_recipe(store)
    if batch_size < 1:
        raise UsageError(f"a batch must hold 1 document or more, not {batch_size}")
    if form == "html":
        audited = (
            match(
                store,
                MatchOptions(threshold=threshold, recall=RECALL, audit=audit),
                progress=progress,
            ).audit
            if audit
            else None
        )
        made = report(store, date, progress, audited)
        with write_whole(out) as part:
            part.write_text(made.html, encoding="utf-8", errors="replace", newline="\n")
        return ExportResult(str(out), form, "report", made.documents)
    told = _Told()
    if what == "pairs":
        records: Iterable[Any] = _pairs(store, threshold, measure, told, progress)
    elif what == "batches":
        records = _batched(store, tuple(reviewers), batch_size, balance, told, progress)
    elif what == "queue":
        records = _awaiting(store, frozenset(review), told, progress)
    else:
        records = _documents(store, told, progress)
    with write_whole(out) as part:
        written = _write(Table(COLUMNS[what, form == "dat"], records), part, form, told)
    return ExportResult(str(out), form, what, written, tuple(told.notes), tuple(told.loads))


class _Told:
    """What is noticed on the way."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.loads: list[ReviewerLoad] = []


def _write(table: Table, out: Path, form: Form, told: _Told) -> int:
    if form == "parquet":
        return write_parquet(table, out)
    if form == "csv":
        with out.open("w", encoding="utf-8", errors="replace", newline="") as file:
            return write_csv(table, file)
    with out.open("wb") as raw:
        written, altered = write_dat(table, raw)
    if altered:
        told.notes.append(
            f"{altered:,} fields held signs that a load file cannot spell; see docs/exports.md"
        )
    return written


def _documents(store: Store, told: _Told, progress: Progress) -> Iterator[DocumentRecord]:
    """Every document by id; the store is read twice, texts let go at once."""
    store.refresh()
    total = store.counts().documents
    sizes, copies = Counter[str](), _Copies()
    for place, row in enumerate(store.scan()):
        sizes[row.family] += 1
        copies.add(row)
        if place % EVERY == 0:
            progress("counting", place, total)
    provisional = 0
    for place, row in enumerate(store.scan()):
        provisional += row.provisional
        if place % EVERY == 0:
            progress("writing", place, total)
        yield DocumentRecord(_without_text(row), sizes[row.family], copies.of(row))
    if provisional:
        told.notes.append(
            f"{count_of(provisional, 'document')} came after the last group: provisional families"
        )


class _Copies:
    """The first document of each text that several documents have; empty texts are no copies of
    each other.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._several: set[bytes] = set()

    def add(self, row: Row) -> None:
        if (digest := self._digest(row)) is None:
            return
        if digest in self._first:
            self._several.add(digest)
        self._first.setdefault(digest, row.id)

    def of(self, row: Row) -> str | None:
        digest = self._digest(row)
        return self._first[digest] if digest in self._several else None

    def _digest(self, row: Row) -> bytes | None:
        """What stands for the normalised text, in 16 bytes."""
        return (
            hashlib.blake2b(row.exact.encode(), digest_size=16).digest()
            if row.exact and row.status != "empty"
            else None
        )


def _without_text(row: Row) -> Row:
    return replace(row, text="", metadata={}, bands=(), blocks=(), minhash=None)


def _pairs(
    store: Store, threshold: float, measure: str, told: _Told, progress: Progress
) -> Iterator[PairRecord]:
    found = match(
        store,
        MatchOptions(threshold=threshold, measure=measure, false_negative_weight=THOROUGH),
        progress=progress,
    )
    told.notes.extend(found.notes())
    for pair, a, b in zip(found, found.left, found.right, strict=True):
        yield PairRecord(
            pair.a,
            pair.b,
            pair.similarity,
            pair.measure,
            pair.low,
            pair.high,
            found.paths[a],
            found.paths[b],
        )


def _awaiting(
    store: Store, review: frozenset[str], told: _Told, progress: Progress
) -> Iterator[QueueRecord]:
    """Those whose family carries a label that asks for review; who carries such a label was judged
    already.
    """
    if not review:
        raise UsageError("name the labels whose near duplicates are to be reviewed, with --review")
    asking: dict[str, set[str]] = defaultdict(set)
    for row in store.scan():
        if found := review.intersection(row.labels):
            asking[row.family] |= found
    for one in _documents(store, told, progress):
        if one.row.family in asking and not review.intersection(one.row.labels):
            yield QueueRecord(one, tuple(sorted(asking[one.row.family])))


def _batched(
    store: Store,
    reviewers: tuple[str, ...],
    size: int,
    balance: Balance,
    told: _Told,
    progress: Progress,
) -> Iterator[BatchRecord]:
    """Documents by batch, then group, the principal first and the others by similarity to it."""
    families: dict[str, list[DocumentRecord]] = defaultdict(list)
    for one in _documents(store, told, progress):
        families[one.row.family].append(one)
    for members in families.values():
        members.sort(key=lambda one: (not one.leads, -(one.row.similarity or 0.0), one.row.id))
    documents = {one.row.id: one for members in families.values() for one in members}
    made = batches(
        [_group(name, members) for name, members in families.items()], reviewers, size, balance
    )
    told.notes.extend(_split(made))
    told.loads.extend(_loads(made, documents))
    for batch in made:
        for piece in batch.pieces:
            yield from (BatchRecord(documents[id], batch, piece) for id in piece.documents)


def _group(name: str, members: Sequence[DocumentRecord]) -> Group:
    history = [
        label.removeprefix(REVIEWER)
        for one in members
        for label in one.row.labels
        if label.startswith(REVIEWER)
    ]
    return Group(
        name,
        tuple(one.row.id for one in members),
        sum(one.row.words for one in members),
        tuple(history),
    )


def _split(made: Sequence[Batch]) -> Iterator[str]:
    """Says how many groups no batch could hold."""
    split = {piece.group for batch in made for piece in batch.pieces if piece.parts > 1}
    if split:
        yield f"{count_of(len(split), 'group')} larger than a batch, over several of one reviewer; `parts` says in how many"


def _loads(made: Sequence[Batch], documents: dict[str, DocumentRecord]) -> Iterator[ReviewerLoad]:
    for name in dict.fromkeys(batch.reviewer for batch in made):
        pieces = [piece for batch in made if batch.reviewer == name for piece in batch.pieces]
        ids = [id for piece in pieces for id in piece.documents]
        groups = len({piece.group for piece in pieces})
        words = sum(documents[id].row.words for id in ids)
        yield ReviewerLoad(
            name, sum(batch.reviewer == name for batch in made), groups, len(ids), words
        )
