"""What a clause says, in the terms by which duplicate types are told: substantive words, slots,
terminology, obligations.

Units are words and slots in order. A slot is what may differ in a near-identical clause: a name (of
a party, a place or a defined term: a run of capitalised words, or a party of the lexicon), an
amount, a date, an address, the number of a section.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice, pairwise
from typing import NamedTuple

from indexer.text.clauses.body import body
from indexer.text.clauses.clause_tokens import Token, clause_tokens
from indexer.text.clauses.function_words import (
    ARTICLES,
    DUTY,
    FUNCTION,
    NEGATIONS,
    RIGHT,
    SILENT,
    is_numeral,
)
from indexer.text.clauses.lexicon import Lexicon

NAME = "name"
_CORPORATE = frozenset(
    [
        "inc",
        "corp",
        "corporation",
        "llc",
        "llp",
        "lp",
        "ltd",
        "limited",
        "co",
        "plc",
        "n.a",
        "na",
        "gmbh",
        "ag",
        "sa",
        "bv",
    ]
)
_IDIOMS = re.compile(
    r"\b(?:whether\s+or\s+not|not\s+limited\s+to|without\s+limit(?:ation|ing)|if\s+not|not\s+only)\b",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s?$")
_HYPHENS = dict.fromkeys(map(ord, "-\u2010\u2011"))
_SAID = frozenset(["", "formula"])
_MODAL = DUTY | RIGHT
_KERNEL = 3


class Unit(NamedTuple):
    """A word or a slot: `kind` is empty for a word; `form` is canonical; `said` are its folded
    words.
    """

    kind: str
    form: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Duty:
    """One obligation: `force` is must, may or not; `subject` the name before the modal verb, or
    empty.

    `kernel` are the terms after it, the verb first.
    """

    force: str
    subject: str
    kernel: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a clause says.

    `exact`: its substantive words, folded, in order. `units`: words and slots in order without
    articles and the like. `length` counts words with articles, each slot as one. `words` are the
    distinct terms outside slots, `names` those inside names, both without function words.
    `figures`: formulas, each with its tokens in order, sorted. `negations` are counted without
    idioms.
    """

    exact: tuple[str, ...]
    units: tuple[Unit, ...]
    length: int
    words: frozenset[str]
    names: frozenset[str]
    figures: tuple[str, ...]
    negations: int
    duties: tuple[Duty, ...]


def read_clause(text: str, lexicon: Lexicon, heading: str = "") -> Reading:
    """Read a clause; its number and heading, given or found at its beginning, are left out.

    A text without words gives an empty reading.
    """
    said = body(text, heading)
    units = list(_units(clause_tokens(said), lexicon))
    substantive = tuple([unit for unit in units if unit.form not in ARTICLES])
    exact = tuple([word for unit in substantive for word in unit.said if word not in ARTICLES])
    names = [unit for unit in units if unit.kind == NAME]
    return Reading(
        exact=exact,
        units=substantive,
        length=len(units),
        words=frozenset(_terms(units, lexicon)),
        names=frozenset(
            lexicon.stem(word) for unit in names for word in unit.said if word not in FUNCTION
        )
        | frozenset(unit.form for unit in names),
        figures=_formulas(units),
        negations=_negations(units, said),
        duties=tuple(_duties(units, lexicon)),
    )


def _formulas(units: Sequence[Unit]) -> tuple[str, ...]:
    """The stretches of formulas, sorted: sentences may stand in another order, but a / b is not b /
    a.
    """
    runs = groupby(units, key=lambda unit: unit.kind == "formula")
    return tuple(sorted(" ".join(unit.form for unit in run) for figures, run in runs if figures))


def _negations(units: Sequence[Unit], said: str) -> int:
    found = len([unit for unit in units if unit.form in NEGATIONS])
    return found - len(_IDIOMS.findall(said)) if found else 0


def _terms(units: Sequence[Unit], lexicon: Lexicon) -> Iterator[str]:
    for unit in units:
        if unit.form not in FUNCTION and unit.form not in lexicon.functional and unit.kind in _SAID:
            yield unit.form


