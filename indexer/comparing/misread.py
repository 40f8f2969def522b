"""Words in order with misread words in part: the measure `lcs_misread`, for scanned texts.

docs/lab/023-misread-text.md has the trials.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from types import MappingProxyType

from indexer.comparing.alignment import AlignedWords, Stretch, lcs_length
from indexer.comparing.measure import Measure
from indexer.comparing.quantities import NEGATIONS
from indexer.comparing.relations import Relation
from indexer.comparing.words import Words, lcs_of_strings

MIN_FRACTION = 0.6
MIN_CHARACTERS = 4
MIN_STRETCHES = 4
MIN_OF_OTHERS = 0.4  # of the words that are not in order
MIN_IN_ORDER = 0.4  # of the words of the longer text


def lcs_misread(
    a: Words, b: Words, minimum: float = 0.0, aligned: AlignedWords | None = None
) -> float:
    """Return `lcs` with misread words in part; 0 when neither text has any words.

    The same for either order of the texts. May be 0 for a pair below `minimum`, which is found
    out sooner. `aligned`: the words, if they are aligned already.

    >>> from indexer.comparing.words import normal_words
    >>> clean = normal_words("The quick brown foxes jumped over that lazy sleeping hound.")
    >>> read = normal_words("The qnick brown foxcs jumped ovcr that lazv sleeping honnd.")
    >>> round(lcs_misread(clean, read), 3)
    0.89
    """
    longer = max(len(a), len(b))
    if not longer or min(len(a), len(b)) < math.ceil(minimum * longer - 1e-9):
        return 0.0
    needed = math.ceil(min(minimum, MIN_IN_ORDER) * longer - 1e-9)
    in_order = (aligned.length if aligned else lcs_length(a, b, needed)) / longer
    if in_order < MIN_IN_ORDER:
        return in_order
    return min(1.0, in_order + _misread_words(aligned or AlignedWords(a, b)) / longer)


def _misread_words(pair: AlignedWords) -> float:
    """Return the words that misread stretches count."""
    own = _own_words(pair.a, pair.b) | _own_words(pair.b, pair.a)
    others, misread = 0, []
    for stretch in pair.stretches:
        size = max(len(stretch.a), len(stretch.b))
        others += size
        fraction = characters_in_order(stretch) if _may_be_misread(stretch, own) else 0.0
        if fraction >= MIN_FRACTION:
            misread.append((size, min(len(stretch.a), len(stretch.b)) * fraction))
    words = sum(size for size, _ in misread)
    if len(misread) < MIN_STRETCHES or words < MIN_OF_OTHERS * others:
        return 0.0
    return math.fsum(part for _, part in misread)


def _own_words(words: Words, others: Words) -> set[str]:
    """Return the words that stand once, and not in the other text."""
    counts = Counter(words.numbers.tolist())
    once = {word for number, word in enumerate(words.vocabulary) if counts[number] == 1}
    return once.difference(others.vocabulary)


def _may_be_misread(stretch: Stretch, own: set[str]) -> bool:
    """Return whether both texts have words here, some of them their own, and no fact differs."""
    words = [*stretch.a, *stretch.b]
    if not stretch.a or not stretch.b or own.isdisjoint(words):
        return False
    if any(word.isdecimal() or word in NEGATIONS for word in words):
        return False
    digits = _digits(stretch.a), _digits(stretch.b)
    return not all(digits) or digits[0] == digits[1]


def _digits(words: Iterable[str]) -> str:
    return "".join(filter(str.isdecimal, "".join(words)))


def characters_in_order(stretch: Stretch) -> float:
    """Return the fraction of the characters of the longer text that are in order in the other.

    0 when it has fewer than `MIN_CHARACTERS`.

    >>> characters_in_order(Stretch(("modern", "age"), ("modernage",)))
    1.0
    >>> round(characters_in_order(Stretch(("modern",), ("rnodern",))), 3)
    0.714
    """
    a, b = "".join(stretch.a), "".join(stretch.b)
    longer = max(len(a), len(b))
    return lcs_of_strings(a, b) / longer if longer >= MIN_CHARACTERS else 0.0


_RELATION: Relation = MappingProxyType(
    {
        "chars_v1:6": (
            "0.263 0.271 0.273 0.278 0.284 0.296 0.305 0.330 0.381 0.431 0.477 0.534",
            "0.268 0.275 0.286 0.298 0.322 0.341 0.364 0.389 0.443 0.478 0.508 0.608",
            "0.331 0.332 0.333 0.351 0.383 0.428 0.471 0.500 0.543 0.566 0.583 0.718",
            "0.413 0.430 0.431 0.436 0.460 0.470 0.521 0.594 0.650 0.699 0.717 0.789",
            "0.547 0.574 0.588 0.601 0.628 0.666 0.719 0.791 0.823 0.841 0.863 0.887",
            "0.689 0.707 0.725 0.732 0.785 0.822 0.875 0.932 0.954 0.977 0.991 1.000",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "word_pairs_v1": (
            "0.217 0.236 0.241 0.250 0.260 0.277 0.291 0.321 0.343 0.366 0.422 0.478",
            "0.246 0.251 0.276 0.292 0.320 0.339 0.360 0.381 0.396 0.413 0.436 0.478",
            "0.246 0.251 0.276 0.292 0.320 0.343 0.361 0.381 0.396 0.413 0.436 0.478",
            "0.246 0.251 0.276 0.292 0.320 0.343 0.361 0.381 0.396 0.413 0.436 0.478",
            "0.319 0.333 0.339 0.358 0.385 0.412 0.438 0.477 0.512 0.546 0.590 0.663",
            "0.417 0.511 0.533 0.559 0.605 0.634 0.665 0.706 0.771 0.803 0.828 0.884",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
    }
)

LCS_MISREAD = Measure(
    "lcs_misread",
    "words in order, with partial credit for misread words",
    lambda a, b, _, minimum: lcs_misread(a.words, b.words, minimum),
    version=2,
    relation=_RELATION,
    planned_as="lcs",
    is_in_order=True,
)
