"""Tokens of texts: words of the `simhash-doc` scheme, runs of words or characters, sentences.

The tokens of `simhash-doc` are words with at least one letter, the same in every medium and
language. The steps in order:

1. a lone surrogate becomes U+FFFD; default-ignorable code points (zero width, soft hyphen, bidi
   controls) go;
2. NFKC as of Unicode 13.0; simple lower case as of Unicode 13.0, final sigma as sigma;
3. URLs and identifiers go (`without_identifiers`);
4. runs of word characters: categories Ll Lu Lt Lo Lm Mn Nd Pc, and Mc too from `v2` on;
5. in scripts without spaces between words a segmenter cuts the runs: at Unicode's default
   boundaries, in `v4` into pairs of letters, or the caller's own;
6. decimal digits inside a token go in `v3`;
7. a token without a letter goes (bare numbers, stray marks), and so does one on the stop list.

`v5` is the scheme exactly as published: letters as written, without step 2's NFKC and lower case,
which the draft does not have. `v1` is that with step 2; without Mc it breaks most Hindi and Tamil
words at their vowel signs, which `v2` repairs. `v3` is the published text's other choice, to strip
all numeric characters. `v4` is `v2` with more selective tokens for Thai, Chinese and Japanese.
`v6` is `v2` without tokens of URLs and addresses that have letters outside ASCII.
Where the text leaves room (step 5, the patterns of 3) the choice is ours: docs/schemes.md.

A segmenter takes a run of letters of a script without spaces (Han, kana, Thai, Lao, Khmer, Burmese,
Tibetan ...) and yields its words. A dictionary-based one for a language (a function around jieba,
fugashi, pythainlp ...) may be passed wherever `Segmenter` stands; its tokens make another scheme,
whose sketches do not compare with sketches of the defaults here.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from indexer.errors import MissingExtra, UnknownName, UsageError
from indexer.fingerprinting.normalise import (
    DIGIT,
    IDENTIFIER_SCHEMES,
    KATAKANA,
    LETTER,
    MARK,
    SPACING_MARK,
    WORD,
    character_class,
    decode,
    encode,
    nfkc,
    to_lower,
    without_ignorables,
)

# URLs and identifiers, which tokens leave out.

_HEX = "[0-9A-Fa-f]"
_FREE = r"(?<![A-Za-z0-9])"
_PRINTABLE = "[!-~]"  # what follows the beginning of an identifier: printable ASCII


def _patterns(tail: str, name: str) -> list[re.Pattern[str]]:
    """Return the identifiers, in the order in which they go.

    `tail`: a character after their beginning; `name`: the letters and digits of an e-mail address,
    inside brackets.
    """
    patterns = (
        # any scheme with an authority: https, ftp, file, ...
        rf"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://{tail}+",
        rf"{_FREE}[Ww]{{3}}\.{tail}+",
        rf"{_FREE}(?i:{'|'.join(IDENTIFIER_SCHEMES)}):{tail}+",
        rf"(?<![{name}._%+-])[{name}._%+-]+@[{name}-]+(?:\.[{name}-]+)+",  # e-mail addresses
        rf"{_FREE}10\.[0-9]{{4,9}}/{tail}+",  # bare DOIs
        _FREE + _HEX + "{8}-" + (_HEX + "{4}-") * 3 + _HEX + r"{12}(?![A-Za-z0-9])",  # UUIDs
        _FREE + _HEX + r"{32,}(?![A-Za-z0-9])",  # digests
    )
    return [re.compile(pattern, re.ASCII) for pattern in patterns]


_IDENTIFIERS = _patterns(_PRINTABLE, "A-Za-z0-9")


@cache
def _international_identifiers() -> list[re.Pattern[str]]:
    """Return the same with letters of any script.

    One of a script without spaces belongs to a URL only after a separator or another such letter:
    a sentence may go on right behind the URL.
    """
    spaced, unspaced = (
        character_class(WORD | SPACING_MARK, spaced=is_spaced)[1:-1] for is_spaced in (True, False)
    )
    tail = f"(?:[!-~{spaced}]|(?<=[/=#?&%._~{unspaced}-])[{unspaced}])"
    return _patterns(tail, f"A-Za-z0-9{spaced}")


def without_identifiers(text: str, *, international: bool = False) -> str:
    """Replace each identifier by one space.

    Identifiers are URLs, e-mail addresses, DOI, arXiv, ISBN and URN identifiers, UUIDs and long
    digests, with letters of any script if `international`, else in ASCII. Host names without a
    scheme or `www.` stay: in running text they look like a missing space after a full stop.

    >>> without_identifiers("see https://example.com/a?b=c, doi:10.1145/3331184 or me@example.org.")
    'see     or  .'
    >>> without_identifiers("von http://пример.рф/wiki/Fähre aus", international=True)
    'von   aus'
    """
    is_wider = international and not text.isascii()
    # one after the other is faster than all in one alternation
    for identifier in _international_identifiers() if is_wider else _IDENTIFIERS:
        text = identifier.sub(" ", text)
    return text


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
    characters = _letters().findall(run)
    if len(characters) < 2:
        return characters
    return [left + right for left, right in itertools.pairwise(characters)]


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The differences between the versions.

    `added`: categories in addition to the published ones; `removed`: categories taken out of
    tokens;
    `folds`: NFKC and lower case come first; `international`: URLs and e-mail addresses may have
    letters of any script.
    """

    added: int = 0
    removed: int = 0
    segmenter: Segmenter = unicode_words
    folds: bool = True
    international: bool = False


