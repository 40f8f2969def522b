"""A dataset without its duplicates: copies first, then near duplicates, in one run.

Fingerprints are computed as rows are read, joined, and representatives chosen by the code
of `match` and `group`, within a memory budget; then the rows that stay are copied.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import Criteria, Numbers
from indexer.comparing.measures import ComparedText
from indexer.defaults import CAP, FOLD, MEASURE, MEMORY_MEGABYTES, DefaultNumber, PolicyName
from indexer.documents.base import ReadOptions
from indexer.documents.sources import path_list
from indexer.documents.tables import is_empty, text_of
from indexer.errors import ExtractionError, UsageError
from indexer.fingerprinting.fingerprint import content_digest, fingerprints, with_pictographs
from indexer.fingerprinting.keys import pack_slots
from indexer.grouping.group import Grouping
from indexer.grouping.group_options import GroupOptions, memory_budget
from indexer.jobs.dataset_files import (
    DatasetFile,
    KeptRows,
    RowText,
    check_columns,
    dataset_files,
)
from indexer.jobs.dedup_output import (
    SPOOL,
    Output,
    copy_rows,
    make_work_folder,
    output_in,
    plan_output,
)
from indexer.jobs.dedup_passages import SpanCopies, SpanEdits
from indexer.jobs.dedup_spool import (
    FORMAT,
    FingerprintedTexts,
    Removal,
    RowSpool,
    row_id,
)
from indexer.model import Progress, Status, no_progress
from indexer.recipe import DEFAULT, Recipe
from indexer.system.approved_passages import NO_PASSAGES, ApprovedPassages
from indexer.system.external_memory import MemoryBudget, few_collections
from indexer.system.files import write_error
from indexer.system.release import release
from indexer.wording import count_of, field_of

# Settings of `dedup`.


@dataclass(frozen=True, slots=True)
class DedupOptions:
    """The options of `dedup`: which rows are duplicates, and which of them stays.

    `threshold`: minimum similarity of a removed row to the row that stays; above 0, at most 1. The
    default is that of the policy.
    `measure`: the measure that decides, on the texts.
    `keep`: the row that stays: `longest` (most words) or `first` (in the order of the input).
    `text_field`: the column of the texts; a dot leads into a nested field.
    `id_field`: the column whose values name rows in the report; None for none.
    `delimiter`: separates the fields of CSV; None detects it.
    `cap`: the maximum number of distinct texts of a band that are all compared with each other; of
    more, all are compared with the first only; at least 2.
    `numbers`: `distinguish` keeps rows whose numbers, dates, amounts, negations, names, addresses
    or signs differ; `changed` those in which one stands for another; `ignore` none, and
    compares texts of numbers alone too. None is `changed` of `standard`.
    `require`: conditions on the texts of a removed row and the row that stays, as `--require` takes
    them; not on novelty, since nothing counts how frequent words are.
    `policy`: what a removed row may differ in from the row that stays, as
    `indexer.comparing.marks` has it.

    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = DefaultNumber(FOLD)
    measure: str = MEASURE
    keep: Literal["longest", "first"] = "longest"
    text_field: str = "text"
    id_field: str | None = None
    delimiter: str | None = None
    cap: int = CAP
    numbers: Numbers | None = None
    require: tuple[str, ...] = ()
    policy: PolicyName = "standard"

    def __post_init__(self) -> None:
        self.reading()
        object.__setattr__(self, "threshold", self.family_options().threshold)

    def reading(self) -> ReadOptions:
        """Return how records are read."""
        return ReadOptions(
            text_field=self.text_field,
            id_field=self.id_field,
            delimiter=self.delimiter,
            metadata=False,
        )

    def family_options(self) -> GroupOptions:
        """Return the options of `group` by which rows that stay are the principals of others."""
        numbers = self.numbers or ("changed" if self.policy == "standard" else None)
        criteria = Criteria.from_settings(
            {"numbers": numbers, "require": self.require, "policy": self.policy}
        )
        if criteria.novelty is not None:
            raise UsageError(
                "dedup does not count how frequent words are, which novelty<=N needs; leave it out"
            )
        options = GroupOptions(
            threshold=self.threshold,
            measure=self.measure,
            principal=self.keep,
            cap=self.cap,
            criteria=criteria,
        )
        options.check_recipe(DEFAULT)
        return options


