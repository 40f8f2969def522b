"""What is read of PDF files that other programs draw in other ways."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from samples import Reader, native_reader

from indexer.documents.pdf_text import draw_once, inline_notes, join_rotated, pdf_text
from indexer.errors import ExtractionError
from indexer.model import Document

LINES = (
    "The balloon committee will meet at 22:00 on 11 May.",
    "All books are sold off; a free coffee is included.",
    "Payment of 1,100 EUR is due within 33 days.",
)
TOP, SIZE = 700, 12
Draw = Callable[[Canvas], object]
DrawLine = Callable[[Canvas, float, float, str], object]


@pytest.fixture
def reader() -> Reader:
    return native_reader()


def pdf(draw: Draw, **options: object) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, **options)
    canvas.setFont("Helvetica", SIZE)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def lines(canvas: Canvas, draw_line: DrawLine | None = None) -> None:
    for number, line in enumerate(LINES):
        (draw_line or Canvas.drawString)(canvas, 72, TOP - 20 * number, line)


def twice(shift: float) -> DrawLine:
    def draw(canvas: Canvas, x: float, y: float, text: str) -> None:
        canvas.drawString(x + shift, y - shift, text)
        canvas.drawString(x, y, text)

    return draw


def pieces_twice(divide: Callable[[str], list[str]]) -> DrawLine:
    def draw(canvas: Canvas, x: float, y: float, text: str) -> None:
        for piece in divide(text):
            twice(0.3)(canvas, x, y, piece.strip())
            x += canvas.stringWidth(piece, "Helvetica", SIZE)

    return draw


def four_times(canvas: Canvas, x: float, y: float, text: str) -> None:
    for shift in range(4):
        canvas.drawString(x + shift / 5, y, text)


def words(document: Document) -> str:
    return " ".join(document.text.split())


@pytest.mark.long
@pytest.mark.parametrize(
    "draw_line",
    [
        None,
        twice(0),
        twice(0.5),
        twice(6),
        twice(8),
        four_times,
        lambda canvas, x, y, text: twice(0.4)(canvas, x, y, f"{text} "),
        lambda canvas, x, y, text: twice(0.4)(canvas, x, y, text + " " * (text != LINES[0])),
        pieces_twice(list),
        pieces_twice(lambda text: re.findall(r"\S+\s*", text)),
    ],
    ids=[
        "once",
        "bold",
        "shadow",
        "far shadow",
        "own lines",
        "four times",
        "blanks at all ends",
        "blanks at some ends",
        "characters",
        "words",
    ],
)
def test_text_that_is_drawn_twice_is_read_once(reader: Reader, draw_line) -> None:
    document = reader.extract(pdf(lambda canvas: lines(canvas, draw_line)), "a.pdf")
    assert words(document) == " ".join(LINES)
    assert not document.truncated and not document.warnings


@pytest.mark.long
def test_pages_that_are_drawn_a_second_time_as_a_whole(reader: Reader) -> None:
    """Of one such page nobody knows if it is drawn twice or has two copies, a receipt and one to be
    returned; a file of them draws twice.
    """

    def read(pages: int, doubled: int) -> Document:
        def draw(canvas: Canvas) -> None:
            for number in range(pages):
                if number:
                    canvas.showPage()
                    canvas.setFont("Helvetica", SIZE)
                for _ in range(2 if number < doubled else 1):
                    lines(canvas)
                    canvas.drawString(72, TOP - 60, f"Clause {number} of the agreement.")

        return reader.extract(pdf(draw), "a.pdf")

    once, twice_said, all_once = read(3, 0), read(3, 1), read(3, 3)
    assert not once.warnings and all_once.text == once.text
    assert twice_said.text.count(LINES[0]) == 4
    assert [*twice_said.warnings] == [
        "the whole text twice on page 1 of 3: drawn twice, or two copies on the page"
    ]
    assert [*all_once.warnings] == ["the whole text twice on pages 1, 2, 3 of 3: read once"]
    assert not twice_said.truncated and not all_once.truncated


def test_terms_in_bold_are_read_once(reader: Reader) -> None:
    def draw(canvas: Canvas) -> None:
        x = 72.0
        for text, is_bold in (
            ("The ", 0), ("Net Price", 1), (" means the ", 0), ("Price", 1), (" net of tax.", 0),
        ):  # fmt: skip
            canvas.drawString(x, TOP, text)
            if is_bold:
                canvas.drawString(x + 0.4, TOP, text)
            x += canvas.stringWidth(text, "Helvetica", SIZE)

    document = reader.extract(pdf(draw), "a.pdf")
    assert words(document) == "The Net Price means the Price net of tax."


@pytest.mark.parametrize(
    "text",
    [
        "couscous murmur 2222 11 bookkeeper",
        "bye bye, so so, no no",
        "AABBCCDD",
        "----------------\n================",
        "1100 2200 3300 4400",
        "Yes\nYes\nNo\nNo",
        "that that is is that that is not is not",
        "PaulPaul",
        "Net price Net price\n100 EUR 110 EUR\nDue in March Due in March\nSigned Sealed",
        "We shall overcome we shall overcome\nWe shall overcome some day",
        "A\nB\nC\nD\nE\nF\nG\nH\nI\n",
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
        "12 \n13 \n14 \na \nb \n15 \n16 \n17 \n18 \n",
    ],
)
def test_real_repetitions_stay(text: str) -> None:
    assert pdf_text(text, {})[0] == text == draw_once(text) == join_rotated(text)


def test_rotated_text_is_read_in_lines(reader: Reader) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas)
        canvas.translate(300, 300)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Received by the registry on 22 May")
        canvas.drawString(0, 40, "Draft of 2024")
        canvas.rotate(-45)

    document = reader.extract(pdf(draw), "a.pdf")
    assert words(document).startswith(" ".join(LINES))
    assert "Received by the registry on 22 May" in words(document)


def test_values_of_forms_and_columns_are_read(reader: Reader) -> None:
    def draw(canvas: Canvas) -> None:
        for left, name in ((72, "left"), (320, "right")):
            for number in range(6):
                canvas.drawString(left, TOP - 14 * number, f"{name} column line {number} goes on")
        canvas.acroForm.textfield(name="applicant", value="Ann Example", x=72, y=300, width=200)
        canvas.acroForm.choice(name="city", value="Delft", options=["Delft", "Ede"], x=72, y=200)

    text = words(reader.extract(pdf(draw), "a.pdf"))
    assert text.index("left column line 5") < text.index("right column line 0")
    assert "Ann Example" in text and "Delft" in text


def test_an_empty_password_is_no_hindrance(reader: Reader) -> None:
    for user, owner in (("", "owner"), ("user", "owner")):
        data = pdf(lines, encrypt=StandardEncryption(user, owner))
        if user:
            with pytest.raises(ExtractionError, match="remove its password"):
                reader.extract(data, "a.pdf")
        else:
            assert words(reader.extract(data, "a.pdf")) == " ".join(LINES)


def test_pages_without_text_are_named(reader: Reader) -> None:
    def draw(canvas: Canvas) -> None:
        lines(canvas)
        canvas.showPage()
        canvas.drawImage(ImageReader(Image.new("RGB", (60, 80))), 0, 0, 595, 842)
        canvas.showPage()
        lines(canvas)

    document = reader.extract(pdf(draw), "a.pdf")
    assert document.warnings == ("no text on page 2 of 3: blank, a picture or a drawing",)
    assert not document.truncated  # the picture counts as a file in the document
    assert document.text.count("\f") == 2 and words(document) == " ".join(LINES * 2)


def test_pages_of_junk_are_named_and_count_as_not_read(reader: Reader) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Courier", SIZE)
        lines(canvas)
        canvas.showPage()
        canvas.setFont("Helvetica", SIZE)
        lines(canvas)

    def with_glyphs(glyph: str) -> Document:
        names = " ".join(glyph % code for code in range(33, 127))
        data = pdf(draw, pageCompression=0)
        start = data.index(b"/WinAnsiEncoding", data.index(b"/Courier"))
        encoding = f"<< /Differences [33 {names}] >>".encode()
        return reader.extract(data[:start] + encoding + data[start + 16 :], "a.pdf")

    private = with_glyphs("/uniE0%02X")
    assert private.warnings == ("junk instead of text on page 1 of 2",) and private.truncated
    unnamed = with_glyphs("/q%d")
    assert "perhaps wrong text on page 1 of 2" in unnamed.warnings[0]
    assert not unnamed.truncated


PAGE = (
    "The lease is let.{a} Rent is due on 1 May, as in Annex A4.\n"
    "The tenant”{b} may leave;{c} see 1.2.\n\n"
    "{a}By a deed of 2 May.\n{b} Or his heir,\n\nin law\n{c} By notice {word}.\n\nMill Lane 7"
)
PLACED = (
    "The lease is let. By a deed of 2 May. Rent is due on 1 May, as in Annex A4.\n"
    "The tenant” Or his heir,\nin law may leave; By notice {word}. see 1.2.\n\nMill Lane 7"
)


def test_footnotes_stand_at_their_references_without_numbers() -> None:
    pages = [
        PAGE.format(a=first, b=first + 1, c=first + 2, word=word)
        for first, word in ((1, "in writing"), (4, "by hand"))
    ]
    placed = [PLACED.format(word=word) for word in ("in writing", "by hand")]
    assert inline_notes("\n\n\n\n".join(pages)) == "\n\n\n\n".join(placed)


@pytest.mark.parametrize(
    "text",
    [
        "The lease is let.1 Rent is due.1 It is paid.\n\n1 By a deed.",  # a number twice
        "The lease is let.2 Rent is due.1 It is paid.\n\n1 By a deed.\n2 By me.",  # another order
        "As in Annex A1 or clause 1.1, rent is due.\n\n1 Introduction\nIt is let.",
        "1 By a deed.\nThe lease is let.1 Rent is due.",  # a note first
        "The budget of FY24 is spent on rooms.\n\n24 months are left.",  # no number of a note
        "The firm FY1 pays.\n\n1 January 2024 is the day.",  # a name in capitals
        "It costs EUR1 a day, in words a sum of\n1 euro, which is due.",  # no line between them
        "Rent1 is due.\n" + "\n".join(f"{number} pound" for number in range(1, 300)),  # a table
    ],
)
def test_numbers_that_name_no_footnotes_stay(text: str) -> None:
    assert inline_notes(text) == text


@given(st.lists(st.sampled_from(["a.1", "\n1 ", "\n2", "b2", "c", " ", "\n\n\n\n", "3\n"])))
def test_footnotes_never_make_a_text_longer_or_lose_a_word(pieces: list[str]) -> None:
    text = "word ".join(pieces)
    placed = inline_notes(text)
    assert len(placed) <= len(text)
    assert sorted(re.findall(r"[a-z]+", placed)) == sorted(re.findall(r"[a-z]+", text))
    assert placed.count("\n\n\n\n") == text.count("\n\n\n\n")
