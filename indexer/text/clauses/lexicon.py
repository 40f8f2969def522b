"""What words mean the same in contracts, which are opposites, and who a contract is between: a list
that users extend.

The file format is told at the head of `mappings/legal-words-en.txt`, the list that is always there.
Words are compared by their stems, so one line serves all inflections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

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
    """Canonical forms by phrase of stems, pairs of opposites, parties; phrases by their first stem,
    longest first.

    `functional` forms have a function word among their synonyms: they are no terminology.

    Compared and hashed by identity: readings of texts are remembered by it.
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
        for phrase in sorted(self.canonical, key=lambda one: (-len(one), one)):
            starts.setdefault(phrase[0], []).append(phrase)
        object.__setattr__(self, "opposable", frozenset(one for one, _ in self.opposites))
        object.__setattr__(self, "starts", {first: tuple(found) for first, found in starts.items()})

    def stem(self, word: str) -> str:
        """The stem of a lower-case word, but a party by its singular: an employer is nobody's
        employment.
        """
        return _stem(word, self.party_words)

    def form(self, phrase: Phrase) -> str:
        """The canonical form of a whole phrase of stems: its own words where the list has none."""
        return self.canonical.get(phrase) or "_".join(phrase)

    def opposed(self, left: str, right: str) -> bool:
        """Whether two canonical forms are opposites, in either order."""
        return (left, right) in self.opposites


@cache
def default_lexicon() -> Lexicon:
    """The shipped list."""
    return lexicon("")


def lexicon(added: str, source: str = "the list") -> Lexicon:
    """The shipped list and the lines of another; `source` names it in messages.

    A form that the shipped list has, too, joins both meanings. Raises `UsageError` for a line or
    heading that is none.

    >>> lexicon("chief officer = managing director").form((stem("chief"), stem("officer"))) == "chief_offic"
    True
    """
    lines = [*_lines(mappings.read(DEFAULT), DEFAULT), *_lines(added, source)]
    spoken = [
        form.split()
        for kind, said, _ in lines
        if kind == "parties"
        for form in said.casefold().split(",")
    ]
    party_words = frozenset(words[0] for words in spoken if len(words) == 1)
    entries = [(kind, _forms(said, kind, where, party_words)) for kind, said, where in lines]
    canonical = _canonical([forms for kind, forms in entries if kind == "synonyms"])
    parties = [form for kind, forms in entries if kind == "parties" for form in forms]
    named = {one: canonical.get(one) or "_".join(one) for _, forms in entries for one in forms}
    opposed = [
        (named[a], named[b]) for kind, (a, *rest) in entries if kind == "opposites" for b in rest
    ]
    for phrase, name in named.items():
        canonical.setdefault(phrase, name)
    both = frozenset([*opposed, *((b, a) for a, b in opposed)])
    functional = frozenset(
        name for phrase, name in canonical.items() if len(phrase) == 1 and phrase[0] in FUNCTION
    )
    return Lexicon(
        canonical, both, frozenset(named[one] for one in parties), functional, party_words
    )


def _lines(text: str, source: str) -> Iterator[tuple[str, str, str]]:
    """The kind of each entry, what it says, and where it stands."""
    kind = "synonyms"
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if said.startswith("["):
            kind = said.strip("[] ").casefold()
            if kind not in _SEPARATORS:
                raise UsageError(
                    f"{source}, line {number}: {said} is no heading; there are [{'], ['.join(_SEPARATORS)}]"
                )
        elif said:
            yield kind, said, f"{source}, line {number}"


def _forms(said: str, kind: str, where: str, party_words: frozenset[str]) -> list[Phrase]:
    forms = [
        tuple(_stem(word, party_words) for word in _WORD.findall(form.casefold()))
        for form in said.split(_SEPARATORS[kind])
    ]
    if not all(forms) or len(forms) < (1 if kind == "parties" else 2):
        raise UsageError(
            f"{where}: {said!r} is no entry of [{kind}], which reads: one {_SEPARATORS[kind]} another"
        )
    return forms


@lru_cache(maxsize=1 << 16)
def _stem(word: str, party_words: frozenset[str]) -> str:
    singular = word[:-1] if word.endswith("s") and word[:-1] in party_words else word
    return singular if singular in party_words else stem(word)


def _canonical(groups: list[list[Phrase]]) -> dict[Phrase, str]:
    """Every form by the canonical one; groups that share a form are one, by the first of them."""
    found: dict[Phrase, str] = {}
    for forms in groups:
        known = [found[form] for form in forms if form in found]
        head = known[0] if known else "_".join(forms[0])
        for phrase, name in list(found.items()):
            if name in known:
                found[phrase] = head
        found.update(dict.fromkeys(forms, head))
    return found
