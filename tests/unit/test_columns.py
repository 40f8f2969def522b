"""Tables whose figures stand in other columns: the words are the same, the documents are not."""

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import docx
import pytest
from odf import table, text
from odf.opendocument import OpenDocumentSpreadsheet, OpenDocumentText
from samples import native_reader, pdf, zipped

from indexer import GroupOptions, IndexOptions, group, index, open_store
from indexer.documents.base import DEFAULT_LIMITS
from indexer.documents.embedded import embedded_files
from indexer.documents.plain_text import plain_document
from indexer.documents.rich_text import readable_rich_text
from indexer.fingerprinting.keys import EmbeddedDigests
from indexer.grouping.group_options import separation
from indexer.model import Document, EmbeddedFile, pack_embedded, with_unread

Rows = Sequence[Sequence[str]]

TITLE = "Ledger of the harbour ferry for the month of March, as the auditors received it"
DEBIT = [("Item", "Debit", "Credit"), ("rent of the pier", "900", ""), ("fees", "", "120")]
CREDIT = [("Item", "Debit", "Credit"), ("rent of the pier", "", "900"), ("fees", "", "120")]


def saved(file: object) -> bytes:
    stream = io.BytesIO()
    file.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def word_file(rows: Rows) -> bytes:
    document = docx.Document()
    document.add_paragraph(TITLE)
    cells = document.add_table(rows=0, cols=3)
    for row in rows:
        for cell, value in zip(cells.add_row().cells, row, strict=True):
            cell.text = value
    return saved(document)


def open_document(rows: Rows, of_sheets: bool = False) -> bytes:
    document = OpenDocumentSpreadsheet() if of_sheets else OpenDocumentText()
    body = document.spreadsheet if of_sheets else document.text
    if not of_sheets:
        body.addElement(text.P(text=TITLE))
    cells = table.Table(name=TITLE if of_sheets else "T")
    for row in rows:
        line = table.TableRow()
        for value in row:
            cell = table.TableCell()
            if value or not of_sheets:
                cell.addElement(text.P(text=value))
            line.addElement(cell)
        cells.addElement(line)
    body.addElement(cells)
    return saved(document)


def rich_text(rows: Rows) -> bytes:
    lines = "".join(
        r"\trowd\cellx2000\cellx4000\cellx6000\pard"
        + "".join(rf"\intbl {value}\cell " for value in row)
        + r"\row "
        for row in rows
    )
    return rf"{{\rtf1\ansi\pard {TITLE}\par {lines}\pard }}".encode()


def page(rows: Rows, between: str = "") -> bytes:
    lines = "".join(
        "<tr>" + "".join(f"{between}<td>{between}{value}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return f"<html><body><p>{TITLE}</p><table>{lines}</table></body></html>".encode()


def comma_separated(rows: Rows) -> bytes:
    return "".join(",".join(row) + "\n" for row in ((TITLE,), *rows)).encode()


def sheet(rows: Rows) -> bytes:
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    lines = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{column}{number}" t="inlineStr"><is><t>{value}</t></is></c>'
            for column, value in zip("ABC", row, strict=False)
            if value
        )
        + "</row>"
        for number, row in enumerate(rows, 1)
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default '
            'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
            f'+xml"/><Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/s.xml" ContentType="{kind}.worksheet+xml"/></Types>'.encode(),
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'.encode(),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet '
            f'name="{TITLE[:31]}" sheetId="1" r:id="r"/></sheets></workbook>'.encode(),
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r" Type="{office}/worksheet" Target="s.xml"/>'
            "</Relationships>".encode(),
            "xl/s.xml": f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData>'
            "</worksheet>".encode(),
        }
    )


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "a.docx": word_file,
    "a.odt": open_document,
    "a.ods": lambda rows: open_document(rows, of_sheets=True),
    "a.rtf": rich_text,
    "a.html": page,
    "a.csv": comma_separated,
    "a.xlsx": sheet,
}


def read(data: bytes, name: str) -> Document:
    return plain_document(data, name, DEFAULT_LIMITS) or native_reader().extract(data, name)


def columns_of(data: bytes, name: str) -> str:
    return EmbeddedDigests.of(read(data, name).embedded).columns


@pytest.mark.parametrize("name", WRITERS)
def test_a_figure_in_another_column_makes_another_document(name: str) -> None:
    documents = [read(WRITERS[name](rows), name) for rows in (DEBIT, CREDIT)]
    assert documents[0].text.split() == documents[1].text.split() or name == "a.csv"
    assert documents[0].embedded != documents[1].embedded


def test_columns_of_a_table_are_the_same_in_all_formats() -> None:
    for rows in (DEBIT, CREDIT):
        assert len({columns_of(WRITERS[name](rows), name) for name in WRITERS}) == 1


def test_blanks_in_the_source_of_a_page_are_no_columns() -> None:
    written = [page(DEBIT, between) for between in ("", "\n\t\t\t")]
    assert columns_of(written[0], "a.html") == columns_of(written[1], "a.html")


def test_rows_of_tables_are_lines_in_all_formats() -> None:
    for name in ("a.docx", "a.odt", "a.ods", "a.rtf", "a.html", "a.xlsx"):
        assert "\trent of the pier\t\t900" in read(WRITERS[name](CREDIT), name).text


