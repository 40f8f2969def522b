"""Headers, footers, notes and the like of office documents, and blocks of HTML."""

import io
import re
import zipfile
from email.message import EmailMessage
from functools import partial

import docx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from odf import style, table, text
from odf.opendocument import OpenDocumentSpreadsheet, OpenDocumentText
from samples import native_reader

from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import differences
from indexer.documents import tika
from indexer.documents.binary_office import displayed_codes, without_codes
from indexer.documents.embedded import embedded_files
from indexer.documents.lists import usual_markup
from indexer.documents.marked_text import marked_text
from indexer.documents.tika import with_hint
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.recipe import DEFAULT
from indexer.wording import END_OF_HEADER

HEADER, FOOTER = "Our reference 4711", "Harbour Ferries Ltd"
BODY = "The ferry leaves the harbour at eight and takes the mail to both islands every day."


def word_file(header: str = HEADER, body: str = BODY, first: str = "") -> bytes:
    document = docx.Document()
    section = document.sections[0]
    section.header.paragraphs[0].text = header
    section.footer.paragraphs[0].text = FOOTER
    if first:
        section.different_first_page_header_footer = True
        section.first_page_header.paragraphs[0].text = first
    document.add_paragraph(body)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def open_document(header: str = HEADER, body: str = BODY, first: str = "") -> bytes:
    document = OpenDocumentText()
    layout = style.PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    for name, top in (("First_20_Page", first), ("Standard", header)):
        page = style.MasterPage(name=name, pagelayoutname=layout)
        document.masterstyles.addElement(page)
        for kind, words in ((style.Header, top), (style.Footer, FOOTER if top == header else "")):
            part = kind()
            part.addElement(text.P(text=words))
            page.addElement(part)
    document.text.addElement(text.P(text=body))
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def flat_open_document(header: str = HEADER, body: str = BODY, first: str = "") -> bytes:
    """Return an OpenDocument in one file: its styles before its text."""
    with zipfile.ZipFile(io.BytesIO(open_document(header, body, first))) as archive:
        styles, content = (archive.read(name).decode() for name in ("styles.xml", "content.xml"))
    masters = styles[styles.index("<office:master-styles") : styles.index("</office:master-")]
    body = f"{masters}</office:master-styles><office:body>"
    return in_one_file(content.replace("<office:body>", body))


def in_one_file(content: str) -> bytes:
    content = content.replace("office:document-content", "office:document")
    mimetype = 'office:mimetype="application/vnd.oasis.opendocument.text"'
    return content.replace("<office:document ", f"<office:document {mimetype} ").encode()


