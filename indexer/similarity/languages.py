"""Texts whose words that differ are of two languages, as pages that were hardly translated.

Such pages share what nobody translated, often nine tenths of their words, and are pages of two
languages all the same. Function words tell which: of the words that one text has more often than
the other, those of its language are counted, and so are those of the other text.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from indexer.text.language_words import LANGUAGES_BY_WORD
from indexer.text.word_numbers import Words

LEAST_TIMES = 4  # function words of either language, since a misread text may have a few
OWN_SHARE = 3  # times as many of the own language as of the other, on either side
BALANCE = 8  # times as many on one side as on the other at most


class TwoLanguages(NamedTuple):
    """The languages (ISO 639-1) of the words that only a, and only b has, and how many those are:
    of the side that has fewer.
    """

    a: str
    b: str
    times: int


SAME_LANGUAGE = TwoLanguages("", "", 0)


def two_languages(a: Words, b: Words) -> TwoLanguages:
    """Return the languages of the words that differ; `SAME_LANGUAGE` unless they are two.

    >>> from indexer.text.normal_words import normal_words
    >>> a = normal_words("foo --bar: das ist nicht mit der Option und für die Datei")
    >>> two_languages(a, normal_words("foo --bar: this is not for the option and for the file"))
    TwoLanguages(a='de', b='en', times=8)
    """
    counts_a, counts_b = _function_words(a), _function_words(b)
    left, right = _by_language(counts_a - counts_b), _by_language(counts_b - counts_a)
    if not left or not right:
        return SAME_LANGUAGE
    of_a, of_b = (max(sorted(side), key=side.__getitem__) for side in (left, right))
    most, least = max(left[of_a], right[of_b]), min(left[of_a], right[of_b])
    is_told_apart = left[of_a] >= OWN_SHARE * left[of_b] and right[of_b] >= OWN_SHARE * right[of_a]
    if of_a == of_b or least < LEAST_TIMES or not is_told_apart or most > BALANCE * least:
        return SAME_LANGUAGE
    return TwoLanguages(of_a, of_b, least)


def _function_words(words: Words) -> Counter[str]:
    """Return how often each function word stands in a text."""
    counts = np.bincount(words.numbers, minlength=len(words.vocabulary))
    return Counter(
        {
            word: int(counts[number])
            for number, word in enumerate(words.vocabulary)
            if word in LANGUAGES_BY_WORD
        }
    )


def _by_language(words: Counter[str]) -> Counter[str]:
    """Return the number of function words by language."""
    counts = Counter[str]()
    for word, times in words.items():
        for language in LANGUAGES_BY_WORD.get(word, ()):
            counts[language] += times
    return counts
