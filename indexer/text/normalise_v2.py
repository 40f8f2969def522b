"""Normalisation `default_v2`: words, and one blank between them.

In order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi
   controls) go;
2. a word hyphenated at the end of a line is joined: U+002D or U+2010, optional blanks or tabs, one
   line end and the blanks or tabs after it go;
3. NFKC as of Unicode 13.0 (`codepoints.nfkc`);
4. simple lower case as of Unicode 13.0, final sigma as sigma, ß as ss;
5. each run of code points that are neither letters, marks nor numbers becomes one blank. No blank
   stands at either end, or beside a character of a script written without spaces.

Code points that Unicode 13.0 does not assign count as letters. Reasons:
docs/decisions/012-default-v2.md.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from indexer.text import codepoints

BLANK = 0x20
SHARP_S = 0xDF
LINE_END_HYPHEN = re.compile(r"[-\u2010][ \t]*(?:\r\n?|\n)[ \t]*")


def normalise_v2(text: str) -> str:
    """Normalise by `default_v2`.

    >>> normalise_v2("> Ｎear  Dupli\\u00adcates, hyphen-\\n ated:  (STRASSE) Straße; 近似 重複!")
    'near duplicates hyphenated strasse strasse近似重複'
    """
    return codepoints.decode(normalised_codes_v2(text))


def normalised_codes_v2(text: str) -> NDArray[np.uint32]:
    """Return the code points of `normalise_v2(text)`, (n,) uint32."""
    return fold(codepoints.encode(codepoints.nfkc(_join_lines(text))))[0]


def fold(codes: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Apply steps 4 and 5 to code points; also return the place that each result comes from.

    `codes`: (n,); both results are (m,), and places ascend. Nothing remains of separators alone.
    """
    codes = codepoints.lower()[codes]
    places = np.arange(len(codes))
    sharp = codes == SHARP_S
    if np.any(sharp):
        places = np.repeat(places, 1 + sharp)
        codes = np.where(sharp, np.uint32(ord("s")), codes)[places]
    kept, separated = _separate(codes)
    return separated, places[kept]


def word_starts(codes: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return where the words of normalised code points start, ascending: (words,).

    A word ends at a blank; in scripts without spaces each code point is a word.

    >>> word_starts(normalised_codes_v2("near duplicates 近似x")).tolist()
    [0, 5, 15, 16, 17]
    """
    alone = codepoints.classes()[codes] & codepoints.UNSPACED != 0
    bounds = alone | (codes == BLANK)
    after = np.concatenate(([True], bounds))[:-1]
    return np.flatnonzero((codes != BLANK) & (alone | after))


def _join_lines(text: str) -> str:
    """Apply steps 1 and 2: replace surrogates, remove ignorables, join hyphenated words."""
    if not text.isascii():
        text = codepoints.without_ignorables(text)
    return LINE_END_HYPHEN.sub("", text)


def _separate(codes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Apply step 5: replace runs of separators by a blank where one may stand.

    Returns the places of the code points that stay, and these.
    """
    bits = codepoints.classes()[codes]
    separates = bits & codepoints.SEPARATOR != 0
    first = separates & ~np.concatenate(([False], separates))[:-1]
    kept = np.flatnonzero(~separates | first)
    codes = np.where(separates, np.uint32(BLANK), codes)[kept]
    # the ends of the text refuse a blank as characters of scripts without spaces do
    refuses = np.concatenate(([True], bits[kept] & codepoints.UNSPACED != 0, [True]))
    stays = (codes != BLANK) | ~(refuses[:-2] | refuses[2:])
    return kept[stays], codes[stays]
