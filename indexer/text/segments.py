"""Words in text that is written without spaces between them: the hook, and what serves without a
dictionary.

A segmenter takes a run of letters of such scripts (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan
...) and yields its words. A dictionary-based one for a language (a function around jieba, fugashi,
pythainlp ...) may be passed wherever `Segmenter` stands; whoever does so makes another scheme,
whose sketches do not compare with those of these defaults.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from functools import cache

from indexer.text.categories import KATAKANA, MARK, character_class

Segmenter = Callable[[str], Iterable[str]]


def unicode_words(run: str) -> list[str]:
    """Cut at the default word boundaries of Unicode (UAX #29): each letter with its marks; a run of
    katakana is one word.

    >>> unicode_words("東京タワーへ")
    ['東', '京', 'タワー', 'へ']
    """
    return _words().findall(run)


def letter_pairs(run: str) -> list[str]:
    """Every two neighbouring letters, each with its marks; a lone letter is a word. What CJK
    analysers of search engines do.

    >>> letter_pairs("東京都"), letter_pairs("都")
    (['東京', '京都'], ['都'])
    """
    letters = _letters().findall(run)
    return (
        [one + other for one, other in itertools.pairwise(letters)] if len(letters) > 1 else letters
    )


@cache
def _words() -> re.Pattern[str]:
    marks = character_class(MARK) + "*"
    return re.compile(f"(?:{character_class(KATAKANA)}{marks})+|.{marks}", re.DOTALL)


@cache
def _letters() -> re.Pattern[str]:
    return re.compile(f".{character_class(MARK)}*", re.DOTALL)
