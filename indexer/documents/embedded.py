"""The files in a document besides its text, and what else of it nothing reads: their bytes are
counted in the digest of the document.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from indexer.documents.base import (
    HTML_NAMES,
    IN_MARKUP,
    XML_NAMES,
    columns,
    embedded_kind,
    is_mail_text,
    markup_files,
    recoded_markup,
    searchable,
    sha256,
)
from indexer.documents.binary_office import WORD_STREAMS, slide_files, word_files, workbook_files
from indexer.documents.embedded_parts import (
    UNREADABLE,
    ZIP,
    Package,
    flat_files,
    is_readable,
    member_digest,
    unread_xml,
)
from indexer.documents.lists import slides_of, text_structure, usual_markup
from indexer.documents.mail.outlook import MAGIC, TNEF, compound_streams
from indexer.documents.pages import page_files
from indexer.documents.pdf_files import pdf_files
from indexer.documents.rich_text import RTF, rich_text_files
from indexer.model import EmbeddedFile, EmbeddedKind, pack_embedded

OUTLOOK = {MAGIC: "application/vnd.ms-outlook", TNEF: "application/vnd.ms-tnef"}
_MAILS = ("message/rfc822", *OUTLOOK.values())
_MANIFESTS = ("[Content_Types].xml", "mimetype")  # of which a document in a zip has one
_UNREAD_TEXT = (b"%!PS", b"-----BEGIN ")
_EXTERNAL_BODY = re.compile(  # of a part of a mail that is elsewhere
    rb"^content-type:\s*message/external-body((?:[^\r\n]|\r?\n[ \t])*)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_DEPTH = 4  # of archives in archives
_PAGES = ("text/html", "application/xhtml+xml")
_TYPES = {  # of members of archives, by the ends of their names
    **dict.fromkeys(HTML_NAMES, _PAGES[0]),
    **dict.fromkeys(XML_NAMES, "application/xml"),
    ".eml": _MAILS[0],
    ".msg": OUTLOOK[MAGIC],
}
_ROOT = re.compile(rb"\s*(?:<[?!][^>]*>\s*)*<([\w.-]+:)?(?!html\b|svg\b)\w", re.IGNORECASE)
_NAME = re.compile(rb"(/?)(?:[^\s:/<>!?]+:)?([^\s:/<>!?]+)")
_ATTRIBUTE = re.compile(rb"\s(?!xmlns|xsi:)([\w:.-]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_OFFICE_XML = (b"<pkg:package", b"wordDocument", b'progid="')
_WITH_ROWS = ("officedocument", "opendocument", "rtf", "msword", "ms-excel", "ms-powerpoint")
_NEXT_CELL = re.compile(r"(?<=\n)(\t[^\n]*)\n(?=\t)")  # in a line of its own
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
_PRESENTATION = "PowerPoint Document"
_OLE_STREAMS = (
    "Data", "Pictures", "ObjectPool", "Macros", "_VBA_PROJECT_CUR", "MBD", "LNK", *_WORKBOOKS,
    *WORD_STREAMS, _PRESENTATION,
)  # fmt: skip


_Finder: TypeAlias = Callable[[bytes], Iterator[EmbeddedFile]]


def embedded_files(
    data: bytes, content_type: str, text_pages: int | None = None, text: str = ""
) -> str:
    """Return what a document holds besides its text, as rows keep it; empty for nothing.

    `content_type` is that of the document; `text_pages` is passed to `pdf_files`; `text` has its
    rows of tables. Of a document that cannot be read to its end, the bytes count as well.
    """
    data = recoded_markup(data).removeprefix(BOM_UTF8)
    kind = content_type.partition(";")[0].strip().lower()
    find = _finder(data, kind)
    if find is pdf_files:
        find = partial(pdf_files, text_pages=text_pages)
    has_rows = any(name in kind for name in _WITH_ROWS)
    rows = _rows(text, kind == "application/msword", "sheet" in kind or "ms-excel" in kind)
    files = list(columns(rows)) if has_rows else []
    try:
        files.extend(find(data) if find else ())
    except UNREADABLE:
        files.extend(_of_bytes(data))
    return pack_embedded(files)


def _finder(data: bytes, kind: str) -> _Finder | None:
    if kind in _MAILS:
        return mail_files
    if data.startswith(ZIP):
        return _of_zip
    if b"%PDF-" in data[:1024]:
        return pdf_files
    if data.startswith(RTF):
        return rich_text_files
    if data.startswith(MAGIC):
        return _of_compound_file
    if data[257:262] == b"ustar" or kind in ("application/x-tar", "application/x-gtar"):
        return _of_tar
    if kind in _PACKED or _MEDIA.match(kind):
        return _of_bytes
    if kind in _PAGES:
        return page_files
    is_xml = kind.endswith("xml") or data.lstrip()[:5] == b"<?xml"
    if is_xml and kind != "image/svg+xml" and _ROOT.match(data):
        return _of_xml
    if any(mark in data for mark in IN_MARKUP):
        return _of_markup
    return None


def _rows(text: str, has_lines: bool = False, is_sheet: bool = False) -> Iterator[list[str]]:
    """Yield the rows of tables, which are lines with a tab before each cell, as Tika writes them;
    `has_lines`: each cell is a line of its own, up to one without a tab. Outside sheets, a line
    alone whose text follows several tabs is an indented paragraph, and no row.

    >>> list(_rows("Ledger\\n\\trent\\t\\t900\\nAgreed:\\tA. Smith"))
    [['rent', '', '900']]
    >>> list(_rows("Ledger\\n\\trent\\n\\t\\n\\t900\\n\\n\\tfee\\n", has_lines=True))
    [['rent', '', '900'], ['fee']]
    >>> list(_rows("Agreed.\\n\\t\\tJohn Smith")), list(_rows("\\t\\t900", is_sheet=True))
    ([], [['', '900']])
    """
    if has_lines:
        text = _NEXT_CELL.sub(r"\1", text)
    lines = text.split("\n") if "\t" in text else []
    are_rows = [False, *(line.startswith("\t") for line in lines), False]
    for number, line in enumerate(lines):
        if are_rows[number + 1]:
            row = line[1:].split("\t")
            is_alone = not (is_sheet or are_rows[number] or are_rows[number + 2])
            is_indented = not row[0].strip() and len(list(filter(str.strip, row))) == 1
            if not (is_alone and is_indented):
                yield row


def mail_files(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the files in a mail. Raises `ValueError` for what the `email` package fails on."""
    from indexer.documents.mail.message import contents_of_mail

    attachments, pages, displayed = contents_of_mail(data)
    yield from attachments
    for parameters in _EXTERNAL_BODY.findall(data):
        yield EmbeddedFile("unread", "external body", sha256(b"".join(parameters.split())))
    yield from page_files(pages, lambda source: displayed.get(source, ""))