RULES = {
    "v1": TokenRules(),
    "v2": TokenRules(added=SPACING_MARK),
    "v3": TokenRules(added=SPACING_MARK, removed=DIGIT),
    "v4": TokenRules(added=SPACING_MARK, segmenter=letter_pairs),
    "v5": TokenRules(folds=False),
    "v6": TokenRules(added=SPACING_MARK, international=True),
}


def tokens(
    text: str,
    version: str = "v2",
    stop_words: Collection[str] = (),
    segmenter: Segmenter | None = None,
) -> list[str]:
    """Return the tokens of a text, in order, repeats included.

    `segmenter` replaces the version's own. Stop words, in lower case, are compared with
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
    plain = fold_token(text) if rules.folds else without_ignorables(text)
    running = without_identifiers(plain, international=rules.international)
    words = _words(running, rules, segmenter or rules.segmenter)
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
    visible = without_ignorables(text)
    return decode(to_lower()[encode(nfkc(visible))])


def _rules(version: str) -> TokenRules:
    try:
        return RULES[version]
    except KeyError:
        raise UnknownName("token version", version, RULES) from None


def _words(text: str, rules: TokenRules, segmenter: Segmenter) -> Iterator[str]:
    """Apply steps 4 and 5: yield maximal runs of word characters, cut in unspaced scripts."""
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


# Runs of consecutive tokens or characters, of which features are made.


def shingles(tokens: Sequence[str], width: int) -> Iterator[str]:
    """Yield each run of `width` consecutive tokens, joined by one space; none when there are fewer.

    >>> list(shingles(["a", "b", "c"], width=2))
    ['a b', 'b c']
    """
    for start in range(len(tokens) - width + 1):
        yield " ".join(tokens[start : start + width])


def grams(text: str, width: int) -> Iterator[str]:
    """Yield each run of `width` consecutive characters; none when there are fewer.

    >>> list(grams("fold", width=3))
    ['fol', 'old']
    """
    for start in range(len(text) - width + 1):
        yield text[start : start + width]


# Runs of white-space tokens, characters and bytes, for copietje's condensers and the study.


def white_space_tokens(text: str) -> list[str]:
    """Split a text at white space.

    >>> white_space_tokens("ABC, sing with me!")
    ['ABC,', 'sing', 'with', 'me!']
    """
    return text.split()


def white_space_grams(text: str, width: int) -> list[str]:
    """Return each run of `width` white-space tokens, joined by one space.

    A shorter text is one run, an empty one none.

    >>> [white_space_grams(text, 3) for text in ("ABC, sing with me!", "ABC, sing", " ")]
    [['ABC, sing with', 'sing with me!'], ['ABC, sing'], []]
    """
    words = text.split()
    if not words:
        return []
    return list(shingles(words, min(width, len(words))))


def character_grams(text: str, width: int) -> list[str]:
    """Return each run of `width` characters (code points); none when there are fewer.

    >>> character_grams("東京都", 2)
    ['東京', '京都']
    """
    return list(grams(text, width))


def byte_grams(text: str, width: int) -> Iterator[bytes]:
    """Yield each run of `width` bytes of the UTF-8 text; none when there are fewer.

    A lone surrogate counts as U+FFFD.

    >>> list(byte_grams("né", 2))
    [b'n\\xc3', b'\\xc3\\xa9']
    """
    octets = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    for start in range(len(octets) - width + 1):
        yield octets[start : start + width]


# Sentences by rule, without a model: full stops and their like in any script. `sentences_v1`.

_BLANK = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_STOPS = (
    ".!?\u2026\u0589\u061f\u06d4\u0964\u0965\u104a\u104b\u1362\u1367\u1368\u17d4\u17d5"
    "\u203c\u203d\u2047-\u2049"
)
_WIDE_STOPS = "\u3002\uff01\uff0e\uff1f\uff61"
_CLOSERS = "\"')\\]}\xbb\u2019\u201d\u203a\u3009\u300b\u300d\u300f\u3011\uff09\uff3d\uff5d"
_END = re.compile(
    f"(?P<initial>(?<![^{_BLANK}])[A-Z]\\.(?=[{_BLANK}]))"
    f"|[{_WIDE_STOPS}][{_STOPS}{_WIDE_STOPS}]*[{_CLOSERS}]*"
    f"|(?<![{_STOPS}])[{_STOPS}]+[{_CLOSERS}]*(?=[{_BLANK}]+[^a-z{_BLANK}]|[{_BLANK}]*\\Z)"
    f"|[\r\n][{_BLANK}]*[\r\n\u2029]|\u2029"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without the white space around them.

    A text without full stops is one sentence.

    >>> sentences("He left, i.e. at 9 p.m. Then J. Doe came! 「来た。」彼は言った。\\n\\nNo end")
    ['He left, i.e. at 9 p.m.', 'Then J. Doe came!', '「来た。」', '彼は言った。', 'No end']
    """
    stripped = (piece.strip() for piece in _pieces(text))
    return [sentence for sentence in stripped if sentence]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(text):
        if match.lastgroup != "initial":
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]


