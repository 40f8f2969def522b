"""The kinds of synthetic pairs by name: the relation of the two texts, and how they are made.

The types are those of Conrad & Raymond (ICAIL 2007), for whole documents: `identical` (the same
words), `near-identical` (names, numbers, amounts and dates differ), `fuzzy` (revised, misread or
rearranged). Two more are no duplicates: `contained` (one lies inside the other), and
`different`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from indexer.lab.evaluation.judgements import DIFFERENT, FUZZY, IDENTICAL, NEAR_IDENTICAL
from indexer.lab.synthesis import changes, formats
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise
from indexer.lab.synthesis.formats import FORMATS, txt

CONTAINED = "contained"
EDITS, NOISE = (1, 5, 10, 20, 40), (1, 3)  # per cent of the words, of the characters
FORM = (0.3, 0.6)  # the fraction of boilerplate in a text
SHORT = (8, 25)  # words


@dataclass(frozen=True, slots=True)
class File:
    """One file of the corpus: its name, its text, its bytes."""

    name: str
    text: str
    data: bytes


@dataclass(frozen=True, slots=True)
class SyntheticPair:
    """Two files of a corpus whose relation is known."""

    kind: str
    a: File
    b: File


@dataclass(frozen=True, slots=True)
class Material:
    """An original and the material for its variants: words, names and sentences of other texts,
    forms, and another original.
    """

    file: File
    words: Sequence[str]
    names: Sequence[str]
    sentences: Sequence[str]
    forms: Sequence[str]
    partner: File | None
    position: int

    def variant(self, kind: str, text: str, ending: str = "txt", data: bytes | None = None) -> File:
        """Return a file named after the original."""
        return File(
            f"{self.file.name.removesuffix('.txt')}.{kind}.{ending}",
            text,
            txt(text) if data is None else data,
        )


Maker = Callable[[Material, RandomSource], Iterator[SyntheticPair]]
Change = Callable[[Material, RandomSource], str | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of pairs. `type`: the relation; `meaning`: one line of description; `program`:
    returns the path of the program that it needs, if any.
    """

    type: str
    meaning: str
    make: Maker
    program: Callable[[], str | None] | None = None


def _make_changed(
    kind: str, change: Change, material: Material, chance: RandomSource
) -> Iterator[SyntheticPair]:
    """Yield the original with its changed text; nothing when nothing changed."""
    text = change(material, chance)
    if text is not None and text.split() != material.file.text.split():
        yield SyntheticPair(kind, material.file, material.variant(kind, text))


def _make_copy(kind: str, material: Material, _: RandomSource) -> Iterator[SyntheticPair]:
    yield SyntheticPair(kind, material.file, material.variant(kind, material.file.text))


def _make_format(kind: str, material: Material, _: RandomSource) -> Iterator[SyntheticPair]:
    """Yield the original with a copy in one of the formats, in turn."""
    ending = tuple(FORMATS)[material.position % len(FORMATS)]
    text = material.file.text
    yield SyntheticPair(
        kind, material.file, material.variant(kind, text, ending, FORMATS[ending](text))
    )


def _make_office(kind: str, material: Material, _: RandomSource) -> Iterator[SyntheticPair]:
    ending = formats.OFFICE_FORMATS[material.position % len(formats.OFFICE_FORMATS)]
    text = material.file.text
    data = formats.convert(text, ending)
    if data is not None:
        yield SyntheticPair(kind, material.file, material.variant(kind, text, ending, data))


def _make_boilerplate(
    kind: str, material: Material, chance: RandomSource
) -> Iterator[SyntheticPair]:
    """Yield two originals under the same form, and each original with its own framed text, which
    contains it.
    """
    if material.partner is None or not material.forms:
        return
    form = chance.choice(material.forms)
    fraction = FORM[0] + (FORM[1] - FORM[0]) * chance.share()
    left = material.variant(f"{kind}-a", changes.put_under_form(form, material.file.text, fraction))
    right = material.variant(
        f"{kind}-b", changes.put_under_form(form, material.partner.text, fraction)
    )
    yield SyntheticPair(kind, left, right)
    yield SyntheticPair("framed", material.file, left)
    yield SyntheticPair("framed", material.partner, right)


