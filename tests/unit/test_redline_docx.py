"""A comparison as a Word document: accepting all changes gives B, rejecting them A."""

import io
import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.comparing.compare import compare
from indexer.comparing.words import normal_words
from indexer.review.compared_documents import original, word_formats
from indexer.review.comparison_files import _Parts, redline_docx
from indexer.stores import open_store
from indexer.wording import END_OF_HEADER

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "Lease of 2024\n\nThe tenant pays 400 pounds\nNo pets.\n\nThe landlord repairs the roof.\n"
B = A.replace("2024", "2025").replace("400", "450").replace("the roof", "it")
MOVES = {"del": "moveFrom", "ins": "moveTo"}
B = B.replace("No pets.\n", "No pets.\n\nAnd no sublet.\n")


def document(a: str, b: str) -> ET.Element:
    with zipfile.ZipFile(io.BytesIO(redline_docx(compare(a, b, names=("a&b.txt", "<b>"))))) as file:
        assert file.testzip() is None
        for name in file.namelist():
            ET.fromstring(file.read(name))
        assert b"Changes from a&amp;b.txt to &lt;b&gt;" in file.read("docProps/core.xml")
        return ET.fromstring(file.read("word/document.xml"))


def text_of(root: ET.Element, dropped: str) -> str:
    """Return the text as after accepting (`dropped` is `del`) or rejecting (`ins`) all changes."""
    pieces = []
    for paragraph in root.iter(f"{W}p"):
        for child in paragraph:
            if child.tag in (f"{W}{dropped}", f"{W}{MOVES[dropped]}"):
                continue
            for part in child.iter():
                if part.tag in (f"{W}t", f"{W}delText"):
                    pieces.append(part.text or "")
                elif part.tag == f"{W}br":
                    pieces.append("\n")
        marks = paragraph.find(f"{W}pPr/{W}rPr")
        if marks is None or marks.find(f"{W}{dropped}") is marks.find(f"{W}{MOVES[dropped]}"):
            pieces.append("\n\n")
    return "".join(pieces)


def words(text: str) -> list[str]:
    found = normal_words(text)
    return [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]


def test_accepting_all_changes_gives_b_and_rejecting_them_a() -> None:
    root = document(A, B)
    assert text_of(root, "del").split("\n\n")[:4] == B.removesuffix("\n").split("\n\n")
    rejected = text_of(root, "ins")
    assert "Lease of 2024" in rejected
    assert "sublet" not in rejected
    assert words(rejected) == words(A)
    deleted = ["".join(part.itertext()) for part in root.iter(f"{W}del")]
    assert [text.strip() for text in deleted if text.strip()] == ["2024", "400", "the roof."]
    assert {part.get(f"{W}author") for part in root.iter(f"{W}ins")} == {"nearfold"}


ONE, NEW, OLD, TWO = "One is kept.", "A new one.", "An old one.", "Two is kept."
PARAGRAPHS = [
    [ONE, TWO], [f"{ONE} {NEW}", TWO], [ONE, NEW, TWO], [ONE, OLD, TWO], [f"{ONE} {OLD}", TWO],
    [f"{ONE} {TWO}"], [ONE, f"{NEW} {TWO}"], [f"{ONE} {NEW} {TWO}"],
]  # fmt: skip


@pytest.mark.parametrize("before", PARAGRAPHS[:5])
def test_paragraphs_come_back_whatever_is_added_at_their_ends(before: list[str]) -> None:
    for after in PARAGRAPHS:
        root = document("\n\n".join(before), "\n\n".join(after))
        for dropped, expected in (("del", after), ("ins", before)):
            found = text_of(root, dropped).strip("\n").split("\n\n")
            assert [" ".join(text.split()) for text in found] == expected, (before, after)


def test_an_inserted_paragraph_has_an_inserted_mark() -> None:
    root = document(A, B)
    assert len(list(root.iter(f"{W}p"))) == 4
    assert len([part for part in root.iter(f"{W}rPr") if part.find(f"{W}ins") is not None]) == 1


