"""Code points by Unicode 13.0, pinned: classes, categories, lower case and NFKC.

A newer Python carries newer Unicode tables. Nothing here reads those where they could differ, so no
Python version changes a stored byte.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting import unicode13, unicode13_categories

END = 0x110000
MAX_NONSTARTERS = 30
# bits of `classes()`
UNASSIGNED, NONSTARTER, IGNORABLE, BLANK, WORDLESS, UNSPACED, SEPARATOR = (
    1 << bit for bit in range(7)
)
_CLASSES = {
    UNASSIGNED: unicode13.UNASSIGNED,
    NONSTARTER: unicode13.NONSTARTER,
    IGNORABLE: unicode13.IGNORABLE,
    BLANK: unicode13.BLANK,
    WORDLESS: unicode13.WORDLESS,
    UNSPACED: unicode13.UNSPACED,
    SEPARATOR: unicode13.SEPARATOR,
}
# bits of `categories()`
WORD, SPACING_MARK, LETTER, MARK, DIGIT, PUNCTUATION, KATAKANA = (1 << bit for bit in range(7))
_CATEGORIES = {
    WORD: unicode13_categories.WORD,
    SPACING_MARK: unicode13_categories.SPACING_MARK,
    LETTER: unicode13_categories.LETTER,
    MARK: unicode13_categories.MARK,
    DIGIT: unicode13_categories.DIGIT,
    PUNCTUATION: unicode13_categories.PUNCTUATION,
    KATAKANA: unicode13_categories.KATAKANA,
}


def ranges(table: str) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of a table.

    >>> list(ranges("41-43 5F"))
    [(65, 67), (95, 95)]
    """
    for word in table.split():
        first, _, last = word.partition("-")
        yield int(first, 16), int(last or first, 16)


def class_ranges(bit: int) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of code points in the class of this bit of `codepoint_classes`.

    >>> next(class_ranges(UNSPACED))
    (3585, 3642)
    """
    return ranges(_CLASSES[bit])


def category_ranges(bit: int) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges of code points in the categories of this bit of `categories`."""
    return ranges(_CATEGORIES[bit])


@cache
def codepoint_classes() -> NDArray[np.uint8]:
    """Return the class bits of every code point, (0x110000,) uint8."""
    return _bits(_CLASSES)


@cache
def categories() -> NDArray[np.uint8]:
    """Return the category bits of every code point, (0x110000,) uint8.

    >>> letter, connector = categories()[ord("é")], categories()[ord("_")]
    >>> bool(letter & LETTER), bool(connector & LETTER), bool(connector & WORD)
    (True, False, True)
    """
    return _bits(_CATEGORIES)


def _bits(tables: Mapping[int, str]) -> NDArray[np.uint8]:
    """Return the bits of the tables that hold each code point, (0x110000,) uint8; tables by bit."""
    bits = np.zeros(END, dtype=np.uint8)
    for bit, table in tables.items():
        for first, last in ranges(table):
            bits[first : last + 1] |= bit
    return bits


@cache
def character_class(bits: int, spaced: bool | None = None) -> str:
    """Return the bracket expression, for `re`, of the code points in any of these categories.

    With `spaced`, those of scripts with (True) or without (False) spaces between words alone.

    >>> import re
    >>> re.findall(character_class(LETTER), "a1_é")
    ['a', 'é']
    """
    member = categories() & bits != 0
    if spaced is not None:
        member &= (codepoint_classes() & UNSPACED == 0) == spaced
    edges = np.flatnonzero(np.diff(member.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return "[" + "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in edges.tolist()) + "]"


@cache
def to_lower() -> NDArray[np.uint32]:
    """Return the lower-case code point of every code point, or itself, (0x110000,) uint32."""
    mapped = np.arange(END, dtype=np.uint32)
    for word in unicode13.LOWER.split():
        span, _, move = word.partition("/")
        first, last = (int(part, 16) for part in span.split("-"))
        step, delta = int(move[0]), int(move[1:])
        mapped[first : last + 1 : step] += np.uint32(delta % (1 << 32))
    return mapped


def encode(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, (n,) uint32; a lone surrogate becomes U+FFFD.

    >>> [hex(code) for code in encode("a\\ud800")]
    ['0x61', '0xfffd']
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
    codes[(codes >= 0xD800) & (codes < 0xE000)] = 0xFFFD
    return codes


def decode(codes: NDArray[np.uint32]) -> str:
    """Return the text of code points, (n,); the inverse of `encode` but for surrogates."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")


def without_ignorables(text: str) -> str:
    """Return a text without default-ignorable characters.

    >>> without_ignorables("soft\\u00adly")
    'softly'
    """
    codes = encode(text)
    return decode(codes[codepoint_classes()[codes] & IGNORABLE == 0])


def nfkc(text: str) -> str:
    """Return the NFKC of a text as of Unicode 13.0, whatever Python runs.

    A code point that 13.0 does not assign passes through unchanged and separates. So does every
    30th consecutive non-starter, which bounds the work on hostile text (compare UAX #15,
    stream-safe text).
    """
    return text if text.isascii() else "".join(_nfkc_pieces(text))


def _nfkc_pieces(text: str) -> Iterator[str]:
    """Yield the NFKC of every piece between barriers."""
    bits = codepoint_classes()[encode(text)]
    assigned = bits & UNASSIGNED == 0
    start = 0
    for end in [*_barriers(bits), len(text)]:
        if end > start:
            piece = text[start:end]
            yield unicodedata.normalize("NFKC", piece) if assigned[start] else piece
        start = end


def _barriers(bits: NDArray[np.uint8]) -> list[int]:
    """Return the positions where the text is cut, ascending.

    Either assignedness changes there, or a run of non-starters reaches its limit.
    """
    unassigned = bits & UNASSIGNED != 0
    changes = np.flatnonzero(unassigned[1:] != unassigned[:-1]) + 1
    marks = bits & NONSTARTER != 0
    position = np.arange(len(bits))
    since = position - np.maximum.accumulate(np.where(marks, -1, position))
    full = np.flatnonzero(marks & (since % MAX_NONSTARTERS == 0) & (since > 0)) + 1
    return sorted({*changes.tolist(), *full.tolist()})
