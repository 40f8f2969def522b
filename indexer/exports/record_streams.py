"""The records of each export, read from a store one after the other, without their texts."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from indexer.errors import UsageError
from indexer.exports.custody import NO_CUSTODY, CustodyBuilder, Dedup
from indexer.exports.export_records import BatchRecord, DocumentRecord, PairRecord, QueueRecord
from indexer.exports.review_batches import Balance, Batch, Group, batches
from indexer.matching.match import MatchOptions, match
from indexer.model import Row
from indexer.stores.abilities import PartStore
from indexer.system.progress_callback import Progress
from indexer.text.wording import count_of

REVIEWER = "reviewer:"
EVERY = 1000


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
    """By-products of reading records: notes in sentences, and for batches each reviewer's load."""

    notes: list[str] = field(default_factory=list)
    loads: list[ReviewerLoad] = field(default_factory=list)


def document_records(
    store: PartStore, findings: Findings, progress: Progress, dedup: Dedup | None = None
) -> Iterator[DocumentRecord]:
    """Yield every document by id, but for duplicates that `dedup` leaves out; without it records
    have no custody.

    The store is read twice, and copies a third time for their custody; texts are dropped at once.
    """
    store.refresh()
    total = store.counts().documents
    sizes = Counter[str]()
    copies = _TextCopies()
    builder = CustodyBuilder(dedup) if dedup else None
    for place, row in enumerate(store.scan()):
        sizes[row.family] += 1
        copies.add(row)
        if builder:
            builder.add(row)
        if place % EVERY == 0:
            progress("counting", place, total)
    custodies = builder.build(store) if builder else None
    provisional = left_out = 0
    for place, row in enumerate(store.scan()):
        if custodies and custodies.is_left_out(row):
            left_out += 1
            continue
        provisional += row.provisional
        if place % EVERY == 0:
            progress("writing", place, total)
        custody = custodies.of(row) if custodies else NO_CUSTODY
        yield DocumentRecord(_without_text(row), sizes[row.family], copies.first_of(row), custody)
    if left_out:
        findings.notes.append(f"{count_of(left_out, 'duplicate')} left out, mails with attachments")
    if provisional:
        documents = count_of(provisional, "document")
        findings.notes.append(f"{documents} came after the last group: provisional families")


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
    return replace(row, text="", metadata={}, bands=(), blocks=(), minhash=None)


def pair_records(
    store: PartStore, threshold: float, measure: str, findings: Findings, progress: Progress
) -> Iterator[PairRecord]:
    """Yield the pairs that `match` finds, with the paths of both documents."""
    options = MatchOptions(threshold=threshold, measure=measure)
    matched = match(store, options, progress=progress)
    findings.notes.extend(matched.notes())
    paths = matched.paths
    for pair, a, b in zip(matched, matched.left, matched.right, strict=True):
        interval = pair.low, pair.high
        yield PairRecord(
            pair.a, pair.b, pair.similarity, pair.measure, *interval, paths[a], paths[b]
        )


def queue_records(
    store: PartStore, documents: Iterable[DocumentRecord], review: frozenset[str]
) -> Iterator[QueueRecord]:
    """Yield those whose family has a label of `review` and that have none themselves: those
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
        families[document.row.family].append(document)
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
