"""An OpenDocument text with a table, a running header and a footer with the page's number."""

from __future__ import annotations

from io import BytesIO

from odf.opendocument import OpenDocumentText
from odf.style import Footer, Header, MasterPage, PageLayout, ParagraphProperties, Style
from odf.table import Table as Grid
from odf.table import TableCell, TableColumn, TableRow
from odf.text import H, P, PageNumber

from corpus.documents import Document, Heading, Paragraph, Part, Table


def content(document: Document) -> bytes:
    """One master page; paragraphs of Arabic and Hebrew run from right to left."""
    file = OpenDocumentText()
    mode = "rl-tb" if document.language.right_to_left else "lr-tb"
    style = Style(name="Body", family="paragraph")
    style.addElement(ParagraphProperties(writingmode=mode))
    file.styles.addElement(style)
    _furniture(file, document)
    file.text.addElement(H(outlinelevel=1, text=document.title))
    for part in document.parts:
        file.text.addElement(_element(part))
    saved = BytesIO()
    file.write(saved)
    return saved.getvalue()


def _furniture(file: OpenDocumentText, document: Document) -> None:
    layout = PageLayout(name="Layout")
    file.automaticstyles.addElement(layout)
    master = MasterPage(name="Standard", pagelayoutname=layout)
    header, footer = Header(), Footer()
    header.addElement(P(text=document.header))
    before, after = document.footer.split("{n}")
    line = P(text=before)
    line.addElement(PageNumber(selectpage="current"))
    line.addText(after)
    footer.addElement(line)
    master.addElement(header)
    master.addElement(footer)
    file.masterstyles.addElement(master)


def _element(part: Part) -> P | H | Grid:
    if isinstance(part, Heading):
        return H(outlinelevel=2, text=part.text)
    if isinstance(part, Paragraph):
        return P(stylename="Body", text=part.text)
    return _table(part)


def _table(table: Table) -> Grid:
    grid = Grid(name="Figures")
    grid.addElement(TableColumn(numbercolumnsrepeated=len(table.rows[0])))
    for row in table.rows:
        line = TableRow()
        for text in row:
            cell = TableCell(valuetype="string")
            cell.addElement(P(text=text))
            line.addElement(cell)
        grid.addElement(line)
    return grid
