"""Tokens of the `simhash-doc` scheme: words with at least one letter, the same in every medium and
language.

In order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi
   controls) go;
2. NFKC as of Unicode 13.0; simple lower case as of Unicode 13.0, final sigma as sigma;
3. URLs and identifiers go (`indexer.text.identifiers`);
4. runs of word characters: categories Ll Lu Lt Lo Lm Mn Nd Pc, and Mc too from `v2` on;
5. in scripts without spaces between words a segmenter cuts the runs: at Unicode's default
   boundaries, in `v4` into pairs of letters, or the caller's own;
6. decimal digits inside a token go in `v3`;
7. a token without a letter goes (bare numbers, stray marks), and so does one on the stop list.

`v5` is the scheme exactly as published: letters as written, without step 2's NFKC and lower case,
which the draft does not have. `v1` is that with step 2; without Mc it breaks most Hindi and Tamil
words at their vowel signs, which `v2` repairs. `v3` is the published text's other choice, to strip
all numeric characters. `v4` is `v2` with more selective tokens for Thai, Chinese and Japanese.
Where the text leaves room (step 5, the patterns of 3) the choice is ours: docs/schemes.md.

A segmenter takes a run of letters of a script without spaces (Han, kana, Thai, Lao, Khmer, Burmese,
Tibetan ...) and yields its words. A dictionary-based one for a language (a function around jieba,
fugashi, pythainlp ...) may be passed wherever `Segmenter` stands; its tokens make another scheme,
whose sketches do not compare with those of the defaults here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from indexer.errors import UnknownName
from indexer.text import codepoints
from indexer.text.codepoints import (
    DIGIT,
    KATAKANA,
    LETTER,
    MARK,
    SPACING_MARK,
    WORD,
    character_class,
)
from indexer.text.identifiers import without_identifiers

Segmenter = Callable[[str], Iterable[str]]
_ASCII_RUN = re.compile("[0-9A-Z_a-z]+")


def unicode_words(run: str) -> list[str]:
    """Cut a run at the default word boundaries of Unicode (UAX #29).

    A word is a letter with its marks, or a run of katakana.

    >>> unicode_words("東京タワーへ")
    ['東', '京', 'タワー', 'へ']
    """
    return _unspaced_words().findall(run)


def letter_pairs(run: str) -> list[str]:
    """Return every two neighbouring letters of a run, each with its marks; a lone letter is a word.

    CJK analysers of search engines do the same.

    >>> letter_pairs("東京都"), letter_pairs("都")
    (['東京', '京都'], ['都'])
    """
    letters = _letters().findall(run)
    if len(letters) < 2:
        return letters
    return [left + right for left, right in itertools.pairwise(letters)]


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The differences between the versions.

    `added`: categories beside the published ones; `removed`: categories taken out of tokens;
    `folds`: NFKC and lower case come first.
    """

    added: int = 0
    removed: int = 0
    segmenter: Segmenter = unicode_words
    folds: bool = True


RULES = {
    "v1": TokenRules(),
    "v2": TokenRules(added=SPACING_MARK),
    "v3": TokenRules(added=SPACING_MARK, removed=DIGIT),
    "v4": TokenRules(added=SPACING_MARK, segmenter=letter_pairs),
    "v5": TokenRules(folds=False),
}


def tokens(
    text: str,
    version: str = "v2",
    stop_words: Collection[str] = (),
    segmenter: Segmenter | None = None,
) -> list[str]:
    """Return the tokens of a text, in order, repeats included.

    `segmenter` takes the place of the version's own. Stop words, in lower case, are compared with
    tokens in lower case. Raises `UnknownName` for another version.

    >>> tokens("The B-52s flew 3 times, see https://example.org/b52")
    ['the', 'b', '52s', 'flew', 'times', 'see']
    >>> tokens("हिन्दी", "v1"), tokens("हिन्दी", "v2")
    (['ह', 'न्द'], ['हिन्दी'])
    >>> tokens("The ﬁrst B-52", "v5", stop_words=["the"])
    ['ﬁrst', 'B']
    """
    rules = _rules(version)
    stops = frozenset(stop_words)
    letter = _character(LETTER)
    plain = fold_token(text) if rules.folds else codepoints.without_ignorables(text)
    words = _words(without_identifiers(plain), rules, segmenter or rules.segmenter)
    if rules.removed:
        removed = _character(rules.removed)
        words = (removed.sub("", word) for word in words)
    if stops and not rules.folds:
        words = (word for word in words if fold_token(word) not in stops)
    return [word for word in words if letter.search(word) and word not in stops]


def fold_token(text: str) -> str:
    """Apply steps 1 and 2: no surrogates, no ignorables, NFKC, lower case.

    White space and punctuation stay.

    >>> fold_token("Ｔhe\\u200b ﬁrst")
    'the first'
    """
    visible = codepoints.without_ignorables(text)
    return codepoints.decode(codepoints.lower()[codepoints.encode(codepoints.nfkc(visible))])


def _rules(version: str) -> TokenRules:
    try:
        return RULES[version]
    except KeyError:
        raise UnknownName("token version", version, RULES) from None


def _words(text: str, rules: TokenRules, segmenter: Segmenter) -> Iterator[str]:
    """Apply steps 4 and 5: yield maximal runs of word characters, those of unspaced scripts cut."""
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
    spaced = character_class(bits, spaced=True)
    unspaced = character_class(bits, spaced=False)
    return re.compile(f"{spaced}+|(?P<unspaced>{unspaced}+)")


@cache
def _character(bits: int) -> re.Pattern[str]:
    return re.compile(character_class(bits))


@cache
def _unspaced_words() -> re.Pattern[str]:
    marks = character_class(MARK) + "*"
    return re.compile(f"(?:{character_class(KATAKANA)}{marks})+|.{marks}", re.DOTALL)


@cache
def _letters() -> re.Pattern[str]:
    return re.compile(f".{character_class(MARK)}*", re.DOTALL)
