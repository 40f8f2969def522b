"""Text of office documents that is not displayed, or is marked: hidden, of the colour of its
background, raised, struck and deleted text; and headers and footers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from colorsys import hls_to_rgb
from html import unescape
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from indexer.documents.base import MAX_PAIRS, NEAR_WHITE, Anchors, Colour, colour_of_digits, is_near
from indexer.wording import END_OF_HEADER

# Marked text, however many runs a program splits it into.

MarkedStyles: TypeAlias = Mapping[bytes, frozenset[str]]

HIDDEN, RAISED, LOWERED, STRUCK, DELETED = "hidden", "raised", "lowered", "struck", "deleted"
SYMBOLS = "symbols"  # characters of which a font makes other ones: in Wingdings `n` is a square
_KINDS = {
    HIDDEN: "hidden and raised text",
    RAISED: "hidden and raised text",
    LOWERED: "hidden and raised text",
    STRUCK: "struck text",
    DELETED: "deleted text",
    SYMBOLS: "text in fonts of symbols",
}
SYMBOL_FONTS = r"(?:symbol|wingdings(?: [23])?|webdings|(?:itc )?zapf ?dingbats|opensymbol|marlett)"
_SYMBOL_FONT = re.compile(  # of a run of Word, of a slide, of OpenDocument
    rb"<w:rFonts\s[^<>]*?\bw:ascii=\"%(of)b\"|<a:latin\s[^<>]*?\btypeface=\"%(of)b\""
    rb"|(?:style:font-name|fo:font-family)=\"(?:'|&apos;)?%(of)b\d*(?:'|&apos;)?\""
    % {b"of": SYMBOL_FONTS.encode()},
    re.IGNORECASE,
)
_SYMBOL_NAMES = (
    b'"symbol',
    b";symbol",
    b"'symbol",
    b"dings",
    b"dingbats",
    b"opensymbol",
    b"marlett",
)

MARKED_KINDS = frozenset(_KINDS.values())
# of styles alone: white text is hidden where it stands on no colour
_WHITE_TEXT, _SHADED = "white", "shaded"
NO_MARKS: frozenset[str] = frozenset()


def may_have_symbols(content: bytes) -> bool:
    """Return whether a font of symbols may be named."""
    folded = content.lower()
    return any(name in folded for name in _SYMBOL_NAMES)


class MarkedRun(NamedTuple):
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
        runs, pattern = list(_of_word(content, styles)), OFFICE_TEXT
    elif b"<a:t" in content:
        runs, pattern = list(_of_slide(content, styles)), OFFICE_TEXT
    else:
        runs, pattern = list(_of_odf(content, styles)), None
    return by_kind(runs, Anchors(content, pattern)) if runs else {}


def by_kind(
    runs: Iterable[MarkedRun], anchors: Callable[[int], int]
) -> dict[str, list[tuple[str, bytes]]]:
    """Return runs by the kinds of their marks, with anchors."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for mark, kind in _KINDS.items():
        lines = list(_joined((run for run in runs if run.mark == mark), anchors))
        if lines:
            found.setdefault(kind, []).extend(lines)
    return found


OFFICE_TEXT = re.compile(rb"<(?:w:t|w:delText|a:t|m:t)\b[^>]*>([^<]+)")


def _joined(
    runs: Iterable[MarkedRun], anchors: Callable[[int], int]
) -> Iterator[tuple[str, bytes]]:
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
_WORD_MARKS = re.compile(
    rb"<w:(vanish|specVanish|d?strike|vertAlign|position|sz(?= w:val=\"[12]\"))"
    rb"(?:\s+w:val=\"(-?\w+)\")?\s*/>"
)
_WORD_MARKERS = (
    *(b"<w:vanish", b"<w:specVanish", b"trike", b"<w:vertAlign", b"<w:position"),
    *(b'<w:sz w:val="1"', b'<w:sz w:val="2"'),  # half a point, or one
)
_COLOUR_MARKERS = (b"<w:shd", b'"F', b'"f')  # of styles
WORD_TEXT = re.compile(rb"<w:t(?:\s[^<>]*)?>([^<]+)")
_DELETED_TEXT = re.compile(rb"<w:delText\b[^>]*>([^<]+)")
_END_OF_RUN = re.compile(rb"</?w:r[ >]|</w:pPr>")
_WORD_STYLE = re.compile(rb"<w:style\b[^<>]*\bw:styleId=\"([^\"<>]+)\"")
_BASE_STYLE = re.compile(rb"<w:basedOn w:val=\"([^\"]+)\"")
_RUN_STYLE = re.compile(rb"<w:rStyle w:val=\"([^\"]+)\"")
_MAX_BASES = 12


