"""Plain text: decoded here, strictly as UTF-8 first, and by a detector only where that fails.

Tika's own detector reads some UTF-8 texts in Polish or Hebrew as a Chinese encoding, so plain text
never goes there.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from charset_normalizer import CharsetMatch, from_bytes

from indexer.errors import ExtractionError
from indexer.extraction.base import CUT, Limits
from indexer.extraction.tika_answers import HTML_NAMES, XML_NAMES
from indexer.model import Document

IDENTITY = "plain/1"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKED_UP = HTML_NAMES | XML_NAMES | {".eml", ".emlx", ".mbox", ".mht", ".mhtml", ".pdf", ".rtf"}
_START = re.compile(
    rb"\s*(?:<!--[^>]{0,1000}-->\s*)?(?:<\?xml|<!doctype\s|<html\b|<head\b|<body\b|<svg\b|<rss\b|<feed\b|\{\\rtf|%PDF-|%!PS)"
    rb"|From \S+ +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) |(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID): ",
    re.IGNORECASE,
)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_CONTROLS = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b")) + b"\x7f"
_HEAD = 64 << 10
_SAMPLE = 16 << 10
_LINE = 2 << 10
_MOST_CONTROLS = 0.01
_MOST_DAMAGE = 0.05
_LEAST_ASCII = 0.7
_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".rst": "text/x-rst",
    ".tsv": "text/tab-separated-values",
}
_ENCODINGS = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp866", "cp874", "cp932", "cp949",
    "koi8_r", "koi8_u", "iso8859_2", "iso8859_5", "euc_jp", "gb18030", "big5",
]  # fmt: skip
_CLOSE_NOISE, _CLOSE_LANGUAGE = 0.04, 0.05


def plain_document(data: bytes, name: str, limits: Limits) -> Document | None:
    """The document of a plain text file, or None when it is something else: then an extractor has
    to look.

    Plain is what has neither the name nor the beginning of a marked-up, mail or binary format, no
    NUL and hardly any other control character. Strict UTF-8 first; UTF-16 and UTF-32 by their byte
    order mark; UTF-8 with a few broken bytes stays UTF-8, with a warning; what is left is guessed
    from a sample, with a warning. No bytes make an empty document, whatever the name. Text beyond
    `limits.chars` code points is cut and called `truncated`. Raises nothing.

    >>> plain_document(b"caf\\xc3\\xa9", "a.txt", Limits()).text
    'café'
    >>> plain_document(b"<html>caf\\xc3\\xa9", "a.txt", Limits()) is None
    True
    """
    suffix = PurePosixPath(name).suffix.lower()
    mark, encoding = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", "utf-8"))
    head = data[:_HEAD]
    if mark:
        head = head[len(mark) :].decode(encoding, "ignore").encode("utf-8", "ignore")
    if data and (
        suffix in _MARKED_UP or _START.match(head) or not _looks_like_text(data, head, encoding)
    ):
        return None
    decoded = _decoded(data[len(mark) :], encoding, bool(mark), limits.chars)
    if decoded is None:
        return None
    cut = len(decoded.text) > limits.chars
    return Document(
        text=decoded.text[: limits.chars],
        content_type=_TYPES.get(suffix, "text/plain"),
        extractor=IDENTITY,
        truncated=cut,
        warnings=(*decoded.warnings, CUT) if cut else decoded.warnings,
    )


@dataclass(frozen=True, slots=True)
class _Decoded:
    text: str
    warnings: tuple[str, ...] = ()


def _looks_like_text(data: bytes, head: bytes, encoding: str) -> bool:
    """No NUL (UTF-16 and UTF-32 have them in every other character), few controls in the first 64
    kB.
    """
    if encoding == "utf-8" and b"\0" in data:
        return False
    return len(head) - len(head.translate(None, _CONTROLS)) <= _MOST_CONTROLS * len(head)


def _decoded(data: bytes, encoding: str, marked: bool, chars: int) -> _Decoded | None:
    """The text of at least the first `chars` + 1 code points that the data have; None when it is
    not text after all.
    """
    final = len(data) <= 4 * chars + 4
    piece = data if final else data[: 4 * chars + 4]
    try:
        return _Decoded(_strictly(piece, encoding, final))
    except UnicodeDecodeError:
        sample = _telling_lines(piece)
    if marked or _mostly_utf8(sample):
        warning = f"some bytes are not valid {encoding.upper()} and are shown as U+FFFD"
        return _Decoded(piece.decode(encoding, "replace"), (warning,))
    guess = _encoding_of(sample)
    if guess is None:
        return None
    warning = f"not UTF-8; read as {guess}, which is a guess"
    try:
        return _Decoded(_strictly(piece, guess, final), (warning,))
    except UnicodeDecodeError:
        return _Decoded(
            piece.decode(guess, "replace"),
            (f"{warning}; some bytes did not fit and are shown as U+FFFD",),
        )


def _strictly(piece: bytes, encoding: str, final: bool) -> str:
    """Decode; unless `final`, a character that the end of the piece cuts in two is left out."""
    return codecs.getincrementaldecoder(encoding)("strict").decode(piece, final)


def _telling_lines(data: bytes) -> bytes:
    """Up to 16 kB of lines that hold a byte above 127, the first of them first; long lines are cut.

    A new line is never half a character in the encodings that are guessed, so lines may be taken
    out of their place.
    """
    found, place = b"", 0
    while len(found) < _SAMPLE and (beyond := _BEYOND_ASCII.search(data, place)):
        here = beyond.start()
        begin = max(data.rfind(b"\n", place, here) + 1, place, here - _LINE)
        end = data.find(b"\n", here, here + _LINE)
        place = here + _LINE if end < 0 else end + 1
        found += data[begin:place]
    return found


def _mostly_utf8(sample: bytes) -> bool:
    """Whether at most one in twenty of the characters beyond ASCII is broken."""
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd") - sample.count("\ufffd".encode())
    beyond = sum(1 for char in text if char > "\x7f")
    return broken <= _MOST_DAMAGE * beyond


def _encoding_of(sample: bytes) -> str | None:
    """The best guess, or None when it does not look like text.

    Windows-1252 wins where the detector sees hardly a difference, or nothing in a text that is
    mostly ASCII: it is by far the most common.
    """
    matches = list(from_bytes(sample, cp_isolation=_ENCODINGS))
    if not matches:
        return (
            "cp1252" if len(_BEYOND_ASCII.sub(b"", sample)) >= _LEAST_ASCII * len(sample) else None
        )
    close = _close(matches)
    if any(match.encoding == "cp1254" and match.language == "Turkish" for match in close):
        return "cp1254"
    if any("cp1252" in match.could_be_from_charset for match in close):
        return "cp1252"
    return matches[0].encoding


def _close(matches: Sequence[CharsetMatch]) -> list[CharsetMatch]:
    best = matches[0]
    return [
        match
        for match in matches
        if match.chaos - best.chaos <= _CLOSE_NOISE
        and best.coherence - match.coherence <= _CLOSE_LANGUAGE
    ]


class PlainExtractor:
    """For `--extractor plain`: what `plain_document` leaves over is refused, so nothing but plain
    text is ever read.
    """

    identity = IDENTITY
    patience = 0.0

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def extract(self, data: bytes, name: str) -> Document:
        """Raises `ExtractionError` for anything that is not plain text."""
        document = plain_document(data, name, self._limits)
        if document is None:
            raise ExtractionError(
                "it is not plain text; use --extractor native or server for other formats"
            )
        return document
