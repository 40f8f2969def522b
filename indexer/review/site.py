"""The state of a running site: its store, and what is cached between requests."""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from indexer.coding import Coding, CodingField
from indexer.comparing.compare import Comparison
from indexer.errors import (
    DocumentNotFound,
    NearfoldError,
    StoreBusy,
    StoreError,
    UnsupportedOperation,
    UsageError,
)
from indexer.grouping.group import GroupResult, group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.label import LabelResult, UndoResult
from indexer.jobs.review_file import joined_documents, review_file
from indexer.model import Facet, Progress, Query, Row
from indexer.review.caches import (
    TIMEOUT_SECONDS,
    BackgroundReader,
    LatestReader,
    ReaderCache,
    ReadProgress,
    TimedCache,
)
from indexer.review.compared_statistics import threshold_statistics
from indexer.review.comparison_cache import LONG_CHARS, Comparisons
from indexer.review.family_view import (
    Family,
    MemberComparisons,
    NearCopy,
    VaryingPassages,
    family,
    near_copies,
    varying_passages,
)
from indexer.review.label_queue import LabelQueue, LabelRequest
from indexer.review.originals.files import OriginalFiles
from indexer.review.store_statistics import FamilyChanges, Preview, store_statistics
from indexer.review.work_list import WorkList
from indexer.searching.search import Page, SearchOptions, search
from indexer.searching.similar import SimilarOptions, SimilarResult, similar, similar_outside
from indexer.searching.stored_texts import text_cache
from indexer.stores.abilities import CachesReads, FullStore, HasVersion
from indexer.stores.journal import journal_path, known_group_settings, last_job, last_jobs
from indexer.stores.maintenance import LoggedSearch, LogsSearches
from indexer.stores.requirements import require_recipe
from indexer.system.logs import event
from indexer.wording import count_of

if TYPE_CHECKING:
    from indexer.review.compared_statistics import ThresholdStatistics
    from indexer.review.store_statistics import StoreStatistics


# What pages read of a whole store, each with the job of the store after which it was read.


class DatedResult(Protocol):
    """A result of reading a whole store.

    `job`: the last job on the store before it was read, or whose labels it followed since; None if
    one was running.
    """

    job: str | None


D = TypeVar("D", bound=DatedResult)


@dataclass(eq=False, slots=True)
class DatedStatistics:
    """Statistics of a store, with the counts of documents and groups before they were read."""

    statistics: StoreStatistics
    job: str | None
    counts: tuple[int, int]


@dataclass(eq=False, slots=True)
class DatedThresholds:
    """Statistics by threshold, with the same counts. `state` identifies the store that was read."""

    statistics: ThresholdStatistics
    job: str | None
    counts: tuple[int, int]
    state: str


@dataclass(eq=False, slots=True)
class DatedWorkList:
    """The work list."""

    work: WorkList
    job: str | None


def latest(
    reader: BackgroundReader[D], last_job: Callable[[], str | None], timeout: float
) -> D | None:
    """Return what was read of a store, and read it once more if a job has ended on it since.

    None if it is not ready within `timeout` seconds. `last_job` returns the last job of the store,
    None while one runs.
    """
    deadline = time.monotonic() + timeout
    dated = reader.get(timeout)
    job = last_job()
    if dated is None or job in (None, dated.job):
        return dated
    reader.discard()
    return reader.get(max(0.0, deadline - time.monotonic()))


def read_before(reader: BackgroundReader[D], jobs: tuple[str, ...]) -> D | None:
    """Return what was read of a store just before its last job; None if there is no such thing.

    `jobs`: the last two of the store, the last one first.
    """
    dated = reader.result
    return dated if dated is not None and jobs[1:] == (dated.job,) else None


# The groups at the thresholds that pages request.


@dataclass(frozen=True, slots=True)
class ThresholdPreview:
    """The groups at a threshold, and those that would split or merge."""

    dated: DatedThresholds
    families: Preview
    changes: FamilyChanges


def preview_at(dated: DatedThresholds, threshold: float | None) -> ThresholdPreview:
    """Return the groups at a threshold, None for that of the groups.

    Raises `UsageError` for one below the minimum.
    """
    statistics = dated.statistics
    minimum = (
        statistics.threshold if threshold is None else checked_threshold(statistics, threshold)
    )
    return ThresholdPreview(dated, statistics.at(threshold), statistics.changes(minimum))


