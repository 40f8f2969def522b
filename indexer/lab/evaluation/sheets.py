"""Assessors' sheets: files of judgements, written so that none is lost.

A sheet of `nearfold judge` is a file of JSON lines: a first line that names the assessor, then one
line for each judgement, of which the last of a pair counts; a withdrawn judgement is null, and one
whose assessor is not sure is `unsure`. Sheets of other programs are csv or JSON Lines with a, b,
judgement and, where there are any, note and, where several assessors are in one file, assessor.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import Record, read_gold, records, type_named
from indexer.lab.evaluation.judgements import (
    DUPLICATES,
    ROLES,
    UNSURE,
    Agreement,
    Disagreement,
    Gold,
    Judgement,
    LabelledPair,
    MeasuredAgreement,
    Resolution,
    Role,
    Sheet,
    cohen,
    count_table,
    mean_kappa,
    siegel_castellan,
)
from indexer.lab.evaluation.precision_recall import ordered_pair

VERSION = 1


def is_sheet(path: str) -> bool:
    """Return whether a file holds judgements, not a gold set. Raises what `records` raises."""
    first = next(iter(records(path)), None)
    return first is not None and ("judgement" in first.fields or "sheet" in first.fields)


def read_sheets(path: str) -> list[Sheet]:
    """Read the sheets of a file, one for each assessor. Raises `SourceNotFound`, and `UsageError`
    with the line.
    """
    folder = str(Path(path).resolve().parent)
    sheets: dict[str, Sheet] = {}
    header: Record | None = None
    for record in records(path):
        if "sheet" in record.fields:
            header = record
            folder = os.path.normpath(Path(folder) / record.text("folder", "."))
            continue
        name = record.text("assessor", header.text("assessor") if header else Path(path).stem)
        role = _role(
            record.text("role", header.text("role", "assessor") if header else "assessor"), record
        )
        sheet = sheets.setdefault(name, Sheet(name, role, folder))
        if sheet.role != role:
            raise record.wrong(f"{name} is {sheet.role} in an earlier line, and {role} here")
        _record_judgement(record, sheet)
    if header and not sheets:
        return [
            Sheet(header.text("assessor"), _role(header.text("role", "assessor"), header), folder)
        ]
    return list(sheets.values())


def _record_judgement(record: Record, sheet: Sheet) -> None:
    """Record the judgement of a line instead of an earlier one of the same pair."""
    a, b = record.text("a"), record.text("b")
    if record.fields.get("judgement", UNSURE) in (None, ""):
        sheet.withdraw(ordered_pair(a, b))
        return
    name = record.text("judgement")
    type = UNSURE if name.strip().lower() == UNSURE else type_named(name, record)
    group = record.text("group", "") or record.text("query", "")
    sheet.put(Judgement(a, b, type, group, record.location, record.text("note", "")))


def _role(role: str, record: Record) -> Role:
    if role in ROLES:
        return ROLES[role]
    raise record.wrong(f"{role!r} is not a role; write assessor or arbiter")


class SheetWriter:
    """A writer of a sheet: every judgement is on the disk before `judge` returns."""

    def __init__(
        self, path: str | Path, assessor: str, role: Role = "assessor", folder: str | None = None
    ) -> None:
        """Create or continue a sheet; an incomplete last line is removed.

        `folder`: the base of its paths, when it is not the sheet's own folder.

        Raises `UsageError` when it is another assessor's, is not a sheet, or cannot be written.
        """
        self._path = Path(path)
        try:
            self._file = os.open(
                self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600
            )
            self._end = self._whole()
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {error.strerror or error}; choose another path for --out"
            ) from error
        if self._end:
            self._check(assessor, role)
            [self.sheet] = read_sheets(str(self._path))
        else:
            self.sheet = Sheet(assessor, role, folder or ".")
            self._append(
                {
                    "sheet": VERSION,
                    "assessor": assessor,
                    "role": role,
                    "folder": _relative_folder(folder, self._path),
                }
            )

    def judge(self, a: str, b: str, type: str | None, group: str = "", note: str = "") -> None:
        """Write a judgement of a pair, `UNSURE`, or withdraw it (None). Raises `UsageError` when it
        cannot be written; the sheet is unchanged then.
        """
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        optional = {name: text for name, text in (("group", group), ("note", note)) if text}
        self._append({"a": a, "b": b, "judgement": type, **optional, "at": at})
        if type is None:
            self.sheet.withdraw(ordered_pair(a, b))
        else:
            self.sheet.put(Judgement(a, b, type, group, str(self._path), note))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _whole(self) -> int:
        """Return the length of the file's complete lines; the rest of it is removed."""
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if data and not end:
            raise UsageError(
                f"{self._path} exists and is not a sheet; choose another path for --out"
            )
        if end < len(data):
            os.truncate(self._path, end)
        return end

    def _check(self, assessor: str, role: Role) -> None:
        with self._path.open("rb") as file:
            first = file.readline()
        try:
            header = json.loads(first)
            named, as_what = header["assessor"], header["role"]
        except (ValueError, TypeError, KeyError, LookupError) as error:
            raise UsageError(
                f"{self._path} exists and is not a sheet of `nearfold judge`; choose another path "
                "for --out"
            ) from error
        if (named, as_what) != (assessor, role):
            raise UsageError(
                f"{self._path} is the sheet of {named} ({as_what}); choose another path for --out"
            )

    def _append(self, fields: Mapping[str, object]) -> None:
        line = (json.dumps(fields, ensure_ascii=True) + "\n").encode()
        if os.fstat(self._file).st_size != self._end:
            raise UsageError(
                f"{self._path} is being written by another program; "
                "end that one, then start this one again"
            )
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            os.truncate(self._file, self._end)
            raise UsageError(
                f"the judgement was not saved: {self._path} cannot be written ({error.strerror}); "
                "make it writable, then judge again"
            ) from error
        self._end += len(line)


