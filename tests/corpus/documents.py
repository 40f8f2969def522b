"""Documents as they are before they have a format: a title, headings, paragraphs and a table, and
what stands on every page.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from corpus.language import CODES, Language, language

COUNT = 50
_SENTENCES = (7, 6, 2, 6)
_PHRASES = 10


@dataclass(frozen=True, slots=True)
class Heading:
    """A line of its own above what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, the first of them the column heads."""

    rows: tuple[tuple[str, ...], ...]


Part = Heading | Paragraph | Table


@dataclass(frozen=True, slots=True)
class Document:
    """`header` and `footer` stand on every page of the formats that have pages; `{n}` in the footer
    is the page's number.
    """

    name: str
    language: Language
    title: str
    header: str
    footer: str
    parts: tuple[Part, ...]


def fifty() -> Iterator[Document]:
    """The fifty documents: every language three or four times, each time with another title."""
    for place in range(COUNT):
        yield _document(CODES[place % len(CODES)], place // len(CODES), "")


def lookalikes() -> Iterator[Document]:
    """For each of the fifty one with its title, headings, boilerplate, table heads and vocabulary,
    but other contents.
    """
    for place in range(COUNT):
        yield _document(CODES[place % len(CODES)], place // len(CODES), "-lookalike")


def _document(code: str, issue: int, suffix: str) -> Document:
    spoken = language(code)
    name = f"{code}-{issue + 1}{suffix}"
    chance = random.Random(name)
    sections = spoken.sections
    first, second, third, fourth = sections["headings"]
    texts = _Writer(spoken, chance)
    parts = (
        Paragraph(spoken.only_phrase("opening")),
        Heading(first),
        *texts.paragraphs(_SENTENCES[0]),
        Heading(second),
        *texts.paragraphs(_SENTENCES[1]),
        Heading(third),
        *texts.paragraphs(_SENTENCES[2]),
        _table(spoken, chance),
        Heading(fourth),
        *texts.paragraphs(_SENTENCES[3]),
        Paragraph(spoken.only_phrase("closing")),
    )
    return Document(
        name,
        spoken,
        sections["titles"][issue],
        spoken.only_phrase("header"),
        spoken.only_phrase("page"),
        parts,
    )


def _table(spoken: Language, chance: random.Random) -> Table:
    rows = [(label, _amount(chance), _amount(chance)) for label in spoken.sections["rows"]]
    return Table((spoken.sections["columns"], *rows))


def _amount(chance: random.Random) -> str:
    return str(chance.randint(100, 9999))


class _Writer:
    """A writer of sentences from a share of a language's phrases, a different share for each
    document.
    """

    def __init__(self, spoken: Language, chance: random.Random) -> None:
        self._spoken, self._chance = spoken, chance
        self._phrases = {
            slot: chance.sample(spoken.sections[section], _PHRASES)
            for slot, section in (("s", "subjects"), ("p", "predicates"), ("c", "circumstances"))
        }
        self._phrases["name"] = chance.sample(spoken.sections["names"], 3)
        self._left: dict[str, list[str]] = {slot: [] for slot in self._phrases}

    def paragraphs(self, sentences: int) -> Iterator[Paragraph]:
        """That many sentences, four to a paragraph at most."""
        between = "" if self._spoken.code in {"zh", "ja"} else " "
        sentence_list = [self._sentence() for _ in range(sentences)]
        for start in range(0, sentences, 4):
            yield Paragraph(between.join(sentence_list[start : start + 4]))

    def _sentence(self) -> str:
        pattern = self._chance.choice(self._spoken.sections["patterns"])
        slots = {slot: self._next(slot) for slot in ("s", "p", "c", "name")}
        sentence = pattern.format(**slots, s2=self._next("s"), p2=self._next("p"))
        return sentence[0].upper() + sentence[1:]

    def _next(self, slot: str) -> str:
        """Every phrase once in a random order before any comes again."""
        if not self._left[slot]:
            self._left[slot] = self._chance.sample(self._phrases[slot], len(self._phrases[slot]))
        return self._left[slot].pop()