def checked_threshold(statistics: ThresholdStatistics, threshold: float) -> float:
    """Return a threshold as `group` takes it. Raises `UsageError` for one below the minimum."""
    minimum = statistics.min_threshold
    if round(threshold, 6) < minimum:
        raise UsageError(
            f"the minimum threshold here is {minimum:g}; for lower ones, run nearfold group"
        )
    return round(threshold, 6)


# The labels that pages offer: those on keys, and all labels of the store.

MAX_LABELS = 9  # number of labels on keys
_FRESH_SECONDS = 20.0  # lifetime of cached labels
_WAIT_SECONDS = 1.0  # pages wait for labels that were requested less than this ago


class OfferedLabels:
    """The labels of a store by name, read in the background; thread-safe.

    `exclusive`: the labels that keys choose between, at most nine: a document gets one of them
    instead of the others. Without them keys add labels of the store.
    """

    def __init__(self, store: FullStore, exclusive: Sequence[str] = ()) -> None:
        self.exclusive = tuple(exclusive)
        self._store = store
        self._of_keys = list(exclusive)
        self._keys_lock = threading.Lock()
        self._reader = BackgroundReader(self._read)
        self._stored: tuple[str, ...] = ()
        self._written: set[str] = set()

    def of_keys(self) -> Sequence[str]:
        """Return the labels that keys choose between, at most nine.

        Without given ones, the labels of the store: by name, and later ones after them, so that no
        key changes its meaning while the server runs.
        """
        if self.exclusive or len(self._of_keys) >= MAX_LABELS:
            return tuple(self._of_keys)
        with self._keys_lock:
            for value in self.known():
                if value not in self._of_keys and len(self._of_keys) < MAX_LABELS:
                    self._of_keys.append(value)
            return tuple(self._of_keys)

    def known(self) -> Sequence[str]:
        """Return the labels that complete typed text: the labels of keys, then all of the store."""
        if self._reader.age > _FRESH_SECONDS:
            self._reader.discard()
        self._reader.begin()
        names = self._reader.get(max(0.0, _WAIT_SECONDS - self._reader.age))
        if names is not None:
            self._stored = names
        written = sorted(self._written.difference(self._stored))
        return tuple(dict.fromkeys([*self._of_keys, *self._stored, *written]))

    def begin(self) -> None:
        """Begin to read the labels of the store, so that no page waits for them."""
        self._reader.begin()

    def discard(self) -> None:
        """Read the labels of the store again when they are asked for next."""
        self._reader.discard()

    def add(self, names: Iterable[str]) -> None:
        """Remember labels that were written, until the store is read."""
        self._written.update(names)

    def forget_added(self) -> None:
        """Forget the labels that were written: some of them were undone."""
        self._written.clear()

    def _read(self, progress: Progress) -> tuple[str, ...]:
        """Return the labels of the store.

        One in a file then keeps what searches and Jobs count.
        """
        facets = self._store.search(Query("", facets=("labels",))).facets
        if isinstance(self._store, CachesReads):
            self._store.counts()
        return tuple(sorted(facet.value for facet in facets.get("labels", ())))


# A `group` that the page Threshold starts: one at a time, in the background.

_PATIENCE_SECONDS = 0.5  # for which `start` waits for an error, or the end