# Stop lists by language, from stopwords-iso: the one file that imports it.


def stop_list(language: str) -> frozenset[str]:
    """Return the stop words of a language (ISO 639-1 code), folded as tokens are.

    Those with a space or apostrophe match no token. Raises `UsageError` for a language without a
    list, `MissingExtra` without stopwordsiso.

    >>> "the" in stop_list("en"), "fox" in stop_list("en")
    (True, False)
    """
    try:
        import stopwordsiso
    except ImportError:
        raise MissingExtra(package="stopwordsiso", extra="text") from None
    if language not in stopwordsiso.langs():
        languages = ", ".join(sorted(stopwordsiso.langs()))
        raise UsageError(f"no stop list for language {language!r}; choose one of: {languages}")
    return frozenset(fold_token(word) for word in stopwordsiso.stopwords(language))


def digest(stop_words: frozenset[str]) -> str:
    """Return 12 hexadecimal digits that name a stop list by its words, for a recipe to record.

    The order of the words does not matter.

    >>> digest(frozenset(["of", "the"])), digest(frozenset())
    ('a381d70250aa', 'e3b0c44298fc')
    """
    return hashlib.sha256("\n".join(sorted(stop_words)).encode()).hexdigest()[:12]


# Words and sentences of Dutch by spaCy and its Dutch model, as copietje has them.

MODEL = "nl_core_news_md"


def dutch_words(text: str) -> list[str]:
    """Return the tokens of the model, white space between lines included.

    Raises `MissingExtra` without spaCy, `UsageError` without the model.
    """
    return [token.text for token in _model()(text)]


def dutch_sentences(text: str) -> list[str]:
    """Return the sentences of the model.

    Raises `MissingExtra` without spaCy, `UsageError` without the model.
    """
    return [sentence.text for sentence in _model()(text).sents]


@cache
def _model() -> Any:
    try:
        import spacy
    except ImportError:
        raise MissingExtra(package="spacy", extra="spacy") from None
    try:
        return spacy.load(MODEL)
    except OSError as error:
        raise UsageError(
            f"spaCy's Dutch model is not installed; run: python -m spacy download {MODEL}"
        ) from error


# Tokenisers by the names of copietje's condensers.

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
