"""Assessors' sheets: who has judged which pairs how, kept so that nothing that was judged is ever
lost.

A sheet that is being written is a file of JSON lines: a head that names the assessor, then one line
a judgement, the last of a pair counting; a judgement that was taken back is null. Sheets of other
programs are csv or JSON Lines with a, b, judgement and, where several assessors are in one file,
assessor.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, TypeAlias

from indexer.errors import UsageError
from indexer.lab.evaluation.csv_records import Record, records
from indexer.lab.evaluation.gold import DUPLICATES, Gold, LabelledPair, type_named
from indexer.statistics.precision_recall import ordered

Role: TypeAlias = Literal["assessor", "arbiter"]
ROLES: Mapping[str, Role] = {"assessor": "assessor", "arbiter": "arbiter"}
VERSION = 1


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one assessor says of one pair."""

    a: str
    b: str
    type: str
    group: str
    place: str


@dataclass(frozen=True)
class Sheet:
    """The judgements of one assessor, by pair. An arbiter judges where others disagree."""

    assessor: str
    role: Role
    folder: str
    judgements: dict[tuple[str, str], Judgement] = field(default_factory=dict)


def is_sheet(path: str) -> bool:
    """Whether a file holds judgements, not a gold set. Raises what `records` raises."""
    first = next(iter(records(path)), None)
    return first is not None and ("judgement" in first.fields or "sheet" in first.fields)


def read_sheets(path: str) -> list[Sheet]:
    """The sheets of a file, one an assessor. Raises `SourceNotFound`, and `UsageError` with the
    line.
    """
    folder = str(Path(path).resolve().parent)
    sheets: dict[str, Sheet] = {}
    head: Record | None = None
    for record in records(path):
        if "sheet" in record.fields:
            head = record
            folder = os.path.normpath(Path(folder) / record.text("folder", "."))
            continue
        name = record.text("assessor", head.text("assessor") if head else Path(path).stem)
        role = _role(
            record.text("role", head.text("role", "assessor") if head else "assessor"), record
        )
        sheet = sheets.setdefault(name, Sheet(name, role, folder))
        if sheet.role != role:
            raise record.wrong(f"{name} is {sheet.role} in an earlier line, and {role} here")
        _take(record, sheet.judgements)
    if head and not sheets:
        return [Sheet(head.text("assessor"), _role(head.text("role", "assessor"), head), folder)]
    return list(sheets.values())


def _take(record: Record, judgements: dict[tuple[str, str], Judgement]) -> None:
    """Let a line count, instead of what was said of its pair before."""
    a, b = record.text("a"), record.text("b")
    if "judgement" in record.fields and record.fields["judgement"] is None:
        judgements.pop(ordered(a, b), None)
        return
    judgements.pop(ordered(a, b), None)
    type = type_named(record.text("judgement"), record)
    group = record.text("group", "") or record.text("query", "")
    judgements[ordered(a, b)] = Judgement(a, b, type, group, record.place)


def _role(role: str, record: Record) -> Role:
    if role in ROLES:
        return ROLES[role]
    raise record.wrong(f"{role!r} is no role; a sheet is of an assessor or of the arbiter")