DEFAULTS = DedupOptions()


# Rows of dataset files with the fingerprints of their texts.

BATCH_ROWS = 1000  # that are fingerprinted together
BATCH_CHARS = 4_000_000


def row_text(
    record: Mapping[str, Any] | ExtractionError, read_options: ReadOptions
) -> str | ExtractionError | None:
    """Return the text of a row; None where the field is missing, null or blank."""
    if isinstance(record, ExtractionError):
        return record
    text = record.get(read_options.text_field)
    if not isinstance(text, str):
        if is_empty(field_of(record, read_options.text_field)):
            return None
        text = text_of(record, read_options)
    return None if isinstance(text, str) and (not text or text.isspace()) else text


def own_id(record: Mapping[str, Any] | ExtractionError, read_options: ReadOptions) -> str | None:
    """Return the JSON of the id that a row has itself; None without one."""
    if isinstance(record, ExtractionError) or read_options.id_field is None:
        return None
    return json.dumps(field_of(record, read_options.id_field), default=str)


def row_batches(
    files: Sequence[DatasetFile], read_options: ReadOptions, known: Sequence[int]
) -> Iterator[list[RowText]]:
    """Yield the texts of the rows of files in batches, in order.

    `known`: how many rows of each file are fingerprinted already; files before the last that has
    some are not read again. Raises `UsageError` for a file that cannot be read, or changes
    meanwhile.
    """
    batch: list[RowText] = []
    chars = 0
    for text in _texts(files, read_options, known):
        batch.append(text)
        chars += text.chars
        if len(batch) >= BATCH_ROWS or chars >= BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _texts(
    files: Sequence[DatasetFile], read_options: ReadOptions, known: Sequence[int]
) -> Iterator[RowText]:
    last = max((index for index, count in enumerate(known) if count), default=0)
    for index, file in enumerate(files):
        if index < last:
            continue
        for count, (number, record) in enumerate(file.records(read_options), 1):
            if count > known[index]:
                text, own = row_text(record, read_options), own_id(record, read_options)
                yield RowText(index, int(number), text, own)
        file.check_unchanged()


def fingerprint_texts(
    batch: Sequence[RowText], read_options: ReadOptions, recipe: Recipe
) -> FingerprintedTexts:
    """Return the texts of these rows with their fingerprints, in order."""
    has_text = [isinstance(item.text, str) for item in batch]
    texts = [
        item.text[: read_options.max_chars] if isinstance(item.text, str) else "" for item in batch
    ]
    prints = fingerprints(texts, recipe)
    embedded = [with_pictographs("", text) for text in texts]
    cut = ((len(text) < item.chars) for text, item in zip(texts, batch, strict=True))
    statuses: list[Status] = [
        "truncated" if is_cut and status == "complete" else status
        for status, is_cut in zip(prints.status, cut, strict=True)
    ]
    has_slots = [bool(recipe.minhash) and prints.is_signed(index) for index in range(len(batch))]
    return FingerprintedTexts(
        texts=texts,
        statuses=statuses,
        exact=[
            content_digest(exact, pictographs) if is_text else ""
            for exact, pictographs, is_text in zip(prints.exact, embedded, has_text, strict=True)
        ],
        embedded=embedded,
        words=prints.words,
        chars=prints.chars,
        has_slots=np.array(has_slots, bool),
        slots=np.frombuffer(pack_slots(prints.minhash), np.uint8).reshape(
            len(batch), recipe.sketch_bytes
        ),
    )


# Steps of `dedup`: rows are fingerprinted, decided on, and those that stay are copied.


