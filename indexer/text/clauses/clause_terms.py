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
    NAME_TAILS,
    NEGATIONS,
    PARTICLES,
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
_JOINS = frozenset("&/")
_WORDS = frozenset(["word", "other"])
_SMALL_FORMS = frozenset(["inc", "llc", "ltd", "plc"])
_KERNEL, _REACH = 3, 12  # terms of an obligation, and the units in which they are looked for


def read_clause(text: str, lexicon: Lexicon, heading: str = "") -> Reading:
    """Read a clause without the number and heading at its beginning.

    A text without words gives an empty reading.
    """
    body_text = body(text, heading, lexicon.party_words)
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
    if kind == "number" and place + 1 < len(tokens) and proper[place + 1]:
        end = _name_end(place + 1, tokens, spoken, proper)
        if spoken[end - 1] in COMPANY_FORMS and not tokens[place + 1].opens:
            return end, _name(tokens[place:end], spoken[place:end], lexicon)
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

    It goes on over capitalised words, over a particle, `&` or `/` between two of them, over the
    form of a company after a comma, and over one after a bracket: "Acme (UK) Limited".
    """
    end = place + 1
    while end < len(tokens):
        if proper[end] and not tokens[end].opens:
            end += 1
            continue
        after = _joined(end, tokens, spoken, proper)
        if after == end:
            break
        end = after
    return end


def _joined(end: int, tokens: Sequence[Token], spoken: list[str], proper: list[bool]) -> int:
    """Return the place after what joins the words before to a name that goes on; `end` if none."""

    def goes_on(place: int) -> bool:
        return place < len(tokens) and proper[place] and not tokens[place].opens

    last = end
    while last < len(tokens) and spoken[last] in PARTICLES:
        last += 1
    if last > end or spoken[end] in _JOINS:
        last = max(last, end + 1)
        return last + 1 if goes_on(last) else end
    is_tail = end + 1 < len(tokens) and spoken[end + 1] in NAME_TAILS
    if spoken[end] == "," and is_tail and goes_on(end + 1):
        return end + 2
    is_form = end + 2 < len(tokens) and spoken[end + 2] in COMPANY_FORMS
    if spoken[end] == "(" and is_form and goes_on(end + 1) and goes_on(end + 2):
        return end + 3
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

    The first word of a sentence is one when it is capitalised elsewhere too, when a name goes on
    after it, or when no other word is written like it: eBay, 3M, J.P. In a text in capitals only
    words before the form of a company are.
    """
    words = [token for token in tokens if token.kind == "word"]
    shouting = 2 * sum(token.text.isupper() and len(token.text) > 1 for token in words) > len(words)
    if shouting:
        return [False] * len(tokens)
    is_cased = 2 * sum(token.text != token.text.swapcase() for token in words) > len(words)
    capital = [
        token.kind in _WORDS and _is_capital(place, tokens, spoken, is_cased)
        for place, token in enumerate(tokens)
    ]
    known = {spoken[i] for i, token in enumerate(tokens) if capital[i] and not token.opens}

    def is_followed(i: int) -> bool:
        """Return whether a name goes on after the first word of a sentence."""
        if i + 1 == len(tokens) or tokens[i + 1].opens:
            return False
        is_list = spoken[i + 1] == "," and spoken[i + 3 : i + 4] == ["&"] and capital[i + 2]
        return capital[i + 1] or is_list or _joined(i + 1, tokens, spoken, capital) > i + 1

    return [
        capital[i]
        and (
            not token.opens
            or spoken[i] in known
            or _is_unusual(token.text, is_cased)
            or is_followed(i)
        )
        for i, token in enumerate(tokens)
    ]


def _is_capital(place: int, tokens: Sequence[Token], spoken: list[str], is_cased: bool) -> bool:
    """Return whether a word is written as in a name: a capital in it, or another script.

    "A" and short words in capitals are names beside one, as in "Class A" and "AT&T".
    """
    text, word = tokens[place].text, spoken[place]
    beside = tokens[place - 1] if place else None
    after_name = beside is not None and beside.kind == "word" and beside.text != beside.text.lower()
    if tokens[place].kind == "other":
        follows = spoken[place + 1 : place + 3]
        return bool(COMPANY_FORMS.intersection(follows)) and follows[0] in {",", *COMPANY_FORMS}
    if text in _SMALL_FORMS:
        return after_name
    if word in FUNCTION:
        around = [*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2]]
        is_letter = text == "A" and after_name and not tokens[place].opens
        in_sign = text.isupper() and any(token.text in {"&", "("} for token in around)
        return is_letter or in_sign
    return text != text.lower() or (is_cased and _has_no_case(text))


def _is_unusual(text: str, is_cased: bool) -> bool:
    """Return whether a word is a name by its spelling.

    It has a capital inside, a figure first, initials, or letters of another script.
    """
    is_mixed = text[1:] != text[1:].lower() and text != text.upper()
    return text[0].isdigit() or "." in text or is_mixed or (is_cased and _has_no_case(text))


def _has_no_case(text: str) -> bool:
    return text[0].isalpha() and text == text.swapcase()


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
