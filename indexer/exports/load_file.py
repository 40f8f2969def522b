"""Concordance load files (DAT), which e-discovery platforms import: UTF-8 with a byte order mark,
CR LF after each record.

Fields stand between U+00FE and are parted by U+0014; a line end inside a field is U+00AE. The
format has no way to write these signs themselves, so in a field U+00FE becomes `th`, U+00AE `(R)`,
and control characters become blanks.
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO

from indexer.exports.csv_tables import Kind, Table, iso_time
from indexer.sources.concordance import DELIMITER, NEWLINE, QUOTE

_REPLACED = str.maketrans({QUOTE: "th", NEWLINE: "(R)"})
_LINE_END = re.compile("\r\n|[\r\n\v\f\u0085\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def write_dat(table: Table, file: BinaryIO) -> tuple[int, int]:
    """Write a header and one record a line; returns how many records, and how many fields had signs
    that were replaced.

    Shares are written as per cent with two decimals, flags as `Y` and `N`, times to the second in
    ISO 8601 and UTC, the values of a list are parted by `;`.
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
    if kind == "share":
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
