"""XML of office documents however it is written, its headers and footers, the order of slides, and
numbers of lists and headings ("7.2"), which a file does not hold where they are displayed: its
styles give them. Columns of CSV and how values of JSON are nested, which their words do not show.
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from html import escape, unescape
from typing import TypeAlias
from xml.parsers import expat

from indexer.documents.base import columns, csv_rows, relationships_of, searchable, sha256
from indexer.documents.marked_text import WORD_TEXT, bases_of, word_styles
from indexer.model import EmbeddedFile

# Office documents in XML that is written otherwise than programs mostly write it.

_DECLARED = re.compile(rb"\bxmlns(?::([\w.-]+))?\s*=\s*[\"']([^\"'<>]*)[\"']")
_OTHER_SPELLINGS = tuple(b"=%c" % c for c in b" \t\r\n'") + tuple(b"%c=" % c for c in b" \t\r\n")
_OTHER_SPELLING = re.compile(rb"<[\w:.-]+(?:\s+[\w:.-]+=\"[^\"]*\")*\s+[\w:.-]+(?:\s+=|=[\s'])")
_DECLARATION = re.compile(
    rb"(?:\xef\xbb\xbf)?<\?xml[^<>]*?\sencoding=[\"'](?!utf-8[\"']|us-ascii[\"'])", re.IGNORECASE
)
_BLANKS = {9: "&#9;", 10: "&#10;", 13: "&#13;"}  # which a parser would make spaces of
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0", b"\0<")
_NAMESPACE = re.compile(
    r"urn:oasis:names:tc:opendocument:xmlns:([a-z0-9-]+):1\.0"
    r"|http://(?:schemas\.openxmlformats\.org|purl\.oclc\.org/ooxml)/(\w+/)(?:2006/)?(\w+)"
)
_PREFIXES = {
    "wordprocessingml/main": "w", "spreadsheetml/main": "", "presentationml/main": "p",
    "drawingml/main": "a", "drawingml/spreadsheetDrawing": "xdr", "drawingml/chart": "c",
    "officeDocument/relationships": "r", "officeDocument/math": "m",
    "http://schemas.microsoft.com/office/word/2003/wordml": "w",
    "urn:schemas-microsoft-com:vml": "v", "http://www.w3.org/2003/InkML": "inkml",
    "http://www.w3.org/1999/xlink": "xlink", "drawing": "draw", "xsl-fo-compatible": "fo",
    "svg-compatible": "svg", "smil-compatible": "smil", "datastyle": "number",
    "animation": "anim", "database": "db",
}  # fmt: skip


@lru_cache(maxsize=10_000)
def _usual_prefix(namespace: str, prefix: str) -> str:
    """Return the prefix that programs give to a namespace; `prefix` for one that is not known."""
    if found := _NAMESPACE.fullmatch(namespace):
        of_odf, *of_office = found.groups("")
        return _PREFIXES.get(of_odf or "".join(of_office), of_odf or prefix)
    return _PREFIXES.get(namespace, prefix)


def part_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo | str) -> bytes:
    """Return a member of an office document in a zip; XML by `usual_markup`. Raises what `zipfile`
    does.
    """
    content = archive.read(member)
    name = member if isinstance(member, str) else member.filename
    return usual_markup(content) if name.endswith(".xml") else content


def usual_markup(markup: bytes) -> bytes:
    """Return XML of an office document with the prefixes of namespaces that programs mostly write,
    attributes in double quotes without blanks, and in UTF-8, without comments; as it is where it
    has these already, declares entities, or is no XML.

    >>> word = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    >>> usual_markup(b"<n:p xmlns:n='%s'><n:b n:val = '1'></n:b></n:p>" % word)[-28:]
    b'main"><w:b w:val="1"/></w:p>'
    """
    if not _is_unusual(markup):
        return markup
    try:
        return _MarkupWriter().write(markup)
    except (expat.ExpatError, ValueError, LookupError):
        return markup


def _is_unusual(markup: bytes) -> bool:
    if markup.startswith(_UTF_16) or _DECLARATION.match(markup) or b"<!" in markup:
        return True
    if any(mark in markup for mark in _OTHER_SPELLINGS) and _OTHER_SPELLING.search(markup):
        return True
    declared = set(_DECLARED.findall(markup))
    pairs = ((prefix.decode("latin-1"), name.decode("latin-1")) for prefix, name in declared)
    return any(_usual_prefix(name, prefix) != prefix for prefix, name in pairs)


class _MarkupWriter:
    """Writes XML anew, as its parser reads it."""

    def __init__(self) -> None:
        self._written = bytearray(b'<?xml version="1.0" encoding="UTF-8"?>')
        self._declared: dict[str, str] = {}
        self._end_of_tag = b""  # of a start tag, which is written with what follows
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.namespace_prefixes = parser.buffer_text = parser.ordered_attributes = True
        parser.StartNamespaceDeclHandler = self._declare
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = lambda text: self._add(escape(text, quote=False))
        parser.ProcessingInstructionHandler = lambda *names: self._add(f"<?{' '.join(names)}?>")
        parser.EntityDeclHandler = parser.AttlistDeclHandler = self._refuse

    def write(self, markup: bytes) -> bytes:
        """Return the XML. Raises `ValueError` where it declares entities, or `ExpatError`."""
        self._parser.Parse(markup, True)
        return bytes(self._written)

    def _add(self, markup: str) -> None:
        self._written += self._end_of_tag + markup.encode()
        self._end_of_tag = b""

    def _declare(self, prefix: str | None, namespace: str | None) -> None:
        namespace = namespace or ""
        self._declared[_usual_prefix(namespace, prefix or "")] = namespace

    def _start(self, name: str, attributes: Sequence[str]) -> None:
        tag = [f"<{_usual_name(name)}"]
        for prefix, namespace in self._declared.items():
            tag.append(_attribute(f"xmlns:{prefix}" if prefix else "xmlns", namespace))
        tag += map(_attribute, map(_usual_name, attributes[::2]), attributes[1::2])
        self._add("".join(tag))
        self._declared.clear()
        self._end_of_tag = b">"

    def _end(self, name: str) -> None:
        if self._end_of_tag:
            self._end_of_tag = b"/>"
        self._add("" if self._end_of_tag else f"</{_usual_name(name)}>")

    def _refuse(self, *_: object) -> None:
        raise ValueError("entities or defaults of attributes are declared")


@lru_cache(maxsize=10_000)
def _usual_name(name: str) -> str:
    """Return the name of an element or attribute by its namespace, name and prefix, if any."""
    namespace, _, name_of_it = name.partition(" ")
    local, _, prefix = name_of_it.partition(" ")
    prefix = _usual_prefix(namespace, prefix)
    return f"{prefix}:{local}" if prefix else local or name


def _attribute(name: str, value: str) -> str:
    if not value.isalnum():
        value = escape(value).replace("&#x27;", "'").translate(_BLANKS)
    return f' {name}="{value}"'


# Headers and footers, which Word and OpenDocument have once.

_REFERENCE = re.compile(rb"<w:(?:header|footer)Reference\s[^<>]*>")
_FIRST = re.compile(rb"\w:type=[\"']first")
_ID = re.compile(rb"\s\w+:id=[\"']([^\"']*)")
_ODF_HEADER = re.compile(
    rb"<(?:style:master-page\b(?P<page>[^<>]*)"
    rb"|(?P<end>/)?\w+:(?:header|footer)(?P<first>-first)?(?:-left)?(?:\s[^<>]*)?)(?<!/)>"
)
_TAG = re.compile(rb"<[^<>]*>")


def page_headers(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the text of each header and footer, and whether it is that of a first page. Raises what
    `zipfile` does.
    """
    if not data.startswith(b"PK"):  # an OpenDocument in one file
        yield from _plain_headers(data)
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if "styles.xml" in names:
            yield from _plain_headers(part_of(archive, "styles.xml"))
        elif any(name.startswith(("word/header", "word/footer")) for name in names):
            parts = relationships_of(archive, "word/document.xml")
            read = cache(partial(part_of, archive))
            text = cache(lambda path: _plain(b"".join(WORD_TEXT.findall(read(path)))))
            for element in _REFERENCE.findall(read("word/document.xml")):
                found = _ID.search(element)
                if found and (part := parts.get(found[1].decode())):
                    yield text(part.target), bool(_FIRST.search(element))


