"""Look-ups of copies that differ in accents, whose keys are those of other words.

A text with many accents is looked up without them, too; for a text without any, in a language that
has many, full-text search finds the texts with its words, whatever accents these have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np

from indexer.comparing.words import LANGUAGES_BY_WORD, Words
from indexer.fingerprinting.normalise import first_accent, without_accents
from indexer.grouping.words_in_common import words_without_positions
from indexer.model import WordLookup

MANY_ACCENTS = 0.15  # of the words; where fewer have accents, keys find the copies without them
MAX_ACCENTED = 100  # candidates by words, those with most of them
_RICH_IN_ACCENTS = frozenset({"cs", "fr", "hu", "pl", "pt", "ro", "sk", "sv", "tr", "vi"})
_LONG_WORDS = (
    24  # that are looked up; a copy has a third of them, as full-text search may know ł from l
)


def without_many_accents(text: str) -> str | None:
    """Return a text without its accents; None if few of its words have one.

    >>> without_many_accents("řízení ve výši"), without_many_accents("a café on a hill by the sea")
    ('rizeni ve vysi', None)
    """
    if text.isascii():
        return None
    words = words_without_positions(text)
    times = np.bincount(words.numbers, minlength=len(words.vocabulary))
    has_accent = [not word.isascii() and first_accent(word) != "" for word in words.vocabulary]
    accented = int(times[has_accent].sum())
    return without_accents(text.lower()) if accented >= MANY_ACCENTS * len(words) > 0 else None


def accented_lookup(text: str, threshold: float) -> WordLookup | None:
    """Return the look-up of the texts of which a text without accents may be a copy, by its longest
    words; None if it has accents, or is in a language with few.

    >>> lookup = accented_lookup("nebo jako rozhodnuti uradu ve veci stavebniho povoleni", 0.8)
    >>> lookup.words[:2], lookup.min_words, lookup.max_words
    ((('rozhodnuti',), ('stavebniho',)), 7, 10)
    >>> accented_lookup("the decision of the office is about the permission", 0.8)
    """
    words = words_without_positions(text)
    if words.has_accents or _language(words) not in _RICH_IN_ACCENTS:
        return None
    longest = sorted(words.vocabulary, key=len, reverse=True)[:_LONG_WORDS]
    minimum = math.ceil(len(words) * threshold - 1e-9)
    limit = math.floor(len(words) / threshold + 1e-9)
    spellings = tuple((word,) for word in longest)
    return WordLookup(spellings, -(-len(longest) // 3), minimum, limit)


def _language(words: Words) -> str:
    """Return the language that most function words are of, which have lost their accents."""
    counts = Counter[str]()
    known = _languages_by_plain_word()
    times = np.bincount(words.numbers, minlength=len(words.vocabulary)).tolist()
    for word, count in zip(words.vocabulary, times, strict=True):
        for language in known.get(word, ()):
            counts[language] += count
    return max(sorted(counts), key=counts.__getitem__, default="")


@cache
def _languages_by_plain_word() -> Mapping[str, frozenset[str]]:
    languages: dict[str, frozenset[str]] = {}
    for word, listed in LANGUAGES_BY_WORD.items():
        plain = without_accents(word)
        languages[plain] = languages.get(plain, frozenset()).union(listed)
    return languages
