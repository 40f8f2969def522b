"""Parts of office documents that are not displayed, or are marked: hidden, raised, struck and
deleted text; of workbooks digits of values (3.14159 behind 3.1), hidden rows, columns and sheets.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from indexer.documents.base import Anchors, sha256
from indexer.model import EmbeddedFile

# Marked text, however many runs a program splits it into.

MarkedStyles: TypeAlias = Mapping[bytes, frozenset[str]]

_HIDDEN, _RAISED, _LOWERED, _STRUCK, _DELETED = "hidden", "raised", "lowered", "struck", "deleted"
_KINDS = {
    _HIDDEN: "hidden and raised text",
    _RAISED: "hidden and raised text",
    _LOWERED: "hidden and raised text",
    _STRUCK: "struck text",
    _DELETED: "deleted text",
}
_WHITE_TEXT = "white"  # of styles alone: it is hidden where it stands on no colour
_NO_MARKS: frozenset[str] = frozenset()


class _Run(NamedTuple):
    """A piece of text that is marked, and its position."""

    start: int
    mark: str
    text: bytes


def marked_text(
    content: bytes, styles: MarkedStyles = MappingProxyType({})
) -> dict[str, list[tuple[str, bytes]]]:
    """Return the marked text of a part by its kind, with anchors; `styles`: the common ones that
    mark text.
    """
    if b"<w:" in content:
        content = _OLD_MARKS.sub(b"", content) if b"<w:rPrChange" in content else content
        runs, pattern = list(_of_word(content, styles)), _OFFICE_TEXT
    elif b"<a:t" in content:
        runs, pattern = list(_of_slide(content)), _OFFICE_TEXT
    else:
        runs, pattern = list(_of_odf(content, styles)), None
    return _by_kind(runs, Anchors(content, pattern)) if runs else {}


def _by_kind(
    runs: Iterable[_Run], anchors: Callable[[int], int]
) -> dict[str, list[tuple[str, bytes]]]:
    """Return runs by the kinds of their marks, with anchors."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for mark, kind in _KINDS.items():
        lines = list(_joined((run for run in runs if run.mark == mark), anchors))
        if lines:
            found.setdefault(kind, []).extend(lines)
    return found


_OFFICE_TEXT = re.compile(rb"<(?:w:t|w:delText|a:t|m:t)\b[^>]*>([^<]+)")


def _joined(runs: Iterable[_Run], anchors: Callable[[int], int]) -> Iterator[tuple[str, bytes]]:
    """Yield anchor and content of runs of one mark, those as one that follow each other."""
    start = end = -1
    pieces: list[str] = []
    mark = ""
    for run in sorted(runs):
        mark = run.mark
        text = "".join(unescape(run.text.decode("utf-8", "replace")).split())
        before = anchors(run.start)
        if before != end and pieces:
            yield str(start), f"{mark} {''.join(pieces)}".encode()
            pieces = []
        if text:
            start = start if pieces else before
            pieces.append(text)
            end = before + len(text)
    if pieces:
        yield str(start), f"{mark} {''.join(pieces)}".encode()


# Word: properties of runs, and of styles, which may be based on others.

_OLD_MARKS = re.compile(rb"<w:rPrChange\b.*?</w:rPrChange>", re.DOTALL)
_WORD_MARKS = re.compile(rb"<w:(vanish|d?strike|vertAlign)(?:\s+w:val=\"(\w+)\")?\s*/>")
_WORD_MARKERS = (b"<w:vanish", b"trike", b"<w:vertAlign", b'"FFFFFF"', b'"ffffff"')
_WORD_TEXT = re.compile(rb"<w:t(?:\s[^>]*)?>([^<]*)")
_DELETED_TEXT = re.compile(rb"<w:delText\b[^>]*>([^<]+)")
_END_OF_RUN = re.compile(rb"</?w:r[ >]|</w:pPr>")
_WORD_STYLE = re.compile(rb"<w:style\b[^>]*\bw:styleId=\"([^\"]+)\".*?</w:style>", re.DOTALL)
_BASE_STYLE = re.compile(rb"<w:basedOn w:val=\"([^\"]+)\"")
_RUN_STYLE = re.compile(rb"<w:rStyle w:val=\"([^\"]+)\"")
_MAX_BASES = 12


