"""Synonyms, opposites and parties of contracts: a list that users extend.

The head of `mappings/legal-words-en.txt`, the list that is always there, explains the file format.
Words are compared by their stems, so one line serves all inflections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from indexer import mappings
from indexer.errors import UsageError
from indexer.text.clauses.function_words import FUNCTION
from indexer.text.stems import stem

DEFAULT = "legal-words-en.txt"
_SEPARATORS = {"synonyms": "=", "opposites": "<>", "parties": ","}
_WORD = re.compile(r"[^\W\d_]+")

Phrase = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Canonical forms by phrase of stems, pairs of opposites, and parties.

    `starts`: phrases by their first stem, longest first. `functional` forms have a function word
    among their synonyms: they are no terminology. Compared and hashed by identity: readings of
    texts are cached by it.
    """

    canonical: Mapping[Phrase, str]
    opposites: frozenset[tuple[str, str]]
    parties: frozenset[str]
    functional: frozenset[str]
    party_words: frozenset[str]
    starts: Mapping[str, tuple[Phrase, ...]] = field(init=False)
    opposable: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        starts: dict[str, list[Phrase]] = {}
        for phrase in sorted(self.canonical, key=lambda phrase: (-len(phrase), phrase)):
            starts.setdefault(phrase[0], []).append(phrase)
        phrases_by_start = {first: tuple(phrases) for first, phrases in starts.items()}
        object.__setattr__(self, "opposable", frozenset(form for form, _ in self.opposites))
        object.__setattr__(self, "starts", phrases_by_start)

    def stem(self, word: str) -> str:
        """Return the stem of a lower-case word, but the singular of a party.

        An employer must not have the stem of an employment.
        """
        return _stem(word, self.party_words)

    def form(self, phrase: Phrase) -> str:
        """Return the canonical form of a whole phrase of stems, or its own words without one."""
        return self.canonical.get(phrase) or "_".join(phrase)

    def are_opposites(self, left: str, right: str) -> bool:
        """Return whether two canonical forms are opposites, in either order."""
        return (left, right) in self.opposites


@cache
def default_lexicon() -> Lexicon:
    """Return the shipped list."""
    return lexicon("")


def lexicon(added: str, source: str = "the list") -> Lexicon:
    """Return the shipped list and the lines of another; `source` names it in messages.

    A form that the shipped list has, too, joins both meanings. Raises `UsageError` for a line that
    is no entry and for an unknown heading.

    >>> added = lexicon("chief officer = managing director")
    >>> added.form((stem("chief"), stem("officer"))) == "chief_offic"
    True
    """
    lines = [*_lines(mappings.read(DEFAULT), DEFAULT), *_lines(added, source)]
    party_words = frozenset(_party_words(lines))
    entries = [_Entry(kind, _forms(text, kind, where, party_words)) for kind, text, where in lines]
    canonical = _canonical([entry.forms for entry in entries if entry.kind == "synonyms"])
    names: dict[Phrase, str] = {}
    opposites: set[tuple[str, str]] = set()
    parties: set[str] = set()
    for kind, forms in entries:
        names.update((form, canonical.get(form) or "_".join(form)) for form in forms)
        if kind == "parties":
            parties.update(names[form] for form in forms)
        elif kind == "opposites":
            first, *others = (names[form] for form in forms)
            opposites.update((first, other) for other in others)
            opposites.update((other, first) for other in others)
    canonical = {**names, **canonical}
    functional = frozenset(
        name for phrase, name in canonical.items() if len(phrase) == 1 and phrase[0] in FUNCTION
    )
    return Lexicon(canonical, frozenset(opposites), frozenset(parties), functional, party_words)


class _Entry(NamedTuple):
    kind: str
    forms: list[Phrase]


class _Line(NamedTuple):
    """One entry as written: its kind, its words, and its place in the file."""

    kind: str
    entry: str
    where: str


def _lines(text: str, source: str) -> Iterator[_Line]:
    """Yield the entries of a list."""
    kind = "synonyms"
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{source}, line {number}"
        entry = line.partition("#")[0].strip()
        if entry.startswith("["):
            kind = entry.strip("[] ").casefold()
            if kind not in _SEPARATORS:
                kinds = ", ".join(f"[{name}]" for name in _SEPARATORS)
                raise UsageError(f"{where}: {entry} is no heading; there are {kinds}")
        elif entry:
            yield _Line(kind, entry, where)


def _party_words(lines: Iterable[_Line]) -> Iterator[str]:
    """Yield the parties that are one word."""
    for line in lines:
        if line.kind == "parties":
            for form in line.entry.casefold().split(","):
                words = form.split()
                if len(words) == 1:
                    yield words[0]


def _forms(entry: str, kind: str, where: str, party_words: frozenset[str]) -> list[Phrase]:
    separator = _SEPARATORS[kind]
    forms = []
    for form in entry.split(separator):
        words = _WORD.findall(form.casefold())
        forms.append(tuple(_stem(word, party_words) for word in words))
    if not all(forms) or len(forms) < (1 if kind == "parties" else 2):
        raise UsageError(
            f"{where}: {entry!r} is no entry of [{kind}]; write one {separator} another"
        )
    return forms


@lru_cache(maxsize=1 << 16)
def _stem(word: str, party_words: frozenset[str]) -> str:
    singular = word[:-1] if word.endswith("s") and word[:-1] in party_words else word
    return singular if singular in party_words else stem(word)


def _canonical(groups: list[list[Phrase]]) -> dict[Phrase, str]:
    """Return every form by the canonical one.

    Groups that share a form are one; the first of them gives its canonical form.
    """
    canonical: dict[Phrase, str] = {}
    for forms in groups:
        known = [canonical[form] for form in forms if form in canonical]
        head = known[0] if known else "_".join(forms[0])
        for phrase, name in list(canonical.items()):
            if name in known:
                canonical[phrase] = head
        canonical.update(dict.fromkeys(forms, head))
    return canonical
