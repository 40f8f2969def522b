"""Pictures, drawings and attached files of a PDF, none of which is text.

The description of a page, and of a form that it shows, holds its text, and may hold pictures and
drawings. Rules, borders and backgrounds, which are lines and rectangles along the axes, count
only where there is no text, or where they strike out, cover or frame some: each program draws
them differently around the same text.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from indexer.documents.base import sha256
from indexer.documents.pdf_drawing import (
    END_PICTURE,
    IDENTITY,
    INLINE,
    OBLIQUE,
    OUTSIDE,
    PAINTING,
    STRING,
    DrawnPage,
    Matrix,
    matrix_of,
    may_be_coloured,
    may_mark,
    moved,
    number_of,
    product,
)
from indexer.model import EmbeddedFile, EmbeddedKind

_OBJECT = re.compile(rb"(?<!\d)(\d{1,10})\s+\d{1,5}\s+obj\b")
_BODY_END = re.compile(rb"(?<!end)stream\r?\n|endobj")
_LENGTH = re.compile(rb"/Length\s+(\d{1,10})(?!\s+\d+\s+R)\b")
_FILE = re.compile(rb"/(?:Subtype\s*/(?:(Image)|U3D|PRC)|Type\s*/(?:EmbeddedFile|Sound))\b")
_ENCRYPT = re.compile(rb"/Encrypt\s*(?:\d+\s+\d+\s+R|<<)")
_OBJECT_STREAM, _FIRST = re.compile(rb"/Type\s*/ObjStm\b"), re.compile(rb"/First\s+(\d{1,10})")
_PAGE, _BYTE_RANGE = re.compile(rb"/Type\s*/Page\b"), re.compile(rb"/ByteRange\s*\[")
_DESCRIPTION = re.compile(rb"/(?:Subtype\s*/Form|PatternType\s+1)\b")
_CONTENTS = re.compile(rb"/Contents\s*(\[[^\[\]]*\]|\d+\s+\d+\s+R)")
_REFERENCE = re.compile(rb"(\d+)\s+\d+\s+R")
_KEY = re.compile(rb"/Contents\s*<([0-9A-Fa-f\s]*)>")
_DRAWN_NOTE = re.compile(
    rb"/Subtype\s*/(Stamp|Ink|Line|Square|Circle|Polygon|PolyLine|Highlight|Underline|Squiggly"
    rb"|StrikeOut|Redact)\b"
)
_APPEARANCE = re.compile(rb"/AP\s*<<[^<>]*?/N\s+(\d+)\s+\d+\s+R")
_FONT = re.compile(rb"/(?:Length1\b|Type1C\b|CIDFontType0C\b|OpenType\b)")
_STAMP_NAME = re.compile(rb"/Name\s*(/\w+)")
_GEOMETRY = re.compile(rb"/(?:InkList|QuadPoints|Vertices|L)\s*(\[[^/>]*\])")
_FILTER = re.compile(rb"/Filter\s*(\[[^\[\]]*\]|/\w+)")
_NAME = re.compile(rb"/(\w+)")
_DECODERS = {
    b"FlateDecode": lambda data: zlib.decompressobj().decompress(data, _MAX_DECODED),
    b"ASCII85Decode": lambda data: base64.a85decode(data.strip().removesuffix(b"~>")),
    b"ASCIIHexDecode": lambda data: binascii.unhexlify(b"".join(data.split()).rstrip(b">")),
}
_DECODERS |= {b"Fl": _DECODERS[b"FlateDecode"], b"A85": _DECODERS[b"ASCII85Decode"]}
_MAX_DECODED = 64 << 20
_UNDECODABLE = (zlib.error, ValueError, KeyError)
_SCRIPT = re.compile(rb"/JS\s*(?:(?P<number>\d+)\s+\d+\s+R|(?P<string>%s))" % STRING)
_PALETTE = re.compile(
    rb"/Indexed\b\s*(?:/\w+|\d+\s+\d+\s+R|\[[^\[\]]*\])\s*\d+\s*"
    rb"(?:(?P<number>\d+)\s+\d+\s+R|(?P<string>%s))" % STRING
)
_COLOURS = re.compile(rb"/ColorSpace\s+(\d+)\s+\d+\s+R")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPES = {
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"b": b"\b",
    b"f": b"\f",
    b"\n": b"",
    b"\r\n": b"",
    b"\r": b"",
}
_SEGMENT = re.compile(
    rb"%s|%s|(?<![\d.])(?P<numbers>(?:[-+]?[\d.]+\s+){2,6})"
    rb"(?P<operator>m|l|c|v|y|re|cm)(?=\s|\Z)(?!\s+W)|(?<!\S)(?P<state>[qQ])(?!\S)"
    % (INLINE, STRING),
    re.DOTALL,
)
_BEGIN_PICTURE, _PICTURE_DATA = re.compile(rb"(?<!\S)BI(?=\s)"), re.compile(rb"\sID\s")
_MAY_DRAW = re.compile(rb"[\d.]\s+(?:[cvyl]|re)\s|(?<!\S)BI\s")
_SHOWS_TEXT = re.compile(rb"(?<![\w/])T[jJ](?!\w)")
_HIDDEN_MARKS = (b"/JS", b"/RC", b"/RV")
_HIDDEN_TEXTS = (
    ("script", _SCRIPT),
    (
        "formatted note",
        re.compile(rb"/R[CV]\s*(?:(?P<number>\d+)\s+\d+\s+R|(?P<string>%s))" % STRING),
    ),
)
_NOTE = re.compile(rb"/Subtype\s*/(?:FreeText|Text|Widget|Popup|Caret)\b")
_FLAGS, _HIDDEN_FLAGS = re.compile(rb"/F\s+(\d{1,9})(?!\s+\d+\s+R)\b"), 2 | 32
_NOTE_WORDS = re.compile(rb"/(?:Contents|V)\s*(?:(?P<number>(?!))|(?P<string>%s))" % STRING)
_FIELD_VALUE = re.compile(rb"/V\s*(?:(?P<number>(?!))|(?P<string>%s))" % STRING)
_BOX_VALUE = re.compile(rb"/V\s*/([^\s/<>\[\]()]+)")
_BOX_STATE = re.compile(rb"/AS\s*/([^\s/<>\[\]()]+)")
_DRAWN_STRING = re.compile(STRING, re.DOTALL)
_ALPHANUMERIC = re.compile(rb"[A-Za-z0-9]+")
_XFA = re.compile(rb"/XFA\s*(\[[^\[\]]*\]|\d+\s+\d+\s+R)")
_OFF = re.compile(rb"/OFF\s*\[([^\[\]]+)\]")
_LAYER_NAME = re.compile(rb"/Name\s*(?:(?P<number>\d+)\s+\d+\s+R|(?P<string>%s))" % STRING)
_FILE_SPECIFICATION = re.compile(rb"/EF\s*<<([^<>]*)>>")
_FILE_NAME = re.compile(rb"/(?:UF|F)\s*(?:(?P<number>(?!))|(?P<string>%s))" % STRING)
_PAGES, _KIDS = re.compile(rb"/Type\s*/Pages\b"), re.compile(rb"/Kids\s*\[([^\[\]]*)\]")
_PARENT = re.compile(rb"/Parent\s+(\d+)\s+\d+\s+R")
_ANNOTATIONS = re.compile(rb"/Annots\s*(\[[^\[\]]*\]|\d+\s+\d+\s+R)")
_BOX = re.compile(rb"/(MediaBox|CropBox)\s*\[\s*((?:[-+.\d]+\s+){3}[-+.\d]+)\s*\]")
_RESOURCES = re.compile(rb"/Resources\s*(?:(\d+)\s+\d+\s+R|(?=<<))")
_XOBJECTS = re.compile(rb"/XObject\s*(?:(\d+)\s+\d+\s+R|<<([^<>]*)>>)")
_NAMED = re.compile(rb"/([^\s/<>\[\]()]+)\s+(\d+)\s+\d+\s+R")
_OWN_MATRIX = re.compile(rb"/Matrix\s*\[\s*((?:[-+.\d]+\s+){5}[-+.\d]+)\s*\]")
_STATE = re.compile(
    rb"(?<!\S)(?:(?P<state>[qQ])|(?P<matrix>(?:[-+.\d]+\s+){6})cm|/(?P<displayed>\S+)\s+Do)(?!\S)"
)
EARLIER_VERSION = "earlier version"
_GRID = 10.0  # points, of positions that count as one
_MAX_DISPLAYED, _MAX_NESTED = 20_000, 4


@dataclass(frozen=True, slots=True)
class _PdfObject:
    """An object of a PDF: what is before its stream, and the stream as it is in the file."""

    body: bytes
    stream: bytes | None

    def decoded(self) -> bytes:
        """Return the stream without its filters. Raises one of `_UNDECODABLE`."""
        data = self.stream or b""
        found = _FILTER.search(self.body)
        for name in _NAME.findall(found[1]) if found else ():
            data = _DECODERS[name](data)
        return data

    def unpacked(self) -> bytes:
        """Return the stream without its filters, which programs change; as it is in the file where
        it cannot be decoded, or is too long.
        """
        with suppress(*_UNDECODABLE):
            data = self.decoded()
            if len(data) < _MAX_DECODED:
                return data
        return self.stream or b""


_Objects: TypeAlias = Mapping[int, _PdfObject]


def pdf_files(data: bytes, text_pages: int | None = None) -> Iterator[EmbeddedFile]:
    """Yield what a PDF holds besides its text: streams of pictures as they are in the file,
    attached files without compression, pictures and drawings inside the descriptions of pages,
    stamps and other marks.

    Of an encrypted file, whose descriptions cannot be looked into, all bytes count. `text_pages`:
    how many pages have text that was read; if more draw some, what they draw it by counts, too.
    """
    found = list(_objects(data))
    is_encrypted = _ENCRYPT.search(data) is not None
    objects, earlier = _latest(found, is_encrypted)
    if is_encrypted:
        yield from _stored_files(found, objects, {}, {})
        yield EmbeddedFile("unread", "drawings of an encrypted file", sha256(data))
        return
    pages = _pages(objects)
    if texts := _earlier_texts(earlier, objects, pages):
        name = f"{EARLIER_VERSION} of {len(texts)} pages"
        yield EmbeddedFile("unread", name, sha256(b"\n".join(sorted(texts))))
    finder = _AnchorFinder(objects)
    anchors = finder.anchors(pages)
    yield from _stored_files(found, objects, anchors, _file_names(objects))
    names: Counter[str] = Counter()
    for kind, name, content, anchor in _drawn(objects, pages, anchors):
        names[name] += 1
        yield EmbeddedFile(kind, f"{name} {names[name]}", sha256(content), anchor)
    for page, marks in finder.marks(pages):
        is_outside = all(line.startswith(OUTSIDE.encode()) for line in marks.splitlines())
        name = "text outside of page" if is_outside else "lines through text of page"
        yield EmbeddedFile("object", f"{name} {page}", sha256(marks), str(page))
    for count, content in enumerate(_text_drawn(objects, text_pages), start=1):
        yield EmbeddedFile("unread", f"text without characters {count}", sha256(content))


def _latest(
    found: Iterable[tuple[int, _PdfObject]], is_encrypted: bool
) -> tuple[dict[int, _PdfObject], list[_PdfObject]]:
    """Return the objects by their numbers, and those that later ones of their number replace."""
    objects: dict[int, _PdfObject] = {}
    earlier: list[_PdfObject] = []
    for number, stored in found:
        packed: Iterable[tuple[int, _PdfObject]] = ()
        if stored.stream is not None and not is_encrypted and _OBJECT_STREAM.search(stored.body):
            packed = _packed_objects(stored)
        for inner, latest in ((number, stored), *packed):
            if inner in objects and objects[inner] != latest:
                earlier.append(objects[inner])
            objects[inner] = latest
    return objects, earlier


def _earlier_texts(
    earlier: Sequence[_PdfObject], objects: _Objects, pages: Sequence[int]
) -> set[bytes]:
    """Return descriptions of pages with text in earlier versions of a file, saved before what was
    appended to it, that no page has any more.
    """
    if not earlier:
        return set()
    kids = {kid for stored in objects.values() for kid in _kids(stored)}
    removed = [objects[kid] for stored in earlier for kid in _kids(stored) - kids if kid in objects]
    streams = [stored for stored in earlier if stored.stream is not None]
    for page in (*earlier, *removed):
        if _PAGE.search(page.body):
            streams += _contents(page.body, objects)
    current: set[bytes] = set()
    for number in pages:
        if number in kids or not kids:
            current |= _texts(_contents(objects[number].body, objects))
    return _texts(streams) - current


def _kids(stored: _PdfObject) -> set[int]:
    found = _KIDS.search(stored.body) if _PAGES.search(stored.body) else None
    return set(_references(found[1])) if found else set()


def _texts(streams: Iterable[_PdfObject]) -> set[bytes]:
    """Return the descriptions that show text."""
    texts: set[bytes] = set()
    for stream in streams:
        if not (_FILE.search(stream.body) or _FONT.search(stream.body)):
            with suppress(*_UNDECODABLE):
                content = stream.decoded()
                if _SHOWS_TEXT.search(content):
                    texts.add(b" ".join(content.split()))
    return texts


def _objects(data: bytes) -> Iterator[tuple[int, _PdfObject]]:
    """Yield the objects of a file by their numbers, in its order; later ones replace earlier."""
    position = 0
    while found := _OBJECT.search(data, position):
        end = _BODY_END.search(data, found.end())
        if end is None:
            return
        body = data[found.end() : end.start()]
        position = end.end()
        if end[0] == b"endobj":
            yield int(found[1]), _PdfObject(body, None)
            continue
        length = _LENGTH.search(body)
        last = position + int(length[1]) if length else position
        if not data[last : last + 12].lstrip().startswith(b"endstream"):
            last = position
        position = data.find(b"endstream", last)
        if position < 0:
            return
        yield int(found[1]), _PdfObject(body, data[end.end() : position].rstrip(b"\r\n"))


def _packed_objects(packed: _PdfObject) -> Iterator[tuple[int, _PdfObject]]:
    """Yield the objects in a stream of objects."""
    first = _FIRST.search(packed.body)
    try:
        content = packed.decoded()
        start = int(first[1]) if first else 0
        header = [int(value) for value in content[:start].split()]
    except _UNDECODABLE:
        return
    bounds = [*(start + offset for offset in header[1::2]), len(content)]
    for number, (begin, end) in zip(header[::2], pairwise(bounds), strict=False):
        yield number, _PdfObject(content[begin:end], None)


def _pages(objects: _Objects) -> list[int]:
    """Return the numbers of the pages, in order; those that no tree has come last."""
    every = [number for number, stored in objects.items() if _PAGE.search(stored.body)]
    roots = [
        number
        for number, stored in objects.items()
        if _PAGES.search(stored.body) and not _PARENT.search(stored.body)
    ]
    ordered: dict[int, None] = {}
    waiting, visited = roots[::-1], set(roots)
    while waiting:
        number = waiting.pop()
        stored = objects.get(number)
        kids = _KIDS.search(stored.body) if stored else None
        if stored and not kids and _PAGE.search(stored.body):
            ordered[number] = None
        new = [kid for kid in _references(kids[1] if kids else b"") if kid not in visited]
        visited.update(new)
        waiting += reversed(new)
    return list(ordered | dict.fromkeys(every))


def _references(written: bytes) -> list[int]:
    return [int(number) for number in _REFERENCE.findall(written)]


class _AnchorFinder:
    """A finder of the anchors of pictures and forms: pages, and positions on them."""

    def __init__(self, objects: _Objects) -> None:
        self._objects = objects
        self._anchors: dict[int, list[str]] = {}
        self._left = _MAX_DISPLAYED

    def anchors(self, pages: Sequence[int]) -> Mapping[int, list[str]]:
        """Return the anchors of pictures, forms and notes by their numbers, page by page."""
        for page, number in enumerate(pages, start=1):
            body = self._objects[number].body
            notes = _ANNOTATIONS.search(body)
            if notes and not notes[1].startswith(b"["):
                [referred] = _references(notes[1])
                list_of_notes = self._objects[referred].body if referred in self._objects else b""
            else:
                list_of_notes = notes[1] if notes else b""
            for note in _references(list_of_notes) if b"<<" not in list_of_notes else ():
                self._anchors.setdefault(note, []).append(str(page))
            displayed = self._named(body)
            if not displayed:
                continue
            with suppress(*_UNDECODABLE):
                content = _decoded(_contents(body, self._objects))
                self._show(content, displayed, IDENTITY, page)
        return self._anchors

    def _named(self, body: bytes, depth: int = 0) -> Mapping[bytes, int]:
        """Return the numbers of the pictures and forms that a page or form may show, by names."""
        found = _RESOURCES.search(body)
        if not found:
            parent = _PARENT.search(body)
            above = self._objects.get(int(parent[1])) if parent else None
            return self._named(above.body, depth + 1) if above and depth < _MAX_NESTED else {}
        resources = body[found.end() :]
        if found[1]:
            referred = self._objects.get(int(found[1]))
            resources = referred.body if referred else b""
        listed = _XOBJECTS.search(resources)
        if not listed:
            return {}
        names = listed[2]
        if listed[1]:
            referred = self._objects.get(int(listed[1]))
            names = referred.body if referred else b""
        return {name: int(number) for name, number in _NAMED.findall(names)}

    def _show(
        self, content: bytes, named: Mapping[bytes, int], matrix: Matrix, page: int, depth: int = 0
    ) -> None:
        """Add the anchors of what a description shows."""
        if b"Do" not in content:
            return
        saved: list[Matrix] = []
        for found in _STATE.finditer(content):
            if found["matrix"]:
                matrix = product(_matrix(found["matrix"]), matrix)
            elif found["state"] == b"q":
                saved.append(matrix)
            elif found["state"]:
                matrix = saved.pop() if saved else matrix
            elif self._left > 0 and (number := named.get(found["displayed"], -1)) in self._objects:
                self._left -= 1
                x, y = (round(value / _GRID) for value in matrix[4:])
                self._anchors.setdefault(number, []).append(f"{page}:{x},{y}")
                displayed = self._objects[number]
                if depth < _MAX_NESTED and _DESCRIPTION.search(displayed.body):
                    with suppress(*_UNDECODABLE):
                        self._show(*self._form(displayed, named, matrix), page, depth + 1)

    def _form(
        self, form: _PdfObject, named: Mapping[bytes, int], matrix: Matrix
    ) -> tuple[bytes, Mapping[bytes, int], Matrix]:
        """Return the description of a form, the names in it, and its matrix, where a description
        with these names and this matrix shows it. Raises one of `_UNDECODABLE`.
        """
        own = _OWN_MATRIX.search(form.body)
        inner = product(_matrix(own[1]), matrix) if own else matrix
        return _searchable([form]), self._named(form.body) or named, inner

    def marks(self, pages: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield which pages, from 1, have text that is struck out, covered, framed, invisible or
        outside of what is displayed, and where.
        """
        for page, number in enumerate(pages, start=1):
            body = self._objects[number].body
            with suppress(*_UNDECODABLE):
                content = _searchable(_contents(body, self._objects))
                named = self._named(body) if b"Do" in content else {}
                box = self._box(body) if _SHOWS_TEXT.search(content) or named else ()
                if not (named or box or may_mark(content)):
                    continue
                drawn = DrawnPage(box)
                self._draw(content, named, IDENTITY, drawn)
                if found := drawn.marks():
                    yield page, found

    def _box(self, body: bytes) -> Sequence[float]:
        """Return the corners of what is displayed of a page, below left and above right; none if
        it has no box.
        """
        displayed: dict[bytes, list[float]] = {}
        for _ in range(_MAX_NESTED + 1):
            for kind, numbers in _BOX.findall(body):
                x, y, to_x, to_y = (number_of(number) for number in numbers.split())
                corners = [min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y)]
                displayed.setdefault(kind, corners)
            parent = _PARENT.search(body)
            above = self._objects.get(int(parent[1])) if parent else None
            if above is None:
                break
            body = above.body  # which a page inherits from
        if not displayed:
            return ()
        lefts, bottoms, rights, tops = zip(*displayed.values(), strict=True)
        return max(lefts), max(bottoms), min(rights), min(tops)

    def _draw(
        self,
        content: bytes,
        named: Mapping[bytes, int],
        matrix: Matrix,
        drawn: DrawnPage,
        depth: int = 0,
    ) -> None:
        """Draw a description, and the forms in it, on a page."""
        drawn.has_area = drawn.has_area or may_be_coloured(content) is not None
        for found in PAINTING.finditer(content):
            if not found["displayed"]:
                matrix = drawn.draw(found, matrix)
                continue
            displayed = self._objects.get(named.get(found["displayed"], -1))
            if displayed is None or not _DESCRIPTION.search(displayed.body):
                drawn.add_picture(matrix)
            elif depth < _MAX_NESTED and self._left > 0:
                self._left -= 1
                with suppress(*_UNDECODABLE):
                    form = self._form(displayed, named, matrix)
                    drawn.begin()
                    self._draw(*form, drawn, depth + 1)
                    drawn.end()


