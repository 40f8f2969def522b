"""Word, PowerPoint and Excel before 2007: text that is hidden, raised, struck, deleted or white,
what is not read of fields, hidden slides, where links lead; cells that display other values; and
codes in headers of Excel of any version.

Sources: [MS-DOC], [MS-PPT] and [MS-XLS], Microsoft Open Specifications.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise
from typing import NamedTuple

from indexer.documents.base import all_of, sha256
from indexer.documents.mail.outlook import compound_streams
from indexer.documents.marked_text import (
    DELETED,
    HIDDEN,
    LOWERED,
    RAISED,
    STRUCK,
    MarkedRun,
    by_kind,
)
from indexer.documents.unseen import BUILT_IN, DEFAULT_HEADER, hides, rounded, words_of_format
from indexer.model import EmbeddedFile

# Word: pieces of text in the order of the document, and properties of ranges of bytes.

_TABLES, _IS_SECOND_TABLE = ("0Table", "1Table"), 0x0200
WORD_STREAMS = ("WordDocument", *_TABLES)
# offsets in the header of the file
_FLAGS, _LENGTHS, _HEADERS, _PROPERTY_PAGES, _PIECES = 0x0A, 0x4C, 0xF2, 0xFA, 0x1A2
# stories before those of the first section; stories of a section, the last two of its first page
_SEPARATORS, _STORIES, _OF_FIRST_PAGE = 6, 6, 4
_IS_COMPRESSED = 1 << 30
_PAGE = 512
_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes of a property's operand, by its kind
_IS_ON = (1, 0x81)  # 0x80 and 0x81: as the style, and as it is not
_SWITCHES = {0x083C: HIDDEN, 0x0837: STRUCK, 0x2A53: STRUCK, 0x0800: DELETED}
_POSITION, _ELEVATION, _COLOUR, _NUMBERED_COLOUR = 0x2A48, 0x4845, 0x6870, 0x2A42
_NUMBER_OF_WHITE = b"\x08"
_WHITE = re.compile(b"[\xf7-\xff]{3}\0")  # or nearly so
_GROUNDS = (0x2A0C, 0x4866, 0xCA71)  # a highlight and shades of text
_PARAGRAPH_GROUND, _CELL_GROUNDS = b"\x4d\xc6\x0a", (b"\x12\xd6", b"\x16\xd6", b"\x0c\xd6")
_WHITE_TEXT = "white"
_FIELD, _RESULT, _END = "\x13", "\x14", "\x15"
_FIELD_MARK = re.compile("([\x13-\x15])")
_CONTROL = re.compile("[\0-\x1f\\s]+")
_CODE = re.compile(r"\b(?:HYPERLINK|DDE|INCLUDE|LINK|MACRO|EQ)")


class _Properties(NamedTuple):
    """The marks of a range of bytes of the stream of a document."""

    start: int
    marks: frozenset[str]


def word_files(streams: Mapping[str, bytes]) -> Iterator[EmbeddedFile]:
    """Yield the marked text of a Word document and what is not read of its fields.

    `streams`: those of the file by their names. Raises `ValueError` for a damaged file. Marks of
    styles and of changes that a fast save appended are not known.
    """
    with _as_damage():
        document, table, pieces = _word(streams)
        properties = _properties(document, table)
    is_on_paper = _PARAGRAPH_GROUND not in document and not (
        any(ground in document for ground in _CELL_GROUNDS)
        and any("\x07" in text for _, text, _ in pieces)
    )
    runs: list[MarkedRun] = []
    fields = _Fields()
    before = 0
    for marks, text in _ranges(pieces, properties):
        for part in _FIELD_MARK.split(text):
            written = "" if fields.has_read(part, before) else _written(part)
            for mark in marks if written else ():
                if mark != _WHITE_TEXT or is_on_paper:
                    kind = HIDDEN if mark == _WHITE_TEXT else mark
                    runs.append(MarkedRun(before, kind, written.encode()))
            before += len(written)
    for kind, lines in by_kind(runs, int).items():
        yield all_of(kind, lines)
    if fields.codes:
        yield all_of("fields and lists", fields.codes)


def word_headers(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the text of each header and footer of a Word document, and whether it is that of a
    first page. Raises `ValueError` for a damaged file.
    """
    with _as_damage():
        document, table, pieces = _word(dict(compound_streams(data, WORD_STREAMS)))
        start, size = struct.unpack_from("<II", document, _HEADERS)
        first = sum(struct.unpack_from("<II", document, _LENGTHS))  # after the text and its notes
        limits = struct.unpack_from(f"<{size // 4}I", table, start)
    text = "".join(text for _, text, _ in pieces)[first:]
    for number, (begin, end) in enumerate(pairwise(limits)):
        fields = _Fields()
        parts = _FIELD_MARK.split(text[begin:end])
        displayed = _characters("".join(part for part in parts if not fields.has_read(part, 0)))
        if number >= _SEPARATORS and displayed.strip():
            yield displayed, number % _STORIES >= _OF_FIRST_PAGE


