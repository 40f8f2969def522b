"""The text of an HTML body, with the quotes of mail programs marked as in plain text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset((
    "address", "article", "blockquote", "center", "dd", "div", "dl", "dt", "fieldset",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main",
    "nav", "ol", "p", "pre", "section", "table", "tr", "ul",
))  # fmt: skip
_SILENT = frozenset(("script", "style", "title", "head", "template"))
_SPACED = frozenset(("p", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table"))
_SIGNATURE = re.compile(r"\b(?:gmail_signature|moz-signature|signature)\b", re.IGNORECASE)
_MOST_QUOTES = 50


def html_text(html: str) -> str:
    """Return the text of an HTML body: one line a block, each line after one `>` for every
    `blockquote` around it, and `-- ` above what a mail program marks as a signature.

    Any input is read, however broken; scripts, styles and the head are left out. Quotes within more
    than 50 others have 50 marks. Empty for a body without text.

    >>> print(html_text("<p>Yes.</p>Ann wrote:<blockquote>Shall<br>we <b>meet</b>?</blockquote>"))
    Yes.
    <BLANKLINE>
    Ann wrote:
    > Shall
    > we meet?
    """
    reader = _Reader()
    reader.feed(html.replace("<![", "&lt;!["))
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Collects lines; `_open` has the tags that are open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[tuple[int, str]] = []
        self._line: list[str] = []
        self._quotes = self._silent = self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        if tag == "br":
            self._end_line()
        if tag not in _BLOCKS:
            return
        self._end_block(tag)
        self._quotes += tag == "blockquote"
        self._pre += tag == "pre"
        marks = " ".join(value or "" for name, value in attrs if name in ("class", "id"))
        if tag == "div" and _SIGNATURE.search(marks):
            self._lines.append((self._quotes, "-- "))

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag in ("td", "th"):
            self._line.append(" ")
        if tag not in _BLOCKS:
            return
        self._end_block(tag)
        self._quotes = max(0, self._quotes - (tag == "blockquote"))
        self._pre = max(0, self._pre - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if not self._pre:
            self._line.append(re.sub(r"[ \t\r\n\f]+", " ", data))
            return
        first, *others = data.split("\n")
        self._line.append(first)
        for line in others:
            self._end_line()
            self._line.append(line)

    def text(self) -> str:
        self._end_block("")
        lines: list[str] = []
        for quotes, line in self._lines:
            marks = ">" * min(quotes, _MOST_QUOTES)
            shown = f"{marks} {line}" if marks and line else marks + line
            if shown.strip(">").strip() or (lines and lines[-1].strip(">").strip()):
                lines.append(shown)
        return "\n".join(lines).strip("\n")

    def _end_block(self, tag: str) -> None:
        """End the line that has begun, with an empty one after it where the block is spaced."""
        has_text = "".join(self._line).strip()
        if has_text:
            self._end_line()
        self._line = []
        if tag in _SPACED and self._lines and self._lines[-1][1] and tag != "blockquote":
            self._lines.append((self._quotes, ""))

    def _end_line(self) -> None:
        line = "".join(self._line).replace("\u00a0", " ")
        self._lines.append((self._quotes, line.rstrip() if self._pre else line.strip()))
        self._line = []
