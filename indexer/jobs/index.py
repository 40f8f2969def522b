"""Indexing: the stages put together, one account at the end."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Literal

from indexer.documents.base import (
    DEFAULT_LIMITS,
    ExtractorPool,
    Limits,
    ReadOptions,
    Source,
    SourceItem,
    unique,
)
from indexer.documents.blobs import INSIDE
from indexer.documents.extractors import extractor_named, extractor_pool, is_outdated
from indexer.documents.sources import FileSource, check_queryable, path_list, url_source
from indexer.errors import ExtractionError, StoreStopped, StoreUnreachable, UsageError
from indexer.fingerprinting.fingerprint import fingerprints, fresh_rows
from indexer.grouping.delete import delete_and_repair
from indexer.grouping.group_options import FamilyOptions, check_threshold, last_options
from indexer.jobs.corpus_statistics import with_current_statistics, with_passages, with_statistics
from indexer.jobs.document_rows import documents_of
from indexer.jobs.label import LabelJournal, LabelUpdate, write_labels
from indexer.jobs.parts import part_divider
from indexer.jobs.review_file import review_file, review_path, waiting_path
from indexer.jobs.stages import Job, outcomes
from indexer.model import READ_AS, Blob, FailedBlob, Outcome, Query, Row, SkippedBlob
from indexer.recipe import DEFAULT, Recipe
from indexer.stores import in_place, location_of, open_documents
from indexer.stores.abilities import FullStore
from indexer.stores.journal import Failure, Journal, journal_path, record_job
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import is_shared
from indexer.system.approved_passages import NO_PASSAGES, ApprovedPassages
from indexer.system.external_memory import few_collections
from indexer.system.logs import event

# The sources that the PATHs of `nearfold index` name, and the store that is written to.


def target(
    paths: Sequence[str], store: FullStore, read_options: ReadOptions, adds_values: bool = False
) -> FullStore:
    """Return the store to write to, which fingerprints documents in place when a PATH is that very
    store.

    Raises `UsageError` when that is mixed with other PATHs, with labels of a field or with
    `adds_values`, by which documents get labels or a custodian, or the store is not in a search
    engine.
    """
    if not any(store.address.is_named_by(path) for path in paths):
        return store
    if len(paths) > 1:
        raise UsageError(
            f"{store.url} is fingerprinted in place, so it must be the only PATH; "
            "index the others by another command"
        )
    if adds_values or read_options.label_field:
        raise UsageError(
            f"{store.url} is fingerprinted in place, and nothing else of its documents changes; "
            "leave labels and custodian out"
        )
    return in_place(store, read_options.text_field)


def open_sources(
    paths: Sequence[str],
    read_options: ReadOptions,
    store: FullStore | None,
    own_files: Collection[str] = (),
) -> list[Source]:
    """Return the sources that PATHs name: one of all files and folders first, then one for each
    URL.

    A PATH is a file or folder when there is one of that name; else `SCHEME://...` is the URL of a
    store, such as an index that others filled, or of any file system that fsspec knows. `store` is
    the result of `target`; None where documents are read alone, and none is fingerprinted in place.
    Files and folders are looked up now: raises `SourceNotFound` for a missing one, `MissingExtra`
    when the reader of such a source is not installed, and `UsageError` for a URL that cannot be
    read, and for a query where a source takes none.
    """
    if read_options.query is not None:
        check_queryable(paths)
    local = [path for path in paths if "://" not in path or os.path.lexists(path)]
    sources: list[Source] = []
    if local:
        sources.append(FileSource(local, read_options, own_files))
    return [
        *sources,
        *(_source_at(path, read_options, store) for path in paths if path not in local),
    ]


def blobs_of(sources: Sequence[Source], read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the items of all sources; where two sources may have the same ids, the second blob with
    an id fails.
    """
    items = (item for source in sources for item in source.blobs())
    has_shared_ids = read_options.own_ids or (
        read_options.namespace is not None and len(sources) > 1
    )
    return unique(items) if has_shared_ids else items


