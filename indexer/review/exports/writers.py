"""Tables for other programs: columns, csv, Concordance load files and Parquet.

A spreadsheet runs a cell that begins like a formula, whatever document it came from. In csv, such
text is therefore written with an apostrophe before it, and so is text that begins with an
apostrophe: who reads the file as data takes one leading apostrophe away and has the text again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, TypeAlias

from indexer.documents.tables import DELIMITER, NEWLINE, QUOTE
from indexer.errors import MissingExtra
from indexer.grouping.match import MatchResult
from indexer.wording import escape_formula

Kind: TypeAlias = Literal["text", "whole", "fraction", "flag", "time", "list"]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what its values are, and how to find the value in a record.

    `whole`: int; `fraction`: float in [0, 1]; `time`: milliseconds since 1970 UTC; `list`: str
    several times. Any but `flag` and `list` may be None. `load_file`: its name in a load file,
    empty where it is not in one; `load_value`: the value there, None for the same.
    """

    name: str
    kind: Kind
    value: Callable[[Any], Any]
    load_file: str = ""
    load_value: Callable[[Any], Any] | None = None


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
    if kind in ("whole", "fraction"):
        return repr(value)
    text = ";".join(value) if kind == "list" else str(value)
    return escape_formula(text.replace("\0", "\ufffd"))


# Concordance load files (DAT): UTF-8 with a byte order mark, CR LF after each record.

_REPLACED = str.maketrans({QUOTE: "th", NEWLINE: "(R)"})
_LINE_END = re.compile("\r\n|[\r\n\v\f\u0085\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def write_dat(table: Table, file: BinaryIO) -> tuple[int, int]:
    """Write a header and one record a line; returns how many records, and how many fields had signs
    that were replaced.

    Fractions are written as per cent with two decimals, flags as `Y` and `N`, times to the second
    in ISO 8601 and UTC, the values of a list are parted by `;`.
    """
    file.write(b"\xef\xbb\xbf" + _line([column.name for column in table.columns]))
    row_count = altered = 0
    for row in table.rows():
        texts = [
            _text(column.kind, value) for column, value in zip(table.columns, row, strict=True)
        ]
        fields = [field(text) for text in texts]
        plain = [_LINE_END.sub(NEWLINE, text) for text in texts]
        altered += sum(before != after for before, after in zip(plain, fields, strict=True))
        file.write(_line(fields))
        row_count += 1
    return row_count, altered


def field(text: str) -> str:
    """Return a text as it stands inside a field.

    >>> field("Acme\\u00ae terms\\r\\nof \\u00feing\\t")
    'Acme(R) terms\u00aeof thing '
    """
    return _CONTROL.sub(" ", _LINE_END.sub(NEWLINE, text.translate(_REPLACED)))


def _text(kind: Kind, value: Any) -> str:
    if value is None:
        return ""
    if kind == "fraction":
        return f"{100 * value:.2f}"
    if kind == "flag":
        return "Y" if value else "N"
    if kind == "time":
        return iso_time(value)[:19] + "Z" if iso_time(value) else ""
    return ";".join(value) if kind == "list" else str(value)


def _line(fields: list[str]) -> bytes:
    return (DELIMITER.join(f"{QUOTE}{text}{QUOTE}" for text in fields) + "\r\n").encode(
        "utf-8", "replace"
    )


# Pairs as a Parquet file, by pyarrow.

PAIR_ROWS_AT_ONCE = 100_000


def check_pyarrow() -> None:
    """Raise `MissingExtra` without pyarrow."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise MissingExtra(package="pyarrow", extra="parquet") from error


def write_pairs(matched: MatchResult, out: Path) -> None:
    """Write columns a, b (ids), a_path, b_path (text), similarity (double), measure (text), low and
    high (double), as_read (bool).

    Raises `MissingExtra` without pyarrow.
    """
    check_pyarrow()
    import pyarrow

    text, fraction = pyarrow.string(), pyarrow.float64()
    containment = [] if matched.within is None else [("a_in_b", fraction), ("b_in_a", fraction)]
    scores = [("similarity", fraction), ("measure", text), ("low", fraction), ("high", fraction)]
    scores.append(("as_read", pyarrow.bool_()))
    names = [(name, text) for name in ("a", "b", "a_path", "b_path")]
    schema = pyarrow.schema([*names, *scores, *containment])
    with pyarrow.parquet.ParquetWriter(out, schema) as writer:
        for start in range(0, len(matched), PAIR_ROWS_AT_ONCE):
            part = slice(start, start + PAIR_ROWS_AT_ONCE)
            low, high = matched.intervals(part)
            columns = {
                "a": [matched.ids[position] for position in matched.left[part]],
                "b": [matched.ids[position] for position in matched.right[part]],
                "a_path": [matched.paths[position] for position in matched.left[part]],
                "b_path": [matched.paths[position] for position in matched.right[part]],
                "similarity": matched.similarity[part],
                "measure": matched.measures(part),
                "low": low,
                "high": high,
                "as_read": matched.as_read(part),
            }
            if matched.within is not None:
                columns |= {"a_in_b": matched.within[part, 0], "b_in_a": matched.within[part, 1]}
            writer.write_table(pyarrow.table(columns, schema=schema))


# Tables as Parquet files, by pyarrow.

TABLE_ROWS_AT_ONCE = 50_000


def write_parquet(table: Table, out: Path) -> int:
    """Write a table; returns how many records. Fractions are doubles, times are timestamps in UTC,
    lists are lists of text.

    Raises `MissingExtra` without pyarrow.
    """
    check_pyarrow()
    import pyarrow
    import pyarrow.parquet

    kinds = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "fraction": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("ms", tz="UTC"),
        "list": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in table.columns])
    rows, row_count = iter(table.rows()), 0
    with pyarrow.parquet.ParquetWriter(out, schema) as writer:
        while part := list(islice(rows, TABLE_ROWS_AT_ONCE)):
            columns = [list(values) for values in zip(*part, strict=True)]
            writer.write_table(
                pyarrow.table(dict(zip(schema.names, columns, strict=True)), schema=schema)
            )
            row_count += len(part)
    return row_count