def _units(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[Unit]:
    """Tokens as units: phrases of the lexicon, names and written-out amounts taken together."""
    spoken = [_folded(token.text) for token in tokens]
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
    """The unit of a word that stands for itself; None for a numeral, and where a phrase of the
    lexicon may begin.
    """
    word = _folded(text)
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
    """The unit that begins at a place, and where it ends; None for a sign that joins."""
    kind = tokens[place].kind
    if kind in {"join", "operator"}:
        return place + 1, None
    if kind not in {"word", "other"}:
        form = _figure(tokens[place].text)
        return place + 1, Unit(kind, form, (form,))
    if (end := _numeral_end(place, tokens, spoken)) > place:
        said = tuple(word for word in spoken[place:end] if word)
        amount = next(
            (token for token in tokens[place:end] if token.kind not in {"word", "join"}), None
        )
        return end, Unit(
            amount.kind if amount else "number",
            _figure(amount.text) if amount else "_".join(said),
            said,
        )
    if proper[place]:
        end = _name_end(place, tokens, spoken, proper)
        said = tuple(
            word
            for word, token in zip(spoken[place:end], tokens[place:end], strict=True)
            if token.kind != "join"
        )
        return end, Unit(NAME, lexicon.form(tuple(lexicon.stem(word) for word in said)), said)
    for phrase in lexicon.starts.get(stems[place], ()):
        end = place + len(phrase)
        if tuple(stems[place:end]) == phrase:
            form = lexicon.canonical[phrase]
            return end, Unit(
                NAME if form in lexicon.parties else "", form, tuple(spoken[place:end])
            )
    word = spoken[place]
    return place + 1, Unit("", word if word in FUNCTION else stems[place], (word,))


def _name_end(place: int, tokens: Sequence[Token], spoken: list[str], proper: list[bool]) -> int:
    """Names go on over capitalised words, `of` and `&` between two of them, and the form of a
    company after a comma.
    """
    end = place + 1
    while end < len(tokens):
        follows = end + 1 < len(tokens) and proper[end + 1] and not tokens[end + 1].opens
        if proper[end] and not tokens[end].opens:
            end += 1
        elif follows and (
            spoken[end] in {"of", "&"} or (spoken[end] == "," and spoken[end + 1] in _CORPORATE)
        ):
            end += 2
        else:
            break
    return end


def _numeral_end(place: int, tokens: Sequence[Token], spoken: list[str]) -> int:
    """Where a written-out amount ends, with the currency and the figures in brackets after it;
    `place` when none begins.
    """
    end = place
    while end < len(tokens) and is_numeral(tokens[end].text):
        end += 1
    if end == place:
        return place
    if end < len(tokens) and spoken[end] in {"dollars", "euros", "pounds", "percent"}:
        end += 1
    if (
        end + 1 < len(tokens)
        and tokens[end].text == "("
        and tokens[end + 1].kind in {"number", "money", "percent"}
    ):
        end += 2
    return end


def _proper(tokens: Sequence[Token], spoken: list[str]) -> list[bool]:
    """Which words are capitalised as names are.

    The first word of a sentence is one when it is capitalised elsewhere too, or when a name goes on
    after it. In a text in capitals nothing tells.
    """
    words = [token for token in tokens if token.kind == "word"]
    shouting = 2 * sum(token.text.isupper() and len(token.text) > 1 for token in words) > len(words)
    if shouting:
        return [False] * len(tokens)
    capital = [
        token.kind == "word" and token.text[0].isupper() and spoken[i] not in FUNCTION
        for i, token in enumerate(tokens)
    ]
    known = {spoken[i] for i, token in enumerate(tokens) if capital[i] and not token.opens}
    after = [
        one or (token.text == "&" and later)
        for one, token, later in zip(capital[1:], tokens[1:], [*capital[2:], False], strict=False)
    ]
    after.append(False)
    return [
        capital[i]
        and (not token.opens or spoken[i] in known or (after[i] and not tokens[i + 1].opens))
        for i, token in enumerate(tokens)
    ]


def _duties(units: Sequence[Unit], lexicon: Lexicon) -> Iterator[Duty]:
    """Each modal verb with its verb, what is to be done, and by whom."""
    subject, barred = "", False
    for place, unit in enumerate(units):
        if unit.kind == NAME:
            subject = unit.form
        barred = unit.form in {"no", "neither", "none"} or (barred and unit.form not in _MODAL)
        if unit.kind == "" and unit.form in _MODAL:
            after = units[place + 1 : place + 12]
            denied = barred or any(one.form in NEGATIONS for one in after[:2])
            kernel = islice(
                (term for term in _terms(after, lexicon) if term not in SILENT), _KERNEL
            )
            yield Duty(
                "not" if denied else "must" if unit.form in DUTY else "may", subject, tuple(kernel)
            )


def contexts(units: Sequence[Unit]) -> dict[tuple[str, str], set[str]]:
    """Which names stand after and before which words."""
    found: dict[tuple[str, str], set[str]] = {}
    for before, after in pairwise(units):
        if after.kind == NAME and not before.kind:
            found.setdefault(("after", before.form), set()).add(after.form)
        if before.kind == NAME and not after.kind:
            found.setdefault(("before", after.form), set()).add(before.form)
    return found


def said_names(units: Sequence[Unit]) -> Counter[str]:
    """How often each name stands."""
    return Counter(unit.form for unit in units if unit.kind == NAME)


@lru_cache(maxsize=1 << 16)
def _folded(text: str) -> str:
    """Lower case without possessive and hyphens."""
    return _POSSESSIVE.sub("", text.lower()).translate(_HYPHENS)


def _figure(text: str) -> str:
    return re.sub(r"[\s,]+", "", text.lower())