@contextmanager
def _as_damage() -> Iterator[None]:
    try:
        yield
    except (struct.error, IndexError) as error:
        raise ValueError(str(error)) from error


def _word(streams: Mapping[str, bytes]) -> tuple[bytes, bytes, list[tuple[int, str, int]]]:
    """Return the stream of a document, its table, and its pieces of text."""
    document = streams["WordDocument"]
    flags = struct.unpack_from("<H", document, _FLAGS)[0]
    table = streams[_TABLES[bool(flags & _IS_SECOND_TABLE)]]
    return document, table, list(_pieces(document, table))


class _Fields:
    """The fields that are open at a position, the innermost last: their codes, None in a result."""

    def __init__(self) -> None:
        self.codes: list[tuple[str, bytes]] = []
        self._open: list[list[str] | None] = []
        self._codes = 0  # that are open

    def has_read(self, part: str, before: int) -> bool:
        """Return whether a mark of a field, or text, is not displayed; `before`: the characters
        displayed before it.
        """
        if part == _FIELD:
            self._open.append([])
            self._codes += 1
        elif part in (_RESULT, _END):
            parts = self._open.pop() if self._open else None
            self._codes -= parts is not None
            code = _characters("".join(parts or ()))
            if _CODE.search(code):
                self.codes.append((str(before), " ".join(_CONTROL.split(code)).strip().encode()))
            if part == _RESULT:
                self._open.append(None)
        else:
            if self._open and self._open[-1] is not None:
                self._open[-1].append(part)
            return self._codes > 0
        return True


def _units(content: bytes) -> str:
    """Return text in which each unit of UTF-16 is a character, as files count them."""
    return "".join(map(chr, struct.unpack(f"<{len(content) // 2}H", content[: len(content) & ~1])))


def _characters(units: str) -> str:
    """Return the text of units of UTF-16; half of a pair becomes U+FFFD."""
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _written(units: str) -> str:
    return _CONTROL.sub("", _characters(units))


def _pieces(document: bytes, table: bytes) -> Iterator[tuple[int, str, int]]:
    """Yield offset, text and bytes to a character of each piece of text."""
    start, size = struct.unpack_from("<II", document, _PIECES)
    position, end = start, start + size
    while table[position : position + 1] == b"\x01":  # properties of fast saves
        position += 3 + struct.unpack_from("<H", table, position + 1)[0]
    count = (struct.unpack_from("<I", table, position + 1)[0] - 4) // 12
    if not 0 <= count <= (end - position) // 12:
        raise ValueError("the list of pieces is damaged")
    limits = struct.unpack_from(f"<{count + 1}I", table, position + 5)
    if sum(max(0, end - begin) for begin, end in pairwise(limits)) > len(document):
        raise ValueError("pieces of text overlap")
    for index in range(count):
        descriptor = position + 5 + 4 * (count + 1) + 8 * index
        offset = struct.unpack_from("<I", table, descriptor + 2)[0]
        width = 1 if offset & _IS_COMPRESSED else 2
        offset = (offset & ~_IS_COMPRESSED) // 2 if width == 1 else offset
        content = document[offset : offset + width * max(0, limits[index + 1] - limits[index])]
        yield offset, content.decode("cp1252", "replace") if width == 1 else _units(content), width