def select_blobs(
    items: Iterable[Blob | Outcome], include: Sequence[str], exclude: Sequence[str]
) -> Iterator[Blob | Outcome]:
    """Yield the items; blobs that are not to be read become `SkippedBlob` (`excluded`).

    A pattern is one of shells (`*`, `?`, `[abc]`), with capitals as written. With a `/` it is
    compared with the whole key, the path relative to PATH, where `*` stands for `/` too; else with
    the last name.
    """
    for item in items:
        if isinstance(item, Blob) and not _is_selected(item, include, exclude):
            yield SkippedBlob(item.path, "excluded")
        else:
            yield item


def _is_selected(blob: Blob, include: Sequence[str], exclude: Sequence[str]) -> bool:
    key = blob.key.decode("utf-8", "replace")
    name = key.rpartition("/")[2]

    def matches(pattern: str) -> bool:
        return fnmatchcase(key if "/" in pattern else name, pattern)

    is_included = not include or any(map(matches, include))
    return is_included and not any(map(matches, exclude))


def _source_at(url: str, read_options: ReadOptions, store: FullStore | None) -> Source:
    if location := location_of(url):
        from indexer.documents.tables import IndexSource

        if store is not None and store.address.is_named_by(url):
            fingerprinted = in_place(store, read_options.text_field)
            return IndexSource(fingerprinted, location, read_options, fingerprinted.digest)
        return IndexSource(open_documents(url), location, read_options)
    return url_source(url, read_options)


# Removal of what a run shows to be gone: rows without their document, outdated failures.