def families_of(folder: Path) -> int:
    store = open_store("sqlite://:memory:")
    index(folder, store, IndexOptions())
    group(store, GroupOptions())
    return len({row.family for row in store.scan()})


@pytest.mark.parametrize("name", ["a.docx", "a.csv"])
def test_tables_with_figures_in_other_columns_are_not_folded(tmp_path: Path, name: str) -> None:
    for number, rows in enumerate((DEBIT, CREDIT)):
        (tmp_path / f"{number}{name}").write_bytes(WRITERS[name](rows))
    assert families_of(tmp_path) == 2


def test_a_table_is_folded_with_its_copy_in_a_format_without_cells(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(word_file(CREDIT))
    (tmp_path / "a.odt").write_bytes(open_document(CREDIT))
    (tmp_path / "a.pdf").write_bytes(pdf([TITLE, *(" ".join(row) for row in CREDIT)]))
    assert families_of(tmp_path) == 1


def test_columns_are_no_file_among_others() -> None:
    picture = EmbeddedFile("picture", "a.png", "0f")
    gaps = EmbeddedFile("columns", "empty cells in 1 row", "1e")
    with_both, with_one = (pack_embedded(files) for files in ([picture, gaps], [picture]))
    assert with_both[:66] == with_one[:66]
    assert EmbeddedDigests.of(with_both) == (with_one[:64], "1e")
    cut = [with_unread(pack_embedded(files), "a.txt", "2d") for files in ([gaps], [])]
    assert cut[0][:64] == cut[1][:64]


def sheets(cells: str) -> bytes:
    name = "table:table-row"
    row = f"<{name}><table:table-cell><text:p>{TITLE}</text:p></table:table-cell>{cells}</{name}>"
    old = open_document([], of_sheets=True)
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(old)) as archive, zipfile.ZipFile(stream, "w") as copy:
        for member in archive.infolist():
            content = archive.read(member)
            if member.filename == "content.xml":
                start = content.index(b"<table:table ")
                end = content.index(b"</office:spreadsheet>")
                table_of_rows = f'<table:table table:name="S">{row}</table:table>'.encode()
                content = content[:start] + table_of_rows + content[end:]
            copy.writestr(member, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    "empty",
    [
        '<table:table-cell table:number-columns-repeated="3"/>',
        "<table:table-cell/>" * 3,
        '<table:covered-table-cell table:number-columns-repeated="2"/><table:table-cell/>',
    ],
)
def test_empty_cells_of_sheets_are_columns_however_they_are_written(empty: str) -> None:
    filled = "<table:table-cell><text:p>900</text:p></table:table-cell>"
    end = '<table:table-cell table:number-columns-repeated="16380"/>'
    assert f"{TITLE}\t\t\t\t900" in read(sheets(empty + filled + end), "a.ods").text


def test_a_backslash_before_the_word_of_a_cell_is_text_of_rich_text() -> None:
    path = rb"{\rtf1\ansi\pard C:\\row\\cell\\intbl\par}"
    assert readable_rich_text(path) == path


def test_an_indented_paragraph_is_no_row_of_a_table() -> None:
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    for lines in ("Agreed.\n\t\tJohn Smith", "Agreed.\n\tJohn Smith", "\t\t\tJ. Smith\t\nend"):
        assert "empty cells in" not in embedded_files(b"", kind, text=lines)
    assert "empty cells in 1 row" in embedded_files(b"", kind, text="\t\tDebit\n\trent\t900")
    assert "empty cells" in embedded_files(b"", "application/vnd.ms-excel", text="A\n\t\t900")


def test_the_reason_of_other_columns_names_tables(tmp_path: Path) -> None:
    for number, rows in enumerate((DEBIT, CREDIT)):
        (tmp_path / f"{number}.csv").write_bytes(comma_separated(rows))
    store = open_store("sqlite://:memory:")
    index(tmp_path, store, IndexOptions())
    first, second = store.scan()
    reason = separation(first, second, GroupOptions(), pytest.fail, pytest.fail)  # type: ignore
    assert reason == "columns of tables differ"


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("a.csv", 'who,owes\nAnn,"1,5"', "who,owes\nAnn,1,5"),
        ("a.json", '{"a": {"b": 1}, "c": 2}', '{"a": {"b": 1, "c": 2}}'),
        ("a.json", '["a, b"]', '["a", "b"]'),
    ],
)
def test_cells_and_nested_values_count(name: str, first: str, second: str) -> None:
    one, other = (plain_document(text.encode(), name, DEFAULT_LIMITS) for text in (first, second))
    assert one is not None and other is not None
    assert one.embedded != other.embedded


def test_a_title_before_the_rows_of_csv_and_blanks_in_json_do_not_count() -> None:
    titled, plain = (
        plain_document(f"{title}who,owes\nAnn,900".encode(), "a.csv", DEFAULT_LIMITS)
        for title in ("Report\n", "")
    )
    dense, loose = (
        plain_document(text.encode(), "a.json", DEFAULT_LIMITS)
        for text in ('{"a":[1]}', '{"a" : [ 1 ]}')
    )
    assert titled is not None and plain is not None and titled.embedded == plain.embedded
    assert dense is not None and loose is not None and dense.embedded == loose.embedded
