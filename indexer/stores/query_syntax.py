"""The syntax of a full-text query, the same in every store.

Joined by `any`, words only rank:

    ferry boat        documents with any of the words, those with more and rarer ones first
    +ferry boat       `ferry` is required; `boat` only adds to the rank
    ferry -boat       documents with `boat` are left out
    +ferry|boat pier  one of `ferry` and `boat` is required
    "ferry to Calais" the words together, in this order
    harb*             words that begin with `harb`

A sign stands directly before a word or a quote, with a blank, a `|` or nothing before the sign. The
sign before the first of several alternatives applies to all of them; an alternative with a `-` of
its own is excluded by itself. A star stands directly behind a word. Nothing else has a meaning, and
no query is an error but for the value of a field: signs, bars and stars elsewhere separate words, a
quote that is not closed is ignored, and what holds no letter or digit is left out. Exclusions alone
leave all other documents.

Joined by `all`, each word must be there, and operators combine conditions:

    ferry boat                        both words
    (ferry OR boat) NOT "press release"
    privileg* w/10 (lawyer OR advice) up to ten words further on or back
    from:ann sent:2020-01..2020-03    a field has this value, in both syntaxes

AND and OR are not mixed without parentheses; `a|b` is `(a OR b)`, `-a` is `NOT a`. An error names
the column.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeAlias

from indexer.errors import QueryError, UsageError
from indexer.fingerprinting.normalise import (
    ASCII_HYPHEN,
    LINE_END_HYPHEN,
    UNSPACED,
    class_ranges,
    nfkc,
    ranges,
    without_ignorables,
)
from indexer.stores.filters import CONTENT_TYPES, span_of_days
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


_FAR = re.compile("[^\0-\u0dff\u1800-\u2e7f]")  # texts without these hold no unspaced script
_UNSPACED = re.compile(f"[{_members(class_ranges(UNSPACED))}]+")
_MARK = re.compile(f"[{_members(ranges(_MARKS))}]")
_CLUSTER = re.compile(f".[{_members(ranges(_MARKS))}]*")


def is_mark(letter: str) -> bool:
    """Return whether a letter of a script without spaces belongs to the one before it, as vowel
    signs and tone marks do.
    """
    return _MARK.match(letter) is not None


def searchable(text: str) -> str:
    """Return a text whose words full-text search finds, as normalisation reads them.

    Characters without width and hyphens at line ends are left out, and ligatures and full-width
    forms become plain characters.

    >>> searchable("soft\\u00adly, har-\\nbour, ﬁnal ＧＰＴ模型")
    'softly, harbour, final GPT 模 型 '
    """
    if text.isascii():
        return ASCII_HYPHEN.sub("", text)
    return separate_characters(LINE_END_HYPHEN.sub("", nfkc(without_ignorables(text))))


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


MAX_WORDS = 400  # engines bound the clauses of a query, two for each word
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
Join: TypeAlias = Literal["any", "all"]
"""How words without an operator between them are joined."""


# The tree of a query: its conditions on a document.


@dataclass(frozen=True, slots=True)
class TitleTerm:
    """A term in the title; the subject of a mail is its title."""

    term: Term


@dataclass(frozen=True, slots=True)
class Near:
    """One of the terms `left` and one of `right`, in any order, the second up to `distance` words
    behind the end of the first one, both in the title or both in the text.
    """

    left: Alternatives
    right: Alternatives
    distance: int


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A label, alone or as `FIELD=VALUE`, a type of documents, or words in another field.

    `is_prefix`: the value may go on; with an empty text any value will do.
    """

    field: str
    text: str
    is_prefix: bool = False

    @property
    def starts(self) -> bool:
        """True if the value must not begin within a word."""
        return _is_word_character(self.text[:1])

    @property
    def ends(self) -> bool:
        """True if the value must not end within a word."""
        return not self.is_prefix and _is_word_character(self.text[-1:])

    @property
    def content_types(self) -> tuple[str, ...]:
        """The beginnings of content types, one of which a document of this type has."""
        return CONTENT_TYPES.get(self.text.lower(), (self.text.lower(),))

    def pattern(self) -> str:
        """Return a regular expression of the value in any case, as Python and Lucene read it."""
        return "".join(map(_any_case, self.text))


@dataclass(frozen=True, slots=True)
class DateRange:
    """The documents of a date from `minimum` on, below `below`, in milliseconds since 1970 UTC;
    None: any.
    """

    minimum: int | None
    below: int | None


