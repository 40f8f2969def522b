"""Pictures, drawings, formulas and the like in Office documents, OpenDocument and EPUB, each with
its anchor in the text.
"""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
import zipfile
import zlib
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import unescape
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote

from indexer.documents.base import (
    Anchors,
    all_of,
    anchored,
    embedded_kind,
    relationships_of,
    searchable,
    sha256,
)
from indexer.documents.lists import part_of
from indexer.documents.marked_text import (
    MARKED_KINDS,
    OFFICE_TEXT,
    ON_PAPER,
    MarkedStyles,
    inline_deletions,
    is_slide_paper,
    marked_styles,
    marked_text,
)
from indexer.documents.pages import page_files
from indexer.documents.unseen import (
    MARKED_WORDS,
    hidden_cells_of_odf,
    unseen_cells,
    values_behind_texts,
    with_repeated_cells,
    written_formulas,
)
from indexer.model import EmbeddedFile

ZIP = b"PK\x03\x04"
MAX_MEMBER = 64 << 20  # bytes; of a larger one the checksum stands for the content
UNREADABLE = (
    ValueError, OverflowError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error,
    zipfile.BadZipFile, tarfile.TarError, KeyError, IndexError,
)  # fmt: skip
# pictures and drawings that programs make of what is in the file anyway
DRAWN = re.compile(
    r"(?:docProps/thumbnail\.|(?:Thumbnails|ObjectReplacements|QuickLook)/)", re.IGNORECASE
)
# Parts of an Office document or EPUB that count: what is neither read nor a setting that programs
# write anew.
_READ_PARTS = re.compile(
    r"^\[Content_Types\]\.xml$|^mimetype$|(?:^|/)_rels/|^doc(?:Props|Metadata)/"
    r"|^customXml/itemProps"
    r"|^META-INF/(?!(?:document|macro)signatures)|(?:^|/)(?:Fonts|Configurations2?)/"
    r"|^(?:Object \d+/)?(?:content|styles|meta|settings)\.xml$|^(?:manifest\.rdf|layout-cache)$"
    r"|^word/(?:document\d*|(?:head|foot)er\d*|(?:foot|end)notes|comments\w*|styles\w*|settings"
    r"|webSettings|fontTable|numbering|stylesWithEffects|people|vbaData|customizations)\.xml$"
    r"|^xl/(?:workbook|sharedStrings|styles|calcChain|metadata|comments\d*|volatileDependencies)\."
    r"|^xl/(?:worksheets|chartsheets|dialogsheets|macrosheets|tables|queryTables|pivotTables"
    r"|slicers|slicerCaches|timelines|timelineCaches|persons|richData|featurePropertyBag"
    r"|namedSheetViews|printerSettings|customProperty\w*)/|^xl/drawings/[^/]*\.(?:vml|xml)$"
    r"|^ppt/(?:presentation|presProps|viewProps|tableStyles|commentAuthors|authors|revisionInfo)\."
    r"|^ppt/(?:slides|slideMasters|slideLayouts|notesSlides|notesMasters|handoutMasters|tags"
    r"|changesInfos|printerSettings)/|^ppt/comments/comment\d|^xl/comments/comment\d"
    r"|^(?:word|xl|ppt)/(?:theme|fonts|glossary|charts|diagrams|webextensions|printerSettings"
    r"|drawings|ink)/|^word/attachedToolbars|^visio/(?:windows|theme/)"
    r"|\.(?:odttf|rels|opf|ncx|css|js|xhtml|html?|[ot]tf|woff2?|xpgt|pls|plist)$|/iTunesArtwork$",
    re.IGNORECASE,
)
_SERVERS = re.compile(  # whose data about a document, such as its list, are no part of it
    rb"schemas\.microsoft\.com/(?:sharepoint|office/2006/(?:metadata|coverPageProps))"
    rb"|officeDocument/2006/(?:bibliography|customXml)"
)
_LOOKED_INTO = re.compile(
    r"(?:^|/)content\.xml$|^word/(?:ink/[^/]*|document\d*|(?:head|foot)er\d*|(?:foot|end)notes"
    r"|numbering)\.xml$|^(?:ppt/(?:slides|notesSlides|ink)|xl/(?:\w+sheets|drawings))/[^/]*\.xml$"
    r"|^xl/(?:workbook|sharedStrings)\.xml$|^(?:word|xl|ppt)/charts/chart[^/]*\.xml$"
)
_UNREAD_XML: tuple[tuple[str, tuple[bytes, ...], re.Pattern[bytes]], ...] = (
    # kinds, words without one of which a part is not searched, patterns
    (
        "drawing",
        (
            *(b"custGeom", b"<inkml:trace", b"svg:d=", b"draw:points=", b"prstGeom", b"<v:"),
            *(b"draw:type=", b"<draw:line", b"<draw:ellipse", b"<draw:circle", b"<draw:connector"),
            *(b"<draw:measure", b"<draw:regular", b"flip", b" rot=", b"srcRect", b"End "),
        ),
        re.compile(
            rb"<a:custGeom\b.*?</a:custGeom>|<inkml:trace\b[^>]*>[^<]*"
            rb"|\b(?:svg:d|draw:points)=\"[^\"]*|<a:prstGeom prst=\"(?!rect\")[^\"]*"
            rb"|<v:(?:shape|polyline|curve)\s[^>]*?\b(?:path|points)=\"[^\"]*"
            rb"|\bdraw:type=\"(?!rectangle|non-primitive)[^\"]*"
            rb"|<draw:(?:line|ellipse|circle|connector|measure|regular-polygon)\b"
            rb"|<v:textpath\s[^>]*?\bstring=\"[^\"]*|\bflip[HV]=\"(?:1|true)"
            rb"|:xfrm\s[^>]*?\brot=\"(?!0\")[^\"]*|<a:srcRect\s[^>]*[1-9]"
            rb"|<a:(?:head|tail)End\s[^>]*?\btype=\"(?!none)[^\"]*",
            re.DOTALL,
        ),
    ),
    (
        "formulas",
        (
            *(b"<f>", b"<f ", b":f>", b":f ", b"ormula", b"table:condition", b"date1904"),
            *(b"definedName", b"operator="),
        ),
        re.compile(
            rb"<(?:x:|xm:)?(?:f|formula[12]?)\b[^>]*>[^<]+|\btable:formula=\"[^\"]*"
            rb"|\btable:condition=\"[^\"]*|\bdate1904=\"(?:1|true)"
            rb"|<definedName\b(?![^>]*\"_xlnm)[^>]*>[^<]+"
            rb"|<(?:x14:)?(?:cfRule|dataValidation)\b[^>]*?\b(?P<value>operator=\"[^\"]*)"
        ),
    ),
    (
        "hidden slides and sheets",
        (b'show="0', b"idden"),
        re.compile(
            rb"<p:sld\b[^>]*\s(?P<slide>show=\"0)"
            rb"|<sheet\b(?=[^>]*\sstate=\"\w*idden)[^>]*?\sname=\"(?P<sheet>[^\"]*)"
        ),
    ),
    (
        "hidden shapes and sections",
        (b"idden", b":display=", b"showMasterSp"),
        re.compile(
            rb"<(?:\w+:)?(?:cNvPr|docPr)\b[^>]*\s(?P<shape>hidden=\"(?:1|true))"
            rb"|<v:\w+\s[^>]*\bstyle=\"[^\"]*(?P<old>visibility:\s*hidden)|<w:hidden\s*/>"
            rb"|<draw:[^>]*\s(?P<drawn>draw:display=\"(?:none|printer))"
            rb"|<text:section\b[^>]*\s(?P<section>text:display=\"(?:none|condition))"
            rb"|<text:hidden-(?P<value>(?:text|paragraph)\b[^>]*)"
            rb"|<p:sld\b[^>]*\s(?P<master>showMasterSp=\"(?:0|false))"
        ),
    ),
    (
        "text from the right",
        (b"<w:bidiVisual", b"<w:bdo"),
        re.compile(rb"<w:bidiVisual\s*/>|<w:bdo w:val=\"rtl\""),
    ),
    ("numbers of lists", (b"buAutoNum",), re.compile(rb"<a:buAutoNum\s[^>]*>")),
    ("formulas", (b"math",), re.compile(rb"<(math:)?math\b.*?</(?:math:)?math>", re.DOTALL)),
    (
        "symbols",
        (b"<w:sym", b"<w:checkBox", b"<w:ddList", b"<w:dropDownList", b"<w:comboBox"),
        re.compile(
            rb"<w:sym\b[^>]*>|<w:(checkBox|ddList|dropDownList|comboBox)\b[^>]*(?<!/)>.*?</w:\1>",
            re.DOTALL,
        ),
    ),
    (
        "values of lists",
        (b"lastValue",),
        re.compile(rb"<w:(?:dropDownList|comboBox)\s[^>]*lastValue=\"[^\"]*"),
    ),
    (
        "charts",
        (b"Chart", b"c:f>", b"chart:class", b"layoutId"),
        re.compile(rb"<(?:c:)?\w+Chart>|<c:f>[^<]*|\b(?:chart:class|layoutId)=\"[^\"]*"),
    ),
    ("alternative texts", (b"descr=",), re.compile(rb"\bdescr=\"[^\"]+")),
    (
        "links and fields",
        (b"nstr", b":a ", b"event-listener"),
        re.compile(
            rb"<w:instrText[^>]*>\s*(?P<value>(?:HYPERLINK|DDE|INCLUDE|LINK|MACRO)[^<]*)"
            rb"|\bw:instr=\"\s*(?:HYPERLINK|DDE|INCLUDE|LINK|MACRO)[^\"]*"
            rb"|<(?:text|draw):a\s[^>]*?\bxlink:href=\"(?!#)[^\"]*"
            rb"|<script:event-listener\s[^>]*?\bxlink:href=\"[^\"]*"
        ),
    ),
    (
        "values of forms",
        (b"form:",),
        re.compile(rb"\bform:(?:current-[a-z]+|value|state|selected|label)=\"[^\"]*"),
    ),
)
_CHANGED_CELL = re.compile(
    rb"<table:(?:deletion|cell-content-change)\b(.*?)</table:(?:deletion|cell-content-change)>",
    re.DOTALL,
)
_MAIN_PART = re.compile(r"(?:document\d*|content)\.xml|file")
_OTHER_PARTS = ("styles", "master-styles", "meta", "settings")  # of what is one file
_CELL = re.compile(rb"<(?:x:)?c\s(?:[^>]*?\s)?r=\"([A-Z]{1,3}\d{1,7})\"")
_ANCHOR = re.compile(
    rb"<(?:xdr:)?from>(?:(?!from>).){,400}?<(?:xdr:)?col>(\d+).{,400}?<(?:xdr:)?row>(\d+)",
    re.DOTALL,
)
_PICTURE, _OFFSET = re.compile(rb"<a:blip\b"), re.compile(rb"<a:off x=\"(-?\d+)\" y=\"(-?\d+)\"")
_TAG = re.compile(rb"<[^>]*>")
_REFERENCE = re.compile(rb":(?:id|embed|link|pict|dm|href|relid)=\"([^\"]+)\"")
_FILE_OF_ODF = re.compile(rb"\bxlink:href=\"(?:\./)?([^\"#:]+)\"")
_CHAPTERS = re.compile(rb"\bhref\s*=\s*[\"']([^\"']+)")
_LINKED = re.compile(
    rb"(?:<link\b[^>]*\bhref\s*=\s*[\"']|@import\s+(?:url\(\s*)?[\"']?)([^\"'#?()<>;]+\.css)",
    re.IGNORECASE,
)
_NOT_LINEAR = re.compile(
    rb"<(?:opf:)?itemref\b(?=[^>]*\blinear=[\"']no)[^>]*\bidref=[\"']([^\"']*)"
)
_DIGITS = re.compile(r"\d")
_SETTINGS = {  # of OpenDocument: what they do not display
    "settings.xml": re.compile(rb"config:name=\"(ShowZeroValues)\"[^<>]*>false"),
    "styles.xml": re.compile(
        rb"<style:((?:header|footer)[-\w]*)\s[^<>]*?style:display=\"false\"[^<>]*(?<!/)>"
        rb"(?:\s*<(?!/?style:(?:header|footer))[^<>]*>)*[^<>\s]"
    ),
}
_PACKAGES = (".docx", ".xlsx", ".pptx", ".xlsm", ".docm", ".pptm", ".xlsb")


