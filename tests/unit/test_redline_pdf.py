"""A comparison as a PDF: its letters, its marks, and what no font has."""

from __future__ import annotations

import sys
from pathlib import Path

import fontpkg_noto_sans_thai
import pytest

from indexer.comparing.compare import compare
from indexer.errors import MissingExtra, UsageError
from indexer.review import comparison_files
from indexer.review.compared_documents import original
from indexer.review.comparison_files import redline_pdf
from indexer.stores import open_store

A = "Lease of 2024\n\nThe tenant pays $400. Жильё, κατοικία, Tiếng Việt.\n\nNo pets.\n"
B = A.replace("2024", "2025").replace("$400", "€450")
[THAI] = Path(str(fontpkg_noto_sans_thai.__file__)).parent.glob("files/*.ttf")


def text_of(pdf: bytes, folder: Path) -> str:
    file = folder / "redline.pdf"
    file.write_bytes(pdf)
    return " ".join(original(str(file), open_store("sqlite://:memory:")).text.split())


@pytest.mark.long
def test_the_document_has_both_texts(tmp_path: Path) -> None:
    pdf = redline_pdf(compare(A, B, names=("a.txt", "b\u202e.txt")))
    text = text_of(pdf, tmp_path)
    for words in (
        "Changes from a.txt to b<RLO>.txt",
        "Lease of 20242025",
        "pays $400.€450.",
        "Жильё, κατοικία, Tiếng Việt",
    ):
        assert words in text
    assert "no font" not in text
    assert pdf == redline_pdf(compare(A, B, names=("a.txt", "b\u202e.txt")))


@pytest.mark.long
def test_a_passage_that_moved_has_its_number_twice(tmp_path: Path) -> None:
    moved = "No pets are allowed in the yard behind the house without written consent."
    rest = [f"The tenant pays {rent} euros for each month of the year." for rent in (400, 450)]
    before, after = "\n\n".join([*rest, moved]), "\n\n".join([moved, *rest])
    text = text_of(redline_pdf(compare(before, after)), tmp_path)
    assert "[1] moved away [1] moved here" in text
    assert text.count(f"[2] {moved}") == text.count(moved) == 2


@pytest.mark.long
def test_characters_that_no_font_has_are_named(tmp_path: Path) -> None:
    thai = compare("rent สัญญา here", "rent สัญญา there")
    assert "no font here has them: U+0E0D" in text_of(redline_pdf(thai), tmp_path)
    assert "no font" not in text_of(redline_pdf(thai, fonts=[THAI]), tmp_path)


def test_texts_that_are_too_long_and_files_that_are_no_font_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no.ttf").write_text("no font")
    with pytest.raises(UsageError, match="cannot be used as a font"):
        redline_pdf(compare(A, B), fonts=[tmp_path / "no.ttf"])
    monkeypatch.setattr(comparison_files, "MAX_SHAPED", 10)
    redline_pdf(compare(A, B))
    with pytest.raises(UsageError, match="10 characters at most"):
        redline_pdf(compare("नमस्ते दुनिया", B))
    monkeypatch.setattr(comparison_files, "MAX_CHARS", 10)
    with pytest.raises(UsageError, match="write a docx"):
        redline_pdf(compare(A, B))
    monkeypatch.setitem(sys.modules, "fontpkg_noto_sans", None)
    monkeypatch.setattr(comparison_files, "MAX_CHARS", 1000)
    with pytest.raises(MissingExtra, match=r"nearfold\[pdf\]"):
        redline_pdf(compare(A, B))
