"""A PDF of small pages, every other document in two columns, with a running header and footer and
words hyphenated.

Lines are drawn one by one, as most writers do, so nothing in the file says what a paragraph is.
Hebrew and Arabic are drawn as they look: in visual order, Arabic in its presentation forms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import arabic_reshaper
import fontpkg_noto_sans_thai
import matplotlib
from bidi.algorithm import get_display
from reportlab.lib.pagesizes import A5
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from corpus.documents import Document, Heading, Paragraph
from corpus.language import Language
from corpus.lines import fill_lines

_WIDTH, _HEIGHT = A5
_MARGIN, _GUTTER, _LEADING = 40.0, 16.0, 12.5
_BODY, _TITLE, _SMALL = 9.0, 13.0, 7.5
_CID_FONTS = {"zh": "STSong-Light", "ja": "HeiseiMin-W3"}


def content(document: Document) -> bytes:
    """The same bytes every time: no date, no random identifier."""
    saved = BytesIO()
    sheet = _Sheet(document, Canvas(saved, pagesize=A5, invariant=True))
    sheet.line(document.title, _TITLE)
    for part in document.parts:
        if isinstance(part, Heading):
            sheet.gap()
            sheet.line(part.text, _BODY + 2)
        elif isinstance(part, Paragraph):
            sheet.paragraph(part.text)
        else:
            sheet.rows(part.rows)
    sheet.save()
    return saved.getvalue()


class _Sheet:
    """Fills columns from top to bottom, pages from column to column."""

    def __init__(self, document: Document, canvas: Canvas) -> None:
        self._document, self._canvas = document, canvas
        self._font = _font(document.language.code)
        self._columns = 1 + int(document.name[3]) % 2
        self._column_width = (_WIDTH - 2 * _MARGIN - _GUTTER * (self._columns - 1)) / self._columns
        self._column, self._page, self._top = 0, 1, _HEIGHT - 1.5 * _MARGIN

    def line(self, text: str, size: float) -> None:
        """A line, or several where the column is too narrow for one."""
        for piece in fill_lines(text, self._document.language, self._fitting(size)):
            self._advance(size)
            self._draw(piece, self._left(), self._top, size, self._column_width)

    def paragraph(self, text: str) -> None:
        """Lines in the body's size, with a little space above."""
        self.gap()
        self.line(text, _BODY)

    def rows(self, rows: tuple[tuple[str, ...], ...]) -> None:
        """Cells side by side: half of the column for the label, where reading begins, a quarter
        each for the numbers.
        """
        self.gap()
        quarter = self._column_width / 4
        starts = (2, 1, 0) if self._document.language.right_to_left else (0, 2, 3)
        for row in rows:
            self._advance(_SMALL)
            for text, start, quarters in zip(row, starts, (2, 1, 1), strict=True):
                self._draw(
                    text, self._left() + start * quarter, self._top, _SMALL, quarters * quarter
                )

    def gap(self) -> None:
        """Half a line of space."""
        self._top -= _LEADING / 2

    def save(self) -> None:
        """Finish the last page and the file."""
        self._furniture()
        self._canvas.save()

    def _fitting(self, size: float) -> Callable[[str], bool]:
        return lambda text: (
            pdfmetrics.stringWidth(_visual_order(text, self._document.language), self._font, size)
            <= self._column_width
        )

    def _left(self) -> float:
        place = (
            self._columns - 1 - self._column
            if self._document.language.right_to_left
            else self._column
        )
        return _MARGIN + place * (self._column_width + _GUTTER)

    def _advance(self, size: float) -> None:
        self._top -= _LEADING * size / _BODY
        if self._top > 1.5 * _MARGIN:
            return
        self._column += 1
        if self._column == self._columns:
            self._furniture()
            self._canvas.showPage()
            self._column, self._page = 0, self._page + 1
        self._top = _HEIGHT - 2 * _MARGIN

    def _furniture(self) -> None:
        footer = self._document.footer.replace("{n}", str(self._page))
        for text, height in ((self._document.header, _HEIGHT - _MARGIN), (footer, _MARGIN)):
            self._draw(text, _MARGIN, height, _SMALL, _WIDTH - 2 * _MARGIN)

    def _draw(self, text: str, left: float, height: float, size: float, width: float) -> None:
        self._canvas.setFont(self._font, size)
        glyphs = _visual_order(text, self._document.language)
        if self._document.language.right_to_left:
            self._canvas.drawRightString(left + width, height, glyphs)
        else:
            self._canvas.drawString(left, height, glyphs)


def _visual_order(text: str, spoken: Language) -> str:
    """Return a line in the order and the shapes in which it is drawn."""
    if not spoken.right_to_left:
        return text
    return str(
        get_display(arabic_reshaper.reshape(text) if spoken.code == "ar" else text, base_dir="R")
    )


@cache
def _font(code: str) -> str:
    if name := _CID_FONTS.get(code):
        pdfmetrics.registerFont(UnicodeCIDFont(name))
        return name
    if code == "th":
        (path,) = (fontpkg_noto_sans_thai.ROOT / "files").glob("*.ttf")
    else:
        path = Path(matplotlib.__file__).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
    pdfmetrics.registerFont(TTFont(path.stem, str(path)))
    return path.stem
