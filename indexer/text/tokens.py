"""Tokens of the `simhash-doc` scheme: words with at least one letter, the same in every medium and
language.

In order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi controls) go;
2. NFKC as of Unicode 13.0; simple lower case as of Unicode 13.0, final sigma as sigma;
3. URLs and identifiers go (`indexer.text.identifiers`);
4. runs of word characters: categories Ll Lu Lt Lo Lm Mn Nd Pc, and Mc too from `v2` on;
5. in scripts without spaces between words a segmenter cuts the runs: at Unicode's default boundaries, in `v4` into pairs of
   letters, or the caller's own;
6. decimal digits inside a token go in `v3`;
7. what has no letter goes (bare numbers, stray marks), and what the stop list names.

`v1` is the scheme as published; without Mc it breaks most Hindi and Tamil words at their vowel
signs, which `v2` mends. `v3` is the published text's other choice, to strip all numeric characters.
`v4` is `v2` with more telling tokens for Thai, Chinese and Japanese. What the text leaves open
(steps 2 and 5, the patterns of 3) is our choice: docs/schemes.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from indexer.errors import UnknownName
from indexer.text import codepoints
from indexer.text.categories import DIGIT, LETTER, SPACING_MARK, WORD, character_class
from indexer.text.identifiers import without_identifiers
from indexer.text.normalise import composed
from indexer.text.segments import Segmenter, letter_pairs, unicode_words

_ASCII_RUN = re.compile("[0-9A-Z_a-z]+")


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What sets the versions apart: categories beside the published ones, categories taken out of
    tokens, the segmenter.
    """

    added: int = 0
    removed: int = 0
    segmenter: Segmenter = unicode_words


RULES = {
    "v1": TokenRules(),
    "v2": TokenRules(added=SPACING_MARK),
    "v3": TokenRules(added=SPACING_MARK, removed=DIGIT),
    "v4": TokenRules(added=SPACING_MARK, segmenter=letter_pairs),
}


def tokens(
    text: str,
    version: str = "v2",
    stop_words: Collection[str] = (),
    segmenter: Segmenter | None = None,
) -> list[str]:
    """The tokens of a text, in order, repeats kept; `segmenter` takes the place of the version's
    own.

    Stop words are compared with lower-case tokens. Raises `UnknownName` for another version.

    >>> tokens("The B-52s flew 3 times, see https://example.org/b52")
    ['the', 'b', '52s', 'flew', 'times', 'see']
    >>> tokens("हिन्दी", "v1"), tokens("हिन्दी", "v2")
    (['ह', 'न्द'], ['हिन्दी'])
    """
    rules = _rules(version)
    stops = frozenset(stop_words)
    letter = _one_of(LETTER)
    cut = _words(without_identifiers(fold_token(text)), rules, segmenter or rules.segmenter)
    if rules.removed:
        cut = (_one_of(rules.removed).sub("", word) for word in cut)
    return [word for word in cut if letter.search(word) and word not in stops]


def fold_token(text: str) -> str:
    """Steps 1 and 2: no surrogates, no ignorables, NFKC, lower case; white space and punctuation
    stay.

    >>> fold_token("Ｔhe\\u200b ﬁrst")
    'the first'
    """
    codes = codepoints.encode(text)
    visible = codepoints.decode(codes[codepoints.classes()[codes] & codepoints.IGNORABLE == 0])
    return codepoints.decode(codepoints.lower()[codepoints.encode(composed(visible))])


def _rules(version: str) -> TokenRules:
    try:
        return RULES[version]
    except KeyError:
        raise UnknownName("token version", version, RULES) from None


def _words(text: str, rules: TokenRules, segmenter: Segmenter) -> Iterator[str]:
    """Steps 4 and 5: maximal runs of word characters, those of unspaced scripts cut."""
    if text.isascii():
        yield from _ASCII_RUN.findall(text)
        return
    for match in _runs(WORD | rules.added).finditer(text):
        if match.lastgroup == "unspaced":
            yield from segmenter(match.group())
        else:
            yield match.group()


@cache
def _runs(bits: int) -> re.Pattern[str]:
    return re.compile(
        f"{character_class(bits, spaced=True)}+|(?P<unspaced>{character_class(bits, spaced=False)}+)"
    )


@cache
def _one_of(bits: int) -> re.Pattern[str]:
    return re.compile(character_class(bits))
