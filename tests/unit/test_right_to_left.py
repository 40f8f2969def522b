"""PDF text of LibreOffice in Hebrew and Arabic: words in the order in which they are read."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import native_reader

from indexer.comparing.alignment import lcs
from indexer.comparing.words import words
from indexer.documents.pdf_text import reorder_lines

DATA = Path(__file__).parent.parent / "data" / "right_to_left"


@pytest.mark.long
@pytest.mark.parametrize("name", ["hebrew", "arabic"])
def test_a_pdf_of_libreoffice_has_the_words_of_its_page_in_order(name: str) -> None:
    page = (DATA / f"{name}.html").read_text(encoding="utf-8")
    text = re.sub(r"<style>.*?</style>|<title>.*?</title>|<[^>]*>", " ", page)
    document = native_reader().extract((DATA / f"{name}.pdf").read_bytes(), "a.pdf")
    assert lcs(words(text), words(document.text)) >= 0.95


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        (" חדשPDFקובץ ", "קובץ PDF חדש"),
        ("PDFקובץ ", "קובץ PDF"),
        ("קובץ PDF חדש", "קובץ PDF חדש"),
        ("PDF קובץ", "PDF קובץ"),
        ("a file named קובץ", "a file named קובץ"),
        ("مAAكتAب سAعيد كAبير جAديد", "مكتب سعيد كبير جديد"),
        ("م\ufffdكتب س\ufffdعيد ك\ufffdبير ج\ufffdديد ط\ufffdويل", "مكتب سعيد كبير جديد طويل"),
        ("الملفsجديد", "جديدsالملف"),
        ("", ""),
    ],
)
def test_pieces_of_a_line_are_put_in_the_order_of_reading(drawn: str, read: str) -> None:
    assert reorder_lines(drawn) == read


@given(st.text(st.sampled_from("אבגسعa1 .()\n\u05b8\u064b\ufffd")))
def test_only_blanks_and_strokes_are_ever_left_out(text: str) -> None:
    def kept(of: str) -> list[str]:
        mirrored = of.translate(str.maketrans("()", "(("))
        return sorted(char for char in mirrored if char not in " \ufffda")

    assert kept(reorder_lines(text)) == kept(text)
    assert reorder_lines(text).count("\n") == text.count("\n")
