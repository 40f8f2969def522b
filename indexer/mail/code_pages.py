"""Text of eight bits by the numbers of Windows for character sets."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

_CODECS = {
    65001: "utf-8", 20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 28591: "latin-1",
    50220: "iso2022_jp", 50221: "iso2022_jp", 51932: "euc_jp", 51949: "euc_kr", 54936: "gb18030",
}  # fmt: skip


_DECLARED = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932",
    "euc_kr": "cp949",
}  # fmt: skip
_ALIASES = {
    "iso-8859-8-i": "iso8859-8", "iso-8859-8-e": "iso8859-8", "x-sjis": "shift_jis",
    "x-gbk": "gb18030", "x-euc-jp": "euc_jp", "x-mac-roman": "mac_roman", "ansi": "cp1252",
    "windows-31j": "cp932", "ks_c_5601-1987": "cp949", "iso-8859-6-i": "iso8859-6",
    "iso-8859-6-e": "iso8859-6", "gb_2312-80": "gb18030", "latin-9": "iso8859-15",
    "x-mac-ce": "mac_latin2",
}  # fmt: skip
_NUMBERED = re.compile(r"(?:x-)?(?:windows|win|cp|dos|ms)[-_]?(\d+)")


def decode_declared(data: bytes, charset: str) -> str:
    """Return text in the character set that a mail names; else in the larger one of Windows that
    programs mean by that name, in UTF-8, in 1252, or in Latin-1, which has every byte.

    1252 comes before Latin-1, whose control characters of eight bits are not in mail.

    >>> decode_declared(b"\\x9380 \\x80\\x94", "iso-8859-1"), decode_declared(b"caf\\xe9", "none")
    ('“80 €”', 'café')
    """
    charset = charset.strip("'\" ").lower()
    charset = _codec_name(charset) or charset
    larger = _DECLARED.get(charset, "utf-8")
    first = (larger, charset) if charset == "iso8859-1" else (charset, larger)
    for name in (*first, "utf-8", "cp1252"):
        with suppress(LookupError, ValueError):
            return data.decode(name)
    return data.decode("latin-1")


def _codec_name(charset: str) -> str:
    """Return the name of a codec for a character set, as mails spell it; empty if there is none."""
    numbered = _NUMBERED.fullmatch(charset)
    page = f"cp{numbered[1]}" if numbered else ""
    for name in (_ALIASES.get(charset, charset), page, charset.removeprefix("x-")):
        with suppress(LookupError):
            return codecs.lookup(name).name
    return ""


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
