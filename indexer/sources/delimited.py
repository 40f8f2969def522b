"""CSV and TSV: one record a row, fields by the names in the first row."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

from indexer.errors import ExtractionError, Unreadable
from indexer.model import Blob, Failed
from indexer.sources import _records
from indexer.sources._records import Damaged
from indexer.sources._streams import lines, opened
from indexer.sources.base import Reading, too_large

_NOT_UTF8 = re.compile("[\udc80-\udcff]")


def blobs(outer: Blob, reading: Reading) -> Iterator[Blob | Failed]:
    """The rows of a file in UTF-8; one is known by its number, the first after the names being 1, or by its `id_field`.

    `.tsv` files have tabs between their fields, others commas. The file has failed when the text field is no column.
    """
    with opened(outer) as stream:
        if isinstance(stream, Failed):
            yield stream
            return
        tabs = outer.path.lower().removesuffix(".gz").endswith(".tsv")
        csv.field_size_limit(max(csv.field_size_limit(), min(reading.max_bytes, (1 << 31) - 1)))
        rows = csv.reader(_decoded(lines(stream, reading.max_bytes)), delimiter="\t" if tabs else ",")
        yield from _records.blobs(outer, _records_in(rows, reading), reading)


def _decoded(found: Iterator[bytes | Unreadable]) -> Iterator[str]:
    """Lines as text; bytes that are not UTF-8 as lone surrogates, so that only their own row fails."""
    encoding = "utf-8-sig"
    for line in found:
        if isinstance(line, Unreadable):
            raise Damaged(f"a line of it is too long: {line}")
        yield line.decode(encoding, "surrogateescape")
        encoding = "utf-8"


def _records_in(rows: Iterator[list[str]], reading: Reading) -> Iterator[tuple[str, Mapping[str, Any] | ExtractionError]]:
    names = _next(rows)
    if isinstance(names, ExtractionError) or not names:
        raise Damaged(f"it has no row of column names ({names or 'it is empty'}); add one")
    if missing := [name for name in (reading.text_field, reading.id_field) if name and name not in names]:
        raise Damaged(f"it has no column {missing[0]!r}, but: {', '.join(names[:20])}; choose by --text-field and --id-field")
    number = 0
    while (row := _next(rows)) is not None:
        if row == []:
            continue
        number += 1
        yield str(number), row if isinstance(row, ExtractionError) else _record(names, row, reading)


def _next(rows: Iterator[list[str]]) -> list[str] | ExtractionError | None:
    """The next row, its error, or None at the end."""
    try:
        return next(rows, None)
    except csv.Error as error:
        return ExtractionError(f"the row is no CSV ({error}); mend it")


def _record(names: list[str], row: list[str], reading: Reading) -> Mapping[str, str] | ExtractionError:
    if len(row) != len(names):
        return ExtractionError(f"the row has {len(row)} fields, the first row {len(names)} names; mend the row")
    if any(map(_NOT_UTF8.search, row)):
        return ExtractionError("the row is not UTF-8; convert the file, such as by iconv")
    record = dict(zip(names, row, strict=True))
    if len(record[reading.text_field]) > reading.max_bytes:
        return too_large(reading.max_bytes)
    return record
