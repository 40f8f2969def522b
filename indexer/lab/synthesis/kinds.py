"""The kinds of truth that are planted, by name: which relation the two texts have, and how they are
made.

The types are those of Conrad & Raymond (ICAIL 2007), for whole documents: `identical` (the same
words), `near-identical` (names, numbers, amounts and dates differ), `fuzzy` (revised, misread or
rearranged). Two more say what is no duplicate: `contained` (one lies inside the other), and
`different`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from indexer.lab.evaluation.gold import DIFFERENT, FUZZY, IDENTICAL, NEAR_IDENTICAL
from indexer.lab.synthesis import changes, programs
from indexer.lab.synthesis.file_writers import FORMATS, txt
from indexer.lab.synthesis.ocr_noise import noisy
from indexer.lab.synthesis.random_draws import RandomSource

CONTAINED = "contained"
EDITS, NOISE = (1, 5, 10, 20, 40), (1, 3)  # per cent of the words, of the characters
FORM = (0.3, 0.6)  # the share of boilerplate in a text
SHORT = (8, 25)  # words


@dataclass(frozen=True, slots=True)
class File:
    """One file of the corpus: its name, the text that was planted in it, its bytes."""

    name: str
    text: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Plant:
    """Two files whose relation is known."""

    kind: str
    a: File
    b: File


@dataclass(frozen=True, slots=True)
class Material:
    """An original, and what its variants are made with: words, names and sentences of others;
    forms; another original.
    """

    file: File
    words: Sequence[str]
    names: Sequence[str]
    sentences: Sequence[str]
    forms: Sequence[str]
    partner: File | None
    place: int

    def variant(self, kind: str, text: str, ending: str = "txt", data: bytes | None = None) -> File:
        """A file named after the original."""
        return File(
            f"{self.file.name.removesuffix('.txt')}.{kind}.{ending}",
            text,
            txt(text) if data is None else data,
        )


Maker = Callable[[Material, RandomSource], Iterator[Plant]]
Change = Callable[[Material, RandomSource], str | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """`type`: the relation; `meaning`: one line for people; `program`: the path of what makes it,
    where it takes a program.
    """

    type: str
    meaning: str
    make: Maker
    program: Callable[[], str | None] | None = None


def _changed(
    kind: str, change: Change, material: Material, chance: RandomSource
) -> Iterator[Plant]:
    """The original beside what a change makes of it; nothing when there is nothing to change."""
    text = change(material, chance)
    if text is not None and text.split() != material.file.text.split():
        yield Plant(kind, material.file, material.variant(kind, text))


def _copied(kind: str, material: Material, _: RandomSource) -> Iterator[Plant]:
    yield Plant(kind, material.file, material.variant(kind, material.file.text))


def _formatted(kind: str, material: Material, _: RandomSource) -> Iterator[Plant]:
    """A format in turn."""
    ending = tuple(FORMATS)[material.place % len(FORMATS)]
    text = material.file.text
    yield Plant(kind, material.file, material.variant(kind, text, ending, FORMATS[ending](text)))


def _by_office(kind: str, material: Material, _: RandomSource) -> Iterator[Plant]:
    ending = programs.OFFICE_FORMATS[material.place % len(programs.OFFICE_FORMATS)]
    text = material.file.text
    data = programs.converted(text, ending)
    if data is not None:
        yield Plant(kind, material.file, material.variant(kind, text, ending, data))


def _framed(kind: str, material: Material, chance: RandomSource) -> Iterator[Plant]:
    """Two originals, each under the same form; each original is contained in what was made of
    it.
    """
    if material.partner is None or not material.forms:
        return
    form, share = chance.one(material.forms), FORM[0] + (FORM[1] - FORM[0]) * chance.share()
    mine = material.variant(f"{kind}-a", changes.framed(form, material.file.text, share))
    theirs = material.variant(f"{kind}-b", changes.framed(form, material.partner.text, share))
    yield Plant(kind, mine, theirs)
    yield Plant("framed", material.file, mine)
    yield Plant("framed", material.partner, theirs)


def _short(kind: str, material: Material, chance: RandomSource) -> Iterator[Plant]:
    """A sentence, the same with one word changed, and another sentence of the same document."""
    found = changes.sentences(material.file.text, *SHORT)
    if len(found) < 2:
        return
    one, other = chance.shuffled(found)[:2]
    made = changes.edited(one, 0.0, material.words, chance)
    if made is None:
        return
    first = material.variant(f"{kind}-a", one)
    yield Plant(kind, first, material.variant(f"{kind}-b", made))
    yield Plant("short-other", first, material.variant(f"{kind}-c", other))


def _excerpt(material: Material, chance: RandomSource) -> str | None:
    return changes.excerpt(material.file.text, 0.3, 0.6, chance)


def _reply(material: Material, chance: RandomSource) -> str | None:
    if not material.sentences:
        return None
    answer = " ".join(chance.one(material.sentences) for _ in range(chance.between(2, 6)))
    return changes.reply(material.file.text, answer, chance)


def _edited(percent: int, material: Material, chance: RandomSource) -> str | None:
    return changes.edited(material.file.text, percent / 100, material.words, chance)


def _misread(percent: int, material: Material, chance: RandomSource) -> str | None:
    return noisy(material.file.text, percent / 100, chance)


def _moved(material: Material, chance: RandomSource) -> str | None:
    return changes.moved(material.file.text, chance)


def _renumbered(material: Material, chance: RandomSource) -> str | None:
    return changes.renumbered(material.file.text, chance)


def _scanned(material: Material, _: RandomSource) -> str | None:
    return programs.recognised(material.file.text)


def _renamed(material: Material, chance: RandomSource) -> str | None:
    return changes.renamed(material.file.text, material.names, chance)


def _kind(
    name: str,
    type: str,
    meaning: str,
    change: Change,
    program: Callable[[], str | None] | None = None,
) -> tuple[str, Kind]:
    return name, Kind(type, meaning, partial(_changed, name, change), program)


def _nothing(_: Material, __: RandomSource) -> Iterator[Plant]:
    """For kinds whose pairs come with another kind, or are found rather than made."""
    return iter(())


_TABLE = (
    ("copy", Kind(IDENTICAL, "the same bytes", partial(_copied, "copy"))),
    (
        "format",
        Kind(
            IDENTICAL, "html, docx, odt, mail, rtf of the same text", partial(_formatted, "format")
        ),
    ),
    (
        "office",
        Kind(
            IDENTICAL,
            "the same text written by LibreOffice",
            partial(_by_office, "office"),
            programs.libreoffice,
        ),
    ),
    _kind("names", NEAR_IDENTICAL, "a template filled in with other names", _renamed),
    _kind("numbers", NEAR_IDENTICAL, "only numbers differ", _renumbered),
    *(
        _kind(f"edit-{share:02}", FUZZY, f"{share} % of the words changed", partial(_edited, share))
        for share in EDITS
    ),
    _kind("moved", FUZZY, "paragraphs in another order", _moved),
    *(
        _kind(
            f"ocr-{share:02}",
            FUZZY,
            f"{share} % of the letters misread, modelled",
            partial(_misread, share),
        )
        for share in NOISE
    ),
    _kind("scan", FUZZY, "read from a picture by Tesseract", _scanned, programs.tesseract),
    ("short", Kind(FUZZY, "8 to 25 words, one changed", partial(_short, "short"))),
    _kind("excerpt", CONTAINED, "30 to 60 % of the text", _excerpt),
    _kind("reply", CONTAINED, "the text quoted under an answer", _reply),
    ("framed", Kind(CONTAINED, "the text under boilerplate", _nothing)),
    (
        "boilerplate",
        Kind(DIFFERENT, "two texts under the same boilerplate", partial(_framed, "boilerplate")),
    ),
    ("short-other", Kind(DIFFERENT, "two sentences of one document", _nothing)),
    ("translation", Kind(DIFFERENT, "files that differ in language, as they were found", _nothing)),
)
KINDS: Mapping[str, Kind] = MappingProxyType(dict(_TABLE))
BROUGHT: Mapping[str, str] = MappingProxyType(
    {"framed": "boilerplate", "short-other": "short"}
)  # kinds by what makes them