def _matrix(written: bytes) -> Matrix:
    return matrix_of([number_of(value) for value in written.split()])


def _file_names(objects: _Objects) -> Mapping[int, str]:
    """Return the names of attached files by the numbers of their streams."""
    names: dict[int, str] = {}
    for stored in objects.values():
        for found in _FILE_SPECIFICATION.finditer(stored.body) if b"/EF" in stored.body else ():
            written = _FILE_NAME.search(stored.body)
            name = _value(written, objects).decode("utf-8", "replace") if written else ""
            names |= dict.fromkeys(_references(found[1]), name)
    return names


def _stored_files(
    stored_objects: Iterable[tuple[int, _PdfObject]],
    objects: _Objects,
    anchors: Mapping[int, list[str]],
    names: Mapping[int, str],
) -> Iterator[EmbeddedFile]:
    """Yield the streams that are files, pictures with their palettes, once for each anchor."""
    count = 0
    for number, stored in stored_objects:
        found = _FILE.search(stored.body) if stored.stream is not None else None
        if stored.stream is None or not (found or number in names):
            continue
        count += 1
        is_picture = found is not None and found[1] is not None
        kind: EmbeddedKind = "picture" if is_picture else "attachment"
        colours = _COLOURS.search(stored.body) if is_picture else None
        space = objects.get(int(colours[1])) if colours else stored
        palettes = (
            [_value(match, objects) for match in _PALETTE.finditer(space.body)] if space else []
        )
        content = stored.stream if is_picture else stored.unpacked()
        digest = sha256(b"".join((content, *palettes)))
        name = names.get(number, "")
        for anchor in anchors.get(number) or [name.casefold()]:
            yield EmbeddedFile(kind, name or f"{kind} {count}", digest, anchor)


