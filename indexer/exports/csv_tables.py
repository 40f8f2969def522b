"""Tables for other programs: columns, their values as text, and csv.

A spreadsheet runs a cell that begins like a formula, whatever document it came from. In csv, such
text is therefore written with an apostrophe before it, and so is text that begins with an
apostrophe: who reads the file as data takes one leading apostrophe away and has the text again.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TextIO, TypeAlias

from indexer.text.formula_cells import escape_formula

Kind: TypeAlias = Literal["text", "whole", "share", "flag", "time", "list"]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what its values are, and how to find the value in a record.

    `whole`: int; `share`: float in [0, 1]; `time`: milliseconds since 1970 UTC; `list`: str several
    times. Any but `flag` and `list` may be None.
    """

    name: str
    kind: Kind
    value: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and the records that they are read from, once."""

    columns: tuple[Column, ...]
    records: Iterable[Any]

    def rows(self) -> Iterator[list[Any]]:
        """Yield the values of each record, in the order of the columns."""
        for record in self.records:
            yield [column.value(record) for column in self.columns]


def write_csv(table: Table, file: TextIO) -> int:
    """Write a header and one line a record (RFC 4180); returns how many records. NUL becomes
    U+FFFD, for readers refuse it.

    >>> import io
    >>> file = io.StringIO()
    >>> columns = Column("title", "text", str), Column("size", "whole", len)
    >>> write_csv(Table(columns, ["=1+1", "a, b"]), file)
    2
    >>> file.getvalue().split("\\r\\n")
    ['title,size', "'=1+1,4", '"a, b",4', '']
    """
    writer = csv.writer(file)  # CR LF: only then is a lone CR quoted
    row_count = 0
    writer.writerow([column.name for column in table.columns])
    for row in table.rows():
        writer.writerow(
            [_cell(column.kind, value) for column, value in zip(table.columns, row, strict=True)]
        )
        row_count += 1
    return row_count


def iso_time(milliseconds: int | None) -> str:
    """Return a time in ISO 8601, UTC, to the millisecond; empty for none, and for one beyond the
    year 9999.

    >>> iso_time(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    """
    if milliseconds is None:
        return ""
    try:
        return (
            (_EPOCH + timedelta(milliseconds=milliseconds))
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z")
        )
    except OverflowError:
        return ""


def _cell(kind: Kind, value: Any) -> str:
    if value is None:
        return ""
    if kind == "flag":
        return "true" if value else "false"
    if kind == "time":
        return iso_time(value)
    if kind in ("whole", "share"):
        return repr(value)
    text = ";".join(value) if kind == "list" else str(value)
    return escape_formula(text.replace("\0", "\ufffd"))
