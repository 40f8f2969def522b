"""Byte order marks: the first bytes of a text that name its encoding."""

from __future__ import annotations

import codecs

_MARKS = {  # longest first: that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
_ANY_MARK = tuple(_MARKS)


def byte_order_mark(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark with which data begin, and its encoding; both empty without one.

    >>> byte_order_mark("\\ufeffa".encode("utf-16-le")), byte_order_mark(b"a")
    ((b'\\xff\\xfe', 'utf-16-le'), (b'', ''))
    """
    if not data.startswith(_ANY_MARK):
        return b"", ""
    return next(pair for pair in _MARKS.items() if data.startswith(pair[0]))
