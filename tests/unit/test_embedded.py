"""The files in a document besides its text: they are found, and belong to its identity."""

import base64
import csv
import hashlib
import io
import struct
import tarfile
import time
import tracemalloc
import zipfile
import zlib
from dataclasses import replace
from email.message import EmailMessage
from html import escape
from pathlib import Path

import pytest

from indexer import (
    ExportOptions,
    GroupOptions,
    IndexOptions,
    SearchOptions,
    check,
    check_mail,
    export,
    group,
    index,
    open_store,
    reindex,
    search,
)
from indexer.comparing.criteria import Criteria
from indexer.comparing.reasons import have_same_symbols
from indexer.documents.base import Limits, ReadOptions
from indexer.documents.binary_office import workbook_files
from indexer.documents.embedded import embedded_files
from indexer.documents.embedded_parts import Package
from indexer.documents.lists import text_structure
from indexer.documents.marked_text import marked_styles, marked_text
from indexer.documents.tika import document, with_hint
from indexer.documents.unseen import (
    hidden_cells,
    hidden_values,
    hides,
    rule_cells,
    unseen_cells,
    values_behind_texts,
)
from indexer.fingerprinting.fingerprint import content_digest, fingerprint, with_pictographs
from indexer.jobs.duplicates import DuplicatesOptions, duplicates
from indexer.jobs.index import count_outdated
from indexer.jobs.repair import repair
from indexer.model import EmbeddedFile, Row, pack_embedded, unpack_embedded, with_unread
from indexer.recipe import recipe_named
from indexer.wording import format_marks


def png(grey: int) -> bytes:
    """Return a picture of one pixel."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes([0, grey]))),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


PICTURES = [png(0), png(255)]
TEXT = "Please find the scan of the signed lease attached to this message. "
BODY = TEXT + "The originals follow by courier on Monday, to your office in Utrecht."


def mail(name: str, content: bytes) -> bytes:
    message = EmailMessage()
    message["From"] = "copier@example.org"
    message["To"] = "ann@example.org"
    message["Subject"] = "Scan"
    message["Date"] = "Mon, 06 May 2024 10:00:00 +0000"
    message["Message-ID"] = "<same@example.org>"
    message.set_content(BODY)
    message.add_attachment(content, maintype="image", subtype="png", filename=name)
    return message.as_bytes()


def word_file(content: bytes) -> bytes:
    file = io.BytesIO()
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="png" ContentType="image/png"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.'
            'openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>'
            "</Relationships>",
        )
        archive.writestr(
            "word/document.xml",
            '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
            f"<w:body><w:p><w:r><w:t>{BODY}</w:t></w:r></w:p></w:body></w:document>",
        )
        archive.writestr("word/media/image1.png", content)
    return file.getvalue()


def pdf_file(content: bytes) -> bytes:
    """Return a PDF with a page of text and a scanned page."""
    text = f"BT /F1 12 Tf 20 700 Td ({BODY}) Tj ET".encode()
    picture = (
        b"<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray "
        b"/BitsPerComponent 8 /Length %d >>\nstream\n%s\nendstream" % (64, content[:64].ljust(64))
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2000 792] /Contents 5 0 R "
        b"/Resources << /Font << /F1 6 0 R >> >> >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 8 0 R "
        b"/Resources << /XObject << /I 7 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        picture,
        b"<< /Length 5 >>\nstream\n/I Do\nendstream",
    ]
    data = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + (
        b"xref\n0 9\n0000000000 65535 f \n%strailer\n<< /Size 9 /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (table, len(data))
    )


def rich_text(content: bytes) -> bytes:
    return b"{\\rtf1\\ansi\n%s\\par {\\pict\\pngblip\\picw8\\pich8 %s}}" % (
        BODY.encode(),
        content.hex().encode(),
    )


def page(content: bytes) -> bytes:
    source = base64.b64encode(content).decode()
    return f'<html><body><p>{BODY}</p><img src="data:image/png;base64,{source}"></body>'.encode()


def zip_file(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", BODY)
        archive.writestr(name, content)
    return file.getvalue()


def tar_file(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


FILES = {
    "a.eml": lambda content: mail("scan.png", content),
    "a.docx": word_file,
    "a.pdf": pdf_file,
    "a.rtf": rich_text,
    "a.html": page,
    "pdf.zip": lambda content: zip_file("a.pdf", pdf_file(content)),
    "mail.zip": lambda content: zip_file("a.eml", mail("scan.png", content)),
    "nested.zip": lambda content: zip_file("b.zip", zip_file("a.docx", word_file(content))),
    "word.tar": lambda content: tar_file("a.docx", word_file(content)),
}
TYPES = {"a.eml": "message/rfc822", "a.html": "text/html"}


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_another_picture_has_another_digest(name: str) -> None:
    first, second = (FILES[name](content) for content in PICTURES)
    kind = TYPES.get(name, "")
    assert embedded_files(first, kind) == embedded_files(FILES[name](PICTURES[0]), kind)
    assert embedded_files(first, kind)[:64] != embedded_files(second, kind)[:64]
    (file,) = unpack_embedded(embedded_files(first, kind))
    assert file.kind == "picture"


@pytest.mark.parametrize("name", ["word/media/thumbnail.png", "word/media/quicklook/a.png"])
def test_a_picture_in_the_text_counts_by_any_name(name: str) -> None:
    data = io.BytesIO(word_file(PICTURES[0]))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr(name, PICTURES[1])
    files = unpack_embedded(embedded_files(data.getvalue(), ""))
    assert ("picture", name.rpartition("/")[2]) in {(file.kind, file.name) for file in files}


def workbook(picture: bytes = b"", formula: bytes = b"") -> bytes:
    """Return the records of a workbook of Excel before 2007."""
    records = [(0x06, b"cell" + b"value of cells.." + formula)] if formula else []
    if picture:
        records += [(0xEB, b"ids\x07\xf0" + picture[:2]), (0x3C, picture[2:])]
    records += [(0x3C, b"of another record")]
    return b"".join(struct.pack("<HH", kind, len(data)) + data for kind, data in records)


def office(path: str, content: str) -> bytes:
    file = io.BytesIO(word_file(PICTURES[0]))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(path, content)
    return file.getvalue()


def with_document(content: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("word/document.xml", content)
    return file.getvalue()


def book(path: str, content: str, css: str = "") -> bytes:
    """Return an EPUB with one chapter, `a.xhtml`, a style sheet, and another file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("a.opf", '<package><manifest><item href="a.xhtml"/>')
        archive.writestr("css/b.css", css)
        archive.writestr(path, content)
    return file.getvalue()