def _value(found: re.Match[bytes], objects: _Objects) -> bytes:
    """Return the bytes of a string, or of the stream or string that a reference leads to."""
    string = found["string"]
    if string is None:
        referred = objects.get(int(found["number"]))
        if referred is None:
            return b""
        if referred.stream is not None:
            with suppress(*_UNDECODABLE):
                return referred.decoded().rstrip(b"\r\n")
            return referred.stream
        string = referred.body.strip()
    if string.startswith(b"<"):
        digits = b"".join(string[1:-1].split())
        content = binascii.unhexlify(digits + b"0" * (len(digits) % 2))
    else:
        content = _ESCAPE.sub(_unescaped, string[1:-1])
    if content.startswith(codecs.BOM_UTF16_BE):
        content = content[2:].decode("utf-16-be", "replace").encode(errors="replace")
    return content.rstrip(b"\r\n")


def _unescaped(found: re.Match[bytes]) -> bytes:
    digits = found[1]
    return bytes([int(digits, 8) & 255]) if digits.isdigit() else _ESCAPES.get(digits, digits)


def _text_drawn(objects: _Objects, text_pages: int | None) -> Iterator[bytes]:
    """Yield the descriptions of pages that draw text, and their fonts, if they are more pages than
    those that have some, or no page has.
    """
    if text_pages is None:
        return
    count = sum(_PAGE.search(stored.body) is not None for stored in objects.values())
    if 0 < text_pages >= count:
        return  # every page has text: none is looked into
    pages: list[bytes] = []
    forms: list[bytes] = []
    for stored in objects.values():
        is_form = stored.stream is not None and _DESCRIPTION.search(stored.body) is not None
        if not is_form and not _PAGE.search(stored.body):
            continue
        with suppress(*_UNDECODABLE):
            content = _decoded([stored] if is_form else _contents(stored.body, objects))
            if _SHOWS_TEXT.search(content):
                (forms if is_form else pages).append(b" ".join(content.split()))
    if len(pages) > text_pages or text_pages == 0:
        fonts = [stored.stream or b"" for stored in objects.values() if _FONT.search(stored.body)]
        yield from pages + forms + fonts