def _word_marks(properties: bytes, inherited: frozenset[str] = NO_MARKS) -> frozenset[str]:
    marks = set(inherited)
    for name, value in _WORD_MARKS.findall(properties):
        if name == b"vertAlign":
            marks -= {RAISED, LOWERED}
            marks |= {b"superscript": {RAISED}, b"subscript": {LOWERED}}.get(value, set())
        elif name == b"position":
            marks -= {RAISED, LOWERED}
            marks |= {LOWERED} if value[:1] == b"-" else {RAISED} if value.strip(b"0") else set()
        elif name == b"sz":
            marks.add(HIDDEN)
        elif value in (b"0", b"false", b"off"):
            marks.discard(STRUCK if b"strike" in name else HIDDEN)
        else:
            marks.add(STRUCK if b"strike" in name else HIDDEN)
    if b"<w:rFonts" in properties:
        marks.discard(SYMBOLS)
        marks |= {SYMBOLS} if _SYMBOL_FONT.search(properties) else set()
    return frozenset(marks)


def _style_marks(properties: bytes, inherited: frozenset[str]) -> frozenset[str]:
    """Return the marks of a style of Word, and whether its text is white or has a background."""
    marks = _word_marks(properties, inherited)
    if _SHADE.search(properties):
        return marks - {_WHITE_TEXT} | {_SHADED}
    if b"<w:color" not in properties:
        return marks
    return marks | {_WHITE_TEXT} if _WHITE.search(properties) else marks - {_WHITE_TEXT}


# Text of the colour of its background: of the page, or of a table, cell, paragraph or run.
_PAPER, _UNKNOWN = b"ffffff", b"?"
_WHITE = re.compile(rb"<w:color\s[^>]*w:val=\"%s\"" % NEAR_WHITE)
_COLOUR = re.compile(rb"<w:color\s[^>]*w:val=\"(\w+)\"")
_SHADE = re.compile(rb"<w:shd\b[^>]*w:(?:theme)?fill=\"(?!auto\"|f{6}\")", re.IGNORECASE)
_FILL = re.compile(rb"\bw:fill=\"([0-9A-Fa-f]{6})\"")
_HIGHLIGHT = re.compile(rb"<w:highlight w:val=\"(\w+)\"")
_HIGHLIGHTS = {b"black": b"000000", b"white": _PAPER, b"none": b""}
_ON_PAPER = re.compile(
    rb"<(?P<end>/?)w:(?P<of>tbl|tc|txbxContent|p|r)(?:\s[^>]*)?(?<!/)>"
    rb"|<w:(?:p|tbl)Style w:val=\"(?P<style>[^\"]+)\"|<w:rPr>(?P<marks>.*?)</w:rPr>"
    rb"|<w:t(?:\s[^>]*)?>(?P<text>[^<]+)|(?P<shade><w:shd\b[^>]*>)",
    re.DOTALL,
)


class _Background(NamedTuple):
    """The colour of a background, and whether the text on it is white unless it says otherwise."""

    colour: bytes = _PAPER
    is_white: bool = False


def _unseen_of_word(content: bytes, styles: MarkedStyles) -> Iterator[MarkedRun]:
    """Yield the text of runs that have the colour of their background, by styles too; boxes, whose
    fill is not looked for, hide nothing.
    """
    around = [_Background()]
    is_hidden = False
    for match in _ON_PAPER.finditer(content):
        background = around[-1]
        if match["shade"]:
            around[-1] = background._replace(colour=_shade(match["shade"], background.colour))
        elif match["of"] == b"r":
            is_hidden = background.is_white and background.colour == _PAPER
        elif match["of"] and not match["end"]:
            around.append(_Background(_UNKNOWN) if match["of"] == b"txbxContent" else background)
        elif match["of"]:
            around = around[:-1] or [_Background()]
        elif match["style"]:
            marks = styles.get(match["style"], NO_MARKS)
            colour = _UNKNOWN if _SHADED in marks else background.colour
            around[-1] = _Background(colour, background.is_white or _WHITE_TEXT in marks)
        elif match["marks"]:
            is_hidden = _is_unseen(match["marks"], background, styles)
        elif match["text"] and is_hidden:
            yield MarkedRun(match.start(), HIDDEN, match["text"])