def _relative_folder(folder: str | None, sheet: Path) -> str:
    """Return a folder relative to the folder of the sheet, so that both can be moved together."""
    return "." if folder is None else os.path.relpath(folder, sheet.resolve().parent)


def disagreements(sheets: Sequence[Sheet]) -> list[tuple[str, str]]:
    """Return the pairs, in order, that two or more assessors judged differently, or that one is
    unsure of.
    """
    types: dict[tuple[str, str], set[str]] = {}
    for sheet in sheets:
        if sheet.role == "assessor":
            for pair, judgement in sheet.verdicts.items():
                types.setdefault(pair, set()).add(judgement.type)
    return sorted(pair for pair, pair_types in types.items() if _differ(pair_types))


def resolve(sheets: Sequence[Sheet]) -> Resolution:
    """Return the gold set of sheets: the type that all give; where they differ the
    arbiter's, else the majority's, else none. An assessor who is unsure differs from all others,
    and counts in the majority that is needed.

    Pairs that are not judged stay unknown. Raises `UsageError` when there is no assessor or more
    than one arbiter.
    """
    assessors = [sheet for sheet in sheets if sheet.role == "assessor"]
    arbiters = [sheet for sheet in sheets if sheet.role == "arbiter"]
    if not assessors or len(arbiters) > 1:
        raise UsageError("give the sheets of one assessor or more, and of at most one arbiter")
    pairs: dict[tuple[str, str], dict[str, Judgement]] = {}
    for sheet in assessors:
        for pair, judgement in sheet.verdicts.items():
            pairs.setdefault(pair, {})[sheet.assessor] = judgement
    labelled, disagreements_found = [], []
    for pair, judgements in sorted(pairs.items()):
        types = {name: judgement.type for name, judgement in judgements.items()}
        arbiter = arbiters[0].judgements.get(pair) if arbiters else None
        type = _settle(list(types.values()), arbiter)
        if _differ(set(types.values())):
            notes = {name: judgement.note for name, judgement in judgements.items()}
            written = {name: note for name, note in notes.items() if note}
            disagreements_found.append(Disagreement(*pair, types, type, written))
        if type:
            first = next(iter(judgements.values()))
            labelled.append(LabelledPair(first.a, first.b, type, first.group, "", first.location))
    alone = sum(len(judgements) == 1 for judgements in pairs.values()) if len(assessors) > 1 else 0
    return Resolution(
        Gold(tuple(labelled), (), False, assessors[0].folder), tuple(disagreements_found), alone
    )


