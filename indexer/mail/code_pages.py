"""Text of eight bits by the numbers of Windows for character sets."""

from __future__ import annotations

import codecs

_CODECS = {
    65001: "utf-8", 20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 28591: "latin-1",
    50220: "iso2022_jp", 50221: "iso2022_jp", 51932: "euc_jp", 51949: "euc_kr", 54936: "gb18030",
}  # fmt: skip


def decode_page(data: bytes, page: int) -> str:
    """Return text of a code page; 1252 where none is named (0) or Python lacks it.

    >>> decode_page(b"\\xcf\\xe0\\xf0\\xee\\xec", 1251), decode_page(b"caf\\xe9", 0)
    ('Паром', 'café')
    """
    name = _CODECS.get(page, f"iso8859-{page - 28590}" if 28590 < page < 28610 else f"cp{page}")
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        codec = "cp1252"
    return data.decode(codec, "replace")