def with_markup(data: bytes, old: str, new: str) -> bytes:
    """Return an OpenDocument in whose parts other markup replaces some."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(file, "w") as copy:
        for member in archive.infolist():
            copy.writestr(member, archive.read(member).replace(old.encode(), new.encode()))
    return file.getvalue()


def rich_text(header: str = HEADER, body: str = BODY, first: str = "") -> bytes:
    parts = {"headerf": first, "header": header, "footer": FOOTER}
    groups = "".join(rf"{{\{word}\pard {words}\par}}" for word, words in parts.items())
    return rf"{{\rtf1\ansi{groups}{body}\par}}".encode()


def text_of(data: bytes, name: str) -> str:
    return native_reader().extract(data, name).text


WITH_HEADERS = pytest.mark.parametrize(
    ("make", "name"),
    [
        (word_file, "a.docx"),
        (open_document, "a.odt"),
        (flat_open_document, "a.fodt"),
        (rich_text, "a.rtf"),
    ],
)


@pytest.mark.long
@WITH_HEADERS
def test_headers_and_footers_are_read_in_every_format(make, name: str) -> None:
    found = sorted(" ".join(text_of(make(), name).split()).split())
    assert found == sorted(f"{HEADER} {FOOTER} {BODY}".split())


@WITH_HEADERS
@pytest.mark.parametrize("is_first", [False, True])
def test_headers_of_all_pages_are_running_headers(make, name: str, *, is_first: bool) -> None:
    """Of a text of three pages; a letterhead on the first page is of the text."""
    days = "12 May 2024", "14 May 2024"
    body = f"{BODY} " * 80
    parts = [(f"Printed {day}", "") for day in days]
    parts = [(first, header) for header, first in parts] if is_first else parts
    a, b = (text_of(make(header, body, first), name) for header, first in parts)
    made = differences(*(ComparedText(text, DEFAULT).facts for text in (a, b)))
    assert [(one.kind, one.a, one.b) for one in made] == [("date" if is_first else "header", *days)]
    assert fingerprint(a).exact == fingerprint(a.replace(END_OF_HEADER, "")).exact


def test_headers_of_a_short_text_are_of_the_text() -> None:
    assert END_OF_HEADER not in text_of(word_file(), "a.docx")


@pytest.mark.parametrize(
    ("make", "name", "drawing"),
    [
        (word_file, "a.docx", "docProps/thumbnail.jpeg"),
        (open_document, "a.odt", "Thumbnails/thumbnail.pdf"),
    ],
)
def test_neither_drawings_of_pages_nor_the_order_of_parts_count(make, name, drawing) -> None:
    """A drawing of the first page has its text; programs write parts in any order."""
    file = io.BytesIO()
    other = drawing.replace(".jpeg", ".emf")
    with zipfile.ZipFile(io.BytesIO(make())) as archive, zipfile.ZipFile(file, "w") as copy:
        for member in sorted(archive.namelist(), key=lambda member: member == "styles.xml"):
            if member != drawing:
                content = archive.read(member).replace(drawing.encode(), other.encode())
                copy.writestr(member, content.replace(b'Extension="jpeg"', b'Extension="emf"'))
        copy.writestr(other, rf"{{\rtf1\ansi\pard {BODY}\par}}")
    assert text_of(file.getvalue(), name).split() == text_of(make(), name).split()


def test_the_number_of_a_page_is_read_of_open_documents_as_of_word_files() -> None:
    footer = (
        '<text:p>Page <text:page-number text:select-page="current">4</text:page-number></text:p>'
    )
    old = f"<text:p>{FOOTER}</text:p>"
    zipped = with_markup(open_document(), old, footer)
    for data in (zipped, flat_open_document().replace(old.encode(), footer.encode())):
        assert " ".join(text_of(data, "a.odt").split()) == f"{HEADER} Page 4 {BODY}"


def sheets(header: str = "Page ") -> bytes:
    """Return a spreadsheet with a row that is there twice, of "Anna" and three cells "900"."""
    document = OpenDocumentSpreadsheet()
    layout = style.PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    frame = style.HeaderStyle()
    frame.addElement(style.HeaderFooterProperties(padding="1pt"))
    frame.firstChild.addElement(style.BackgroundImage())
    layout.addElement(frame)
    for name, words in (("Default", header), ("Report", "Printed in Leith")):
        page = style.MasterPage(name=name, pagelayoutname=layout)
        part = style.Header()
        line = text.P(text=words)
        line.addElement(text.PageNumber(text="1"))
        part.addElement(line)
        page.addElement(part)
        document.masterstyles.addElement(page)
    look = style.Style(name="ta1", family="table", masterpagename="Default")
    document.automaticstyles.addElement(look)
    sheet = table.Table(name="Year 2025", stylename=look)
    row = table.TableRow(numberrowsrepeated=2)
    for words, count in (("Anna", 1), ("900", 3)):
        cell = table.TableCell(numbercolumnsrepeated=count)
        cell.addElement(text.P(text=words))
        row.addElement(cell)
    row.addElement(table.TableCell(numbercolumnsrepeated=16_000))
    sheet.addElement(row)
    document.spreadsheet.addElement(sheet)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_sheets_of_open_documents_are_read_as_displayed() -> None:
    rows = "Year 2025" + " Anna 900 900 900" * 2
    assert " ".join(text_of(sheets(), "a.ods").split()) == rows
    assert (
        " ".join(text_of(sheets("Acme Ltd, page "), "a.ods").split()) == f"Acme Ltd, page 1 {rows}"
    )


def rich_text_with_note(mark: str) -> bytes:
    comment = r"{\*\atnid AM}{\*\atnauthor Ann}\chatn{\*\annotation Why?}"
    note = rf"{{\super \chftn{{{mark}\chftn\pard As amended.}}}}"
    return rf"{{\rtf1\ansi\pard The rent is due.{note}{comment}\par}}".encode()


def open_document_with_note() -> bytes:
    body = "The rent is due."
    note = (
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>As amended.</text:p></text:note-body></text:note>"
        "<office:annotation><text:p>Why?</text:p></office:annotation>"
    )
    return with_markup(open_document(body=body), body, body + note)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (rich_text_with_note(r"\footnote"), "a.rtf"),
        (rich_text_with_note(r"\*\footnote"), "a.rtf"),  # of LibreOffice
        (open_document_with_note(), "a.odt"),
    ],
)
def test_notes_and_comments_are_read_alike_of_every_program(data: bytes, name: str) -> None:
    found = " ".join(text_of(data, name).split())
    assert "The rent is due. As amended." in found
    assert "Why?" in found
    assert "Ann" not in found


@pytest.mark.parametrize(
    ("kind", "name"),
    [("application/epub+zip", "OEBPS/QuickLook/a.xhtml"), ("", "word/embeddings/thumbnail.rtf")],
)
def test_other_parts_with_the_name_of_a_drawing_are_read(kind: str, name: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype" if kind else "[Content_Types].xml", kind)
        archive.writestr(name, BODY)
    assert BODY.encode() in with_hint(file.getvalue(), "a")


INSERTED, DELETED = "takes the mail", "carries no passengers"


def word_file_with_changes() -> bytes:
    document = docx.Document()
    paragraph = document.add_paragraph("The ferry ")
    for tag, words in (("ins", INSERTED), ("del", DELETED)):
        change = OxmlElement(f"w:{tag}")
        change.set(qn("w:id"), "1")
        change.set(qn("w:author"), "Ann")
        run = OxmlElement("w:r")
        piece = OxmlElement("w:delText" if tag == "del" else "w:t")
        piece.text = words
        run.append(piece)
        change.append(run)
        paragraph._p.append(change)
    paragraph.add_run(" every day.")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


CHANGES = """<text:tracked-changes xmlns:dc="http://purl.org/dc/elements/1.1/">
<text:changed-region text:id="c0"><text:insertion>
<office:change-info><dc:creator>Ann</dc:creator><dc:date>2024-05-01T10:00:00</dc:date>
</office:change-info></text:insertion></text:changed-region><text:changed-region text:id="c1">
<text:deletion><office:change-info><dc:creator>Bo</dc:creator><dc:date>2024-05-02T10:00:00</dc:date>
</office:change-info><text:p>{}</text:p></text:deletion></text:changed-region>
</text:tracked-changes><text:p>The ferry <text:change-start text:change-id="c0"/>{}
<text:change-end text:change-id="c0"/><text:change text:change-id="c1"/> every day.</text:p>"""


def open_document_with_changes() -> bytes:
    document = OpenDocumentText()
    document.text.addElement(text.P(text="BODY"))
    file = io.BytesIO()
    document.save(file)
    body = CHANGES.format(DELETED, INSERTED)
    return with_markup(file.getvalue(), "<text:p>BODY</text:p>", body)


def flat_open_document_with_changes() -> bytes:
    with zipfile.ZipFile(io.BytesIO(open_document_with_changes())) as archive:
        return in_one_file(archive.read("content.xml").decode())


def flat_open_document_with_inline_changes() -> bytes:
    """Return one as LibreOffice writes it: what was deleted is in the text, between two marks."""
    content = flat_open_document_with_changes().decode().replace(f"<text:p>{DELETED}</text:p>", "")
    mark = '<text:change{} text:change-id="c1"/>'
    start, end = mark.format("-start"), mark.format("-end")
    return content.replace(mark.format(""), f"{start}{DELETED}{end}").encode()


def rich_text_with_changes() -> bytes:
    source = (
        r"{\rtf1\ansi The ferry {\revised\revauth1 INSERTED}{\deleted\revauthdel1 DELETED{\b  at "
        r"night}\'e9\u233?}\deleted DELETED\deleted0  every day.\par}"
    )
    return source.replace("INSERTED", INSERTED).replace("DELETED", DELETED).encode()


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (word_file_with_changes, "a.docx"),
        (open_document_with_changes, "a.odt"),
        (flat_open_document_with_changes, "a.fodt"),
        (flat_open_document_with_inline_changes, "a.fodt"),
        (rich_text_with_changes, "a.rtf"),
    ],
)
def test_tracked_changes_are_accepted_in_every_format(make, name: str) -> None:
    assert " ".join(text_of(make(), name).split()) == f"The ferry {INSERTED} every day."


def test_deleted_text_is_the_same_file_in_every_format() -> None:
    word = native_reader().extract(word_file_with_changes(), "a.docx").embedded
    assert "deleted text" in word
    for make in (
        open_document_with_changes,
        flat_open_document_with_changes,
        flat_open_document_with_inline_changes,
    ):
        assert native_reader().extract(make(), "a.odt").embedded == word


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<nav>Contact</nav>This is the page.", "Contact This is the page."),
        ("See the list<p>first</p>", "See the list first"),
        ("<main>One</main><section>two</section>three", "One two three"),
        ("Send<button>Cancel</button>Help", "Send Cancel Help"),
        ("See the list<span><div>first</div></span>", "See the list first"),
        ("un<b>believ</b>able", "unbelievable"),
    ],
)
def test_blocks_of_a_page_join_no_words(source: str, expected: str) -> None:
    page = f"<html><body>{source}</body></html>"
    xhtml = f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">{page[6:]}'
    for data in (page, xhtml, "\ufeff" + page):
        assert " ".join(text_of(data.encode(), "a.html").split()) == expected


@pytest.mark.long
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_blocks_of_a_mail_join_no_words(charset: str) -> None:
    message = EmailMessage()
    message["From"] = "ann@example.org"
    message["Subject"] = "Ferry"
    page = f"<html>{BODY} Viele Grüße, schöne Tage, bis übermorgen<div>Ann</div></html>"
    message.set_content(page, subtype="html", charset=charset)
    words = text_of(message.as_bytes(), "a.eml").split()
    assert words[-2:] == ["übermorgen", "Ann"]


def test_a_page_in_an_encoding_of_seven_bits_is_left_as_it_is() -> None:
    japanese = "吾輩は猫である。名前はまだ無い。どこで生れたか。" * 3 + "昭昭昭、"
    meta = '<meta http-equiv="Content-Type" content="text/html; charset=iso-2022-jp">'
    page = f"<html><head>{meta}</head><body><p>{japanese}</p></body></html>"
    assert japanese in text_of(page.encode("iso2022_jp"), "a.html")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<w:ptab w:relativeTo="margin" w:alignment="right" w:leader="none"/>', "rent is due"),
        (
            "<w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>Draft</w:t></w:r></w:p>"
            "</w:txbxContent></v:textbox></v:shape></w:pict>",
            "rent Draft is due",
        ),
    ],
)
def test_boxes_and_aligned_tabs_of_word_join_no_words(markup: str, expected: str) -> None:
    around = f"</w:t></w:r><w:r>{markup}</w:r><w:r><w:t>"
    data = with_markup(word_file(body="rent||is due"), "||", around)
    assert expected in " ".join(text_of(data, "a.docx").split())


def test_separated_blocks_change_no_digest_of_words_that_were_apart() -> None:
    page = f"<html><body><p>{BODY}</p>\n<div>{HEADER}</div></body></html>".encode()
    found = fingerprint(text_of(page, "a.html"))
    assert found.exact == fingerprint(f"{BODY}\n{HEADER}").exact


def test_chapters_of_a_book_join_no_words() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("b/c.opf", PACKAGE)
        for name in "ab":
            page = f"<body><h1>Chapter {name}</h1><p>Text.</p><aside>Note {name}</aside></body>"
            html = f'<html xmlns="http://www.w3.org/1999/xhtml"><head/>{page}</html>'
            book.writestr(f"b/{name}.xhtml", html)
    found = text_of(file.getvalue(), "a.epub").split()
    assert " ".join(found) == "Chapter a Text. Note a Chapter b Text. Note b"


CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="b/c.opf" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>"
)
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="i"><metadata '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title>'
    '<dc:identifier id="i">1</dc:identifier></metadata><manifest>'
    '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)


def test_boxes_that_old_rtf_draws_are_text_once() -> None:
    drawn = r"{\*\do\dobxpage{\dptxbxtext \pard Buyer pays 7\par}}"
    for data in (drawn, r"\par{\shp{\shptxt Buyer pays 7\par}{\shprslt" + drawn + "}}"):
        rtf = r"{\rtf1\ansi\pard The ferry." + data + r"\par It leaves at noon.}"
        text = " ".join(native_reader().extract(rtf.encode(), "a.rtf").text.split())
        assert text == "The ferry. Buyer pays 7 It leaves at noon."


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


WORD_PART = '<w:document xmlns:w="w"><w:body>{}</w:body></w:document>'


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        (run("102"), run("10") + run("2", '<w:position w:val="6"/>'), "raised"),
        (run("102"), run("10") + run("2", '<w:position w:val="-6"/>'), "lowered"),
        (run("no dogs"), run("no dogs", "<w:specVanish/>"), "hidden"),
    ],
)
def test_text_that_word_displays_in_another_way_is_marked(
    before: str, after: str, mark: str
) -> None:
    parts = (WORD_PART.format(f"<w:p>{part}</w:p>") for part in (before, after))
    plain, marked = (marked_text(part.encode()) for part in parts)
    assert not plain
    (lines,) = marked.values()
    assert lines[0][1].decode().startswith(mark)


@pytest.mark.parametrize("properties", ["<w:trPr><w:del w:id='1'/></w:trPr>", "<w:trPr/>"])
def test_text_left_in_deleted_rows_of_word_is_deleted(properties: str) -> None:
    row = f"<w:tr>{properties}<w:tc><w:p>{run('no dogs')}</w:p></w:tc></w:tr>"
    found = marked_text(WORD_PART.format(row).encode())
    assert bool(found) == ("w:del" in properties)


def test_headers_of_excel_have_no_codes_of_fonts_and_default_ones_are_no_text() -> None:
    sheet = "<worksheet><headerFooter><oddHeader>{}</oddHeader></headerFooter></worksheet>"
    codes = "&amp;L&amp;&quot;Arial,Bold&quot;&amp;12Draft&amp;RPage &amp;P"
    assert (
        displayed_codes(sheet.format(codes).encode())
        == sheet.format("&amp;LDraft&amp;RPage &amp;P").encode()
    )
    for default in ("&amp;C&amp;A", "&amp;CPage &amp;P", "&amp;CSeite &amp;P"):
        assert displayed_codes(sheet.format(default).encode()) == sheet.format("").encode()
    text = 'R&D\n\tcell\n\n&C&"Times New Roman,Regular"&12&A\n&L&11Draft&CPage &P\n'
    assert without_codes(text) == "R&D\n\tcell\n\n\nDraft\tPage &P\n"


def test_a_line_of_a_cell_is_no_header_of_a_sheet() -> None:
    text = "Firms\n\tMüller\n&Co. KG\tBonn\n\tMeier\n&CO KG\n\n&CDraft\n"
    assert without_codes(text) == text.replace("&CDraft", "Draft")


def test_headers_of_newer_workbooks_are_read_as_they_are() -> None:
    for kind, header in ((".sheet.macroenabled.12", "&CDraft"), ("", "Draft")):
        metadata = {"Content-Type": [f"application/vnd.ms-excel{kind}"]}
        document = tika.document("A\n\tb\n\n&CDraft\n", metadata, b"", 100, "tika")
        assert document.text == f"A\n\tb\n\n{header}\n"


def test_an_ampersand_in_a_header_of_a_sheet_is_text() -> None:
    text = "A\n\n&CB&&B Hotels\n&LR&&C &&&RP&&L\n"
    assert without_codes(text) == "A\n\nB&B Hotels\nR&C &\tP&L\n"
    header = b"<headerFooter><oddHeader>%s</oddHeader></headerFooter>"
    for codes, displayed in (
        (b"&amp;C&amp;B&amp;&amp;B Inn", b"&amp;C&amp;B Inn"),
        (b"&amp;LR&amp;&amp;C", b"&amp;LR&amp; C"),
    ):
        assert displayed_codes(header % codes) == header % displayed


def test_text_that_moved_in_rich_text_is_read_once() -> None:
    data = rb"{\rtf1\ansi\pard {\mvf No dogs.}\par Cats.\par {\mvt No dogs.}\par }"
    assert native_reader().extract(data, "a.rtf").text.count("No dogs") == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("<p>No dogs", '<p style="display:none">No dogs'),
        ("<ul><li>Yes<li>No</ul>", '<ul><li>Yes<li style="display:none">No</ul>'),
        ("<p>No dogs</p>", '<p style="clip:rect(0,0,0,0)">No dogs</p>'),
        ("<p>No dogs</p>", '<p style="clip-path: inset(100%)">No dogs</p>'),
        ("<p>No dogs</p>", '<p style="width:0;overflow:hidden">No dogs</p>'),
        ("<dialog open>No dogs</dialog>", "<dialog>No dogs</dialog>"),
        ("<div>No dogs</div>", "<template>No dogs</template>"),
        ('<input type=submit value="Accept">', '<input type=submit value="Reject">'),
    ],
)
def test_pages_that_display_other_text_are_other_documents(first: str, second: str) -> None:
    pages = (f"<html><body><p>{BODY}</p>{page}</body></html>".encode() for page in (first, second))
    assert len({embedded_files(page, "text/html") for page in pages}) == 2


def test_open_elements_of_pages_are_read_in_time() -> None:
    for tag in ('<p style="display:none">', '<li style="display:none">', "<p hidden >"):
        assert embedded_files(b"<html>" + tag.encode() * 50_000 + b"x", "text/html")


def slides(listed: list[int], names: list[int]) -> bytes:
    """Return a presentation with each slide in the part of its number in `names`, and a show of
    those `listed`.
    """
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.presentationml"
    paths = [f"ppt/slides/slide{name}.xml" for name in names]
    types = "".join(
        f'<Override PartName="/{path}" ContentType="{kind}.slide+xml"/>' for path in paths
    )
    references = "".join(
        f'<Relationship Id="rId{number}" Type="{office}/slide" Target="slides/slide{name}.xml"/>'
        for number, name in enumerate(names, start=1)
    )
    listing = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in listed)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/ppt/presentation.xml" '
        f'ContentType="{kind}.presentation.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
        f'Type="{office}/officeDocument" Target="ppt/presentation.xml"/></Relationships>',
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{main}" xmlns:r="{office}">'
        f"<p:sldIdLst>{listing}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f"{references}</Relationships>",
    }
    for number, path in enumerate(paths, start=1):
        parts[path] = (
            f'<p:sld xmlns:p="{main}" xmlns:a="{drawing}"><p:cSld><p:spTree><p:sp><p:txBody><a:p>'
            f"<a:r><a:t>slide-{number}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld>"
            "</p:sld>"
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in parts.items():
            archive.writestr(path, content)
    return file.getvalue()


@pytest.mark.parametrize("listed", [[*range(1, 13)], [2, 12, 1, 3], [3, 2, 1]])
def test_slides_are_read_in_the_order_of_the_show(listed: list[int]) -> None:
    count = max(listed)
    for names in ([*range(1, count + 1)], [*range(count, 0, -1)]):
        read = text_of(slides(listed, names), "a.pptx").split()
        assert read[: len(listed)] == [f"slide-{number}" for number in listed]
        assert len(read) == count


def test_a_slide_out_of_the_show_counts() -> None:
    digests = {embedded_files(slides(listed, [1, 2, 3]), "") for listed in ([1, 2, 3], [1, 2])}
    assert len(digests) == 2


TAG = re.compile(r"<(?![?!])[^<>]*>")
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def spelt(data: bytes, spelling: str) -> bytes:
    """Return an office document with its parts in XML of the same meaning."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(file, "w") as copy:
        for member in archive.infolist():
            content = archive.read(member)
            if re.search(r"(?:document|content|sheet1|presentation)\.xml$", member.filename):
                content = other_spelling(content.decode(), spelling)
            copy.writestr(member, content)
    return file.getvalue()


