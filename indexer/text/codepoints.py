"""Pinned character classes and the lower-case table as arrays indexed by code point.

Nothing here asks the running Python's own Unicode tables, so a newer Python cannot change a stored
byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexer.text import unicode13

UNASSIGNED, NONSTARTER, IGNORABLE, BLANK, WORDLESS, UNSPACED = (1 << bit for bit in range(6))
_TABLES = {
    UNASSIGNED: unicode13.UNASSIGNED,
    NONSTARTER: unicode13.NONSTARTER,
    IGNORABLE: unicode13.IGNORABLE,
    BLANK: unicode13.BLANK,
    WORDLESS: unicode13.WORDLESS,
    UNSPACED: unicode13.UNSPACED,
}
END = 0x110000


def ranges(table: str) -> Iterator[tuple[int, int]]:
    """Yield the inclusive ranges that a table spells.

    >>> list(ranges("41-43 5F"))
    [(65, 67), (95, 95)]
    """
    for word in table.split():
        first, _, last = word.partition("-")
        yield int(first, 16), int(last or first, 16)


@cache
def classes() -> NDArray[np.uint8]:
    """(0x110000,) uint8: the class bits of every code point."""
    return bits_of(_TABLES)


def bits_of(tables: Mapping[int, str]) -> NDArray[np.uint8]:
    """(0x110000,) uint8: for every code point, the bits of the tables that hold it; `tables` is by
    bit.
    """
    bits = np.zeros(END, dtype=np.uint8)
    for bit, table in tables.items():
        for first, last in ranges(table):
            bits[first : last + 1] |= bit
    return bits


@cache
def lower() -> NDArray[np.uint32]:
    """(0x110000,) uint32: the lower-case code point of every code point; itself where there is
    none.
    """
    mapped = np.arange(END, dtype=np.uint32)
    for word in unicode13.LOWER.split():
        span, _, move = word.partition("/")
        first, last = (int(part, 16) for part in span.split("-"))
        step, delta = int(move[0]), int(move[1:])
        mapped[first : last + 1 : step] += np.uint32(delta % (1 << 32))
    return mapped


def encode(text: str) -> NDArray[np.uint32]:
    """Code points of a text, (n,) uint32; a lone surrogate becomes U+FFFD.

    >>> [hex(code) for code in encode("a\\ud800")]
    ['0x61', '0xfffd']
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
    codes[(codes >= 0xD800) & (codes < 0xE000)] = 0xFFFD
    return codes


def decode(codes: NDArray[np.uint32]) -> str:
    """The text of code points; the inverse of `encode` where there is no surrogate."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")
