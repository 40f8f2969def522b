"""A Word document with styles, a table, a running header and a footer with the page's number."""

from __future__ import annotations

from io import BytesIO

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph as Line

from corpus.documents import Document, Heading, Paragraph, Table


def content(document: Document) -> bytes:
    """One section; paragraphs of Arabic and Hebrew run from right to left."""
    file = docx.Document()
    rtl = document.language.right_to_left
    section = file.sections[0]
    _line(section.header.paragraphs[0], document.header, rtl)
    before, after = document.footer.split("{n}")
    footer = section.footer.paragraphs[0]
    _line(footer, before, rtl)
    _page_number(footer)
    footer.add_run(after)
    _line(file.add_heading(level=1), document.title, rtl)
    for part in document.parts:
        if isinstance(part, Heading):
            _line(file.add_heading(level=2), part.text, rtl)
        elif isinstance(part, Paragraph):
            _line(file.add_paragraph(), part.text, rtl)
        else:
            _table(file, part, rtl)
    saved = BytesIO()
    file.save(saved)
    return saved.getvalue()


def _line(paragraph: Line, text: str, rtl: bool) -> None:
    run = paragraph.add_run(text)
    if rtl:
        paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
        run.font.rtl = True


def _page_number(paragraph: Line) -> None:
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), "PAGE")
    paragraph._p.append(field)


def _table(file: docx.document.Document, table: Table, rtl: bool) -> None:
    grid = file.add_table(rows=0, cols=len(table.rows[0]), style="Table Grid")
    for row in table.rows:
        for cell, text in zip(grid.add_row().cells, row, strict=True):
            _line(cell.paragraphs[0], text, rtl)
