"""Words in order with misread words in part: the measure `lcs_misread`, for scanned texts.

It is (words of the LCS + parts of misread words) / words of the longer text: in [0, 1], and never
below `lcs`. Scans that are read twice differ in single characters and in blanks, so their
similarity is measured on characters in order (Lopresti, "Models and algorithms for duplicate
document detection", ICDAR 1999); here only where words are not equal, so that a word remains the
unit.

The words between two runs of the alignment are a stretch (`indexer.similarity.lcs.stretches`). A
misread stretch counts the words of the side that has fewer, times the share of the letters of the
longer side that stand in the other in the same order, blanks left out. It is misread if

- at least `LEAST_SHARE` of its letters are in order, and it has at least `LEAST_LETTERS`,
- a word of it stands once in its text and never in the other: a name that is replaced wherever it
  stands is no error,
- it states no fact that differs: no negation, no number, no digits on both sides that differ.

Stretches count only in a text that is misread as a whole: at least `LEAST_STRETCHES` are, they have
at least `LEAST_OF_OTHERS` of the words that are not in order, and `LEAST_IN_ORDER` of the longer
text's words are in order.
docs/decisions/023-misread-text.md has the evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from indexer.similarity.fact_words import NEGATIONS
from indexer.similarity.lcs import Stretch, lcs, lcs_of_strings, stretches
from indexer.text.word_numbers import Words

LEAST_SHARE = 0.6
LEAST_LETTERS = 4
LEAST_STRETCHES = 4
LEAST_OF_OTHERS = 0.4  # of the words that are not in order
LEAST_IN_ORDER = 0.4  # of the words of the longer text


def lcs_misread(a: Words, b: Words, least: float = 0.0) -> float:
    """Return `lcs` with misread words in part; 0 when neither text has any words.

    The same for either order of the texts. May be 0 for a pair below `least`, which is found out
    sooner.

    >>> from indexer.text.normal_words import normal_words
    >>> clean = normal_words("The quick brown foxes jumped over that lazy sleeping hound.")
    >>> read = normal_words("The qnick brown foxcs jumped ovcr that lazv sleeping honnd.")
    >>> round(lcs_misread(clean, read), 3)
    0.89
    """
    longer = max(len(a), len(b))
    if not longer or min(len(a), len(b)) < math.ceil(least * longer - 1e-9):
        return 0.0
    in_order = lcs(a, b, min(least, LEAST_IN_ORDER))
    if in_order < LEAST_IN_ORDER:
        return in_order
    return min(1.0, in_order + _misread_words(a, b) / longer)


def _misread_words(a: Words, b: Words) -> float:
    """Return the words that misread stretches count."""
    own = _own_words(a, b) | _own_words(b, a)
    others, misread = 0, []
    for stretch in stretches(a, b):
        size = max(len(stretch.a), len(stretch.b))
        others += size
        share = letters_in_order(stretch) if _may_be_misread(stretch, own) else 0.0
        if share >= LEAST_SHARE:
            misread.append((size, min(len(stretch.a), len(stretch.b)) * share))
    words = sum(size for size, _ in misread)
    if len(misread) < LEAST_STRETCHES or words < LEAST_OF_OTHERS * others:
        return 0.0
    return math.fsum(part for _, part in misread)


def _own_words(words: Words, others: Words) -> set[str]:
    """Return the words that stand once, and not in the other text."""
    counts = Counter(words.numbers.tolist())
    once = {word for number, word in enumerate(words.vocabulary) if counts[number] == 1}
    return once.difference(others.vocabulary)


def _may_be_misread(stretch: Stretch, own: set[str]) -> bool:
    """Return whether a stretch has words of its own on either side, and no fact that differs."""
    words = [*stretch.a, *stretch.b]
    if not stretch.a or not stretch.b or own.isdisjoint(words):
        return False
    if any(word.isdecimal() or word in NEGATIONS for word in words):
        return False
    digits = _digits(stretch.a), _digits(stretch.b)
    return not all(digits) or digits[0] == digits[1]


def _digits(words: Iterable[str]) -> str:
    return "".join(filter(str.isdecimal, "".join(words)))


def letters_in_order(stretch: Stretch) -> float:
    """Return the share of the letters of the longer side that are in order in the other.

    0 when it has fewer than `LEAST_LETTERS`.

    >>> letters_in_order(Stretch(["modern", "age"], ["modernage"]))
    1.0
    >>> round(letters_in_order(Stretch(["modern"], ["rnodern"])), 3)
    0.714
    """
    a, b = "".join(stretch.a), "".join(stretch.b)
    longer = max(len(a), len(b))
    return lcs_of_strings(a, b) / longer if longer >= LEAST_LETTERS else 0.0
