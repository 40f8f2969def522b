"""Exports: what is known of families and pairs, as files for other programs, batches for reviewers,
a report for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from indexer.defaults import MEASURE, RECALL, REVIEW, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.exports.csv_tables import Table, write_csv
from indexer.exports.custody import Dedup
from indexer.exports.export_records import COLUMNS
from indexer.exports.load_file import write_dat
from indexer.exports.parquet_tables import write_parquet
from indexer.exports.record_streams import (
    BatchPlan,
    Findings,
    ReviewerLoad,
    batch_records,
    document_records,
    pair_records,
    queue_records,
)
from indexer.exports.report import report
from indexer.exports.review_batches import Balance
from indexer.matching.match import MatchOptions, match
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.whole_file import check_place, write_whole
from indexer.text.wording import count_of

Form: TypeAlias = Literal["csv", "parquet", "dat", "html"]
What: TypeAlias = Literal["families", "pairs", "batches", "queue"]
BATCH_SIZE = 100


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Settings of an export; each counts for some exports alone.

    Pairs: `threshold` and `measure`, as for `match`. Batches: `reviewers` share the work, in
    batches of at most `batch_size` documents, by the `balance` of words or documents. Queue:
    `review` are labels whose near duplicates are to be reviewed. Families, batches and queue:
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
    progress: Progress = no_progress,
) -> ExportResult:
    """Write families, pairs, review batches or a review queue into a file, or a report about the
    whole store (`html`).

    `families` and `batches` have one record a document, as the last `group` left it; `pairs` are
    those that `match` finds. `batches` keep groups together; a label `reviewer:NAME` says who has
    read a document. A `queue` has the near duplicates of documents with a label of `review` that
    have none of these themselves. The file appears whole or not at all, and is the same, byte for
    byte, for the same documents and settings.

    Raises `UsageError` for what cannot be written, `MissingExtra` for Parquet without pyarrow,
    `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    out = Path(out)
    check_place(out)
    require_recipe(store)
    if options.batch_size < 1:
        raise UsageError(f"a batch must hold 1 document or more, not {options.batch_size}")
    if form == "html":
        return _write_report(store, out, options, progress)
    findings = Findings()
    is_load_file = form == "dat"
    dedup = options.dedup if is_load_file or options.dedup != "none" else None
    records = _records(store, what, options, dedup, findings, progress)
    table = Table(COLUMNS[what, is_load_file], records)
    with write_whole(out) as part:
        row_count = _write(table, part, form, findings)
    return ExportResult(
        str(out), form, what, row_count, tuple(findings.notes), tuple(findings.loads)
    )


def _write_report(
    store: FullStore, out: Path, options: ExportOptions, progress: Progress
) -> ExportResult:
    audit = None
    if options.audit:
        sampled = MatchOptions(threshold=options.threshold, recall=RECALL, audit=options.audit)
        audit = match(store, sampled, progress=progress).audit
    page = report(store, options.date, progress, audit)
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
    documents = document_records(store, findings, progress, dedup)
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
            f"{count_of(altered, 'field')} held signs that a load file cannot spell; "
            "see docs/exports.md"
        )
    return row_count