def other_spelling(content: str, spelling: str) -> bytes:
    if spelling == "quotes":
        content = TAG.sub(lambda tag: tag[0].replace('"', "'"), content)
    elif spelling == "blanks":
        content = TAG.sub(lambda tag: tag[0].replace('="', ' = "'), content)
    elif spelling == "comments":
        content = content.replace("</", "<!-- a > b --></")
    elif spelling == "prefixes":
        content = content.replace(f'xmlns="{SPREADSHEET}"', f'xmlns:q="{SPREADSHEET}"')
        if SPREADSHEET in content:
            content = TAG.sub(lambda tag: re.sub(r"^</?", r"\g<0>q:", tag[0]), content)
        content = re.sub(r"(?<=xmlns:)(?:w|p|r|text|table|office|style)(?==)", r"\g<0>q", content)
        name = r"(?<=[</\s])(?:w|p|r|text|table|office|style)(?=:)"
        content = TAG.sub(lambda tag: re.sub(name, r"\g<0>q", tag[0]), content)
    elif spelling == "utf-16":
        return re.sub("encoding=.UTF-8.", "encoding='UTF-16'", content).encode("utf-16")
    return content.encode()


def workbook_with_hidden_row() -> bytes:
    row = '<row r="{}"{}><c r="A{}"><v>55</v></c></row>'
    sheet = row.format(1, "", 1) + row.format(2, ' hidden="1"', 2)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{SPREADSHEET}"><sheetData>{sheet}</sheetData></worksheet>',
        )
    return file.getvalue()


