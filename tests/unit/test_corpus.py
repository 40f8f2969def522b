"""The test corpus: fifty distinct documents with what makes formats differ."""

from __future__ import annotations

import hashlib
from collections import Counter
from io import BytesIO
from itertools import combinations
from zipfile import ZipFile

import pytest
from corpus.documents import Document, Heading, Paragraph, Table, fifty, lookalikes
from corpus.formats import FORMATS, formats_of, txt
from corpus.language import CODES, language
from corpus.lines import fill_lines

from indexer.fingerprinting.normalise import count_words, normalise

FIFTY = tuple(fifty())
ALL = (*FIFTY, *lookalikes())


def words_of(document: Document) -> str:
    pieces = [document.title]
    for part in document.parts:
        pieces += (
            ["\n".join("\t".join(row) for row in part.rows)]
            if isinstance(part, Table)
            else [part.text]
        )
    return "\n".join(pieces)


def grams(document: Document) -> set[str]:
    text = normalise(words_of(document))
    return {text[start : start + 4] for start in range(len(text) - 3)}


def test_there_are_fifty_documents_in_fifteen_languages():
    assert len({document.name for document in FIFTY}) == 50
    assert Counter(document.language.code for document in FIFTY).keys() == set(CODES)
    assert len(ALL) == 100


def test_words_never_change():
    digest = hashlib.sha256(
        "\n".join(document.name + words_of(document) for document in ALL).encode()
    ).hexdigest()
    assert digest[:16] == "44be4f05e17340d0"


@pytest.mark.parametrize("document", ALL, ids=lambda document: document.name)
def test_documents_are_long_and_structured(document):
    assert count_words(words_of(document)) >= 300
    kinds = Counter(type(part) for part in document.parts)
    assert (kinds[Heading], kinds[Table]) == (4, 1)
    assert kinds[Paragraph] >= 7


@pytest.mark.long
def test_distinct_documents_are_clearly_below_the_threshold():
    worst = max(len(a & b) / len(a | b) for a, b in combinations(map(grams, ALL), 2))
    assert 0.5 < worst < 0.65


def test_lookalikes_share_everything_but_the_contents():
    for document, lookalike in zip(FIFTY, lookalikes(), strict=True):
        assert (document.title, document.header, document.footer) == (
            lookalike.title,
            lookalike.header,
            lookalike.footer,
        )
        assert document.parts[0] == lookalike.parts[0]
        assert document.parts[-1] == lookalike.parts[-1]
        assert document.parts[2:-1] != lookalike.parts[2:-1]


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_all_its_phrases(code):
    counts = {name: len(set(phrases)) for name, phrases in language(code).sections.items()}
    assert counts == {
        "header": 1,
        "page": 1,
        "titles": 4,
        "headings": 4,
        "opening": 1,
        "closing": 1,
        "columns": 3,
        "rows": 6,
        "names": 6,
        "patterns": 5,
        "subjects": 16,
        "predicates": 16,
        "circumstances": 16,
    }


def test_words_are_hyphenated_at_line_ends():
    ends = [
        line
        for document in FIFTY
        for line in txt.text(document).splitlines()
        if line.endswith("-") and set(line) != {"-"}
    ]
    assert len(ends) > 100


def test_lines_are_short_and_lose_nothing():
    for document in FIFTY:
        for part in document.parts:
            if isinstance(part, Paragraph):
                lines = list(
                    fill_lines(part.text, document.language, lambda line: len(line) <= txt.WIDTH)
                )
                assert max(map(len, lines)) <= txt.WIDTH
                assert normalise("\n".join(lines)) == normalise(part.text)


def test_a_word_longer_than_the_line_gets_a_line_of_its_own():
    assert list(fill_lines("a bbbbbbbb c", language("en"), lambda line: len(line) <= 4)) == [
        "a",
        "bbbbbbbb",
        "c",
    ]


SIGNATURES = {
    "html": b"<!DOCTYPE html>",
    "docx": b"PK",
    "odt": b"PK",
    "rtf": b"{\\rtf1",
    "pdf": b"%PDF-",
    "eml": b"Subject:",
    "txt": FIFTY[0].header.encode(),
}


@pytest.mark.parametrize("ending", list(FORMATS))
def test_each_format_is_what_it_says(ending):
    assert FORMATS[ending](FIFTY[0]).startswith(SIGNATURES[ending])


def test_pages_have_a_number_and_a_header():
    with ZipFile(BytesIO(FORMATS["docx"](FIFTY[0]))) as file:
        names = [name for name in file.namelist() if "header" in name or "footer" in name]
        furniture = b"".join(file.read(name) for name in names)
    assert FIFTY[0].header.encode() in furniture
    assert b'w:instr="PAGE"' in furniture
    assert FORMATS["pdf"](FIFTY[0]).count(b"/Type /Page\n") > 1


def test_only_hindi_is_missing_as_pdf():
    missing = {
        document.language.code for document in FIFTY if len(formats_of(document)) < len(FORMATS)
    }
    assert missing == {"hi"}