def _drawn(
    objects: _Objects, pages: Sequence[int], anchors: Mapping[int, list[str]]
) -> Iterator[tuple[EmbeddedKind, str, bytes, str]]:
    """Yield kind, name, content and anchor of what is drawn: in pages, in forms and patterns, by
    notes; and the signatures by a key, forms in XML, and the layers that are hidden.
    """
    numbered = {number: str(page) for page, number in enumerate(pages, start=1)}
    for number, stored in objects.items():
        anchor = numbered.get(number) or " ".join(anchors.get(number, ()))
        for name, content in _hidden_words(stored.body, objects):
            yield "object", name, content, anchor
        if forms := _XFA.search(stored.body):
            yield "object", "form in XML", _joined(_references(forms[1]), objects), ""
        if (layers := _OFF.search(stored.body)) and (hidden := _references(layers[1])):
            yield "object", "hidden layers", _layer_names(hidden, objects), ""
        if note := _DRAWN_NOTE.search(stored.body):
            kind = note[1].decode("ascii").lower()
            yield "object", kind, note[1] + b"\n" + _note(stored.body, objects), anchor
        elif _BYTE_RANGE.search(stored.body):
            key = _KEY.search(stored.body)
            content = b"".join(key[1].split()) if key else stored.body
            yield "object", "signature", content, ""
        if number in numbered:
            streams = _contents(stored.body, objects)
        elif stored.stream is not None and _DESCRIPTION.search(stored.body):
            streams = [stored]
        else:
            continue
        for drawn in _pictures_and_drawing(streams):
            yield (*drawn, anchor)