class _Reference(NamedTuple):
    """A reference of a part to another one, or out of the file, by its path or address."""

    position: int
    target: str
    is_external: bool


@dataclass(slots=True)
class _Walk:
    """The result of a walk through the parts: their keys, anchors of files in them, their links."""

    keys: dict[str, str] = field(default_factory=dict)
    anchors: dict[str, list[str]] = field(default_factory=dict)
    links: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, path: str, content: bytes, found: Sequence[_Reference]) -> None:
        """Add a part, whose key is its kind and its number among the parts of that kind."""
        kind = _DIGITS.sub("", path)
        self.counts[kind] += 1
        self.keys[path] = f"{kind}{self.counts[kind]}"
        if not found:
            return
        displayed = [(at, target.encode()) for at, target, external in found if not external]
        for anchor, target in anchored(displayed, _positions(path)(content)):
            self.anchors.setdefault(target.decode(), []).append(f"{self.keys[path]}:{anchor}")
        self.links[path] = [(at, target.encode()) for at, target, external in found if external]


class Package:
    """An Office document, an OpenDocument or an EPUB that is open as a zip."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members = {
            member.filename: member for member in archive.infolist() if not member.is_dir()
        }
        self._parts: dict[str, bytes] = {}
        self._left = MAX_MEMBER
        self._papers: dict[str, bool] = {}

    def files(self) -> Iterator[EmbeddedFile]:
        """Yield pictures, sound, objects, drawings, formulas and what else is not read."""
        for path, member in self._members.items():
            if DRAWN.match(path):
                continue
            kind = embedded_kind(path, "object")
            if kind in ("picture", "media") or member.file_size > MAX_MEMBER:
                yield from self._anchored_file(path, EmbeddedFile(kind, _name(path), ""))
            elif _LOOKED_INTO.search(path):
                yield from self._unread(path)
            elif self._chapters and path.lower().endswith((".xhtml", ".html", ".htm")):
                yield from self._chapter(path)
            elif not _READ_PARTS.search(path):
                yield from self._object(path)
            elif path.endswith(".opf") and (outside := _NOT_LINEAR.findall(self._read(path))):
                digest = sha256(b" ".join(outside))
                yield EmbeddedFile("object", "chapters out of the order", digest)
            elif path in _SETTINGS and (found := _SETTINGS[path].findall(self._read(path))):
                yield EmbeddedFile("object", f"what {path} hides", sha256(b" ".join(found)))

    def _read(self, path: str) -> bytes:
        return part_of(self._archive, self._members[path])

    def _markup(self, path: str) -> bytes:
        """Return a part as patterns search it, unpacked once where it is needed twice."""
        if path not in self._parts:
            part = searchable(self._read(path))
            if len(part) > self._left:
                return part
            self._left -= len(part)
            self._parts[path] = part
        return self._parts[path]

    def _digest(self, path: str) -> str:
        return member_digest(self._archive, self._members[path])

    def _anchored_file(self, path: str, file: EmbeddedFile) -> Iterator[EmbeddedFile]:
        """Yield a file for each of the anchors that show it."""
        digest = file.sha256 or self._digest(path)
        for anchor in self._walk.anchors.get(path) or [""]:
            yield file._replace(sha256=digest, anchor=anchor)

    def _object(self, path: str) -> Iterator[EmbeddedFile]:
        content = self._archive.read(self._members[path])
        if path.startswith("customXml/") and _SERVERS.search(content):
            return
        is_package = content.startswith(ZIP) and path.lower().endswith(_PACKAGES)
        digest = _package_digest(content) if is_package else sha256(content)
        yield from self._anchored_file(path, EmbeddedFile("object", _name(path), digest))

    def _chapter(self, path: str) -> Iterator[EmbeddedFile]:
        content = self._read(path)
        if path not in self._chapters:
            yield EmbeddedFile("unread", _name(path), sha256(content))
            return
        styles = self._style_sheets(path, content)
        for file in page_files(content, partial(self._file_of_chapter, path), styles):
            yield file._replace(anchor=f"{self._chapters[path]}:{file.anchor}")

    def _style_sheets(self, chapter: str, content: bytes) -> bytes:
        """Return the style sheets of a chapter, each after those that it imports."""
        found: dict[str, bytes] = {}
        waiting = [(chapter, link) for link in _LINKED.findall(content)]
        while waiting:
            source, link = waiting.pop()
            path = _target(source, unescape(link.decode("utf-8", "replace")))
            if path in self._members and path not in found:
                found[path] = self._read(path)
                waiting += [(path, each) for each in _LINKED.findall(found[path])]
        return b" ".join(reversed(found.values()))

    def _file_of_chapter(self, chapter: str, source: str) -> str:
        path = _target(chapter, source)
        return self._digest(path) if path in self._members else ""

    @cached_property
    def _chapters(self) -> Mapping[str, int]:
        """The chapters of a book by their paths, with their numbers in its list."""
        found: dict[str, int] = {}
        for path in self._members:
            if path.endswith(".opf"):
                for match in _CHAPTERS.finditer(self._read(path)):
                    link = unescape(match[1].decode("utf-8", "replace"))
                    found.setdefault(_target(path, link), len(found))
        return found

    def _unread(self, path: str) -> Iterator[EmbeddedFile]:
        """Yield what is not read of a part: drawings, formulas, links."""
        content = self._markup(path)
        if b"<!ENTITY" in content:  # which patterns do not find in other elements
            yield EmbeddedFile("unread", _name(path), sha256(content))
        name = path if path.endswith("/content.xml") else _name(path)
        key, targets = self._walk.keys.get(path, ""), self._walk.links.get(path, ())
        on_paper = path.startswith("ppt/") and self._is_paper(path)
        styles = ON_PAPER if on_paper else self._marked_styles
        for file in unread_xml(content, name, _positions(path), styles, targets):
            yield file if file.name in MARKED_KINDS else file._replace(anchor=key)
        if path == "word/document.xml":
            headers = hidden_headers(content, self._word_settings)
            yield from (file._replace(anchor=key) for file in headers)
        if path.startswith(("xl/worksheets/", "xl/sharedStrings")):
            for kind, cells in unseen_cells(content, self._styles).items():
                if cells:  # programs have words of cells in a list, or in the cells
                    anchor = "" if kind == MARKED_WORDS else key
                    yield EmbeddedFile("object", f"{kind} in {name}", sha256(cells), anchor)

    @cached_property
    def _word_settings(self) -> bytes:
        path = "word/settings.xml"
        return self._read(path) if path in self._members else b""

    @cached_property
    def _styles(self) -> bytes:
        path = "xl/styles.xml"
        return self._markup(path) if path in self._members else b""

    @cached_property
    def _marked_styles(self) -> MarkedStyles:
        """The common styles of Word and OpenDocument that hide, raise or strike out text."""
        paths = sorted({"word/styles.xml", "styles.xml"} & self._members.keys())
        return marked_styles(searchable(b"".join(map(self._read, paths))))

    def _is_paper(self, slide: str) -> bool:
        """Return whether nothing in a slide, its layout and its master has a colour."""
        for kind in ("", "slideLayout", "slideMaster"):
            following = relationships_of(self._archive, slide).values()
            slide = next((to for of, to, _ in following if of.endswith(f"/{kind}")), slide)
            if slide in self._members and not self._has_no_colour(slide):
                return False
        return True

    def _has_no_colour(self, part: str) -> bool:
        if part not in self._papers:
            self._papers[part] = is_slide_paper(self._markup(part))
        return self._papers[part]

    # The parts in the order in which they refer to each other, whatever names programs give them.

    @cached_property
    def _walk(self) -> _Walk:
        walk = _Walk()
        waiting: list[str] = ["", *({"content.xml"} & self._members.keys())]
        visited = set(waiting)
        while waiting:
            path = waiting.pop()
            content, found = self._references(path)
            if _LOOKED_INTO.search(path):
                walk.add(path, content, found)
            parts = dict.fromkeys(to for _, to, external in found if not external)
            new = [to for to in parts if to in self._members and to not in visited]
            visited.update(new)
            waiting += reversed(new)
        return walk

    def _references(self, path: str) -> tuple[bytes, list[_Reference]]:
        """Return the content of a part, and what it refers to, in its order; then what it names
        nowhere.
        """
        if path.endswith("content.xml"):
            content = self._markup(path)
            folder = posixpath.dirname(path)
            files = [
                (match.start(), posixpath.join(folder, unquote(match[1].decode())))
                for match in _FILE_OF_ODF.finditer(content)
            ]
            return content, [_Reference(start, self._of_odf(file), False) for start, file in files]
        relationships = relationships_of(self._archive, path)
        if not relationships:
            return b"", []
        content = self._markup(path) if path else b""
        named: set[str] = set()
        found: list[_Reference] = []
        for match in _REFERENCE.finditer(content):
            id = match[1].decode("utf-8", "replace")
            if id in relationships:
                named.add(id)
                found.append(_Reference(match.start(), *relationships[id][1:]))
        others = sorted(
            relationship for id, relationship in relationships.items() if id not in named
        )
        found += [_Reference(len(content), *relationship[1:]) for relationship in others]
        return content, found

    def _of_odf(self, path: str) -> str:
        return f"{path}/content.xml" if f"{path}/content.xml" in self._members else path


_FORMER_SECTION = re.compile(
    rb"<w:sectPrChange\b[^<]*(?:<(?!/?w:sectPrChange\b)[^<]*)*</w:sectPrChange>"
)
_ON = rb"(?:\s+w:val=\"(?:1|true|on)\")?\s*/>"
_FIRST_PAGE, _EVEN_PAGES = (
    re.compile(b"<w:%s" % name + _ON) for name in (b"titlePg", b"evenAndOddHeaders")
)


def hidden_headers(document: bytes, settings: bytes) -> Iterator[EmbeddedFile]:
    """Yield which headers and footers of a Word file are read and on no page: those of the first
    page of a section, or of even pages, where these have none of their own.

    >>> section = b'<w:sectPr><w:headerReference w:type="first"/>%s</w:sectPr>'
    >>> [len(list(hidden_headers(section % of, b""))) for of in (b"", b"<w:titlePg/>")]
    [1, 0]
    """
    has_even = _EVEN_PAGES.search(settings) is not None
    if b"<w:sectPrChange" in document:
        document = _FORMER_SECTION.sub(b"", document)
    hidden: list[bytes] = []
    for number, section in enumerate(document.split(b"</w:sectPr>")[:-1]):
        own = section.rpartition(b"<w:sectPr")[2]
        if b'w:type="first"' in own and not _FIRST_PAGE.search(own):
            hidden.append(b"%d first" % number)
        if b'w:type="even"' in own and not has_even:
            hidden.append(b"%d even" % number)
    if hidden:
        yield EmbeddedFile("object", "headers of no page", sha256(b",".join(hidden)))


def _target(path: str, link: str) -> str:
    """Return the path in a book that a link in a file refers to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link)))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _positions(path: str) -> Callable[[bytes], Callable[[int], object]]:
    """Return what counts the anchor of a position in a part: its cell, or the text before it."""
    if path.startswith(("xl/worksheets", "xl/macrosheets")):
        return partial(_after, _CELL)
    if path.startswith("xl/drawings"):
        return partial(_after, _ANCHOR)
    if path.startswith("ppt/slides"):
        return _on_slide
    if path.startswith(("word/", "xl/", "ppt/")):
        return partial(Anchors, text=OFFICE_TEXT)
    return Anchors


