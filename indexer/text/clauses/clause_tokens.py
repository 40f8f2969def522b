"""The tokens of a clause with what they are: words, amounts, dates, addresses, references,
operators.

A number in prose is an amount, one that may differ from clause to clause. A number in a formula is
what the clause says: one beside an operator, a ratio, one in a sentence that multiplies or divides,
in figures or written out, one in a row of a table. So is a symbol beside an operator, whatever it
is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from indexer.text.clauses.function_words import is_numeral
from indexer.text.codepoints import nfkc

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_CURRENCY = r"(?:US|A|C|HK|NZ)?[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)\b"
_COINS = r"(?:(?:U\.?S\.?\s+)?[Dd]ollars|DOLLARS|[Ee]uros?|[Pp]ounds(?:\s+sterling)?|USD|EUR|GBP|CHF|JPY|CAD|AUD)\b"
_STREET = r"(?:Street|St\.|Avenue|Ave\.|Road|Rd\.|Drive|Lane|Boulevard|Blvd\.|Way|Plaza|Square|Court|Parkway|Highway|Terrace)"
_PLACE_PART = r"(?:[A-Z][\w.]*|\d[\w-]*)"
_YEAR = r"(?:,?\s+\d{4})?\b"
_DAY = r"\b\d{1,2}(?:st|nd|rd|th)?"
_DIVISIONS = "[Ss]ections?|[Aa]rticles?|[Cc]lauses?|[Pp]aragraphs?|Exhibit|Schedule|Annex|Appendix"
_SPECIAL = (
    rf"{_MONTH}\b|(?:{_DIVISIONS})\s|(?:US|A|C|HK|NZ)\$|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)\b|x\s"
)
_WORD = r"[^\W\d_](?:[.](?=[^\W\d_][.]))?[^\W_]*(?:['’\-‐‑][^\W_]+)*"
_PATTERNS = {
    # most words, told at once
    "quick": r"(?![sacp](?:ection|rticle|lause|aragraph)s?\s)[a-z]{2,}(?![^\W_]|[.'’\-‐‑][^\W_])",
    "gap": r"[ \t]+|\n(?!\s*\n)",
    "word": rf"(?!{_SPECIAL}){_WORD}",
    "date": rf"\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?{_YEAR}|{_DAY}(?:\s+day\s+of)?\s+{_MONTH}{_YEAR}|\b{_MONTH}\s+\d{{4}}\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b",
    "address": rf"\b\d+[A-Z]?\s+(?:[A-Z][\w.]*\s+){{1,4}}?{_STREET}(?:,?\s+{_PLACE_PART})*",
    "ratio": rf"{_NUMBER}x?\s*(?::|\bto\b)\s*{_NUMBER}x?(?=[\s.,;)]|$)",
    "reference": rf"\b(?:{_DIVISIONS})\s+(?:\d+(?:\.\d+)*(?:\([a-z\d]+\))*|[IVXLC]+\b|[A-Z]\b|\([a-z\d]+\))",
    "money": rf"(?:{_CURRENCY})\s?{_NUMBER}(?:\s+(?:thousand|million|billion)\b)?"
    rf"|{_NUMBER}(?:\s+(?:thousand|million|billion))?\s+{_COINS}",
    "percent": rf"{_NUMBER}\s?(?:%|per\s?cent\b|percent\b)",
    "number": rf"{_NUMBER}(?:st|nd|rd|th)?(?!\w)",
    "operator": r"(?<=\s)[-−](?=[\s\d(])|(?<=[\w)])/(?=[\w(])|(?<=\s)/(?=\s)|(?<=\d\s)x(?=\s)|[=+×*÷^<>≤≥±√∑]",
    "plain": _WORD,
    "other": r"\w+",
    "stop": r"[.!?;:](?=[\s\"”)]|$)|\n\s*\n",
    "join": r"[&,(]",
}
_TOKEN = re.compile(
    f"(?:{'|'.join(f'(?P<{kind}>{pattern})' for kind, pattern in _PATTERNS.items())}) *"
)
_AMOUNTS = frozenset(["money", "percent", "number"])
_FIGURES = _AMOUNTS | {"ratio", "operator"}
_RECKONING = re.compile(
    r"\b(?:multipl\w+|divid(?:ed|ing)\s+by|minus|(?:product|quotient|square|ratio)\s+of|numerator|denominator|exponent|coefficient"
    r"|formula|exchange\s+rate|rate\s+of\s+exchange|conversion\s+(?:rate|ratio|price)|ratio\b)",
    re.IGNORECASE,
)
_KINDS: dict[str, str] = {
    kind: "word" if kind in {"quick", "plain"} else kind for kind in _PATTERNS
}
_RECKONED = frozenset("=+×÷^<>≤≥±√∑")
_SYMBOLS = frozenset(["word", "other"])
_REACH = 2  # tokens between a number and an operator of its formula


class Token(NamedTuple):
    """A token of a clause: `kind` as the patterns have it, or `formula`; `opens`: the first of a
    sentence.
    """

    kind: str
    text: str
    opens: bool = False


def clause_tokens(text: str) -> list[Token]:
    """The tokens in order, without stops; white space and other signs are in none."""
    text = nfkc(text)
    scanned = [
        (_KINDS[kind], match[kind], match.start())
        for match in _TOKEN.finditer(text)
        if (kind := match.lastgroup or "") != "gap"
    ]
    reckons = any(kind in _FIGURES for kind, _, _ in scanned) or "ratio" in text.lower()
    figures = _figures(text, scanned) if reckons else set()
    tokens: list[Token] = []
    opens = True
    for place, (kind, said, _) in enumerate(scanned):
        if kind == "stop":
            opens = True
            continue
        tokens.append(Token("formula" if place in figures else kind, said, opens))
        opens = opens and kind == "join"
    return tokens


def _figures(text: str, scanned: list[tuple[str, str, int]]) -> set[int]:
    """The places of numbers and operators that make up formulas, ratios and tables."""
    found = {place for place, (kind, _, _) in enumerate(scanned) if kind == "ratio"}
    operators = [place for place, (kind, _, _) in enumerate(scanned) if kind == "operator"]
    for place in operators:
        reckoned = scanned[place][1] in _RECKONED
        if place - 1 in found or (reckoned and not _bracket(text, scanned[place][2])):
            found.update(
                other
                for other in (place - 1, place + 1)
                if 0 <= other < len(scanned) and scanned[other][0] in _SYMBOLS
            )
        reach = range(max(0, place - _REACH), min(len(scanned), place + _REACH + 1))
        near = [other for other in reach if scanned[other][0] in _AMOUNTS]
        found.update([*near, place] if near or reckoned or place - 1 in found else [])
    sentences = _stretches(text, r"[.!?;](?=\s|$)") if _RECKONING.search(text) else []
    for start, end in sentences:
        if _RECKONING.search(text, start, end):
            found.update(_amounts_between(scanned, start, end))
            found.update(_numerals_between(scanned, start, end))
    for start, end in _stretches(text, r"\n") if "\n" in text else []:
        amounts = _amounts_between(scanned, start, end)
        if len(amounts) > 1 and 5 * len(amounts) >= 2 * _content(scanned, start, end):
            found.update(amounts)
    return found


def _bracket(text: str, at: int) -> bool:
    """Whether a sign is one of a pair of brackets, as those around an address, and compares
    nothing.
    """
    return text[at] in "<>" and not (
        text[at - 1 : at].isspace() and text[at + 1 : at + 2].isspace()
    )


def _stretches(text: str, separator: str) -> list[tuple[int, int]]:
    """[start, end) of what stands between separators."""
    cuts = [0, *(match.end() for match in re.finditer(separator, text)), len(text)]
    return list(pairwise(cuts))


def _amounts_between(scanned: list[tuple[str, str, int]], start: int, end: int) -> list[int]:
    return [
        place
        for place, (kind, _, at) in enumerate(scanned)
        if start <= at < end and kind in _AMOUNTS
    ]


def _numerals_between(scanned: list[tuple[str, str, int]], start: int, end: int) -> Iterator[int]:
    return (
        place
        for place, (_, said, at) in enumerate(scanned)
        if start <= at < end and is_numeral(said)
    )


def _content(scanned: list[tuple[str, str, int]], start: int, end: int) -> int:
    return sum(start <= at < end and kind not in {"stop", "join"} for kind, _, at in scanned)
