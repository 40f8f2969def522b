"""CSV and TSV: one record a row, fields by the names in the first row.

A row is known by its number; the first one after the names is 1.
"""

from __future__ import annotations

import codecs
import csv
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import BinaryIO

from indexer.errors import ExtractionError, UnreadableFile
from indexer.sources.base import Reading, Records
from indexer.sources.payloads import DamagedRecord
from indexer.text.wording import count_of

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MARKS = {  # longest first: the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_PIECE = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


def records(path: str, stream: BinaryIO, reading: Reading) -> Records:
    """Yield the rows of a file in UTF-8, or in the encoding that a byte order mark names.

    Without `reading.delimiter`, the first of comma, semicolon, tab and bar (in `.tsv` files tab
    first) that makes the requested fields columns separates fields. Raises `DamagedRecord` when one
    of these fields is not a column.
    """
    names, rows = _table(path, stream, reading)
    for number, row in enumerate((row for row in rows if row != []), 1):
        yield str(number), row if isinstance(row, ExtractionError) else _record(names, row, reading)


def raw_rows(path: str, stream: BinaryIO, reading: Reading) -> Iterator[bytes]:
    """Yield the row of names, then the row of each item of `records`, as they stand, in UTF-8.

    A row that cannot be read is its first line.
    """
    _, rows = _table(path, stream, reading)
    yield rows.raw.encode("utf-8", "surrogateescape")
    for row in rows:
        if row != []:
            yield rows.raw.encode("utf-8", "surrogateescape")


def columns(path: str, stream: BinaryIO, reading: Reading) -> dict[str, str]:
    """Return the names of the columns in their order, each with what separates it from the next.

    Raises `DamagedRecord` when one of the requested fields is not a column.
    """
    names, rows = _table(path, stream, reading)
    return dict.fromkeys(names, f"separated by {rows.delimiter!r}")


def _table(path: str, stream: BinaryIO, reading: Reading) -> tuple[list[str], _Rows]:
    """Return the names of the columns, and the rows below them."""
    csv.field_size_limit(max(csv.field_size_limit(), min(reading.max_bytes, (1 << 31) - 1)))
    tabs_first = path.lower().removesuffix(".gz").endswith(".tsv")
    text = _text_lines(stream, reading.max_bytes)
    first = next(text, "")
    delimiter = reading.delimiter or _delimiter(first, tabs_first, reading)
    rows = _Rows(chain([first], text), delimiter)
    names = next(rows, None)
    if isinstance(names, ExtractionError) or not names:
        raise DamagedRecord(f"it has no row of column names ({names or 'it is empty'}); add one")
    for name in reading.required_fields:
        if name not in names:
            raise DamagedRecord(
                f"it has no column {name!r}, but: {', '.join(names[:20])}; "
                "choose by --text-field, --id-field and --label-field, "
                "or name the separator of fields by --delimiter"
            )
    return names, rows


def _delimiter(first: str, tabs_first: bool, reading: Reading) -> str:
    """Return the character that separates the fields of the first line."""
    delimiters = ("\t", *_DELIMITERS) if tabs_first else _DELIMITERS
    for delimiter in delimiters:
        columns = next(csv.reader([first], delimiter=delimiter), ())
        if set(reading.required_fields) <= set(columns):
            return delimiter
    return delimiters[0]


def _text_lines(stream: BinaryIO, max_bytes: int) -> Iterator[str]:
    """Yield the lines as text; bytes that are not UTF-8 are lone surrogates, so that only their own
    row fails.
    """
    encoding = "utf-8"
    try:
        start = stream.read(4)
        encoding = next((name for mark, name in _MARKS.items() if start.startswith(mark)), encoding)
        pieces = chain([start], iter(lambda: stream.read(_PIECE), b""))
        errors = "surrogateescape" if encoding == "utf-8" else "strict"
        texts = codecs.iterdecode(pieces, encoding.replace("utf-8", "utf-8-sig"), errors)
        yield from _lines(texts, max_bytes)
    except (OSError, EOFError, zlib.error, UnicodeError) as error:
        raise DamagedRecord(
            f"it cannot be read to its end as {encoding.upper()} ({error}); "
            "repair the file, then run again"
        ) from error


def _lines(pieces: Iterable[str], most: int) -> Iterator[str]:
    """Yield the lines of a text in pieces. Raises `DamagedRecord` for one of more than `most`
    characters.
    """
    begun: list[str] = []
    for piece in pieces:
        first, *rest = piece.split("\n")
        begun.append(first)
        if max(sum(map(len, begun)), *map(len, rest), 0) > most:
            raise DamagedRecord(f"a line of it is too long: {UnreadableFile.too_large(most)}")
        if rest:
            yield "".join(begun) + "\n"
            yield from (f"{line}\n" for line in rest[:-1])
            begun = [rest[-1]]
    last = "".join(begun)
    if last:
        yield last


class _Rows:
    """The rows of CSV.

    A damaged row, as after a quote that is never closed, costs its first line; the next line begins
    a new row. `raw`: the last row as it stands. `delimiter` separates its fields.
    """

    def __init__(self, text: Iterator[str], delimiter: str) -> None:
        self._text = text
        self.delimiter = delimiter
        self._returned: deque[str] = deque()
        self._line = 0
        self.raw = ""

    def __iter__(self) -> Iterator[list[str] | ExtractionError]:
        return self

    def __next__(self) -> list[str] | ExtractionError:
        used: list[str] = []
        try:
            row = next(csv.reader(self._take(used), delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            self._returned.extendleft(reversed(used[1:]))
            self._line += 1
            self.raw = used[0]
            return ExtractionError(
                f"line {self._line} is not a row of CSV ({error}); "
                "look for a quote that is not closed or doubled"
            )
        self._line += len(used)
        self.raw = "".join(used)
        return row

    def _take(self, used: list[str]) -> Iterator[str]:
        """Yield lines for a row, and append them to `used`."""
        while True:
            line = self._returned.popleft() if self._returned else next(self._text, None)
            if line is None:
                return
            used.append(line)
            yield line


def _record(
    names: list[str], row: list[str], reading: Reading
) -> Mapping[str, str] | ExtractionError:
    if len(row) != len(names):
        return ExtractionError(
            f"the row has {count_of(len(row), 'field')}, "
            f"the first row {count_of(len(names), 'name')}; repair the row"
        )
    if any(map(_NOT_UTF8.search, row)):
        return ExtractionError("the row is not UTF-8; convert the file, such as by iconv")
    record = dict(zip(names, row, strict=True))
    if len(record[reading.text_field]) > reading.max_bytes:
        return UnreadableFile.too_large(reading.max_bytes)
    return record
