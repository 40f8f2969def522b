"""Labels that come back from a review platform, in a load file or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from indexer.coding import CODING_MARK, Coding, CodingField, label_names
from indexer.documents.base import ReadOptions, Records
from indexer.documents.blobs import DamagedRecord
from indexer.documents.containers import read_table
from indexer.documents.tables import IDS, field_named, split_labels
from indexer.errors import ExtractionError, UsageError
from indexer.jobs.label import LabelJournal, LabelUpdate, write_labels
from indexer.jobs.review_file import review_file
from indexer.model import FailedBlob, Row
from indexer.stores.abilities import FullStore
from indexer.stores.fields import rows_of, storable_labels
from indexer.stores.journal import journal_path, record_job
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import require_updatable, require_writable
from indexer.wording import unescape_formula

_LABELS = ("labels", "label", "tags", "tag", "coding", "issues")


@dataclass(frozen=True, slots=True)
class LabelFileOptions:
    """Settings of `label_from`: how its file is read, and what becomes of other labels.

    `replace`: documents get the labels of the file and lose all others; without it, labels are
    added only. `id_field`, `label_field`: the fields with the id of a document and its labels,
    separated by `;`; None for fields of usual names, such as `DOCID` and `Labels`. Fields of the
    file that have the name of a field of the coding hold its values. `encoding`: the encoding of a
    file without a byte order mark.
    """

    replace: bool = False
    id_field: str | None = None
    label_field: str | None = None
    encoding: str = "utf-8"


DEFAULTS = LabelFileOptions()


@dataclass(frozen=True, slots=True)
class LabelConflict:
    """A document that has labels which the file does not give it, and that it keeps."""

    id: str
    path: str
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelFileResult:
    """The changes that a file of labels made, or would make on a dry run.

    `job` is its number for `undo_labels`, None when there is nothing to undo. `failed`: rows that
    could not be used, each with the reason. `unchanged` documents had the labels already, and
    `absent` ids are not in the store. All lists in the order of the file.
    """

    job: int | None
    changes: tuple[LabelUpdate, ...]
    conflicts: tuple[LabelConflict, ...]
    failed: tuple[FailedBlob, ...]
    unchanged: int
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _LabelFields:
    """The fields of a file with the ids, the labels (empty: none), and the values of fields of the
    coding.
    """

    id: str
    labels: str
    values: Mapping[str, CodingField]

    def has(self, label: str, given: Sequence[str], coding: Coding) -> bool:
        """Return whether a row with the labels `given` would have this one if its document did."""
        field = coding.field_of(label)
        if field is None:
            return bool(self.labels)
        return field in self.values.values() or bool(field.of(given))


@dataclass(frozen=True, slots=True)
class _LabelFile:
    """A file of labels: the labels of each document by id, and the rows that cannot be used."""

    coding: Coding
    fields: _LabelFields
    labels: Mapping[str, tuple[str, ...]]
    failed: Sequence[FailedBlob]

    def applied(self, row: Row, replace: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels of a document that the file does not give it, and those that it would
        have; without `replace` it keeps all, and with them the value of a field that has one.
        """
        given = self.labels[row.id]
        stated = [label for label in row.labels if self.fields.has(label, given, self.coding)]
        kept = _difference(stated, given)
        if replace:
            return kept, tuple(dict.fromkeys((*_difference(row.labels, stated), *given)))
        fields = [self.coding.field_of(label) for label in kept]
        settled = [field for field in fields if field is not None and not field.many]
        added = (label for label in given if self.coding.field_of(label) not in settled)
        return kept, tuple(dict.fromkeys((*row.labels, *added)))


def label_from(
    store: FullStore,
    path: str | Path,
    options: LabelFileOptions = DEFAULTS,
    *,
    dry_run: bool = False,
    reviewer: str = "",
) -> LabelFileResult:
    """Give documents the labels that a load file (.dat) or a table (.csv, .tsv) has for them.

    Nothing is overwritten silently: a label that a document has and the file does not is a
    conflict, which stays unless `options.replace`; fields of the coding that the file lacks are no
    conflicts. Two rows that give one document different labels fail both, and it keeps its own. So
    does a document that would break a rule. `dry_run` changes nothing. `undo_labels` restores all.

    Raises `UsageError` for a file without such fields, `StoreBusy` while another job works on the
    store, and `StoreError` when nothing was indexed yet.
    """
    require_updatable(store) if dry_run else require_writable(store)
    store.refresh()
    file = _read(Path(path), options, review_file(store).coding())
    if dry_run:
        return _planned(store, file, options)
    with (
        LabelJournal(journal_path(store.address)) as journal,
        record_job(journal, "label") as record,
    ):
        result = _planned(store, file, options)
        if not result.changes:
            return result
        names = [_difference(change.after, change.before) for change in result.changes]
        lost = [change.lost for change in result.changes]
        job = write_labels(store, journal, _union(names), _union(lost), result.changes, reviewer)
        record.counts.update(changed=len(result.changes))
    return replace(result, job=job)