def _make_short(kind: str, material: Material, chance: RandomSource) -> Iterator[SyntheticPair]:
    """Yield a sentence with one word changed, and another sentence of the same document."""
    sentences = changes.sentences(material.file.text, *SHORT)
    if len(sentences) < 2:
        return
    sentence, other = chance.shuffled(sentences)[:2]
    edited = changes.edit_words(sentence, 0.0, material.words, chance)
    if edited is None:
        return
    first = material.variant(f"{kind}-a", sentence)
    yield SyntheticPair(kind, first, material.variant(f"{kind}-b", edited))
    yield SyntheticPair("short-other", first, material.variant(f"{kind}-c", other))


def _excerpt(material: Material, chance: RandomSource) -> str | None:
    return changes.excerpt(material.file.text, 0.3, 0.6, chance)


def _reply(material: Material, chance: RandomSource) -> str | None:
    if not material.sentences:
        return None
    reply = " ".join(chance.choice(material.sentences) for _ in range(chance.between(2, 6)))
    return changes.reply(material.file.text, reply, chance)


def _edit(percent: int, material: Material, chance: RandomSource) -> str | None:
    return changes.edit_words(material.file.text, percent / 100, material.words, chance)


def _add_noise(percent: int, material: Material, chance: RandomSource) -> str | None:
    return add_ocr_noise(material.file.text, percent / 100, chance)


def _move(material: Material, chance: RandomSource) -> str | None:
    return changes.move_paragraphs(material.file.text, chance)


def _renumber(material: Material, chance: RandomSource) -> str | None:
    return changes.change_numbers(material.file.text, chance)


def _scan(material: Material, _: RandomSource) -> str | None:
    return formats.recognise(material.file.text)


def _rename(material: Material, chance: RandomSource) -> str | None:
    return changes.change_names(material.file.text, material.names, chance)


def _kind(
    name: str,
    type: str,
    meaning: str,
    change: Change,
    program: Callable[[], str | None] | None = None,
) -> tuple[str, Kind]:
    return name, Kind(type, meaning, partial(_make_changed, name, change), program)


def _make_nothing(_: Material, __: RandomSource) -> Iterator[SyntheticPair]:
    """Yield nothing, for kinds whose pairs come with another kind or exist in the folder."""
    return iter(())


_TABLE = (
    ("copy", Kind(IDENTICAL, "the same bytes", partial(_make_copy, "copy"))),
    (
        "format",
        Kind(
            IDENTICAL,
            "html, docx, odt, mail, rtf of the same text",
            partial(_make_format, "format"),
        ),
    ),
    (
        "office",
        Kind(
            IDENTICAL,
            "the same text written by LibreOffice",
            partial(_make_office, "office"),
            formats.libreoffice,
        ),
    ),
    _kind("names", NEAR_IDENTICAL, "a template filled in with other names", _rename),
    _kind("numbers", NEAR_IDENTICAL, "only numbers differ", _renumber),
    *(
        _kind(
            f"edit-{fraction:02}",
            FUZZY,
            f"{fraction} % of the words changed",
            partial(_edit, fraction),
        )
        for fraction in EDITS
    ),
    _kind("moved", FUZZY, "paragraphs in another order", _move),
    *(
        _kind(
            f"ocr-{fraction:02}",
            FUZZY,
            f"{fraction} % of the letters misread, modelled",
            partial(_add_noise, fraction),
        )
        for fraction in NOISE
    ),
    _kind("scan", FUZZY, "read from a picture by Tesseract", _scan, formats.tesseract),
    ("short", Kind(FUZZY, "8 to 25 words, one changed", partial(_make_short, "short"))),
    _kind("excerpt", CONTAINED, "30 to 60 % of the text", _excerpt),
    _kind("reply", CONTAINED, "the text quoted under a reply", _reply),
    ("framed", Kind(CONTAINED, "the text under boilerplate", _make_nothing)),
    (
        "boilerplate",
        Kind(
            DIFFERENT,
            "two texts under the same boilerplate",
            partial(_make_boilerplate, "boilerplate"),
        ),
    ),
    ("short-other", Kind(DIFFERENT, "two sentences of one document", _make_nothing)),
    (
        "translation",
        Kind(DIFFERENT, "files that differ in language, as they were found", _make_nothing),
    ),
)
KINDS: Mapping[str, Kind] = MappingProxyType(dict(_TABLE))
# Kinds whose pairs are made together with the pairs of another kind.
MADE_WITH: Mapping[str, str] = MappingProxyType({"framed": "boilerplate", "short-other": "short"})
