"""The files in a document besides its text, and what else of it nothing reads: their bytes are
counted in the digest of the document.
"""

from __future__ import annotations

import base64
import binascii
import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from indexer.documents.base import embedded_kind, sha256
from indexer.documents.mail.outlook import MAGIC, TNEF, compound_streams
from indexer.documents.pdf import pdf_files
from indexer.model import EmbeddedFile, EmbeddedKind, pack_embedded

OUTLOOK = {MAGIC: "application/vnd.ms-outlook", TNEF: "application/vnd.ms-tnef"}
_MAILS = ("message/rfc822", *OUTLOOK.values())
_MAIL_NAMES = {".eml": "message/rfc822", ".msg": OUTLOOK[MAGIC]}
ZIP = b"PK\x03\x04"
_MAX_MEMBER = 64 << 20  # bytes; of a larger one the checksum stands for the content
# pictures that programs draw of what is in the file anyway
_DRAWN = re.compile(r"(?:^|/)(?:thumbnails?|ObjectReplacements|QuickLook)(?:/|\.)", re.IGNORECASE)
_MANIFESTS = ("[Content_Types].xml", "mimetype")  # of which a document in a zip has one
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
    r"|changesInfos|printerSettings)/|^ppt/comments/comment\d"
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
    r"|numbering)\.xml$|^(?:ppt/(?:slides|ink)|xl/(?:\w+sheets|drawings))/[^/]*\.xml$"
    r"|^(?:word|ppt/slides)/_rels/(?!settings)[^/]*\.rels$|^xl/workbook\.xml$"
    r"|^(?:word|xl|ppt)/charts/chart[^/]*\.xml$"
)
_MARKERS = (  # without one of which a part is not looked into
    b"<a:custGeom", b"<inkml:trace", b"svg:d=", b"draw:points=", b"<v:", b"f>", b"formula", b"<f",
    b"<math", b"<w:sym", b"<w:checkBox", b"<w:ddList", b"<a:prstGeom", b"descr=", b"HYPERLINK",
    b"External", b"w:start", b"start-value", b"strike", b"form:", b"Chart", b"chart:class",
    b"layoutId", b"definedName", b"line-through",
)  # fmt: skip
_UNREAD_XML = (
    (
        "drawing",
        re.compile(
            rb"<a:custGeom\b.*?</a:custGeom>|<inkml:trace\b[^>]*>[^<]*"
            rb"|\b(?:svg:d|draw:points)=\"[^\"]*|<a:prstGeom prst=\"(?!rect\")[^\"]*"
            rb"|<v:(?:shape|polyline|curve)\s[^>]*?\b(?:path|points)=\"[^\"]*",
            re.DOTALL,
        ),
    ),
    (
        "formulas",
        re.compile(
            rb"<(?:x:|xm:)?(?:f|formula[12]?)\b[^>]*>[^<]+|\btable:formula=\"[^\"]*"
            rb"|<definedName\b(?![^>]*\"_xlnm)[^>]*>[^<]+"
        ),
    ),
    ("formulas", re.compile(rb"<(math:)?math\b.*?</(?:math:)?math>", re.DOTALL)),
    ("symbols", re.compile(rb"<w:sym\b[^>]*>|<w:(checkBox|ddList)>.*?</w:\1>", re.DOTALL)),
    ("charts", re.compile(rb"<c:\w+Chart>|<c:f>[^<]*|\b(?:chart:class|layoutId)=\"[^\"]*")),
    ("alternative texts", re.compile(rb"\bdescr=\"[^\"]+")),
    (
        "links",
        re.compile(
            rb"<w:instrText[^>]*>\s*HYPERLINK[^<]*|<Relationship\s(?=[^>]*\"External\")[^>]*?"
            rb"\bTarget=\"(?P<value>[^\"]*)"
        ),
    ),
    (
        "numbers of lists",
        re.compile(
            rb"<w:start(?:Override)? w:val=\"(?![01]\")[^\"]*|\btext:start-value=\"(?!1\")[^\"]*"
        ),
    ),
    (
        "struck text",
        re.compile(
            rb"<w:d?strike(?: w:val=\"(?:1|true|on)\")?/>(?:(?!</w:r>|<w:t[ >]).)*<w:t\b[^>]*>"
            rb"(?P<value>[^<]*)|\bstrike=\"(?:sng|dbl)Strike\".*?<a:t>[^<]*",
            re.DOTALL,
        ),
    ),
    ("values of forms", re.compile(rb"\bform:(?:current-[a-z]+|value|state)=\"[^\"]*")),
)
_STRUCK_STYLE = re.compile(
    rb"<style:style style:name=\"([^\"]+)\"[^>]*>(?:(?!</style:style>).)*?"
    rb"text-line-through-style=\"(?!none)",
    re.DOTALL,
)
_UNREAD_TEXT = (b"%!PS", b"-----BEGIN ")
_MAX_DEPTH = 4  # of archives in archives
_UNREADABLE = (
    ValueError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error,
    zipfile.BadZipFile, tarfile.TarError, KeyError, IndexError,
)  # fmt: skip
_RTF_CODES = re.compile(
    rb"\\strike(?![0d])\d* ?[^\\{}]+|HYPERLINK[^{}]*|\\levelstartat(?![01]\b)\d+"
    rb"|\\ff(?:res|defres)\d+"
)
_RTF_PIECE = re.compile(
    rb"\\(?P<kind>pict|objdata)\b|\\bin(?P<size>\d{1,9}) ?"
    rb"|(?P<digits>[0-9a-fA-F][0-9a-fA-F\s]{31,})|\\sn pVerticies\}\s*\{\\sv (?P<path>[^{}]*)"
)
_DATA_URL = re.compile(rb"data:(\w+)/[\w.+-]+(?:;[\w.=+-]+)*?;base64,([A-Za-z0-9+/=\s]+)", re.I)
_BINARY_DATA = re.compile(
    rb"<(?:office:binary-data|w:binData|pkg:binaryData|binary)\b[^>]*>([A-Za-z0-9+/=\s]+)</"
)
_SVG = re.compile(rb"<svg\b.*?</svg>", re.DOTALL | re.IGNORECASE)
_SVG_SHAPE = re.compile(
    rb"""\s(?:d|points|x|y|width|height|c[xy]|r[xy]?|[xy][12])=["']([^"']*)""", re.IGNORECASE
)
_IN_MARKUP = (b";base64,", b"binary", b":binData", b"<svg")
_PAGES = ("text/html", "application/xhtml+xml")
_INPUT = re.compile(
    rb"<input\b[^>]*>|<ol\b[^>]*\bstart=[^>]*>|<li\b[^>]*\bvalue=[^>]*>"
    rb"|(?P<text><option\b[^>]*\bselected\b[^>]*>[^<]*|<(s|strike|del)\b[^>]*>.*?(?=</\2>))",
    re.IGNORECASE | re.DOTALL,
)
_NO_VALUE = re.compile(rb"type\s*=\s*[\"']?(?:hidden|submit|button|image|reset)\b", re.IGNORECASE)
_CHOICE = re.compile(rb"type\s*=\s*[\"']?(?:checkbox|radio)\b", re.IGNORECASE)
_CHECKED = re.compile(rb"[\s\"']checked\b", re.IGNORECASE)
_VALUE = re.compile(
    rb"\s(?:value|start)\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s>\"']+))", re.IGNORECASE
)
_ROOT = re.compile(rb"\s*(?:<[?!][^>]*>\s*)*<([\w.-]+:)?(?!html\b|svg\b)\w", re.IGNORECASE)
_ELEMENT = re.compile(rb"<[A-Za-z_][^<>]*>")
_ATTRIBUTE = re.compile(rb"\s(?!xmlns|xsi:)([\w:.-]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_OFFICE_XML = (b"<pkg:package", b"<office:document", b"wordDocument", b'progid="')
_PACKED = {
    f"application/{kind}"
    for kind in (
        "x-7z-compressed", "x-rar-compressed", "x-archive", "x-cpio", "x-arj", "x-unix-dump",
        "zlib", "x-lzma", "x-lz4", "x-lz4-framed", "x-brotli", "zstd", "x-snappy-framed",
        "x-compress", "x-bzip2", "x-bzip", "x-xz", "gzip",
    )
}  # fmt: skip
_MEDIA = re.compile(r"(?:audio|video)/|image/(?!svg)")
_WORKBOOKS = ("Workbook", "Book")
_OLE_STREAMS = (
    "Data", "Pictures", "ObjectPool", "Macros", "_VBA_PROJECT_CUR", "MBD", "LNK", *_WORKBOOKS
)  # fmt: skip
_DRAWING_GROUP, _IMAGE, _CONTINUE, _FORMULA = 0xEB, 0x7F, 0x3C, 0x06
_PICTURES = b"\x07\xf0"  # the type of a record of pictures in a group of drawings


_Finder: TypeAlias = Callable[[bytes], Iterator[EmbeddedFile]]


def embedded_files(data: bytes, content_type: str, text_pages: int | None = None) -> str:
    """Return what a document holds besides its text, as rows keep it; empty for nothing.

    `content_type` is that of the document; `text_pages`: as for `pdf_files`. What cannot be read is
    left out.
    """
    kind = content_type.partition(";")[0].strip().lower()
    find = _finder(data, kind)
    if find is pdf_files:
        find = partial(pdf_files, text_pages=text_pages)
    if find is None:
        return ""
    files: list[EmbeddedFile] = []
    with suppress(*_UNREADABLE):
        files.extend(find(data))
    return pack_embedded(files)


def _finder(data: bytes, kind: str) -> _Finder | None:
    if kind in _MAILS:
        return mail_files
    if data.startswith(ZIP):
        return _of_zip
    if b"%PDF-" in data[:1024]:
        return pdf_files
    if data.startswith(b"{\\rtf"):
        return _of_rtf
    if data.startswith(MAGIC):
        return _of_compound_file
    if data[257:262] == b"ustar" or kind in ("application/x-tar", "application/x-gtar"):
        return _of_tar
    if kind in _PACKED or _MEDIA.match(kind):
        return _of_bytes
    if kind in _PAGES:
        return _of_page
    is_xml = kind.endswith("xml") or data.lstrip()[:5] == b"<?xml"
    if is_xml and kind != "image/svg+xml" and _ROOT.match(data):
        return _of_xml
    if any(mark in data for mark in _IN_MARKUP):
        return _of_markup
    return None


def mail_files(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the files in a mail. Raises `ValueError` for what the `email` package fails on."""
    from indexer.documents.mail.message import contents_of_mail

    attachments, pages = contents_of_mail(data)
    yield from attachments
    yield from _of_page(pages)


def _of_zip(data: bytes, depth: int = 0) -> Iterator[EmbeddedFile]:
    """Yield pictures, sound, objects, drawings and formulas in an Office document or an EPUB; of an
    archive, and of the documents in it, what is no text.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        is_document = any(member.filename in _MANIFESTS for member in members)
        packages = [member for member in members if member.filename.endswith(".opf")]
        chapters = b"".join(archive.read(member) for member in packages) if is_document else b""
        for member in members:
            path, name = member.filename, member.filename.rpartition("/")[2]
            kind = embedded_kind(path, "object" if is_document else "attachment")
            is_small = member.file_size <= _MAX_MEMBER
            if is_document and _DRAWN.search(path):
                continue
            if kind in ("picture", "media") or (is_document and not is_small):
                yield EmbeddedFile(kind, name, _member_digest(archive, member))
            elif not is_document:
                if is_small and not member.flag_bits & 1:
                    yield from _of_member(archive.read(member), name, depth + 1)
                else:
                    yield EmbeddedFile("attachment", name, _member_digest(archive, member))
            else:
                yield from _of_part(archive, member, chapters)
        if archive.comment and not is_document:
            yield EmbeddedFile("unread", "comment", sha256(archive.comment))


def _of_part(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, chapters: bytes
) -> Iterator[EmbeddedFile]:
    """Yield what counts of a part of an Office document or an EPUB, of which `chapters` lists the
    chapters.
    """
    path, name = member.filename, member.filename.rpartition("/")[2]
    if _LOOKED_INTO.search(path):
        yield from _unread_xml(archive.read(member), name)
    elif chapters and path.lower().endswith((".xhtml", ".html", ".htm")):
        content = archive.read(member)
        if name.encode() in chapters:
            yield from _of_page(content)
        else:
            yield EmbeddedFile("unread", name, sha256(content))
    elif not _READ_PARTS.search(path):
        content = archive.read(member)
        is_package = content.startswith(ZIP) and path.lower().endswith(_PACKAGES)
        digest = _package_digest(content) if is_package else sha256(content)
        if not (path.startswith("customXml/") and _SERVERS.search(content)):
            yield EmbeddedFile("object", name, digest)


_PACKAGES = (".docx", ".xlsx", ".pptx", ".xlsm", ".docm", ".pptm", ".xlsb")


def _package_digest(data: bytes) -> str:
    """Return a digest of the parts of an Office document, but for its properties, in which programs
    write the time.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if not name.startswith("docProps/")]
            parts = [f"{name} {sha256(archive.read(name))}" for name in sorted(names)]
    except _UNREADABLE:
        return sha256(data)
    return sha256("\n".join(parts).encode(errors="surrogateescape"))


def _unread_xml(content: bytes, name: str) -> Iterator[EmbeddedFile]:
    """Yield what is not read of a part of an Office document: drawings, formulas, links."""
    patterns = _UNREAD_XML if any(marker in content for marker in _MARKERS) else ()
    for kind, pattern in patterns:
        has_value = "value" in pattern.groupindex
        found = [(has_value and match["value"]) or match[0] for match in pattern.finditer(content)]
        if found:
            yield EmbeddedFile("object", f"{kind} in {name}", sha256(b"\n".join(found)))
    if b"text-line-through-style" in content:
        styles = b"|".join(map(re.escape, _STRUCK_STYLE.findall(content)))
        if styles and (
            struck := re.findall(rb"text:style-name=\"(?:%s)\">([^<]*)" % styles, content)
        ):
            yield EmbeddedFile("object", f"struck text in {name}", sha256(b"\n".join(struck)))


def _of_tar(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield what is no text in an archive, and in the documents that it holds."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            if file := archive.extractfile(member):
                yield from _of_member(file.read(), member.name.rpartition("/")[2], 1)


def _of_member(content: bytes, name: str, depth: int) -> Iterator[EmbeddedFile]:
    """Yield the files in a document of an archive; of a file that is neither a document nor text,
    and of a document in too many archives, the bytes count.
    """
    kind = embedded_kind(name, "attachment")
    find = _finder(content, _MAIL_NAMES.get(name[-4:].lower(), ""))
    if find is None:
        is_text = is_utf8(content) and not content.startswith(_UNREAD_TEXT)
        if b"\0" in content or kind != "attachment" or not is_text:
            yield EmbeddedFile(kind, name, sha256(content))
        return
    try:
        if depth >= _MAX_DEPTH and find is _of_zip:
            raise ValueError
        yield from list(_of_zip(content, depth) if find is _of_zip else find(content))
    except _UNREADABLE:
        yield EmbeddedFile("unread", name, sha256(content))


def _member_digest(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    if member.file_size <= _MAX_MEMBER and not member.flag_bits & 1:
        with suppress(OSError, EOFError, zlib.error, zipfile.BadZipFile):
            return sha256(archive.read(member))
    return sha256(f"{member.CRC} {member.file_size}".encode())


def _of_bytes(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield a picture, sound, or an archive that only Tika opens: nobody knows what is not read."""
    yield EmbeddedFile("unread", "file", sha256(data))


def _of_rtf(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield pictures and objects, in hexadecimal digits or binary, paths of shapes, and what is
    not read of fields, lists and struck text.
    """
    if codes := _RTF_CODES.findall(data):
        yield EmbeddedFile("object", "fields, lists, struck text", sha256(b"\n".join(codes)))
    count, position = 0, 0
    kind: EmbeddedKind | None = None
    content = b""
    while found := _RTF_PIECE.search(data, position):
        position = found.end()
        if found["kind"]:
            if content:
                count += 1
                yield EmbeddedFile(kind or "object", f"{kind} {count}", sha256(content))
            kind, content = "picture" if found["kind"] == b"pict" else "object", b""
        elif found["path"]:
            yield EmbeddedFile("object", "drawing", sha256(found["path"]))
        elif found["size"]:
            position += int(found["size"])
            content += data[found.end() : position]
        elif kind:
            digits = b"".join(found["digits"].split())
            content += binascii.unhexlify(digits[: len(digits) // 2 * 2])
    if content:
        yield EmbeddedFile(kind or "object", f"{kind or 'object'} {count + 1}", sha256(content))


def _of_compound_file(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the streams of Word, Excel and PowerPoint before 2007 that hold pictures, objects or
    macros, and the pictures and formulas of Excel.
    """
    for name, content in compound_streams(data, _OLE_STREAMS):
        if name in _WORKBOOKS:
            yield from _of_workbook(content)
        else:
            kind: EmbeddedKind = "object" if "/" in name else "picture"
            yield EmbeddedFile(kind, name, sha256(content))


def _of_workbook(content: bytes) -> Iterator[EmbeddedFile]:
    """Yield the pictures of a workbook, and its formulas, from the records that it is made of."""
    pictures = {_DRAWING_GROUP: bytearray(), _IMAGE: bytearray()}
    formulas = bytearray()
    position, before = 0, 0
    while position + 4 <= len(content):
        kind, size = struct.unpack_from("<HH", content, position)
        record = content[position + 4 : position + 4 + size]
        kind = before if kind == _CONTINUE else kind
        if kind in pictures:
            pictures[kind] += record
        elif kind == _FORMULA:
            formulas += record[:4] + record[20:]  # its cell, and what it computes
        position, before = position + 4 + size, kind
    _, mark, group = pictures[_DRAWING_GROUP].partition(_PICTURES)
    if mark or pictures[_IMAGE]:
        yield EmbeddedFile("picture", "pictures", sha256(group + pictures[_IMAGE]))
    if formulas:
        yield EmbeddedFile("object", "formulas", sha256(formulas))


def _of_xml(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the values of attributes, of office documents in one file what is not read of them."""
    yield from _of_markup(data)
    if any(mark in data for mark in _OFFICE_XML):
        yield from _unread_xml(data, "file")
        return
    elements = _ELEMENT.findall(data)
    values = [match for element in elements for match in _ATTRIBUTE.findall(element)]
    if values:
        content = b"\n".join(name + b"=" + value[1:-1] for name, value in values)
        yield EmbeddedFile("unread", "attributes", sha256(content))


def _of_page(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the files in a page in HTML, values and choices of its forms, the first numbers of
    lists, and text that is struck out.
    """
    yield from _of_markup(data)
    if values := list(filter(None, map(_value, _INPUT.finditer(data)))):
        yield EmbeddedFile("object", "values and struck text", sha256(b"\n".join(values)))


def _value(found: re.Match[bytes]) -> bytes:
    """Return what a reader sees of an element that is not read; empty for nothing."""
    element = found[0]
    if found["text"]:
        return b" ".join(_ELEMENT.sub(b" ", element).split())
    is_checked = _CHECKED.search(element) is not None
    if _NO_VALUE.search(element) or (_CHOICE.search(element) and not is_checked):
        return b""
    value = _VALUE.search(element)
    return b" ".join(filter(None, (b"checked" * is_checked, *(value.groups() if value else ()))))


def _of_markup(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield what a page, or an office document in one file of XML, holds in base64, and the shapes
    of drawings in SVG.
    """
    found = [(match[1].lower(), match[2]) for match in _DATA_URL.finditer(data)]
    found += [(b"image", match[1]) for match in _BINARY_DATA.finditer(data)]
    for count, (main, encoded) in enumerate(found, start=1):
        kind: EmbeddedKind = embedded_kind(f"{main.decode()}/", "object")
        with suppress(binascii.Error):
            content = base64.b64decode(b"".join(encoded.split()))
            yield EmbeddedFile(kind, f"{kind} {count}", sha256(content))
    for count, match in enumerate(_SVG.finditer(data), start=1):
        if shapes := _SVG_SHAPE.findall(match[0]):
            content = b"\n".join(b" ".join(shape.split()) for shape in shapes)
            yield EmbeddedFile("picture", f"drawing {count}", sha256(content))


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
