"""Numbers of lists and headings, which styles give, are text in all formats."""

import io
import re

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from odf import text
from odf.opendocument import OpenDocumentText
from samples import native_reader

from indexer.documents import marked_text
from indexer.documents.lists import numbered_lists, numbered_paragraphs, whole_numbering

LINES = [("Rent", 1), ("Amount", 2), ("due in May", 3), ("by bank", 3), ("Term", 1), ("End", 2)]
NUMBERED = ["1. Rent", "1.1 Amount", "(a) due in May", "(b) by bank", "2. Term", "2.1 End"]
FORMATS = [("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)")]


def word_file(override: str = "") -> bytes:
    """Return a Word file with headings that their styles number."""
    document = docx.Document()
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        f'<w:pStyle w:val="Heading{level + 1}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        for level, (kind, pattern) in enumerate(FORMATS)
    )
    lists = document.part.numbering_part.element
    lists.insert(
        0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>')
    )
    lists.append(
        parse_xml(
            f'<w:num {nsdecls("w")} w:numId="88"><w:abstractNumId w:val="77"/>{override}</w:num>'
        )
    )
    for level in (1, 2, 3):
        properties = document.styles[f"Heading {level}"].element.get_or_add_pPr()
        properties.append(parse_xml(f'<w:numPr {nsdecls("w")}><w:numId w:val="88"/></w:numPr>'))
    for line, level in LINES:
        document.add_paragraph(line, style=f"Heading {level}")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def open_document(start: int = 1) -> bytes:
    document = OpenDocumentText()
    outline = text.OutlineStyle(name="Outline")
    formats = [("1", "", ".", 1), ("1", "", "", 2), ("a", "(", ")", 1)]
    for level, (kind, prefix, suffix, depth) in enumerate(formats, 1):
        outline.addElement(
            text.OutlineLevelStyle(
                level=level,
                numformat=kind,
                numprefix=prefix,
                numsuffix=suffix,
                displaylevels=depth,
                startvalue=start if level == 1 else 1,
            )
        )
    document.styles.addElement(outline)
    for line, level in LINES:
        document.text.addElement(text.H(outlinelevel=level, text=line))
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def lines_of(data: bytes, name: str) -> list[str]:
    read = native_reader().extract(data, name).text.splitlines()
    return [line.strip() for line in read if line.strip()]


def test_numbers_by_styles_of_word_are_read() -> None:
    assert lines_of(word_file(), "a.docx") == NUMBERED


def test_a_list_of_word_that_starts_anew_is_read_with_its_numbers() -> None:
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    lines = lines_of(word_file(override), "a.docx")
    assert lines[:3] == ["5. Rent", "5.1 Amount", "(a) due in May"]


def test_numbers_of_headings_of_open_document_are_read_as_those_of_word() -> None:
    assert lines_of(open_document(), "a.odt") == NUMBERED
    assert lines_of(open_document(start=3), "a.odt")[0] == "3. Rent"


def test_headings_of_open_document_are_not_joined_to_the_text_after_them() -> None:
    document = OpenDocumentText()
    document.text.addElement(text.H(outlinelevel=1, text="Rent"))
    document.text.addElement(text.P(text="Paid monthly."))
    file = io.BytesIO()
    document.save(file)
    assert lines_of(file.getvalue(), "a.odt") == ["Rent", "Paid monthly."]


@pytest.mark.parametrize(("kind", "second"), [("1", "2."), ("i", "ii."), ("A", "B.")])
def test_kinds_of_numbers_of_lists_are_read(kind: str, second: str) -> None:
    document = OpenDocumentText()
    of_list = text.ListStyle(name="L")
    of_list.addElement(text.ListLevelStyleNumber(level=1, numformat=kind, numsuffix="."))
    document.automaticstyles.addElement(of_list)
    items = text.List(stylename=of_list)
    for words in ("apples", "pears"):
        item = text.ListItem()
        item.addElement(text.P(text=words))
        items.addElement(item)
    document.text.addElement(items)
    file = io.BytesIO()
    document.save(file)
    assert lines_of(file.getvalue(), "a.odt")[1] == f"{second} pears"