def _of_zip(data: bytes, depth: int = 0) -> Iterator[EmbeddedFile]:
    """Yield what is not read of an Office document or an EPUB; of an archive, and of the documents
    in it, what is no text.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if any(member.filename in _MANIFESTS for member in members):
            yield from Package(archive).files()
            if others := slides_of(archive)[1]:
                digest = sha256(b"%d" % len(others))
                yield EmbeddedFile("object", "slides out of the show", digest)
            return
        for member in members:
            name = member.filename.rpartition("/")[2]
            kind = embedded_kind(name, "attachment")
            if kind not in ("picture", "media") and is_readable(member):
                yield from _of_member(archive.read(member), name, depth + 1)
            else:
                yield EmbeddedFile(kind, name, member_digest(archive, member), name)
        if archive.comment:
            yield EmbeddedFile("unread", "comment", sha256(archive.comment))


def _of_tar(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield what is no text in an archive, and in the documents that it holds."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            if file := archive.extractfile(member):
                yield from _of_member(file.read(), member.name.rpartition("/")[2], 1)


def _of_member(content: bytes, name: str, depth: int) -> Iterator[EmbeddedFile]:
    """Yield the files in a document of an archive, and the columns of CSV; of a file that is
    neither a document nor text, and of a document in too many archives, the bytes count.
    """
    content = recoded_markup(content).removeprefix(BOM_UTF8)
    kind = embedded_kind(name, "attachment")
    suffix = name[name.rfind(".") :].lower()
    find = _finder(content, _MAILS[0] if is_mail_text(content) else _TYPES.get(suffix, ""))
    if find is None:
        is_text = is_utf8(content) and not content.startswith(_UNREAD_TEXT)
        if b"\0" in content or kind != "attachment" or not is_text:
            yield EmbeddedFile(kind, name, sha256(content), name)
        else:
            yield from text_structure(content.decode(), suffix)
        return
    try:
        if depth >= _MAX_DEPTH and find is _of_zip:
            raise ValueError
        yield from list(_of_zip(content, depth) if find is _of_zip else find(content))
    except UNREADABLE:
        yield EmbeddedFile("unread", name, sha256(content))


def _of_bytes(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield a picture, sound, or an archive that only Tika opens: nobody knows what is not read."""
    yield EmbeddedFile("unread", "file", sha256(data))