@pytest.mark.parametrize("spelling", ["quotes", "blanks", "comments", "prefixes", "utf-16"])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (word_file_with_changes, "a.docx"),
        (open_document_with_changes, "a.odt"),
        (workbook_with_hidden_row, "a.xlsx"),
        (partial(slides, [2, 12, 1, 3], [*range(1, 13)]), "a.pptx"),
    ],
)
def test_parts_are_read_however_their_xml_is_written(make, name: str, spelling: str) -> None:
    data = make()
    other = spelt(data, spelling)
    found = embedded_files(data, "")
    assert found and embedded_files(other, "") == found
    if name != "a.xlsx":
        assert text_of(other, name).split() == text_of(data, name).split()


def test_parts_that_libreoffice_and_office_write_are_left_as_they_are() -> None:
    for data in (open_document(), sheets(), word_file()):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in ("content.xml", "styles.xml", "word/document.xml"):
                if name in archive.namelist():
                    assert usual_markup(content := archive.read(name)) is content
    for name, prefix in (("drawing", "draw"), ("datastyle", "number"), ("text", "text")):
        root = f'<a xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"/>'.encode()
        assert usual_markup(root) is root


def test_xml_that_declares_entities_is_left_as_it_is() -> None:
    page = b"<!DOCTYPE a [%s]><a b = '1'>&x;</a>"
    for declared in (b'<!ENTITY x "yyyy">', b'<!ATTLIST a c CDATA "yyyy">'):
        assert usual_markup(page % declared) == page % declared
    assert usual_markup(b"<a b = '1'><c") == b"<a b = '1'><c"


@pytest.mark.parametrize("hostile", [b'<a b="1" ', b"<a b=' ", b"xmlns", b"<!", b"<a ", b"= "])
def test_unfinished_xml_is_read_in_time(hostile: bytes) -> None:
    assert usual_markup(hostile * 100_000) == hostile * 100_000


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('office:value-type="float" office:value="900"', "900"),
        ('office:value-type="date" office:date-value="2024-01-05"', "2024-01-05"),
        ('office:value-type="boolean" office:boolean-value="true"', "true"),
        ('office:value-type="string" office:string-value="accept &amp; sign"', "accept & sign"),
    ],
)
@pytest.mark.parametrize("cell", ["<table:table-cell {}/>", "<table:table-cell {}> </{}>"])
def test_values_of_cells_without_text_are_read(cell: str, value: str, words: str) -> None:
    old = "<table:table-row "
    row = f"<table:table-row>{cell.format(value, 'table:table-cell')}</table:table-row>"
    data = with_markup(sheets(), old, row + old)
    assert f"Year 2025 {words} Anna" in " ".join(text_of(data, "a.ods").split())