@dataclass(frozen=True, slots=True)
class And:
    """All of these conditions."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of these conditions."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Documents for which the condition does not hold."""

    node: Node


Node: TypeAlias = Term | TitleTerm | Near | FieldValue | DateRange | And | Or | Not
# characters of words in fields; all beyond ASCII are, so that every engine can test it
WORD_CHARACTERS = "0-9A-Za-z\x80-\U0010ffff"


def _is_word_character(character: str) -> bool:
    return character > "\x7f" or (character.isascii() and character.isalnum())


def _any_case(character: str) -> str:
    """Return the pattern of a character; a blank stands for itself."""
    variants = dict.fromkeys((character, character.lower(), character.upper()))
    choices = [variant for variant in variants if len(variant) == 1]
    if len(choices) > 1:
        return f"[{''.join(choices)}]"
    is_plain = _is_word_character(character) or character == " "
    return character if is_plain else f"\\{character}"


@dataclass(frozen=True, slots=True)
class SearchWords:
    """The words of a query: of each of `required`, one term must match; none of `excluded` may.

    Where nothing is required, one of `optional` must match, if there is any. The `conditions` hold
    besides; the terms of `ranking`, which stand in them, only add to the rank. Without any of these
    the query is empty.
    """

    required: tuple[Alternatives, ...] = ()
    optional: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    conditions: tuple[Node, ...] = ()
    ranking: tuple[Term, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the terms that may match, each once."""
        required = [term for alternatives in self.required for term in alternatives]
        return _distinct([*required, *self.optional, *self.ranking])

    @property
    def is_empty(self) -> bool:
        """Return whether the query holds no term and no condition."""
        return not (self.required or self.optional or self.excluded or self.conditions)

    def without_rank(self) -> SearchWords:
        """Return words that match the same documents, without those that only add to the rank."""
        optional = () if self.required else self.optional
        return SearchWords(self.required, optional, self.excluded, self.conditions)


@dataclass(slots=True)
class _Group:
    operator: str
    terms: list[Term]


def parse_query(text: str, join: Join = "any") -> SearchWords:
    """Return the words and conditions of a query.

    Raises `UsageError` for more than 400 words and values of fields, each character of a script
    without spaces counted as one, and `QueryError` for a query that cannot be parsed.

    >>> parse_query('+near -far "duplicate documents" dup*').optional
    (Term(text='duplicate documents', is_prefix=False), Term(text='dup', is_prefix=True))
    >>> parse_query("near duplicates", "all").required
    ((Term(text='near', is_prefix=False),), (Term(text='duplicates', is_prefix=False),))
    """
    text = well_formed(text).translate(_QUOTES)
    if join == "all":
        words = _as_words(_Parser(text).tree())
    else:
        conditions, others = _separate_fields(text)
        words = replace(_ranking_words(others), conditions=conditions)
    count = _words_to_search(words)
    if count > MAX_WORDS:
        raise UsageError(
            f"the query holds {count} words and values of fields; leave at most {MAX_WORDS}"
        )
    return words


def highlighted_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a query that may match, whichever way it joins its words.

    >>> [term.text for term in highlighted_terms("ferry AND NOT (boat OR quay)")]
    ['ferry']
    """
    try:
        words = parse_query(text, "all")
    except UsageError:
        words = parse_query(text)
    return words.terms


def _ranking_words(text: str) -> SearchWords:
    """Return the words of a query that are joined by `any`."""
    groups = _groups(text)
    required = dict.fromkeys(_distinct(group.terms) for group in groups if group.operator == "+")
    required_keys = {term.key for alternatives in required for term in alternatives}
    optional = _distinct(term for group in groups if not group.operator for term in group.terms)
    return SearchWords(
        tuple(required),
        tuple(term for term in optional if term.key not in required_keys),
        _distinct(term for group in groups if group.operator == "-" for term in group.terms),
    )


def _groups(text: str) -> list[_Group]:
    """Return the terms of a query, alternatives together, with their sign."""
    groups: list[_Group] = []
    is_alternative = False
    for piece in _PIECE.finditer(text):
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
    _, others = _separate_fields(well_formed(text).translate(_QUOTES))
    words = (piece["word"] or "" for piece in _PIECE.finditer(others))
    return tuple(dict.fromkeys(word for word in words if _IGNORED.match(word)))


def lower_case_operators(text: str) -> tuple[str, ...]:
    """Return the operators that a query has in lower case, outside quotes.

    >>> lower_case_operators('ferry or "and" NOT boat')
    ('or',)
    """
    pieces = _PIECE.finditer(text.translate(_QUOTES))
    words = (piece["word"] for piece in pieces)
    return tuple(dict.fromkeys(word for word in words if word in ("and", "or", "not")))


# Conditions on fields, in both syntaxes.

_OF_MAILS = ("from", "to", "cc", "custodian", "subject", "sent")
FIELD_NAMES = (*_OF_MAILS, "date", "type", "label", "path")
_DATE = "is a day such as 2020-01-31, a month, a year, or a range such as 2020-01-01..2020-03"
CONDITION_FORM = (
    r"(?P<phrase>\"[^\"]*\")"  # what looks like a field there is none
    r"|(?<![^\s|(])(?P<sign>[+-]?)(?P<name>{}):"
    r"(?:\"(?P<quoted>[^\"]*)\"|(?P<word>[^\s\"|()]+))"
)
_CONDITION = re.compile(CONDITION_FORM.format("|".join(FIELD_NAMES)), re.IGNORECASE)
_MAX_VALUE = 200  # characters; engines bound regular expressions


def _separate_fields(text: str) -> tuple[tuple[Node, ...], str]:
    """Return the conditions on fields of a query that is joined by `any`, and the rest of it."""
    conditions: list[Node] = []
    for match in _CONDITION.finditer(text):
        if match["phrase"]:
            continue
        column = match.start("name")
        value = match["word"] if match["quoted"] is None else match["quoted"]
        node = _condition(text, column, match["name"].lower(), value, match["quoted"] is not None)
        conditions.append(Not(node) if match["sign"] == "-" else node)
    return tuple(conditions), _CONDITION.sub(lambda match: match["phrase"] or " ", text)


def _condition(text: str, column: int, field: str, value: str, is_quoted: bool) -> Node:
    """Return the condition that a field has a value."""
    is_prefix = not is_quoted and value.endswith("*")
    value = " ".join((value[:-1] if is_prefix else value).split())
    if field == "subject":
        term = _term(value, None) if is_quoted else _term(None, value + "*" * is_prefix)
        if term is None:
            raise QueryError(text, column, f"a word follows {field}: without a blank")
        return TitleTerm(term)
    if field in ("sent", "date"):
        return _dated(text, column, field, value)
    if not (value or is_prefix):
        raise QueryError(text, column, f"a value follows {field}: without a blank")
    if len(value) > _MAX_VALUE:
        raise QueryError(text, column, f"a value has up to {_MAX_VALUE} characters")
    if field == "type" and "/" not in value and value.lower() not in CONTENT_TYPES:
        known = ", ".join(CONTENT_TYPES)
        fault = f"{value!r} is no type of documents; choose one of {known}, or write a content type"
        raise QueryError(text, column, f"{fault} such as text/csv")
    return FieldValue(field, value, is_prefix)


def _dated(text: str, column: int, field: str, value: str) -> Node:
    """Return the condition that a document is of a range of days; `sent`: that it is a mail of it.

    >>> _dated("", 0, "date", "1970..")
    DateRange(minimum=0, below=None)
    """
    first, is_range, last = value.partition("..")
    spans = [span_of_days(day) if day else None for day in (first, last if is_range else first)]
    is_known = all(span or not day for span, day in zip(spans, (first, last), strict=True))
    if not is_known or not any(spans):
        raise QueryError(text, column, f"{field}: {_DATE}")
    start, end = spans
    if start and end and start[0] >= end[1]:
        raise QueryError(text, column, f"{field}: the first day of a range is not after its last")
    days = DateRange(start and start[0], end and end[1])
    return And((FieldValue("type", "mail"), days)) if field == "sent" else days


# Queries that are joined by `all`.

_TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<operator>(?:AND|OR|NOT)(?![^\s()\"|]))"
    r"|(?P<near>[Ww]/[0-9]+(?![^\s()\"|]))"
    r"|(?P<sign>(?<![^\s(|])[+-](?=[\"\w(]))"
    rf"|(?P<field>(?i:{'|'.join(FIELD_NAMES)}):|[A-Za-z]+:(?=[^\s|)])(?!//))"
    r"|\"(?P<quoted>[^\"]*)\"|(?P<word>[^\s\"()|]+)|(?P<quote>\"))"
)
_VALUE = re.compile(r"(?P<word>[^\s\"()|]+)")
_FAULTS = (
    (
        re.compile(r"(?<=\w)\?(?=[\w*])"),
        "? stands for no letter; write a beginning and *: wom*",
    ),
    (
        re.compile(r"\A[Ww]/\w*\Z"),
        "a number of words follows w/, such as w/5; else quote it",
    ),
)
_MAX_PARENTHESES, _MAX_DISTANCE = 50, 1_000
_MAX_DEPTH = 10  # conditions within each other; SQLite and the engines bound these


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


class _Parser:
    """A parser of a query by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._read())
        self._index = self._depth = 0

    def tree(self) -> Node | None:
        """Return the whole query as a tree; None without words."""
        if self._kind == "end":
            return None
        node = self._sequence("")
        if self._kind == "close":
            raise self._fault("unmatched closing parenthesis; delete it, or open one before it")
        return node

    def _read(self) -> Iterator[_Token]:
        """Yield tokens; words and quotes without a letter or digit are left out."""
        position, is_value = 0, False
        while match := (is_value and _VALUE.match(self._text, position)) or _TOKEN.match(
            self._text, position
        ):
            kind = str(match.lastgroup)
            column = match.start(kind) - (kind == "quoted")
            if kind == "quote":
                raise QueryError(self._text, column, "this quote is not closed; close it")
            if kind not in ("word", "quoted") or is_value or any(map(str.isalnum, match[kind])):
                yield _Token(kind, match[kind], column)
            position, is_value = match.end(), kind == "field"
            if is_value and not self._text[position : position + 1].strip():
                fault = f"a value follows {match[kind]} without a blank"
                raise QueryError(self._text, position, fault)
        yield _Token("end", "", len(self._text.rstrip()))

    @property
    def _kind(self) -> str:
        return self._tokens[self._index].kind

    def _next(self) -> _Token:
        token = self._tokens[self._index]
        self._index += token.kind != "end"
        return token

    def _fault(self, message: str) -> QueryError:
        """Return the error at the next token."""
        return QueryError(self._text, self._tokens[self._index].column, message)

    def _sequence(self, field: str) -> Node:
        """Parse what stands between parentheses: conditions joined by AND, or by OR.

        `field`: the one whose values these are; empty for words.
        """
        nodes, joins = [self._item(field)], set()
        while self._kind not in ("end", "close"):
            token = self._tokens[self._index]
            join = "OR" if token.text == "OR" and token.kind == "operator" else "AND"
            joins.add(join)
            if len(joins) > 1:
                fault = "AND and OR need parentheses here: (a AND b) OR c, or a AND (b OR c)"
                raise self._fault(fault)
            if token.kind == "operator" and token.text != "NOT":
                self._next()
            nodes.append(self._item(field))
        if len(nodes) == 1:
            return nodes[0]
        return Or(tuple(nodes)) if joins == {"OR"} else And(tuple(nodes))

    def _item(self, field: str) -> Node:
        is_negated = False
        while (token := self._tokens[self._index]).text == "NOT" and token.kind == "operator":
            is_negated = not is_negated
            self._next()
        if token.kind == "sign":
            is_negated ^= token.text == "-"
            self._next()
        node = self._near(field)
        return Not(node) if is_negated else node

    def _near(self, field: str) -> Node:
        start = self._index
        left = self._alternatives(field)
        if self._kind != "near":
            return left
        operator = self._next()
        end = self._index
        right = self._alternatives(field)
        digits = operator.text[2:]
        distance = int(digits) if len(digits) <= len(str(_MAX_DISTANCE)) else 0
        if not 0 < distance <= _MAX_DISTANCE:
            fault = f"a distance is 1 to {_MAX_DISTANCE} words"
            raise QueryError(self._text, operator.column, fault)
        if self._kind == "near":
            raise self._fault("write (a w/5 b) AND (b w/5 c): a distance is between two words")
        return Near(self._terms(left, start), self._terms(right, end), distance)

    def _terms(self, node: Node, index: int) -> Alternatives:
        """Return the words on one hand of a distance."""
        nodes = node.nodes if isinstance(node, Or) else (node,)
        terms = tuple(each for each in nodes if isinstance(each, Term))
        if len(terms) < len(nodes):
            self._index = index
            raise self._fault("a distance is between words, phrases, or several joined by OR")
        return terms

    def _alternatives(self, field: str) -> Node:
        nodes = [self._primary(field)]
        while self._kind == "bar":
            self._next()
            nodes.append(self._primary(field))
        return nodes[0] if len(nodes) == 1 else Or(tuple(nodes))

    def _primary(self, field: str) -> Node:
        token = self._next()
        if token.kind == "open":
            return self._parentheses(token, field)
        if token.kind == "field" and not field:
            return self._field(token)
        if token.kind in ("word", "quoted"):
            return self._value(token, field)
        self._index -= token.kind != "end"
        after = f", not {token.text}" if token.text else ": the query ends too early"
        raise self._fault(f"a word or a condition follows here{after}")

    def _parentheses(self, token: _Token, field: str) -> Node:
        self._depth += 1
        if self._depth > _MAX_PARENTHESES:
            raise QueryError(self._text, token.column, f"more than {_MAX_PARENTHESES} parentheses")
        node = self._sequence(field)
        if self._kind != "close":
            raise QueryError(self._text, token.column, "this parenthesis is not closed; close it")
        self._next()
        self._depth -= 1
        if _depth(node) > _MAX_DEPTH:
            fault = f"more than {_MAX_DEPTH} conditions within each other here; leave some out"
            raise QueryError(self._text, token.column, fault)
        return node

    def _field(self, token: _Token) -> Node:
        name = token.text[:-1].lower()
        if name not in FIELD_NAMES:
            raise QueryError(
                self._text,
                token.column,
                f"no field is called {name}; choose one of {', '.join(FIELD_NAMES)}, or put the "
                "words in quotes to search for them",
            )
        return self._primary(name)

    def _value(self, token: _Token, field: str) -> Node:
        is_quoted = token.kind == "quoted"
        if field:
            text = " ".join(token.text.split())
            return _condition(self._text, token.column, field, text, is_quoted)
        if not is_quoted and re.search(r"\*\w|\*.*\*", token.text):
            column = token.column + token.text.index("*")
            raise QueryError(self._text, column, "a star follows the beginning of a word")
        for pattern, fault in () if is_quoted else _FAULTS:
            if mark := pattern.search(token.text):
                raise QueryError(self._text, token.column + mark.start(), fault)
        texts = (token.text, None) if is_quoted else (None, token.text)
        return _term(*texts) or Term(token.text)


def _as_words(tree: Node | None) -> SearchWords:
    """Return a tree as words where it is a conjunction of them, the rest as conditions."""
    if tree is None:
        return SearchWords()
    required: list[Alternatives] = []
    excluded: list[Term] = []
    conditions: list[Node] = []
    for node in tree.nodes if isinstance(tree, And) else (tree,):
        terms = _alternatives_of(node)
        if terms:
            required.append(terms)
        elif isinstance(node, Not) and (terms := _alternatives_of(node.node)):
            excluded.extend(terms)
        else:
            conditions.append(node)
    ranking = _distinct(chain.from_iterable(map(positive_terms, conditions)))
    groups = tuple({frozenset(map(_key, terms)): terms for terms in required}.values())
    is_plain = len(groups) == 1 and not conditions
    optional = groups[0] if is_plain else ()  # the same documents, read by the faster way
    required_groups = () if optional else groups
    words = SearchWords(required_groups, optional, _distinct(excluded), tuple(conditions))
    known = {term.key for term in words.terms}
    return replace(words, ranking=tuple(term for term in ranking if term.key not in known))


def _key(term: Term) -> tuple[str, bool]:
    return term.key


def _alternatives_of(node: Node) -> Alternatives:
    """Return the terms of which one must match; none if other conditions are among them."""
    nodes = node.nodes if isinstance(node, Or) else (node,)
    terms = tuple(each for each in nodes if isinstance(each, Term))
    return _distinct(terms) if len(terms) == len(nodes) else ()


def positive_terms(node: Node) -> Iterator[Term]:
    """Yield the terms of a condition that documents may have."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, TitleTerm):
        yield node.term
    elif isinstance(node, Near):
        yield from (*node.left, *node.right)
    elif isinstance(node, And | Or):
        for each in node.nodes:
            yield from positive_terms(each)


def _words_to_search(words: SearchWords) -> int:
    """Return how many words a query searches for, each as often as it does; the value of a field
    counts as one.
    """
    terms = sum(map(_count_words, (*words.terms, *words.excluded)))
    return terms + sum(map(_words_within, words.conditions))


def _words_within(node: Node) -> int:
    if isinstance(node, Not):
        return _words_within(node.node)
    if isinstance(node, And | Or):
        return sum(map(_words_within, node.nodes))
    if isinstance(node, Near):
        pairs = max(len(node.left), len(node.right))
        return sum(map(_count_words, (*node.left, *node.right))) * pairs
    return sum(map(_count_words, positive_terms(node))) or 1


def _depth(node: Node) -> int:
    """Return how many conditions lie within each other."""
    if isinstance(node, Not):
        return 1 + _depth(node.node)
    return 1 + max(map(_depth, node.nodes)) if isinstance(node, And | Or) else 0