class OpenSheet:
    """A sheet that is being written: every judgement is on the disk before `judge` returns."""

    def __init__(
        self, path: str | Path, assessor: str, role: Role = "assessor", folder: str | None = None
    ) -> None:
        """Make a sheet, or go on with it; what was cut short in its last line is removed.

        `folder`: where its paths begin, if that is another one than the sheet's own.

        Raises `UsageError` when it is somebody else's, is no sheet, or cannot be written.
        """
        self._path = Path(path)
        try:
            self._file = os.open(
                self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600
            )
            self._end = self._whole()
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {error.strerror or error}; give --out another place"
            ) from error
        if self._end:
            self._check(assessor, role)
            [sheet] = read_sheets(str(self._path))
            self.judgements = sheet.judgements
        else:
            self.judgements = {}
            self._append(
                {
                    "sheet": VERSION,
                    "assessor": assessor,
                    "role": role,
                    "folder": _relative(folder, self._path),
                }
            )

    def judge(self, a: str, b: str, type: str | None, group: str = "") -> None:
        """Put down a judgement of a pair, or take one back (None). Raises `UsageError` when it
        cannot be written: it is not counted then, and the sheet stands as before.
        """
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._append(
            {"a": a, "b": b, "judgement": type, **({"group": group} if group else {}), "at": at}
        )
        if type is None:
            self.judgements.pop(ordered(a, b), None)
        else:
            self.judgements.pop(ordered(a, b), None)
            self.judgements[ordered(a, b)] = Judgement(a, b, type, group, str(self._path))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _whole(self) -> int:
        """The length of the file's whole lines; the rest of it is removed."""
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if data and not end:
            raise UsageError(f"{self._path} is there and no sheet; give --out another place")
        if end < len(data):
            os.truncate(self._path, end)
        return end

    def _check(self, assessor: str, role: Role) -> None:
        with self._path.open("rb") as file:
            first = file.readline()
        try:
            head = json.loads(first)
            named, as_what = head["assessor"], head["role"]
        except (ValueError, TypeError, KeyError, LookupError) as error:
            raise UsageError(
                f"{self._path} is there and no sheet of `nearfold judge`; give --out another place"
            ) from error
        if (named, as_what) != (assessor, role):
            raise UsageError(
                f"{self._path} is the sheet of {named} ({as_what}); give --out another place"
            )

    def _append(self, fields: Mapping[str, object]) -> None:
        line = (json.dumps(fields, ensure_ascii=True) + "\n").encode()
        if os.fstat(self._file).st_size != self._end:
            raise UsageError(
                f"{self._path} is being written by another program; end that one, then start this one again"
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
                f"the judgement was not kept: {self._path} cannot be written ({error.strerror})"
            ) from error
        self._end += len(line)


def _relative(folder: str | None, sheet: Path) -> str:
    """A folder as it is reached from that of the sheet, so that both can be moved together."""
    return "." if folder is None else os.path.relpath(folder, sheet.resolve().parent)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that assessors judge differently: who said what, and how it was settled; `type` is
    None when it was not.
    """

    a: str
    b: str
    said: Mapping[str, str]
    type: str | None


@dataclass(frozen=True, slots=True)
class Resolution:
    """The gold set that sheets make, and where assessors disagreed. `alone`: pairs that only one
    assessor has judged.
    """

    gold: Gold
    disagreements: tuple[Disagreement, ...]
    alone: int

    @property
    def unsettled(self) -> int:
        """Disagreements that nobody has settled; these pairs are in no gold set."""
        return sum(one.type is None for one in self.disagreements)


def disagreements(sheets: Sequence[Sheet]) -> list[tuple[str, str]]:
    """The pairs, in order, that two or more of the assessors have judged, and not all alike."""
    assessors = [one.judgements for one in sheets if one.role == "assessor"]
    pairs = sorted({pair for one in assessors for pair in one})
    return [pair for pair in pairs if len({one[pair].type for one in assessors if pair in one}) > 1]


def resolve(sheets: Sequence[Sheet]) -> Resolution:
    """The gold set of sheets: what all say; where they differ what the arbiter says, else what most
    say, else nothing.

    Pairs that are not judged stay unknown. Raises `UsageError` when there is no assessor or more
    than one arbiter.
    """
    assessors = [one for one in sheets if one.role == "assessor"]
    arbiters = [one for one in sheets if one.role == "arbiter"]
    if not assessors or len(arbiters) > 1:
        raise UsageError("give the sheets of one assessor or more, and of one arbiter at the most")
    pairs: dict[tuple[str, str], dict[str, Judgement]] = {}
    for sheet in assessors:
        for pair, judgement in sheet.judgements.items():
            pairs.setdefault(pair, {})[sheet.assessor] = judgement
    labelled, differing = [], []
    for pair, said in sorted(pairs.items()):
        types = {name: one.type for name, one in said.items()}
        arbiter = arbiters[0].judgements.get(pair) if arbiters else None
        type = _settled(list(types.values()), arbiter)
        if len(set(types.values())) > 1:
            differing.append(Disagreement(*pair, types, type))
        if type:
            first = next(iter(said.values()))
            labelled.append(LabelledPair(first.a, first.b, type, first.group, "", first.place))
    alone = sum(len(said) == 1 for said in pairs.values()) if len(assessors) > 1 else 0
    return Resolution(
        Gold(tuple(labelled), (), False, assessors[0].folder), tuple(differing), alone
    )


def _settled(types: Sequence[str], arbiter: Judgement | None) -> str | None:
    if len(set(types)) == 1:
        return types[0]
    if arbiter:
        return arbiter.type
    return next((type for type in types if types.count(type) * 2 > len(types)), None)


def as_duplicate(types: Iterable[str]) -> tuple[bool, ...]:
    """Which of these types say that a pair is a duplicate."""
    return tuple(type in DUPLICATES for type in types)
