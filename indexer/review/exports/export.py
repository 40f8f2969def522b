"""Exports of groups and pairs: files for other programs, batches for reviewers,
a report for people.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from indexer.defaults import BATCH_SIZE, MEASURE, RECALL, REVIEW, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import rows_with_symbols
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.review_file import stored_coding
from indexer.model import Mark, Progress, Row, no_progress
from indexer.review.exports.batches import Balance, Batch, Group, batches
from indexer.review.exports.columns import (
    COLUMNS,
    METADATA,
    BatchRecord,
    DocumentRecord,
    PairRecord,
    QueueRecord,
    coded_columns,
)
from indexer.review.exports.custody import NO_CUSTODY, CustodyBuilder, Dedup
from indexer.review.exports.report import report
from indexer.review.exports.writers import Table, write_csv, write_dat, write_parquet
from indexer.searching.stored_texts import StoredTexts
from indexer.stores.abilities import FullStore, PartStore
from indexer.stores.requirements import require_recipe
from indexer.system.files import check_output_path, write_whole
from indexer.wording import count_of

# The records of each export, read from a store one after the other, without their texts.

REVIEWER = "reviewer:"
EVERY = 1000
MARKED = 200  # documents whose marks are read together


@dataclass(frozen=True, slots=True)
class ReviewerLoad:
    """The work of one reviewer."""

    reviewer: str
    batches: int
    groups: int
    documents: int
    words: int


@dataclass(slots=True)
class Findings:
    """Notes in sentences and the load of each reviewer of batches, found as records are read."""

    notes: list[str] = field(default_factory=list)
    loads: list[ReviewerLoad] = field(default_factory=list)


def document_records(
    store: PartStore, findings: Findings, progress: Progress, dedup: Dedup | None = None
) -> Iterator[DocumentRecord]:
    """Yield every document by id, but for duplicates that `dedup` leaves out; without it records
    have no custody.

    The store is read twice, and copies a third time for their custody; texts are dropped at once.
    """
    recipe = require_recipe(store)
    store.refresh()
    total = store.counts().documents
    sizes = Counter[str]()
    copies = _TextCopies()
    builder = CustodyBuilder(dedup) if dedup else None
    for index, row in enumerate(rows_with_symbols(store.scan(), recipe)):
        sizes[row.family] += 1
        copies.add(row)
        if builder:
            builder.add(row)
        if index % EVERY == 0:
            progress("counting", index, total)
    custodies = builder.build(store) if builder else None
    provisional = left_out = 0
    for index, row in enumerate(rows_with_symbols(store.scan(), recipe)):
        if custodies and custodies.is_left_out(row):
            left_out += 1
            continue
        provisional += row.provisional
        if index % EVERY == 0:
            progress("writing", index, total)
        custody = custodies.of(row) if custodies else NO_CUSTODY
        group = custodies.group_of(row) if custodies else row.family
        facts = sizes[row.family], copies.first_of(row), custody, group
        yield DocumentRecord(_without_text(row), *facts)
    if left_out:
        findings.notes.append(f"{count_of(left_out, 'duplicate')} left out, mails with attachments")
    if provisional:
        documents = count_of(provisional, "document")
        findings.notes.append(
            f"{documents} came after the last group: their groups are provisional"
        )


def with_marks(store: FullStore, documents: Iterable[DocumentRecord]) -> Iterator[DocumentRecord]:
    """Yield documents with the marks of each member next to its principal."""
    texts = StoredTexts(store, require_recipe(store))
    remaining = iter(documents)
    while batch := list(islice(remaining, MARKED)):
        members = [document for document in batch if not document.is_principal]
        marks = _marks(texts, [(document.family, document.row.id) for document in members])
        for document in batch:
            yield replace(document, marks=marks.get((document.family, document.row.id), ()))


def _marks(
    texts: StoredTexts, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], tuple[Mark, ...]]:
    """Return the marks of up to `MARKED` pairs, whose documents are read together."""
    texts.read_ahead([id for pair in pairs for id in pair])
    others: dict[str, list[str]] = defaultdict(list)
    for a, b in pairs:
        others[a].append(b)
    marks: dict[tuple[str, str], tuple[Mark, ...]] = {}
    for a, ids in others.items():
        found = texts.differences(a, ids)
        marks |= {(a, id): each.marks for id, each in zip(ids, found, strict=True)}
    return marks


class _TextCopies:
    """The first document of each text that several documents have; empty texts are no copies of
    each other.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._repeated: set[bytes] = set()

    def add(self, row: Row) -> None:
        digest = self._digest(row)
        if digest is None:
            return
        if digest in self._first:
            self._repeated.add(digest)
        self._first.setdefault(digest, row.id)

    def first_of(self, row: Row) -> str | None:
        digest = self._digest(row)
        return self._first[digest] if digest in self._repeated else None

    def _digest(self, row: Row) -> bytes | None:
        """Return 16 bytes for the normalised text."""
        if not row.exact or row.status == "empty":
            return None
        return hashlib.blake2b(row.exact.encode(), digest_size=16).digest()