def test_numbers_of_lists_of_rich_text_are_read_and_bullets_are_not() -> None:
    item = r"{\listtext\pard\plain %s\tab}\ilvl0\ls1 %s\par "
    number, bullet = item % ("2.1", "Amount"), item % (r"\u61623\'3f", "a point")
    assert lines_of(rf"{{\rtf1\ansi\pard {number}{bullet}}}".encode(), "a.rtf") == [
        "2.1 Amount",
        "a point",
    ]


def test_paragraphs_with_numbers_of_their_own_and_bullets_stay_as_they_are() -> None:
    numbering = (
        b'<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="%s"/></w:lvl>'
        b'</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>'
    )
    styles = b'<w:style w:styleId="S"><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:style>'
    own = b'<w:pPr><w:pStyle w:val="S"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>'
    styled = b'<w:pPr><w:pStyle w:val="S"/></w:pPr>'
    assert numbered_paragraphs(own, styles, numbering % b"decimal") == own
    assert numbered_paragraphs(styled, styles, numbering % b"bullet") == styled
    assert b'<w:numId w:val="7"/>' in numbered_paragraphs(styled, styles, numbering % b"decimal")


def test_hostile_lists_are_read_in_time() -> None:
    for piece in (b"<text:list ", b"<text:h", b'<text:list text:style-name="a">', b"<text:p>"):
        assert numbered_lists(piece * 50_000, piece * 50_000)
    pieces = (b"<w:num ", b"<w:lvlOverride ", b"<w:abstractNum ", b"<w:lvl ", b"</w:num>")
    for piece in pieces:
        assert whole_numbering(b"<w:lvlOverride" + piece * 50_000)
    assert numbered_paragraphs(b'<w:pStyle w:val="S"/>' * 50_000, b"", b"")


def test_the_number_of_an_empty_item_is_no_text_after_the_list() -> None:
    level = b'<text:list-level-style-number text:level="1" style:num-format="1"/>'
    styles = b'<text:list-style style:name="L">' + level
    for item in (b"<text:p/>", b"", b"<text:p/><text:p>more</text:p>"):
        items = b'<text:list text:style-name="L"><text:list-item>%s</text:list-item></text:list>'
        document = items % item + b"<text:p>after</text:p>"
        assert numbered_lists(document, styles) == document


def test_lists_that_would_grow_to_megabytes_stay_as_they_are() -> None:
    level = b'<w:lvl w:ilvl="0"><w:lvlText w:val="%s"/></w:lvl>'
    base = b'<w:abstractNum w:abstractNumId="1">' + level % (b"x" * 50_000) + b"</w:abstractNum>"
    number = (
        b'<w:num w:numId="7"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0">'
        b'<w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    )
    assert len(whole_numbering(base + number * 3)) > 150_000
    assert whole_numbering(base + number * 300) == base + number * 300


class CountedPattern:
    """A pattern that counts the bytes it is given to search."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self.pattern, self.count = pattern, 0

    def search(self, data: bytes) -> re.Match[bytes] | None:
        self.count += len(data)
        return self.pattern.search(data)


def test_styles_without_end_tags_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = CountedPattern(marked_text._WORD_STYLE)
    monkeypatch.setattr(marked_text, "_WORD_STYLE", counted)
    styles = b'<w:style w:styleId="A"></w:style>' + b'<w:style w:styleId="B">' * 10_000
    assert list(marked_text.word_styles(styles)) == [b"A"]
    assert counted.count < 50
    assert list(marked_text.word_styles(styles + b"</w:style>")) == [b"A", b"B"]
    assert counted.count < len(styles) + 50


def test_the_name_of_a_list_outside_lists_numbers_nothing() -> None:
    level = b'<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
    numbering = b'<w:abstractNumId w:val="1"/><w:abstractNum w:abstractNumId="1">' + level
    content = b'<w:pPr><w:pStyle w:val="S"/></w:pPr>'
    assert numbered_paragraphs(content, b'<w:style w:styleId="S"></w:style>', numbering) == content