def note_ids(blobs: Iterable[Blob | Outcome], ids: set[str]) -> Iterator[Blob | Outcome]:
    """Pass everything on, and add the ids of blobs to `ids`; of what is no file by itself all ids
    that it can have, since its path does not prove that it is there.
    """
    for item in blobs:
        if isinstance(item, Blob):
            ids.add(item.id)
            if not isinstance(item.opener, bytes):
                ids.update(item.other_ids())
        yield item


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The result of `prune`: how many rows it `removed`, and of how many of them labels, notes and
    decisions were carried over to a document of the same bytes (`moved`).

    `refused`: paths of rows with labels, notes or decisions, for which no document of the same
    bytes is stored; nothing was removed.
    """

    removed: int = 0
    moved: int = 0
    refused: tuple[str, ...] = ()


NOT_PRUNED = PruneResult()


def prune(
    sources: Sequence[Source],
    store: FullStore,
    ids: set[str],
    failed: Sequence[FailedBlob],
    families: FamilyOptions,
    journal: LabelJournal,
    options: IndexOptions,
) -> PruneResult:
    """Delete rows of these sources whose document is gone: not yielded in this run, and not there
    under its path either. Labels, notes and decisions of reviewers go to a document of the same
    bytes; where there is none for some, nothing is deleted unless `options.force`.

    What lies under a folder or in a container that could not be read is left alone.
    """
    unread = tuple(f"{failure.path}{end}" for failure in failed for end in (os.sep, INSIDE))
    absent = [
        _reduced(row)
        for source in sources
        for scope in source.scopes()
        for row in store.scan(under=scope)
        if row.id not in ids and not row.path.startswith(unread) and not source.holds(row.path)
    ]
    review = review_file(store)
    reviewed = review.reviewed()
    given = set(options.labels)  # the run itself labels the document at its new path
    marked = [row for row in absent if row.id in reviewed or not given.issuperset(row.labels)]
    assigned = review.assignments()
    others = [row for row in absent if row.id in assigned]
    heirs = _heirs(store, [*marked, *others], {row.id for row in absent}) if absent else {}
    refused = tuple(sorted(row.path for row in marked if row.id not in heirs))
    if refused and not options.force:
        return PruneResult(refused=refused)
    _carry_labels(store, journal, marked, heirs)
    review.merge({id: heir.id for id, heir in heirs.items()})
    deleted = delete_and_repair(store, [row.id for row in absent], families).deleted
    return PruneResult(len(deleted), sum(row.id in heirs for row in marked))


def _reduced(row: Row) -> Row:
    """Return a row without its text and sketches."""
    return replace(row, text="", bands=(), blocks=(), minhash=None)


def _heirs(store: FullStore, leaving: Sequence[Row], absent: Collection[str]) -> dict[str, Row]:
    """Return a document of the same bytes that stays for each row that leaves, by id; none where
    there is none, and for one without bytes none of another name.

    Of several rows with the same bytes each gets another document, as far as there are enough; one
    of the same name and without labels comes first.
    """
    copies: dict[str, list[Row]] = {row.raw: [] for row in leaving if row.raw}
    if not copies:
        return {}
    for row in store.scan():
        if row.raw in copies and row.id not in absent and row.parent is None:
            copies[row.raw].append(_reduced(row))
    heirs: dict[str, Row] = {}
    uses = Counter[str]()
    for row in sorted(leaving, key=lambda row: row.path):
        ending = f"/{os.path.basename(row.path)}"  # noqa: PTH119 - paths of members are text
        heir = min(
            (copy for copy in copies.get(row.raw, ()) if row.size or copy.path.endswith(ending)),
            key=lambda copy: (
                uses[copy.id],
                not copy.path.endswith(ending),
                bool(copy.labels),
                copy.path,
            ),
            default=None,
        )
        if heir is not None:
            heirs[row.id] = heir
            uses[heir.id] += 1
    return heirs


def _carry_labels(
    store: FullStore, journal: LabelJournal, leaving: Sequence[Row], heirs: Mapping[str, Row]
) -> None:
    """Add the labels of rows that leave to the labels of their heirs, as one labelling."""
    labels: dict[str, tuple[str, ...]] = {}
    for row in leaving:
        if row.id in heirs:
            heir = heirs[row.id]
            labels[heir.id] = (*labels.get(heir.id, heir.labels), *row.labels)
    by_id = {heir.id: heir for heir in heirs.values()}
    changes = [
        LabelUpdate(id, by_id[id].path, by_id[id].family, by_id[id].labels, after)
        for id, carried in sorted(labels.items())
        if (after := tuple(dict.fromkeys(carried))) != by_id[id].labels
    ]
    if changes:
        added = {label for item in changes for label in item.after if label not in item.before}
        write_labels(store, journal, sorted(added), (), changes, MOVED)


def settle_failures(
    journal: Journal, sources: Sequence[Source], failed: Sequence[FailedBlob]
) -> None:
    """Make the journal agree, about these sources, with the account of this run, which read them to
    their end.

    What failed without being read is remembered, and an earlier failure forgotten when its file is
    gone, or fails no more or otherwise now; those in containers that were not opened this time are
    kept.
    """
    current = {(failure.path, failure.error) for failure in failed}
    paths = {path for path, _ in current}
    outdated = [
        failure.id
        for failure in journal
        if (failure.path, failure.error) not in current and _is_settled(failure, sources, paths)
    ]
    journal.forget(outdated)
    recorded = {(failure.path, failure.error) for failure in journal}
    journal.record(Failure.unread_at(path, error) for path, error in current - recorded)


def _is_settled(failure: Failure, sources: Sequence[Source], failed: set[str]) -> bool:
    """Return whether this run decides on a recorded failure: its path belongs to one of the
    sources, and failed otherwise, was never read, or is gone.
    """
    return any(
        _is_within(failure.path, source)
        and (failure.unread or failure.path in failed or not source.holds(failure.path))
        for source in sources
    )


def _is_within(path: str, source: Source) -> bool:
    return any(
        path == scope or path.startswith(f"{scope.rstrip('/')}/") for scope in source.scopes()
    )


DEFAULT_READ_OPTIONS = ReadOptions()
MOVED = "index --prune"  # the reviewer in the history of labels
_PROBE = "A recipe that cannot be kept, or lacks a library, is refused before anything is created."


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of `index`: what to read, how, and what to store.

    `recipe`: the settings of fingerprints; None means the store's own, or the default for a new
    store.
    `namespace`: what ids are relative to; None means the real path of each PATH.
    `labels`: added to every document under the paths, unchanged ones included.
    `custodian`: who held the documents under the paths, for their metadata; empty for nobody. An
    unchanged document of another custodian, or of none, is read again.
    `extractor`: `native` (in worker processes), `server` (a Tika server) or `plain` (text only).
    `limits`: bounds of one document: seconds, megabytes of a worker, bytes, and characters beyond
    which its text is cut.
    `prune`: remove rows under the paths whose document is gone; labels, notes and decisions of
    reviewers go to a document of the same bytes. Where there is none for some, nothing is removed
    unless `force`.
    `retry`: read documents again that failed before.
    `family_threshold`: the minimum similarity at which a new or changed document joins the family
    of a principal as it arrives; above 0, at most 1. `group` means the threshold of the last
    `group` on this machine, or the default; None looks none up, and every document is a principal
    until `group`. Measure and criteria are always the ones of the last `group`.
    `parts`: `clauses` keeps the clauses of each document as rows of their own next to it, which
    `search`, `similar`, `match` and `group` look at by `of`; the store keeps to it from then on.
    None means as the store does.
    `reading`: how sources are read, such as the fields of records. Its `namespace` and bounds are
    replaced by those above.
    `refresh`: read unchanged documents again whose text another version of its extractor made.
    `statistics`: a folder, store or file whose corpus statistics a recipe with weights fingerprints
    with; None means the statistics of the store, or for a new one of the documents that are read.
    `leave_out`: approved passages that are left out of texts before they are fingerprinted and
    compared, from then on by every command; texts are kept whole. None are named: as the store
    does. `include`: patterns of which a document's key must match one, if there are any; `exclude`:
    those of which it must match none. Others are `excluded`, and never pruned. See `select_blobs`.

    Raises `UsageError` for a threshold out of its range.
    """

    recipe: Recipe | None = None
    namespace: str | None = None
    labels: Sequence[str] = ()
    custodian: str = ""
    extractor: str = "native"
    limits: Limits = DEFAULT_LIMITS
    prune: bool = False
    force: bool = False
    retry: bool = False
    family_threshold: float | Literal["group"] | None = "group"
    parts: Literal["clauses"] | None = None
    reading: ReadOptions = DEFAULT_READ_OPTIONS
    refresh: bool = False
    statistics: str | None = None
    leave_out: ApprovedPassages = NO_PASSAGES
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.family_threshold, (int, float)):
            check_threshold(self.family_threshold)

    def families(self, last: FamilyOptions) -> FamilyOptions:
        """Return the options of families; `last` are the options of the last `group`."""
        if not isinstance(self.family_threshold, (int, float)):
            return last
        return replace(last, documents=replace(last.documents, threshold=self.family_threshold))

    @property
    def bounded_reading(self) -> ReadOptions:
        """Reading of sources, with the namespace and the bounds of these options."""
        return replace(
            self.reading,
            namespace=self.namespace,
            max_bytes=self.limits.bytes,
            max_chars=self.limits.chars,
        )