def _joined(numbers: Iterable[int], objects: _Objects) -> bytes:
    """Return the contents of streams, one after the other, with single blanks."""
    pieces: list[bytes] = []
    for number in numbers:
        if stored := objects.get(number):
            try:
                pieces.append(stored.decoded())
            except _UNDECODABLE:
                pieces.append(stored.stream or b"")
    return b" ".join(b"".join(pieces).split())


def _layer_names(numbers: Iterable[int], objects: _Objects) -> bytes:
    layers = [objects[number].body for number in numbers if number in objects]
    names = [_value(found, objects) for layer in layers if (found := _LAYER_NAME.search(layer))]
    return b"\n".join(sorted(names))


def _note(body: bytes, objects: _Objects) -> bytes:
    """Return what shows a note: its geometry and its appearance."""
    numbers = b" ".join(_GEOMETRY.findall(body)).translate(None, b"[]").split()
    pieces = [" ".join(f"{number_of(value):.1f}" for value in numbers).encode()]
    appearance = _APPEARANCE.search(body)
    stream = objects.get(int(appearance[1])) if appearance else None
    if stream is None and (name := _STAMP_NAME.search(body)):
        pieces.append(name[1])
    if stream is not None:
        try:
            pieces.append(stream.decoded())
        except _UNDECODABLE:
            pieces.append(stream.stream or b"")
    return b"\n".join(b" ".join(piece.split()) for piece in pieces)