@dataclass(frozen=True, slots=True)
class DedupRun:
    """The steps of a run; each is skipped if it is complete."""

    files: Sequence[DatasetFile]
    output: Output
    options: DedupOptions
    spool: RowSpool
    budget: MemoryBudget
    progress: Progress
    spans: ApprovedPassages

    def decide(self) -> None:
        """Take the steps that are left until it is decided which rows stay."""
        if not self.spool.step:
            self._fingerprint()
        if self.spool.step == "fingerprinted":
            self._decide()

    def write(self) -> dict[str, Any]:
        """Write what was decided; return where, how many spans were removed, and their words."""
        if self.spool.step != "written":
            self._write()
        spans, span_words = self._span_counts()
        self.output.publish()
        paths = {"out": str(self.output.out), "report": str(self.output.report)}
        return {**paths, "spans": spans, "span_words": span_words}

    def _span_counts(self) -> tuple[int, int]:
        for part, position in self.output.parts[2:]:
            with (part if part.exists() else position).open(encoding="ascii") as file:
                words = [json.loads(line)["words"] for line in file]
            return len(words), sum(words)
        return 0, 0

    def _fingerprint(self) -> None:
        known = self.spool.rows_of_files(len(self.files))
        read_options = self.options.reading()
        without_keys = dataclasses.replace(DEFAULT, bands=0, rows=0)
        for batch in row_batches(self.files, read_options, known):
            rows = fingerprint_texts(batch, read_options, without_keys)
            self.spool.add(batch, rows)
            self.progress("fingerprinting rows", self.spool.rows_read, 0)
        self._check_texts()
        self.spool.set_step("fingerprinted")

    def _check_texts(self) -> None:
        """Raise `UsageError` where no row has a text, or an id that is asked for, as by the name of
        another field.
        """
        readable = self.spool.rows_read - self.spool.counts()[2]
        if not readable:
            return
        read_options = self.options.reading()
        id_field = read_options.id_field
        if id_field and all(field_of(record, id_field) is None for record in self._records()):
            raise UsageError(f"no row has the field {id_field!r}; name another by --id-field")
        if self.spool.without_text < readable:
            return
        first = next(self._records())
        error = text_of(first, read_options)
        if not isinstance(error, ExtractionError):
            error = ExtractionError(
                f"the field {self.options.text_field!r} is blank; name another by --text-field"
            )
        raise UsageError(f"none of {count_of(readable, 'row')} has a text: {error}")

    def _records(self) -> Iterator[Mapping[str, Any]]:
        for file in self.files:
            for _, record in file.records(self.options.reading()):
                if not isinstance(record, ExtractionError):
                    yield record

    def _decide(self) -> None:
        options = self.options.family_options()
        collection, positions = self.spool.collection(options.folding, self.progress, self.budget)
        grouping = Grouping.of(collection, self.spool, options)
        order = grouping.first_order()
        pairs = grouping.pairs(order, self.progress)
        texts = collection.documents.texts
        known = self._known(order, positions)
        removals: list[Removal] = []
        assigned = grouping.assign(pairs, order, self.progress, known)
        for visited, (row, kept, similarity) in enumerate(assigned, self.spool.visited + 1):
            if similarity is not None:
                is_copy = bool(texts[row] == texts[kept])
                removals.append(
                    Removal(int(positions[row]), int(positions[kept]), similarity, is_copy)
                )
            if visited % BATCH_ROWS == 0:
                self.spool.decide(removals, visited)
                removals = []
        self.spool.decide(removals, len(order))
        self.spool.set_step("decided")

    def templates(self) -> Iterator[Template]:
        """Yield the rows that stay for the most near duplicates with other facts."""
        distinguish = Criteria(numbers="distinguish")
        for position, removed in self.spool.largest_kept(MIN_REMOVED, MAX_TEMPLATES):
            ids = [row_id(each) for each in (position, *removed[:MAX_COMPARED])]
            rows = self.spool.get(ids)
            kept, *others = (ComparedText(rows[id].text, DEFAULT) for id in ids)
            differ = sum(not distinguish.accepts(kept, other) for other in others)
            if differ >= MIN_REMOVED:
                file, number = self.spool.source_of(position)
                yield Template(self.output.names[file], number, differ, len(removed))

    def _known(self, order: Sequence[int], positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the row that stays for each row that is decided, -1 of the others.

        `positions`: the positions of the rows in the input, ascending.
        """
        known = np.full(len(positions), -1, np.int32)
        visited = order[: self.spool.visited]
        known[visited] = visited
        for position, kept in self.spool.removals():
            known[np.searchsorted(positions, position)] = np.searchsorted(positions, kept)
        return known

    def _write(self) -> None:
        try:
            self._write_report()
            self._write_rows()
        except OSError as error:
            raise write_error(self.output.out, "--out", error) from error
        for file in self.files:
            file.check_unchanged()
        self.spool.set_step("written")

    def _write_report(self) -> None:
        names = self.output.names
        part, _ = self.output.parts[0]
        with part.open("w", encoding="ascii", newline="\n") as file:
            for line in self.spool.report():
                fields: dict[str, object] = {"file": names[line.file], "row": line.number}
                if line.error is not None:
                    fields |= {"outcome": "failed", "error": line.error}
                elif line.kept_file is not None:
                    fields |= {
                        "outcome": "exact" if line.exact else "near",
                        "kept_file": names[line.kept_file],
                        "kept_row": line.kept_number,
                        "similarity": line.similarity,
                    }
                if line.own is not None:
                    fields["id"] = json.loads(line.own)
                if line.kept_own is not None:
                    fields["kept_id"] = json.loads(line.kept_own)
                file.write(json.dumps(fields) + "\n")

    def _write_rows(self) -> None:
        if not self.spans:
            self._copy_rows(None)
            return
        part, _ = self.output.parts[2]
        paths = [file.name for file in self.files]
        names = dict(zip(paths, self.output.names, strict=True))
        with part.open("w", encoding="ascii", newline="\n") as file:
            self._copy_rows(SpanEdits(SpanCopies(self.spans), file, names))

    def _copy_rows(self, edits: SpanEdits | None) -> None:
        path, _ = self.output.parts[1]
        shutil.rmtree(path.parent, ignore_errors=True)
        read_options = self.options.reading()
        parts = self._kept_rows()
        if not self.output.is_folder:
            path.parent.mkdir()
            copy_rows(parts, path, read_options, edits)
            return
        for name, part in zip(self.output.names, parts, strict=True):
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_rows([part], target, read_options, edits)

    def _kept_rows(self) -> KeptRows:
        """Return each file with whether its rows are kept."""
        kept = np.ones(self.spool.rows_read, dtype=bool)
        for position in self.spool.left_out():
            kept[position] = False
        ends = np.cumsum(self.spool.rows_of_files(len(self.files)))
        return list(zip(self.files, np.split(kept, ends[:-1]), strict=True))


MIN_REMOVED = 10  # near duplicates of one row with other facts, of which a result warns
MAX_TEMPLATES = 3  # rows of which it warns
MAX_COMPARED = 1000  # near duplicates of such a row whose facts are compared


@dataclass(frozen=True, slots=True)
class Template:
    """A row that stays for many near duplicates that state other facts, such as numbers or names.

    `kept_file` and `kept_row` as in the report. `differ`: how many of the first `MAX_COMPARED` of
    its `removed` near duplicates differ from it in facts, so that numbers="distinguish" separates
    them.
    """

    kept_file: str
    kept_row: int
    differ: int
    removed: int


@dataclass(frozen=True, slots=True)
class DedupResult:
    """The account of a run: `read` is the sum of `kept`, `exact`, `near` and `failed`.

    `exact` and `near`: rows removed as copies and as near duplicates; `failed`: rows that could not
    be compared, and are not in the output. `files` were read; `other_files` below the folders hold
    no rows. `resumed`: rows that an interrupted run had fingerprinted. `out` and `report`: what was
    written, empty after a dry run. `spans` copies of approved passages, of so many `span_words`,
    were removed from rows. `without_text` of the kept rows have no text. `templates`: kept rows for
    which many were removed that state other facts.
    """

    read: int
    kept: int
    exact: int
    near: int
    failed: int
    files: int
    other_files: int
    resumed: int
    out: str = ""
    report: str = ""
    spans: int = 0
    span_words: int = 0
    without_text: int = 0
    templates: tuple[Template, ...] = ()


@few_collections()
def dedup(
    paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    options: DedupOptions = DEFAULTS,
    *,
    memory: int = MEMORY_MEGABYTES,
    replace: bool = False,
    progress: Progress = no_progress,
    spans: ApprovedPassages = NO_PASSAGES,
) -> DedupResult:
    """Write the rows of files of JSON Lines, CSV or Parquet without duplicates, as they stand.

    `paths`: files, folders, or patterns; a single one need not be in a list. `out`: a file of the
    same kind, for files of the same columns, or a new folder that gets a file for each. Rows come
    in the order of `keep`, complete texts first; each is removed if a row that was kept before it
    has the same normalised text, or reaches the threshold, under the most similar one, ties to the
    first of the input. `OUT.removed.jsonl` lists the rows that are not in the output, and why; it
    is empty if there are none. Rows without a text are kept. With None for `out` nothing is
    written, and the result says what would be. Of the passages of `spans` one copy stays, the first
    in the rows that are kept; `OUT.spans.jsonl` lists the others, which are removed from the texts
    of their rows. They make no difference to which rows are kept, and none without `out`.

    `memory`: megabytes, 1 or more, for slots, pairs and texts; what does not fit is written to
    temporary files, with the same result. About 700 bytes a row for an index of the rows, and some
    50 MB for the program, come on top and are not bounded by it. `replace`: replace files at `out`
    and of the report; a folder that is not empty is never replaced.

    An interrupted run goes on when it is called again with the same arguments, and starts again if
    an input is another file, or changed. `progress` is called with the name of a step, the number
    done and all there is, 0 if that is not known.

    Raises before any row is read: `UsageError` for files that cannot be read or written, for tables
    without the column of texts or, with one output file, of other columns, and for an output that
    exists; `MissingExtra` for Parquet without pyarrow; `StoreBusy` while another process writes
    `out`. Later: `UsageError` where no row has a text, for a file that changed meanwhile or cannot
    be read to its end, and `StoreStopped` when the disk is full. Nothing is at `out` then.
    """
    budget = memory_budget(memory)
    names = path_list(paths)
    files, other_files = dataset_files(names)
    with nullcontext("") if out else TemporaryDirectory(prefix="nearfold") as folder:
        if not out:
            output = output_in(Path(folder), files)
        else:
            output = plan_output(files, names, Path(out), replace, bool(spans))
        check_columns(files, options.reading(), alike=not output.is_folder)
        make_work_folder(output)
        spool = RowSpool(output.work / SPOOL, _settings(files, options, spans))
        resumed = spool.rows_read
        run = DedupRun(files, output, options, spool, budget, progress, spans)
        try:
            if spool.step != "written":
                output.check_new()
            run.decide()
            result = _account(run, other_files, resumed)
            if out:
                written = run.write()
                result = dataclasses.replace(result, **written)
        except UsageError:
            if not spool.step:
                shutil.rmtree(output.work)
            raise
        finally:
            spool.close()
        shutil.rmtree(output.work)
    return result


def _account(run: DedupRun, other_files: int, resumed: int) -> DedupResult:
    """Return the account of a run whose rows are decided."""
    spool = run.spool
    read, (exact, near, failed) = spool.rows_read, spool.counts()
    counts = read, read - exact - near - failed, exact, near, failed
    return DedupResult(
        *counts,
        files=len(run.files),
        other_files=other_files,
        resumed=resumed,
        without_text=spool.without_text,
        templates=tuple(run.templates()),
    )


def _settings(files: Sequence[DatasetFile], options: DedupOptions, spans: ApprovedPassages) -> str:
    """Return what a run depends on; a run that is continued has the same."""
    inputs = [(file.name, file.path, asdict(file.version)) for file in files]
    return json.dumps([FORMAT, release(), DEFAULT.id, asdict(options), inputs, spans.id])
