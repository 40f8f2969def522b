"""Reading a clause: its substantive words, slots, terminology and obligations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Literal

from indexer.text.clauses.body import body
from indexer.text.clauses.clause_tokens import Token, clause_tokens
from indexer.text.clauses.function_words import (
    ARTICLES,
    DUTY,
    FUNCTION,
    NEGATIONS,
    RIGHT,
    SEMI_NEGATIVES,
    SILENT,
    is_numeral,
)
from indexer.text.clauses.heading_words import doubtful_words, is_counted_in_doubt
from indexer.text.clauses.in_capitals import is_shouted
from indexer.text.clauses.labels import counted_part
from indexer.text.clauses.layout import emphasised_firms, without_layout
from indexer.text.clauses.lexicon import Lexicon
from indexer.text.clauses.names import Names
from indexer.text.clauses.reading import NAME, Duty, Reading, Unit
from indexer.text.clauses.signs import telling_signs

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
_NUMBERS = frozenset(["number", "reference"])
_CAPITAL: tuple[Literal["inside"], Literal["opening"]] = ("inside", "opening")
_KERNEL, _REACH = 3, 12  # terms of an obligation, and the units in which they are looked for


def read_clause(text: str, lexicon: Lexicon, heading: str = "") -> Reading:
    """Read a clause without its layout, and without the number and heading at its beginning.

    A text without words gives an empty reading.
    """
    marks = emphasised_firms(text)
    text = without_layout(text)
    body_text = body(text, heading, lexicon.party_words)
    before = text.removesuffix(body_text) if text.endswith(body_text) else ""
    counted = counted_part(f"{heading} {text}".lstrip()) if before or heading else ""
    in_doubt = (counted,) if is_counted_in_doubt(counted) else ()
    tokens = clause_tokens(body_text)
    units = list(_units(tokens, lexicon))
    signs = telling_signs(body_text)
    substantive = tuple([unit for unit in units if unit.kind == NAME or unit.form not in ARTICLES])
    return Reading(
        exact=tuple(_exact(substantive)),
        units=substantive,
        length=len(units),
        words=frozenset(_terms(units, lexicon)),
        names=_names(units, lexicon),
        figures=_formulas(units, signs),
        negations=_negations(units, body_text),
        duties=tuple(_duties(units, lexicon)),
        doubtful=(*doubtful_words(f"{heading}\n{before}", body_text, lexicon), *in_doubt),
        counted=counted,
        signs=(*signs, *marks),
        is_shouted=is_shouted(tokens),
    )


def _exact(units: Iterable[Unit]) -> Iterator[str]:
    """Yield the words by which clauses are identical: all those of a name, of others no article."""
    for unit in units:
        yield from unit.spelling or (word for word in unit.words if word not in ARTICLES)


def _names(units: Sequence[Unit], lexicon: Lexicon) -> frozenset[str]:
    """Return the canonical forms of names and the stems of their words, but function words."""
    names = [unit for unit in units if unit.kind == NAME]
    words = [word for unit in names for word in unit.words if word not in FUNCTION]
    return frozenset([*map(lexicon.stem, words), *(unit.form for unit in names)])


def _formulas(units: Sequence[Unit], signs: Sequence[str]) -> tuple[str, ...]:
    """Return the stretches of formulas, sorted, and the raised figures of a clause with formulas.

    Sentences may stand in another order, but a / b is not b / a.
    """
    formulas = []
    for is_formula, run in groupby(units, key=lambda unit: unit.kind == "formula"):
        if is_formula:
            formulas.append(" ".join(unit.form for unit in run))
    raised = [sign for sign in signs if sign.isdigit()] if formulas else []
    return (*sorted(formulas), *raised)


def _negations(units: Sequence[Unit], body_text: str) -> int:
    count = len([unit for unit in units if unit.form in NEGATIONS or _is_semi_negative(unit)])
    return count - len(_IDIOMS.findall(body_text)) if count else 0


def _is_semi_negative(unit: Unit) -> bool:
    return not unit.kind and not SEMI_NEGATIVES.isdisjoint(unit.words)


def _terms(units: Sequence[Unit], lexicon: Lexicon) -> Iterator[str]:
    for unit in units:
        if unit.form not in FUNCTION and unit.form not in lexicon.functional and unit.kind in _SAID:
            yield unit.form


def _units(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[Unit]:
    """Yield tokens as units, joining phrases of the lexicon, names and written-out amounts."""
    spoken = [_fold(token.text) for token in tokens]
    stems = [lexicon.stem(word) for word in spoken]
    names = Names(tokens, spoken, stems, lexicon)
    end = 0
    for place, token in enumerate(tokens):
        if place < end:
            continue
        is_name = names.proper[place]
        unit = None if is_name or token.kind != "word" else _word(token.text, lexicon)
        if unit is None:
            end, unit = _unit_at(place, names)
        if unit is not None:
            is_capital = not unit.kind and token.text[0].isupper()
            yield unit._replace(capital=_CAPITAL[token.opens]) if is_capital else unit


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


def _unit_at(place: int, names: Names) -> tuple[int, Unit | None]:
    """Return the place after the unit that begins here, and the unit.

    None for a sign that joins.
    """
    tokens, spoken, stems, lexicon = names.tokens, names.spoken, names.stems, names.lexicon
    kind = tokens[place].kind
    if tokens[place].text == "&":
        return place + 1, Unit("", "and", ("and",))
    if kind in {"join", "operator"}:
        return place + 1, None
    name_end = place
    if kind in _NUMBERS:
        name_end = names.labelled_end(place)
    elif names.proper[place]:
        name_end = names.end(place)
    if kind not in {"word", "other"} and name_end == place:
        return place + 1, _slot(kind, tokens[place].text)
    end = _numeral_end(place, tokens, spoken)
    if end > place:
        return end, _amount(tokens[place:end], spoken[place:end])
    if name_end > place:
        return name_end, _name(place, name_end, names)
    for phrase in lexicon.starts.get(stems[place], ()):
        end = place + len(phrase)
        if tuple(stems[place:end]) == phrase:
            form = lexicon.canonical[phrase]
            phrase_kind = NAME if form in lexicon.parties else ""
            return end, Unit(phrase_kind, form, tuple(spoken[place:end]))
    word = spoken[place]
    return place + 1, Unit("", word if word in FUNCTION else stems[place], (word,))


def _slot(kind: str, text: str) -> Unit:
    """Return the unit of an amount, a date or an address; of an address the words count alone."""
    form = _figure(text)
    if kind != "address":
        return Unit(kind, form, (form,))
    words = (_fold(word).strip(".,") for word in text.replace(",", " ").split())
    return Unit(kind, form, tuple(words))


def _amount(tokens: Sequence[Token], spoken: Sequence[str]) -> Unit:
    """Return the unit of a written-out amount: its figures where it has any, else its words."""
    amount_words = tuple(word for word in spoken if word)
    for token in tokens:
        if token.kind not in {"word", "join"}:
            return Unit(token.kind, _figure(token.text), amount_words)
    return Unit("number", "_".join(amount_words), amount_words)


def _name(place: int, end: int, names: Names) -> Unit:
    words = zip(names.spoken[place:end], names.tokens[place:end], strict=True)
    name_words = tuple(word for word, token in words if token.kind != "join")
    form = names.lexicon.form(tuple(map(names.lexicon.stem, name_words)))
    return Unit(NAME, form, name_words, names.spelling(place, end))


def _numeral_end(place: int, tokens: Sequence[Token], spoken: Sequence[str]) -> int:
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