DEFAULT_OPTIONS = IndexOptions()


@dataclass(frozen=True, slots=True)
class Account:
    """Outcomes of all blobs of a job: `seen` = `indexed` + `unchanged` + all of `skipped` + the
    number of `failed`.

    `statuses` counts the indexed documents that are not complete, by their status (`truncated`,
    `empty`, `too_short`, `numbers_only`), `guessed_encodings` those of plain text that are not
    UTF-8, by the encoding in which they were read. `removed` counts rows that were pruned, `moved`
    those of them whose labels, notes or decisions went to a document of the same bytes; `refused`:
    paths of rows with such, for which there is none, so that nothing was pruned. `seconds`:
    wall-clock time. `stopped`: the job was stopped before all was read.
    """

    seen: int
    indexed: int
    unchanged: int
    skipped: dict[str, int]
    failed: tuple[FailedBlob, ...]
    removed: int
    seconds: float
    stopped: bool = False
    statuses: Mapping[str, int] = field(default_factory=dict)
    guessed_encodings: Mapping[str, int] = field(default_factory=dict)
    moved: int = 0
    refused: tuple[str, ...] = ()


@few_collections()
def index(
    paths: Sequence[str] | str | Path,
    store: FullStore,
    options: IndexOptions = DEFAULT_OPTIONS,
    *,
    workers: int | None = None,
    progress: Callable[[Outcome], None] = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Account:
    """Extract, fingerprint and store every document under `paths`; skip what has not changed;
    resume what was cut short.

    `paths` are files, folders, archives, mailboxes, tables and URLs; a single one need not be in a
    list. `workers`: extraction processes; None means one a processor. `progress` is called with
    each outcome as it is known. Once `stopping` returns True, nothing more is read or pruned, and
    what was read is finished.

    Families of new and changed documents are provisional; `group` makes them final.

    Raises `SourceNotFound` and other kinds of `UsageError` before anything is written, `StoreError`
    and `ExtractorUnavailable`; what was acknowledged by then is in the store, and the same call
    goes on from there.
    """
    started = time.monotonic()
    names = path_list(paths)
    inputs = _open_inputs(names, store, options)
    if inputs is None:
        return _Tally().account(NOT_PRUNED, time.monotonic() - started, False)
    store = inputs.store
    families = options.families(last_options(store))
    tally = _Tally()
    headings = bool(options.parts or (not inputs.in_place and store.parts.kind()))
    pool = extractor_pool(options.extractor, workers, options.limits, headings)
    with (
        _stop_when_unreachable(),
        (LabelJournal if options.prune else Journal)(journal_path(store.address)) as journal,
        record_job(journal, "index") as record,
        pool,
    ):
        record.counts = tally.counts
        job = _job(inputs, options, families, journal, pool.identity, stopping)
        _fingerprint_changed(store, inputs.recipe)
        ids = _run(job, pool, inputs, options, tally, progress)
        pruned = NOT_PRUNED
        if not stopping():
            if isinstance(journal, LabelJournal):
                pruned = prune(inputs.sources, store, ids, tally.failed, families, journal, options)
            settle_failures(journal, inputs.sources, tally.failed)
        store.refresh()
        record.stopped = stopping()
    return tally.account(pruned, time.monotonic() - started, stopping())


def count_outdated(store: FullStore, extractor: str) -> int:
    """Return how many documents another version of an extractor has read, which `refresh` reads
    again; `extractor` is its name, as `extractor_named` takes it.
    """
    identity = extractor_named(extractor).identity
    facets = store.search(Query("", facets=("extractor",))).facets["extractor"]
    return sum(facet.documents for facet in facets if is_outdated(facet.value, identity))


def _fingerprint_changed(store: FullStore, recipe: Recipe) -> None:
    """Store the keys of texts that other programs changed, of the documents written last."""
    maintenance = store.maintenance
    if not isinstance(maintenance, Shareable) or not is_shared(store):
        return
    pairs = fresh_rows(maintenance.changed_rows(), recipe)
    corrected = [fresh for stored, fresh in pairs if fresh is not stored]
    if corrected:
        maintenance.fingerprint_again(corrected)
        event("texts_changed", counts={"documents": len(corrected)})


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Sources of a job, and the store and recipe that it writes with."""

    sources: Sequence[Source]
    options: ReadOptions
    store: FullStore
    in_place: bool
    recipe: Recipe


def _open_inputs(paths: Sequence[str], own: FullStore, options: IndexOptions) -> _Inputs | None:
    """Open the sources and prepare the store; raises what can be refused before anything is
    written.

    Returns None, and creates nothing, where there is no store yet and no document for it.
    """
    read_options = options.bounded_reading
    store = target(paths, own, read_options, bool(options.labels or options.custodian))
    is_divided = False if store is not own else own.parts.attachments()
    if read_options.attachments is None:
        read_options = replace(read_options, attachments=is_divided)
    recipe = with_passages(options.recipe, options.leave_out, store.stored_recipe())
    if not recipe.lacks_statistics:
        fingerprints([_PROBE], recipe)
    read_options = replace(read_options, raw_markup=recipe.normaliser.startswith("norm"))
    if read_options.own_ids:
        parted = bool(options.parts or (store.stored_recipe() and store.parts.kind()))
        read_options = replace(read_options, parted=parted)
    sources = open_sources(paths, read_options, store, own_files(store))
    if options.prune and not all(source.scopes() for source in sources):
        raise UsageError(
            "--prune cannot find what was removed from an index that is fingerprinted in place, "
            "or from the result of a query; leave --prune out"
        )
    if store.stored_recipe() is None:
        first_read = open_sources(paths, read_options, None, own_files(own))
        if next(iter(blobs_of(first_read, read_options)), None) is None:
            return None
    texts = partial(_texts, paths, read_options, own, options)
    if recipe.is_online:
        recipe = with_current_statistics(recipe, store, options.statistics, texts)
    else:
        recipe = with_statistics(recipe, options.statistics, texts, store.stored_recipe())
    fingerprints([_PROBE], recipe)
    store.prepare(recipe)
    if store is own and read_options.attachments is not is_divided:
        own.parts.record_attachments(bool(read_options.attachments))
    return _Inputs(sources, read_options, store, store is not own, store.stored_recipe() or DEFAULT)


def _texts(
    paths: Sequence[str], read_options: ReadOptions, own: FullStore, options: IndexOptions
) -> Generator[str, None, None]:
    """Yield the texts that an index job reads, those that cannot be read left out."""
    sources = open_sources(paths, read_options, None, own_files(own))
    blobs: Iterator[Blob | Outcome] = blobs_of(sources, read_options)
    if options.include or options.exclude:
        blobs = select_blobs(blobs, options.include, options.exclude)
    whole = (item for item in blobs if isinstance(item, Blob))
    for _, result in documents_of(whole, options.limits, options.extractor):
        if not isinstance(result, ExtractionError):
            yield result.text


def _job(
    inputs: _Inputs,
    options: IndexOptions,
    families: FamilyOptions,
    journal: Journal,
    extractor: str,
    stopping: Callable[[], bool],
) -> Job:
    return Job(
        inputs.store,
        inputs.recipe,
        journal,
        extractor,
        options.limits,
        labels=tuple(options.labels),
        custodian=options.custodian,
        retry=options.retry,
        refresh=options.refresh,
        families=families,
        joins=options.family_threshold is not None,
        provisional=inputs.in_place,
        stopping=stopping,
        divide=part_divider(
            inputs.store, options.parts, inputs.recipe, inputs.in_place, families.parts
        ),
    )


def _run(
    job: Job,
    pool: ExtractorPool,
    inputs: _Inputs,
    options: IndexOptions,
    tally: _Tally,
    progress: Callable[[Outcome], None],
) -> set[str]:
    """Bring every blob to its outcome; return the ids of all blobs if others are to be pruned."""
    ids: set[str] = set()
    blobs: Iterator[Blob | Outcome] = blobs_of(inputs.sources, inputs.options)
    if options.prune:
        blobs = note_ids(blobs, ids)
    if options.include or options.exclude:
        blobs = select_blobs(blobs, options.include, options.exclude)
    with closing(outcomes(blobs, job, pool)) as results:
        for outcome in results:
            tally.add(outcome)
            progress(outcome)
    return ids


@contextmanager
def _stop_when_unreachable() -> Iterator[None]:
    """Raise `StoreStopped` for a store that responds no more in the middle of a job."""
    try:
        yield
    except StoreUnreachable as error:
        raise StoreStopped(
            reason=f"no response ({error.reason})", remedy="wait until it responds again"
        ) from error


class _Tally:
    """Outcomes counted as `indexed`, `failed`, or by the reason for which they were skipped."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.encodings: Counter[str] = Counter()
        self.failed: list[FailedBlob] = []

    def add(self, outcome: Outcome) -> None:
        if isinstance(outcome, SkippedBlob):
            self.counts[outcome.reason] += 1
        elif isinstance(outcome, FailedBlob):
            self.counts["failed"] += 1
            self.failed.append(outcome)
        else:
            self.counts["indexed"] += 1
            if outcome.status != "complete":
                self.statuses[outcome.status] += 1
            _, _, encoding = outcome.extractor.partition(READ_AS)
            if encoding:
                self.encodings[encoding] += 1

    def account(self, pruned: PruneResult, seconds: float, stopped: bool) -> Account:
        reasons = self.counts.keys() - {"indexed", "failed", "unchanged"}
        return Account(
            seen=self.counts.total(),
            indexed=self.counts["indexed"],
            unchanged=self.counts["unchanged"],
            skipped={reason: self.counts[reason] for reason in sorted(reasons)},
            failed=tuple(self.failed),
            removed=pruned.removed,
            moved=pruned.moved,
            refused=pruned.refused,
            seconds=seconds,
            stopped=stopped,
            statuses=dict(sorted(self.statuses.items())),
            guessed_encodings=dict(sorted(self.encodings.items())),
        )


def own_files(store: FullStore) -> tuple[str, ...]:
    """Return the files that nearfold itself keeps for a store: they are never indexed."""
    address = store.address
    journal = journal_path(address)
    if journal is None:
        return ()
    job_files = (str(journal), str(waiting_path(journal)), str(review_path(journal)))
    if address.file is None:
        return job_files
    return (*job_files, address.file, f"{address.file}.reindex")