def _without_text(row: Row) -> Row:
    metadata = {name: row.metadata[name] for name in METADATA if name in row.metadata}
    return replace(row, text="", metadata=metadata, bands=(), blocks=(), minhash=None)


def pair_records(
    store: FullStore, threshold: float, measure: str, findings: Findings, progress: Progress
) -> Iterator[PairRecord]:
    """Yield the pairs that `match` finds, with the paths and marks of both documents."""
    options = MatchOptions(threshold=threshold, measure=measure)
    matched = match(store, options, progress=progress)
    findings.notes.extend(matched.notes())
    paths = matched.paths
    texts = StoredTexts(store, require_recipe(store))
    pairs = zip(matched, matched.left, matched.right, strict=True)
    while batch := list(islice(pairs, MARKED)):
        marks = _marks(texts, [(pair.a, pair.b) for pair, _, _ in batch])
        for pair, a, b in batch:
            measured = pair.similarity, pair.measure, pair.low, pair.high
            found = marks[pair.a, pair.b]
            yield PairRecord(pair.a, pair.b, *measured, paths[a], paths[b], found)


def queue_records(
    store: PartStore, documents: Iterable[DocumentRecord], review: frozenset[str]
) -> Iterator[QueueRecord]:
    """Yield those whose group has a label of `review` and that have none themselves: those
    that have one were reviewed already. Raises `UsageError` without labels.
    """
    if not review:
        raise UsageError("name the labels whose near duplicates are to be reviewed, with --review")
    labels: dict[str, set[str]] = defaultdict(set)
    for row in store.scan():
        matching = review.intersection(row.labels)
        if matching:
            labels[row.family] |= matching
    for document in documents:
        row = document.row
        if row.family in labels and not review.intersection(row.labels):
            yield QueueRecord(document, tuple(sorted(labels[row.family])))


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Who shares the work, how many documents a batch has at most, and what work is counted by."""

    reviewers: tuple[str, ...]
    size: int
    balance: Balance


def batch_records(
    documents: Iterable[DocumentRecord], plan: BatchPlan, findings: Findings
) -> Iterator[BatchRecord]:
    """Yield documents by batch, then group; the principal first, then by similarity to it."""
    families: dict[str, list[DocumentRecord]] = defaultdict(list)
    for document in documents:
        families[document.family].append(document)
    for members in families.values():
        members.sort(key=_reading_order)
    by_id = {document.row.id: document for members in families.values() for document in members}
    groups = [_group(name, members) for name, members in families.items()]
    shared = batches(groups, plan.reviewers, plan.size, plan.balance)
    findings.notes.extend(_split_groups(shared))
    findings.loads.extend(_loads(shared, by_id))
    for batch in shared:
        for piece in batch.pieces:
            for id in piece.documents:
                yield BatchRecord(by_id[id], batch, piece)


def _reading_order(document: DocumentRecord) -> tuple[bool, float, str]:
    row = document.row
    return not document.is_principal, -(row.similarity or 0.0), row.id


def _group(name: str, members: Sequence[DocumentRecord]) -> Group:
    history = [
        label.removeprefix(REVIEWER)
        for document in members
        for label in document.row.labels
        if label.startswith(REVIEWER)
    ]
    ids = tuple(document.row.id for document in members)
    return Group(name, ids, sum(document.row.words for document in members), tuple(history))


def _split_groups(shared: Sequence[Batch]) -> Iterator[str]:
    """Say how many groups no batch could hold."""
    split = {piece.group for batch in shared for piece in batch.pieces if piece.parts > 1}
    if split:
        yield (
            f"{count_of(len(split), 'group')} larger than a batch, over several of one reviewer; "
            "`parts` says in how many"
        )


def _loads(shared: Sequence[Batch], documents: dict[str, DocumentRecord]) -> Iterator[ReviewerLoad]:
    for reviewer in dict.fromkeys(batch.reviewer for batch in shared):
        own = [batch for batch in shared if batch.reviewer == reviewer]
        pieces = [piece for batch in own for piece in batch.pieces]
        ids = [id for piece in pieces for id in piece.documents]
        groups = len({piece.group for piece in pieces})
        words = sum(documents[id].row.words for id in ids)
        yield ReviewerLoad(reviewer, len(own), groups, len(ids), words)


Form: TypeAlias = Literal["csv", "parquet", "dat", "html"]
What: TypeAlias = Literal["families", "pairs", "batches", "queue"]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Settings of an export; each counts for some exports alone.

    Pairs: `threshold` and `measure`, as for `match`. Batches: `reviewers` share the work, in
    batches of at most `batch_size` documents, by the `balance` of words or documents. Queue:
    `review` are labels whose near duplicates are to be reviewed. Groups, batches and queue:
    `dedup` leaves out duplicates, of all custodians or of each. Report (`html`): `date` stands at
    its top, and `audit` pairs are verified, to estimate what bands as those of `group` miss at
    `threshold`; 0 for none.
    """

    threshold: float = DefaultNumber(REVIEW)
    measure: str = DefaultName(MEASURE)
    reviewers: Sequence[str] = ()
    batch_size: int = BATCH_SIZE
    balance: Balance = "words"
    review: Sequence[str] = ()
    dedup: Dedup = "none"
    date: str | None = None
    audit: int = 0


