"""Pages in HTML: what of them is not displayed, or is marked, and the files in them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import unescape
from itertools import chain
from urllib.parse import unquote_to_bytes

from indexer.documents.base import (
    Anchors,
    all_of,
    anchored,
    columns,
    embedded_kind,
    page_rows,
    searchable,
    sha256,
)
from indexer.model import EmbeddedFile, EmbeddedKind

_DATA_URL = re.compile(
    rb"(?<=[\"'(=])data:(?:(\w+)/[\w.+-]+)?(?:;[\w.=+-]+)*?(?:;base64,([A-Za-z0-9+/=%\s]+)"
    rb"|,([\w.~!*'()%+:/?&=-]+))",
    re.IGNORECASE,
)
_BINARY_DATA = re.compile(
    rb"<(?:office:binary-data|w:binData|pkg:binaryData|binary)\b[^>]*>([A-Za-z0-9+/=\s]+)</"
)
_SVG = re.compile(rb"<(/?)svg\b", re.IGNORECASE)
_SVG_SHAPE = re.compile(
    rb"""\s(?:d|points|x|y|width|height|c[xy]|r[xy]?|[xy][12])=["']([^"']*)""", re.IGNORECASE
)
IN_MARKUP = (b";base64,", b"data:", b"binary", b":binData", b"<svg")
_HIDING = (
    rb"line-through|display\s*:\s*none|visibility\s*:\s*hidden|scale\(\s*0(?:\s*,\s*0)?\s*\)"
    rb"|(?:opacity|font-size)\s*:\s*(?:0(?![.\d])|0?\.0(?:[0-5]\d*)?(?!\d))"
    rb"|(?:left|top|indent)\s*:\s*-\d{3}|(?<![\w-])color\s*:\s*transparent"
    rb"|(?<![\w-])(?:max-)?(?:height|width)\s*:\s*0(?![.\d])"
    rb"|clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%)"
)
_INPUT = re.compile(
    rb"<(?:input|meter|progress)\b[^>]*>|<ol\b[^>]*\b(?:start=|type=|reversed\b)[^>]*>"
    rb"|<li\b[^>]*\bvalue=[^>]*>|(?P<choice><option\b[^>]*\bselected\b[^>]*>[^<]*)"
    rb"|<(?P<name>(?:s|strike|del|math)\b(?=[^>]*>)|(?<=\d<)(?:su[bp]\b"
    rb"|\w+\b(?=[^>]*vertical-align\s*:\s*su[bp]))(?=[^>]*>[-+]?\d)"
    rb"|bdo\b(?=[^>]*\brtl\b[^>]*>)|template\b|dialog\b(?![^>]*\sopen\b)"
    rb"|(?!(?:img|br|hr|link|meta|source|col|style|script)\b)\w+\b(?=[^>]*\s"
    rb"(?:style\s*=\s*(?:\"[^\">]*|'[^'>]*|[^\s>]*)(?:" + _HIDING + rb")"
    rb"|hidden(?=[\s>=]))[^>]*>))[^>]*>",
    re.IGNORECASE,
)
_MEDIA = re.compile(rb"@[^{}@]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # rules for some screens alone
_STYLES = re.compile(rb"<(?P<name>style)\b[^>]*>", re.IGNORECASE)
_CLASS = re.compile(rb"[.#]([\w-]+)(::?(?:before|after))?(?=\s*(?:,|\Z))")
_ADDED = re.compile(rb"\bcontent\s*:\s*[\"']([^\"'\\]*\w[^\"'\\]*)[\"']")
_MATH_TAG = re.compile(rb"<(/?[\w:]+)[^>]*>")
_NUMBERING = re.compile(rb"\s(?:type\s*=\s*[\"']?([aAiI])\b|(reversed)\b)", re.IGNORECASE)
_MARKING = re.compile(_HIDING + rb"|vertical-align\s*:\s*(su[bp])", re.IGNORECASE)
_RAISED, _POWER = (b"sup", b"sub"), re.compile(rb"\d<[^>]*>[-+]?\d")
_NO_VALUE = re.compile(rb"type\s*=\s*[\"']?(?:hidden|image)\b", re.IGNORECASE)
_CHOICE = re.compile(rb"type\s*=\s*[\"']?(?:checkbox|radio)\b", re.IGNORECASE)
_CHECKED = re.compile(rb"[\s\"']checked\b", re.IGNORECASE)
_VALUE = re.compile(
    rb"\s(?:value|start)\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s>\"']+))", re.IGNORECASE
)
_SOURCE = re.compile(
    rb"<(?:img|image|source|object|embed|video|audio|iframe)\b[^>]*?"
    rb"\s(?:src|xlink:href|href|data)\s*=\s*[\"']?(?!data:)([^\"'>\s]+)",
    re.IGNORECASE,
)
_ELEMENT = re.compile(rb"<[A-Za-z_][^<>]*>")


def page_files(data: bytes, files: Callable[[str], str] | None = None) -> Iterator[EmbeddedFile]:
    """Yield the files in a page in HTML, values and choices of its forms, the first numbers of
    lists, text that is struck out, and the columns of its tables.

    `files` gives the SHA-256 of a file that the page refers to, empty if it is not at hand.
    """
    data = searchable(data)
    yield from chain(markup_files(data), columns(page_rows(data)))
    folded = data.lower()  # end tags are in any case
    found = ((tag, data[tag.start() : end]) for tag, end in _elements(data, _INPUT, folded))
    values = [(tag.start(), value) for tag, element in found if (value := _value(tag, element))]
    values = sorted(chain(values, _marked_by_class(data, folded), _of_background(data, folded)))
    displayed = [
        (match.start(), digest.encode())
        for match in (_SOURCE.finditer(data) if files else ())
        if files and (digest := files(unescape(match[1].decode("utf-8", "replace"))))
    ]
    anchors = Anchors(data if values or displayed else b"")
    if values:
        yield all_of("values and struck text", anchored(values, anchors))
    if displayed:
        yield all_of("pictures in the text", anchored(displayed, anchors))


_MAY_BE_OPEN = re.compile(rb"</(?:p|li|d[dt]|t[dhr]|option)>")  # up to the next of its name


def _elements(
    data: bytes, tags: re.Pattern[bytes], folded: bytes
) -> Iterator[tuple[re.Match[bytes], int]]:
    """Yield opening tags with the end of the text up to the end tag of their group `name`, or their
    own end where they have none; those whose end tag is missing, and may not, are passed over.

    `folded`: the data in which the end tag is written as the name. The time is linear: a pattern
    up to the end tag would look for a missing one, as of open paragraphs, to the end each time.

    >>> page = b"<s>no <s>yes</s> <i>left open"
    >>> [(tag[0], end) for tag, end in _elements(page, re.compile(rb"<(?P<name>\\w)>"), page)]
    [(b'<s>', 12)]
    """
    position = 0
    missing: set[bytes] = set()
    while tag := tags.search(data, position):
        end_tag = b"</%s>" % folded[slice(*tag.span("name"))] if tag["name"] else b""
        end = folded.find(end_tag, tag.end()) if end_tag not in missing else -1
        if end < 0:
            missing.add(end_tag)
            position = tag.start() + 1
            if _MAY_BE_OPEN.match(end_tag):
                following = folded.find(b"<" + end_tag[2:-1], tag.end())
                end = following if following >= 0 else len(data)
        if end >= 0:
            yield tag, end
            position = end


def _marked_by_class(data: bytes, folded: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the text that the page's own styles hide, raise or strike out, and words they add."""
    styles = b" ".join(data[tag.end() : end] for tag, end in _elements(data, _STYLES, folded))
    names: dict[bytes, bytes] = {}
    selector, *rules = _MEDIA.sub(b"", styles).split(b"{")
    for rule in rules:
        declarations, _, following = rule.partition(b"}")
        marking, added = _MARKING.search(declarations), _ADDED.search(declarations)
        for name, around in _CLASS.findall(selector) if marking or added else ():
            if found := added if around else marking:
                names[name] = found[1] or b""
        selector = following
    if names:
        marked = (
            rb"<(?P<name>\w+)\b[^>]*\s(?:class|id)\s*=\s*[\"']?(?:[\w -]*\s)?(?P<class>%s)[\"'\s>]"
        )
        for tag, end in _elements(data, re.compile(marked % b"|".join(names)), data):
            text, word = _ELEMENT.sub(b" ", data[tag.start() : end]), names[tag["class"]]
            if word not in _RAISED:
                yield tag.start(), b" ".join((word or text).split())
            elif _POWER.match(data, tag.start() - 1):
                yield tag.start(), b" ".join((word, *text.split()))


_COLOURED = re.compile(
    rb"<(?P<name>\w+)\b(?P<tag>[^>]*[\s;\"'](?:color\s*[:=])[^>]*)>", re.IGNORECASE
)
_COLOURS = re.compile(
    rb"(?P<ground>background(?:-color)?\s*:|bgcolor\s*=)?(?(ground)|(?<![\w-])color\s*[:=])"
    rb"\s*[\"']?\s*(?P<colour>#?\w+(?:\([\d\s,]*\))?)",
    re.IGNORECASE,
)
_GROUND = re.compile(
    rb"(?:background(?:-color|-image)?\s*:|b(?:gcolor|ackground)\s*=)\s*[\"']?\s*"
    rb"(?!#f{3}\b|#f{6}\b|white\b|none\b|transparent\b|inherit\b|initial\b|rgb\(255,\s*255,\s*255)"
    rb"|<link\b[^>]*stylesheet",
    re.IGNORECASE,
)
_SPELLINGS = {
    b"white": b"#ffffff", b"#fff": b"#ffffff", b"rgb(255,255,255)": b"#ffffff",
    b"black": b"#000000", b"#000": b"#000000", b"rgb(0,0,0)": b"#000000",
}  # fmt: skip


def _of_background(data: bytes, folded: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the text of elements whose tag gives it the colour of its background, and white text of
    a page in which nothing has a background of another colour.
    """
    is_on_paper: bool | None = None
    for tag, end in _elements(data, _COLOURED, folded):
        text, ground = b"", b""
        for found in _COLOURS.finditer(tag["tag"]):
            colour = b"".join(found["colour"].lower().split())
            colour = _SPELLINGS.get(colour, colour)
            text, ground = (text, colour) if found["ground"] else (colour, ground)
        if not ground and text == b"#ffffff":
            is_on_paper = not _GROUND.search(data) if is_on_paper is None else is_on_paper
            ground = text if is_on_paper else b""
        if text and text == ground:
            yield tag.start(), b" ".join(_ELEMENT.sub(b" ", data[tag.end() : end]).split())


def _value(tag: re.Match[bytes], element: bytes) -> bytes:
    """Return what a reader sees of an element that is not read; empty for nothing."""
    name = (tag["name"] or b"").lower()
    if (marking := _MARKING.search(tag[0])) and marking[1]:
        name = marking[1].lower()
    if name == b"math":
        return b"".join(_MATH_TAG.sub(rb"<\1>", element).split())
    if tag["choice"] or name:
        text = b" ".join(_ELEMENT.sub(b" ", element).split())
        return b"%s %s" % (name, text) if name in (b"sup", b"sub", b"bdo") else text
    if element[:3].lower() == b"<ol":
        numbering = b"".join(map(b"".join, _NUMBERING.findall(element)))
        start = _VALUE.search(element)
        return b" ".join(filter(None, (numbering, *(start.groups() if start else ()))))
    is_checked = _CHECKED.search(element) is not None
    if _NO_VALUE.search(element) or (_CHOICE.search(element) and not is_checked):
        return b""
    value = _VALUE.search(element)
    return b" ".join(filter(None, (b"checked" * is_checked, *(value.groups() if value else ()))))


def markup_files(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield what a page, or an office document in one file of XML, holds in base64, and the shapes
    of drawings in SVG.
    """
    found = [
        (match.start(), match[1] or b"text", _decoded(match)) for match in _DATA_URL.finditer(data)
    ]
    pictures = _BINARY_DATA.finditer(data)
    found += [(match.start(), b"image", base64_bytes(match[1])) for match in pictures]
    drawings = [drawing for drawing in _drawings(data) if drawing[1]]
    if not drawings and not any(content for _, _, content in found):
        return
    anchors = Anchors(data)
    contents = ((start, main.lower() + b" " + content) for start, main, content in found if content)
    for count, (anchor, content) in enumerate(anchored(contents, anchors), start=1):
        main_type, _, file = content.partition(b" ")
        kind: EmbeddedKind = embedded_kind(f"{main_type.decode()}/", "object")
        yield EmbeddedFile(kind, f"{kind} {count}", sha256(file), anchor)
    for count, (anchor, content) in enumerate(anchored(drawings, anchors), start=1):
        yield EmbeddedFile("picture", f"drawing {count}", sha256(content), anchor)


def _decoded(found: re.Match[bytes]) -> bytes:
    content = unquote_to_bytes(found[3] if found[2] is None else found[2])
    return content if found[2] is None else base64_bytes(content)


def base64_bytes(encoded: bytes) -> bytes:
    """Return the bytes that a page has in base64; none for what is no base64."""
    with suppress(binascii.Error):
        return base64.b64decode(b"".join(encoded.split()))
    return b""


def _drawings(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield position and shapes of each drawing in SVG, those inside it included."""
    depth, start = 0, 0
    for tag in _SVG.finditer(data):
        if not tag[1]:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                shapes = _SVG_SHAPE.findall(data, start, tag.start())
                yield start, b"\n".join(b" ".join(shape.split()) for shape in shapes)
