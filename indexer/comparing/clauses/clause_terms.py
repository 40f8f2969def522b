"""Parse a clause into its substantive words, slots, terminology and obligations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice, pairwise
from typing import Literal, NamedTuple

from indexer.comparing.clauses.body import body, doubtful_words, is_counted_in_doubt
from indexer.comparing.clauses.headings import counted_part
from indexer.comparing.clauses.lexicon import (
    ARTICLES,
    COMPANY_FORMS,
    DUTY,
    FUNCTION,
    NEGATIONS,
    RIGHT,
    SEMI_NEGATIVES,
    SILENT,
    Lexicon,
    is_numeral,
)
from indexer.comparing.clauses.names import Names
from indexer.comparing.clauses.tokens import Token, clause_tokens, is_shouted
from indexer.fingerprinting.normalise import without_ignorables

# The values of a parsed clause: units, obligations, terms.

NAME = "name"


class Unit(NamedTuple):
    """A word or a slot.

    `kind` is empty for a word; `form` is canonical; `words` are its folded words. `spelling` holds
    the words of a name by which it is the same as another, empty for other units. `capital` says
    where a word that is no slot has one, "inside" or "opening" a sentence; empty in small letters.
    """

    kind: str
    form: str
    words: tuple[str, ...]
    spelling: tuple[str, ...] = ()
    capital: Literal["", "inside", "opening"] = ""


@dataclass(frozen=True, slots=True)
class Duty:
    """One obligation.

    `force` is must, may or not; `subject` the name before the modal verb, or empty; `kernel` the
    terms after it, the verb first.
    """

    force: str
    subject: str
    kernel: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedClause:
    """A clause in the terms by which duplicate types are decided.

    `exact`: its substantive words, folded, in order. `doubtful`: the words of its heading that may
    name a party, in lower case, in order. `units`: words and slots in order without
    articles and the like. `length` counts words with articles, each slot as one. `words` are the
    distinct terms outside slots, `names` those inside names, both without function words.
    `counted`: a word and a number before the clause that are of no division, "step 4".
    `symbols`: the symbols that no token has and that change the meaning, in order.
    `numbers`: formulas, each with its tokens in order, sorted. `negations` are counted without
    idioms. `is_shouted`: most words are in capitals. `text`: the clause as it was written.
    """

    exact: tuple[str, ...]
    units: tuple[Unit, ...]
    length: int
    words: frozenset[str]
    names: frozenset[str]
    numbers: tuple[str, ...]
    negations: int
    duties: tuple[Duty, ...]
    is_shouted: bool = False
    doubtful: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    counted: str = ""
    text: str = ""


def contexts(units: Sequence[Unit]) -> dict[tuple[str, str], set[str]]:
    """Return the names that stand after and before each word.

    Keys are ("after", word) and ("before", word).
    """
    names: dict[tuple[str, str], set[str]] = {}
    for before, after in pairwise(units):
        if after.kind == NAME and not before.kind:
            names.setdefault(("after", before.form), set()).add(after.form)
        if before.kind == NAME and not after.kind:
            names.setdefault(("before", after.form), set()).add(before.form)
    return names


def said_names(units: Sequence[Unit]) -> Counter[str]:
    """Count how often each name stands."""
    return Counter(unit.form for unit in units if unit.kind == NAME)


# Symbols that change what a clause states and are in no word: currencies, feet, a minus.

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_CURRENCY_SYMBOLS = (
    r"$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20c0\ufdfc\uff04"
    r"\uffe0\uffe1\uffe5\uffe6"
)
_RAISED = r"\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2460-\u24ff"
_UNITS = r"%\u2030\u2031\u00b0\u2032\u2033"
_SIGN = re.compile(
    rf"[{_CURRENCY_SYMBOLS}{_RAISED}{_UNITS}]"
    r"|(?<=\d)['\"](?!\w)"  # feet, inches
    r"|(?<=\d)/(?=\d)"
    r"|(?<=\d)\s?-\s?(?=\d)|(?<!\w)-(?=\s?[(\[]?\D?\d)"  # a range, a minus
    r"|(?<=[A-Z])[+\-](?=[\s,.;:)]|$)"  # a rating
    r"|[~+\u00b1=<>\u2248\u2264\u2265\u00d7\u00f7](?=\s?\d)"
    r"|\((?=\D?\d[\d.,]*\D?\))"  # a loss, in accounts
)


def distinctive_symbols(text: str) -> tuple[str, ...]:
    """Return these signs in order: every currency, percent, degree, prime, raised figure, and
    those of sums, ranges and negative amounts next to a figure. All dashes are the same.

    >>> distinctive_symbols("a rent of 10,000 \u20ac, of 5\u2013 to 6 per cent") == ("\u20ac",)
    True
    >>> distinctive_symbols("rated AA\u2212, or -5 to 10-20 m\u00b2")
    ('-', '-', '-', '\u00b2')
    """
    return tuple([symbol.strip() for symbol in _SIGN.findall(text.translate(_DASHES))])


# The text of a clause without the layout of a page or a mail: layout changes no clause.

_HYPHENATION = re.compile(
    r"(?<=[^\W\d_])[-\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])(?!(?:and|or|to|und|oder)\b)"
)
_SOFT_LINE_END = re.compile(r"\u00ad[ \t]*\r?\n[ \t]*")
_QUOTE = re.compile(r"[ \t]*>(?:[ \t]*>)*(?=[ \t]|$)[ \t]?")
_MARK = re.compile(r"^[ \t]*#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_EMPHASIS = re.compile(
    r"(?<![\w*])(?P<sign>\*{1,3}|_{1,3})(?=[^\s*_])(?P<words>[^*_\n]{1,200}?)(?<=\S)"
    r"(?P=sign)(?![\w*])"
)
_EMPHASISED_FIRM = re.compile(
    rf"(?<![\w*_])(?:\*[^\W_]{{1,40}}\*|_[^\W_]{{1,40}}_),?[ \t]+"
    rf"(?:{'|'.join(sorted(map(re.escape, COMPANY_FORMS), reverse=True))})(?![\w])",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?=[.()\[\]#*_\-])")
_TAG = re.compile(
    r"</?(?:a|b|big|blockquote|body|br|center|cite|dd|div|dl|dt|em|font|h[1-6]|html|i|label|li|mark"
    r"|ol|p|section|small|span|strong|td|th|tr|u|ul)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"</?(?:p|div|h\d|li|tr|br|blockquote)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"[ \t]*(?!\d{1,3}[.)]\s)[\d$€£¥]")


def without_layout(text: str) -> str:
    """Return the text without what a page, a mail or a markup language adds to its words.

    Soft hyphens, hyphenation at line ends, marks of a quotation, HTML tags, and the signs of
    Markdown for headings and emphasis. A word that a line's end divides is joined, but for "pre-"
    before "and". The marks ">" go where every line that is not blank has one; before an amount in
    a single line it compares.

    >>> without_layout("> The con\\u00adsent of the represen-\\n> tative is due.")
    'The consent of the representative is due.'
    """
    if ">" in text:
        text = _without_quotes(text)
    if "</" in text or "/>" in text:
        text = _TAG.sub(lambda tag: "\n" if _BLOCK.match(tag.group()) else "", text)
    if "#" in text:
        text = _MARK.sub("", text)
    if "\\" in text:
        text = _ESCAPE.sub("", text)
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(lambda run: run["words"], text)
    if "\u00ad" in text:
        text = _SOFT_LINE_END.sub("", text)
    if not text.isascii():
        text = without_ignorables(text)
    return _HYPHENATION.sub("", text) if "\n" in text else text


def emphasised_firms(text: str) -> tuple[str, ...]:
    """Return the marks of emphasis around the last word of a firm's name: "*Star* Inc.".

    They may be part of it, so a clause with them is not the same as one without.

    >>> emphasised_firms("*Star* Inc. shall *promptly* pay _Moon_, LLC")
    ('*', '_')
    """
    if "*" not in text and "_" not in text:
        return ()
    return tuple([match.group()[0] for match in _EMPHASISED_FIRM.finditer(text)])


def _without_quotes(text: str) -> str:
    lines = text.split("\n")
    marks = [_QUOTE.match(line) for line in lines if line.strip()]
    is_quoted = all(mark is not None for mark in marks)
    if not is_quoted or (len(marks) == 1 and _AMOUNT.match(_QUOTE.sub("", text.strip(), count=1))):
        return text
    return "\n".join(_QUOTE.sub("", line, count=1) for line in lines)


_CURRENCIES = frozenset(["dollars", "euros", "pounds", "percent"])
_IDIOMS = re.compile(
    r"\b(?:whether\s+or\s+not|not\s+limited\s+to|without\s+limit(?:ation|ing)"
    r"|if\s+not|not\s+only|no\s+obstante)\b",
    re.IGNORECASE,
)
_PROHIBITIONS = re.compile(  # deny or except as "not" does, in all languages with types
    r"\b(?:prohibit(?:ed|s)?|forb(?:id(?:s|den)?|ade)|untersagt?|verboten|verbietet|verboden"
    r"|interdit(?:e|s|es)?|prohibid[oa]s?|proh[ií]ben?|vietat[aeio]|proibid[ao]s?"
    r"|unless|except(?:ing)?|außer|ausgenommen|es sei denn|sauf|excepté|hormis|à moins que?"
    r"|à l['’]exception|tenzij|behalve|behoudens|uitgezonderd|salvo|excep?to|excepción|a menos que"
    r"|a meno che|tranne|eccetto|eccezione|fatt[aio] salv[aio]|exceção|a não ser)\b"
    r"|禁止|除外|除非|を除(?:き|く|いて)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s?$")
_CHARACTERS = (
    "\u3040-\u30ff\u3400-\u9fff"  # Chinese and Japanese ones, each of which is a word here
)
_BETWEEN_CHARACTERS = re.compile(rf"(?<=[{_CHARACTERS}])(?=\w)|(?<=\w)(?=[{_CHARACTERS}])")
_PLAIN = dict.fromkeys(map(ord, "-\u2010\u2011")) | {ord("\u2019"): "'", ord("œ"): "oe"}
_SAID = frozenset(["", "formula"])
_MODAL = DUTY | RIGHT
_NUMBERS = frozenset(["number", "reference"])
_CAPITAL: tuple[Literal["inside"], Literal["opening"]] = ("inside", "opening")
_KERNEL, _REACH = 3, 12  # terms of an obligation, and the units in which they are looked for


def read_clause(text: str, lexicon: Lexicon, heading: str = "") -> ParsedClause:
    """Read a clause without its layout, and without the number and heading at its beginning.

    A text without words gives an empty result.
    """
    marks = emphasised_firms(text)
    text = without_layout(text)
    body_text = body(text, heading, lexicon.party_words)
    before = text.removesuffix(body_text) if text.endswith(body_text) else ""
    counted = counted_part(f"{heading} {text}".lstrip()) if before or heading else ""
    in_doubt = (counted,) if is_counted_in_doubt(counted) else ()
    tokens = clause_tokens(_BETWEEN_CHARACTERS.sub(" ", body_text))
    units = list(_units(tokens, lexicon))
    symbols = distinctive_symbols(body_text)
    substantive = tuple([unit for unit in units if unit.kind == NAME or unit.form not in ARTICLES])
    return ParsedClause(
        exact=tuple(_exact(substantive)),
        units=substantive,
        length=len(units),
        words=frozenset(_terms(units, lexicon)),
        names=_names(units, lexicon),
        numbers=_formulas(units, symbols),
        negations=_negations(units, body_text),
        duties=tuple(_duties(units, lexicon)),
        doubtful=(*doubtful_words(f"{heading}\n{before}", body_text, lexicon), *in_doubt),
        counted=counted,
        symbols=(*symbols, *marks),
        is_shouted=is_shouted(tokens),
        text=body_text,
    )


def _exact(units: Iterable[Unit]) -> Iterator[str]:
    """Yield the words by which clauses are identical: of names all, of other units no article."""
    for unit in units:
        yield from unit.spelling or (word for word in unit.words if word not in ARTICLES)


def _names(units: Sequence[Unit], lexicon: Lexicon) -> frozenset[str]:
    """Return the canonical forms of names and the stems of their words, but function words."""
    names = [unit for unit in units if unit.kind == NAME]
    words = [word for unit in names for word in unit.words if word not in FUNCTION]
    return frozenset([*map(lexicon.stem, words), *(unit.form for unit in names)])


def _formulas(units: Sequence[Unit], symbols: Sequence[str]) -> tuple[str, ...]:
    """Return the stretches of formulas, sorted, and the raised figures of a clause with formulas.

    Sentences may stand in another order, but a / b is not b / a.
    """
    formulas = []
    for is_formula, run in groupby(units, key=lambda unit: unit.kind == "formula"):
        if is_formula:
            formulas.append(" ".join(unit.form for unit in run))
    raised = [symbol for symbol in symbols if symbol.isdigit()] if formulas else []
    return (*sorted(formulas), *raised)


def _negations(units: Sequence[Unit], body_text: str) -> int:
    count = len([unit for unit in units if unit.form in NEGATIONS or _is_semi_negative(unit)])
    prohibitions = len(_PROHIBITIONS.findall(body_text))
    return prohibitions + (count - len(_IDIOMS.findall(body_text)) if count else 0)


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
    for index, token in enumerate(tokens):
        if index < end:
            continue
        is_name = names.proper[index]
        unit = None if is_name or token.kind != "word" else _word(token.text, lexicon)
        if unit is None:
            end, unit = _unit_at(index, names)
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


def _unit_at(position: int, names: Names) -> tuple[int, Unit | None]:
    """Return the position after the unit that begins here, and the unit.

    None for a sign that joins.
    """
    tokens, spoken, stems, lexicon = names.tokens, names.spoken, names.stems, names.lexicon
    kind = tokens[position].kind
    if tokens[position].text == "&":
        return position + 1, Unit("", "and", ("and",))
    if kind in {"join", "operator"}:
        return position + 1, None
    name_end = position
    if kind in _NUMBERS:
        name_end = names.labelled_end(position)
    elif names.proper[position]:
        name_end = names.end(position)
    if kind not in {"word", "other"} and name_end == position:
        return position + 1, _slot(kind, tokens[position].text)
    end = _numeral_end(position, tokens, spoken)
    if end > position:
        return end, _amount(tokens[position:end], spoken[position:end])
    if name_end > position:
        return name_end, _name(position, name_end, names)
    for phrase in lexicon.starts.get(stems[position], ()):
        end = position + len(phrase)
        if tuple(stems[position:end]) == phrase:
            form = lexicon.canonical[phrase]
            phrase_kind = NAME if form in lexicon.parties else ""
            return end, Unit(phrase_kind, form, tuple(spoken[position:end]))
    word = spoken[position]
    return position + 1, Unit("", word if word in FUNCTION else stems[position], (word,))


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


def _name(position: int, end: int, names: Names) -> Unit:
    words = zip(names.spoken[position:end], names.tokens[position:end], strict=True)
    name_words = tuple(word for word, token in words if token.kind != "join")
    form = names.lexicon.form(tuple(map(names.lexicon.stem, name_words)))
    return Unit(NAME, form, name_words, names.spelling(position, end))


def _numeral_end(position: int, tokens: Sequence[Token], spoken: Sequence[str]) -> int:
    """Return the position after a written-out amount; `position` when none begins here.

    The currency and the figures in brackets after it belong to it.
    """
    end = position
    while end < len(tokens) and is_numeral(tokens[end].text):
        end += 1
    if end == position:
        return position
    if end < len(tokens) and spoken[end] in _CURRENCIES:
        end += 1
    is_bracket = end + 1 < len(tokens) and tokens[end].text == "("
    if is_bracket and tokens[end + 1].kind in {"number", "money", "percent"}:
        end += 2
    return end


def _duties(units: Sequence[Unit], lexicon: Lexicon) -> Iterator[Duty]:
    """Yield each modal verb with its verb, the act and the party."""
    subject, barred = "", False
    for index, unit in enumerate(units):
        if unit.kind == NAME:
            subject = unit.form
        barred = unit.form in {"no", "neither", "none"} or (barred and unit.form not in _MODAL)
        if unit.kind == "" and unit.form in _MODAL:
            after = units[index + 1 : index + _REACH]
            force = "must" if unit.form in DUTY else "may"
            if barred or any(next_unit.form in NEGATIONS for next_unit in after[:2]):
                force = "not"
            terms = (term for term in _terms(after, lexicon) if term not in SILENT)
            yield Duty(force, subject, tuple(islice(terms, _KERNEL)))


@lru_cache(maxsize=1 << 16)
def _fold(text: str) -> str:
    """Return a word in lower case and plain characters, without possessive and hyphens."""
    return _POSSESSIVE.sub("", text.lower()).translate(_PLAIN)


def _figure(text: str) -> str:
    return re.sub(r"[\s,]+", "", text.lower())