def _properties(document: bytes, table: bytes) -> list[_Properties]:
    """Return the marks of ranges of the stream, each up to the next, in order."""
    start, size = struct.unpack_from("<II", document, _PROPERTY_PAGES)
    count = max(0, min(size, len(table) - start) - 4) // 8
    numbers = struct.unpack_from(f"<{count}I", table, start + 4 * (count + 1))
    marks: dict[bytes, frozenset[str]] = {b"": frozenset()}
    found: list[_Properties] = []
    for number in dict.fromkeys(numbers):
        page = document[(number & 0x3FFFFF) * _PAGE :][:_PAGE]
        runs = page[-1] if len(page) == _PAGE else 0
        starts = struct.unpack_from(f"<{runs}I", page) if runs else ()
        for index, first in enumerate(starts):
            offset = 2 * page[4 * (runs + 1) + index]
            modifiers = page[offset + 1 :][: page[offset]] if offset else b""
            if modifiers not in marks:
                marks[modifiers] = frozenset(_marks(modifiers))
            found.append(_Properties(first, marks[modifiers]))
    return sorted(found, key=lambda each: each.start)


def _marks(modifiers: bytes) -> Iterator[str]:
    """Yield the marks that properties of characters set."""
    operands: dict[int, bytes] = {}
    position = 0
    while position + 2 < len(modifiers):
        code = modifiers[position] | modifiers[position + 1] << 8
        position += 2
        size = _SIZES[code >> 13] or modifiers[position] + 1
        operands[code] = modifiers[position : position + size]
        position += size
    for code, mark in _SWITCHES.items():
        if operands.get(code, b"\0")[:1] in map(bytes, ((on,) for on in _IS_ON)):
            yield mark
    elevation = int.from_bytes(operands.get(_ELEVATION, b""), "little", signed=True)
    script = operands.get(_POSITION, b"\0")[:1]
    if script == b"\1" or elevation > 0:
        yield RAISED
    if script == b"\2" or elevation < 0:
        yield LOWERED
    is_white = _WHITE.fullmatch(operands.get(_COLOUR, b"")) is not None or (
        operands.get(_NUMBERED_COLOUR) == _NUMBER_OF_WHITE and _COLOUR not in operands
    )
    if is_white and not any(map(operands.get, _GROUNDS)):
        yield _WHITE_TEXT