def _plain_headers(styles: bytes) -> Iterator[tuple[str, bool]]:
    for markup, is_first in odf_headers(styles):
        yield _plain(_TAG.sub(b"", markup)), is_first


def odf_headers(styles: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the markup of each header and footer of an OpenDocument, and whether it is that of a
    first page.
    """
    is_first, start = False, 0
    for found in _ODF_HEADER.finditer(styles):
        if found["page"]:
            is_first = b'"First' in found["page"]
        elif found["end"]:
            yield styles[start : found.start()], is_first or bool(found["first"])
        start = found.end()


def _plain(markup: bytes) -> str:
    return unescape(markup.decode())


# Slides in the order of their show.

_SHOW, _SHOW_REFERENCES = "ppt/presentation.xml", "ppt/_rels/presentation.xml.rels"
_SLIDE = re.compile(rb"<(?:\w+:)?sldId\s[^>]*:id\s*=\s*[\"']([^\"']+)")
_SLIDE_ID = re.compile(rb"((?::i|\sI)d\s*=\s*[\"'])([^\"']+)")


def slides_of(archive: zipfile.ZipFile) -> tuple[list[str], list[str]]:
    """Return the ids of the slides in the list of a presentation, in its order, and of others,
    which it does not show; none of another document. Raises `KeyError` without a main part.
    """
    every = relationships_of(archive, _SHOW).items()
    slides = {id for id, relationship in every if relationship.kind.endswith("/slide")}
    content = searchable(part_of(archive, _SHOW)) if slides else b""
    listed = dict.fromkeys(id.decode("utf-8", "replace") for id in _SLIDE.findall(content))
    return [id for id in listed if id in slides], sorted(slides - listed.keys())


def ordered_slides(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return the parts that refer to slides, by their paths, with ids in the order of the list of a
    presentation, and slides in no list last: Tika reads slides by ids as strings, in which `rId10`
    is before `rId2`. None if they have that order.
    """
    listed, others = slides_of(archive)
    ids = [*listed, *others]
    if ids == sorted(ids):
        return {}
    renamed = {id.encode(): b"slide%06d" % number for number, id in enumerate(ids)}
    parts = {path: usual_markup(archive.read(path)) for path in (_SHOW, _SHOW_REFERENCES)}
    return {
        path: _SLIDE_ID.sub(lambda found: found[1] + renamed.get(found[2], found[2]), part)
        for path, part in parts.items()
    }


# Boxes of Word.

_ALIGNED_TAB = re.compile(rb"<w:ptab\b[^<>]*/>")
_BOX = re.compile(rb"<w:txbxContent\b[^<>]*(?<!/)>")
_LINE = rb'<w:p><w:r><w:t xml:space="preserve"> </w:t></w:r></w:p>'


def separate_boxes(content: bytes) -> bytes:
    """Return a part of Word with a line before the text of a box, and a tab for one that is aligned
    at a margin: Tika would join the words around them.

    >>> separate_boxes(b'<w:t>a</w:t><w:ptab w:alignment="right"/><w:t>b</w:t>')
    b'<w:t>a</w:t><w:tab/><w:t>b</w:t>'
    """
    if b"<w:ptab" in content:
        content = _ALIGNED_TAB.sub(b"<w:tab/>", content)
    if b"<w:txbxContent" in content:
        content = _BOX.sub(rb"\g<0>" + _LINE, content)
    return content


# OpenDocument: an item has the next number of its list, a heading that of its level.

_LEVELS = 10
_LEVEL_STYLE = re.compile(
    rb"<text:(?:list|outline)-style\s(?P<style>[^<>]*)>"
    rb"|<text:(?:outline-level-style|list-level-style-number)\s(?P<level>[^<>]*)>"
)
_LIST_TAG = re.compile(
    rb"<(?P<end>/)?text:(?P<of>list-item|list|h|p)(?=[\s/>])(?P<attributes>[^<>]*?)(?P<empty>/?)>"
)
_NAMED = re.compile(rb"(?P<name>[\w:-]+)=\"(?P<value>[^\"]*)\"")
_LEVEL_NUMBER = re.compile(rb"%(\d{1,2})%")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_OUTLINE = b"Outline"

_Attributes: TypeAlias = Mapping[bytes, bytes]


class _Numbers:
    """The numbers of lists by their styles, as far as a document was read."""

    def __init__(self, styles: bytes) -> None:
        self._levels: dict[bytes, dict[int, _Attributes]] = {}
        self._counts: dict[bytes, list[int]] = {}
        levels: dict[int, _Attributes] = {}
        for found in _LEVEL_STYLE.finditer(styles):
            if found["style"]:
                levels = {}
                self._levels[_attributes(found["style"]).get(b"style:name", _OUTLINE)] = levels
            elif found["level"]:
                level = _attributes(found["level"])
                levels[_number(level.get(b"text:level", b""))] = level

    def begin(self, style: bytes) -> None:
        """Begin a list anew."""
        self._counts.pop(style, None)

    def next(self, style: bytes, level: int, start: bytes = b"") -> bytes:
        """Return the number of the next item of a list, with a blank; empty for one without."""
        levels = self._levels.get(style, {})
        if not 0 < level <= _LEVELS or level not in levels:
            return b""
        counts = self._counts.setdefault(style, [0] * (_LEVELS + 1))
        for each in range(1, level + 1):
            first = _number(levels.get(each, {}).get(b"text:start-value", b"1"))
            if start and each == level:
                counts[each] = _number(start)
            elif not counts[each]:
                counts[each] = first
            elif each == level:
                counts[each] += 1
        counts[level + 1 :] = [0] * (_LEVELS - level)
        return self._written(levels, level, counts)

    def _written(
        self, levels: Mapping[int, _Attributes], level: int, counts: Sequence[int]
    ) -> bytes:
        own = levels[level]
        if not own.get(b"style:num-format"):
            return b""
        forms = [
            _in_format(counts[each], levels.get(each, {}).get(b"style:num-format", b""))
            for each in range(level + 1)
        ]
        if pattern := own.get(b"loext:num-list-format"):
            known = dict(enumerate(forms))
            return _LEVEL_NUMBER.sub(lambda at: known.get(int(at[1]), b""), pattern) + b" "
        depth = _number(own.get(b"text:display-levels", b"1"))
        joined = b".".join(filter(None, forms[max(1, level + 1 - depth) :]))
        prefix, suffix = own.get(b"style:num-prefix", b""), own.get(b"style:num-suffix", b"")
        return b"%s%s%s " % (prefix, joined, suffix)


def _attributes(tag: bytes) -> _Attributes:
    return {found["name"]: found["value"] for found in _NAMED.finditer(tag)}


def _number(digits: bytes) -> int:
    return int(digits[:6]) if digits.isdigit() else 0


def _in_format(number: int, kind: bytes) -> bytes:
    """Return a number as lists have it.

    >>> [_in_format(number, kind) for number, kind in ((4, b"i"), (28, b"A"), (3, b"1"), (1, b""))]
    [b'iv', b'BB', b'3', b'']
    """
    if not kind or kind not in b"aAiI":
        return b"%d" % number if kind else b""
    written = ""
    if kind in b"aA":
        written = chr(97 + (number - 1) % 26) * min(1 + (number - 1) // 26, 99) if number else ""
    else:
        left = min(number, 9999)
        for value, roman in _ROMAN:
            written += left // value * roman
            left %= value
    return (written if kind in b"ai" else written.upper()).encode()


def numbered_lists(content: bytes, styles: bytes) -> bytes:
    """Return an OpenDocument with the numbers of its lists and headings before their text, and a
    line feed after headings, which Tika would join to the text after them.

    >>> level = b'<text:outline-level-style text:level="1" style:num-format="I"/>'
    >>> styles = b'<text:outline-style style:name="Outline">' + level
    >>> numbered_lists(b'<text:h text:outline-level="1">a</text:h>', styles)
    b'<text:h text:outline-level="1">I a\\n</text:h>'
    """
    numbers = _Numbers(styles)
    lists: list[bytes] = []
    waiting: list[bytes] = []  # the number of an item, before its first paragraph

    def written(tag: re.Match[bytes]) -> bytes:
        of, attributes = tag["of"], _attributes(tag["attributes"])
        if tag["end"]:
            if of == b"list" and lists:
                lists.pop()
            elif of == b"list-item":
                waiting.clear()
            return b"\n</text:h>" if of == b"h" else tag[0]
        if tag["empty"]:
            if of in (b"h", b"p"):
                waiting.clear()
            return tag[0]
        if of == b"list":
            outer = lists[-1] if lists else b""
            lists.append(attributes.get(b"text:style-name", outer))
            is_new = not {b"text:continue-numbering", b"text:continue-list"} & attributes.keys()
            if is_new and not outer:
                numbers.begin(lists[-1])
        elif of == b"list-item" and lists:
            start = attributes.get(b"text:start-value", b"")
            waiting[:] = [numbers.next(lists[-1], len(lists), start)]
        elif of == b"h" and not lists and b"text:is-list-header" not in attributes:
            level = _number(attributes.get(b"text:outline-level", b""))
            return tag[0] + numbers.next(_OUTLINE, level, attributes.get(b"text:start-value", b""))
        elif waiting:
            return tag[0] + waiting.pop()
        return tag[0]

    return _LIST_TAG.sub(written, content)


# Word: a style numbers its paragraphs, by a level of a list that may name the style.

_NUMBERING = re.compile(
    rb"<w:(?P<of>abstractNum|lvl|num|numFmt|pStyle|abstractNumId)\s[^<>]*?"
    rb"w:(?:abstractNumId|ilvl|numId|val)=\"(?P<value>[^\"]*)\""
)
_NUMBERED_STYLE = re.compile(rb"<w:(ilvl|numId) w:val=\"(\d{1,9})\"")
_PARAGRAPH_STYLE = re.compile(rb"<w:pStyle w:val=\"([^\"]*)\"\s*/>")
_MAX_PROPERTIES = 4_000  # bytes of the properties of a paragraph
_NO_NUMBERS = (b"bullet", b"none", b"")


def numbered_paragraphs(content: bytes, styles: bytes, numbering: bytes) -> bytes:
    """Return the document of a Word file in which paragraphs name the list whose number their style
    gives them, as those that are numbered without a style do.
    """
    numbered = _numbered_styles(styles, numbering)
    if not numbered:
        return content

    def written(style: re.Match[bytes]) -> bytes:
        end = content.find(b"</w:pPr>", style.end(), style.end() + _MAX_PROPERTIES)
        has_own = end < 0 or content.find(b"<w:numPr", style.end(), end) >= 0
        return style[0] if has_own else style[0] + numbered.get(style[1], b"")

    return _PARAGRAPH_STYLE.sub(written, content)


def _numbered_styles(styles: bytes, numbering: bytes) -> dict[bytes, bytes]:
    """Return the properties of the lists that styles name, by the styles."""
    if not numbering:
        return {}
    lists: dict[bytes, bytes] = {}
    formats: dict[tuple[bytes, bytes], bytes] = {}
    levels: dict[tuple[bytes, bytes], bytes] = {}
    last = dict.fromkeys((b"abstractNum", b"lvl", b"num"), b"")
    for found in _NUMBERING.finditer(numbering):
        of, value = found["of"], found["value"]
        if of in last:
            last[of] = value
        elif of == b"abstractNumId":
            lists[last[b"num"]] = value
        elif of == b"numFmt":
            formats[last[b"abstractNum"], last[b"lvl"]] = value
        else:
            levels[last[b"abstractNum"], value] = last[b"lvl"]
    written = word_styles(styles)
    numbered: dict[bytes, bytes] = {}
    for name in written:
        properties: dict[bytes, bytes] = {}
        for style in bases_of(name, written):
            properties = {**dict(_NUMBERED_STYLE.findall(written[style])), **properties}
        if b"numId" not in properties:
            continue
        list_of = lists.get(properties[b"numId"], b"")
        level = levels.get((list_of, name), properties.get(b"ilvl", b"0"))
        if formats.get((list_of, level), b"") not in _NO_NUMBERS:
            numbered[name] = b'<w:numPr><w:ilvl w:val="%s"/><w:numId w:val="%s"/></w:numPr>' % (
                level,
                properties[b"numId"],
            )
    return numbered


_LEVEL, _START = re.compile(rb"w:ilvl=\"(\d)\""), re.compile(rb"<w:start w:val=\"[^\"]*\"\s*/>")
_OWN_START = re.compile(rb"<w:startOverride w:val=\"(\d{1,9})\"")
_ABSTRACT = re.compile(rb"w:abstractNumId(?: w:val)?=\"([^\"]*)\"")
_FIRST_ADDED = 1_000_000  # the number of a list
_MAX_ADDED = 4 << 20  # bytes of lists that are added


def whole_numbering(numbering: bytes) -> bytes:
    """Return the lists of a Word file without levels that change another list, as lists of
    their own: Tika fails on these, or takes other starts for none. Lists that would become more
    than 4 MB longer are returned unchanged.
    """
    if b"<w:lvlOverride" not in numbering:
        return numbering
    levels: dict[bytes, dict[int, bytes]] = {}
    for written in numbering.split(b"<w:abstractNum ")[1:]:
        if found := _ABSTRACT.search(written):
            levels[found[1]] = _levels(written)
    added: list[bytes] = []
    whole: list[bytes] = []
    size = 0
    *lists, rest = numbering.split(b"</w:num>")
    for written in lists:
        before = len(added)
        whole.append(_with_own_levels(written, levels, added))
        size += sum(map(len, added[before:]))
        if size > _MAX_ADDED:
            return numbering
    joined = b"</w:num>".join([*whole, rest])
    return joined.replace(b"<w:num ", b"".join(added) + b"<w:num ", 1)


def _with_own_levels(
    written: bytes, levels: Mapping[bytes, Mapping[int, bytes]], added: list[bytes]
) -> bytes:
    """Return what ends in a list, which names one that is added if it changes some levels."""
    before, tag, changed = written.rpartition(b"<w:num ")
    kept, *overrides = changed.split(b"<w:lvlOverride ")
    base = _ABSTRACT.search(kept)
    if not (tag and 0 < len(overrides) <= _LEVELS and base):
        return written
    own = dict(levels.get(base[1], {}))
    for override in overrides:
        own.update(_levels(override))
        level, start = _LEVEL.search(override), _OWN_START.search(override)
        if level and start and int(level[1]) in own:
            begin = b'<w:start w:val="%s"/>' % start[1]
            own[int(level[1])] = _START.sub(begin, own[int(level[1])], count=1)
    number = b'w:abstractNumId="%d"' % (_FIRST_ADDED + len(added))
    joined = b"".join(own[each] for each in sorted(own))
    added.append(b"<w:abstractNum %s>%s</w:abstractNum>" % (number, joined))
    return before + tag + kept.replace(base[0], number.replace(b"=", b" w:val="), 1)


def _levels(written: bytes) -> dict[int, bytes]:
    """Return the levels in a list by their numbers."""
    found: dict[int, bytes] = {}
    for level in written.split(b"<w:lvl ")[1:]:
        own, end, _ = level.partition(b"</w:lvl>")
        if end and (number := _LEVEL.search(own)):
            found[int(number[1])] = b"<w:lvl " + own + end
    return found


# Structure of texts.

_JSON_ESCAPE, _JSON_STRING = re.compile(r"\\.", re.DOTALL), re.compile(r"\"[^\"]*\"?")
_NO_JSON_MARK = re.compile(r"[^{}\[\],:\"]+")
STRUCTURED = frozenset((".csv", ".tsv", ".json", ".ipynb", ".geojson"))  # endings of file names


def text_structure(text: str, suffix: str) -> Iterator[EmbeddedFile]:
    """Yield the columns of CSV, and how values of JSON are nested, by the end of a file's name.

    >>> [len({file.sha256 for text in texts for file in text_structure(text, ".json")})
    ...     for texts in (('{"a": [1, 2]}', '{"a":[1,2]}'), ('["a, b"]', '["a", "b"]'))]
    [1, 2]
    """
    if suffix in (".csv", ".tsv"):
        yield from columns(csv_rows(text), is_csv=True)
    elif suffix in STRUCTURED:
        nested = _NO_JSON_MARK.sub("", _JSON_STRING.sub('"', _JSON_ESCAPE.sub("", text)))
        yield EmbeddedFile("columns", "elements of JSON", sha256(nested.encode()))