def _hidden_words(body: bytes, objects: _Objects) -> Iterator[tuple[str, bytes]]:
    """Yield scripts, the words of formatted notes, and what `_of_note` does."""
    if any(mark in body for mark in _HIDDEN_MARKS):
        for name, pattern in _HIDDEN_TEXTS:
            for found in pattern.finditer(body):
                yield name, b" ".join(_value(found, objects).split())
    if _NOTE.search(body):
        yield from _of_note(body, objects)


def _of_note(body: bytes, objects: _Objects) -> Iterator[tuple[str, bytes]]:
    """Yield the words of a note or field that is hidden, and what a field displays instead of its
    value: another text, or another state of a box.
    """
    flags, parent = _FLAGS.search(body), _PARENT.search(body)
    above = objects.get(int(parent[1])) if parent else None
    words = [_value(found, objects) for found in _NOTE_WORDS.finditer(body)]
    if flags and int(flags[1]) & _HIDDEN_FLAGS and words:
        yield "hidden note", b"\n".join(words)
    own, state = _BOX_VALUE.search(body), _BOX_STATE.search(body)
    of_group = _BOX_VALUE.search(above.body) if above and not own else None
    usual = {b"Off"} if of_group else set()
    usual |= {value[1] for value in (own, of_group) if value}
    if state and (own or of_group) and state[1] not in usual:
        yield "state of a box", state[1]
    appearance = _APPEARANCE.search(body)
    stream = objects.get(int(appearance[1])) if appearance else None
    text = _FIELD_VALUE.search(body) or (_FIELD_VALUE.search(above.body) if above else None)
    if text and stream is not None:
        with suppress(*_UNDECODABLE):
            strings = _DRAWN_STRING.findall(stream.decoded())
            literals = (string[1:-1] for string in strings if string.startswith(b"("))
            drawn = b"".join(_ESCAPE.sub(_unescaped, literal) for literal in literals)
            if _pressed(drawn) and _pressed(drawn) != _pressed(_value(text, objects)):
                yield "appearance of a field", drawn


