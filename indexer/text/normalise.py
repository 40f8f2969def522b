"""Normalisation `default_v1`: the same text under every Python, every JVM and the Rust kernel.

In order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi
   controls) go;
2. a hyphen at the end of a line goes: one of U+002D U+2010 before optional blanks or tabs and a
   line feed or carriage return;
3. NFKC as of Unicode 13.0 (`codepoints.nfkc`);
4. simple lower case as of Unicode 13.0, final sigma as sigma;
5. white space and control characters go.

White space goes because extractors disagree about it more than about anything else: line ends,
table cells, spaces between Chinese characters in PDF. Tables and reasons:
docs/decisions/001-normalisation.md.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from indexer.text import codepoints

_LINE_END_HYPHEN = re.compile(r"[-\u2010](?=[ \t]*[\r\n])")


def normalise(text: str) -> str:
    """Normalise by `default_v1`.

    >>> normalise("Ｎear-\\n Dupli\\u00adcates  ﬁnd \\u03a3\\u03c2")
    'nearduplicatesfindσσ'
    """
    return codepoints.decode(normalised_codes(text))


def normalised_codes(text: str) -> NDArray[np.uint32]:
    """Return the code points of `normalise(text)`, (n,) uint32."""
    codes = codepoints.encode(codepoints.nfkc(_join_lines(text)))
    lower: NDArray[np.uint32] = codepoints.lower()[codes]
    shown: NDArray[np.uint32] = lower[codepoints.classes()[lower] & codepoints.BLANK == 0]
    return shown


def _join_lines(text: str) -> str:
    """Apply steps 1 and 2: replace surrogates, remove ignorables and line-end hyphens."""
    if not text.isascii():
        text = codepoints.without_ignorables(text)
    return _LINE_END_HYPHEN.sub("", text)


def count_words(text: str) -> int:
    """Count the runs of anything but white space and controls.

    In scripts without spaces each code point is a word.

    >>> count_words("near duplicates, 近似重複")
    6
    """
    codes = codepoints.encode(text)
    bits = codepoints.classes()[codes]
    bits = bits[bits & codepoints.IGNORABLE == 0]
    unspaced = bits & codepoints.UNSPACED != 0
    inside = (bits & codepoints.BLANK == 0) & ~unspaced
    starts = inside & ~np.concatenate(([False], inside[:-1]))
    return int(np.count_nonzero(starts) + np.count_nonzero(unspaced))


def has_letters(codes: NDArray[np.uint32]) -> bool:
    """Return whether anything stands beside numbers, punctuation, symbols and blanks.

    Those are categories N, P and S of Unicode 13.0, white space and control characters.
    """
    wordless = codepoints.WORDLESS | codepoints.BLANK
    return bool(np.any(codepoints.classes()[codes] & wordless == 0))
