"""The syntax of a full-text query, the same in every store.

    ferry boat        documents with any of the words, those with more and rarer ones first
    +ferry boat       `ferry` is required; `boat` only adds to the rank
    ferry -boat       documents with `boat` are left out
    +ferry|boat pier  one of `ferry` and `boat` is required
    "ferry to Calais" the words together, in this order
    harb*             words that begin with `harb`

A sign stands directly before a word or a quote, with a blank, a `|` or nothing before the sign. The
sign before the first of several alternatives applies to all of them; an alternative with a `-` of
its own is excluded by itself. A star stands directly behind a word. Nothing else has a meaning, and
no query is an error: signs, bars and stars elsewhere separate words, a quote that is not closed is
ignored, and what holds no letter or digit is left out. Exclusions alone leave all other documents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from indexer.errors import UsageError
from indexer.fingerprinting.normalise import (
    LINE_END_HYPHEN,
    UNSPACED,
    class_ranges,
    nfkc,
    ranges,
    without_ignorables,
)
from indexer.wording import well_formed

# Words of texts for full-text search, the same in every store.

# marks (categories Mn and Mc of Unicode 13.0) of scripts written without spaces
_MARKS = """
E31 E34-E3A E47-E4E EB1 EB4-EBC EC8-ECD 102B-103E 1056-1059 105E-1060 1062-1064 1067-106D 1071-1074
1082-108D 108F 109A-109D 17B4-17D3 17DD 3099-309A
"""


def _members(spans: Iterable[tuple[int, int]]) -> str:
    """Return the inside of a character class."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)


# a quick test: texts without these hold no unspaced script
_FAR = re.compile("[^\0-\u0dff\u1800-\u2e7f]")
_UNSPACED = re.compile(f"[{_members(class_ranges(UNSPACED))}]+")
_MARK = re.compile(f"[{_members(ranges(_MARKS))}]")
_CLUSTER = re.compile(f".[{_members(ranges(_MARKS))}]*")


def is_mark(letter: str) -> bool:
    """Return whether a letter of a script without spaces belongs to the one before it.

    Vowel signs and tone marks do.
    """
    return _MARK.match(letter) is not None


def searchable(text: str) -> str:
    """Return a text whose words full-text search finds, as normalisation reads them.

    Characters without width and hyphens at line ends are left out, and ligatures and full-width
    forms become plain characters.

    >>> searchable("soft\\u00adly, har-\\nbour, ﬁnal ＧＰＴ模型")
    'softly, harbour, final GPT 模 型 '
    """
    if not text.isascii():
        text = nfkc(without_ignorables(text))
    return separate_characters(LINE_END_HYPHEN.sub("", text))


def separate_characters(text: str) -> str:
    """Put spaces around each letter, its marks included, of a script written without spaces.

    >>> separate_characters("GPT模型")
    'GPT 模 型 '
    """
    if text.isascii() or not _FAR.search(text):
        return text
    return _UNSPACED.sub(_space_run, text)


def _space_run(run: re.Match[str]) -> str:
    characters = _CLUSTER.findall(run[0]) if _MARK.search(run[0]) else run[0]
    return f" {' '.join(characters)} "


