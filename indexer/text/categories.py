"""Pinned general categories: what tokens and words are made of, as an array and as classes for
regular expressions.

A newer Python cannot change a stored byte: nothing here asks its own Unicode tables.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexer.text import unicode13_categories as categories13
from indexer.text.codepoints import UNSPACED, bits_of, classes

WORD, SPACING_MARK, LETTER, MARK, DIGIT, PUNCTUATION, KATAKANA = (1 << bit for bit in range(7))
_TABLES = {
    WORD: categories13.WORD,
    SPACING_MARK: categories13.SPACING_MARK,
    LETTER: categories13.LETTER,
    MARK: categories13.MARK,
    DIGIT: categories13.DIGIT,
    PUNCTUATION: categories13.PUNCTUATION,
    KATAKANA: categories13.KATAKANA,
}


@cache
def categories() -> NDArray[np.uint8]:
    """(0x110000,) uint8: the category bits of every code point.

    >>> bool(categories()[ord("é")] & LETTER), bool(categories()[ord("_")] & WORD), bool(categories()[ord("-")] & WORD)
    (True, True, False)
    """
    return bits_of(_TABLES)


@cache
def character_class(bits: int, spaced: bool | None = None) -> str:
    """A class for `re`, in brackets: code points with any of `bits`; of scripts with spaces between
    words (or without) only.

    >>> import re
    >>> re.findall(character_class(LETTER), "a1_é")
    ['a', 'é']
    """
    member = categories() & bits != 0
    if spaced is not None:
        member &= (classes() & UNSPACED == 0) == spaced
    edges = np.flatnonzero(np.diff(member.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return "[" + "".join(f"\\U{first:08x}-\\U{end - 1:08x}" for first, end in edges.tolist()) + "]"