def _shade(properties: bytes, around: bytes) -> bytes:
    """Return the colour of a background that properties give, else the one around."""
    fill = _FILL.search(properties)
    if fill:
        return fill[1].lower()
    return _UNKNOWN if _SHADE.search(properties) else around


def _is_unseen(properties: bytes, around: _Background, styles: MarkedStyles) -> bool:
    """Return whether a run has the colour of its background, its own or the one around it."""
    named = _RUN_STYLE.search(properties)
    marks = styles.get(named[1], NO_MARKS) if named else NO_MARKS
    background = _shade(properties, _UNKNOWN if _SHADED in marks else around.colour)
    highlight = _HIGHLIGHT.search(properties)
    if highlight:
        background = _HIGHLIGHTS.get(highlight[1], _UNKNOWN) or background
    own = _COLOUR.search(properties)
    if own is None:
        is_white = around.is_white or _WHITE_TEXT in marks
        colour = _PAPER if is_white else b"000000" if highlight else b""
    else:
        colour = b"000000" if own[1] == b"auto" and highlight else own[1].lower()
    return is_near(colour_of_digits(colour), colour_of_digits(background)) if colour else False


def _may_be_unseen(content: bytes, styles: MarkedStyles) -> bool:
    if _WHITE.search(content) or b'highlight w:val="black' in content:
        return True
    if any(_WHITE_TEXT in marks for marks in styles.values()):
        return True
    fills = {colour_of_digits(fill) for fill in _FILL.findall(content)}
    colours = {colour_of_digits(colour) for colour in _COLOUR.findall(content)} if fills else set()
    if len(colours) * len(fills) > MAX_PAIRS:
        return True
    return any(is_near(colour, fill) for colour in colours for fill in fills)


# rows and cells that were deleted while changes were tracked
_DELETED_PARTS = ((b"<w:trPr>", b"</w:tr>"), (b"<w:tcPr>", b"</w:tc>"))


def _deleted_parts(content: bytes, properties: bytes, end: bytes) -> Iterator[MarkedRun]:
    """Yield the text of rows or cells whose properties say that they are deleted."""
    first, *pieces = content.split(properties)
    position = len(first)
    for piece in pieces:
        own, tag, rest = piece.partition(properties.replace(b"<", b"</"))
        if tag and (b"<w:del " in own or b"<w:cellDel " in own):
            text = WORD_TEXT.findall(rest.partition(end)[0])
            yield MarkedRun(position, DELETED, b"".join(text))
        position += len(properties) + len(piece)


def _of_word(content: bytes, styles: MarkedStyles) -> Iterator[MarkedRun]:
    for match in _DELETED_TEXT.finditer(content) if b"<w:delText" in content else ():
        yield MarkedRun(match.start(), DELETED, match[1])
    for of_part, part_end in _DELETED_PARTS if b"<w:del " in content or b"Del " in content else ():
        yield from _deleted_parts(content, of_part, part_end)
    if _may_be_unseen(content, styles):
        yield from _unseen_of_word(content, styles)
    styles = {name: marks - {_WHITE_TEXT, _SHADED} for name, marks in styles.items()}
    is_styled = any(styles.values()) and b'Style w:val="' in content
    is_marked = any(marker in content for marker in _WORD_MARKERS)
    if not (is_styled or is_marked or may_have_symbols(content)):
        return
    first, *pieces = content.split(b"<w:rPr>")
    position = len(first)
    for piece in pieces:
        properties, _, rest = piece.partition(b"</w:rPr>")
        named = _RUN_STYLE.search(properties) if is_styled else None
        marks = _word_marks(properties, styles.get(named[1], NO_MARKS) if named else NO_MARKS)
        if marks:
            end = _END_OF_RUN.search(rest)
            text = b"".join(WORD_TEXT.findall(rest, 0, end.start() if end else len(rest)))
            yield from (MarkedRun(position, mark, text) for mark in marks)
        position += len(piece) + len(b"<w:rPr>")
    names = b"|".join(re.escape(name) for name, marks in styles.items() if marks)
    paragraphs = rb"<w:pStyle w:val=\"(%s)\"/>.*?</w:p>" % names
    for match in re.finditer(paragraphs, content, re.DOTALL) if is_styled else ():
        text = b"".join(WORD_TEXT.findall(match[0]))
        yield from (MarkedRun(match.start(), mark, text) for mark in styles[match[1]])