def _after(pattern: re.Pattern[bytes], content: bytes) -> Callable[[int], str]:
    """Return a function that gives the last cell or anchor before a position."""
    found = [
        (match.start(), b":".join(filter(None, match.groups())).decode())
        for match in pattern.finditer(content)
    ]
    starts = [start for start, _ in found]

    def anchor(position: int) -> str:
        index = bisect(starts, position)
        return found[index - 1][1] if index else ""

    return anchor


def _on_slide(content: bytes) -> Callable[[int], str]:
    """Return a function that gives the text before a position of a slide, and of a picture its
    number from the top to the bottom: programs may write pictures in any order.
    """
    before = Anchors(content, OFFICE_TEXT)
    starts = [match.start() for match in _PICTURE.finditer(content)]
    offsets = [_OFFSET.search(content, start) for start in starts]
    heights = [(int(found[2]), int(found[1])) if found else (0, 0) for found in offsets]
    order = sorted(range(len(starts)), key=heights.__getitem__)
    ranks = {starts[index]: rank for rank, index in enumerate(order)}

    def anchor(position: int) -> str:
        index = bisect(starts, position)
        start = starts[index - 1] if index else position
        is_picture = index > 0 and b">" not in content[start:position]
        return f"{before(position)}:{ranks[start]}" if is_picture else str(before(position))

    return anchor