def _of_compound_file(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the streams of Word, Excel and PowerPoint before 2007 that hold pictures, objects or
    macros, and what they do not display, or mark; of Excel pictures and formulas, too.
    """
    of_word: dict[str, bytes] = {}
    for name, content in compound_streams(data, _OLE_STREAMS):
        if name in _WORKBOOKS:
            yield from workbook_files(content)
        elif name in WORD_STREAMS:
            of_word[name] = content
        elif name == _PRESENTATION:
            yield from slide_files(content)
        else:
            kind: EmbeddedKind = "object" if "/" in name else "picture"
            yield EmbeddedFile(kind, name, sha256(content))
    if of_word:
        yield from word_files(of_word)


def _of_markup(data: bytes) -> Iterator[EmbeddedFile]:
    yield from markup_files(searchable(data))


def _of_xml(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the values of attributes, and as columns the names of elements, where they end and in
    which there is text; of office documents in one file what is not read of them.
    """
    data = searchable(usual_markup(data))
    yield from markup_files(data)
    if b"<office:document" in data:
        yield from flat_files(data)
        return
    if any(mark in data for mark in _OFFICE_XML):
        yield from unread_xml(data, "file")
        return
    names: list[bytes] = []
    values: list[bytes] = []
    for piece in _without_comments(data).split(b"<")[1:]:
        tag, _, text = piece.partition(b">")
        if element := _NAME.match(tag):
            end, name = element.groups()
            names += [end + name, b"/" + name] if tag.endswith(b"/") else [end + name]
            found = _ATTRIBUTE.findall(tag) if b"=" in tag else ()
            values += [b"%s %s=%s" % (name, key, value[1:-1]) for key, value in found]
        if names and names[-1] != b"." and text.strip():
            names.append(b".")
    if values:
        yield EmbeddedFile("unread", "attributes", sha256(b"\n".join(values)))
    yield EmbeddedFile("columns", "elements of XML", sha256(b" ".join(names)))


def _without_comments(data: bytes) -> bytes:
    """Return XML without comments, and with the characters of its sections as text.

    >>> _without_comments(b"a<!--<b>--><![CDATA[<c>]]>d<!--e")
    b'a&lt;c>d<!--e'
    """
    pieces = _divided(data, b"<![CDATA[", b"]]>")
    data = b"".join(section.replace(b"<", b"&lt;") + text for section, text in pieces)
    return b"".join(text for _, text in _divided(data, b"<!--", b"-->"))


def _divided(data: bytes, start: bytes, end: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what is between a start and an end, and the data after it up to the next start, as they
    are where there is no end.
    """
    first, *others = data.split(start)
    yield b"", first
    for piece in others:
        inside, found, after = piece.partition(end)
        yield (inside, after) if found else (b"", start + piece)


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