SHEET, PART = "xl/worksheets/sheet1.xml", "word/footer1.xml"
UNREAD = {
    "formula": [office(SHEET, f"<c><f>A1+{end}</f><v>7</v></c>") for end in "12"],
    "list of values": [office(SHEET, f"<formula1>{end}</formula1>") for end in "ab"],
    "drawing": [office(PART, f"<a:custGeom>{end}</a:custGeom>") for end in "12"],
    "box": [office(PART, f'<w:checkBox><w:checked w:val="{end}"/></w:checkBox>') for end in "01"],
    "symbol": [office(PART, f'<w:sym w:char="F0A{end}"/>') for end in "78"],
    "signature": [office("_xmlsignatures/sig1.xml", end) for end in "12"],
    "embedded document": [office("word/embeddings/a.vsdx", end) for end in "12"],
    "object without a suffix": [office("Object 1", end) for end in "12"],
    "picture without a suffix": [office("Pictures/100", end) for end in "12"],
    "macro of OpenDocument": [office("Basic/Standard/M.xml", end) for end in "12"],
    "formula of OpenDocument": [office("O/content.xml", f"<math>{end}</math>") for end in "12"],
    "comment in a thread": [office("xl/threadedComments/a.xml", end) for end in "12"],
    "comment of an archive": [
        zip_file("b.txt", b"yes")[:-2] + b"\1\0" + end for end in (b"1", b"2")
    ],
    "chapter out of the book": [book("b.xhtml", end) for end in "12"],
    "chapter out of the order of a book": [
        book("b.opf", f"<spine><itemref idref='b'{end}/>") for end in ("", " linear='no'")
    ],
    "text that a style of a book hides": [
        book("a.xhtml", "<link rel='stylesheet' href='css/b.css'/><p class='b'>not</p>", css)
        for css in (".c {display: none}", ".b {display: none}")
    ],
    "part that declares entities": [
        office(PART, f"<!DOCTYPE a [<!ENTITY b '{end}'>]><w:t>&b;</w:t>") for end in "12"
    ],
    "body of a mail that is elsewhere": [
        b"From: a\nContent-Type: message/external-body; access-type=URL;\n URL=%s\n\n" % end
        for end in (b"a", b"b")
    ],
    "file in a book": [book("b.pdf", end) for end in "12"],
    "drawing in a chapter": [book("a.xhtml", f'<svg><path d="L{end}"/></svg>') for end in "12"],
    "attribute": [f'<?xml version="1.0"?><a b="{end}"/>'.encode() for end in "12"],
    "symbol of RTF": [rb"{\rtf1 {\*\fldinst SYMBOL %d \\f Wingdings}}" % n for n in (254, 111)],
    "link of RTF": [rb"{\rtf1 {\*\fldinst HYPERLINK a%d}{\fldrslt b}}" % end for end in (1, 2)],
    "struck text of RTF": [rb"{\rtf1 shall %snot pay}" % end for end in (b"", rb"\strike ")],
    "hidden text of RTF": [rb"{\rtf1 shall %snot pay}" % end for end in (b"", rb"\v ")],
    "white text of RTF": [
        rb"{\rtf1{\colortbl;\red255\green255\blue255;}shall %snot pay}" % end
        for end in (b"", rb"\cf1 ")
    ],
    "nearly white text of RTF": [
        rb"{\rtf1{\colortbl;\red250\green255\blue254;}shall %snot pay}" % end
        for end in (b"", rb"\cf1 ")
    ],
    "row of Word that is hidden": [
        office(PART, f"<w:trPr><w:{name}/></w:trPr>") for name in ("cantSplit", "hidden")
    ],
    "sheet without zeros": [office(SHEET, f"<sheetView{end}/>") for end in ("", ' showZeros="0"')],
    "sheet with formulas": [
        office(SHEET, f"<sheetView{end}/>") for end in ("", ' showFormulas="1"')
    ],
    "rows that are hidden by default": [
        office(SHEET, f'<sheetFormatPr zeroHeight="{end}"/><row r="1"/>') for end in "01"
    ],
    "zeros of OpenDocument": [
        office("settings.xml", f'<a config:name="ShowZeroValues">{end}</a>')
        for end in ("true", "false")
    ],
    "dates since 1904": [
        office("xl/workbook.xml", f'<workbookPr date1904="{value}"/>') for value in "01"
    ],
    "raised text of RTF by points": [rb"{\rtf1 10%s2}" % end for end in (b"", rb"\up6 ")],
    "raised text of RTF": [rb"{\rtf1 10%s2}" % end for end in (b"", rb"\super ")],
    "hidden slide": [office("ppt/slides/slide1.xml", f"<p:sld{end}>") for end in ("", ' show="0"')],
    "hidden shape": [
        office("ppt/slides/slide1.xml", f'<p:cNvPr id="2"{end}/>') for end in ("", ' hidden="1"')
    ],
    "shapes of the master that a slide hides": [
        office("ppt/slides/slide1.xml", f"<p:sld{end}>") for end in ("", ' showMasterSp="0"')
    ],
    "table from the right": [
        office(PART, f"<w:tblPr>{end}</w:tblPr>") for end in ("", "<w:bidiVisual/>")
    ],
    "header of a first page": [
        with_document(f'<w:sectPr><w:headerReference w:type="first"/>{end}</w:sectPr>')
        for end in ("<w:titlePg/>", "")
    ],
    "header of a first page of a section that was changed": [
        with_document(
            f'<w:sectPr><w:headerReference w:type="first"/>{end}'
            "<w:sectPrChange><w:sectPr><w:cols/></w:sectPr></w:sectPrChange></w:sectPr>"
        )
        for end in ("<w:titlePg/>", "")
    ],
    "header of a first page of a sheet": [
        office(SHEET, f"<headerFooter{end}><firstHeader>a</firstHeader></headerFooter>")
        for end in ("", ' differentFirst="1"')
    ],
    "hidden section": [
        office("content.xml", f'<text:section text:display="{end}">') for end in ("true", "none")
    ],
    "document in a page": [
        b"<a href='data:application/pdf;name=a.pdf;base64,AA%c='>" % end for end in b"AE"
    ],
    "shape of SVG": [f'<svg><path d="M0 0 L{end}"/></svg>'.encode() for end in "12"],
    "picture of FictionBook": [f"<binary id='a'>AA{end}=</binary>".encode() for end in "AE"],
    "binary picture of RTF": [b"{\\rtf1 {\\pict\\bin3 ab%d}}" % end for end in (1, 2)],
    "shape of RTF": [b"{\\rtf1 {\\sn pVerticies}{\\sv 8;2;(%d,9)}}" % end for end in (1, 2)],
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read_of_office_files_and_pages_counts(name: str) -> None:
    kind = "message/rfc822" if name.startswith("body of a mail") else ""
    first, second = (embedded_files(data, kind) for data in UNREAD[name])
    assert first[:64] != second[:64] != ""


ODF_MARK = (
    '<style:style style:name="T"><style:text-properties {}/></style:style>'
    '<text:span text:style-name="T">{{}}</text:span>'
)
PARTS = {  # of an Office document: a path, and what its content differs in
    "link": ("word/_rels/document.xml.rels", '<Relationship TargetMode="External" Target="{}"/>'),
    "link of a field": (PART, "<w:instrText> HYPERLINK {}</w:instrText>"),
    "picture that is cut": (PART, '<a:srcRect l="{}000"/>'),
    "direction of an arrow": ("ppt/slides/slide1.xml", '<a:ln><a:tailEnd type="{}"/></a:ln>'),
    "shape that is turned": ("ppt/slides/slide1.xml", '<a:xfrm rot="{}"/>'),
    "watermark": ("word/header1.xml", '<v:shape><v:textpath style="a" string="{}"/>'),
    "list of allowed values": ("content.xml", '<table:a table:condition="of:is({})"/>'),
    "formula of Word": (
        PART,
        "<m:oMath><m:sSup><m:e><m:t>1</m:t></m:e><m:sup><m:t>{}</m:t></m:sup></m:sSup></m:oMath>",
    ),
    "alternative text": ("ppt/slides/slide1.xml", '<p:cNvPr descr="{}"/>'),
    "shape": (PART, '<a:prstGeom prst="{}"/>'),
    "struck text": (PART, "<w:r><w:rPr><w:strike/></w:rPr><w:t>{}</w:t></w:r>"),
    "struck text of OpenDocument": (
        "content.xml",
        '<style:style style:name="T"><style:a style:text-line-through-style="solid"/></style:style>'
        '<text:span text:style-name="T">{}</text:span>',
    ),
    "hidden text": (PART, "<w:r><w:rPr><w:vanish/></w:rPr><w:t>{}</w:t></w:r>"),
    "white text": (
        PART,
        '<w:p w:rsidR="1"/><w:r><w:rPr><w:color w:val="ffffff"/></w:rPr><w:t>{}</w:t></w:r>',
    ),
    "white text of OpenDocument": ("content.xml", ODF_MARK.format('fo:color="#ffffff"')),
    "nearly white text": (
        PART,
        '<w:p><w:r><w:rPr><w:color w:val="FEFEFE"/></w:rPr><w:t>{}</w:t></w:r></w:p>',
    ),
    "nearly white text of OpenDocument": ("content.xml", ODF_MARK.format('fo:color="#fafafa"')),
    "text in a font of symbols": (
        PART,
        '<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:t>{}</w:t></w:r>',
    ),
    "text of a slide in a font of symbols": (
        "ppt/slides/slide1.xml",
        '<a:r><a:rPr><a:latin typeface="Symbol"/></a:rPr><a:t>{}</a:t></a:r>',
    ),
    "text of OpenDocument in a font of symbols": (
        "content.xml",
        ODF_MARK.format("fo:font-family=\"'Wingdings 2'\""),
    ),
    "number of a list on a slide": (
        "ppt/slides/slide1.xml",
        '<a:buAutoNum type="arabicPeriod" startAt="{}"/>',
    ),
    "choice without text": (PART, '<w:dropDownList w:lastValue="{}"/>'),
    "tiny text": (PART, '<w:r><w:rPr><w:sz w:val="2"/></w:rPr><w:t>{}</w:t></w:r>'),
    "text of the colour behind it": (
        PART,
        '<w:p><w:pPr><w:shd w:fill="1F3864"/></w:pPr><w:r><w:rPr><w:color w:val="1f3864"/></w:rPr>'
        "<w:t>{}</w:t></w:r></w:p>",
    ),
    "black text under a marker": (
        PART,
        '<w:r><w:rPr><w:highlight w:val="black"/></w:rPr><w:t>{}</w:t></w:r>',
    ),
    "white text of a slide": (
        "ppt/slides/slide1.xml",
        '<a:r><a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr>'
        "<a:t>{}</a:t></a:r>",
    ),
    "raised text": (
        PART,
        '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>',
    ),
    "raised text of a slide": (
        "ppt/slides/slide1.xml",
        '<a:r><a:rPr baseline="30000"/><a:t>{}</a:t></a:r>',
    ),
    "struck text of speaker notes": (
        "ppt/notesSlides/notesSlide1.xml",
        '<a:r><a:rPr strike="sngStrike"/><a:t>{}</a:t></a:r>',
    ),
    "hidden text of OpenDocument": ("content.xml", ODF_MARK.format('text:display="none"')),
    "raised text of OpenDocument": ("content.xml", ODF_MARK.format('style:text-position="9%"')),
    "value of OpenDocument": (
        "content.xml",
        '<table:table-cell office:value="1.{}"><text:p>1</text:p></table:table-cell>',
    ),
    "hidden row of OpenDocument": (
        "content.xml",
        '<table:table-row table:number-rows-repeated="{}"/>'
        '<table:table-row table:visibility="collapse">',
    ),
    "raised words of cells": (
        "xl/sharedStrings.xml",
        '<si><r><t>1</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>{}</t></r></si>',
    ),
    "hidden sheet": ("xl/workbook.xml", '<sheet name="{}" sheetId="1" state="veryHidden"/>'),
    "hidden row": (SHEET, '<row r="{}" hidden="1"/>'),
    "hidden column": (SHEET, '<col min="2" max="{}" hidden="1"/>'),
    "cells of a rule": (SHEET, '<conditionalFormatting sqref="A1:A{}"/>'),
    "value of a form": ("content.xml", '<form:checkbox form:current-state="{}"/>'),
    "type of a chart": ("word/charts/chart1.xml", "<c:chart><c:{}Chart>"),
    "type of a chart of OpenDocument": ("Object 1/content.xml", '<chart:chart chart:class="{}"/>'),
    "cells of a chart": ("xl/charts/chart1.xml", "<c:f>{}</c:f>"),
    "name of cells": ("xl/workbook.xml", '<definedName name="Rate">{}</definedName>'),
    "condition": (SHEET, "<cfRule><formula>A1&gt;{}</formula></cfRule>"),
    "small chart": (SHEET, "<xm:f>{}</xm:f>"),
    "macro sheet": ("xl/macrosheets/sheet1.xml", "<f>EXEC({})</f>"),
    "chart of a default namespace": ("xl/charts/chart1.xml", "<chart><x{}Chart>"),
    "operator of a rule": (SHEET, '<cfRule type="cellIs" operator="x{}"/>'),
    "deleted words": (PART, "<w:del><w:r><w:delText>{}</w:delText></w:r></w:del>"),
    "deleted words of OpenDocument": (
        "content.xml",
        "<text:deletion><text:p>{}</text:p></text:deletion><text:a >",
    ),
    "cells that are repeated too often": (
        "content.xml",
        '<table:table-cell table:number-columns-repeated="999999{}"><text:p>a</text:p>'
        "</table:table-cell>",
    ),
    "link of OpenDocument": ("content.xml", '<text:a xlink:href="http://a{}.example">'),
    "instruction of a field": (PART, "<w:instrText> DDEAUTO c{}</w:instrText>"),
    "kind of a shape of OpenDocument": ("content.xml", '<draw:a draw:type="star{}"/>'),
    "value behind a number": (SHEET, '<c r="A1"><v>0.12345678901{}</v></c>'),
    "control": ("word/activeX/activeX1.xml", "{}"),
    "data of another program": ("customXml/item1.xml", "<invoice>{}</invoice>"),
    "part that nobody knows": ("word/unknown/a.xml", "{}"),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_is_not_read_of_a_part_counts(name: str) -> None:
    path, content = PARTS[name]
    digests = {embedded_files(office(path, content.format(end)), "")[:64] for end in "23"}
    assert len(digests) == 2


RUNS = {
    PART: "<w:r><w:rPr><w:vanish/></w:rPr><w:t>{}</w:t></w:r>",
    "word/footer1.xml": "<w:r><w:rPr><w:dstrike w:val='1'/></w:rPr><w:t>{}</w:t></w:r>",
    "word/header1.xml": "<w:del><w:r><w:delText>{}</w:delText></w:r></w:del>",
    "ppt/slides/slide1.xml": "<a:r><a:rPr baseline='30000'/><a:t>{}</a:t></a:r>",
}


@pytest.mark.parametrize("path", RUNS)
def test_marked_text_is_one_however_programs_split_it(path: str) -> None:
    run = RUNS[path].replace("'", '"')
    whole, split, other = (
        embedded_files(office(path, "".join(map(run.format, words))), "")[:64]
        for words in (["not yet "], ["no", "t ", "yet "], ["not ", "ever "])
    )
    assert whole == split != other


def test_hidden_text_is_the_same_file_in_every_format() -> None:
    rich = unpack_embedded(embedded_files(rb"{\rtf1 It is {\v not} agreed.}", ""))
    word = "<w:t>It is</w:t><w:r><w:rPr><w:vanish/></w:rPr><w:t>not</w:t></w:r>"
    style = '<style:style style:name="T"><style:a text:display="none"/></style:style>'
    body = '<text:p>It is</text:p><text:span text:style-name="T">not</text:span>'
    for data in (office("word/document2.xml", word), office("content.xml", style + body)):
        assert unpack_embedded(embedded_files(data, ""))[1:] == rich  # after its picture
    flat = f"<office:document><office:meta>Ann</office:meta>{style}{body}</office:document>"
    assert unpack_embedded(embedded_files(flat.encode(), "application/xml")) == rich


def test_definitions_of_an_open_document_in_one_file_are_no_content() -> None:
    start, marker = '<a text:start-value="0"/>', '<draw:marker svg:d="M10 0"/>'
    flat = f"<office:document><office:styles>{start}{marker}</office:styles><office:body/>"
    assert embedded_files(flat.encode(), "application/xml") == ""
    assert embedded_files(f"{flat}{marker}".encode(), "application/xml")


MARKED_UP = (
    '<?xml version="1.0" encoding="{}"?><html><body><p>It is <s>not</s> due.</p></body></html>'
)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_markup_in_utf_16_with_a_mark_is_read_as_in_utf_8(encoding: str) -> None:
    page = f"\ufeff{MARKED_UP.format(encoding)}".encode(encoding)
    plain = MARKED_UP.replace(' encoding="{}"', "").encode()
    assert with_hint(page, "a.html") == b"\xef\xbb\xbf" + with_hint(plain, "a.html")
    assert embedded_files(page, "text/html") == embedded_files(plain, "text/html") != ""
    text = "\ufeffa < b".encode(encoding)
    assert with_hint(text, "a") == text


ELEMENTS = {
    "empty element": ("<a>yes</a><approved/>", "<a>yes</a><rejected/>"),
    "name": ("<creditor>Ann</creditor>", "<debtor>Ann</debtor>"),
    "element with the text": ("<a/><b>5</b>", "<a>5</a><b/>"),
    "nesting": ("<a>5</a><b/>", "<a>5<b/></a>"),
    "element of an attribute": ('<a x="1"/><b/>', '<a/><b x="1"/>'),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_of_xml_count(name: str) -> None:
    digests = {
        embedded_files(f"<?xml version='1.0'?><r>{content}</r>".encode(), "application/xml")
        for content in ELEMENTS[name]
    }
    assert len(digests) == 2


def test_prefixes_blanks_comments_and_sections_of_xml_do_not_count() -> None:
    first, *others = (
        embedded_files(f"<?xml version='1.0'?>{content}".encode(), "application/xml")
        for content in (
            "<r><a/><b>5 &lt; 6</b></r>",
            "<n:r xmlns:n='u'>\n <n:a></n:a>\n <n:b>5 &lt; 6</n:b>\n</n:r>",
            "<r><!-- <c> --><a/><b>5 <![CDATA[<]]> <!----> 6</b><!-- </r>",
        )
    )
    assert others == [first, first]
    assert unpack_embedded(first)[0].kind == "columns"  # a copy that is no XML has none


MEMBERS = {
    "a.html": ("<p>It is not due.</p>", "<p>It is <s>not</s> due.</p>"),
    "a.xml": ("<r><paid/>Ann</r>", "<r><due/>Ann</r>"),
    "a.csv": ("Acme,900,\n", "Acme,,900\n"),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_members_of_archives_count_as_files_by_themselves(name: str) -> None:
    for packed in (zip_file, tar_file):
        first, second = (embedded_files(packed(name, each.encode()), "") for each in MEMBERS[name])
        assert first != second


def test_what_marks_a_text_counts() -> None:
    run = "<w:r><w:rPr>{}</w:rPr><w:t>2</w:t></w:r>"
    marks = ("<w:vanish/>", "<w:strike/>", '<w:vertAlign w:val="subscript"/>', "<w:rStyle/>")
    files = [embedded_files(office(PART, run.format(mark)), "") for mark in marks]
    assert len(set(files)) == len(marks)


@pytest.mark.parametrize(
    "content",
    [
        '<w:tc><w:tcPr><w:shd w:fill="1F3864"/></w:tcPr><w:p>{}</w:p></w:tc>',
        '<w:p><w:pPr><w:shd w:fill="1F3864"/></w:pPr>{}</w:p>',
        "<w:txbxContent><w:p>{}</w:p></w:txbxContent>",
    ],
)
def test_white_text_on_a_colour_is_displayed(content: str) -> None:
    run = '<w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>2</w:t></w:r>'
    displayed = content.format(run)
    names = [
        [file.name for file in unpack_embedded(embedded_files(office(PART, part), ""))]
        for part in (displayed, f"{displayed}<w:p>{run}</w:p>")
    ]
    assert [any("hidden" in name for name in of) for of in names] == [False, True]


def parts(**members: str) -> bytes:
    """Return a Word document of parts; `document`, `rels` and names of pictures."""
    file = io.BytesIO()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    root = f'<Relationship Id="r" Type="{kind}" Target="word/document.xml"/>'
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("_rels/.rels", root)
        archive.writestr("word/_rels/document.xml.rels", members.pop("rels"))
        archive.writestr("word/document.xml", members.pop("document"))
        for name, content in members.items():
            archive.writestr(f"word/media/{name}.png", content)
    return file.getvalue()


PICTURED = '<w:t>Ann</w:t><a:blip r:embed="{}"/><w:t>Bob</w:t><a:blip r:embed="{}"/>'
PAIR = '<Relationship Id="{}" Target="media/{}.png"/><Relationship Id="{}" Target="media/{}.png"/>'


def test_pictures_that_are_exchanged_count_and_names_that_programs_give_do_not() -> None:
    def digest(document: str, rels: str, **pictures: str) -> str:
        return embedded_files(parts(document=document, rels=rels, **pictures), "")[:64]

    first = digest(PICTURED.format("a", "b"), PAIR.format(*"axby"), x="ann", y="bob")
    exchanged = digest(PICTURED.format("b", "a"), PAIR.format(*"axby"), x="ann", y="bob")
    moved = digest(
        PICTURED.format("a", "b").replace("Ann", "").replace("Bob", "AnnBob"),
        PAIR.format(*"axby"),
        x="ann",
        y="bob",
    )
    numbered = digest(PICTURED.format("b", "c"), PAIR.format(*"czbx"), z="bob", x="ann")
    assert first == numbered
    assert len({first, exchanged, moved}) == 3


def test_links_count_with_their_places_and_not_by_their_ids() -> None:
    def digest(first: str, second: str, rels: str) -> str:
        document = f'<w:hyperlink r:id="{first}"/><w:t>and</w:t><w:hyperlink r:id="{second}"/>'
        return embedded_files(parts(document=document, rels=rels), "")[:64]

    link = '<Relationship Id="{}" TargetMode="External" Target="http://{}.example"/>'
    first = digest("a", "b", link.format("a", "x") + link.format("b", "y"))
    assert first == digest("d", "c", link.format("c", "y") + link.format("d", "x"))
    assert first != digest("b", "a", link.format("a", "x") + link.format("b", "y"))


def test_text_that_a_style_of_word_strikes_out_counts() -> None:
    run = '<w:r><w:rPr><w:rStyle w:val="{}"/></w:rPr><w:t>not</w:t></w:r>'
    strike = '<w:style w:styleId="Gone"><w:rPr><w:strike/></w:rPr></w:style>'
    based = '<w:style w:styleId="Based"><w:basedOn w:val="Gone"/></w:style>'
    digests = set()
    for name in ("Plain", "Gone", "Based"):
        file = io.BytesIO(office(PART, run.format(name)))
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("word/styles.xml", strike + based)
        digests.add(embedded_files(file.getvalue(), "")[:64])
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("around", "is_hidden"),
    [
        ('<w:p><w:pPr><w:pStyle w:val="Pale"/></w:pPr><w:r>{}</w:r></w:p>', True),
        ('<w:p><w:r><w:rPr><w:rStyle w:val="Based"/></w:rPr>{}</w:r></w:p>', True),
        ('<w:p><w:pPr><w:pStyle w:val="Pale"/></w:pPr><w:r><w:rPr><w:color w:val="000000"/>'
         "</w:rPr>{}</w:r></w:p>", False),
        ('<w:tc><w:tcPr><w:shd w:fill="222222"/></w:tcPr><w:p><w:pPr><w:pStyle w:val="Pale"/>'
         "</w:pPr><w:r>{}</w:r></w:p></w:tc>", False),
        ('<w:p><w:pPr><w:pStyle w:val="Pale"/></w:pPr></w:p><w:p><w:r>{}</w:r></w:p>', False),
    ],
)  # fmt: skip
def test_text_that_a_style_of_word_makes_white_counts(around: str, is_hidden: bool) -> None:
    pale = '<w:style w:styleId="Pale"><w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>'
    based = '<w:style w:styleId="Based"><w:basedOn w:val="Pale"/></w:style>'
    styles = marked_styles(f"{pale}{based}".encode())
    marked = marked_text(around.format("<w:t>not</w:t>").encode(), styles)
    assert marked == ({"hidden and raised text": [("0", b"hidden not")]} if is_hidden else {})


def test_white_cells_without_a_fill_count() -> None:
    fonts = b'<fonts><font><b/></font><font><color rgb="FFFFFFFF"/></font></fonts>'
    xfs = b'<cellXfs><xf fontId="0"/><xf fontId="1"/><xf fontId="1" fillId="2"/></cellXfs>'
    cells = b"".join(b'<c r="A%d" s="%d"><v>1</v></c>' % (number, number) for number in range(3))
    fills = (b'patternType="none"/>', b'patternType="gray125"/>', b'><fgColor rgb="FF1F3864"/>')
    written = b"".join(b"<fill><patternFill %s</fill>" % fill for fill in fills)
    styles = fonts + b"<fills>%s</fills>" % written + xfs
    assert unseen_cells(cells, styles)["white cells"] == b"A1"
    dark = styles.replace(b"1F3864", b"ffffff")
    assert unseen_cells(cells, dark)["white cells"] == b"A1,A2"
    nothing = b'<numFmt numFmtId="164" formatCode=";;;"/>' + xfs.replace(
        b"<xf ", b'<xf numFmtId="164" '
    )
    assert unseen_cells(cells, nothing)["white cells"] == b"A0,A1,A2"


def test_cells_in_fonts_of_symbols_count_and_nearly_white_ones() -> None:
    fonts = (
        b'<fonts><font><name val="Wingdings"/></font><font><color rgb="FFFCFCFC"/></font></fonts>'
    )
    styles = fonts + b'<cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs>'
    cells = b'<c r="A1" s="0"><v>1</v></c><c r="A2" s="1"><v>1</v></c>'
    found = unseen_cells(cells, styles)
    assert (found["cells in fonts of symbols"], found["white cells"]) == (b"A1", b"A2")


def test_rules_that_hide_cells_count_and_others_do_not() -> None:
    def found(style: bytes) -> bytes:
        styles = b"<dxfs><dxf><font/></dxf><dxf>%s</dxf></dxfs>" % style
        rule = b'<conditionalFormatting sqref="B2"><cfRule type="cellIs" dxfId="1"/>'
        return unseen_cells(rule, styles)["styles of rules"]

    assert found(b'<numFmt numFmtId="9" formatCode=";;;"/>') == b"B2 ;;;"
    assert found(b'<font><color rgb="FFFFFFFF"/></font>') == b"B2 unseen"
    assert found(b"<font><strike/></font>") == b"B2 struck"
    assert found(b'<font><b/></font><fill><patternFill><bgColor rgb="FFFF0000"/>') == b""


def test_words_in_formats_of_cells_count_where_they_are_displayed() -> None:
    def found(code: bytes, cell: bytes = b'<c r="A1" s="0"><v>5</v></c>') -> bytes:
        element = b'<numFmt numFmtId="164" formatCode="%s"/>' % escape(code.decode()).encode()
        styles = element + b'<cellXfs><xf numFmtId="164"/></cellXfs>'
        return unseen_cells(cell, styles)["formats of cells"]

    text = b'<c r="A1" s="0" t="s"><v>0</v></c>'
    assert found(b'"Approved"') == b"A1 Approved"
    assert found(b'[>3]"High";"Low"') == b"A1 High"
    assert found(b'@" not"', text) == found(b'0;0;0;" not"', text) == b"A1  not"
    for displayed in (b'0" EUR"', b'@" not"', b'0;0;"none"', b'dd" May"', b'_-* "-"??_-'):
        assert found(displayed) == b""
    assert found(b'"Approved"', b'<c r="A1" s="0"/>') == found(b'"Approved"', text) == b""
    for cell in (b'0" t="d"><v>2024-05-03', b'0" t="e"><v>-', b'0"><v>1.2.3', b'0"><v>-'):
        assert found(b'"Approved"', b'<c r="A1" s="%s</v></c>' % cell) == b""


def test_text_that_a_common_style_of_open_document_strikes_out_counts() -> None:
    plain = '<style:style style:name="Plain"/>'
    gone = '<style:style style:name="Gone"><a style:text-line-through-style="solid"/></style:style>'
    digests = set()
    for name in ("Plain", "Gone"):
        file = io.BytesIO(office("styles.xml", plain + gone))
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("content.xml", f'<text:span text:style-name="{name}">not</text:span>')
        digests.add(embedded_files(file.getvalue(), "")[:64])
    assert len(digests) == 2


def test_hidden_columns_and_cells_of_rules_count_however_they_are_joined() -> None:
    columns = b'<col min="2" max="2" hidden="1"/><col max="3" width="0" min="3"/>'
    assert hidden_cells(columns) == hidden_cells(b'<col min="2" max="3" hidden="1"/>')
    assert hidden_cells(b'<col min="2" hidden="0"/><row r="2"/>') == b""
    rules = [b'<dataValidation sqref="%s"/>' % cells for cells in (b"A1 B2:B9", b"B2:B9", b"A1")]
    assert rule_cells(rules[0]) == rule_cells(rules[1] + rules[2]) != rule_cells(rules[1])


def test_white_text_on_a_coloured_page_of_slides_is_displayed() -> None:
    run = '<a:r><a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr><a:t>no</a:t>'
    dark = '<p:sp><p:spPr><a:solidFill><a:srgbClr val="1F3864"/></a:solidFill></p:spPr></p:sp>'
    for part, is_hidden in ((run, True), (dark + run, False)):
        files = embedded_files(office("ppt/slides/slide1.xml", part), "")
        assert ("hidden" in files) == is_hidden


def test_white_text_of_rtf_on_a_colour_is_displayed() -> None:
    table = rb"{\rtf1{\colortbl;\red255\green255\blue255;\red0\green0\blue99;}"
    for words in (rb"\cf1\chcbpat2 not}", rb"\cbpat2\cf1 not}", rb"{\cf1}not}"):
        assert embedded_files(table + words, "application/rtf") == ""


def test_styles_of_rtf_with_raised_text_do_not_count() -> None:
    styles = rb"{\rtf1{\stylesheet{\*\cs16 \super \sbasedon10 note;}{\*\cs17\super mark;}}text}"
    assert embedded_files(styles, "application/rtf") == ""


def test_only_values_that_a_cell_displays_in_part_count() -> None:
    styles = (
        b'<numFmt numFmtId="164" formatCode="0.0%"/><numFmt numFmtId="165" formatCode="d/m/yyyy"/>'
        b'<cellXfs><xf numFmtId="0"/><xf numFmtId="1"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    )
    cell = b'<c r="B2" s="%d"><v>%s</v></c>'
    shown = ((0, b"0.5"), (1, b"12"), (2, b"0.125"), (3, b"45000"), (1, b"45000.0"))
    hidden = ((1, b"12.4"), (2, b"0.1251"), (3, b"45000.25"))
    styles += b"</cellXfs>"
    for style, value in shown:
        assert hidden_values(cell % (style, value), styles) == b""
    for style, value in hidden:
        assert hidden_values(cell % (style, value), styles) == b"B2 " + value


@pytest.mark.parametrize(
    ("code", "displayed", "hidden"),
    [
        ("0,", (), (b"5000",)),
        ('#,##0.0,,"M"', (), (b"5000000",)),
        ("0;0", (b"5",), (b"-5",)),
        ("0;[Red]0", (b"5",), (b"-5",)),
        ("0;[Red]-0", (b"5", b"-5"), ()),
        ("#,##0_);(#,##0)", (b"5", b"-5", b"0"), ()),
        ('0;0" due"', (b"-5",), ()),
        ("-0", (), (b"5",)),
        ("0;;", (b"5",), (b"-5", b"0")),
        ("0;-0;;@", (b"5", b"-5"), (b"0",)),
        ('_-* #,##0_-;-* #,##0_-;_-* "-"_-', (b"5", b"-5", b"0"), ()),
        ("(###) ###-####", (b"5551234567",), ()),
        ("[>=100]0;[<0]0,;0.0", (b"100", b"5.5"), (b"5.55", b"-5000")),
        ("@", (b"-5.25",), ()),
        ("d-mmm", (), (b"45000",)),
        ('0 "kg"', (b"5",), ()),
        ("#,##0.00 [$\u20ac-407]", (b"5000.25",), (b"5.255",)),
        ("(0,) ", (), (b"5000",)),
        ("[h]:mm", (b"5", b"1.25"), (b"0.00001",)),
        ("[mm]", (b"5",), ()),
        ("General;[Red]General", (b"5",), (b"-5",)),
        ("General;[Red]-General", (b"5", b"-5"), ()),
        ("0.00", (b"9.99E+307", b"inf", b"nan"), ()),
        ("General", (b"inf", b"nan"), ()),
    ],
)
def test_values_that_a_cell_displays_as_other_ones_count(code, displayed, hidden) -> None:
    assert not [value for value in displayed if hides(code.encode(), value)]
    assert [value for value in hidden if hides(code.encode(), value)] == list(hidden)


@pytest.mark.parametrize(
    ("value", "text", "is_displayed"),
    [
        ('value="-5"', "5", False),
        ('value="-5"', "(5)", True),
        ('value="-5"', "\u22125", True),
        ('value="5000"', "5", False),
        ('value="5000"', "5 000,00 \u20ac", True),
        ('value="0.125"', "12.5%", True),
        ('value="1234567.5"', "1.234.567,50", True),
        ('date-value="2024-01-05"', "5 January", False),
        ('date-value="2024-01-05"', "05/01/24", True),
        ('date-value="2024-01-05"', "January", False),
        ('date-value="2024-01-05"', "Friday", False),
        ('value=".4"', "0", False),
        ('value=".004"', "0.00", False),
        ('value="5"', "0", False),
        ('value="5"', "-", False),
        ('value="0"', "-", True),
        ('value="0"', "0.00", True),
        ('value="5"', "\u0665", True),
        ('value="5"', "EUR 5", True),
        ('value="5000"', "5 EUR", False),
        ('value="50000"', "5E+04", True),
    ],
)
def test_values_that_a_cell_of_open_document_displays_otherwise_count(
    value: str, text: str, is_displayed: bool
) -> None:
    cell = f"<table:table-cell office:{value}><text:p>{text}</text:p></table:table-cell>"
    assert (list(values_behind_texts(cell.encode())) == []) == is_displayed


def test_headers_without_text_that_are_not_displayed_are_read_in_time() -> None:
    header = '<style:header style:display="false">'
    start = time.process_time()
    assert "hides" not in embedded_files(office("styles.xml", header * 3000), "")
    assert time.process_time() - start < 1
    region = "<style:region-left></style:region-left><style:region-right>Draft"
    assert "styles.xml hides" in embedded_files(office("styles.xml", header + region), "")


def test_a_part_that_is_too_large_to_keep_leaves_room_for_others() -> None:
    parts = {"a.xml": b"a" * 9, "b.xml": b"b"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        package = Package(archive)
        package._left = 5
        assert [package._markup(name) for name in parts] == list(parts.values())
        assert (package._left, list(package._parts)) == (4, ["b.xml"])


@pytest.mark.parametrize("sheet", ["css/my s.css", "css/main.css"])
def test_text_that_style_sheets_of_a_book_hide_counts_by_any_link(sheet: str) -> None:
    """The name is quoted, or another style sheet imports this one."""
    found = set()
    for css in (".c {display: none}", ".b {display: none}"):
        link = "<link rel='stylesheet' href='css/{}'/><p class='b'>not</p>"
        file = io.BytesIO(book("a.xhtml", link.format(sheet[4:].replace(" ", "%20")), css))
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(sheet, css if " " in sheet else '@import url("b.css"); p {color: red}')
        found.add(embedded_files(file.getvalue(), "")[:64])
    assert len(found) == 2


def test_strings_of_json_take_no_memory_for_each_character() -> None:
    text = '["' + "a" * 500_000 + '", "\\\\", "["]'
    tracemalloc.start()
    (file,) = text_structure(text, ".json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert file.sha256 == hashlib.sha256(b'[",","]').hexdigest()


def test_a_pdf_with_a_number_that_is_too_large_counts_by_its_bytes() -> None:
    data = pdf_file(b"").replace(b"/I Do", b"1 0 0 1 %s 0 cm /I Do" % (b"9" * 400))
    assert hashlib.sha256(data).hexdigest() in embedded_files(data, "")


def test_names_of_attachments_count_and_line_ends_of_a_mail_do_not() -> None:
    def attached(*files: tuple[str, str]) -> bytes:
        message = EmailMessage()
        message.set_content(BODY)
        for name, content in files:
            message.add_attachment(content, filename=name, cte="7bit")
        return message.as_bytes()

    first = attached(("a.txt", "one\n"), ("b.txt", "two\n"))
    others = attached(("b.txt", "one\n"), ("a.txt", "two\n")), first.replace(b"\n", b"\r\n")
    digests = [embedded_files(data, "message/rfc822")[:64] for data in (first, *others)]
    assert digests[0] == digests[2] != digests[1]


def test_ticks_in_a_text_count_with_their_places() -> None:
    texts = ("☑ yes ☐ no", "☐ yes ☑ no", "☑  yes\n☐ no", "yes no")
    ticks = [with_pictographs("", text) for text in texts]
    assert ticks[0] == ticks[2]
    assert len(set(ticks)) == 3
    assert with_pictographs("", "pay 123") != with_pictographs("", "pay \u202e123")
    assert with_pictographs("", "10² items") != with_pictographs("", "102 items")


@pytest.mark.parametrize("hyphen", "\u2010\u2011\ufe63\uff0d")
def test_a_minus_that_is_written_as_another_hyphen_counts(hyphen: str) -> None:
    for value in ("500 EUR", "€500"):
        texts = (f"balance {hyphen}{value}", f"balance {value}")
        digests = {
            content_digest(fingerprint(text).exact, with_pictographs("", text)) for text in texts
        }
        assert len(digests) == 2
        assert not have_same_symbols(*texts)
    assert with_pictographs("", f"pages 5{hyphen}7 of the e{hyphen}mail") == ""


def test_what_programs_write_anew_at_each_time_does_not_count() -> None:
    parts = {
        "docProps/core.xml": "<dcterms:modified>{}",
        "word/settings.xml": '<w:rsid w:val="{}"/>',
        PART: '<w:p w:rsidR="{}">',
        "word/numbering.xml": '<w:nsid w:val="{}"/><w:start w:val="1"/>',
        "customXml/item1.xml": '<a xmlns="http://schemas.microsoft.com/office/2006/metadata">{}',
        "word/footer2.xml": "<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>{}</w:t></w:r>",
        "ppt/slides/slide1.xml": '<p:sld a="{}" show="0">',
        "xl/calcChain.xml": "{}",
        "xl/workbook.xml": '<definedName name="_xlnm._FilterDatabase">{0}</definedName>'
        '<sheet name="A" sheetId="{0}" state="hidden"/>',
        "settings.xml": "{}",
    }
    for path, content in parts.items():
        digests = {embedded_files(office(path, content.format(end)), "")[:64] for end in "23"}
        assert len(digests) == 1, path


def test_a_workbook_in_a_document_counts_without_the_time_in_its_properties() -> None:
    def digest(value: str, time: str) -> str:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(SHEET, value)
            archive.writestr("docProps/core.xml", time)
        content = io.BytesIO(word_file(PICTURES[0]))
        with zipfile.ZipFile(content, "a") as archive:
            archive.writestr("word/embeddings/a.xlsx", file.getvalue())
        return embedded_files(content.getvalue(), "")[:64]

    assert digest("7", "noon") == digest("7", "night") != digest("8", "noon")


def test_values_of_forms_and_struck_text_of_a_page_count() -> None:
    pages = (
        "<input type=radio {0}>aye<input type=radio checked{0}>nay",
        "shall <i style='text-decoration: {0}line-through'>not</i> <s>{0}</s>pay",
        "<img src='data:;base64,AAAA{0}'>",
        "<svg><svg><a/></svg><path d='M {0}'/></svg>",
        "<input name=sum value='{}'>",
        "<input type=checkbox {}> I agree",
        "<select><option>aye<option {}>nay</select>",
        "<ol start={}><li>clause</ol>",
        "shall <s>{}</s> pay",
        "<meter max=9 value={}></meter>",
        "shall <i style='display:{}none'>not</i> pay",
        "shall <i hidden{}>not</i> pay",
        "shall <i style='color: #{}fff'>not</i> pay",
        "shall <font color=white>not{}</font> pay",
        "shall <i style='background:#000; color:{}black'>not</i> pay",
        "shall <i style='font-size:{}0'>not</i> pay",
        "<style>.{0}a {{text-decoration: line-through}}</style>shall <i class='a'>not</i> pay",
        "10<sup>{}2</sup> and 10<sub>2</sub>",
        "10<sub{}>2</sub>",
        "<math><msup{0}><mn>10</mn><m{0}/></msup></math>",
        "<p>pay <bdo dir={}rtl>123</bdo>",
        "<ol type=i{}><li>clause</ol>",
        "<ol reversed{}><li>clause</ol>",
        "shall <i style='left:{}-999px'>not</i> pay",
        "<style>.a::before {{ content: 'not{}' }}</style>shall <i class=a></i> pay",
        "<style>i#{0}a, b {{ opacity:0 }}</style>shall <i id='a'>not</i> pay",
    )
    for page in pages:
        contents = [page.format(value).encode() for value in ("", "checked selected")]
        first, second = (embedded_files(content, "text/html") for content in contents)
        assert first[:64] != second[:64], page
    page = b"<input type=hidden value=%d><a href='/%d'>x</a><script>%d</script>"
    assert embedded_files(page % (1, 2, 3), "text/html") == ""
    on_dark = b"<td bgcolor='#123456'><font color=white>not</font><i style='color:black'>x</i>"
    assert embedded_files(on_dark, "text/html") == ""


@pytest.mark.parametrize(
    "style",
    [
        *("text-indent:-9999px", "max-height: 0;overflow:hidden", "transform:scale(0)"),
        *("color:transparent", "opacity:.05", "font-size:0.01em"),
    ],
)
def test_text_that_a_style_hides_counts(style: str) -> None:
    for page in ("<p style='{}'>not</p>", "<style>.a {{ {} }}</style><p class=a>not</p>"):
        assert embedded_files(page.format(style).encode(), "text/html")
    for seen in ("opacity:0.5", "line-height:0", "background-color:transparent", "opacity:.06"):
        assert embedded_files(f"<p style='{seen}'>not</p>".encode(), "text/html") == ""


def test_styles_without_ends_are_read_in_time() -> None:
    page = b"<div " + b" style=" * 3000 + b">not</div>"
    start = time.process_time()
    assert embedded_files(page, "text/html") == ""
    assert time.process_time() - start < 1


def test_digits_that_a_style_raises_count_as_raised_by_a_tag() -> None:
    pages = (
        "10<sup>2</sup> m",
        "10<span style='vertical-align: super'>2</span> m",
        "<style>.a {vertical-align:super}</style>10<span class=a>2</span> m",
    )
    assert len({embedded_files(page.encode(), "text/html")[:64] for page in pages}) == 1
    for page in pages:
        note = page.replace("10<", "see<").encode()
        assert embedded_files(note, "text/html") == ""


@pytest.mark.parametrize("of", [workbook, lambda end: workbook(formula=end)])
def test_pictures_and_formulas_of_old_workbooks_count(of) -> None:
    (first, *_), (second, *_) = (workbook_files(of(end)) for end in (b"abc", b"abd"))
    assert first.sha256 != second.sha256
    assert list(workbook_files(workbook())) == []


def test_what_sheets_of_old_workbooks_do_not_display_counts() -> None:
    whole_numbers = struct.pack("<HHI", 0, 1, 0)
    styles = ((0x31, struct.pack("<HH", 200, 8)), (0xE0, whole_numbers))
    cells = [
        (0x203, struct.pack("<HHHd", 4, 1, 0, 12.5)),
        (0x27E, struct.pack("<HHHI", 4, 1, 0, 1250 << 2 | 3)),
        (0x208, struct.pack("<12xHH", 0x20, 0)),
        (0x7D, struct.pack("<HHHHH", 2, 2, 9, 0, 1)),
        (0x85, struct.pack("<IBB", 0, 1, 0) + b"Sheet"),
    ]
    names: list[str] = []
    for cell in cells:
        records = (struct.pack("<HH", kind, len(of)) + of for kind, of in (*styles, cell))
        names += [file.name for file in workbook_files(b"".join(records))]
    displayed = ["struck cells", "values"] * 2
    assert names == [*displayed, "hidden cells", "hidden cells", "hidden sheets"]
    paid = (0x41E, struct.pack("<HB", 1, 6) + b'"Paid"')
    cell = (0x27E, struct.pack("<HHHI", 4, 1, 0, 5 << 2 | 2))
    records = (struct.pack("<HH", kind, len(of)) + of for kind, of in (paid, styles[1], cell))
    assert [file.name for file in workbook_files(b"".join(records))] == [
        "formats of cells",
        "values",
    ]


def test_an_encrypted_member_of_an_archive_is_not_read_and_said_to_be() -> None:
    whole = zip_file("b.txt", b"secret")
    data = bytearray(whole)
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.rindex(signature) + offset] |= 1
    with zipfile.ZipFile(io.BytesIO(with_hint(bytes(data), "a.zip"))) as archive:
        assert archive.namelist() == ["a.txt"]
    read = document(BODY, {}, bytes(data), 1000, "tika")
    assert read.truncated and read.warnings == ("encrypted in the archive, so not read: b.txt",)
    assert with_hint(whole, "a.zip") == whole


def test_binary_data_of_rtf_is_read_in_time() -> None:
    data = b"{\\rtf1 {\\pict\\pngblip\\picw8 \\bin9 %s}%s" % (
        bytes(range(200, 256)),
        b"\\a1 b" * 9999,
    )
    (file,) = unpack_embedded(embedded_files(data, "application/rtf"))
    assert file.sha256 == hashlib.sha256(bytes(range(200, 209))).hexdigest()


OTHERS = {
    "key.pem": b"-----BEGIN KEY",
    "a.ps": b"%!PS",
    "data.bin": b"\0",
    "a.exe": b"MZ\0",
    "b.tar.gz": b"\x1f\x8b",
    "latin.txt": b"\xe9",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_text_in_an_archive_counts(name: str) -> None:
    for packed in (zip_file, tar_file):
        digests = {
            embedded_files(packed(name, OTHERS[name] + end), "")[:64] for end in (b"1", b"2")
        }
        assert len(digests) == 2
    assert embedded_files(zip_file("b.txt", b"yes"), "") == ""


def test_an_archive_that_only_tika_opens_counts_by_its_bytes() -> None:
    kind = "application/x-7z-compressed"
    (file,) = unpack_embedded(embedded_files(b"7z\xbc\xaf1", kind))
    assert file.kind == "unread"
    assert embedded_files(b"7z\xbc\xaf1", kind) != embedded_files(b"7z\xbc\xaf2", kind)


@pytest.mark.parametrize("kind", ["audio/mpeg", "image/jpeg", "video/mp4"])
def test_of_pictures_and_sound_whose_words_are_read_all_bytes_count(kind: str) -> None:
    assert embedded_files(b"ID3 the words, sound 1", kind) != embedded_files(b"ID3 2", kind) != ""


def test_a_picture_in_the_page_of_a_mail_counts() -> None:
    mails = []
    for picture in PICTURES:
        message = EmailMessage()
        encoded = base64.b64encode(picture).decode()
        message.set_content(f"<p>Yes <img src='data:image/png;base64,{encoded}'>", subtype="html")
        mails.append(embedded_files(message.as_bytes(), "message/rfc822"))
    assert mails[0][:64] != mails[1][:64]


def test_a_plain_text_that_says_more_than_the_page_next_to_it_counts() -> None:
    page = "<p>Dear Bob,</p><p>the price is <b>100</b>, see <a href='http://a.example'>here</a>."
    same = "Dear Bob,\n\nthe price\nis *100*, see here <http://a.example>."
    mails = []
    for plain in (same, f"{same}\nPay Ann.", f"{same}\nNever pay Ann.", same.replace("100", "900")):
        message = EmailMessage()
        message.set_content(plain)
        message.add_alternative(page, subtype="html")
        mails.append(embedded_files(message.as_bytes(), "message/rfc822"))
    assert mails[0] == ""
    assert len(set(mails)) == 4


@pytest.mark.long
def test_a_picture_in_the_page_of_a_mail_counts_beside_attachments(tmp_path: Path) -> None:
    for name, picture in zip("ab", PICTURES, strict=True):
        message = EmailMessage()
        encoded = base64.b64encode(picture).decode()
        message.set_content(f"<p>{BODY}<img src='data:image/png;base64,{encoded}'>", subtype="html")
        message.add_attachment(b"the same", "application", "octet-stream", filename="c.bin")
        (tmp_path / f"{name}.eml").write_bytes(message.as_bytes())
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    index([str(tmp_path)], store, IndexOptions(reading=ReadOptions(attachments=True)), workers=1)
    mails = [row for row in store.scan() if row.path.endswith(".eml")]
    assert len({row.exact for row in mails}) == len(mails) == 2


def test_an_archive_of_the_first_format_of_tar_is_looked_into() -> None:
    data = tar_file("a.png", PICTURES[0])
    header = bytearray(data[:148] + b" " * 8 + data[156:257] + bytes(8) + data[265:512])
    header[148:156] = b"%06o\0 " % sum(header)
    assert "a.png" in embedded_files(bytes(header) + data[512:], "application/x-gtar")


@pytest.mark.parametrize("part", ["vbaProject.bin", "activeX/activeX1.bin", "embeddings/o1.bin"])
def test_macros_controls_and_objects_of_office_documents_count(part: str) -> None:
    def digests(content: bytes) -> str:
        file = io.BytesIO(word_file(PICTURES[0]))
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(f"word/{part}", content)
        return embedded_files(file.getvalue(), "")

    assert len({digests(b"a"), digests(b"b"), embedded_files(word_file(PICTURES[0]), "")}) == 3


@pytest.mark.parametrize(("count", "kind"), [(1, "picture"), (9, "unread")])
def test_an_archive_in_many_others_counts_by_its_bytes(count: int, kind: str) -> None:
    data = zip_file("a.docx", word_file(PICTURES[0]))
    for _ in range(count):
        data = zip_file("a.zip", data)
    (file,) = unpack_embedded(embedded_files(data, "application/zip"))
    assert file.kind == kind


def test_a_damaged_document_in_an_archive_hides_no_other() -> None:
    data = zip_file("a.docx", b"PK\x03\x04 damaged")
    with zipfile.ZipFile(file := io.BytesIO(data), "a") as archive:
        archive.writestr("b.png", PICTURES[0])
    assert "b.png" in embedded_files(file.getvalue(), "application/zip")


def test_a_document_that_cannot_be_read_to_its_end_counts_by_its_bytes() -> None:
    first, second = (embedded_files(b"PK\x03\x04 damaged %d" % end, "")[:64] for end in (1, 2))
    assert first != second


def indexed(folder: Path) -> dict[str, Row]:
    store = open_store(f"sqlite:///{folder}/../store.db")
    index([str(folder)], store, workers=1)
    return {Path(row.path).name: row for row in store.scan()}


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_equal_texts_around_other_pictures_are_no_copies(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    suffix = name.rpartition(".")[2]
    for copy, content in (("a", PICTURES[0]), ("b", PICTURES[1]), ("c", PICTURES[0])):
        (folder / f"{copy}.{suffix}").write_bytes(FILES[name](content))
    rows = indexed(folder)
    a, b, c = (rows[f"{copy}.{suffix}"] for copy in "abc")
    assert a.text == b.text == c.text
    assert a.status == b.status == c.status == "complete"
    assert a.exact == c.exact != b.exact


@pytest.mark.long
@pytest.mark.parametrize("attachments", [False, True])
def test_mails_with_other_scans_are_for_review(attachments: bool, tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "a.eml").write_bytes(mail("scan10.png", PICTURES[0]))
    (folder / "b.eml").write_bytes(mail("scan200.png", PICTURES[1]))
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    paths = [str(folder / name) for name in ("a.eml", "b.eml")]
    if attachments:
        first, second = (check_mail(store, path, store_it=True) for path in paths)
    else:
        drop = {"store_it": True, "drop_duplicates": True}
        first, second = (check(store, path=path, **drop) for path in paths)
    assert (first.verdict, second.verdict, second.stored) == ("new", "review", True)
    assert second.reasons[0] == "attachments differ: scan200.png / scan10.png"


@pytest.mark.long
def test_mails_with_other_scans_are_in_no_group(tmp_path: Path) -> None:
    """Copies of one mail are, with and without attachments as documents of their own."""
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "a.eml").write_bytes(mail("scan10.png", PICTURES[0]))
    (folder / "b.eml").write_bytes(mail("scan200.png", PICTURES[1]))
    (folder / "c.eml").write_bytes(mail("scan10.png", PICTURES[0]))
    for attachments in (False, True):
        store = open_store(f"sqlite:///{tmp_path}/store{attachments}.db")
        reading = ReadOptions(attachments=attachments)
        index([str(folder)], store, IndexOptions(reading=reading), workers=1)
        for criteria in (Criteria(policy="strict"), Criteria()):
            group(store, GroupOptions(criteria=criteria))
            family = {Path(row.path).name: row.family for row in store.scan()}
            assert family["a.eml"] == family["c.eml"] != family["b.eml"]
        group(store, GroupOptions(criteria=Criteria(policy="loose")))
        family = {Path(row.path).name: row.family for row in store.scan()}
        assert family["a.eml"] == family["b.eml"]
        result = search(store, "courier", SearchOptions(fold="family"))
        (hit,) = (hit for hit in result.hits if hit.path.endswith(".eml"))
        marks = [format_marks(member.marks) for member in hit.folded]
        assert sorted(marks) == ["", "attachments differ: scan10.png / scan200.png"]


def test_files_belong_to_the_digest_whatever_recipe_comes(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for number, content in enumerate(PICTURES):
        (folder / f"{number}.docx").write_bytes(word_file(content))
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    index([str(folder)], store, workers=1)
    assert "keys" not in {found.what for found in repair(store, dry_run=True)}
    digests = {row.exact for row in store.scan()}
    reindex(store, recipe_named("default_v1"), keep=False)
    assert "keys" not in {found.what for found in repair(store, dry_run=True)}
    assert len(digests | {row.exact for row in store.scan()}) == 4


@pytest.mark.long
def test_documents_that_an_earlier_version_read_are_counted_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(word_file(PICTURES[0]))
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    index([str(path)], store, IndexOptions(labels=("lease",)), workers=1)
    (row,) = store.scan()
    store.write([replace(row, extractor="iscc-tika/0.6.0", embedded="", exact="0" * 64)])
    assert count_outdated(store, "native") == 1
    index([str(path)], store, IndexOptions(refresh=True), workers=1)
    (again,) = store.scan()
    assert (again.embedded, again.exact, again.labels) == (row.embedded, row.exact, ("lease",))
    assert count_outdated(store, "native") == 0


def test_texts_that_were_cut_are_no_copies_unless_their_bytes_are(tmp_path: Path) -> None:
    """What differs was never read; the names of the files and their order make no difference."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, end in (("a", "one"), ("b", "two"), ("c", "one")):
        (folder / f"{name}.txt").write_text(f"{BODY} The price is {end} hundred euros.")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    limits = Limits(chars=len(BODY))
    index([str(folder)], store, IndexOptions(limits=limits, extractor="plain"))
    rows = {Path(row.path).name: row for row in store.scan()}
    assert {row.status for row in rows.values()} == {"truncated"}
    assert len({row.text for row in rows.values()}) == 1
    assert rows["a.txt"].exact == rows["c.txt"].exact != rows["b.txt"].exact
    assert "keys" not in {found.what for found in repair(store, dry_run=True)}
    for policy, groups in (("strict", 2), ("standard", 2), ("loose", 1)):
        group(store, GroupOptions(criteria=Criteria(policy=policy)))
        assert len({row.family for row in store.scan()}) == groups
    (hit,) = search(store, "courier", SearchOptions(fold="family")).hits
    marks = {format_marks(member.marks) for member in hit.folded}
    assert marks == {"", "attachments differ: unread part of a.txt / unread part of b.txt"}


def test_what_was_not_read_counts_beside_files_in_the_document() -> None:
    file = EmbeddedFile("picture", "a.png", "0f")
    packed = with_unread(pack_embedded([file]), "unread part of a.pdf", "aa")
    unread = EmbeddedFile("unread", "unread part of a.pdf", "aa")
    assert unpack_embedded(packed) == (unread, file)
    assert packed[:64] != with_unread(pack_embedded([file]), "unread part of a.pdf", "bb")[:64]
    assert packed[:64] == with_unread(pack_embedded([file]), "unread part of b.pdf", "aa")[:64]


@pytest.mark.long
def test_an_export_without_duplicates_has_both_mails_with_other_scans(tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    for name, content in (("a", PICTURES[0]), ("b", PICTURES[1]), ("c", PICTURES[0])):
        (folder / f"{name}.eml").write_bytes(mail("scan.png", content) + b"\n" * (name == "c"))
    for attachments in (False, True):
        store = open_store(f"sqlite:///{tmp_path}/store{attachments}.db")
        reading = ReadOptions(attachments=attachments)
        index([str(folder)], store, IndexOptions(reading=reading), workers=1)
        for dedup in ("global", "custodian"):
            target = tmp_path / f"{attachments}{dedup}.csv"
            export(store, target, options=ExportOptions(dedup=dedup))
            with target.open(newline="") as file:
                names = {Path(record["path"]).name for record in csv.DictReader(file)}
            assert {name for name in names if name.endswith(".eml")} == {"a.eml", "b.eml"}


def test_duplicates_are_no_documents_with_other_pictures(tmp_path: Path) -> None:
    for name, content in (("a", PICTURES[0]), ("b", PICTURES[1])):
        (tmp_path / f"{name}.docx").write_bytes(word_file(content))
    copy = io.BytesIO()
    with zipfile.ZipFile(tmp_path / "a.docx") as whole, zipfile.ZipFile(copy, "w") as packed:
        for member in whole.infolist():
            packed.writestr(member, whole.read(member), zipfile.ZIP_DEFLATED)
    (tmp_path / "c.docx").write_bytes(copy.getvalue())
    found = duplicates(tmp_path, DuplicatesOptions(near=True))
    (one,) = found.groups
    names = {Path(one.keep).name, *(Path(file.path).name for file in one.redundant)}
    assert names == {"a.docx", "c.docx"}