def unread_xml(
    content: bytes,
    name: str,
    positions: Callable[[bytes], Callable[[int], object]] = Anchors,
    styles: MarkedStyles = MappingProxyType({}),
    targets: Sequence[tuple[int, bytes]] = (),
) -> Iterator[EmbeddedFile]:
    """Yield what is not read of a part of an Office document: drawings, formulas, links.

    `styles` are the common ones that hide, raise or strike out text; `targets` are the targets of
    links, by positions.
    """
    content, left = with_repeated_cells(inline_deletions(content))
    found: dict[str, list[tuple[int, bytes]]] = {"links and fields": list(targets)}
    found["values"] = list(values_behind_texts(content))
    for kind, words, pattern in _UNREAD_XML:
        if any(word in content for word in words):
            found.setdefault(kind, []).extend(
                (match.start(), match[match.lastgroup or 0]) for match in pattern.finditer(content)
            )
    found.setdefault("formulas", []).extend(written_formulas(content))
    if b"table:deletion" in content or b"table:cell-content-change" in content:
        ends = map(content.rfind, (b"</table:deletion>", b"</table:cell-content-change>"))
        found["deleted cells"] = [
            (match.start(), b"".join(_TAG.sub(b" ", match[1]).split()))
            for match in _CHANGED_CELL.finditer(content, 0, max(ends) + 28)  # after it none ends
        ]
    anchor: Callable[[int], object] | None = None
    for kind, matches in found.items():
        if matches:
            anchor = anchor or positions(content)
            yield all_of(f"{kind} in {name}", anchored(sorted(matches), anchor))
    for kind, lines in marked_text(content, styles).items():
        yield all_of(kind if _MAIN_PART.fullmatch(name) else f"{kind} in {name}", lines)
    for kind, cells in (("hidden", hidden_cells_of_odf(content)), ("repeated", left)):
        if cells:
            yield EmbeddedFile("object", f"{kind} cells in {name}", sha256(cells))