def _pressed(text: bytes) -> bytes:
    return b"".join(_ALPHANUMERIC.findall(text))


def _contents(body: bytes, objects: _Objects) -> list[_PdfObject]:
    """Return the streams that describe a page, given by one reference, by several, or by one to a
    list of them.
    """
    found = _CONTENTS.search(body)
    numbers = _REFERENCE.findall(found[1]) if found else []
    streams = [objects[int(number)] for number in numbers if int(number) in objects]
    if len(streams) == 1 and streams[0].stream is None:
        numbers = _REFERENCE.findall(streams[0].body)
        streams = [objects[int(number)] for number in numbers if int(number) in objects]
    return [stream for stream in streams if stream.stream is not None]


def _decoded(streams: Iterable[_PdfObject]) -> bytes:
    """Return a description as one. Raises one of `_UNDECODABLE`."""
    return b"\n".join(stream.decoded() for stream in streams)


def _searchable(streams: Iterable[_PdfObject]) -> bytes:
    """Return a description as one, without beginnings of pictures that have no end, which patterns
    would look for once each. Raises one of `_UNDECODABLE`.

    >>> _searchable([_PdfObject(b"", b"BI /W 1 ID x EI Q BI /W 1 ID y")])
    b'BI /W 1 ID x EI Q bi /W 1 ID y'
    """
    content = _decoded(streams)
    if _BEGIN_PICTURE.search(content):
        ends = [match.start() for match in END_PICTURE.finditer(content)]
        starts = _PICTURE_DATA.finditer(content, 0, ends[-1] if ends else 0)
        last = max((match.start() for match in starts), default=0)
        content = content[:last] + _BEGIN_PICTURE.sub(b"bi", content[last:])
    return content


