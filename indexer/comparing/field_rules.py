"""Business rules: conditions on the fields of two documents, beside those on their texts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from indexer.errors import UsageError
from indexer.model import Row

# Orders of documents by one of their fields, as users write them: `modified:desc`.

ORDERED = ("path", "title", "modified", "size", "words", "chars", "content_type", "status")
METADATA = "metadata."
_DIRECTIONS = {"": False, "asc": False, "desc": True}
Value: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """An order by a field of `ORDERED`, or by `metadata.NAME`.

    Documents without a value come last in either direction.
    """

    field: str
    is_descending: bool = False

    def __str__(self) -> str:
        return f"{self.field}:desc" if self.is_descending else self.field

    @property
    def metadata_name(self) -> str | None:
        """Return the name of the metadata that is compared; None for another field."""
        return self.field.removeprefix(METADATA) if self.field.startswith(METADATA) else None

    def value(self, row: Row) -> Value:
        """Return what a document is compared by."""
        if self.metadata_name is not None:
            return row.metadata.get(self.metadata_name)
        value: Value = getattr(row, self.field)
        return value

    def places(self, values: Sequence[Value]) -> list[int]:
        """Return the places of values of this field in order, equal ones as they come.

        >>> FieldOrder("size", is_descending=True).places([3, None, 9, 3])
        [2, 0, 3, 1]
        """
        present = [(value, place) for place, value in enumerate(values) if value is not None]
        present.sort(key=_first, reverse=self.is_descending)
        absent = [place for place, value in enumerate(values) if value is None]
        return [place for _, place in present] + absent


def _first(pair: tuple[str | int, int]) -> tuple[str | int]:
    return (pair[0],)


def parse_order(text: str) -> FieldOrder:
    """Return the order that a user writes as `FIELD`, `FIELD:asc` or `FIELD:desc`.

    Raises `UsageError` for another field or direction.

    >>> parse_order("modified:desc")
    FieldOrder(field='modified', is_descending=True)
    """
    field, _, direction = text.partition(":")
    if field.startswith(METADATA):
        field, _, direction = _split_last(text)
    is_metadata = field.startswith(METADATA) and field != METADATA
    is_known = field in ORDERED or is_metadata
    if not is_known or direction not in _DIRECTIONS:
        raise UsageError(
            f"cannot order by {text!r}; give a field, or FIELD:desc for the opposite order: "
            f"{', '.join(ORDERED)} or metadata.NAME"
        )
    return FieldOrder(field, _DIRECTIONS[direction])


def _split_last(text: str) -> tuple[str, str, str]:
    """Return field, colon and direction; names of metadata hold colons, such as `dc:title`."""
    field, colon, direction = text.rpartition(":")
    return (field, colon, direction) if direction in ("asc", "desc") else (text, "", "")


FIELDS = (*ORDERED, "labels")
NUMBERS = ("size", "words", "chars")
DAY = 24 * 3600
UNITS = {"m": 60, "h": 3600, "d": DAY, "w": 7 * DAY, "y": 366 * DAY}  # seconds
RuleValue: TypeAlias = str | float | None
RuleValues: TypeAlias = tuple[Any, ...]  # a `RuleValue` for each rule
_WINDOW = re.compile(r"(?P<field>.+)=(?P<distance>\d+(?:\.\d+)?)(?P<unit>[mhdwy]?)", re.DOTALL)
_ISO_TIME = re.compile(
    r"""(?P<time>\d{4}-\d\d-\d\d (?:[T\ ]\d\d:\d\d(?::\d\d)?)?) (?:[.,]\d+)?
    (?:Z | (?P<sign>[-+])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Window:
    """The greatest distance of two values of a field: of times with a unit, else of numbers.

    Raises `UsageError` for an unknown field, and for a field that is no time or no number.
    """

    field: str
    distance: float
    unit: str = ""

    def __post_init__(self) -> None:
        check_fields([self.field])
        is_time = self.field == "modified"
        is_number = self.field in NUMBERS
        if not (is_time or is_number or self.field.startswith(METADATA)):
            raise UsageError(
                f"{self.field} is neither a time nor a number; a window is of modified, "
                f"{', '.join(NUMBERS)} or metadata.NAME"
            )
        if is_time and not self.unit:
            raise UsageError("modified is a time: give a unit, as in modified=7d (m, h, d, w, y)")
        if is_number and self.unit:
            raise UsageError(f"{self.field} is a number: leave out the unit {self.unit}")

    def __str__(self) -> str:
        return f"{self.field}={self.distance:g}{self.unit}"

    @property
    def limit(self) -> float:
        """The distance, in seconds where it is of times."""
        return self.distance * UNITS.get(self.unit, 1)

    def value(self, row: Row) -> float | None:
        """Return the time or number of a document; None without one."""
        if self.field == "modified":
            return None if row.modified is None else row.modified / 1000
        stored = FieldOrder(self.field).value(row)
        return _timestamp(str(stored)) if self.unit else _number(str(stored))


def check_fields(fields: Sequence[str]) -> None:
    """Raise `UsageError` for a field that documents do not have."""
    for field in fields:
        if field not in FIELDS and not (field.startswith(METADATA) and field != METADATA):
            choices = ", ".join(FIELDS)
            raise UsageError(f"no document has a field {field!r}; choose {choices}, metadata.NAME")


def field_value(row: Row, field: str) -> RuleValue:
    """Return what a document has in a field; None without a value.

    Labels are compared as a whole: documents have the same if they carry exactly the same.
    """
    if field == "labels":
        return "\0".join(sorted(row.labels)) or None
    value = FieldOrder(field).value(row)
    return None if value == "" else value


def parse_windows(texts: Sequence[str]) -> tuple[Window, ...]:
    """Return `FIELD=DISTANCE` strings as windows.

    Raises `UsageError` for any other string.

    >>> parse_windows(["modified=7d"])
    (Window(field='modified', distance=7.0, unit='d'),)
    """
    windows = []
    for text in texts:
        match = _WINDOW.fullmatch(text)
        if not match:
            raise UsageError(
                "a window is FIELD=DISTANCE, for example modified=7d (m, h, d, w, y) or size=100, "
                f"not {text!r}"
            )
        windows.append(Window(match["field"], float(match["distance"]), match["unit"]))
    return tuple(windows)


def _timestamp(text: str) -> float | None:
    """Return an ISO 8601 date in seconds, UTC where it names no zone; None for another text.

    >>> _timestamp("1970-01-02"), _timestamp("1970-01-01T02:30:00.5+01:00"), _timestamp("May 2024")
    (86400.0, 5400.0, None)
    """
    match = _ISO_TIME.fullmatch(text.strip())
    if not match:
        return None
    try:
        local = np.datetime64(match["time"].replace(" ", "T"), "s").astype(np.int64)
    except ValueError:  # a month or a day that does not exist
        return None
    hours, minutes = int(match["hours"] or 0), int(match["minutes"] or 0)
    offset = 3600 * hours + 60 * minutes
    return float(local) - (-offset if match["sign"] == "-" else offset)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