def _word_marks(properties: bytes, inherited: frozenset[str] = _NO_MARKS) -> frozenset[str]:
    marks = set(inherited)
    for name, value in _WORD_MARKS.findall(properties):
        if name == b"vertAlign":
            marks -= {_RAISED, _LOWERED}
            marks |= {b"superscript": {_RAISED}, b"subscript": {_LOWERED}}.get(value, set())
        elif value in (b"0", b"false", b"off"):
            marks.discard(_HIDDEN if name == b"vanish" else _STRUCK)
        else:
            marks.add(_HIDDEN if name == b"vanish" else _STRUCK)
    return frozenset(marks)


def _style_marks(properties: bytes, inherited: frozenset[str]) -> frozenset[str]:
    """Return the marks of a style of Word, and whether its text is white."""
    marks = _word_marks(properties, inherited)
    if b"<w:color" not in properties and b"<w:shd" not in properties:
        return marks
    is_white = _WHITE.search(properties) and b"<w:shd" not in properties
    return marks | {_WHITE_TEXT} if is_white else marks - {_WHITE_TEXT}


# White text, and what it may stand on: a paragraph, a cell or a box, which may have a colour.
_WHITE = re.compile(rb"<w:color\s[^>]*w:val=\"f{6}\"", re.IGNORECASE)
_COLOUR = re.compile(rb"<w:color\s[^>]*w:val=\"(?!f{6})", re.IGNORECASE)
_ON_PAPER = re.compile(
    rb"<(?P<end>/?)w:(?P<of>tbl|tc|txbxContent|p|r)(?:\s[^>]*)?(?<!/)>"
    rb"|<w:pStyle w:val=\"(?P<style>[^\"]+)\"|<w:rPr>(?P<marks>.*?)</w:rPr>"
    rb"|<w:t(?:\s[^>]*)?>(?P<text>[^<]+)"
    rb"|(?P<shade><w:shd\b[^>]*w:(?:theme)?fill=\"(?!auto\"|f{6}\"))",
    re.IGNORECASE | re.DOTALL,
)
_OWN_SHADE = (b"<w:shd", b"<w:highlight")


def _white_of_word(content: bytes, styles: MarkedStyles) -> Iterator[_Run]:
    """Yield the text of runs that are white, by a style too, where neither they nor their cell,
    paragraph or box have a colour; boxes are taken to have one.
    """
    around: list[tuple[bool, bool]] = [(False, False)]  # has it a colour, is its text white
    is_white = False
    for match in _ON_PAPER.finditer(content):
        is_shaded, is_paragraph_white = around[-1]
        if match["shade"]:
            around[-1] = (True, is_paragraph_white)
        elif match["of"] == b"r":
            is_white = is_paragraph_white
        elif match["of"] and not match["end"]:
            around.append((is_shaded or match["of"] == b"txbxContent", False))
        elif match["of"]:
            around = around[:-1] or [(False, False)]
        elif match["style"]:
            around[-1] = (is_shaded, _WHITE_TEXT in styles.get(match["style"], _NO_MARKS))
        elif match["marks"]:
            is_white = _is_white(match["marks"], is_white, styles)
        elif match["text"] and is_white and not is_shaded:
            yield _Run(match.start(), _HIDDEN, match["text"])


def _is_white(properties: bytes, inherited: bool, styles: MarkedStyles) -> bool:
    """Return whether a run is white, and not on a colour of its own."""
    if any(map(properties.__contains__, _OWN_SHADE)):
        return False
    if _WHITE.search(properties):
        return True
    named = _RUN_STYLE.search(properties)
    is_styled = named is not None and _WHITE_TEXT in styles.get(named[1], _NO_MARKS)
    return (inherited or is_styled) and not _COLOUR.search(properties)


def _of_word(content: bytes, styles: MarkedStyles) -> Iterator[_Run]:
    for match in _DELETED_TEXT.finditer(content) if b"<w:delText" in content else ():
        yield _Run(match.start(), _DELETED, match[1])
    if _WHITE.search(content) or any(_WHITE_TEXT in marks for marks in styles.values()):
        yield from _white_of_word(content, styles)
        styles = {name: marks - {_WHITE_TEXT} for name, marks in styles.items()}
    is_styled = any(styles.values()) and b'Style w:val="' in content
    if not is_styled and not any(marker in content for marker in _WORD_MARKERS):
        return
    first, *pieces = content.split(b"<w:rPr>")
    position = len(first)
    for piece in pieces:
        properties, _, rest = piece.partition(b"</w:rPr>")
        named = _RUN_STYLE.search(properties) if is_styled else None
        marks = _word_marks(properties, styles.get(named[1], _NO_MARKS) if named else _NO_MARKS)
        if marks:
            end = _END_OF_RUN.search(rest)
            text = b"".join(_WORD_TEXT.findall(rest, 0, end.start() if end else len(rest)))
            yield from (_Run(position, mark, text) for mark in marks)
        position += len(piece) + len(b"<w:rPr>")
    names = b"|".join(re.escape(name) for name, marks in styles.items() if marks)
    paragraphs = rb"<w:pStyle w:val=\"(%s)\"/>.*?</w:p>" % names
    for match in re.finditer(paragraphs, content, re.DOTALL) if is_styled else ():
        text = b"".join(_WORD_TEXT.findall(match[0]))
        yield from (_Run(match.start(), mark, text) for mark in styles[match[1]])