def _pictures_and_drawing(
    streams: Sequence[_PdfObject],
) -> Iterator[tuple[EmbeddedKind, str, bytes]]:
    """Yield the pictures inside a description, and what it draws; a description that cannot be
    decoded as it is in the file.
    """
    try:
        content = _searchable(streams)
    except _UNDECODABLE:
        yield "unread", "description", b"\n".join(stream.stream or b"" for stream in streams)
        return
    if not _MAY_DRAW.search(content):
        return
    has_text = _SHOWS_TEXT.search(content) is not None
    segments: list[str] = []
    matrix, saved = IDENTITY, list[Matrix]()
    x = y = 0.0
    for found in _SEGMENT.finditer(content):
        if found["inline"]:
            yield "picture", "inline picture", found["inline"]
        elif found["state"] == b"q":
            saved.append(matrix)
        elif found["state"]:
            matrix = saved.pop() if saved else matrix
        elif found["operator"] == b"cm":
            numbers = [number_of(value) for value in found["numbers"].split()]
            matrix = product(_matrix(found["numbers"]), matrix) if len(numbers) == 6 else matrix
        elif found["operator"]:
            operator = found["operator"].decode("ascii")
            numbers = moved([number_of(value) for value in found["numbers"].split()], matrix)
            is_oblique = min(abs(numbers[-2] - x), abs(numbers[-1] - y)) > OBLIQUE
            if not has_text or operator in "cvy" or (operator == "l" and is_oblique):
                segments += [f"{value:.1f}" for value in numbers] + [operator]
            x, y = numbers[-2:]
    if segments:
        yield "picture", "drawing", " ".join(segments).encode()