@pytest.mark.parametrize(
    ("before", "after", "deleted"),
    [
        ("rent of $400 a month", "rent of €400 a month", "$400"),
        ("rent of 400 $ a month", "rent of 400 € a month", "400 $"),
        ("interest of 5 % a year", "interest of 5 ‰ a year", "5 %"),
        ("a loss of -12 in May", "a loss of 12 in May", "-12"),
        ("the factor is 1.5 here", "the factor is 1,5 here", "1."),
        ("the “rent” is 5–6 here", 'the "rent" is 5-6, here', None),
        ("dues: 400 in May", "(dues) 400 in May!", None),
    ],
)
def test_a_number_with_another_sign_is_a_change(
    before: str, after: str, deleted: str | None
) -> None:
    root = document(before, after)
    changed = ["".join(part.itertext()).strip() for part in root.iter(f"{W}del")]
    assert [text for text in changed if text] == ([deleted] if deleted else [])
    assert text_of(root, "del").strip() == after
    assert words(text_of(root, "ins")) == words(before)


@pytest.mark.parametrize("after", ["EUR 102.00 a day", "EUR 100.50 a day", "EUR 9 a day"])
def test_no_blank_is_added_to_a_decimal_number(after: str) -> None:
    before = "EUR 100.00 a day"
    root = document(before, after)
    assert (text_of(root, "ins").strip(), text_of(root, "del").strip()) == (before, after)


PIECES = ["rent", "roof", "pets", "2024", "$2024", "€", "-5%", "<w:p>", "&", "\x01", "\ud800", "\n"]
TEXTS = st.lists(
    st.sampled_from([*PIECES, "\n\n"]),
    max_size=25,
).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(TEXTS, TEXTS)
def test_any_two_texts_come_back(a: str, b: str) -> None:
    root = document(a, b)
    accepted, rejected = text_of(root, "del"), text_of(root, "ins")
    kept = re.sub(r"\s+", " ", re.sub("[\x01\ud800]", "\ufffd", b)).strip()
    assert re.sub(r"\s+", " ", accepted).strip() == kept or not words(b)
    assert words(rejected) == words(re.sub("[\x01\ud800]", "\ufffd", a))


def test_a_passage_that_moved_as_a_whole_is_a_move() -> None:
    clauses = [
        "The tenant pays the rent on the first day of each month to the account of the landlord.",
        "The landlord repairs the roof, the windows and the heating within a month of a notice.\n\n"
        "He says so to the tenant in writing, with the name of the firm that does the work.",
        "Neither of them keeps pets, nor lets others keep pets, in the house or in the garden.",
    ]
    before = "\n\n".join(clauses)
    after = "\n\n".join([clauses[1], clauses[2], clauses[0].replace("first", "fifth")])
    for first, second in ((before, after), (before, "\n\n".join([clauses[2], *clauses[:2]]))):
        root = document(first, second)
        starts = {
            tag: [part.get(f"{W}name") for part in root.iter(f"{W}{tag}RangeStart")]
            for tag in MOVES.values()
        }
        assert len(starts["moveFrom"]) >= 1
        assert sorted(starts["moveFrom"]) == sorted(starts["moveTo"])
        for tag in MOVES.values():
            begun = [part.get(f"{W}id") for part in root.iter(f"{W}{tag}RangeStart")]
            assert begun == [part.get(f"{W}id") for part in root.iter(f"{W}{tag}RangeEnd")]
        ids = [p.get(f"{W}id") for p in root.iter() if p.get(f"{W}author")]
        assert len(set(ids)) == len(ids)
        assert words(text_of(root, "del")) == words(second)
        assert words(text_of(root, "ins")) == words(first)


@pytest.mark.long
def test_the_extractor_of_documents_reads_the_later_text(tmp_path: Path) -> None:
    (tmp_path / "redline.docx").write_bytes(redline_docx(compare(A, B)))
    text = original(str(tmp_path / "redline.docx"), open_store("sqlite://:memory:")).text
    assert "The tenant pays" in text
    assert "450" in text


