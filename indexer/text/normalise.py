"""Normalisation `default_v1`: the same text under every Python, every JVM and the Rust kernel.

In order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi controls) go;
2. a hyphen at the end of a line goes: one of U+002D U+2010 before optional blanks or tabs and a line feed or carriage return;
3. NFKC as of Unicode 13.0. What 13.0 does not assign passes through unchanged and separates; so does every 30th
   consecutive non-starter, which bounds the work on hostile text (compare UAX #15, stream-safe text);
4. simple lower case as of Unicode 13.0, final sigma as sigma;
5. white space and control characters go.

White space goes because extractors disagree about it more than about anything else: line ends,
table cells, spaces between Chinese characters in PDF. Tables and reasons:
docs/decisions/001-normalisation.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.text import codepoints

MAX_NONSTARTERS = 30
_LINE_END_HYPHEN = re.compile(r"[-\u2010](?=[ \t]*[\r\n])")


def normalise(text: str) -> str:
    """Normalise by `default_v1`.

    >>> normalise("Ｎear-\\n Dupli\\u00adcates  ﬁnd \\u03a3\\u03c2")
    'nearduplicatesfindσσ'
    """
    return codepoints.decode(normalised_codes(text))


def normalised_codes(text: str) -> NDArray[np.uint32]:
    """The code points of `normalise(text)`, (n,) uint32."""
    codes = codepoints.encode(composed(_joined(text)))
    lower: NDArray[np.uint32] = codepoints.lower()[codes]
    kept: NDArray[np.uint32] = lower[codepoints.classes()[lower] & codepoints.BLANK == 0]
    return kept


def count_words(text: str) -> int:
    """Runs of anything but white space and controls; in scripts without spaces each code point is a
    word.

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
    """False when there is nothing but numbers, punctuation and symbols (categories N, P, S of
    Unicode 13.0).
    """
    return bool(np.any(codepoints.classes()[codes] & codepoints.WORDLESS == 0))


def _joined(text: str) -> str:
    """Steps 1 and 2: surrogates replaced, ignorables and line-end hyphens removed."""
    if not text.isascii():
        codes = codepoints.encode(text)
        text = codepoints.decode(codes[codepoints.classes()[codes] & codepoints.IGNORABLE == 0])
    return _LINE_END_HYPHEN.sub("", text)


def composed(text: str) -> str:
    """Step 3: NFKC as of Unicode 13.0, whatever Python runs: NFKC of every piece between
    barriers.
    """
    if text.isascii():
        return text
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    bits = codepoints.classes()[codepoints.encode(text)]
    assigned = bits & codepoints.UNASSIGNED == 0
    start = 0
    for end in [*_barriers(bits), len(text)]:
        if end > start:
            piece = text[start:end]
            yield unicodedata.normalize("NFKC", piece) if assigned[start] else piece
        start = end


def _barriers(bits: NDArray[np.uint8]) -> list[int]:
    """Positions where the text is cut: assignedness changes, or a run of non-starters reaches its
    limit (ascending).
    """
    unassigned = bits & codepoints.UNASSIGNED != 0
    changes = np.flatnonzero(unassigned[1:] != unassigned[:-1]) + 1
    marks = bits & codepoints.NONSTARTER != 0
    position = np.arange(len(bits))
    since = position - np.maximum.accumulate(np.where(marks, -1, position))
    full = np.flatnonzero(marks & (since % MAX_NONSTARTERS == 0) & (since > 0)) + 1
    return sorted({*changes.tolist(), *full.tolist()})
