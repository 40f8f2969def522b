"""Rich Text Format: what Tika reads of it as of other formats, its marked text, headers and what is
not read of it.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from indexer.documents.base import Anchors, Colour, all_of, anchored, is_near, sha256
from indexer.documents.marked_text import (
    DELETED,
    HIDDEN,
    LOWERED,
    NO_MARKS,
    RAISED,
    STRUCK,
    MarkedRun,
    by_kind,
)
from indexer.model import EmbeddedFile, EmbeddedKind

RTF = b"{\\rtf"

# Control words mark the text after them, to the end of their group.

RTF_TOKEN = re.compile(
    rb"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\[^a-z]"
    rb"|(?P<brace>[{}])|[^\\{}]+",
    re.DOTALL,
)
_RTF_MARK = re.compile(rb"\\(?:(?:strike|deleted|v|super|sub)(?:d?1)?|(?:up|dn)\d*)(?![0-9a-z])")
_RTF_MARKS = {
    b"strike": STRUCK,
    b"striked": STRUCK,
    b"deleted": DELETED,
    b"v": HIDDEN,
    b"super": RAISED,
    b"sub": LOWERED,
    b"up": RAISED,
    b"dn": LOWERED,
}
_NO_TEXT = frozenset(
    b"fonttbl colortbl stylesheet info pict object listtable listoverridetable themedata".split()
)


def marked_rich_text(data: bytes) -> dict[str, list[tuple[str, bytes]]]:
    r"""Return the marked text of an RTF by its kind, each after the number of characters before it,
    whatever other control words there are.

    >>> one = marked_rich_text(rb"{\rtf1 It is {\v\insrsid9 not }agreed.}")
    >>> one == marked_rich_text(rb"{\rtf1 It is {\v no}{\v\fs20 t }agreed.}"), one
    (True, {'hidden and raised text': [('4', b'hidden not')]})
    """
    colours = _rtf_colours(data)
    if not _RTF_MARK.search(data) and not colours:
        return {}
    runs = [
        MarkedRun(before, mark, text.encode()) for before, mark, text in _rtf_runs(data, colours)
    ]
    return by_kind(runs, lambda before: before)


_RTF_COLOURS = re.compile(rb"\\colortbl\b([^{}]*)\}")
_RTF_COLOUR = re.compile(rb"\\(?:red|green|blue)(\d+)")
_RTF_INK = re.compile(rb"\\cf(\d{1,10})")
_RTF_GROUND = re.compile(rb"\\(?:chcbpat|cb|highlight|cbpat)[1-9]")
_RTF_PAPER, _RTF_SHADED_CELL = (255, 255, 255), re.compile(rb"\\clc[fb]pat[1-9]")


def _rtf_colours(data: bytes) -> list[Colour]:
    """Return the colours of an RTF by their numbers; none where no text can have the colour of its
    background: cells with a colour are taken to be everywhere.
    """
    table = _RTF_COLOURS.search(data)
    if table is None or _RTF_SHADED_CELL.search(data):
        return []
    colours: list[Colour] = []
    for entry in table[1].split(b";"):
        values = [int(value[:3]) for value in _RTF_COLOUR.findall(entry)]
        colours.append((values[0], values[1], values[2]) if len(values) == 3 else None)
    white = {number for number, colour in enumerate(colours) if is_near(colour, _RTF_PAPER)}
    is_used = bool(white) and any(int(number) in white for number in set(_RTF_INK.findall(data)))
    return colours if is_used or _RTF_GROUND.search(data) else []


class _Ink(NamedTuple):
    """The colours of text, behind it and behind its paragraph, by their numbers; 0 for none."""

    text: int = 0
    ground: int = 0
    paragraph: int = 0

    def after(self, word: bytes, number: int) -> _Ink:
        """Return the colours after a control word."""
        if word == b"cf":
            return self._replace(text=number)
        if word in (b"chcbpat", b"cb", b"highlight"):
            return self._replace(ground=number)
        if word in (b"cbpat", b"pard"):
            return self._replace(paragraph=number if word == b"cbpat" else 0)
        return _Ink(paragraph=self.paragraph) if word == b"plain" else self

    def is_unseen(self, colours: list[Colour]) -> bool:
        """Return whether the text has the colour that is behind it."""
        ground = self.ground or self.paragraph
        if not self.text or max(self.text, ground) >= len(colours):
            return False
        return is_near(colours[self.text], colours[ground] if ground else _RTF_PAPER)


def _rtf_runs(data: bytes, colours: list[Colour]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of characters before each piece of marked text, its mark and the text."""
    outer: list[tuple[frozenset[str], bool, _Ink]] = []
    marks, is_text, ink = NO_MARKS, True, _Ink()
    position = before = skipped = 0
    while token := RTF_TOKEN.match(data, position):
        position = token.end()
        word, number = token["word"], int(token["number"] or 1)
        text = ""
        if token["brace"] == b"{":
            outer.append((marks, is_text, ink))
        elif token["brace"]:
            marks, is_text, ink = outer.pop() if outer else (NO_MARKS, True, _Ink())
        elif word == b"bin":
            position += max(0, number)
        elif word == b"u":
            text, skipped = chr(number & 0xFFFF), 1
        elif word:
            is_text = is_text and word not in _NO_TEXT
            marks = _rtf_marks(marks, word, number)
            ink = ink.after(word, number) if colours else ink
        elif token[0] == b"\\*":
            is_text = is_text and data.startswith(b"\\footnote", position)
        else:
            written = bytes.fromhex(token["hex"].decode()) if token["hex"] else token[0]
            text = "".join(written.removeprefix(b"\\").decode("latin-1")[skipped:].split())
            skipped = 0
        if text and is_text:
            all_marks = marks | {HIDDEN} if ink.is_unseen(colours) else marks
            yield from ((before, mark, text) for mark in all_marks)
            before += len(text)