# Slides: attributes of the properties of a run.

_BASELINE, _STRIKE = re.compile(rb"\bbaseline=\"(-?)[1-9]"), re.compile(rb"\bstrike=\"(?:sng|dbl)")
_TINY = re.compile(rb"\ssz=\"100\"")
_SLIDE_MARKERS = (b"baseline=", b"trike=", b'sz="100"', b"srgbClr", b'"bg1"', b"noFill", b"alpha")
_TEXT_FILL = re.compile(
    rb"^(?:<a:ln\b.*?</a:ln>|<a:ln\b[^>]*/>)?(?:(?P<none><a:noFill/>|<a:solidFill>"
    rb"<a:\w+ [^>]*><a:alpha val=\"0\")|<a:solidFill><a:(?:srgbClr val=\"%s|schemeClr"
    rb" val=\"bg1)\"\s*/>)" % NEAR_WHITE,
    re.DOTALL,
)
# a fill of a background, a shape or a cell, or a picture, on which text may be white
_SLIDE_FILL = re.compile(
    rb"<p:pic>|<a:fillRef idx=\"(?!0\")|<a:tbl>"
    rb"|<p:bgRef idx=\"(?!1001\"\s*>\s*<a:schemeClr val=\"bg1)"
    rb"|<p:(?P<of>bgPr|spPr)\b[^>]*(?<!/)>(?:(?!</p:(?P=of)>|<a:ln\b).)*?"
    rb"<a:(?:(?:grad|blip|patt|grp)Fill"
    rb"|solidFill>(?!\s*<a:(?:srgbClr val=\"FFFFFF|schemeClr val=\"bg1)\"\s*/>))",
    re.DOTALL,
)
# the styles of a slide, or of slides of OpenDocument, whose page and master have no colour
ON_PAPER: MarkedStyles = MappingProxyType({b"": frozenset({_WHITE_TEXT})})


def is_slide_paper(content: bytes) -> bool:
    """Return whether nothing in a slide, or its layout or master, has a colour or is a picture.

    >>> is_slide_paper(b'<p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg>')
    True
    >>> is_slide_paper(b'<p:spPr><a:solidFill><a:srgbClr val="1F3864"/></a:solidFill></p:spPr>')
    False
    """
    return not _SLIDE_FILL.search(content) and b'bg1="dk' not in content


def _of_slide(content: bytes, styles: MarkedStyles) -> Iterator[MarkedRun]:
    has_symbols = may_have_symbols(content)
    if not has_symbols and not any(marker in content for marker in _SLIDE_MARKERS):
        return
    is_on_paper = b"" in styles
    first, *pieces = content.split(b"<a:rPr")
    position = len(first)
    for piece in pieces:
        attributes, _, rest = piece.partition(b">")
        text = rest.partition(b"</a:t>")[0].rpartition(b"<a:t")[2].partition(b">")[2]
        if level := _BASELINE.search(attributes):
            yield MarkedRun(position, LOWERED if level[1] else RAISED, text)
        if _STRIKE.search(attributes):
            yield MarkedRun(position, STRUCK, text)
        properties = rest.partition(b"<a:t>")[0] if has_symbols else b""
        if has_symbols and not attributes.endswith(b"/") and _SYMBOL_FONT.search(properties):
            yield MarkedRun(position, SYMBOLS, text)
        fill = None if attributes.endswith(b"/") else _TEXT_FILL.match(rest)
        if _TINY.search(attributes) or (fill and (fill["none"] or is_on_paper)):
            yield MarkedRun(position, HIDDEN, text)
        position += len(piece) + len(b"<a:rPr")


# OpenDocument: styles alone mark text.

