"""Texts in capitals: their dates and references, and the names that their form tells."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Protocol

from indexer.text.clauses.function_words import COMPANY_FORMS, FIRM_WORDS, FUNCTION

MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)[.](?=\s\d))"
)
_SHOUTED_MONTH = MONTH.upper()
_SHOUTED_SMALL = re.compile(
    r"(?<=\d)(?:ST|ND|RD|TH)\b|\b(?:DAY\s+OF|THOUSAND|MILLION|BILLION|PERCENT|PER\s+CENT)\b"
    r"|(?<=[\dX]\s)TO(?=\s\d)|(?<=\d)X\b|(?<=/)(?:HOUR|DAY|WEEK|MONTH|QUARTER|YEAR)\b"
)
_SHOUTED_CAPITAL = re.compile(
    rf"\b(?:{_SHOUTED_MONTH}(?=,?\s+\d)|(?<=\d\s){_SHOUTED_MONTH}\b"
    rf"|(?<=[Dd][Aa][Yy]\s[Oo][Ff]\s){_SHOUTED_MONTH}\b"
    r"|(?:SECTIONS?|ARTICLES?|CLAUSES?|PARAGRAPHS?|EXHIBIT|SCHEDULE|ANNEX|APPENDIX|NOS?\.)"
    r"(?=\s+(?:[\d(]|[IVXLC]+\b|[A-Z]\b)))"
)
_TWO_CAPITAL_WORDS = re.compile(r"[A-Z]{2}[,;]?\s+[A-Z]{2}")
_CLEAR_FORMS = COMPANY_FORMS - {"co", "corporation", "incorporated", "limited"}


class _Token(Protocol):
    @property
    def kind(self) -> str: ...

    @property
    def text(self) -> str: ...


def is_shouted(tokens: Sequence[_Token]) -> bool:
    """Return whether most words are in capitals."""
    words = [token.text for token in tokens if token.kind == "word"]
    return 2 * sum(word.isupper() and len(word) > 1 for word in words) > len(words)


def recased(text: str) -> str:
    """Return a text with the words of dates, references and amounts as elsewhere.

    A text that is not in capitals stays as it is.

    >>> recased("ON JUNE 1ST UNDER SECTION 4.2")
    'ON June 1st UNDER Section 4.2'
    """
    if not _TWO_CAPITAL_WORDS.search(text):
        return text
    if sum(map(str.isupper, text)) <= sum(map(str.islower, text)):
        return text
    text = _SHOUTED_SMALL.sub(lambda match: match.group().lower(), text)
    return _SHOUTED_CAPITAL.sub(lambda match: match.group().capitalize(), text)


def firm_places(
    tokens: Sequence[_Token], spoken: Sequence[str], parties: Container[str]
) -> frozenset[int]:
    """Return the places of forms of companies and of the word before each: "ACME, INC."."""
    return frozenset(
        near for place in range(len(tokens)) for near in _firm(place, tokens, spoken, parties)
    )


def _firm(
    place: int, tokens: Sequence[_Token], spoken: Sequence[str], parties: Container[str]
) -> Iterator[int]:
    if spoken[place] not in _CLEAR_FORMS:
        return
    before = place - 1 - (spoken[place - 1 : place] == [","])
    while before >= 0 and tokens[before].kind == "word":
        if spoken[before] in FUNCTION or spoken[before] in parties:
            return
        yield from (before, place)
        if spoken[before] not in FIRM_WORDS:
            return
        before -= 1
