"""The text of an HTML body, with the quotes of mail programs marked as in plain text.

Mail is written by strangers. Python's own parser takes quadratic time for tags that are opened and
never closed, before its releases of 2025, so that the tokens are found here, in linear time: a tag
is what is between `<` and the next `>`.
"""

from __future__ import annotations

import re
from html import unescape

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "caption", "center", "dd", "details", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol", "option", "p", "pre",
    "section", "summary", "table", "tr", "ul",
))  # fmt: skip
_SILENT = frozenset(("script", "style", "title", "template"))
_SPACED = frozenset(("p", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table"))
_SIGNATURE = re.compile(r"\b(?:gmail_signature|moz-signature|signature)\b", re.IGNORECASE)
_TOKEN = re.compile(r"<[^<>]*>|[^<]+|<")
_SILENT_END = re.compile(rf"</({'|'.join(sorted(_SILENT))})\b", re.IGNORECASE)
_TAG = re.compile(r"<(?:(/?)([A-Za-z][A-Za-z0-9]*)|[!?][^<>]*>)")
_MARK = re.compile(r"""\b(?:class|id)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""")
_CELLS = frozenset(("td", "th", "button"))
_ALT = re.compile(r"""\balt\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|svg|webp)$", re.IGNORECASE)
_POWER = re.compile(r"(?<=\d)(?=<sup\b[^<>]*>\s*[-+−]?\d)", re.IGNORECASE)
_STRUCK = frozenset(("s", "strike", "del"))
_INLINE = _STRUCK | {"a", "b", "font", "i", "span", "u"}
_STRUCK_STYLE = re.compile(r"\bline-through\b", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_MOST_QUOTES = 50


def html_text(html: str) -> str:
    """Return the text of an HTML body: one line a block, each line after one `>` for every
    `blockquote` around it, and `-- ` above what a mail program marks as a signature.

    Any input is read, however broken; scripts, styles and the title are left out, which end with
    their own closing tags: those that are never closed are text. What an image stands for (`alt`)
    is written as Gmail does, `^` is before a power, `~~` around what is struck out. Quotes within
    more than 50 others have 50 marks. Empty for a body without text.

    >>> print(html_text("<p>Yes.</p>Ann wrote:<blockquote>Shall<br>we <b>meet</b>?</blockquote>"))
    Yes.
    <BLANKLINE>
    Ann wrote:
    > Shall
    > we meet?
    """
    reader = _Reader()
    reader.read(html)
    return reader.text()


class _Reader:
    """Collects lines; `_quotes` and `_pre` count the open elements of their kind.

    `_inline`: those within a line that are open, with the mark of what is struck out.
    """

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._line: list[str] = []
        self._inline: list[tuple[str, str]] = []
        self._quotes = self._pre = 0

    def read(self, html: str) -> None:
        """Read a page from the first to the last token."""
        page = _POWER.sub("^", without_comments(html))
        last_ends = {end[1].lower(): end.start() for end in _SILENT_END.finditer(page)}
        silent = ""
        for token in _TOKEN.finditer(page):
            tag = _TAG.match(token[0])
            name = (tag[2] or "").lower() if tag else ""
            if silent:
                is_end = tag is not None and tag[1] and name == silent
                silent = "" if is_end else silent
            elif tag is None:
                self._text(unescape(token[0]))
            elif tag[1]:
                self._close(name)
            elif name in _SILENT:
                silent = name if last_ends.get(name, -1) > token.start() else ""
            elif name:
                self._open(name, token[0])

    def text(self) -> str:
        """Return the lines, empty ones once only."""
        self._end_block("")
        lines: list[str] = []
        for quotes, line in self._lines:
            marks = ">" * min(quotes, _MOST_QUOTES)
            shown = f"{marks} {line}" if marks and line else marks + line
            if shown.strip(">").strip() or (lines and lines[-1].strip(">").strip()):
                lines.append(shown)
        return "\n".join(lines).strip("\n")

    def _open(self, tag: str, source: str) -> None:
        if tag == "br":
            self._end_line()
        elif tag == "img":
            self._line += [f" {said} " for said in map(_image, _ALT.findall(source)) if said]
        elif tag in _CELLS:
            self._line.append(" ")
        elif tag in _INLINE:
            mark = "~~" if tag in _STRUCK or _STRUCK_STYLE.search(source) else ""
            self._line.append(mark)
            self._inline.append((tag, mark))
        if tag not in _BLOCKS:
            return
        self._end_block(tag)
        self._quotes += tag == "blockquote"
        self._pre += tag == "pre"
        if tag == "div" and any(_SIGNATURE.search(mark) for mark in _MARK.findall(source)):
            self._lines.append((self._quotes, "-- "))

    def _close(self, tag: str) -> None:
        if tag in _CELLS:
            self._line.append(" ")
        elif self._inline and self._inline[-1][0] == tag:
            self._line.append(self._inline.pop()[1])
        if tag not in _BLOCKS:
            return
        self._end_block(tag)
        self._quotes = max(0, self._quotes - (tag == "blockquote"))
        self._pre = max(0, self._pre - (tag == "pre"))

    def _text(self, data: str) -> None:
        if not self._pre:
            self._line.append(_BLANKS.sub(" ", data))
            return
        first, *others = data.split("\n")
        self._line.append(first)
        for line in others:
            self._end_line()
            self._line.append(line)

    def _end_block(self, tag: str) -> None:
        """End the line that has begun, with an empty one after it where the block is spaced."""
        if "".join(self._line).strip():
            self._end_line()
        self._line = []
        if tag in _SPACED and self._lines and self._lines[-1][1] and tag != "blockquote":
            self._lines.append((self._quotes, ""))

    def _end_line(self) -> None:
        line = "".join(self._line).replace("\u00a0", " ")
        self._lines.append((self._quotes, line.rstrip() if self._pre else line.strip()))
        self._line = []


def _image(value: str) -> str:
    """Return the text for the value of `alt`: faces as they are; nothing for the name of a file."""
    said = _BLANKS.sub(" ", unescape(value.strip("\"'"))).strip()
    if _FILE.match(said):
        return ""
    return f"[image: {said}]" if any(map(str.isalnum, said)) else said


def without_comments(html: str) -> str:
    """Return a page without its comments; one that is not closed stays.

    >>> without_comments("a<!-- b -->c<!-- d"), without_comments("a<!-- b --!>c<!-->d")
    ('ac<!-- d', 'acd')
    """
    parts = []
    start = 0
    while (begin := html.find("<!--", start)) >= 0:
        end = _COMMENT_END.search(html, begin + 2)
        if end is None:
            break
        parts.append(html[start:begin])
        start = end.end()
    return "".join(parts) + html[start:]