def test_marks_of_headers_and_pages_are_no_text() -> None:
    a, b = (f"Draft {day}{END_OF_HEADER}\nThe rent is due.\n\fPage 2" for day in (3, 4))
    assert "\ufffd" not in "".join(document(a, b).itertext())


def test_equal_texts_have_no_change() -> None:
    root = document(A, A)
    assert not list(root.iter(f"{W}ins"))
    assert not list(root.iter(f"{W}del"))


def test_lines_of_a_text_that_was_not_wrapped_are_paragraphs() -> None:
    clauses = [f"{number}. {'The tenant keeps the garden in order. ' * 4}" for number in range(6)]
    before, after = "\n".join(clauses), "\n".join([*clauses[:3], "3a. No pets.", *clauses[3:]])
    root = document(before, after)
    assert len(list(root.iter(f"{W}p"))) == 7
    assert not list(root.iter(f"{W}br"))
    assert words(text_of(root, "del")) == words(after)
    assert words(text_of(root, "ins")) == words(before)
    inserted = [part for part in root.iter(f"{W}rPr") if part.find(f"{W}ins") is not None]
    assert len(inserted) == 1


def test_rows_of_tables_are_rows_and_paragraphs_are_paragraphs() -> None:
    a = (
        "Agreement on cranes\nThe fees below are due each month.\n\tItem\tPrice\n"
        "\tCrane\t100\n\tBerth\t200\n\nSigned by both parties.\n"
    )
    b = a.replace("100", "150").replace("\tBerth", "\tPilot\t7\n\tBerth").replace("both", "all")
    root = document(a, b)
    [table] = root.iter(f"{W}tbl")
    rows = list(table.iter(f"{W}tr"))
    assert [["".join(cell.itertext()) for cell in row.iter(f"{W}tc")] for row in rows] == [
        ["Item", "Price"],
        ["Crane", "100150"],
        ["Pilot", "7"],
        ["Berth", "200"],
    ]
    assert [len(list(row.iter(f"{W}trPr"))) for row in rows] == [0, 0, 1, 0]
    assert not list(root.iter(f"{W}br"))
    assert root[0][0].tag == root[0][-1].tag == f"{W}p"


@pytest.mark.parametrize("end", ["\r\n", "\r", f"{END_OF_HEADER}\n"])
def test_tables_are_the_same_whatever_ends_their_lines(end: str) -> None:
    rows = ["Fees", "", "\tItem\tPrice", "\tCrane\t100", "", "The tenant keeps the garden.", ""]
    clauses = [CLAUSES["Rent"], CLAUSES["Repairs"]]
    before, after = ("\n".join([*rows, *order, ""]) for order in (clauses, clauses[::-1]))
    after = after.replace("100", "150")
    expected = document(before, after)
    found = document(before.replace("\n", end), after.replace("\n", end))
    assert list(expected.iter(f"{W}moveTo"))
    assert ET.tostring(found) == ET.tostring(expected)


def test_shared_passages_are_looked_for_only_in_the_paragraphs_that_have_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    whole = _Parts._within

    def counted(parts: _Parts, *arguments: Any) -> Any:
        calls.append(arguments)
        return whole(parts, *arguments)

    monkeypatch.setattr(_Parts, "_within", counted)
    lines = [
        f"The tenant of house {name} keeps the garden in order.\n\t{name}\t{name}0\n"
        for name in map("n{}".format, range(40))
    ]
    document("".join(lines), "".join(lines).replace("garden", "roof"))
    assert len(calls) < 4 * len(lines)


def numbered(lines: list[str]) -> bytes:
    file = docx.Document()
    file.add_heading("Lease", 1)
    for line in lines:
        file.add_paragraph(line, style="List Number")
    number = file.paragraphs[-1]._p.get_or_add_pPr().get_or_add_numPr()
    number.get_or_add_numId().val, number.get_or_add_ilvl().val = 5, 0
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()


