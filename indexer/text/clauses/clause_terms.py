"""Reading a clause: its substantive words, slots, terminology and obligations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, islice

from indexer.text.clauses.body import body
from indexer.text.clauses.clause_tokens import Token, clause_tokens
from indexer.text.clauses.function_words import (
    ARTICLES,
    COMPANY_FORMS,
    DUTY,
    FUNCTION,
    NEGATIONS,
    RIGHT,
    SILENT,
    is_numeral,
)
from indexer.text.clauses.lexicon import Lexicon
from indexer.text.clauses.reading import NAME, Duty, Reading, Unit

_CURRENCIES = frozenset(["dollars", "euros", "pounds", "percent"])
_IDIOMS = re.compile(
    r"\b(?:whether\s+or\s+not|not\s+limited\s+to|without\s+limit(?:ation|ing)"
    r"|if\s+not|not\s+only)\b",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s?$")
_HYPHENS = dict.fromkeys(map(ord, "-\u2010\u2011"))
_SAID = frozenset(["", "formula"])
_MODAL = DUTY | RIGHT
_KERNEL, _REACH = 3, 12  # terms of an obligation, and the units in which they are looked for


def read_clause(text: str, lexicon: Lexicon, heading: str = "") -> Reading:
    """Read a clause without the number and heading at its beginning.

    A text without words gives an empty reading.
    """
    body_text = body(text, heading)
    units = list(_units(clause_tokens(body_text), lexicon))
    substantive = tuple([unit for unit in units if unit.form not in ARTICLES])
    exact = tuple([word for unit in substantive for word in unit.words if word not in ARTICLES])
    return Reading(
        exact=exact,
        units=substantive,
        length=len(units),
        words=frozenset(_terms(units, lexicon)),
        names=_names(units, lexicon),
        figures=_formulas(units),
        negations=_negations(units, body_text),
        duties=tuple(_duties(units, lexicon)),
    )


def _names(units: Sequence[Unit], lexicon: Lexicon) -> frozenset[str]:
    """Return the canonical forms of names and the stems of their words, but function words."""
    names = [unit for unit in units if unit.kind == NAME]
    words = [word for unit in names for word in unit.words if word not in FUNCTION]
    return frozenset([*map(lexicon.stem, words), *(unit.form for unit in names)])


def _formulas(units: Sequence[Unit]) -> tuple[str, ...]:
    """Return the stretches of formulas, sorted.

    Sentences may stand in another order, but a / b is not b / a.
    """
    formulas = []
    for is_formula, run in groupby(units, key=lambda unit: unit.kind == "formula"):
        if is_formula:
            formulas.append(" ".join(unit.form for unit in run))
    return tuple(sorted(formulas))


def _negations(units: Sequence[Unit], body_text: str) -> int:
    count = len([unit for unit in units if unit.form in NEGATIONS])
    return count - len(_IDIOMS.findall(body_text)) if count else 0


def _terms(units: Sequence[Unit], lexicon: Lexicon) -> Iterator[str]:
    for unit in units:
        if unit.form not in FUNCTION and unit.form not in lexicon.functional and unit.kind in _SAID:
            yield unit.form


def _units(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[Unit]:
    """Yield tokens as units, joining phrases of the lexicon, names and written-out amounts."""
    spoken = [_fold(token.text) for token in tokens]
    stems = [lexicon.stem(word) for word in spoken]
    proper = _proper(tokens, spoken)
    end = 0
    for place, token in enumerate(tokens):
        if place < end:
            continue
        unit = None if proper[place] or token.kind != "word" else _word(token.text, lexicon)
        if unit is None:
            end, unit = _unit_at(place, tokens, spoken, stems, proper, lexicon)
        if unit is not None:
            yield unit


@lru_cache(maxsize=1 << 16)
def _word(text: str, lexicon: Lexicon) -> Unit | None:
    """Return the unit of a word that stands alone.

    None for a numeral, and where a phrase of the lexicon may begin.
    """
    word = _fold(text)
    stem = lexicon.stem(word)
    if stem in lexicon.starts or is_numeral(text):
        return None
    return Unit("", word if word in FUNCTION else stem, (word,))


def _unit_at(
    place: int,
    tokens: Sequence[Token],
    spoken: list[str],
    stems: list[str],
    proper: list[bool],
    lexicon: Lexicon,
) -> tuple[int, Unit | None]:
    """Return the place after the unit that begins here, and the unit.

    None for a sign that joins.
    """
    kind = tokens[place].kind
    if kind in {"join", "operator"}:
        return place + 1, None
    if kind not in {"word", "other"}:
        form = _figure(tokens[place].text)
        return place + 1, Unit(kind, form, (form,))
    end = _numeral_end(place, tokens, spoken)
    if end > place:
        return end, _amount(tokens[place:end], spoken[place:end])
    if proper[place]:
        end = _name_end(place, tokens, spoken, proper)
        return end, _name(tokens[place:end], spoken[place:end], lexicon)
    for phrase in lexicon.starts.get(stems[place], ()):
        end = place + len(phrase)
        if tuple(stems[place:end]) == phrase:
            form = lexicon.canonical[phrase]
            phrase_kind = NAME if form in lexicon.parties else ""
            return end, Unit(phrase_kind, form, tuple(spoken[place:end]))
    word = spoken[place]
    return place + 1, Unit("", word if word in FUNCTION else stems[place], (word,))


def _amount(tokens: Sequence[Token], spoken: Sequence[str]) -> Unit:
    """Return the unit of a written-out amount: its figures where it has any, else its words."""
    amount_words = tuple(word for word in spoken if word)
    for token in tokens:
        if token.kind not in {"word", "join"}:
            return Unit(token.kind, _figure(token.text), amount_words)
    return Unit("number", "_".join(amount_words), amount_words)


def _name(tokens: Sequence[Token], spoken: Sequence[str], lexicon: Lexicon) -> Unit:
    words = zip(spoken, tokens, strict=True)
    name_words = tuple(word for word, token in words if token.kind != "join")
    return Unit(NAME, lexicon.form(tuple(map(lexicon.stem, name_words))), name_words)


def _name_end(place: int, tokens: Sequence[Token], spoken: list[str], proper: list[bool]) -> int:
    """Return the place after the name that begins here.

    It goes on over capitalised words, `of` and `&` between two of them, and the form of a company
    after a comma.
    """
    end = place + 1
    while end < len(tokens):
        if proper[end] and not tokens[end].opens:
            end += 1
            continue
        follows = end + 1 < len(tokens) and proper[end + 1] and not tokens[end + 1].opens
        if not follows:
            break
        is_company = spoken[end] == "," and spoken[end + 1] in COMPANY_FORMS
        if spoken[end] not in {"of", "&"} and not is_company:
            break
        end += 2
    return end


def _numeral_end(place: int, tokens: Sequence[Token], spoken: list[str]) -> int:
    """Return the place after a written-out amount; `place` when none begins here.

    The currency and the figures in brackets after it belong to it.
    """
    end = place
    while end < len(tokens) and is_numeral(tokens[end].text):
        end += 1
    if end == place:
        return place
    if end < len(tokens) and spoken[end] in _CURRENCIES:
        end += 1
    is_bracket = end + 1 < len(tokens) and tokens[end].text == "("
    if is_bracket and tokens[end + 1].kind in {"number", "money", "percent"}:
        end += 2
    return end


def _proper(tokens: Sequence[Token], spoken: list[str]) -> list[bool]:
    """Flag the words that are capitalised as names are.

    The first word of a sentence is one when it is capitalised elsewhere too, or when a name goes on
    after it. In a text in capitals no word is one.
    """
    words = [token for token in tokens if token.kind == "word"]
    shouting = 2 * sum(token.text.isupper() and len(token.text) > 1 for token in words) > len(words)
    if shouting:
        return [False] * len(tokens)
    capital = [
        token.kind == "word" and token.text[0].isupper() and word not in FUNCTION
        for token, word in zip(tokens, spoken, strict=True)
    ]
    known = {spoken[i] for i, token in enumerate(tokens) if capital[i] and not token.opens}

    def is_followed(i: int) -> bool:
        """Return whether a name goes on after the first word of a sentence."""
        if i + 1 == len(tokens) or tokens[i + 1].opens:
            return False
        joins = tokens[i + 1].text == "&" and i + 2 < len(tokens) and capital[i + 2]
        return capital[i + 1] or joins

    return [
        capital[i] and (not token.opens or spoken[i] in known or is_followed(i))
        for i, token in enumerate(tokens)
    ]


def _duties(units: Sequence[Unit], lexicon: Lexicon) -> Iterator[Duty]:
    """Yield each modal verb with its verb, the act and the party."""
    subject, barred = "", False
    for place, unit in enumerate(units):
        if unit.kind == NAME:
            subject = unit.form
        barred = unit.form in {"no", "neither", "none"} or (barred and unit.form not in _MODAL)
        if unit.kind == "" and unit.form in _MODAL:
            after = units[place + 1 : place + _REACH]
            force = "must" if unit.form in DUTY else "may"
            if barred or any(next_unit.form in NEGATIONS for next_unit in after[:2]):
                force = "not"
            terms = (term for term in _terms(after, lexicon) if term not in SILENT)
            yield Duty(force, subject, tuple(islice(terms, _KERNEL)))


@lru_cache(maxsize=1 << 16)
def _fold(text: str) -> str:
    """Return a word in lower case without possessive and hyphens."""
    return _POSSESSIVE.sub("", text.lower()).translate(_HYPHENS)


def _figure(text: str) -> str:
    return re.sub(r"[\s,]+", "", text.lower())