_ODF_STYLE = re.compile(
    rb"<style:style\s[^>]*?\bstyle:name=\"([^\"]+)\"([^>]*)(?<!/)>(.*?)</style:style>", re.DOTALL
)
_PARENT_STYLE = re.compile(rb"style:parent-style-name=\"([^\"]+)")
_ODF_MARKS = re.compile(
    rb"(text-line-through-(?:style|type)=\"(?!none))"
    rb"|style:text-position=\"((?:super|sub)\b|-?[1-9])"
    rb"|(text:display=\"none|presentation:visibility=\"hidden|fo:font-size=\"[01](?:\.0*)?pt)"
)
_ODF_WHITE = re.compile(rb"fo:color=\"#%s\"" % NEAR_WHITE)
# a fill of cells, paragraphs or pages, on which text may be white
_ODF_FILL = re.compile(rb"fo:background-color=\"#(?!f{6})|draw:fill=\"(?!none)")
_ODF_SHAPE = re.compile(rb"<draw:(?:image|custom-shape|rect|ellipse|circle|polygon|path)\b")
_ODF_PAGE_FILL = re.compile(
    rb"style:family=\"drawing-page\"[^>]*>(?:(?!</style:style>).)*?draw:fill=\"(?!none)", re.DOTALL
)
_ODF_MARKERS = (
    *(b"text-line-through", b":text-position=", b"text:display=", b"n:visibility="),
    *(b'fo:font-size="0', b'fo:font-size="1pt'),
)


_TRACKED = re.compile(rb"<text:tracked-changes\b.*?</text:tracked-changes>", re.DOTALL)
_DELETION = re.compile(
    rb"<text:changed-region(?=[^<>]*>\s*<text:deletion>)\s[^<>]*?\b(?:text|xml):id=\"([^\"]*)\""
    rb"[^<>]*>\s*<text:deletion>(.*?)</text:deletion>",
    re.DOTALL,
)
_CHANGE = re.compile(
    rb"<text:change(?P<limit>-start|-end)?(?=[^<>]*/>)\s[^<>]*?"
    rb"\btext:change-id=\"(?P<id>[^\"]*)\"[^<>]*/>"
)
_NO_DELETED_TEXT = re.compile(rb"<dc:(?:creator|date)>[^<]*|<[^<>]*>")
_DELETED_ODF = re.compile(rb"<text:deletion>(.*?)</text:deletion>", re.DOTALL)
_DELETION_END = b"</text:deletion>"  # after the last one no pattern can match
_DELETION_TAG = re.compile(rb"</?text:deletion>")
_TEXT_NODE = re.compile(rb"(?<=>)[^<]+")


def inline_deletions(content: bytes) -> bytes:
    """Return an OpenDocument in which deleted text is where it was, inside `<text:deletion>`;
    programs have it there or before the text.

    >>> region = b'<text:changed-region text:id="c"><text:deletion>%s</text:deletion>'
    >>> changes = b"<text:tracked-changes>" + region + b"</text:tracked-changes>"
    >>> inline_deletions(changes % b"b" + b'<p>a<text:change text:change-id="c"/></p>')
    b'<p>a<text:deletion>b</text:deletion></p>'
    >>> inline_deletions(changes % b"b" + b'<p><text:change-start text:change-id="c"/>a</p>')
    b'<p><text:change-start text:change-id="c"/>a</p>'
    >>> inline_deletions(changes % b"b" + b'<text:change text:change-id="c"/>' * 2)
    b'<text:deletion>b</text:deletion><text:deletion></text:deletion>'
    """
    if b"<text:deletion" not in content:
        return content
    end = content.rfind(_DELETION_END) + len(_DELETION_END)
    regions = _DELETION.findall(content, 0, end)
    deleted = {id: _NO_DELETED_TEXT.sub(b" ", text) for id, text in regions}
    before, tag, after = content.rpartition(b"</text:tracked-changes>")
    content = _TRACKED.sub(b"", before + tag) + after
    changes = {(found["id"], found["limit"]): found.start() for found in _CHANGE.finditer(content)}

    def marked(change: re.Match[bytes]) -> bytes:
        id = change["id"]
        if id not in deleted:
            return change[0]
        if change["limit"] is None:
            text, deleted[id] = deleted[id], b""  # once, however many changes name it
            return b"<text:deletion>%s</text:deletion>" % text
        start, end = changes.get((id, b"-start"), -1), changes.get((id, b"-end"), -1)
        if not (0 <= start < end and change.start() in (start, end)):
            return change[0]
        return b"<text:deletion>" if change.start() == start else b"</text:deletion>"

    return _CHANGE.sub(marked, content)