def _planned(store: FullStore, file: _LabelFile, options: LabelFileOptions) -> LabelFileResult:
    """Return what the labels of a file would change, as the documents are now."""
    coding, failed = file.coding, list(file.failed)
    noted = review_file(store).noted() if coding.rules else set()
    changes: list[LabelUpdate] = []
    conflicts: list[LabelConflict] = []
    present: set[str] = set()
    for row in rows_of(store, list(file.labels)):
        present.add(row.id)
        kept, after = file.applied(row, options.replace)
        broken = coding.broken(row.labels, after, (row.id in noted, row.id in noted))
        if broken:
            failed.append(FailedBlob(row.path, "; ".join(map(str, broken))))
            continue
        if kept and not options.replace:
            conflicts.append(LabelConflict(row.id, row.path, kept))
        if set(after) != set(row.labels):
            changes.append(LabelUpdate(row.id, row.path, row.family, row.labels, after))
    if isinstance(store.maintenance, Shareable):
        store.maintenance.check_labels([change.id for change in changes])
    return LabelFileResult(
        job=None,
        changes=tuple(changes),
        conflicts=tuple(conflicts),
        failed=tuple(failed),
        unchanged=len(present) - len(changes) - (len(failed) - len(file.failed)),
        absent=tuple(id for id in file.labels if id not in present),
    )


def _difference(labels: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(label for label in labels if label not in others)


def _union(labels: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(label for names in labels for label in names))


def _read(path: Path, options: LabelFileOptions, coding: Coding) -> _LabelFile:
    """Return the labels of a file by document id, and the rows that cannot be used."""
    by_id: dict[str, tuple[str, ...]] = {}
    disputed: set[str] = set()
    failed: list[FailedBlob] = []
    with path.open("rb") as stream:
        try:
            fields, records = _records(path, stream, options, coding)
            for position, record in records:
                row = _coding_row(record, fields, coding)
                if isinstance(row, ExtractionError):
                    failed.append(FailedBlob(str(path), f"record {position}: {row}"))
                    continue
                id, labels = row
                if set(by_id.setdefault(id, labels)) != set(labels):
                    disputed.add(id)
                    error = (
                        f"record {position} gives {id} other labels than an earlier one; repair it"
                    )
                    failed.append(FailedBlob(str(path), error))
        except DamagedRecord as error:
            raise UsageError(f"{path}: {error}") from error
    usable = {id: labels for id, labels in by_id.items() if id not in disputed}
    return _LabelFile(coding, fields, usable, failed)


def _coding_row(
    record: Mapping[str, object] | ExtractionError, fields: _LabelFields, coding: Coding
) -> tuple[str, tuple[str, ...]] | ExtractionError:
    """Return the id and the labels of a row, or why it has none."""
    if isinstance(record, ExtractionError):
        return record
    id = unescape_formula(str(record.get(fields.id, ""))).strip()
    if not id:
        return ExtractionError(f"it has no value in {fields.id!r}; give it one, or leave it out")
    labels = _split(record, fields.labels)
    for name, field in fields.values.items():
        labels += [field.label(value) for value in _split(record, name)]
    try:
        names = label_names(labels)
        coding.check(names)
        return id, tuple(storable_labels({id: names})[id])
    except UsageError as error:
        return ExtractionError(str(error))


def _split(record: Mapping[str, object], name: str) -> list[str]:
    """Return the labels or values in a field of a record, none if it has no such field."""
    return split_labels(unescape_formula(str(record.get(name, ""))))


def _records(
    path: Path, stream: BinaryIO, options: LabelFileOptions, coding: Coding
) -> tuple[_LabelFields, Records]:
    """Return the fields of ids and labels, and the records of a file.

    Raises `DamagedRecord`, also for a file without these fields.
    """
    read_options = ReadOptions(text_field="", encoding=options.encoding)
    names, records = read_table(path.name, stream, read_options)
    return _fields(names, options, coding), records


def _fields(names: Sequence[str], options: LabelFileOptions, coding: Coding) -> _LabelFields:
    """Return the fields of ids and labels. Raises `DamagedRecord` without them."""
    id = options.id_field or field_named(names, IDS)
    labels = options.label_field or field_named(names, _LABELS)
    columns = {name.casefold(): name for name in names}
    values: dict[str, CodingField] = {}
    for field in coding.fields:
        key = field.name.casefold()
        column = columns.get(key + CODING_MARK, columns.get(key))
        if column is not None:
            values[column] = field
    if options.label_field is None and (labels is None or labels in values):
        labels = ""
    if id not in names or (labels not in names and (labels or not values)):
        missing = "--id-field" if id not in names else "--label-field"
        raise DamagedRecord(
            f"its fields are {', '.join(names[:40])}; choose one of them by {missing}"
        )
    return _LabelFields(str(id), str(labels), values)
