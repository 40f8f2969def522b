"""The words that measures compare, with their places in the original text.

They are the runs between the blanks of the text normalised by `default_v2`; in scripts written
without spaces each code point is a word of its own. So texts have equal words exactly where their
normalised texts are equal, and as many as the recipe counts. They are the same under every recipe:
the normalised text of `default_v1` has no blanks to cut it at.
"""

from __future__ import annotations

from functools import cache, lru_cache
from unicodedata import is_normalized

import numpy as np
from numpy.typing import NDArray

from indexer.text import codepoints
from indexer.text.codepoints import MARK, NONSTARTER, categories
from indexer.text.normalise_v2 import BLANK, LINE_END_HYPHEN, fold, word_starts
from indexer.text.word_numbers import Words, number_strings

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

_CHANGING = ((0x80, 0x20000), (0x2F800, 0x2FA20))  # outside, NFKC changes no single character
_JAMO = ((0x1160, 0x11FF), (0x3131, 0x318E), (0xFFA0, 0xFFDC))  # Hangul letters, which compose


def normal_words(text: str) -> Words:
    """Return the words of any `str`; none of a text without letters, marks and digits.

    A character that stands for several words (½) is the place of each of them. Surrogates are
    separators.

    >>> normal_words("Don’t pay 1,000 re-\\nplies, STRASSE/Straße: 近似").folded
    ['don', 't', 'pay', '1', '000', 'replies', 'strasse', 'strasse', '近', '似']
    """
    if text.isascii() and not LINE_END_HYPHEN.search(text):
        return _ascii_words(text)
    codes, starts, ends = _composed(text)
    codes, places = fold(codes)
    first = word_starts(codes)
    last = np.append(first[1:], len(codes))[: len(first)]
    last = last - (codes[last - 1] == BLANK)
    normal = codepoints.decode(codes)
    spans = zip(first.tolist(), last.tolist(), strict=True)
    numbers, vocabulary = number_strings([normal[start:end] for start, end in spans])
    return Words(tuple(vocabulary), numbers, starts[places[first]], ends[places[last - 1]])


def folded_words(text: str) -> list[str]:
    """Return the `folded` of `normal_words` in a small part of the time, by the kernel.

    >>> folded_words("Don't pay 1,000: 近似")
    ['don', 't', 'pay', '1', '000', '近', '似']
    """
    if _kernel is not None and hasattr(_kernel, "spaced_words"):
        return _kernel.spaced_words(text).split()
    return normal_words(text).folded


def _ascii_words(text: str) -> Words:
    """Return the words of ASCII without a hyphen at the end of a line: a third of the time."""
    folded = text.encode().translate(_folded_ascii())
    in_word = np.zeros(len(folded) + 2, dtype=np.bool_)
    in_word[1:-1] = np.frombuffer(folded, dtype=np.uint8) != BLANK
    edges = np.flatnonzero(in_word[1:] != in_word[:-1])
    numbers, vocabulary = number_strings(folded.decode().split())
    return Words(tuple(vocabulary), numbers, edges[::2], edges[1::2])


@cache
def _folded_ascii() -> bytes:
    """Return the lower case of every letter and digit, and a blank for the rest, by byte."""
    codes = codepoints.lower()[:256].astype(np.uint8)
    codes[codepoints.classes()[:256] & codepoints.SEPARATOR != 0] = BLANK
    return codes.tobytes()


def _composed(text: str) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the code points of a text after the first three steps of the normalisation.

    And the offsets [start, end) in the text of the characters that each comes from; (n,) each.
    """
    shown = text if text.isascii() else codepoints.without_ignorables(text)
    if len(shown) == len(text):
        places = np.arange(len(text))
    else:
        bits = codepoints.classes()[codepoints.encode(text)]
        places = np.flatnonzero(bits & codepoints.IGNORABLE == 0)
    spans = [match.span() for match in LINE_END_HYPHEN.finditer(shown)]
    if spans:
        joins = np.zeros(len(shown) + 1, dtype=np.int64)
        for start, end in spans:
            joins[start] += 1
            joins[end] -= 1
        places = places[np.cumsum(joins[:-1]) == 0]
        shown = LINE_END_HYPHEN.sub("", shown)
    normal = codepoints.nfkc(shown)
    codes = codepoints.encode(normal)
    if normal == shown:
        return codes, places, places + 1
    first, last = _sources(shown)
    return codes, places[first], places[last] + 1


def _sources(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last character that each code point of the NFKC comes from.

    (n,) int64 each, as offsets in the text. The text is cut into stretches that NFKC changes one by
    one; a run of characters that it leaves alone is one.
    """
    codes = codepoints.encode(text)
    composes = _composes()[codes]
    stays = _stays()[codes]
    inner = stays[1:] & stays[:-1] & ~np.append(composes[2:], False)
    edges = np.concatenate(([0], np.flatnonzero(~inner & ~composes[1:]) + 1, [len(text)]))
    starts, ends = edges[:-1], edges[1:]
    sizes = ends - starts
    is_same = np.logical_and.reduceat(stays, starts)
    for place in np.flatnonzero(~is_same).tolist():
        sizes[place], is_same[place] = _composed_size(text[starts[place] : ends[place]])
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    alone = inside * np.repeat(is_same, sizes)
    last = np.where(is_same, starts, ends - 1)
    return np.repeat(starts, sizes) + alone, np.repeat(last, sizes) + alone


@lru_cache(4096)
def _composed_size(stretch: str) -> tuple[int, bool]:
    """Return the length of the NFKC of a stretch, and whether it is the stretch itself."""
    composed = codepoints.nfkc(stretch)
    return len(composed), composed == stretch


@cache
def _composes() -> NDArray[np.bool_]:
    """Flag the code points that NFKC may compose with what is before them, (0x110000,) bool."""
    flags: NDArray[np.bool_] = (codepoints.classes() & NONSTARTER != 0) | (categories() & MARK != 0)
    for start, end in _JAMO:
        flags[start : end + 1] = True
    return flags


@cache
def _stays() -> NDArray[np.bool_]:
    """Flag the code points that NFKC leaves alone where nothing is composed, (0x110000,) bool."""
    flags = ~_composes()
    for start, end in _CHANGING:
        changed = [code for code in range(start, end) if not is_normalized("NFKC", chr(code))]
        flags[changed] = False
    return flags
