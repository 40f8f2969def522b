"""The words of a text as they are spelled, each with its place in the text.

They state facts (`1,000` is one number). Measures compare, and new words are, those of
`indexer.text.normal_words`.

A word is a run of letters, marks and numbers. A sign between two of them may belong to it: a
hyphen, an apostrophe, a full stop, a middle dot, an underscore; between two digits also a comma,
colon or slash. In scripts written without spaces each letter, with the marks that follow it, is a
word of its own. A word that a hyphen breaks at the end of a line is one.

Words are equal when their folded spellings are: normalised by `default_v1` (case, compatibility
forms, characters without width), with ß as ss, typographic apostrophes made plain and hyphens
between letters left out, so that `E‑Mail` equals `email`.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexer.text import codepoints
from indexer.text.codepoints import DIGIT, MARK, categories
from indexer.text.normalise import normalise
from indexer.text.word_numbers import Words, number_strings

_PART, _DIGIT, _JOINER, _DIGIT_JOINER, _ALONE, _MARK = (1 << bit for bit in range(6))
_JOINERS = "-\u2010\u2011'\u2019.\u00b7_"
_DIGIT_JOINERS = ",:/"
_SEPARATOR = "\U0010ffff"  # a noncharacter: never part of a word, untouched by normalisation
_ASCII_SEPARATOR = "!"  # never part of a word either
_LINE_END = re.compile(r"[-\u00ad\u2010][ \t]*(?:\r\n?|\n)[ \t]*")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010](?=[^\W\d_])")


def words(text: str) -> Words:
    """Return the words of any `str`; lone surrogates and punctuation are in none.

    >>> words("Don’t e-mail: 1,000 re-\\nplies!").folded
    ["don't", 'email', '1,000', 'replies']
    """
    starts, ends = _bounds(text)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    numbers, distinct = number_strings([text[start:end] for start, end in spans])
    folds, vocabulary = number_strings(_fold(distinct))
    return Words(tuple(vocabulary), folds[numbers], starts, ends)


def _fold(spellings: list[str]) -> list[str]:
    """Return the folded spellings of many distinct words at once.

    Those of ASCII stand together without a character that normalisation would have to spare.
    """
    plain = [spelling for spelling in spellings if spelling.isascii()]
    if len(plain) == len(spellings):
        return _fold_joined(plain, _ASCII_SEPARATOR)
    others = [spelling for spelling in spellings if not spelling.isascii()]
    folds = [*_fold_joined(plain, _ASCII_SEPARATOR), *_fold_joined(others, _SEPARATOR)]
    by_spelling = dict(zip([*plain, *others], folds, strict=True))
    return [by_spelling[spelling] for spelling in spellings]


def _fold_joined(spellings: list[str], separator: str) -> list[str]:
    if not spellings:
        return []
    joined = normalise(separator.join(spellings)).replace("\u2019", "'").replace("ß", "ss")
    return _HYPHEN.sub("", joined).split(separator)


def _bounds(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets [start, end) of every word, (n,) int64 each, ascending."""
    codes = codepoints.encode(text)
    kinds = _kinds()[codes]
    places = np.arange(len(codes), dtype=np.int64)
    if not text.isascii():
        visible = codepoints.classes()[codes] & codepoints.IGNORABLE == 0
        kinds, places = kinds[visible], places[visible]
    alone = kinds & _ALONE != 0
    marks = kinds & _MARK != 0
    syllable = _with_marks(alone, marks)
    run = _add_joiners(kinds & _PART != 0, kinds, ~syllable)
    run |= _line_breaks(text, places, run & ~syllable & (kinds & _DIGIT == 0))
    starts = run & (~_shift(run) | alone | (_shift(syllable) & ~marks))
    ends = run & ~np.concatenate((run[1:] & ~starts[1:], [False]))[: len(run)]
    return places[starts], places[ends] + 1


def _with_marks(alone: NDArray[np.bool_], marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flag letters that stand alone, and the marks that follow each of them."""
    base = np.maximum.accumulate(np.where(marks, 0, np.arange(len(marks))))
    return alone[base]


def _add_joiners(
    run: NDArray[np.bool_], kinds: NDArray[np.uint8], spaced: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Add to `run` the joiners between the right neighbours.

    None of these may be of a script without spaces.
    """
    digits = kinds & _DIGIT != 0
    letters = run & spaced
    run[1:-1] |= (kinds[1:-1] & _JOINER != 0) & letters[:-2] & letters[2:]
    run[1:-1] |= (kinds[1:-1] & _DIGIT_JOINER != 0) & digits[:-2] & digits[2:]
    return run


def _line_breaks(
    text: str, places: NDArray[np.int64], letters: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Flag the visible characters from a hyphen at the end of a line to the next line's first.

    Only where letters stand on both sides.
    """
    spans = [match.span() for match in _LINE_END.finditer(text)]
    first, last = np.searchsorted(places, np.array(spans, dtype=np.int64).reshape(-1, 2)).T
    inner = (first > 0) & (last < len(places))
    first, last = first[inner], last[inner]
    broken = letters[first - 1] & letters[last]
    turns = np.zeros(len(places) + 1, dtype=np.int64)
    np.add.at(turns, first[broken], 1)
    np.add.at(turns, last[broken], -1)
    return np.cumsum(turns[:-1]) > 0


def _shift(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the flag of the character before each one; False for the first."""
    return np.concatenate(([False], flags[:-1]))[: len(flags)]


@cache
def _kinds() -> NDArray[np.uint8]:
    """Return the role of each code point in a word, by pinned tables, (0x110000,) uint8.

    The signs that are numbers without being digits (such as ½) alone come from Python, of those
    that Unicode 13.0 assigns: none of these ever changes.
    """
    classes = codepoints.classes()
    hidden = classes & (codepoints.BLANK | codepoints.IGNORABLE) != 0
    wordless = classes & codepoints.WORDLESS != 0
    unspaced = classes & codepoints.UNSPACED != 0
    kinds = np.where(hidden | wordless, 0, _PART).astype(np.uint8)
    assigned = classes & codepoints.UNASSIGNED == 0
    signs = np.flatnonzero(wordless & ~hidden & assigned).astype(np.uint32)
    kinds[signs[np.char.isnumeric(signs.view("U1"))]] = _PART
    kinds[wordless & ~hidden & (categories() & DIGIT != 0)] |= _PART | _DIGIT
    marks = classes & codepoints.NONSTARTER != 0
    marks[:0x2000] |= (unspaced & (categories() & MARK != 0))[:0x2000]
    kinds[marks] |= _MARK
    kinds[unspaced & ~marks & ~wordless & ~hidden] |= _ALONE
    for joiners, kind in ((_JOINERS, _JOINER), (_DIGIT_JOINERS, _DIGIT_JOINER)):
        kinds[[ord(joiner) for joiner in joiners]] |= kind
    kinds[ord(_SEPARATOR)] = 0
    return kinds