def without_deletions(content: bytes) -> bytes:
    """Return an OpenDocument without text that was deleted while changes were tracked; tags stay.

    >>> without_deletions(b"<p>a<text:deletion>b</p><p>c</text:deletion></p>")
    b'<p>a</p><p></p>'
    """
    pieces: list[bytes] = []
    position = 0
    content = inline_deletions(content)
    for start, end, _ in _deleted_pieces(content):
        pieces.append(content[position:start])
        position = end
    return _DELETION_TAG.sub(b"", b"".join((*pieces, content[position:])))


def _deleted_pieces(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and text of each piece of deleted text."""
    end = content.rfind(_DELETION_END) + len(_DELETION_END)
    for deletion in _DELETED_ODF.finditer(content, 0, end):
        for text in _TEXT_NODE.finditer(content, *deletion.span(1)):
            yield text.start(), text.end(), text[0]


def _of_odf(content: bytes, styles: MarkedStyles) -> Iterator[MarkedRun]:
    for start, _, text in _deleted_pieces(content):
        yield MarkedRun(start, DELETED, text)
    written = _odf_styles(content, styles)
    marked = {name: marks for name, marks in written.items() if name and marks}
    if not marked:
        return
    names = b"|".join(map(re.escape, marked))
    texts = rb"\b(?:text|table):style-name=\"(%s)\"[^>]*(?<!/)>(?:<[^/<>][^<>]*>){0,2}([^<]+)"
    for match in re.finditer(texts % names, content):
        yield from (MarkedRun(match.start(), mark, match[2]) for mark in marked[match[1]])
    for match in re.finditer(rb"<draw:page\b[^>]*draw:style-name=\"(?:%s)\"" % names, content):
        yield MarkedRun(match.start(), HIDDEN, b"page")


def _odf_styles(content: bytes, common: MarkedStyles) -> MarkedStyles:
    """Return the styles of a part and the common ones with the marks that they give."""
    is_marked = any(marker in content for marker in _ODF_MARKERS) or _ODF_WHITE.search(content)
    if not (common or is_marked or may_have_symbols(content)):
        return {}
    found = dict(common)
    is_on_paper = _ODF_WHITE.search(content) and not _ODF_FILL.search(content)
    if b"<office:presentation" in content:
        is_on_paper = is_on_paper and b"" in common and not _ODF_SHAPE.search(content)
    for name, attributes, properties in _ODF_STYLE.findall(content):
        parent = _PARENT_STYLE.search(attributes)
        marks = set(found.get(parent[1], NO_MARKS)) if parent else set()
        for struck, level, hidden in _ODF_MARKS.findall(properties):
            marks |= {STRUCK} if struck else {HIDDEN} if hidden else {_level(level)}
        if is_on_paper and _ODF_WHITE.search(properties):
            marks.add(HIDDEN)
        if _SYMBOL_FONT.search(properties):
            marks.add(SYMBOLS)
        found[name] = frozenset(marks)
    return found


def _level(position: bytes) -> str:
    return LOWERED if position.startswith((b"sub", b"-")) else RAISED


def marked_styles(content: bytes) -> MarkedStyles:
    """Return the styles of Word, or common ones of OpenDocument, that mark text, with their marks.

    >>> marked_styles(b'<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>')
    {b'Gone': frozenset({'hidden'})}
    """
    if b"<w:style" not in content:
        found = {name: marks for name, marks in _odf_styles(content, {}).items() if marks}
        is_paper = not _ODF_PAGE_FILL.search(content) and not _ODF_SHAPE.search(content)
        return {**found, **ON_PAPER} if is_paper and b"<style:master-page" in content else found
    is_marked = any(marker in content for marker in (*_WORD_MARKERS, *_COLOUR_MARKERS))
    if not (is_marked or may_have_symbols(content)):
        return {}
    written = word_styles(content)
    found = {}
    for name in written:
        marks = NO_MARKS
        for style in reversed(bases_of(name, written)):
            marks = _style_marks(written[style], marks)
        if marks:
            found[name] = marks
    return found


def word_styles(content: bytes) -> dict[bytes, bytes]:
    """Return the styles of Word by their ids; none without an end tag, in linear time.

    >>> word_styles(b'<w:style w:styleId="A"><w:b/></w:style><w:style w:styleId="B">')
    {b'A': b'<w:style w:styleId="A"><w:b/>'}
    """
    written: dict[bytes, bytes] = {}
    for piece in content.split(b"</w:style>")[:-1]:
        if found := _WORD_STYLE.search(piece):
            written[found[1]] = piece[found.start() :]
    return written


def bases_of(name: bytes, styles: Mapping[bytes, bytes]) -> list[bytes]:
    """Return a style of Word and the styles on which it is based, the nearest first."""
    line = [name]
    while len(line) < _MAX_BASES and (base := _BASE_STYLE.search(styles[line[-1]])):
        if base[1] not in styles:
            break
        line.append(base[1])
    return line


# Headers and footers, which Word, OpenDocument and RTF have once, before or after the text.

_MIN_OF_PAGES = 6_000  # characters of three pages: on fewer a header may be of the text


def mark_headers(text: str, headers: Iterable[tuple[str, bool]]) -> str:
    """Return the text of a document with `END_OF_HEADER` after each line of the headers and footers
    of its pages; on a first page they are text, such as a letterhead.

    `headers`: the text of each, and whether it is that of a first page; not read of a short text.
    """
    if len(text) < _MIN_OF_PAGES:
        return text
    parts = [(_alphanumeric(part), is_first) for part, is_first in headers]
    lines = text.split("\n")
    before = _of_headers(map(_alphanumeric, lines), parts)
    backwards = (_alphanumeric(line)[::-1] for line in reversed(lines))
    after = _of_headers(backwards, [(part[::-1], is_first) for part, is_first in parts])
    for index in {*before, *(len(lines) - 1 - index for index in after)}:
        lines[index] += END_OF_HEADER
    return "\n".join(lines)


def _alphanumeric(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _of_headers(keys: Iterable[str], parts: list[tuple[str, bool]]) -> list[int]:
    """Return which of the first lines are parts, and remove these; there are none on a first page.

    >>> parts = [("Draftpage1", False), ("Court", True)]
    >>> _of_headers(["", "Court", "Draft", "page1", "Itisagreed"], parts), parts
    ([2, 3], [])
    """
    found: list[int] = []
    lines: list[int] = []
    joined = ""
    for index, key in enumerate(keys):
        joined += key
        lines += [index] if key else []
        if not any(part.startswith(joined) for part, _ in parts):
            break
        if whole := next((part for part in parts if part[0] == joined), None):
            parts.remove(whole)
            found += [] if whole[1] else lines
            lines, joined = [], ""
    return found


# Colours, and what hides text, as style sheets have them.

_HEX = re.compile(r"#([0-9a-f]{3,8})")
_VALUE = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]*)")
WHITE, NO_COLOUR = (255, 255, 255), "transparent"
_COLOUR_NAMES = dict(
    re.findall(
        r"([a-z]+)\s+(\w{6})",
        """
    aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc
    bisque ffe4c4 black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a
    burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue
    6495ed cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod
    b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b darkmagenta 8b008b
    darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a
    darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise
    00ced1 darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969
    dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff
    gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080 green 008000
    greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082
    ivory fffff0 khaki f0e68c lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon
    fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff lightgoldenrodyellow fafad2 lightgray
    d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1 lightsalmon ffa07a lightseagreen
    20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899 lightsteelblue b0c4de
    lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000
    mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen
    3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred
    c71585 midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead
    navy 000080 oldlace fdf5e6 olive 808000 olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid
    da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee palevioletred db7093
    papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 purple
    800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1 saddlebrown 8b4513
    salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d silver c0c0c0
    skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa springgreen 00ff7f
    steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet
    ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32
""",
    )
)


def _of_fractions(*fractions: float) -> Colour:
    red, green, blue = (round(255 * min(1.0, max(0.0, each))) for each in fractions)
    return red, green, blue


def colour_of(value: str) -> Colour:
    """Return a colour as red, green and blue, as it is written where these are unknown; None for
    that of the element around.

    >>> [colour_of(value) for value in ("#fff", "rgba(0, 0, 0, 0)", "rgb(1 2 3)", "inherit")]
    [(255, 255, 255), 'transparent', (1, 2, 3), None]
    >>> [colour_of(value) for value in ("snow", "rgb(1e999, 50%, 0)", "hsl(120deg 100% 50%)")]
    [(255, 250, 250), (255, 128, 0), (0, 255, 0)]
    """
    value = value.partition("!")[0].strip()
    if value in _COLOUR_NAMES:
        return colour_of_digits(_COLOUR_NAMES[value].encode())
    if (digits := _HEX.fullmatch(value)) and len(digits[1]) != 5 and len(digits[1]) != 7:
        written = digits[1] if len(digits[1]) > 4 else "".join(2 * digit for digit in digits[1])
        red, green, blue, *alpha = bytes.fromhex(written)
        return NO_COLOUR if alpha == [0] else (red, green, blue)
    name, bracket, values = value.partition("(")
    if bracket:
        numbers = _VALUE.findall(values)
        if len(numbers) > 3 and float(numbers[3][0]) == 0:
            return NO_COLOUR
        if name in ("rgb", "rgba") and len(numbers) > 2:
            units = [float(number) / (100 if unit else 255) for number, unit in numbers[:3]]
            return _of_fractions(*units)
        if name in ("hsl", "hsla") and len(numbers) > 2 and numbers[0][1] in ("", "deg"):
            hue, saturation, lightness = (float(number) for number, _ in numbers[:3])
            if isfinite(hue):
                clamped = (min(1.0, max(0.0, each / 100)) for each in (lightness, saturation))
                return _of_fractions(*hls_to_rgb(hue / 360 % 1, *clamped))
    return None if value in ("inherit", "unset", "initial", "currentcolor", "") else value


_HIDING = {
    "display": re.compile("none"),
    "visibility": re.compile("hidden|collapse"),
    "content-visibility": re.compile("hidden"),
    "text-decoration": re.compile(".*line-through"),
    "text-decoration-line": re.compile("line-through"),
    "-webkit-text-security": re.compile("(?!none)"),
    "clip": re.compile(r"rect\(\s*0(?![.\d])|rect\((?:\s*[01](?:px)?[\s,]*){4}\)"),
    "clip-path": re.compile(r"inset\(\s*(?:[5-9]\d|100)(?:\.\d*)?%|circle\(\s*0"),
    "transform": re.compile(r"scale[xy]?\(\s*0(?:\.0\d*)?\s*[,)]|translate\w*\([^)]*-\d{4}"),
    "scale": re.compile(r"0(?:\.0\d*)?(?![.\d])"),
    "translate": re.compile(r".*-\d{4}"),
    "filter": re.compile(r".*opacity\(\s*(?:0?\.0[0-5]|0(?![.\d])|[0-5]%)"),
    "font": re.compile(r"(?:.*\s)?(?:0(?:[a-z]+|%)?|1p[xt])(?=[/\s])"),
}
_MAX_SIZES = {"opacity": 0.05, "zoom": 0.05, "font-size": 0.05}
_MAX_OFFSETS = {"left": -100, "top": -100, "text-indent": -100}
_MAX_OFFSETS |= dict.fromkeys(("right", "bottom", "margin-left", "margin-top", "margin"), -999)


def hides_text(name: str, value: str) -> bool:
    """Return whether a declaration hides text, or strikes it out.

    >>> hides_text("opacity", "4%"), hides_text("opacity", ".5"), hides_text("font-size", "1px")
    (True, False, True)
    """
    if pattern := _HIDING.get(name):
        return pattern.match(value) is not None
    found = _VALUE.match(value)
    if found is None:
        return False
    number, unit = float(found[1]), found[2]
    if name in _MAX_SIZES:
        is_tiny = name == "font-size" and unit in ("px", "pt") and number <= 1
        return is_tiny or number / (100 if unit == "%" else 1) <= _MAX_SIZES[name]
    return number <= _MAX_OFFSETS.get(name, float("-inf")) or (
        name.removeprefix("max-") in ("height", "width") and number == 0
    )