def _differ(types: set[str]) -> bool:
    return len(types) > 1 or UNSURE in types


def _settle(types: Sequence[str], arbiter: Judgement | None) -> str | None:
    if not _differ(set(types)):
        return types[0]
    if arbiter:
        return arbiter.type
    majority = (type for type in types if types.count(type) * 2 > len(types))
    return next((type for type in majority if type != UNSURE), None)


def as_duplicate(types: Iterable[str]) -> tuple[bool, ...]:
    """Return for each of these types whether it says that a pair is a duplicate."""
    return tuple(type in DUPLICATES for type in types)


# Read the ground truth about pairs: one gold set, or the sheets of assessors and of an arbiter.


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A gold set, with the sheets that it was made of and their resolution, if there are any."""

    gold: Gold
    sheets: tuple[Sheet, ...] = ()
    resolved: Resolution | None = None


def read_truth(paths: Sequence[str], closed: bool | None = None) -> GroundTruth:
    """Read the truth from one file of pairs or sets, or from sheets. `closed` as in `read_gold`,
    for gold sets alone.

    Raises `SourceNotFound`, and `UsageError` for files that cannot be read, with the line, for both
    kinds together, and when no pair of the sheets is settled.
    """
    kinds = [is_sheet(path) for path in paths]
    if kinds == [False]:
        return GroundTruth(read_gold(paths[0], closed))
    if not paths or not all(kinds):
        raise UsageError("give one gold set, or the sheets of assessors and nothing else")
    if closed:
        raise UsageError("sheets contain only judged pairs; leave --unlisted out")
    sheets = [sheet for path in paths for sheet in read_sheets(path)]
    _check_distinct_assessors(sheets)
    resolution = resolve(sheets)
    if not resolution.gold.pairs:
        raise UsageError(
            "no pair was judged in these sheets, or none on which they agree; "
            "judge pairs with `nearfold judge`"
        )
    return GroundTruth(resolution.gold, tuple(sheets), resolution)


def _check_distinct_assessors(sheets: Sequence[Sheet]) -> None:
    """Raise `UsageError` when an assessor has two sheets."""
    names = Counter(sheet.assessor for sheet in sheets)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise UsageError(f"{twice[0]} has two sheets here; give one of them")


# Agreement of assessors as Conrad & Raymond (ICAIL 2007) measure it, with Cohen's kappa.


def agreement(sheets: Sequence[Sheet]) -> Agreement:
    """Return the agreement of two or more assessors; an arbiter, who sees only disputed pairs, is
    not one of them.
    """
    assessors = [sheet for sheet in sheets if sheet.role == "assessor"]
    all_pairs = {pair for sheet in assessors for pair in sheet.judgements}
    judged_by_all = set(all_pairs)
    for sheet in assessors:
        judged_by_all &= sheet.judgements.keys()
    common = sorted(judged_by_all)
    types = [_types_of(pair, assessors) for pair in common]
    groups = [assessors[0].judgements[pair].group for pair in common]
    return Agreement(
        tuple(sheet.assessor for sheet in assessors),
        len(common),
        len(all_pairs) - len(common),
        measured_agreement([as_duplicate(row) for row in types], groups),
        measured_agreement(types, groups),
    )


def _types_of(pair: tuple[str, str], sheets: Sequence[Sheet]) -> tuple[str, ...]:
    return tuple(sheet.judgements[pair].type for sheet in sheets)


def measured_agreement(
    judged: Sequence[tuple[object, ...]], groups: Sequence[str]
) -> MeasuredAgreement:
    """Return every kappa of rows of judgements, one column for each rater, given the group of each
    row.
    """
    by_group: dict[str, list[tuple[object, ...]]] = {}
    for row, group in zip(judged, groups, strict=True):
        by_group.setdefault(group, []).append(row)
    table = count_table(judged)
    two = bool(judged) and len(judged[0]) == 2
    return MeasuredAgreement(
        siegel_castellan(table),
        siegel_castellan(table, corrected=True),
        mean_kappa([count_table(rows) for rows in by_group.values()]),
        cohen([row[0] for row in judged], [row[1] for row in judged]) if two else None,
    )