def test_automatic_numbers_and_styles_of_word_files_stay() -> None:
    versions = [
        ["The rent is 400 pounds.", "No pets are kept.", "The tenant repairs the roof."],
        ["The rent is 450 pounds.", "Nobody sublets it.", "The tenant repairs the roof."],
    ]
    files = [numbered(lines) for lines in versions]
    a, b = ("\n".join(["Lease", *lines, ""]) for lines in versions)
    redline = redline_docx(compare(a, b), (word_formats(files[0]), word_formats(files[1])))
    styles = [paragraph.style.name for paragraph in docx.Document(io.BytesIO(redline)).paragraphs]
    assert styles[0] == "Heading 1" and set(styles[1:-1]) == {"List Number"} and len(styles) > 4
    with zipfile.ZipFile(io.BytesIO(redline)) as package:
        root = ET.fromstring(package.read("word/document.xml"))
        assert text_of(root, "del").split() == b.split()
        (number,) = root.iter(f"{W}numPr")
        assert [child.get(f"{W}val") for child in number] == ["0", "5"]
        with zipfile.ZipFile(io.BytesIO(files[1])) as original_file:
            numbering = original_file.read("word/numbering.xml")
        assert package.read("word/numbering.xml") == numbering


def test_deleted_paragraphs_have_the_style_of_their_name_in_the_later_file() -> None:
    files = []
    for lines, points in ((["Rent", "Pets"], 12), (["Rent"], 14)):
        file, out = docx.Document(), io.BytesIO()
        file.styles["Heading 2"].font.size = docx.shared.Pt(points)
        for line in lines:
            file.add_heading(line, 2)
            file.add_paragraph(f"{line}: see below.")
        file.save(out)
        files.append(out.getvalue())
    a, b = "Rent\nRent: see below.\nPets\nPets: see below.\n", "Rent\nRent: see below.\n"
    redline = redline_docx(compare(a, b), (word_formats(files[0]), word_formats(files[1])))
    found = [paragraph.style.name for paragraph in docx.Document(io.BytesIO(redline)).paragraphs]
    assert found[:4] == ["Heading 2", "Normal"] * 2


CLAUSES = {
    "Rent": "The tenant pays four hundred pounds on the first day of every month by a transfer.",
    "Repairs": "The landlord repairs the roof within a reasonable time after a notice in writing.",
    "Secrets": "Each party keeps the terms of this lease to itself for three years after its end.",
}


def with_headings(names: list[str]) -> tuple[str, bytes]:
    """Return a text of clauses with typed numbers, and a Word file of it."""
    file, out = docx.Document(), io.BytesIO()
    for number, name in enumerate(names, 1):
        file.add_heading(f"{number}. {name}", 2)
        file.add_paragraph(CLAUSES[name])
    file.save(out)
    return "".join(f"{line.text}\n" for line in file.paragraphs), out.getvalue()


def test_headings_of_a_moved_clause_keep_their_style() -> None:
    a, first = with_headings(["Rent", "Repairs", "Secrets"])
    b, second = with_headings(["Rent", "Secrets", "Repairs"])
    redline = redline_docx(compare(a, b), (word_formats(first), word_formats(second)))
    with zipfile.ZipFile(io.BytesIO(redline)) as package:
        root = ET.fromstring(package.read("word/document.xml"))
    assert list(root.iter(f"{W}moveFrom")) and list(root.iter(f"{W}moveTo"))
    styles = {
        "".join(paragraph.itertext()): getattr(paragraph.find(f".//{W}pStyle"), "attrib", {})
        for paragraph in root.iter(f"{W}p")
    }
    headings = {text for text in styles if text and text not in CLAUSES.values()}
    assert len(headings) == 4
    assert {styles[text].get(f"{W}val") for text in headings} == {"Heading2"}


