"""The tokens of a clause by kind, and names and dates in texts that are all in capitals."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from indexer.comparing.clauses.lexicon import (
    COMPANY_FORMS,
    FIRM_WORDS,
    FUNCTION,
    NAME_SUFFIXES,
    SITE_ENDING,
    SMALL_FORMS,
    is_abbreviation,
    is_numeral,
)
from indexer.fingerprinting.normalise import nfkc

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


def firm_positions(
    tokens: Sequence[_Token], spoken: Sequence[str], parties: Container[str]
) -> frozenset[int]:
    """Return the positions of forms of companies and of the word before each: "ACME, INC."."""
    return frozenset(
        near for position in range(len(tokens)) for near in _firm(position, tokens, spoken, parties)
    )


def _firm(
    position: int, tokens: Sequence[_Token], spoken: Sequence[str], parties: Container[str]
) -> Iterator[int]:
    if spoken[position] not in _CLEAR_FORMS:
        return
    before = position - 1 - (spoken[position - 1 : position] == [","])
    while before >= 0 and tokens[before].kind == "word":
        if spoken[before] in FUNCTION or spoken[before] in parties:
            return
        yield from (before, position)
        if spoken[before] not in FIRM_WORDS:
            return
        before -= 1


# Tokens by kind: words, amounts, dates, addresses, references, operators.

_NUMBER = r"\d+(?:,\d{3}|['’]\d{3}|(?:,\d{2})+,\d{3})*(?:\.\d+)?"
_CURRENCY = r"(?:US|A|C|HK|NZ)?[$€£¥₹]|\bRs\.?|\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)\b"
_COINS = (
    r"(?:(?:U\.?S\.?\s+)?[Dd]ollars|DOLLARS|[Ee]uros?|[Pp]ounds(?:\s+sterling)?"
    r"|USD|EUR|GBP|CHF|JPY|CAD|AUD)\b"
)
_STREET = (
    r"(?:Street|St\.|Avenue|Ave\.|Road|Rd\.|Drive|Lane|Boulevard|Blvd\.|Way|Plaza|Square|Court"
    r"|Parkway|Highway|Terrace)"
)
_PLACE_PART = r"(?:(?:[A-Z]\.)+|[A-Z]\w*|\d[\w-]*)"
_BOX = r"\b(?:P\.?\s?O\.?|Post\s+Office)\s+Box\s+\d+"
_MAIL = r"[\w.+\-]{1,64}@[\w\-]"
_YEAR = r"(?:,?\s+\d{4})?\b"
_DAY = r"\b\d{1,2}(?:st|nd|rd|th)?"
_DIVISIONS = "[Ss]ections?|[Aa]rticles?|[Cc]lauses?|[Pp]aragraphs?|Exhibit|Schedule|Annex|Appendix"
_SPECIAL = (
    rf"{MONTH}\b|(?:{_DIVISIONS})\s|(?:US|A|C|HK|NZ)\$|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)\b|x\s"
    r"|[Nn]os?\.\s*\d"
)
_INITIALS = r"(?:[^\W\d_][.](?=[^\W\d_](?![^\W_])))*"
_WORD = rf"{_INITIALS}[^\W\d_][^\W_]*(?:['’\-‐‑][^\W_]+)*(?:{SITE_ENDING}){{0,2}}"
_FORM = (
    r"(?:(?=[A-Z])(?i:"
    + "|".join(sorted(map(re.escape, COMPANY_FORMS | NAME_SUFFIXES), reverse=True))
    + f")|{'|'.join(sorted(SMALL_FORMS))})"
    + r"(?!\w)"
)
# signs that punctuation, brackets, emphasis and sums do not have
_ODD = r"[^\w\s.,;:'\"“”‘’()\-–—‐‑&*_/\[\]{}<>®©™]"
_BEFORE_ODD = r"[\w.:'\-–—‐‑&*/\[\]{}<>®©™]{0,30}"
_REST = r"[^\s,;\"“”‘’()]{0,30}"
_SIGNED = "|".join(
    [
        r"[^\W\d_][^\W_]*(?:\+\+|#)(?!\w)",  # C++, C#
        r"[A-Z][^\W\d_]+\+(?=[,;:.)'’\"”]|\s+[^\W\d_]{2}|\s*$)",  # Disney+
        r"[A-Z](?:\*[A-Z]+)*\*[A-Z]{2,}(?!\w)",  # E*TRADE, M*A*S*H
        r"[^\W\d_]{1,30}(?:[!$][^\W\d_]+)+(?!\w)",  # P!nk, A$AP
        # before the form of a company: A+ Media Ltd, [x+1] AG, $hop LLC, Yahoo! Inc.
        rf"(?![$€£¥]?[\d.,]+%?\s|<?{_MAIL}){_BEFORE_ODD}(?![!?]\s){_ODD}{_REST}(?<=\S\S)"
        rf"(?=,?\s+(?:[A-Z][\w.'’&\-]*\s+){{0,3}}{_FORM})",
        # 24/7 Inc., 50/50 Ventures, Inc.
        rf"\d{{1,3}}/\d{{1,3}}(?=,?\s+(?:[A-Z][\w.'’&\-]*,?\s+){{0,3}}{_FORM})",
        rf"(?:\w{{1,30}}[!?]|(?:(?![ -~•●■▪‣◦→…]){_ODD})+)(?=,?\s+{_FORM})",
    ]
)
_SIGN = re.compile(_ODD + "|" + r"\w\*\w|\d/\d")
_PATTERNS = {
    # most words, in one step
    "quick": r"(?!(?:[sacp](?:ection|rticle|lause|aragraph)s?|nos?\.)\s|https?:)[a-z]{2,}"
    r"(?![^\W_]|[.'’\-‐‑@+][^\W_])",
    "gap": r"[ \t]+|\n(?!\s*\n)",
    "word": rf"(?!{_SPECIAL}|{_MAIL}|{_BOX}|https?:|www\.){_WORD}",
    "date": rf"\b{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?{_YEAR}"
    rf"|{_DAY}(?:\s+day\s+of)?\s+{MONTH}{_YEAR}"
    rf"|\b{MONTH}\s+\d{{4}}\b|\b(?:19|20)\d\d/(?:\d\d){{1,2}}\b(?!/)"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b",
    "address": rf"(?:{_BOX}|\b\d+[A-Z]?\s+(?:[A-Z][\w.]*\s+){{1,4}}?{_STREET})"
    rf"(?:,?\s+{_PLACE_PART})*"
    r"|\+\d{1,3}(?:[ \-]?\(?\d{2,}\)?){2,}"  # a telephone
    r"|\b[\w.+\-]{1,64}@[\w\-]+(?:\.[\w\-]+)*|\b(?:https?://|www\.)[^\s,;()<>]*[\w/]",
    # names that begin with a figure: 3M, 7-Eleven, 1-800-Flowers
    "named": r"(?<![\w$€£¥.,])\d+(?:-\d+)*-?(?!(?:st|nd|rd|th)\b)[A-Z][^\W_]*(?:[.'’\-][^\W_]+)*",
    # 5:00 p.m., 17:00; of 1:10 a sentence with "ratio" makes a figure
    "time": r"\b(?:[01]?\d|2[0-4]):[0-5]\d(?![\d:x])(?:\s*[aApP]\.?\s?[mM]\b\.?)?",
    "ratio": rf"{_NUMBER}x?\s*(?::|\bto\b)\s*{_NUMBER}x?(?=[\s.,;)]|$)",
    "reference": rf"\b(?:{_DIVISIONS})\s+"
    r"(?:\d+(?:\.\d+)*(?:\([a-z\d]+\))*|[IVXLC]+\b|[A-Z]\b|\([a-z\d]+\))"
    r"|§+\s*\d+(?:\.\d+)*|\b[Nn]os?\.\s*\d+(?:-\d+)*",
    "money": rf"(?:{_CURRENCY})\s?{_NUMBER}"
    r"(?:\s+(?:thousand|million|billion)\b|(?:k|m|mn|bn)\b)?"
    rf"|{_NUMBER}(?:\s+(?:thousand|million|billion))?\s+{_COINS}",
    "percent": rf"{_NUMBER}\s?(?:%|per\s?cent\b|percent\b)",
    "number": rf"{_NUMBER}(?:st|nd|rd|th)?(?!\w)",
    # the + of "GmbH + Co. KG" joins as & does
    "joined": r"\+(?=\s*Co\b)",
    "operator": r"(?<=\s)[-−](?=[\s\d(])"
    r"|(?<=[\w)])/(?=[\w(])(?!(?:hour|day|week|month|quarter|year)\b)"
    r"|(?<=\s)/(?=\s)|(?<=\d\s)x(?=\s)"
    r"|[=+×*÷^<>≤≥±√∑]",
    "plain": _WORD,
    "other": r"\w+",
    "stop": r"[.!?;:](?=[\s\"”)]|$)|\n\s*\n",
    "join": r"[&,(]",
}
_ALTERNATIVES = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items())
_TOKEN = re.compile(f"(?:{_ALTERNATIVES}) *")
_TOKEN_OR_SIGN = re.compile(f"(?:(?P<signed>{_SIGNED})|{_ALTERNATIVES}) *")
_AMOUNTS = frozenset(["money", "percent", "number", "time"])
_NUMBER_KINDS = _AMOUNTS | {"ratio", "operator"}
_ARITHMETIC = re.compile(
    r"\b(?:multipl\w+|divid(?:ed|ing)\s+by|minus|(?:product|quotient|square|ratio)\s+of|numerator"
    r"|denominator|exponent|coefficient|formula|exchange\s+rate|rate\s+of\s+exchange"
    r"|conversion\s+(?:rate|ratio|price)|ratio\b)",
    re.IGNORECASE,
)
_KINDS: dict[str, str] = {
    kind: "word" if kind in {"quick", "plain", "named", "signed"} else kind
    for kind in [*_PATTERNS, "signed"]
} | {"joined": "join"}
_OPERATORS = frozenset("=+×÷^<>≤≥±√∑")
_SYMBOLS = frozenset(["word", "other"])
_REACH = 2  # tokens between a number and an operator of its formula


class Token(NamedTuple):
    """A token of a clause.

    `kind` as the patterns have it, or `formula`; `opens`: the first of a sentence.
    """

    kind: str
    text: str
    opens: bool = False


class _Match(NamedTuple):
    """A token as the patterns find it, and its offset in the text."""

    kind: str
    text: str
    start: int


def clause_tokens(text: str) -> list[Token]:
    """Return the tokens in order, without stops; white space and other signs are in none."""
    text = recased(nfkc(text))
    matches = list(_scan(text))
    has_numbers = any(match.kind in _NUMBER_KINDS for match in matches) or "ratio" in text.lower()
    formulas = _formulas(text, matches) if has_numbers else set()
    tokens: list[Token] = []
    opens = True
    for index, match in enumerate(matches):
        if match.kind == "stop":
            opens = opens or not _is_inside_name(matches, index)
            continue
        kind = "formula" if index in formulas else match.kind
        tokens.append(Token(kind, match.text, opens))
        opens = opens and match.kind == "join"
    return tokens


def _is_inside_name(matches: list[_Match], position: int) -> bool:
    """Return whether a stop is part of a name: "J.P. Morgan", "St. Mary", "Yahoo! Inc."

    After the form of a company a full stop may end the sentence, and does before a capital.
    """
    before = matches[position - 1] if position else None
    after = matches[position + 1] if position + 1 < len(matches) else None
    if before is None or after is None or after.kind != "word":
        return False
    if matches[position].text == "!":
        return after.text.lower() in COMPANY_FORMS
    word = before.text.lower()
    is_close = before.start + len(before.text) == matches[position].start
    name = matches[position - 2] if position > 1 else None
    is_form = word in COMPANY_FORMS and name is not None and not name.text[0].islower()
    return (
        matches[position].text == "."
        and is_close
        and before.kind == "word"
        and is_abbreviation(word)
        and not is_form
    )


def _scan(text: str) -> Iterator[_Match]:
    token = _TOKEN_OR_SIGN if _SIGN.search(text) else _TOKEN
    for match in token.finditer(text):
        kind = match.lastgroup or ""
        if kind != "gap":
            yield _Match(_KINDS[kind], match[kind], match.start())


def _formulas(text: str, matches: list[_Match]) -> set[int]:
    """Return the positions of numbers and operators that make up formulas, ratios and tables."""
    positions = {index for index, match in enumerate(matches) if match.kind == "ratio"}
    for index, match in enumerate(matches):
        if match.kind == "operator":
            positions.update(
                _next_to_operator(text, matches, index, follows=index - 1 in positions)
            )
    sentences = _stretches(text, r"[.!?;](?=\s|$)") if _ARITHMETIC.search(text) else []
    for start, end in sentences:
        if _ARITHMETIC.search(text, start, end):
            positions.update(_amounts_between(matches, start, end))
            positions.update(_numerals_between(matches, start, end))
    for start, end in _stretches(text, r"\n") if "\n" in text else []:
        amounts = _amounts_between(matches, start, end)
        if len(amounts) > 1 and 5 * len(amounts) >= 2 * _content(matches, start, end):
            positions.update(amounts)
    return positions


def _next_to_operator(
    text: str, matches: list[_Match], position: int, *, follows: bool
) -> Iterator[int]:
    """Yield the positions of an operator and of what it joins, where that is a formula.

    `follows`: the token before it is part of a formula.
    """
    if _is_part_of_address(text, matches, position) or (
        not follows and _is_dash(matches, position)
    ):
        return
    if _is_margin(matches, position):
        yield position
        return
    is_operator = matches[position].text in _OPERATORS
    if follows or (is_operator and not _is_bracket(text, matches[position].start)):
        for neighbour in (position - 1, position + 1):
            if 0 <= neighbour < len(matches) and matches[neighbour].kind in _SYMBOLS:
                yield neighbour
    reach = range(max(0, position - _REACH), min(len(matches), position + _REACH + 1))
    amounts = [neighbour for neighbour in reach if matches[neighbour].kind in _AMOUNTS]
    yield from amounts
    if amounts or is_operator or follows:
        yield position


def _is_part_of_address(text: str, matches: list[_Match], position: int) -> bool:
    """Return whether a stroke joins two whole numbers next to a name: "Flat 2/1", "9/11 Trust"."""
    around = matches[max(0, position - 2) : position + 3]
    if matches[position].text != "/" or len(around) < 4 or position < 1 or _ARITHMETIC.search(text):
        return False
    before, after = matches[position - 1], matches[position + 1 :]
    start, end = before.start, after[0].start + len(after[0].text) if after else 0
    if not after or not re.fullmatch(r"\d{1,4}/\d{1,4}", text[start:end]):
        return False
    names = (*matches[max(0, position - 2) : position - 1], *after[1:2])
    return any(match.kind == "word" and match.text[0].isupper() for match in names)


def _is_dash(matches: list[_Match], position: int) -> bool:
    """Return whether a minus stands before a word, as a dash does: "Part 1 - General"."""
    after = matches[position + 1] if position + 1 < len(matches) else matches[position]
    return matches[position].text in "-−" and after.kind == "word" and len(after.text) > 1


def _is_margin(matches: list[_Match], position: int) -> bool:
    """Return whether a sign adds a rate to a named one: "LIBOR + 2.5%". The sign alone is fixed."""
    if position < 1 or position + 1 >= len(matches) or matches[position].text not in "+-−":
        return False
    name, rate = matches[position - 1], matches[position + 1]
    neighbours = [
        *matches[max(0, position - 2) : position - 1],
        *matches[position + 2 : position + 3],
    ]
    is_alone = all(match.kind != "operator" for match in neighbours)
    return is_alone and name.kind == "word" and name.text[0].isupper() and rate.kind == "percent"


def _is_bracket(text: str, at: int) -> bool:
    """Return whether a sign is one of a pair of brackets, as those around an address.

    Such a sign compares nothing.
    """
    is_apart = text[at - 1 : at].isspace() and text[at + 1 : at + 2].isspace()
    return text[at] in "<>" and not is_apart


def _stretches(text: str, separator: str) -> list[tuple[int, int]]:
    """Return [start, end) of the stretches between separators."""
    cuts = [0, *(match.end() for match in re.finditer(separator, text)), len(text)]
    return list(pairwise(cuts))


def _amounts_between(matches: list[_Match], start: int, end: int) -> list[int]:
    return [
        index
        for index, match in enumerate(matches)
        if start <= match.start < end and match.kind in _AMOUNTS
    ]


def _numerals_between(matches: list[_Match], start: int, end: int) -> Iterator[int]:
    return (
        index
        for index, match in enumerate(matches)
        if start <= match.start < end and is_numeral(match.text)
    )


def _content(matches: list[_Match], start: int, end: int) -> int:
    """Count the tokens between two offsets, without stops and joining signs."""
    between = [match for match in matches if start <= match.start < end]
    return sum(match.kind not in {"stop", "join"} for match in between)
