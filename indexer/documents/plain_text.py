"""Plain text: decoded here, strictly as UTF-8 first, and by a detector only where that fails.

`TEXT_FORMATS` declares formats of text whose marks are left out, such as manual pages.

Tika's own detector reads some UTF-8 texts in Polish or Hebrew as a Chinese encoding, so plain text
never goes there.
"""

from __future__ import annotations

import codecs
import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from indexer.documents.base import (
    CUT,
    HTML_NAMES,
    XML_NAMES,
    Limits,
    byte_order_mark,
)
from indexer.documents.lists import STRUCTURED, text_structure
from indexer.errors import ExtractionError
from indexer.model import READ_AS, Document, pack_embedded

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch


PLAIN_IDENTITY = "plain/4"
_MARKED_UP = HTML_NAMES | XML_NAMES | {".eml", ".emlx", ".mbox", ".mht", ".mhtml", ".pdf", ".rtf"}
_PLAIN = {".txt", ".text", ".log", ".csv", ".json", ".markdown", ".md", ".rst", ".tsv"}
_MARKUP = re.compile(
    rb"\s*(?:<!--[^>]{0,1000}-->\s*)?"
    rb"(?:<\?xml|<!doctype\s|<html\b|<head\b|<body\b|<svg\b|<rss\b|<feed\b|%!PS)",
    re.IGNORECASE,
)
_START = re.compile(
    rb"\s*(?:<!--[^>]{0,1000}-->\s*)?(?:\{\\rtf|%PDF-)"
    rb"|From \S+ +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) "
    rb"|(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID): ",
    re.IGNORECASE,
)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_CONTROLS = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b")) + b"\x7f"
_BEGINNING = 64 << 10
_SAMPLE = 16 << 10
_LINE = 2 << 10
_MAX_CONTROLS = 0.01
_MAX_UNDER_PLAIN_NAME, _FEW_CONTROLS = 0.05, 2
_MAX_DAMAGE = 0.05
_MIN_ASCII = 0.7
_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".rst": "text/x-rst",
    ".tsv": "text/tab-separated-values",
}
_ENCODINGS = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866",
    "cp874", "cp932", "cp949", "koi8_r", "koi8_u", "iso8859_2", "iso8859_5", "euc_jp", "gb18030",
    "big5", "big5hkscs", "johab",
]  # fmt: skip
_PADDING = bytes(8)  # NULs of a log that was cut or is not written yet
_GUESS = "not UTF-8; read as {}, which is a guess"
_CLOSE_NOISE, _CLOSE_LANGUAGE = 0.04, 0.05


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A format of text with marks of its own.

    `identity` is stored with each text: name and version. `pattern` matches somewhere in the first
    bytes of every such file. `module` names the module of its reader, which only a file with a
    match imports: its `read` takes these bytes, decoded, and the text, and returns title and text;
    None for a file of another format.
    """

    identity: str
    content_type: str
    pattern: re.Pattern[bytes]
    module: str

    def read(self, header: bytes, text: str) -> tuple[str, str] | None:
        """Return title and text of a file of this format, None for any other."""
        if not self.pattern.search(header):
            return None
        reader: Callable[[str, str], tuple[str, str] | None] = import_module(self.module).read
        return reader(header.decode("utf-8", "replace"), text)


TEXT_FORMATS = (
    TextFormat(
        "roff/1", "text/troff", re.compile(rb"^[.']", re.MULTILINE), "indexer.documents.roff"
    ),
)


def plain_document(data: bytes, name: str, limits: Limits) -> Document | None:
    """Return the document of a plain text file, None for anything else, which needs an extractor.

    A plain text has neither the name nor the beginning of a marked-up, mail or binary format, no
    NUL (but those that pad a log) and hardly any other control character, a few under the name of
    a plain text. Markup or PostScript in a file with the name of a plain text, such as `.txt`, is
    text too. Other names may have one of `TEXT_FORMATS`. Strict UTF-8 first; UTF-16 and UTF-32 by
    their byte order mark, or by their characters; encodings of seven bits by what switches them;
    UTF-8 with a few broken bytes stays UTF-8, and of a text with lines in another encoding those
    are read in it; any other encoding is guessed from a sample. Each guess has a warning, and is
    named behind the identity of the extractor.
    No bytes make an empty document, whatever the name. Text beyond `limits.chars` code points is
    cut and the document `truncated`. Raises nothing.

    >>> plain_document(b"caf\\xc3\\xa9", "a.txt", Limits()).text
    'café'
    >>> plain_document(b"<html>caf\\xc3\\xa9", "a", Limits()) is None
    True
    >>> plain_document(b"<html>caf\\xc3\\xa9", "a.txt", Limits()).text
    '<html>café'
    >>> plain_document(b"%!PS is the mark of such files", "a.txt", Limits()).text[:4]
    '%!PS'
    """
    suffix = _suffix(name)
    mark, marked_encoding = byte_order_mark(data)
    guess = "" if mark else _unmarked_encoding(data)
    encoding = marked_encoding or guess or "utf-8"
    nuls = 0
    if encoding == "utf-8" and _PADDING in data and suffix not in _MARKED_UP:
        unpadded = data.replace(b"\0", b"") if suffix in _PLAIN else data.strip(b"\0")
        nuls, data = len(data) - len(unpadded), unpadded
    header = data[:_BEGINNING]
    if mark or encoding != "utf-8":
        header = header[len(mark) :].decode(encoding, "ignore").encode("utf-8", "ignore")
    is_markup = suffix not in _PLAIN and _MARKUP.match(header)
    is_other_format = suffix in _MARKED_UP or is_markup or _START.match(header)
    if data and (is_other_format or not _looks_like_text(data, header, encoding, suffix in _PLAIN)):
        return None
    is_known = bool(mark or guess)
    decoding = (
        None if is_ebcdic(data) else _decode(data[len(mark) :], encoding, is_known, limits.chars)
    )
    if decoding is None:
        return None
    guess = guess or decoding.guess
    text, title = decoding.text, ""
    content_type, extractor = _TYPES.get(suffix, "text/plain"), PLAIN_IDENTITY
    is_cut = len(text) > limits.chars
    if parsed := None if suffix in _PLAIN else _parsed(header, text):
        format, title, text = parsed
        content_type, extractor = format.content_type, format.identity
        is_cut = len(text) > limits.chars or len(data) > 4 * limits.chars + 4
    warnings = list(decoding.warnings)
    if guess and not decoding.guess:
        warnings.append(_GUESS.format(guess))
    if nuls:
        warnings.append(f"{nuls:,} NUL characters are left out")
    if is_cut:
        warnings.append(CUT)
    return Document(
        text[: limits.chars],
        title,
        content_type,
        extractor=f"{extractor}{READ_AS}{guess}" if guess else extractor,
        truncated=is_cut,
        warnings=tuple(warnings),
        embedded=pack_embedded(text_structure(text, suffix) if suffix in STRUCTURED else ()),
    )


def _parsed(header: bytes, text: str) -> tuple[TextFormat, str, str] | None:
    """Return the format of a text with marks of its own, its title and what it prints."""
    for format in TEXT_FORMATS:
        if parsed := format.read(header, text):
            return (format, *parsed)
    return None


def _suffix(name: str) -> str:
    """Return the ending of a file name in small letters, as `PurePosixPath` has it, which costs as
    much as reading a small file.

    >>> [_suffix(name) for name in ("a/B.TXT", ".txt", "a.", "c.d/e")]
    ['.txt', '', '', '']
    """
    stem, _, ending = name.rpartition("/")[2].rpartition(".")
    return f".{ending.lower()}" if stem and ending else ""


@dataclass(frozen=True, slots=True)
class _Decoding:
    """A text, the doubts about its encoding, and the encoding that was guessed, if one was."""

    text: str
    warnings: tuple[str, ...] = ()
    guess: str = ""


def _looks_like_text(data: bytes, header: bytes, encoding: str, has_plain_name: bool) -> bool:
    """Return whether there is no NUL (but UTF-16 and UTF-32 have many), and few other control
    characters in the first 64 kB; under the name of a plain text some more, as at its beginning.
    """
    if encoding == "utf-8" and b"\0" in data:
        return False
    controls = len(header) - len(header.translate(None, _CONTROLS))
    if has_plain_name and 2 * controls < len(header):
        return controls <= max(_FEW_CONTROLS, _MAX_UNDER_PLAIN_NAME * len(header))
    return controls <= _MAX_CONTROLS * len(header)


def _decode(data: bytes, encoding: str, has_mark: bool, chars: int) -> _Decoding | None:
    """Decode at least the first `chars` + 1 code points; None when the data are not text."""
    final = len(data) <= 4 * chars + 4
    piece = data if final else data[: 4 * chars + 4]
    try:
        return _Decoding(_decode_strictly(piece, encoding, final))
    except UnicodeDecodeError:
        sample = _non_ascii_lines(piece)
    if not has_mark and (mixed := _decode_lines(piece, final)) is not None:
        return mixed
    if has_mark or _is_mostly_utf8(sample):
        warning = f"some bytes are not valid {encoding.upper()} and are shown as U+FFFD"
        return _Decoding(piece.decode(encoding, "replace"), (warning,))
    if (mixed := _decode_mixed(piece)) is not None:
        return mixed
    guess = _guess_encoding(sample)
    if guess is None:
        return None
    warning = _GUESS.format(guess)
    try:
        return _Decoding(_decode_strictly(piece, guess, final), (warning,), guess)
    except UnicodeDecodeError:
        warning = f"{warning}; some bytes did not fit and are shown as U+FFFD"
        return _Decoding(piece.decode(guess, "replace"), (warning,), guess)


def _decode_lines(piece: bytes, final: bool) -> _Decoding | None:
    """Decode UTF-8 in which lines are in another encoding, as of programs that write one log; None
    where lines beyond ASCII are not mostly UTF-8, or all are, but for damage within them.
    """
    lines = piece.split(b"\n")
    last = b"" if final else lines.pop()
    valid = 0
    others = []
    for index, line in enumerate(lines):
        if line.isascii():
            continue
        broken = line.decode("utf-8", "replace").count("\ufffd")
        if broken == 0:
            valid += 1
        elif line.decode("utf-8", "ignore").isascii():
            others.append(index)
    if not others or len(others) > valid:
        return None
    guess = _guess_encoding(b"\n".join(lines[index] for index in others)[:_SAMPLE])
    if guess is None:
        return None
    texts = [line.decode("utf-8", "replace") for line in lines]
    for index in others:
        texts[index] = lines[index].decode(guess, "replace")
    if not final:
        texts.append(last.decode("utf-8", "ignore"))
    count = f"{len(others):,} lines are" if len(others) > 1 else "a line is"
    return _Decoding("\n".join(texts), (f"{count} {_GUESS.format(guess)}",), guess)


_NO_UTF8 = re.compile("[\udc80-\udcff]+")
_MIN_VALID = 2  # characters of UTF-8 for each one of Windows-1252 among them


def _decode_mixed(piece: bytes) -> _Decoding | None:
    """Decode UTF-8 with a few characters of Windows-1252, as of programs that join texts on one
    line; None where these are not few.
    """
    text = piece.decode("utf-8", "surrogateescape")
    others = _NO_UTF8.findall(text)
    valid = sum(1 for char in text if char > "\x7f") - sum(map(len, others))
    if not others or valid < _MIN_VALID * len(others) or max(map(len, others)) > 1:
        return None

    def decoded(found: re.Match[str]) -> str:
        return found[0].encode("ascii", "surrogateescape").decode("cp1252", "replace")

    count = f"{len(others):,} characters are" if len(others) > 1 else "a character is"
    warning = f"{count} {_GUESS.format('cp1252')}"
    return _Decoding(_NO_UTF8.sub(decoded, text), (warning,), "cp1252")


_COMMON = frozenset(" \n\r\t\u3000\u3001\u3002.,:;-0123456789") | frozenset(string.ascii_letters)
_UNLIKELY = ("Cc", "Cn", "Co", "Cs")
_MIN_CHARS = 8
_MIN_COMMON, _MAX_UNLIKELY = 0.02, 0.01  # of the characters of a text
_WIDE = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}
_WIDE_SAMPLE = 4 << 10
_FREQUENT_HANZI, _MIN_FREQUENT = (
    0xD8,
    0.8,
)  # the first byte of rare characters is this or higher


def _unmarked_encoding(data: bytes) -> str:
    """Return the encoding of seven bits, or of two or four bytes a character, that a text without
    a mark is in; empty for any other.
    """
    header = data[:_BEGINNING]
    if b"\0" in header:
        fits = {name: _fitness(data, header[:_WIDE_SAMPLE], name) for name in _WIDE}
        best = max(fits, key=fits.__getitem__)
        return best if fits[best] >= _MIN_COMMON else ""
    if b"\x1b" not in header and b"~" not in header:  # of one byte, which is found far sooner
        return ""
    for start, name in ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$", "iso2022_jp_ext"), (b"~{", "hz")):
        if start in header and header.isascii() and _is_wide(header, name):
            return name
    return ""


def _fitness(data: bytes, sample: bytes, encoding: str) -> float:
    """Return the fraction of common characters of a text; 0 for what is no text."""
    if len(data) % _WIDE[encoding]:
        return 0.0
    try:
        text = _decode_strictly(sample, encoding, False)
    except UnicodeDecodeError:
        return 0.0
    unlikely = sum(unicodedata.category(char) in _UNLIKELY and char not in _COMMON for char in text)
    if len(text) < _MIN_CHARS or unlikely > _MAX_UNLIKELY * len(text):
        return 0.0
    return sum(char in _COMMON for char in text) / len(text)


def _is_wide(header: bytes, encoding: str) -> bool:
    """Return whether a text decodes to characters beyond ASCII; in HZ, whose escapes a program may
    have by chance, most of them must be frequent ones.
    """
    try:
        wide = [char for char in _decode_strictly(header, encoding, False) if char > "\x7f"]
    except UnicodeDecodeError:
        return False
    if encoding != "hz":
        return bool(wide)
    frequent = sum(char.encode("gb2312")[0] < _FREQUENT_HANZI for char in wide)
    return bool(wide) and frequent >= _MIN_FREQUENT * len(wide)


_EBCDIC = "".join((string.ascii_letters, string.digits, " .,\n\r\x85")).encode("cp037")
_EBCDIC_BLANK = b"\x40"  # in ASCII it is @, and a blank of ASCII is no character of EBCDIC
_MIN_EBCDIC, _MIN_EBCDIC_BLANKS = 0.95, 0.05


def is_ebcdic(data: bytes) -> bool:
    """Return whether data are text in EBCDIC, as mainframes write it.

    >>> is_ebcdic("Dear Ann, the ferry leaves at 8.".encode("cp037")), is_ebcdic(b"Dear Ann")
    (True, False)
    """
    header = data[:_BEGINNING]
    if b" " in header or header.count(_EBCDIC_BLANK) <= _MIN_EBCDIC_BLANKS * len(header):
        return False
    known = len(header) - len(header.translate(None, _EBCDIC))
    return known >= _MIN_EBCDIC * len(header)


def _decode_strictly(piece: bytes, encoding: str, final: bool) -> str:
    """Decode; unless `final`, a character that the end of the piece cuts in two is left out."""
    if final and encoding == "utf-8":
        return piece.decode()
    return codecs.getincrementaldecoder(encoding)("strict").decode(piece, final)


def _non_ascii_lines(data: bytes) -> bytes:
    """Return the first 16 kB of lines that hold a byte above 127; long lines are cut.

    A line feed is never half a character in the encodings that are guessed, so lines may be taken
    out of their context.
    """
    sample = b""
    position = 0
    while len(sample) < _SAMPLE and (match := _BEYOND_ASCII.search(data, position)):
        byte = match.start()
        begin = max(data.rfind(b"\n", position, byte) + 1, position, byte - _LINE)
        end = data.find(b"\n", byte, byte + _LINE)
        position = byte + _LINE if end < 0 else end + 1
        sample += data[begin:position]
    return sample


def _is_mostly_utf8(sample: bytes) -> bool:
    """Return whether at most one in twenty of the characters beyond ASCII is broken."""
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd") - sample.count("\ufffd".encode())
    beyond = sum(1 for char in text if char > "\x7f")
    return broken <= _MAX_DAMAGE * beyond


def _guess_encoding(sample: bytes) -> str | None:
    """Return the best guess, None when the sample does not look like text.

    Windows-1252, by far the most common, is preferred when the detector's matches hardly differ,
    and when it has none for a text that is mostly ASCII.
    """
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=_ENCODINGS))
    if not matches:
        is_mostly_ascii = len(_BEYOND_ASCII.sub(b"", sample)) >= _MIN_ASCII * len(sample)
        return "cp1252" if is_mostly_ascii else _guess_by_script(sample)
    close = _close_matches(matches)
    if matches[0].encoding == "cp1250" and _LATIN_2.search(sample) and not _C1.search(sample):
        return "iso8859_2"  # in which other bytes are the same characters
    if any(match.encoding == "cp1254" and match.language == "Turkish" for match in close):
        return "cp1254"
    if any("cp1252" in match.could_be_from_charset for match in close):
        return "cp1252"
    if matches[0].encoding in _BY_SCRIPT:  # which rare Japanese characters look like
        return _guess_by_script(sample) or matches[0].encoding
    return matches[0].encoding


# characters of ISO 8859-2 inside words, which Windows-1250 has in the range of control characters
_LATIN_2, _C1 = re.compile(rb"[a-z\xe0-\xff][\xbb\xbe][a-z\xe0-\xff]"), re.compile(rb"[\x80-\x9f]")
_HANGUL, _KANA = range(0xAC00, 0xD7A4), range(0x3041, 0x3100)
_BY_SCRIPT = {
    "cp949": _HANGUL,
    "johab": _HANGUL,
    "euc_jis_2004": _KANA,
    "shift_jis_2004": _KANA,
}
"""Encodings in which the detector finds rare characters only, and the script of their language."""


def _guess_by_script(sample: bytes) -> str | None:
    """Return the only one of `_BY_SCRIPT` that a sample can be in; None for none or several."""
    fitting = [name for name in _BY_SCRIPT if _is_written_in(sample, name, _BY_SCRIPT[name])]
    return fitting[0] if len(fitting) == 1 else None


def _is_written_in(sample: bytes, encoding: str, script: range) -> bool:
    """Return whether a sample is valid, and half of it beyond ASCII is of a script."""
    try:
        text = _decode_strictly(sample, encoding, False)
    except UnicodeDecodeError:
        return False
    beyond = [ord(char) for char in text if char > "\x7f"]
    own = sum(code in script for code in beyond)
    return own >= max(_MIN_CHARS, len(beyond) / 2)


def _close_matches(matches: Sequence[CharsetMatch]) -> list[CharsetMatch]:
    """Return the matches that are nearly as good as the first."""
    best = matches[0]
    return [
        match
        for match in matches
        if match.chaos - best.chaos <= _CLOSE_NOISE
        and best.coherence - match.coherence <= _CLOSE_LANGUAGE
    ]


class PlainExtractor:
    """The extractor of `--extractor plain`: refuses everything that is not plain text."""

    identity = PLAIN_IDENTITY
    extra_seconds = 0.0

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def extract(self, data: bytes, name: str) -> Document:
        """Read one plain text. Raises `ExtractionError` for anything else."""
        document = plain_document(data, name, self._limits)
        if document is None:
            raise ExtractionError(
                "it is not plain text; use --extractor native or server for other formats"
            )
        return document