class Regrouping:
    """The last `group` of these pages; thread-safe."""

    def __init__(self, store: FullStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ended.set()
        self._command = ""
        self._state = ""
        self._error: NearfoldError | None = None

    def start(self, options: GroupOptions) -> None:
        """Start it. Raises `StoreBusy` while one runs, and what ends it at once."""
        with self._lock:
            if not self._ended.is_set():
                raise StoreBusy(what=self._store.url, holder=self._command)
            self._ended.clear()
            self._error = None
            self._command, self._state = f"group --threshold {options.threshold:g}", "begins"
        threading.Thread(target=self._run, args=[options], name="group", daemon=True).start()
        if self._ended.wait(_PATIENCE_SECONDS) and self._error is not None:
            raise self._error

    @property
    def state(self) -> str:
        """Return what became of it, or how far it is, in a sentence; empty without one."""
        return f"{self._command}: {self._state}" if self._command else ""

    def _run(self, options: GroupOptions) -> None:
        try:
            joined = joined_documents(self._store) if options.of == "documents" else {}
            result = group(self._store, options, progress=self._report, joined=joined)
            self._state = _format_result(result)
        except NearfoldError as error:
            self._error = error
            self._state = f"failed: {error}"
        except Exception as error:
            event("group_failed", "error", fault=error)
            self._state = "failed; see the terminal in which nearfold serve runs"
        finally:
            self._ended.set()

    def _report(self, stage: str, done: int, total: int) -> None:
        self._state = f"{stage}, {done:,} of {total:,}" if total else stage


def _format_result(result: GroupResult) -> str:
    groups, changed = (
        count_of(result.families, "near-duplicate group"),
        count_of(result.changed, "document"),
    )
    return f"done: {groups}, {changed} changed"


MAX_AUTOMATIC_DOCUMENTS = 300_000  # larger stores are compared on request only
_COMPARED_CHARS = 10_000_000  # maximum characters of cached comparisons
_LOOKUPS = 200  # maximum number of cached look-ups
_MAX_NEAR = 20  # maximum number of documents of other groups next to a group
_PAGES = 60  # maximum number of cached pages of hits, and of cached look-ups of short texts
_VERSIONS = 20  # maximum number of groups with cached versions
_VERSION_CHARS = 2_000_000  # maximum characters of their texts
_FAMILIES, _FAMILY_CHARS = 50, 8_000_000  # maximum number of cached groups, of their characters
_FOLDED = 20  # maximum number of cached searches folded by type
_LEASE_SECONDS = 60.0  # abandon a search folded by type that nobody polled for this long
_PREVIEWS = 100  # maximum number of cached previews of other thresholds
_PLANS = 200  # maximum number of dry runs kept for confirmation
_RENDERED = 60  # maximum number of cached rendered files of up to one megabyte
_FACETS = 60  # maximum number of searches with cached facets
_FACET_SECONDS = 20.0  # lifetime of cached facets
_CODING_SECONDS = 2.0  # lifetime of the cached coding fields
_DAY_SECONDS = 86_400.0
_COUNT_SECONDS = 10.0  # lifetime of cached document counts


@dataclass(frozen=True, slots=True)
class LastJoin:
    """The document that a reviewer put into another group last, and the members of its own."""

    id: str
    path: str
    members: tuple[str, ...]


class SearchLog:
    """The log of one store, written by a thread, so that no search waits for it; what is older than
    `days` is deleted, now and once a day.

    `queries`: the words of searches are logged too. Raises `UnsupportedOperation` for a store
    without an engine.
    """

    def __init__(self, store: FullStore, days: int, queries: bool = False) -> None:
        if not isinstance(store.maintenance, LogsSearches):
            raise UnsupportedOperation(
                store=store.url,
                operation="log searches for a dashboard",
                alternative="omit --search-log, or give a store in OpenSearch or Elasticsearch",
            )
        self._log, self._days, self._queries = store.maintenance, days, queries
        self._log.prepare_log(days)
        self._pruned = time.monotonic()
        self._writer = ThreadPoolExecutor(1, "searches")

    def close(self) -> None:
        """Wait until all searches are written."""
        self._writer.shutdown()

    def add(self, query: str, page: Page, fold: str) -> None:
        """Log a search of words by its first page; a log that refuses it stops nothing.

        Groups are counted where all hits are, or an engine estimated them.
        """
        if page.page > 1 or not query.strip():
            return
        groups = None if page.relation == "gte" else page.families
        search = LoggedSearch(page.total, groups, fold, query if self._queries else None)
        self._writer.submit(self._write, search)

    def _write(self, search: LoggedSearch) -> None:
        try:
            if time.monotonic() - self._pruned > _DAY_SECONDS:
                self._pruned = time.monotonic()
                self._log.prepare_log(self._days)
            self._log.log_search(search)
        except StoreError as error:
            event("search_not_logged", "warning", fault=error)


class Site:
    """One store and its pages.

    `originals`: the folder whose files may be fetched, None for none. `labels`: the exclusive ones
    of `OfferedLabels`. `matter`: the name of what is reviewed, empty for the stored one, if any.
    `search_log` receives the searches of pages.
    """

    def __init__(
        self,
        store: FullStore,
        originals: str | None = None,
        labels: Sequence[str] = (),
        matter: str = "",
        search_log: SearchLog | None = None,
    ) -> None:
        self.store = store
        self.labels = LabelQueue(store, self._follow)
        self.review = review_file(store)
        self.matter = matter or self.review.matter()
        self.last_joins: dict[str, LastJoin] = {}
        self.plans: TimedCache[tuple[LabelRequest, LabelResult]] = TimedCache(_PLANS)
        self._plan_numbers = itertools.count(1)
        self.offered_labels = OfferedLabels(store, labels)
        self._coding: TimedCache[Coding] = TimedCache(1, _CODING_SECONDS)
        self.token = secrets.token_urlsafe(32)
        self.threshold_reader = BackgroundReader(self._read_threshold_statistics)
        self._are_thresholds_requested = False
        self._is_grouped = False
        self.statistics_reader = BackgroundReader(self._read_statistics)
        self._previews: LatestReader[tuple[DatedThresholds, float | None], ThresholdPreview] = (
            LatestReader(lambda key: preview_at(*key), _PREVIEWS)
        )
        self.regrouping = Regrouping(store)
        self.work_list_reader = BackgroundReader(self._read_work_list)
        self._work: DatedWorkList | None = None
        self.facets: TimedCache[Mapping[str, tuple[Facet, ...]]] = TimedCache(
            _FACETS, _FACET_SECONDS
        )
        self._counted: TimedCache[tuple[int, int]] = TimedCache(1, _COUNT_SECONDS)
        self._readers = ReaderCache(_COMPARED_CHARS, _LOOKUPS)
        self.comparisons = Comparisons(store, self._readers)
        self.members = MemberComparisons(store, self._readers)
        self._families: TimedCache[Family] = TimedCache(_FAMILIES, weight=_FAMILY_CHARS)
        self._pages: TimedCache[Page] = TimedCache(_PAGES)
        self._similar: TimedCache[SimilarResult] = TimedCache(_PAGES)
        self.versions: TimedCache[Any] = TimedCache(_VERSIONS, weight=_VERSION_CHARS)
        self._folded = ReaderCache(_FOLDED, _FOLDED, _LEASE_SECONDS)
        self.originals = OriginalFiles(Path(originals).resolve(strict=True) if originals else None)
        self.rendered: TimedCache[bytes] = TimedCache(_RENDERED)
        self.search_log = search_log

    def coding(self) -> Coding:
        """Return the fields of the store; the one without a name has the labels of `--label`, or
        without any fields all labels.
        """
        stored = self._coding.get("store")
        if stored is None:
            stored = self._coding.put("store", self.review.coding())
        exclusive = self.offered_labels.exclusive
        if stored.fields and not exclusive:
            return stored
        return Coding((CodingField("", exclusive), *stored.fields), stored.rules)

    def offered_coding(self) -> Coding:
        """Return the fields with the labels that keys choose; without given ones, of the store."""
        coding = self.coding()
        if coding.fields[0].name or coding.fields[0].values:
            return coding
        return Coding((CodingField("", tuple(self.offered_labels.of_keys())),))

    @property
    def is_grouped(self) -> bool:
        """Return whether `group` has run on the store, as far as this machine knows."""
        self._is_grouped = self._is_grouped or bool(known_group_settings(self.store.address))
        return self._is_grouped

    def threshold_statistics(self, timeout: float = TIMEOUT_SECONDS) -> DatedThresholds | None:
        """Return the statistics of the store, None if it is not ready within `timeout` seconds.

        It is read again when a job has ended on the store since. Of a large store it is read after
        `reset` only.
        """
        if self.requires_confirmation:
            return None
        before = self.threshold_reader.result
        dated = latest(self.threshold_reader, self._last_job, timeout)
        if dated is not before:
            self._previews.clear()
        return dated

    @property
    def requires_confirmation(self) -> bool:
        """Return whether the store is so large that it is compared on request only."""
        return (
            not self._are_thresholds_requested
            and self._recent_counts()[0] > MAX_AUTOMATIC_DOCUMENTS
        )

    def statistics(self, timeout: float = TIMEOUT_SECONDS) -> DatedStatistics | None:
        """Return the statistics of the stored groups, which are read without the texts."""
        return latest(self.statistics_reader, self._last_job, timeout)

    def preview(self, threshold: float | None, timeout: float) -> ThresholdPreview | None:
        """Return the groups at a threshold, None for that of the groups.

        None if they or their statistics are not ready within `timeout` seconds. Raises
        `UsageError` for a threshold below the minimum.
        """
        deadline = time.monotonic() + timeout
        dated = self.threshold_statistics(timeout)
        if dated is None:
            return None
        if threshold is not None:
            threshold = checked_threshold(dated.statistics, threshold)
        return self._previews.get((dated, threshold), _seconds_until(deadline))

    def work_list(self, timeout: float = TIMEOUT_SECONDS) -> tuple[WorkList, bool] | None:
        """Return the work list, and whether it is of before the last job; None until it is read.

        It is read again when a job other than the labelling of these pages has ended since. The
        former one stands for it until then.
        """
        before = self.work_list_reader.result
        if before is not None and before.work.coding != self.coding():
            self.work_list_reader.discard()
            self._work = None
        dated = latest(self.work_list_reader, self._last_job, timeout)
        if dated is not None:
            self._work = dated
        return None if self._work is None else (self._work.work, dated is None)

    def _read_work_list(self, progress: Progress) -> DatedWorkList:
        require_recipe(self.store)
        job = self._last_job()
        assigned = self.review.assignments()
        work = WorkList(self.store, self.coding(), progress, assigned)
        if work.moved:
            self.review.move(work.moved)
        return DatedWorkList(work, job)

    def _follow(self, result: LabelResult | UndoResult) -> None:
        """Update counts, the work list and the statistics after labels were written.

        After an undo counts and the work list are read again; after a job of another process, and
        where groups stay within labels, the statistics by threshold as well.
        """
        self.facets.clear()
        self.offered_labels.discard()
        changes = () if isinstance(result, UndoResult) or result.conflict else result.changes
        self.offered_labels.add(name for item in changes for name in item.after)
        jobs = last_jobs(journal_path(self.store.address), 2)
        if jobs is None:
            return
        thresholds = read_before(self.threshold_reader, jobs)
        if thresholds is not None and thresholds.statistics.options.within is None:
            thresholds.job = jobs[0]
        if isinstance(result, UndoResult):
            self.offered_labels.forget_added()
            return
        if (statistics := read_before(self.statistics_reader, jobs)) is not None:
            statistics.statistics.relabel((item.before, item.after) for item in changes)
            statistics.job = jobs[0]
        if (work := read_before(self.work_list_reader, jobs)) is not None:
            work.work.relabel((item.family, item.before, item.after) for item in changes)
            work.job = jobs[0]

    def is_stale(self, dated: DatedThresholds | DatedStatistics) -> bool:
        """Return whether there are other documents or groups than before statistics were read."""
        return self._counts() != dated.counts

    def _read_threshold_statistics(self, progress: Progress) -> DatedThresholds:
        require_recipe(self.store)
        job, counts = self._last_job(), self._counts()
        state = "-".join(map(str, (job, *counts)))
        return DatedThresholds(threshold_statistics(self.store, progress), job, counts, state)

    def _read_statistics(self, progress: Progress) -> DatedStatistics:
        require_recipe(self.store)
        job, counts = self._last_job(), self._counts()
        return DatedStatistics(store_statistics(self.store, progress), job, counts)

    def _last_job(self) -> str | None:
        return last_job(journal_path(self.store.address))

    def _counts(self) -> tuple[int, int]:
        counts = self.store.counts()
        return counts.documents, counts.families

    def _recent_counts(self) -> tuple[int, int]:
        """Return the counts of up to some seconds ago.

        Counting takes long where a search works on what the store keeps.
        """
        cached = self._counted.get("store")
        return self._counted.put("store", self._counts()) if cached is None else cached

    def keep_plan(self, request: LabelRequest, result: LabelResult) -> int:
        """Remember a dry run, and return its number."""
        number = next(self._plan_numbers)
        self.plans.put(number, (request, result))
        return number

    def discard_counts(self) -> None:
        """Discard cached counts of documents after documents have changed."""
        self.facets.clear()
        self.offered_labels.discard()
        self._counted.clear()
        self.statistics_reader.discard()
        self.threshold_reader.discard()
        self._previews.clear()

    def discard_kept(self) -> None:
        """Empty the caches of texts and of the store, to free memory.

        The statistics and the work list stay, and so do running computations.
        """
        of_groups = (self.members, self.versions, self._families)
        of_texts = (self.comparisons, self.rendered, self._readers, *of_groups)
        of_searches = (self.facets, self._pages, self._similar, self._folded)
        for cache in (*of_texts, *of_searches):
            cache.clear()
        text_cache.clear()
        if isinstance(self.store, CachesReads):
            self.store.forget_reads()

    def reset(self) -> None:
        """Discard all that was computed from the whole store; the next request reads it again."""
        self._are_thresholds_requested = True
        self.discard_counts()
        self.work_list_reader.discard()
        self.comparisons.reset()

    def row(self, id: str) -> Row:
        """Return a stored document.

        Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet.
        """
        require_recipe(self.store)
        row = self.store.get([id]).get(id)
        if row is None:
            raise DocumentNotFound(id=id)
        return row

    def document_row(self, id: str) -> Row:
        """Return the document of an id, for that of a part the document that it is a part of."""
        row = self.row(id)
        return self.row(row.parent) if row.parent else row

    def _version(self) -> Hashable | None:
        """Return a value that stays as long as the store does; None where it has none."""
        return self.store.version() if isinstance(self.store, HasVersion) else None

    def search(self, query: str, options: SearchOptions) -> Page:
        """Return a page of a search, which is kept as long as the store does not change.

        Only those of a store that knows when it changes are kept. Pages folded by stored groups
        state the settings of `group`: they are kept until the next job, and not while one runs.
        """
        version = self._version()
        job = self._last_job() if options.fold == "family" else ""
        if version is None or job is None:
            return search(self.store, query, options)
        key = query, replace(options, facets=()), version, job
        page = self._pages.get(key)
        if page is None or (options.facets and not page.facets):
            page = search(self.store, query, options)
            if not page.unranked:  # else all of them may be ranked the next time
                self._pages.put(key, page)
        return page

    def folded_by_type(
        self, query: str, options: SearchOptions, timeout: float
    ) -> tuple[Page | None, ReadProgress]:
        """Return a search folded by duplicate type, and how far it is.

        None if it is not ready within `timeout` seconds: it goes on as long as somebody asks for
        it. It is kept until the store changes, seconds longer where no job of this machine did it.
        """
        key = (query, options, self._recent_counts(), self._last_job())

        def read(progress: Progress) -> Page:
            return search(self.store, query, options, progress)

        page = self._folded.get(key, read, 1, timeout)
        return page, self._folded.progress(key)

    def near_duplicates(
        self, row: Row, options: SimilarOptions, timeout: float
    ) -> SimilarResult | None:
        """Return the near duplicates of a stored document.

        None for a long one whose near duplicates are not found after `timeout` seconds: the
        look-up goes on. Its result is kept until documents come or go or a job ends, that of a
        short one until the store changes.
        """
        if len(row.text) <= LONG_CHARS:
            key = row.id, options, self._version()
            found = self._similar.get(key)
            if found is None:
                found = similar(self.store, options=options, id=row.id)
            return found if key[-1] is None else self._similar.put(key, found)

        def read(progress: Progress) -> SimilarResult:
            return similar(self.store, options=options, id=row.id)

        long_key = (row.id, row.text, options, self._counts(), self._last_job())
        return self._readers.get(long_key, read, 1, timeout)

    def family(self, id: str) -> Family:
        """Return the group of a document, which is kept as pages of searches are."""
        version, job = self._version(), self._last_job()
        if version is None or job is None:
            return family(self.store, id)
        key = id, version, job, self.coding()
        kept = self._families.get(key)
        if kept is None:
            made = family(self.store, id)
            kept = self._families.put(key, made, sum(len(row.text) for row in made.documents))
        return kept

    def varying(
        self, principal: Row, members: Sequence[Row], timeout: float
    ) -> VaryingPassages | None:
        """Return the passages in which the documents of a group vary.

        None if they are not known within `timeout` seconds, which goes on.
        """
        texts = tuple((row.id, hash(row.text)) for row in (principal, *members))

        def read(progress: Progress) -> VaryingPassages:
            return varying_passages(principal, members)

        return self._readers.get(("varying", texts), read, 1, timeout)

    def written(
        self,
        comparison: Comparison,
        write: Callable[[Comparison, Progress], bytes],
        timeout: float,
    ) -> bytes | ReadProgress:
        """Return a comparison as a file; how far it is if that takes more than `timeout` seconds,
        which goes on.
        """
        key = ("file", write, comparison.names, comparison.texts)
        weight = sum(map(len, comparison.texts))
        file = self._readers.get(key, partial(write, comparison), weight, timeout)
        return self._readers.progress(key) if file is None else file

    def near_copies(self, principal: Row, timeout: float) -> tuple[NearCopy, ...] | None:
        """Return the documents of other groups that are near a principal.

        None if they are not found within `timeout` seconds: the look-up goes on.
        """

        def read(progress: Progress) -> tuple[NearCopy, ...]:
            found = similar_outside(self.store, principal, SimilarOptions(limit=_MAX_NEAR))
            return tuple(near_copies(self.store, principal, found.matches))

        key = ("near", principal.id, principal.text, self._counts(), self._last_job())
        return self._readers.get(key, read, 1, timeout)


def _seconds_until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