def _ranges(
    pieces: list[tuple[int, str, int]], properties: list[_Properties]
) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the text in order, in ranges of equal properties, with their marks."""
    starts = [each.start for each in properties]
    for offset, text, width in pieces:
        position = 0
        index = bisect_right(starts, offset)
        while position < len(text):
            limit = starts[index] if index < len(starts) else offset + width * len(text)
            end = max(position + 1, (limit - offset) // width)
            yield properties[index - 1].marks if index else frozenset(), text[position:end]
            position, index = end, index + 1


# PowerPoint: records in records.

_SLIDE, _SHOWN, _LINK, _STRING = 0x03EE, 0x03F9, 0x0FD7, 0x0FBA
_WIDE_TEXT, _TEXT, _STYLE = 0x0FA0, 0x0FA8, 0x0FA1
_IS_HIDDEN = 4
_MAX_DEPTH = 32
# the bits of properties that are in a record, in their order, and their bytes; a tab stop has four
_PARAGRAPH = (
    *((0xF, 2), (1 << 7, 2), (1 << 4, 2), (1 << 6, 2), (1 << 5, 4)),
    *((1 << bit, 2) for bit in (11, 12, 13, 14, 8, 10, 15)),
    *((1 << 20, 0), (1 << 16, 2), (0xE0000, 2), (1 << 21, 2)),
)
_CHARACTERS = (
    *((0xFFFF, 2), (1 << 16, 2), (1 << 21, 2), (1 << 22, 2), (1 << 23, 2), (1 << 17, 2)),
    *((1 << 18, 4), (1 << 19, 2)),
)
_RAISE = 1 << 19


def slide_files(content: bytes) -> Iterator[EmbeddedFile]:
    """Yield the hidden slides, the raised text and the targets of links of a presentation.

    `content`: the stream of the document. Raises `ValueError` for a damaged one.
    """
    slides, before = 0, 0
    hidden: list[bytes] = []
    links: list[bytes] = []
    runs: list[MarkedRun] = []
    text = ""
    with _as_damage():
        for kind, parent, record in _records(content):
            if kind == _SLIDE:
                slides += 1
            elif kind == _SHOWN and parent == _SLIDE:
                hidden += [b"%d" % slides] if record[10] & _IS_HIDDEN else []
            elif kind == _STRING and parent == _LINK:
                links.append(record.decode("utf-16-le", "replace").encode())
            elif kind in (_WIDE_TEXT, _TEXT):
                before += len(_written(text))
                text = _units(record) if kind == _WIDE_TEXT else record.decode("latin-1")
            elif kind == _STYLE:
                position, last = before, 0
                for start, end, mark in _raised(record, len(text) + 1):
                    position += len(_written(text[last:start]))
                    runs.append(MarkedRun(position, mark, _written(text[start:end]).encode()))
                    last = start
    if hidden:
        yield EmbeddedFile("object", "hidden slides", sha256(b",".join(hidden)))
    if links:
        yield EmbeddedFile("object", "links", sha256(b"\n".join(links)))
    for kind_of_text, lines in by_kind(runs, int).items():
        yield all_of(kind_of_text, lines)


def _records(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield kind, kind of the record around it, and content of each record; empty for one that has
    others in it.
    """
    ends: list[tuple[int, int]] = [(len(content), 0)]
    position = 0
    while position + 8 <= len(content):
        while position >= ends[-1][0] and len(ends) > 1:
            ends.pop()
        version, kind, size = struct.unpack_from("<HHI", content, position)
        position += 8
        if version & 0xF == 0xF and len(ends) < _MAX_DEPTH:
            yield kind, ends[-1][1], b""
            ends.append((position + size, kind))
        else:
            yield kind, ends[-1][1], content[position : position + size]
            position += size