# Slides: attributes of the properties of a run.

_BASELINE, _STRIKE = re.compile(rb"\bbaseline=\"(-?)[1-9]"), re.compile(rb"\bstrike=\"(?:sng|dbl)")


def _of_slide(content: bytes) -> Iterator[_Run]:
    if b"baseline=" not in content and b"trike=" not in content:
        return
    first, *pieces = content.split(b"<a:rPr")
    position = len(first)
    for piece in pieces:
        attributes, _, rest = piece.partition(b">")
        text = rest.partition(b"</a:t>")[0].rpartition(b"<a:t")[2].partition(b">")[2]
        if level := _BASELINE.search(attributes):
            yield _Run(position, _LOWERED if level[1] else _RAISED, text)
        if _STRIKE.search(attributes):
            yield _Run(position, _STRUCK, text)
        position += len(piece) + len(b"<a:rPr")


# OpenDocument: styles alone mark text.

_ODF_STYLE = re.compile(
    rb"<style:style\s[^>]*?\bstyle:name=\"([^\"]+)\"([^>]*)(?<!/)>(.*?)</style:style>", re.DOTALL
)
_PARENT_STYLE = re.compile(rb"style:parent-style-name=\"([^\"]+)")
_ODF_MARKS = re.compile(
    rb"(text-line-through-style=\"(?!none))|style:text-position=\"((?:super|sub)\b|-?[1-9])"
    rb"|(text:display=\"none|presentation:visibility=\"hidden)"
)
_ODF_WHITE = re.compile(rb"fo:color=\"#f{6}\"", re.IGNORECASE)
# a fill of cells, paragraphs or pages, on which text may be white
_ODF_FILL = re.compile(
    rb"fo:background-color=\"#(?!f{6})|draw:fill=\"(?!none)|<office:presentation"
)
_ODF_MARKERS = (
    *(b"text-line-through", b":text-position=", b"text:display=", b"n:visibility="),
    *(b'"#ffffff"', b'"#FFFFFF"'),
)


def _of_odf(content: bytes, styles: MarkedStyles) -> Iterator[_Run]:
    marked = {name: marks for name, marks in _odf_styles(content, styles).items() if marks}
    if not marked:
        return
    names = b"|".join(map(re.escape, marked))
    texts = rb"\b(?:text|table):style-name=\"(%s)\"[^>]*(?<!/)>(?:<[^/<>][^<>]*>){0,2}([^<]+)"
    for match in re.finditer(texts % names, content):
        yield from (_Run(match.start(), mark, match[2]) for mark in marked[match[1]])
    for match in re.finditer(rb"<draw:page\b[^>]*draw:style-name=\"(?:%s)\"" % names, content):
        yield _Run(match.start(), _HIDDEN, b"page")


def _odf_styles(content: bytes, common: MarkedStyles) -> MarkedStyles:
    """Return the styles of a part and the common ones with the marks that they give."""
    if not common and not any(marker in content for marker in _ODF_MARKERS):
        return {}
    found = dict(common)
    is_on_paper = _ODF_WHITE.search(content) and not _ODF_FILL.search(content)
    for name, attributes, properties in _ODF_STYLE.findall(content):
        parent = _PARENT_STYLE.search(attributes)
        marks = set(found.get(parent[1], _NO_MARKS)) if parent else set()
        for struck, level, hidden in _ODF_MARKS.findall(properties):
            marks |= {_STRUCK} if struck else {_HIDDEN} if hidden else {_level(level)}
        if is_on_paper and _ODF_WHITE.search(properties):
            marks.add(_HIDDEN)
        found[name] = frozenset(marks)
    return found


def _level(position: bytes) -> str:
    return _LOWERED if position.startswith((b"sub", b"-")) else _RAISED