# engines bound the clauses of a query, and each word is looked for in title and text
MAX_WORDS = 400
_WORD = re.compile(r"\w{1,255}")
_QUOTES = str.maketrans(dict.fromkeys("“”„‟＂", '"'))
_PIECE = re.compile(
    r"(?P<bar>\|)"
    r"|(?P<sign>(?<![^\s|])[+-](?=[\"\w]))?"
    r"(?:\"(?P<quoted>[^\"]*)\"|\"?(?P<word>[^\s\"|]+))"
)
_IGNORED = re.compile(
    r"\*+\w"  # a star before a word
    r"|.*\w[~^][\d.]*\Z|[~^][\w.]"  # fuzzy words, distances and weights
    r"|\(|.*[\w*]\)\Z"
    r"|(?:AND|OR|NOT)\Z"
)


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or a phrase of several; `is_prefix`: its last word may go on."""

    text: str
    is_prefix: bool = False

    def __str__(self) -> str:
        """Return the term as it is written in a query."""
        return f"{self.text}*" if self.is_prefix else f'"{self.text}"'

    @property
    def key(self) -> tuple[str, bool]:
        """Return what equal terms share: the text in lower case."""
        return self.text.casefold(), self.is_prefix

    @property
    def is_one_word(self) -> bool:
        """Return whether the term is a single word of the index.

        A word of a script without spaces is one for each of its letters.
        """
        characters = separate_characters(self.text).strip()
        return all(map(_is_of_word, characters))


Alternatives: TypeAlias = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class SearchWords:
    """The words of a query: of each of `required`, one term must match; none of `excluded` may.

    Where nothing is required, one of `optional` must match, if there is any. Without terms of any
    kind the query is empty.
    """

    required: tuple[Alternatives, ...] = ()
    optional: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the terms that may match, each once."""
        required = [term for alternatives in self.required for term in alternatives]
        return _distinct([*required, *self.optional])

    @property
    def is_empty(self) -> bool:
        """Return whether the query holds no term."""
        return not (self.required or self.optional or self.excluded)

    def without_rank(self) -> SearchWords:
        """Return words that match the same documents, without those that only add to the rank."""
        return SearchWords(self.required, () if self.required else self.optional, self.excluded)


@dataclass(slots=True)
class _Group:
    operator: str
    terms: list[Term]


def parse_query(text: str) -> SearchWords:
    """Return the words of a query.

    Raises `UsageError` for more than 400 words, each letter of a script without spaces counted as
    one.

    >>> parse_query('+near -far "duplicate documents" dup*').optional
    (Term(text='duplicate documents', is_prefix=False), Term(text='dup', is_prefix=True))
    """
    groups = _groups(text)
    required = dict.fromkeys(_distinct(group.terms) for group in groups if group.operator == "+")
    required_keys = {term.key for alternatives in required for term in alternatives}
    optional = _distinct(term for group in groups if not group.operator for term in group.terms)
    words = SearchWords(
        tuple(required),
        tuple(term for term in optional if term.key not in required_keys),
        _distinct(term for group in groups if group.operator == "-" for term in group.terms),
    )
    count = sum(_count_words(term) for term in (*words.terms, *words.excluded))
    if count > MAX_WORDS:
        raise UsageError(f"the query holds {count} words; leave at most {MAX_WORDS}")
    return words


def _groups(text: str) -> list[_Group]:
    """Return the terms of a query, alternatives together, with their sign."""
    groups: list[_Group] = []
    is_alternative = False
    for piece in _PIECE.finditer(well_formed(text).translate(_QUOTES)):
        if piece["bar"]:
            is_alternative = bool(groups)
            continue
        term = _term(piece["quoted"], piece["word"])
        if term is None:
            continue
        operator = piece["sign"] or ""
        if is_alternative and operator != "-":
            groups[-1].terms.append(term)
        else:
            groups.append(_Group(operator, [term]))
        is_alternative = False
    return groups


def _term(quoted: str | None, word: str | None) -> Term | None:
    """Return a term without what surrounds it; None if it holds no letter or digit."""
    text = " ".join(quoted.split()) if word is None and quoted is not None else word or ""
    if not any(character.isalnum() for character in text):
        return None
    positions = [index for index, character in enumerate(text) if _is_of_word(character)]
    end = positions[-1] + 1
    is_prefix = word is not None and text[end:].startswith("*") and not text[end:].strip("*")
    return Term(text[positions[0] : end], is_prefix)


def _is_of_word(character: str) -> bool:
    """Return whether a character is a letter, a mark, a digit, or one of private use."""
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Co"


def _distinct(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return each term once, as it is written first."""
    return tuple({term.key: term for term in reversed(list(terms))}.values())[::-1]


def _count_words(term: Term) -> int:
    return len(_WORD.findall(separate_characters(term.text)))


def ignored_syntax(text: str) -> tuple[str, ...]:
    """Return what looks like the syntax of other searches and has no meaning here, as written.

    >>> ignored_syntax('ferry~ *our "sea *x"~3 title^2 AND (quay C++ a*')
    ('ferry~', '*our', '~3', 'title^2', 'AND', '(quay')
    """
    words = (piece["word"] or "" for piece in _PIECE.finditer(well_formed(text).translate(_QUOTES)))
    return tuple(dict.fromkeys(word for word in words if _IGNORED.match(word)))