def _raised(record: bytes, count: int) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and mark of raised and lowered text among `count` characters."""
    position = start = 0
    while start < count and position + 10 <= len(record):  # paragraphs
        length, _, mask = struct.unpack_from("<IHI", record, position)
        position, start = position + 10, start + max(1, length)
        for bits, size in _PARAGRAPH:
            if mask & bits:
                tabs = int.from_bytes(record[position : position + 2], "little") if not size else 0
                position += size or 2 + 4 * tabs
    start = 0
    while start < count and position + 8 <= len(record):
        length, mask = struct.unpack_from("<II", record, position)
        position += 8 + sum(size for bits, size in _CHARACTERS if mask & bits)
        if mask & _RAISE and position <= len(record):
            elevation = struct.unpack_from("<h", record, position - 2)[0]
            if elevation:
                yield start, start + length, RAISED if elevation > 0 else LOWERED
        start += max(1, length)


# Workbooks of Excel before 2007 (.xls): records of a type, a size and content.

_DRAWING_GROUP, _IMAGE, _CONTINUE, _FORMULA = 0xEB, 0x7F, 0x3C, 0x06
_BEGIN, _SHEET, _FONT_RECORD, _FORMAT_RECORD, _STYLE_RECORD = 0x809, 0x85, 0x31, 0x41E, 0xE0
_REAL, _COMPACT, _COMPACT_ROW, _SHARED_STRING, _LABEL = 0x203, 0x27E, 0xBD, 0xFD, 0x204
_ROW, _COLUMNS, _ROW_HEIGHT, _VIEW = 0x208, 0x7D, 0x225, 0x23E
_NO_ROWS, _FORMULAS, _ZEROS = 0x02, 0x0001, 0x0010
_PICTURES = b"\x07\xf0"  # the type of a record of pictures in a group of drawings
_STRIKES, _IS_HIDDEN_ROW, _VERSION_8 = 0x08, 0x20, 0x600
_WHITES = (b"\x01\0", b"\x09\0")  # numbers of the colour
_NO_FONT = 4  # a number that no font has


def workbook_files(content: bytes) -> Iterator[EmbeddedFile]:
    """Yield the pictures of a workbook, its formulas, and what its sheets do not display."""
    pictures = {_DRAWING_GROUP: bytearray(), _IMAGE: bytearray()}
    formulas = bytearray()
    sheets = _Sheets()
    kind = 0
    for written, record in _workbook_records(content):
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


def _workbook_records(content: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + 4 <= len(content):
        kind, size = struct.unpack_from("<HH", content, position)
        yield kind, content[position + 4 : position + 4 + size]
        position += 4 + size


@dataclass
class _Sheets:
    """Values, cells and sheets of a workbook that are not displayed, by kinds."""

    found: defaultdict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    _fonts: list[tuple[bool, bool]] = field(default_factory=list)  # is it struck, is it white
    _codes: dict[int, bytes] = field(default_factory=lambda: dict(BUILT_IN))  # of formats
    _styles: list[tuple[bool, bool, bytes]] = field(default_factory=list)
    _version: int = 0
    _sheet: int = 0

    def add(self, kind: int, record: bytes) -> None:
        """Add a record; one that is too short is left out."""
        try:
            self._add(kind, record)
        except (struct.error, IndexError):
            return

    def _add(self, kind: int, record: bytes) -> None:
        if kind in (_REAL, _COMPACT, _COMPACT_ROW, _FORMULA, _SHARED_STRING, _LABEL):
            self._add_cells(kind, record)
        elif kind == _BEGIN:
            self._version = struct.unpack_from("<H", record)[0]
            self._sheet += 1
        elif kind == _SHEET and record[4] & 3:
            self.found["hidden sheets"].append(record[6:])
        elif kind == _ROW and struct.unpack_from("<H", record, 12)[0] & _IS_HIDDEN_ROW:
            self._add_hidden(b"row", struct.unpack_from("<H", record)[0])
        elif kind == _COLUMNS and record[8] & 1:
            first, last = struct.unpack_from("<HH", record)
            for column in range(first, min(last, 255) + 1):
                self._add_hidden(b"col", column)
        elif kind in (_VIEW, _ROW_HEIGHT):
            (flags,) = struct.unpack_from("<H", record)
            is_usual = flags & (_FORMULAS | _ZEROS) == _ZEROS
            if flags & _NO_ROWS if kind == _ROW_HEIGHT else not is_usual:
                self.found["view of cells"].append(b"%d %d %d" % (self._sheet, kind, flags & 0x13))
        else:
            self._add_style(kind, record)

    def _add_hidden(self, kind: bytes, number: int) -> None:
        self.found["hidden cells"].append(b"%d %s %d" % (self._sheet, kind, number))

    def _add_style(self, kind: int, record: bytes) -> None:
        if kind == _FONT_RECORD:
            is_white = record[4:6] in _WHITES
            self._fonts.append((bool(record[2] & _STRIKES), is_white))
        elif kind == _FORMAT_RECORD:
            is_wide = self._version >= _VERSION_8 and record[4] & 1
            start = 5 if self._version >= _VERSION_8 else 3
            code = record[start:].decode("utf-16-le" if is_wide else "latin-1", "replace")
            (id,) = struct.unpack_from("<H", record)
            self._codes[id] = code.encode()
        elif kind == _STYLE_RECORD:
            font, format = struct.unpack_from("<HH", record)
            font -= font > _NO_FONT
            is_struck, is_white = self._fonts[font] if font < len(self._fonts) else (False, False)
            is_on_paper = (
                self._version >= _VERSION_8 and record[17:18] < b"\x04"
            )  # without a pattern
            is_white = is_white and is_on_paper
            self._styles.append((is_struck, is_white, self._codes.get(format, b"")))

    def _add_cells(self, kind: int, record: bytes) -> None:
        row, column, style = struct.unpack_from("<HHH", record)
        if kind == _COMPACT_ROW:
            for start in range(4, len(record) - 2, 6):
                style, packed = struct.unpack_from("<HI", record, start)
                self._add_cell((row, column + (start - 4) // 6), style, _unpacked(packed))
        elif kind == _COMPACT:
            number = _unpacked(struct.unpack_from("<I", record, 6)[0])
            self._add_cell((row, column), style, number)
        elif kind in (_SHARED_STRING, _LABEL) or record[12:14] == b"\xff\xff":
            self._add_cell((row, column), style, None)
        else:
            self._add_cell((row, column), style, struct.unpack_from("<d", record, 6)[0])

    def _add_cell(self, cell: tuple[int, int], index: int, value: float | None) -> None:
        style = self._styles[index] if index < len(self._styles) else (False, False, b"")
        is_struck, is_white, code = style
        name = b"%d %d %d" % (self._sheet, *cell)
        if is_struck:
            self.found["struck cells"].append(name)
        if is_white:
            self.found["white cells"].append(name)
        if words := words_of_format(code, value) if b'"' in code else b"":
            self.found["formats of cells"].append(b"%s %s" % (name, words))
        if value is not None and hides(code, repr(value).encode()):
            self.found["values"].append(b"%s %s" % (name, rounded(value)))


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


# Headers of sheets of Excel, which have codes.

_HEADER_OF_SHEET = re.compile(rb"(?<=Header>)[^<]+|(?<=Footer>)[^<]+")
# `&&` is an ampersand of the text
_FONT_CODE = re.compile(
    r'(&&)|&(?:"[^"]*"|\d{1,3}|K[\dA-F]{2}(?:[\dA-F]{4}|[+-]\d{3})|[BIUEXYSOH])'
)
_AREA = re.compile(r"(&&)|&[LCR]")
_AMPERSAND = re.compile(r"&&([LCR]?)")
_LINE_OF_HEADER = re.compile(r"^&[LCR].*$", re.MULTILINE)
# after the cells of a sheet and an empty line; in a cell a line may begin in the same way
_HEADERS_OF_SHEET = re.compile(r"(?<=\n\n)&[LCR].*(?:\n[^\t\n].*)*")


def _header_of_sheet(codes: str) -> str:
    """Return a header of Excel without codes of fonts; none of a default one.

    >>> _header_of_sheet('&L&"Arial,Bold"&12Draft&RPage &P'), _header_of_sheet("&C&8Page &P")
    ('&LDraft&RPage &P', '')
    """
    codes = _FONT_CODE.sub(r"\1", codes)
    words = " ".join(_AREA.sub(r"\1 ", codes).split())
    fields = words.replace("&A", "&sheet-name").replace("&P", "&page-number")
    return "" if DEFAULT_HEADER.fullmatch(fields) else codes


def displayed_codes(sheet: bytes) -> bytes:
    """Return a sheet of Excel whose headers have no codes of fonts, and without default ones, as
    OpenDocument has them. An ampersand before L, C or R, which Tika would take for a code, gets a
    blank.
    """

    def edited(found: re.Match[bytes]) -> bytes:
        codes = _header_of_sheet(unescape(found[0].decode("utf-8", "replace")))
        return escape(_AMPERSAND.sub(_ampersand, codes)).encode()

    return _HEADER_OF_SHEET.sub(edited, sheet) if b"<headerFooter" in sheet else sheet


def _ampersand(found: re.Match[str]) -> str:
    return f"& {found[1]}" if found[1] else "&"


def without_codes(text: str) -> str:
    """Return the text of a workbook before 2007 with headers as newer ones have them."""

    def edited(found: re.Match[str]) -> str:
        codes = _AREA.sub(lambda area: area[1] or "\t", _header_of_sheet(found[0]))
        return codes.replace("&&", "&").strip()

    return _HEADERS_OF_SHEET.sub(lambda found: _LINE_OF_HEADER.sub(edited, found[0]), text)