def marked_styles(content: bytes) -> MarkedStyles:
    """Return the styles of Word, or common ones of OpenDocument, that mark text, with their marks.

    >>> marked_styles(b'<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>')
    {b'Gone': frozenset({'hidden'})}
    """
    if b"<w:style" not in content:
        return {name: marks for name, marks in _odf_styles(content, {}).items() if marks}
    if not any(marker in content for marker in _WORD_MARKERS):
        return {}
    written = {match[1]: match[0] for match in _WORD_STYLE.finditer(content)}
    found: dict[bytes, frozenset[str]] = {}
    for name in written:
        line = [name]
        while len(line) < _MAX_BASES and (base := _BASE_STYLE.search(written.get(line[-1], b""))):
            line.append(base[1])
        marks = _NO_MARKS
        for style in reversed(line):
            marks = _style_marks(written.get(style, b""), marks)
        if marks:
            found[name] = marks
    return found


# RTF: control words mark the text after them, to the end of their group.

RTF_TOKEN = re.compile(
    rb"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\[^a-z]"
    rb"|(?P<brace>[{}])|[^\\{}]+",
    re.DOTALL,
)
_RTF_MARK = re.compile(rb"\\(?:strike|deleted|v|super|sub)(?:d?1)?(?![0-9a-z])")
_RTF_MARKS = {
    b"strike": _STRUCK,
    b"striked": _STRUCK,
    b"deleted": _DELETED,
    b"v": _HIDDEN,
    b"super": _RAISED,
    b"sub": _LOWERED,
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
    if not _RTF_MARK.search(data):
        return {}
    runs = [_Run(before, mark, text.encode()) for before, mark, text in _rtf_runs(data)]
    return _by_kind(runs, lambda before: before)


def _rtf_runs(data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield the number of characters before each piece of marked text, its mark and the text."""
    outer: list[tuple[frozenset[str], bool]] = []
    marks, is_text = _NO_MARKS, True
    position = before = skipped = 0
    while token := RTF_TOKEN.match(data, position):
        position = token.end()
        word, number = token["word"], int(token["number"] or 1)
        text = ""
        if token["brace"] == b"{":
            outer.append((marks, is_text))
        elif token["brace"]:
            marks, is_text = outer.pop() if outer else (_NO_MARKS, True)
        elif word == b"bin":
            position += max(0, number)
        elif word == b"u":
            text, skipped = chr(number & 0xFFFF), 1
        elif word:
            is_text = is_text and word not in _NO_TEXT
            marks = _rtf_marks(marks, word, number)
        elif token[0] == b"\\*":
            is_text = False
        else:
            written = bytes.fromhex(token["hex"].decode()) if token["hex"] else token[0]
            text = "".join(written.removeprefix(b"\\").decode("latin-1")[skipped:].split())
            skipped = 0
        if text and is_text:
            yield from ((before, mark, text) for mark in marks)
            before += len(text)


def _rtf_marks(marks: frozenset[str], word: bytes, number: int) -> frozenset[str]:
    """Return the marks after a control word."""
    if word == b"plain":
        return marks & {_DELETED}
    if word == b"nosupersub" or word in (b"super", b"sub"):
        marks -= {_RAISED, _LOWERED}
    mark = _RTF_MARKS.get(word)
    if mark is None:
        return marks
    return marks | {mark} if number else marks - {mark}


# Sheets of Excel (.xlsx).

_NUMBER = re.compile(
    rb"<c (?![^>]*\bt=\"(?:s|str|inlineStr|b|e|d)\")([^>]*)>(?:<f\b[^>]*(?:/>|>[^<]*</f>))?"
    rb"<v>([-+.\deE]+)</v>"
)
_NAME, _STYLE = re.compile(rb"\br=\"(\w+)\""), re.compile(rb"\bs=\"(\d+)\"")
_FORMAT = re.compile(rb"<numFmt\s[^>]*>")
_ID, _CODE = re.compile(rb"\bnumFmtId=\"(\d+)\""), re.compile(rb"\bformatCode=\"([^\"]*)\"")
_CELL_STYLES = re.compile(rb"<cellXfs\b.*?</cellXfs>", re.DOTALL)
_CELL_STYLE = re.compile(rb"<xf\b[^>]*>")
_QUOTED = re.compile(rb"\"[^\"]*\"|&quot;.*?&quot;|\\.|\[[^\]]*\]|_.|\*.")
_DECIMALS = re.compile(rb"[0#?]\.([0#?]+)")
_MINUTES, _SECONDS, _NEVER = 1440.0, 86400.0, 1e-9  # of a day, the unit of times
_BUILT_IN = {1: 1.0, 2: 1e2, 3: 1.0, 4: 1e2, 9: 1e2, 10: 1e4, 37: 1.0, 38: 1.0, 39: 1e2, 40: 1e2}
_BUILT_IN |= dict.fromkeys((14, 15, *range(27, 32), *range(50, 59)), 1.0)
_BUILT_IN |= dict.fromkeys((18, 20, 22, 32), _MINUTES) | dict.fromkeys((19, 21, 45, 46), _SECONDS)
_GENERAL_DIGITS = 10  # that are displayed without a format
_SIGNIFICANT = 12  # significant ones, in which all programs write a value alike


def hidden_values(sheet: bytes, styles: bytes) -> bytes:
    """Return the cells with values that are displayed in part, and these values; empty for none."""
    scales = _scales(styles)
    hidden: list[bytes] = []
    for attributes, value in _NUMBER.findall(sheet):
        style = _STYLE.search(attributes)
        index = int(style[1]) if style else 0
        if not _is_displayed(value, scales[index] if index < len(scales) else None):
            name = _NAME.search(attributes)
            hidden.append(b"%s %s" % (name[1] if name else b"", _rounded(float(value))))
    return b"\n".join(hidden)


def _rounded(value: float) -> bytes:
    return f"{value:.{_SIGNIFICANT}g}".encode()


def _is_displayed(value: bytes, scale: float | None) -> bool:
    """Return whether a value is a multiple of what is displayed; None: as many digits as fit."""
    if scale is None and len(value) <= _GENERAL_DIGITS:
        return True
    try:
        number = float(value)
    except ValueError:
        return True
    if scale is None:
        return float(f"{number:.{_GENERAL_DIGITS}g}") == float(f"{number:.{_SIGNIFICANT}g}")
    scaled = number * scale
    return abs(scaled - round(scaled)) <= max(1e-6, abs(scaled) * 10**-_SIGNIFICANT) or not scaled


def _scales(styles: bytes) -> list[float | None]:
    """Return of how many units to one the styles of cells display, in order."""
    scales: dict[int, float | None] = dict(_BUILT_IN)
    for element in _FORMAT.findall(styles):
        id, code = _ID.search(element), _CODE.search(element)
        if id and code:
            scales[int(id[1])] = _scale(code[1])
    ids = [_ID.search(style) for style in _cell_styles(styles)]
    return [scales.get(int(id[1])) if id else None for id in ids]


def _cell_styles(styles: bytes) -> list[bytes]:
    listed = _CELL_STYLES.search(styles)
    return _CELL_STYLE.findall(listed[0]) if listed else []


def _scale(code: bytes) -> float | None:
    """Return how many units a format displays of one; None where it displays what fits.

    >>> _scale(b"0.00"), _scale(b"#,##0"), _scale(b"0.0%"), _scale(b"d mmm yyyy")
    (100.0, 1.0, 1000.0, 1.0)
    >>> _scale(b"General"), _scale(b"0,"), _scale(b"hh:mm:ss")
    (None, 0.001, 86400.0)
    """
    plain = _QUOTED.sub(b"", code.partition(b";")[0]).lower()
    if not plain.strip() or any(mark in plain for mark in (b"general", b"@", b"e+", b"/?", b"/#")):
        return None
    if any(letter in plain for letter in (b"y", b"d", b"h", b"s", b"m")):
        if b"s" in plain or b"h" in plain:
            return _SECONDS if b"s" in plain else _MINUTES
        return 1.0 if all(letter in plain for letter in (b"y", b"m", b"d")) else _NEVER
    decimals = _DECIMALS.search(plain)
    digits = (len(decimals[1]) if decimals else 0) + 2 * plain.count(b"%")
    thousands = len(plain) - len(plain.rstrip(b", ").rstrip(b","))
    return float(10.0 ** (digits - 3 * thousands))


_HIDDEN_CELLS = re.compile(rb"<(row|col)\s(?=[^>]*\bhidden=\"(?:1|true)\")[^>]*>")
_NUMBERED = re.compile(rb"\s(?:r|min|max)=\"(\d{1,7})\"")
LAST_COLUMN = 16384
_RULE_CELLS = re.compile(rb"<(?:conditionalFormatting|dataValidation)\s[^>]*?\bsqref=\"([^\"]*)")


def hidden_cells(sheet: bytes) -> bytes:
    """Return the numbers of hidden rows and columns, however many a program joins in an element.

    >>> hidden_cells(b'<col min="2" max="3" hidden="1"/><row r="7" hidden="true">')
    b'col 2,col 3,row 7'
    """
    hidden: set[tuple[bytes, int]] = set()
    for match in _HIDDEN_CELLS.finditer(sheet) if b"hidden=" in sheet else ():
        numbers = sorted(map(int, _NUMBERED.findall(match[0])))
        if numbers:
            last = min(numbers[-1], max(numbers[0], LAST_COLUMN))
            hidden.update((match[1], number) for number in range(numbers[0], last + 1))
    return b",".join(b"%s %d" % cell for cell in sorted(hidden))


def rule_cells(sheet: bytes) -> bytes:
    """Return the ranges that conditions and lists of allowed values are for, in any order.

    >>> rule_cells(b'<dataValidation type="list" sqref="B2:B9 A1">')
    b'A1 B2:B9'
    """
    return b" ".join(sorted(set(b" ".join(_RULE_CELLS.findall(sheet)).split())))


_FONTS, _FONT = re.compile(rb"<fonts\b.*?</fonts>", re.DOTALL), re.compile(rb"<font/?>|<font\s")
_FONT_ID = re.compile(rb"\bfontId=\"(\d+)\"")
_STRUCK_FONT = re.compile(rb"<strike(?: val=\"(?:1|true)\")?/>")
_STYLED = re.compile(rb"<c (?=[^>]*\br=\"(\w+)\")(?=[^>]*\bs=\"(\d+)\")[^>]*>(?!</c>)(?<!/>)")


_WHITE_FONT = re.compile(
    rb"<color (?:rgb=\"(?:FF)?F{6}\"|theme=\"0\"(?! tint)|indexed=\"(?:1|9)\")"
)
_FILLED = re.compile(rb"\bfillId=\"(?!0\")")


def cells_of_fonts(
    sheet: bytes, styles: bytes, font: re.Pattern[bytes], on_paper: bool = False
) -> bytes:
    """Return the names of cells that are not empty and have a font; with `on_paper` only those
    without a fill.
    """
    fonts = _FONTS.search(styles)
    if fonts is None or not font.search(fonts[0]):
        return b""
    written = _FONT.split(fonts[0])[1:]
    chosen = {str(id).encode() for id, each in enumerate(written) if font.search(each)}
    cell_styles = [
        b"" if on_paper and _FILLED.search(style) else style for style in _cell_styles(styles)
    ]
    ids = [_FONT_ID.search(style) for style in cell_styles]
    names = {str(index).encode() for index, id in enumerate(ids) if id and id[1] in chosen}
    return b",".join(name for name, style in _STYLED.findall(sheet) if style in names)


_STRING_OF_RUNS = re.compile(rb"<(?:si|is)>(?=.{0,40}<r[ >]).*?</(?:si|is)>", re.DOTALL)
_RUN = re.compile(rb"<r[ >](?P<style>.*?)<t\b[^>]*>(?P<text>[^<]*)")
_RUN_MARK = re.compile(rb"<(strike)(?: val=\"(?:1|true)\")?/>|<vertAlign val=\"(su\w+)\"/>")


def marked_strings(strings: bytes) -> bytes:
    """Return the words in cells that are struck out or raised, after what is before them, in any
    order of the strings.
    """
    marked: set[bytes] = set()
    has_marks = b"<strike" in strings or b"<vertAlign" in strings
    for written in _STRING_OF_RUNS.finditer(strings) if has_marks else ():
        before, last = b"", b""
        line: list[bytes] = []
        for run in _RUN.finditer(written[0]):
            text = b"".join(run["text"].split())
            marks = b",".join(b"".join(mark) for mark in _RUN_MARK.findall(run["style"]))
            if marks and text:
                line.append(text if marks == last else b" %s %s %s" % (before, marks, text))
            last = marks if text else last
            before += text
        if line:
            marked.add(b"".join(line))
    return b"\n".join(sorted(marked))


MARKED_WORDS = "struck and raised words"


def unseen_cells(part: bytes, styles: bytes) -> dict[str, bytes]:
    """Return what a sheet, or a list of strings, has besides what its cells display, by kinds."""
    return {
        "values": hidden_values(part, styles),
        "hidden cells": hidden_cells(part),
        "cells of rules": rule_cells(part),
        "struck cells": cells_of_fonts(part, styles, _STRUCK_FONT),
        "white cells": cells_of_fonts(part, styles, _WHITE_FONT, on_paper=True),
        MARKED_WORDS: marked_strings(part),
    }


# Workbooks of Excel before 2007 (.xls): records of a type, a size and content.

_DRAWING_GROUP, _IMAGE, _CONTINUE, _FORMULA = 0xEB, 0x7F, 0x3C, 0x06
_BEGIN, _SHEET, _FONT_RECORD, _FORMAT_RECORD, _STYLE_RECORD = 0x809, 0x85, 0x31, 0x41E, 0xE0
_REAL, _COMPACT, _COMPACT_ROW, _STRING, _LABEL = 0x203, 0x27E, 0xBD, 0xFD, 0x204
_ROW, _COLUMNS = 0x208, 0x7D
_PICTURES = b"\x07\xf0"  # the type of a record of pictures in a group of drawings
_STRIKES, _IS_HIDDEN, _VERSION_8 = 0x08, 0x20, 0x600
_NO_FONT = 4  # a number that no font has


def workbook_files(content: bytes) -> Iterator[EmbeddedFile]:
    """Yield the pictures of a workbook, its formulas, and what its sheets do not display."""
    pictures = {_DRAWING_GROUP: bytearray(), _IMAGE: bytearray()}
    formulas = bytearray()
    sheets = _Sheets()
    kind = 0
    for written, record in _records(content):
        if written != _CONTINUE:
            kind = written
            sheets.add(kind, record)
        if kind in pictures:
            pictures[kind] += record
        elif kind == _FORMULA:
            formulas += record[:4] + record[20:]  # its cell, and what it computes
    _, mark, group = pictures[_DRAWING_GROUP].partition(_PICTURES)
    if mark or pictures[_IMAGE]:
        yield EmbeddedFile("picture", "pictures", sha256(group + pictures[_IMAGE]))
    if formulas:
        yield EmbeddedFile("object", "formulas", sha256(formulas))
    for name, found in sheets.found.items():
        yield EmbeddedFile("object", name, sha256(b"\n".join(found)))


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + 4 <= len(content):
        kind, size = struct.unpack_from("<HH", content, position)
        yield kind, content[position + 4 : position + 4 + size]
        position += 4 + size


@dataclass
class _Sheets:
    """Values, cells and sheets of a workbook that are not displayed, by kinds."""

    found: defaultdict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    _fonts: list[bool] = field(default_factory=list)
    _scales: dict[int, float | None] = field(default_factory=lambda: dict(_BUILT_IN))
    _styles: list[tuple[float | None, bool]] = field(default_factory=list)
    _version: int = 0
    _sheet: int = 0

    def add(self, kind: int, record: bytes) -> None:
        """Add a record; one that is too short is left out."""
        try:
            self._add(kind, record)
        except (struct.error, IndexError):
            return

    def _add(self, kind: int, record: bytes) -> None:
        if kind in (_REAL, _COMPACT, _COMPACT_ROW, _FORMULA, _STRING, _LABEL):
            self._add_cells(kind, record)
        elif kind == _BEGIN:
            self._version = struct.unpack_from("<H", record)[0]
            self._sheet += 1
        elif kind == _SHEET and record[4] & 3:
            self.found["hidden sheets"].append(record[6:])
        elif kind == _ROW and struct.unpack_from("<H", record, 12)[0] & _IS_HIDDEN:
            self._add_hidden(b"row", struct.unpack_from("<H", record)[0])
        elif kind == _COLUMNS and record[8] & 1:
            first, last = struct.unpack_from("<HH", record)
            for column in range(first, min(last, 255) + 1):
                self._add_hidden(b"col", column)
        else:
            self._add_style(kind, record)

    def _add_hidden(self, kind: bytes, number: int) -> None:
        self.found["hidden cells"].append(b"%d %s %d" % (self._sheet, kind, number))

    def _add_style(self, kind: int, record: bytes) -> None:
        if kind == _FONT_RECORD:
            self._fonts.append(bool(record[2] & _STRIKES))
        elif kind == _FORMAT_RECORD:
            is_wide = self._version >= _VERSION_8 and record[4] & 1
            start = 5 if self._version >= _VERSION_8 else 3
            code = record[start:].decode("utf-16-le" if is_wide else "latin-1", "replace")
            self._scales[struct.unpack_from("<H", record)[0]] = _scale(code.encode())
        elif kind == _STYLE_RECORD:
            font, format = struct.unpack_from("<HH", record)
            font -= font > _NO_FONT
            is_struck = font < len(self._fonts) and self._fonts[font]
            self._styles.append((self._scales.get(format), is_struck))

    def _add_cells(self, kind: int, record: bytes) -> None:
        row, column, style = struct.unpack_from("<HHH", record)
        if kind == _COMPACT_ROW:
            for start in range(4, len(record) - 2, 6):
                style, packed = struct.unpack_from("<HI", record, start)
                self._add_cell((row, column + (start - 4) // 6), style, _unpacked(packed))
        elif kind == _COMPACT:
            number = _unpacked(struct.unpack_from("<I", record, 6)[0])
            self._add_cell((row, column), style, number)
        elif kind in (_STRING, _LABEL) or record[12:14] == b"\xff\xff":
            self._add_cell((row, column), style, None)
        else:
            self._add_cell((row, column), style, struct.unpack_from("<d", record, 6)[0])

    def _add_cell(self, cell: tuple[int, int], index: int, value: float | None) -> None:
        scale, is_struck = self._styles[index] if index < len(self._styles) else (None, False)
        name = b"%d %d %d" % (self._sheet, *cell)
        if is_struck:
            self.found["struck cells"].append(name)
        if value is not None and not _is_displayed(repr(value).encode(), scale):
            self.found["values"].append(b"%s %s" % (name, _rounded(value)))


def _unpacked(packed: int) -> float:
    """Return a number that is packed into 32 bits: a whole one, or the upper half of a real one,
    with a bit that divides it by 100.

    >>> _unpacked(0x3FF00000), _unpacked((1234 << 2) | 3)
    (1.0, 12.34)
    """
    if packed & 2:
        value = float((packed >> 2) - (1 << 30) * (packed >> 31))
    else:
        value = float(struct.unpack("<d", struct.pack("<Q", (packed & ~3) << 32))[0])
    return value / 100 if packed & 1 else value


# Sheets of OpenDocument: a cell has its value next to the text that it displays.

_ODF_CELL = re.compile(
    rb"<table:table-cell\s(?P<attributes>[^>]*\boffice:(?:(?:date-|time-)?value)=[^>]*[^>/])>"
    rb"(?:<office:annotation\b.*?</office:annotation>)?<text:p\b[^>]*>(?P<text>.*?)</text:p>",
    re.DOTALL,
)
_ODF_VALUE = re.compile(rb"\boffice:(date-|time-|)value=\"([^\"]*)\"")
_ELEMENT, _NO_DIGIT = re.compile(rb"<[^>]*>"), re.compile(rb"[^0-9]+")
_TIME = re.compile(rb"(\d+)(?:[:HM](\d+))?(?:[:M](\d+(?:\.\d+)?))?")


def values_behind_texts(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the values of cells that display less than there is, by their positions.

    >>> cell = b'<table:table-cell office:value="%s"><text:p>1.234,5</text:p></table:table-cell>'
    >>> list(values_behind_texts(cell % b"1234.50")), list(values_behind_texts(cell % b"1234.51"))
    ([], [(0, b'1234.51')])
    """
    for cell in _ODF_CELL.finditer(content) if b"<table:table-cell" in content else ():
        found = _ODF_VALUE.search(cell["attributes"])
        text = _ELEMENT.sub(b"", cell["text"])
        if found and (hidden := _behind(found[1], found[2], text)):
            yield cell.start(), hidden


def _behind(kind: bytes, value: bytes, text: bytes) -> bytes:
    """Return what a text does not display of a value; empty for nothing."""
    if kind == b"date-":
        _, _, time = value.partition(b"T")
        is_displayed = b":" in text or not time.strip(b"0:.Z")
        return b"" if is_displayed else time
    if kind == b"time-":
        parts = _TIME.search(value)
        seconds = (parts[3] or b"") if parts else b""
        is_displayed = text.count(b":") > 1 or not seconds.strip(b"0.")
        return b"" if is_displayed else seconds
    try:
        rounded = _rounded(float(value))
    except ValueError:
        return b""
    digits, _, exponent = rounded.partition(b"e")
    displayed = _digits(text.partition(b"E")[0] if exponent else text)
    return b"" if _digits(digits) == displayed or not any(displayed) else rounded


def _digits(number: bytes) -> bytes:
    return _NO_DIGIT.sub(b"", number).strip(b"0")
