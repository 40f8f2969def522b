"""Tokenisers by the names of copietje's condensers: each takes a normalised text and returns its
features as strings, repeats included.

Equal to copietje's for white space, its n-grams, and character n-grams. Its `words` and `sents`
come from a Dutch spaCy model: those are `words-nl` and `sents-nl` here. Ours under its names are
rules (`indexer.text.sentences`, and words by Unicode category), the same for every language, with
slots of their own. A text without features has none here; copietje makes one empty n-gram of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial

from indexer.text.codepoints import SPACING_MARK, WORD, character_class
from indexer.text.dutch import dutch_sentences, dutch_words
from indexer.text.ngrams import character_grams, white_space_grams, white_space_tokens
from indexer.text.sentences import sentences
from indexer.text.tokens import unicode_words

Tokeniser = Callable[[str], Sequence[str]]


def words(text: str) -> list[str]:
    """Return runs of word characters, and each other sign that is not white space by itself.

    Scripts without spaces are cut by `unicode_words`.

    >>> words("ABC, sing with me! 東京")
    ['ABC', ',', 'sing', 'with', 'me', '!', '東', '京']
    """
    pieces: list[str] = []
    for match in _word().finditer(text):
        if match.lastgroup == "unspaced":
            pieces += unicode_words(match.group())
        else:
            pieces.append(match.group())
    return pieces


TOKENISERS: dict[str, Tokeniser] = {
    "ws": white_space_tokens,
    "white-space": white_space_tokens,
    **{
        f"white-space-{width}-grams": partial(white_space_grams, width=width)
        for width in range(2, 7)
    },
    **{f"{width}-grams": partial(character_grams, width=width) for width in range(1, 7)},
    "words": words,
    "split-words": words,
    "sents": sentences,
    "split-sents": sentences,
}

# these need spaCy and its model
DUTCH: dict[str, Tokeniser] = {
    "words-nl": dutch_words,
    "sents-nl": dutch_sentences,
}


@cache
def _word() -> re.Pattern[str]:
    spaced = character_class(WORD | SPACING_MARK, spaced=True)
    unspaced = character_class(WORD | SPACING_MARK, spaced=False)
    return re.compile(f"{spaced}+|(?P<unspaced>{unspaced}+)|[^\\s]")