@pytest.mark.parametrize("name", ["word/document.xml", "word/styles.xml"])
def test_formats_are_not_read_of_files_with_entities(name: str) -> None:
    assert word_formats(b"%PDF-1.4") is None
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(numbered(["One."]))) as source,
        zipfile.ZipFile(out, "w") as changed,
    ):
        for item in source.namelist():
            start = b'<!DOCTYPE x [<!ENTITY e "e">]>' if item == name else b""
            changed.writestr(item, source.read(item).replace(b"?>", b"?>" + start, 1))
    assert word_formats(out.getvalue()) is None


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (["Auditor: P.", "Auditor: Q."], ["Auditor: P.", "Auditor: R.", "Auditor: Q."], "ins"),
        (["Auditor: P.", "Auditor: R.", "Auditor: Q."], ["Auditor: P.", "Auditor: Q."], "del"),
        (["The cook.", "The end"], ["The cook.", "The ship.", "The end"], "ins"),
        (["A.", "The cook.", "The ship."], ["A.", "The cook."], "del"),
    ],
)
def test_a_line_that_one_text_alone_has_is_one_change(
    before: list[str], after: list[str], change: str
) -> None:
    root = document("\n".join(before), "\n".join(after))
    changed = ["".join(part.itertext()) for part in root.iter(f"{W}{change}")]
    [line] = set(before) ^ set(after)
    assert [text for text in changed if text] == [line]
    assert written(lines_of(root, "del")) == after
    assert written(lines_of(root, "ins")) == before


CELLS = st.lists(st.sampled_from(["rent", "roof", "400", "the house", "–", ""]), min_size=2)
ROWS = CELLS.filter(lambda cells: sum(map(bool, cells)) > 1).map(
    lambda cells: "\t".join(["", *cells])
)
LINES = st.one_of(st.sampled_from(["Lease of 2024:", ONE, TWO, "", "Rent.", "The house."]), ROWS)
PAGES = st.lists(LINES, max_size=9)


def lines_of(root: ET.Element, dropped: str) -> list[str]:
    """Return the paragraphs and rows as after accepting or rejecting all changes, by the rules of
    the standard; the cells of a row are parted by tabs.
    """
    lines, begun = [], ""
    for block in root[0]:
        if block.tag == f"{W}tbl":
            rows = [
                row
                for row in block
                if row.tag == f"{W}tr" and row.find(f"{W}trPr/{W}{dropped}") is None
            ]
            assert not begun.strip() or not rows, "a paragraph would be joined with a table"
            for row in rows:
                cells = [own_text(cell.find(f"{W}p"), dropped) for cell in row.iter(f"{W}tc")]
                lines.append("\t".join(["", *cells]))
            continue
        begun += own_text(block, dropped)
        marks = block.find(f"{W}pPr/{W}rPr")
        if marks is None or marks.find(f"{W}{dropped}") is marks.find(f"{W}{MOVES[dropped]}"):
            lines.append(begun)
            begun = ""
    return [*lines, begun]


def own_text(paragraph: ET.Element, dropped: str) -> str:
    kept = [part for part in paragraph if part.tag not in (f"{W}{dropped}", f"{W}{MOVES[dropped]}")]
    return "".join(
        "\n" if node.tag == f"{W}br" else node.text or "" for part in kept for node in part.iter()
    )


def written(lines: list[str]) -> list[str]:
    """Return lines with text, without blanks before and after cells and between words."""
    plain = ("\t".join(" ".join(cell.split()) for cell in line.split("\t")) for line in lines)
    return [line for line in plain if line.strip()]


@settings(deadline=None, max_examples=60)
@given(PAGES, PAGES)
def test_tables_come_back_whatever_is_added_and_deleted_around_them(
    before: list[str], after: list[str]
) -> None:
    root = document("\n".join(before), "\n".join(after))
    assert written(lines_of(root, "del")) == written(after)
    assert written(lines_of(root, "ins")) == written(before)