def flat_files(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield what is not read of an OpenDocument in one file of XML, as of one in a zip."""
    styles = b""
    for name in _OTHER_PARTS:
        before, _, rest = data.partition(f"<office:{name}>".encode())
        part, end, after = rest.partition(f"</office:{name}>".encode())
        if end:
            data = before + after
            styles += part if "styles" in name else b""
    for file in unread_xml(data, "content.xml", styles=marked_styles(styles)):
        yield file if file.name in MARKED_KINDS else file._replace(anchor="content.xml1")


def member_digest(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    """Return the SHA-256 of a member of a zip; of its checksum if it is large or cannot be read."""
    if is_readable(member):
        with suppress(OSError, EOFError, zlib.error, zipfile.BadZipFile):
            return sha256(archive.read(member))
    return sha256(f"{member.CRC} {member.file_size}".encode())


def is_readable(member: zipfile.ZipInfo) -> bool:
    """Return whether a member of a zip is looked into: it is neither large nor encrypted."""
    return member.file_size <= MAX_MEMBER and not is_encrypted(member)


def is_encrypted(member: zipfile.ZipInfo) -> bool:
    """Return whether a member of a zip is encrypted."""
    return member.flag_bits & 1 == 1


def _package_digest(data: bytes) -> str:
    """Return a digest of the parts of an Office document, but for its properties, in which programs
    write the time.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if not name.startswith("docProps/")]
            parts = [f"{name} {sha256(archive.read(name))}" for name in sorted(names)]
    except UNREADABLE:
        return sha256(data)
    return sha256("\n".join(parts).encode(errors="surrogateescape"))