def _rtf_marks(marks: frozenset[str], word: bytes, number: int) -> frozenset[str]:
    """Return the marks after a control word."""
    if word == b"plain":
        return marks & {DELETED}
    if word in (b"nosupersub", b"super", b"sub", b"up", b"dn"):
        marks -= {RAISED, LOWERED}
    mark = _RTF_MARKS.get(word)
    if mark is None:
        return marks
    return marks | {mark} if number else marks - {mark}


# Headers and footers of pages.

_RTF_HEADER = re.compile(rb"\{\\(?:header|footer)(?P<first>f)?[lr]?(?![a-z])")


def rich_text_headers(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the text of each header and footer of RTF, and whether it is that of a first page.

    >>> [*rich_text_headers(rb"{\\header\\'a73 {\\b on}{\\*\\fldinst PAGE}}{\\footerf\\b a} b")]
    [('§3 on', False), ('a', True)]
    """
    position = 0
    while found := _RTF_HEADER.search(data, position):
        position = found.end()
        text: list[str] = []
        is_read = [True]
        for token in RTF_TOKEN.finditer(data, position):
            position = token.end()
            if token["brace"] == b"{":
                is_read.append(is_read[-1])
            elif token["brace"]:
                is_read.pop()
            elif token[0] == b"\\*":
                is_read[-1] = False
            elif is_read[-1]:
                text.append(_rich_characters(token))
            if not is_read:
                break
        yield "".join(text), bool(found["first"])


def _rich_characters(token: re.Match[bytes]) -> str:
    if token["hex"]:
        return bytes.fromhex(token["hex"].decode()).decode("cp1252", "replace")
    if token["word"] == b"u":
        return chr(int(token["number"] or 0) & 0xFFFF)
    return "" if token[0].startswith(b"\\") else token[0].decode("latin-1")


# Input for Tika.

_FOOTNOTE = re.compile(rb"\{(?:\\\*)?\\footnote(?![a-z])")  # LibreOffice marks it by a star
_DRAWING = re.compile(rb"\{\\\*\\do(?![a-z])")  # of Word before 97, with its boxes of text
_COMMENTER = re.compile(rb"\{\\\*\\atn(?:id|author)\b[^{}]*\}")
_LIST_NUMBER = re.compile(rb"\{\\(?:listtext|pntext)(?![a-z])([^{}]*)\}")
_CONTROL = re.compile(rb"\\(?:[a-z]+-?\d* ?|'[0-9a-fA-F]{2}|.)", re.DOTALL)
_CELL_OF_RTF = re.compile(  # after a backslash of the text, which is written twice
    rb"(?P<text>\\\\)|\\(?:(?P<cell>cell)|(?P<row>row)|intbl)(?![a-z0-9])"
)


def readable_rich_text(data: bytes) -> bytes:
    """Return an RTF without what was deleted while changes were tracked, with a mark of its first
    paragraph, its footnotes and the text of drawn boxes, and rows of tables as lines; without the
    names of who wrote comments, which other formats lack.
    """
    may_be_deleted = b"\\deleted" in data or b"\\mvf" in data
    data = _without_deleted(data) if may_be_deleted and b"\\bin" not in data else data
    if b"\\dptxbxtext" in data and b"\\shptxt" not in data:  # which has it as well
        data = _DRAWING.sub(b"{", data).replace(b"\\dptxbxtext", b"\\par")
    data = _FOOTNOTE.sub(rb"{\\footnote  ", data)  # the second blank is text
    data = _with_rows(_LIST_NUMBER.sub(_list_number, _COMMENTER.sub(b"", data)))
    return data if b"\\pard" in data else _with_paragraph(data)


def _list_number(found: re.Match[bytes]) -> bytes:
    """Return the number of an item of a list as text; a bullet as it is, which is not read."""
    number = _CONTROL.sub(b"", found[1]).strip()
    return b"{%s }" % number if any(map(str.isalnum, number.decode("latin-1"))) else found[0]


def _with_rows(data: bytes) -> bytes:
    """Return an RTF whose rows of tables are lines with a tab before each cell.

    >>> _with_rows(rb"\\trowd\\intbl a\\cell\\intbl b\\cell\\row")
    b'\\\\trowd\\\\intbl\\\\tab a\\\\tab\\\\intbl b\\\\tab\\\\par'
    """
    is_start = True

    def written(found: re.Match[bytes]) -> bytes:
        nonlocal is_start
        if found["text"]:
            return found[0]
        if found["cell"]:
            return rb"\tab"
        if found["row"]:
            is_start = True
            return rb"\par"
        begins, is_start = is_start, False
        return rb"\intbl\tab" if begins else found[0]

    return data if b"\\bin" in data else _CELL_OF_RTF.sub(written, data)


def _with_paragraph(data: bytes) -> bytes:
    """Return an RTF with the control word of a paragraph before its text: Tika loses what is before
    the first group without one.

    >>> _with_paragraph(rb"{\\rtf1{\\fonttbl{\\f0 Arial;}}It is {\\b agreed}.}")
    b'{\\\\rtf1{\\\\fonttbl{\\\\f0 Arial;}}\\\\pard It is {\\\\b agreed}.}'
    """
    depth = 0
    for token in RTF_TOKEN.finditer(data):
        depth += {b"{": 1, b"}": -1}.get(token["brace"] or b"", 0)
        is_text = not token["word"] and not token["brace"] and token[0].strip()
        if depth == 1 and is_text:
            return data[: token.start()] + rb"\pard " + data[token.start() :]
    return data


def _without_deleted(data: bytes) -> bytes:
    """Return an RTF without its text that is marked as deleted; control words stay.

    >>> _without_deleted(rb"{\\rtf1 It is {\\deleted not }agreed.}")
    b'{\\\\rtf1 It is {\\\\deleted }agreed.}'
    """
    kept: list[bytes] = []
    outer: list[bool] = []
    is_deleted = False
    for token in RTF_TOKEN.finditer(data):
        word, brace = token["word"], token["brace"]
        if brace == b"{":
            outer.append(is_deleted)
        elif brace and outer:
            is_deleted = outer.pop()
        elif word in (b"deleted", b"mvf"):  # or moved from here
            is_deleted = token["number"] != b"0"
        elif word == b"plain":
            is_deleted = False
        is_text = word in (None, b"u", b"par", b"line", b"tab") and not brace
        if not (is_deleted and is_text):
            kept.append(token[0])
    return b"".join(kept)


# What is not read.

_RTF_CODES = re.compile(
    rb"\\levelstartat(?![01]\b)\d+|\b(?:HYPERLINK|DDE|INCLUDE|LINK|MACRO|SYMBOL\s+\d)[^{}]*"
    rb"|\\ff(?:res|defres)\d+|\\sn gtextUNICODE\}\s*\{\\sv [^{}]*"
)
_RTF_TEXT = re.compile(rb"(?:\\[a-z]+-?\d* ?|[{}])(?!\s*[0-9a-fA-F\s]{32})([^\\{}]+)")
_RTF_PIECE = re.compile(
    rb"\\(?P<kind>pict|objdata)\b|\\bin(?P<size>\d{1,9}) ?"
    rb"|(?P<digits>[0-9a-fA-F][0-9a-fA-F\s]{31,})|\\sn pVerticies\}\s*\{\\sv (?P<path>[^{}]*)"
)


def rich_text_files(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield pictures and objects, in hexadecimal digits or binary, paths of shapes, what is not
    read of fields and lists, and text that is hidden, raised, struck or deleted.
    """
    for kind, lines in marked_rich_text(data).items():
        yield all_of(kind, lines)
    codes = [(match.start(), match[0]) for match in _RTF_CODES.finditer(data)]
    pieces = list(_rtf_pieces(data))
    if not codes and not pieces:
        return
    anchors = Anchors(data, _RTF_TEXT)
    for count, (start, piece_kind, content) in enumerate(pieces, start=1):
        anchor = f"{anchors(start)}.{count}"
        yield EmbeddedFile(piece_kind, f"{piece_kind} {count}", sha256(content), anchor)
    if codes:
        yield all_of("fields and lists", anchored(codes, anchors))


def _rtf_pieces(data: bytes) -> Iterator[tuple[int, EmbeddedKind, bytes]]:
    """Yield start, kind and content of each picture, object and drawing."""
    position = start = 0
    kind: EmbeddedKind | None = None
    content = b""
    while found := _RTF_PIECE.search(data, position):
        if found["kind"]:
            if content:
                yield start, kind or "object", content
            kind, content = "picture" if found["kind"] == b"pict" else "object", b""
            start = found.start()
        position = found.end()
        if found["path"]:
            yield found.start(), "object", found["path"]
        elif found["size"]:
            start = start if content or kind else found.start()
            position += int(found["size"])
            content += data[found.end() : position]
        elif found["digits"] and kind:
            digits = b"".join(found["digits"].split())
            content += binascii.unhexlify(digits[: len(digits) // 2 * 2])
    if content:
        yield start, kind or "object", content
