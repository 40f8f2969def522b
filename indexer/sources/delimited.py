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
from typing import Any, BinaryIO

from indexer.errors import ExtractionError, UnreadableFile
from indexer.sources.base import Reading, Records
from indexer.sources.payloads import DamagedRecord
from indexer.text.byte_order_marks import byte_order_mark
from indexer.text.wording import count_of

_UNDECODED = re.compile("[\udc80-\udcff]")
_QUOTES = {  # U+00FE, with which a load file begins
    b"\xc3\xbe": "utf-8",
    b"\xfe\0": "utf-16-le",
    b"\0\xfe": "utf-16-be",
}
_PIECE = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


def records(path: str, stream: BinaryIO, reading: Reading) -> Records:
    """Yield the rows of a file as `read_table` returns them; raises as it does."""
    _, rows = read_table(path, stream, reading)
    yield from rows


def read_table(path: str, stream: BinaryIO, reading: Reading) -> tuple[list[str], Records]:
    """Return the names of the columns, and the rows of a file in `reading.encoding`, or in that
    which a byte order mark names.

    Without `reading.delimiter`, the first of comma, semicolon, tab and bar (in `.tsv` files tab
    first) that makes the requested fields columns separates fields, or that makes several columns
    if no field is requested. Raises `DamagedRecord` when one of these fields is not a column.
    """
    names, rows = _table(path, stream, reading)
    return names, _records(names, rows, reading)


def _records(names: list[str], rows: Rows, reading: Reading) -> Records:
    for number, row in enumerate((row for row in rows if row != []), 1):
        yield str(number), row if isinstance(row, ExtractionError) else record(names, row, reading)


def raw_rows(path: str, stream: BinaryIO, reading: Reading) -> Iterator[bytes]:
    """Yield the row of names, then the row of each item of `records`, as they stand, in UTF-8.

    A row that cannot be read is its first line.
    """
    _, rows = _table(path, stream, reading)
    yield rows.raw_bytes
    for row in rows:
        if row != []:
            yield rows.raw_bytes


def table_rows(
    path: str, stream: BinaryIO, reading: Reading
) -> tuple[dict[str, str], bytes, Iterator[tuple[bytes, Mapping[str, Any] | ExtractionError]]]:
    """Return the `columns`, their row, and each item of `records` with its row, as `raw_rows` has
    them; raises as `read_table` does.
    """
    names, rows = _table(path, stream, reading)
    first = rows.raw_bytes
    both = ((rows.raw_bytes, item) for _, item in _records(names, rows, reading))
    return _separated(names, rows), first, both


def columns(path: str, stream: BinaryIO, reading: Reading) -> dict[str, str]:
    """Return the names of the columns in their order, each with what separates it from the next.

    Raises `DamagedRecord` when one of the requested fields is not a column.
    """
    return _separated(*_table(path, stream, reading))


def _separated(names: list[str], rows: Rows) -> dict[str, str]:
    return dict.fromkeys(names, f"separated by {rows.delimiter!r}")


def _table(path: str, stream: BinaryIO, reading: Reading) -> tuple[list[str], Rows]:
    """Return the names of the columns, and the rows below them."""
    tabs_first = path.lower().removesuffix(".gz").endswith(".tsv")
    text = text_lines(stream, reading)
    first = next(text, "")
    delimiter = reading.delimiter or _delimiter(first, tabs_first, reading)
    rows = Rows(chain([first], text), delimiter, reading.max_bytes)
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
    required = set(reading.required_fields)
    for delimiter in delimiters:
        columns = next(csv.reader([first], delimiter=delimiter), ())
        if required <= set(columns) if required else len(columns) > 1:
            return delimiter
    return delimiters[0]


def text_lines(stream: BinaryIO, reading: Reading) -> Iterator[str]:
    """Yield the lines as text; bytes that are not of the encoding are lone surrogates, so that only
    their own row fails.

    Raises `DamagedRecord` for a file that cannot be read to its end.
    """
    encoding = reading.encoding
    try:
        start = stream.read(4)
        mark, marked_encoding = byte_order_mark(start)
        encoding = marked_encoding or _QUOTES.get(start[:2], encoding)
        pieces = chain([start[len(mark) :]], iter(lambda: stream.read(_PIECE), b""))
        errors = "strict" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        texts = codecs.iterdecode(pieces, encoding, errors)
        yield from _lines(texts, reading.max_bytes)
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


class Rows:
    """The rows of CSV.

    A damaged row, as after a quote that is never closed, costs its first line; the next line begins
    a new row. `raw`: the last row as it stands. `delimiter` separates its fields, of at most
    `max_field` characters, and `quote` encloses them.
    """

    def __init__(
        self, text: Iterator[str], delimiter: str, max_field: int, quote: str = '"'
    ) -> None:
        csv.field_size_limit(max(csv.field_size_limit(), min(max_field, (1 << 31) - 1)))
        self._text = text
        self.delimiter = delimiter
        self._quote = quote
        self._returned: deque[str] = deque()
        self._line = 0
        self.raw = ""

    @property
    def raw_bytes(self) -> bytes:
        """The last row as it stands, in UTF-8."""
        return self.raw.encode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[list[str] | ExtractionError]:
        return self

    def __next__(self) -> list[str] | ExtractionError:
        used: list[str] = []
        try:
            lines = self._take(used)
            reader = csv.reader(lines, delimiter=self.delimiter, quotechar=self._quote, strict=True)
            row = next(reader)
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


def record(
    names: list[str], row: list[str], reading: Reading
) -> Mapping[str, str] | ExtractionError:
    """Return the fields of a row by name, or why it has none: their number, its encoding, or a text
    that is too long.
    """
    if len(row) != len(names):
        return ExtractionError(
            f"the row has {count_of(len(row), 'field')}, "
            f"the first row {count_of(len(names), 'name')}; repair the row"
        )
    if any(map(_UNDECODED.search, row)):
        return ExtractionError(
            f"the row is not {reading.encoding.upper()}; name the encoding by --encoding, such as "
            "cp1252, or convert the file"
        )
    fields = dict(zip(names, row, strict=True))
    if len(fields.get(reading.text_field, "")) > reading.max_bytes:
        return UnreadableFile.too_large(reading.max_bytes)
    return fields