DEFAULTS = ExportOptions()


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The account of an export.

    `records` are lines of a table, or documents that a report is about; `notes` are sentences.
    """

    out: str
    form: Form
    what: str
    records: int
    notes: tuple[str, ...] = ()
    loads: tuple[ReviewerLoad, ...] = ()


def export(
    store: FullStore,
    out: str | Path,
    form: Form = "csv",
    what: What = "families",
    options: ExportOptions = DEFAULTS,
    *,
    replace: bool = False,
    progress: Progress = no_progress,
) -> ExportResult:
    """Write groups, pairs, review batches or a review queue into a file, or a report about the
    whole store (`html`).

    `families` and `batches` have one record a document, as the last `group` left it; `pairs` are
    those that `match` finds. `batches` keep groups together; a label `reviewer:NAME` says who has
    read a document. A `queue` has the near duplicates of documents with a label of `review` that
    have none of these themselves. The file appears whole or not at all, and is the same, byte for
    byte, for the same documents and settings. `replace`: replace a file that is there.

    Raises `UsageError` for what cannot be written, or exists, `MissingExtra` for Parquet without
    pyarrow, `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    out = Path(out)
    check_output_path(out, replace=replace)
    require_recipe(store)
    if options.batch_size < 1:
        raise UsageError(f"a batch has at least 1 document, not {options.batch_size}")
    if form == "html":
        return _write_report(store, out, options, progress)
    findings = Findings()
    is_load_file = form == "dat"
    dedup = options.dedup if is_load_file or options.dedup != "none" else None
    records = _records(store, what, options, dedup, findings, progress)
    table = Table(coded_columns(COLUMNS[what, is_load_file], stored_coding(store)), records)
    with write_whole(out) as part:
        row_count = _write(table, part, form, findings)
    return ExportResult(
        str(out), form, what, row_count, tuple(findings.notes), tuple(findings.loads)
    )


def _write_report(
    store: FullStore, out: Path, options: ExportOptions, progress: Progress
) -> ExportResult:
    audited = None
    if options.audit:
        sampled = MatchOptions(threshold=options.threshold, recall=RECALL, audit=options.audit)
        audited = match(store, sampled, progress=progress)
    page = report(store, options.date, progress, audited)
    with write_whole(out) as part:
        part.write_text(page.html, encoding="utf-8", errors="replace", newline="\n")
    return ExportResult(str(out), "html", "report", page.documents)


def _records(
    store: FullStore,
    what: What,
    options: ExportOptions,
    dedup: Dedup | None,
    findings: Findings,
    progress: Progress,
) -> Iterable[Any]:
    if what == "pairs":
        return pair_records(store, options.threshold, options.measure, findings, progress)
    documents = with_marks(store, document_records(store, findings, progress, dedup))
    if what == "batches":
        plan = BatchPlan(tuple(options.reviewers), options.batch_size, options.balance)
        return batch_records(documents, plan, findings)
    if what == "queue":
        return queue_records(store, documents, frozenset(options.review))
    return documents


def _write(table: Table, out: Path, form: Form, findings: Findings) -> int:
    if form == "parquet":
        return write_parquet(table, out)
    if form == "csv":
        with out.open("w", encoding="utf-8", errors="replace", newline="") as file:
            return write_csv(table, file)
    with out.open("wb") as raw:
        row_count, altered = write_dat(table, raw)
    if altered:
        findings.notes.append(
            f"{count_of(altered, 'field')} held characters that a load file cannot hold; "
            "see docs/exports.md"
        )
    return row_count
