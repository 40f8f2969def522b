"""CSV and TSV: one record a row, fields by the names in the first row."""

from __future__ import annotations

import codecs
import csv
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO

from indexer.errors import ExtractionError
from indexer.model import Blob, FailedBlob
from indexer.sources import record_documents as _records
from indexer.sources.base import Reading, too_large
from indexer.sources.record_documents import DamagedRecord
from indexer.sources.streams import open_stream

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MARKS = {  # longest first: the mark of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_PIECE = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


def blobs(outer: Blob, reading: Reading) -> Iterator[Blob | FailedBlob]:
    """The rows of a file; one is known by its number, the first after the names being 1, or by its
    `id_field`.

    UTF-8, or what a byte order mark says. Fields stand between `reading.delimiter`; unless that is
    given, between the first of comma, semicolon, tab and bar (in `.tsv` files tab first) that makes
    the fields asked for columns. The file has failed when one of these is none.
    """
    with open_stream(outer) as stream:
        if isinstance(stream, FailedBlob):
            yield stream
            return
        tabs = outer.path.lower().removesuffix(".gz").endswith(".tsv")
        yield from _records.blobs(outer, _records_in(stream, tabs, reading), reading)


def _records_in(
    stream: BinaryIO, tabs: bool, reading: Reading
) -> Iterator[tuple[str, Mapping[str, Any] | ExtractionError]]:
    csv.field_size_limit(max(csv.field_size_limit(), min(reading.max_bytes, (1 << 31) - 1)))
    text = _decoded(stream, reading.max_bytes)
    first = next(text, "")
    rows = _Rows(chain([first], text), reading.delimiter or _delimiter(first, tabs, reading))
    names = next(rows, None)
    if isinstance(names, ExtractionError) or not names:
        raise DamagedRecord(f"it has no row of column names ({names or 'it is empty'}); add one")
    if missing := [name for name in _asked(reading) if name not in names]:
        raise DamagedRecord(
            f"it has no column {missing[0]!r}, but: {', '.join(names[:20])}; choose by --text-field, --id-field and "
            "--label-field, or say by --delimiter what stands between fields"
        )
    for number, row in enumerate((row for row in rows if row != []), 1):
        yield str(number), row if isinstance(row, ExtractionError) else _record(names, row, reading)


def _asked(reading: Reading) -> list[str]:
    return [name for name in (reading.text_field, reading.id_field, reading.label_field) if name]


def _delimiter(first: str, tabs: bool, reading: Reading) -> str:
    """What stands between the fields of the first line."""
    order = ("\t", *_DELIMITERS) if tabs else _DELIMITERS
    for one in order:
        if set(_asked(reading)) <= set(next(csv.reader([first], delimiter=one), ())):
            return one
    return order[0]


def _decoded(stream: BinaryIO, max_bytes: int) -> Iterator[str]:
    """The lines as text; bytes that are not UTF-8 as lone surrogates, so that only their own row
    fails.
    """
    encoding = "utf-8"
    try:
        start = stream.read(4)
        encoding = next((name for mark, name in _MARKS.items() if start.startswith(mark)), encoding)
        pieces = chain([start], iter(lambda: stream.read(_PIECE), b""))
        errors = "surrogateescape" if encoding == "utf-8" else "strict"
        yield from _lines(
            codecs.iterdecode(pieces, encoding.replace("utf-8", "utf-8-sig"), errors), max_bytes
        )
    except (OSError, EOFError, zlib.error, UnicodeError) as error:
        raise DamagedRecord(
            f"it cannot be read to its end as {encoding.upper()} ({error}); mend the file, then run again"
        ) from error


def _lines(pieces: Iterable[str], most: int) -> Iterator[str]:
    """The lines of a text that comes in pieces. Raises `DamagedRecord` for one of more than so many
    characters.
    """
    begun: list[str] = []
    for piece in pieces:
        first, *others = piece.split("\n")
        begun.append(first)
        if max(sum(map(len, begun)), *map(len, others), 0) > most:
            raise DamagedRecord(f"a line of it is too long: {too_large(most)}")
        if others:
            yield "".join(begun) + "\n"
            yield from (f"{line}\n" for line in others[:-1])
            begun = [others[-1]]
    if last := "".join(begun):
        yield last


class _Rows:
    """The rows of CSV. One that is none, as after a quote that is never closed, costs its first
    line; the next begins anew.
    """

    def __init__(self, text: Iterator[str], delimiter: str) -> None:
        self._text, self._delimiter = text, delimiter
        self._again: deque[str] = deque()
        self._line = 0

    def __iter__(self) -> Iterator[list[str] | ExtractionError]:
        return self

    def __next__(self) -> list[str] | ExtractionError:
        used: list[str] = []
        try:
            row = next(csv.reader(self._taken(used), delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            self._again.extendleft(reversed(used[1:]))
            self._line += 1
            return ExtractionError(
                f"line {self._line} is no row of CSV ({error}); look for a quote that is not closed or doubled"
            )
        self._line += len(used)
        return row

    def _taken(self, used: list[str]) -> Iterator[str]:
        """The lines that a row takes, noted."""
        while True:
            line = self._again.popleft() if self._again else next(self._text, None)
            if line is None:
                return
            used.append(line)
            yield line


def _record(
    names: list[str], row: list[str], reading: Reading
) -> Mapping[str, str] | ExtractionError:
    if len(row) != len(names):
        return ExtractionError(
            f"the row has {len(row)} fields, the first row {len(names)} names; mend the row"
        )
    if any(map(_NOT_UTF8.search, row)):
        return ExtractionError("the row is not UTF-8; convert the file, such as by iconv")
    record = dict(zip(names, row, strict=True))
    if len(record[reading.text_field]) > reading.max_bytes:
        return too_large(reading.max_bytes)
    return record
