"""Input for Tika, and documents from its results."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage, Message
from itertools import filterfalse
from pathlib import PurePosixPath

from indexer.documents.base import (
    CUT,
    HTML_NAMES,
    OCR,
    XML_NAMES,
    is_mail,
    recoded_markup,
)
from indexer.documents.binary_office import displayed_codes, without_codes, word_headers
from indexer.documents.embedded import OUTLOOK, embedded_files, is_utf8
from indexer.documents.embedded_parts import DRAWN, UNREADABLE, ZIP, is_encrypted
from indexer.documents.lists import (
    numbered_lists,
    numbered_paragraphs,
    odf_headers,
    ordered_slides,
    page_headers,
    part_of,
    separate_boxes,
    usual_markup,
    whole_numbering,
)
from indexer.documents.mail.headers import mark_type, thread_fields
from indexer.documents.mail.outlook import (
    CUT_TNEF,
    MAGIC,
    TNEF,
    declared_text,
    is_cut_tnef,
    multipart,
    outlook_mail,
    tnef_message,
)
from indexer.documents.marked_text import (
    mark_headers,
    without_deletions,
)
from indexer.documents.pdf_files import EARLIER_VERSION
from indexer.documents.pdf_text import pages_read, pdf_text
from indexer.documents.rich_text import RTF, readable_rich_text, rich_text_headers
from indexer.documents.unseen import (
    displayed_headers,
    displayed_sheets,
    rows_of_odf,
    with_repeated_cells,
)
from indexer.errors import ExtractionError
from indexer.model import Document

# Mail: mark its character sets for Tika.

_DECLARED = re.compile(rb"charset\s*=\s*[\"']?(?!us-ascii)\w", re.IGNORECASE)
_HTML_PART = re.compile(rb"^Content-Type:\s*text/html", re.IGNORECASE | re.MULTILINE)
_MAX_BYTES = 32 << 20
_MAX_VALUE = 1000


def mark_charset(data: bytes) -> bytes:
    """Return the message with each text part that declares its character set in UTF-8 and with a
    byte order mark, and with separate blocks in each part in HTML: Tika guesses character sets by
    the bytes alone.

    Other bytes, a message that cannot be parsed, and one of more than 32 MB are returned unchanged.
    """
    if len(data) > _MAX_BYTES or not (_DECLARED.search(data) or _HTML_PART.search(data)):
        return data
    from indexer.documents.mail.message import rearranged

    def mark(message: Message) -> bool:
        changed = [_mark(part) for part in message.walk() if _is_text_part(part)]
        return any(changed)

    return rearranged(data, mark)


def _is_text_part(part: Message | EmailMessage) -> bool:
    return not part.is_multipart() and part.get_content_maintype() == "text"


def _mark(part: Message | EmailMessage) -> bool:
    """Put a part that declares its character set, beyond ASCII, in UTF-8 behind a mark, and
    separate the blocks of one in HTML; return False where neither changes it.
    """
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or b"\0" in payload:
        return False
    marked = _marked(payload, part.get_content_charset() or "")
    if part.get_content_subtype() == "html":
        marked = _separate_blocks(marked)
    if marked == payload:
        return False
    del part["Content-Transfer-Encoding"]
    part["Content-Transfer-Encoding"] = "8bit"
    if marked.startswith(codecs.BOM_UTF8):
        part.set_param("charset", "utf-8")
    part.set_payload(marked.decode("ascii", "surrogateescape"))
    return True


def _marked(payload: bytes, charset: str) -> bytes:
    """Return text in UTF-8 behind a mark; bytes of ASCII, and those that are not in the declared
    character set, as they are.

    What is valid UTF-8 is read as such where a set of one byte a character is declared: many
    programs name the wrong one.
    """
    text = declared_text(payload, charset)
    if text is None or payload.startswith(_MARKS) or text.encode() == payload:
        return _mark_utf8(payload) if charset.replace("-", "") == "utf8" else payload
    if len(text) == len(payload) and is_utf8(payload):
        return _mark_utf8(payload)
    return codecs.BOM_UTF8 + text.encode("utf-8", "surrogatepass")


# Input and results, the same for the library and the server.

_HTML_START = re.compile(
    rb"\s*(?:<!--[^>]{0,1000}-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE
)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_XML_START = re.compile(rb"\s*<\?xml\b")
# elements that begin a line of their own, of which Tika joins the text to the text before or after
_BLOCKS = re.compile(
    rb"<(?<!\s<)(?=/?(?:address|article|aside|blockquote|button|center|details|dialog|dir|div|dl"
    rb"|fieldset|figcaption|figure|footer|form|h[1-6]|header|hgroup|hr|label|legend|main|menu|nav"
    rb"|noscript|ol|optgroup|option|output|p|pre|section|select|summary|table|template|textarea"
    rb"|ul)[\s/>])",
    re.IGNORECASE,
)
_BEGINS = re.compile(rb"<(?:body\b|!)|" + _BLOCKS.pattern, re.IGNORECASE)
_PAGE = re.compile(rb"<html\b", re.IGNORECASE)
_BEGINNING = 2_000  # bytes in which a page names its root
_DOCTYPE, _DECLARATION = b"<!DOCTYPE html>\n", b'<?xml version="1.0"?>\n'
_METADATA_NAMES = {
    "dc:creator": "author",
    "dc:subject": "subject",
    "dc:description": "description",
    "dc:publisher": "publisher",
    "dc:language": "language",
    "meta:keyword": "keywords",
    "dcterms:created": "created",
    "dcterms:modified": "modified",
    "xmpTPg:NPages": "pages",
    "Message-From": "from",
    "Message-To": "to",
    "Message-Cc": "cc",
}
READER = 18  # version of what is made of Tika's results: raise it when texts or files change
_MAX_TITLE, _MAX_WARNING, _MAX_PROGRAM = 500, 300, 100
_MAY_HAVE_TNEF = re.compile(  # its first bytes in base64 are the last of these
    rb"ms-tnef|winmail\.dat|^Content-Type:\s*text/calendar|^eJ8\+I", re.IGNORECASE | re.MULTILINE
)
_ALTERNATIVES = re.compile(
    rb"^Content-Type:\s*(?:text/calendar|multipart/alternative)", re.IGNORECASE | re.MULTILINE
)
_MESSAGE_STREAM = "__properties_version1.0".encode("utf-16-le")
_UNSAFE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_FAULT = re.compile(r"x-tika:(?:exception|warn)", re.IGNORECASE)
_HARMLESS = frozenset({"X-TIKA:WARN:truncated_metadata"})
_NO_BYTES = "ZeroByteFileException"  # of an attachment of no bytes, of which nothing is missing
_NO_ENVELOPE = "Unable to parse pkcs7"
_ENVELOPE, _SIGNATURE = "pkcs7", "detached pkcs7 signature"  # the text of what is signed is read
_ARMOUR = "-----BEGIN PGP MESSAGE-----"  # of what is encrypted inside the text of a mail
_PGP = re.compile(rb"^Content-Type:\s*multipart/encrypted\b", re.IGNORECASE | re.MULTILINE)
_PARSER = re.compile(r"(?:[\w$]+\.)+(\w+)@[0-9a-f]+")


def with_hint(data: bytes, name: str) -> bytes:
    """Return the bytes with marks for Tika, which detects formats and encodings by the first bytes
    alone.

    HTML that is valid UTF-8 gets a byte order mark, whatever it declares; markup in UTF-16, and
    text parts of mail that declare a character set, are put into UTF-8 with a mark; a blank
    separates the text of an element such as `<nav>` from the text around it. An `.eml` gets a first
    field that shows it to be a mail. Where only the name shows the format, HTML gets a document
    type, XML a declaration. Tracked changes in OpenDocument and RTF are accepted, as Tika has them
    in other formats, headers of an OpenDocument in one file, footnotes of RTF, and numbers of lists
    are text, headers of sheets have no codes of fonts, and chapters of an EPUB are separated.
    """
    data = recoded_markup(data)
    if data.startswith((ZIP, RTF)) or _FLAT in data:
        data = _with_readable_members(data) if data.startswith(ZIP) else _readable_file(data)
    if data.startswith((MAGIC, TNEF)):
        return _as_mail(data)
    suffix = PurePosixPath(name).suffix.lower()
    if data.startswith(_MARKS) or _XML_START.match(data):
        return _separate_blocks(data) if _PAGE.search(data, 0, _BEGINNING) else data
    if _HTML_START.match(data):
        return _mark_utf8(_separate_blocks(data))
    if is_mail(data, name):
        return _readable_mail(mark_type(data, name))
    if suffix in HTML_NAMES:
        return _mark_utf8(_DOCTYPE + _separate_blocks(data))
    if suffix in XML_NAMES and data.lstrip()[:1] == b"<" and is_utf8(data):
        return _DECLARATION + data
    return data


def _separate_blocks(page: bytes) -> bytes:
    """Return a page in HTML with a line feed before each tag of an element that begins a line and
    follows text; one in an encoding of seven bits, where `<` may be half a character, as it is.

    >>> _separate_blocks(b"<nav><a>Contact</a></nav>This <b>is</b> it.")
    b'<nav><a>Contact</a>\\n</nav>This <b>is</b> it.'
    """
    if b"\x1b" in page or b"~{" in page:
        return page
    return _BLOCKS.sub(_separated, page)


def _separated(found: re.Match[bytes]) -> bytes:
    """Return `<`, after a line feed if text or the end of an element is before it, whatever
    elements begin between.
    """
    page, position = found.string, found.start()
    while page[position - 1 : position] == b">":
        tag = page.rfind(b"<", 0, position)
        if page[tag + 1 : tag + 2] == b"/":
            return b"\n<"
        if tag < 0 or _BEGINS.match(page, tag):
            return b"<"
        position = tag
    is_after_text = position > 0 and not page[position - 1 : position].isspace()
    return b"\n<" if is_after_text else b"<"


def _as_mail(data: bytes) -> bytes:
    """Return a message of Outlook, as `.msg` or as TNEF, as a mail, of which Tika makes the same
    text as of an `.eml`; other compound files, and what cannot be read, as they are.
    """
    if data.startswith(MAGIC) and _MESSAGE_STREAM not in data:
        return data
    try:
        mail = outlook_mail(data) if data.startswith(MAGIC) else tnef_message(data).as_bytes()
    except ValueError:
        return data
    return _readable_mail(mark_type(mail, ".eml"))


def _readable_mail(data: bytes) -> bytes:
    """Return a mail whose parts Tika reads: it knows no TNEF with a body in HTML, and of
    alternatives it reads the last.
    """
    from indexer.documents.mail.message import rearranged, with_tnef

    if _MAY_HAVE_TNEF.search(data):
        data = with_tnef(data)
    if _ALTERNATIVES.search(data):
        data = rearranged(data, _divide_alternatives)
    return mark_charset(data)


def _divide_alternatives(message: Message) -> bool:
    """Leave a plain text and an HTML as the only alternatives: a calendar entry, another HTML, and
    without HTML all but the last plain text become parts after them. Return False for a mail
    without such parts.
    """
    changed = [_divide(part) for part in message.walk()]
    return any(changed)


def _divide(part: Message) -> bool:
    """Divide the alternatives of a part; return False where there are none to divide."""
    from indexer.documents.mail.message import children

    if part.get_content_type() != "multipart/alternative":
        return False
    alternatives = list(children(part))
    pages = [child for child in alternatives if _has_page(child)]
    plain = [child for child in alternatives if child.get_content_type() == "text/plain"]
    unread = pages[:-1] if pages else [child for child in alternatives if child not in plain[-1:]]
    others = [
        child
        for child in alternatives
        if child in unread or child.get_content_type() == "text/calendar"
    ]
    if not others:
        return False
    texts = [child for child in alternatives if child not in others]
    part.set_type("multipart/mixed")
    together = [multipart("alternative", texts)] if len(texts) > 1 else texts
    payload: list[Message | str] = [*together, *others]
    part.set_payload(payload)
    return True


def _has_page(part: Message) -> bool:
    return any(inner.get_content_type() == "text/html" for inner in part.walk())


# a picture of an Office document, by its name, which programs give anew in each copy
_MEDIA_NAME = re.compile(r"(?<=\n)((image\d+|[\w-]+)\.(?:png|jpe?g|gif|bmp|[ew]mf|tiff?|svg))\n+")


def _without_media_names(text: str, data: bytes) -> str:
    """Return the text of an Office document, or of an archive that may have some, without the names
    of the pictures in it.
    """
    is_archive = b"[Content_Types].xml" not in data

    def name(found: re.Match[str]) -> str:
        is_media = b"media/" + found[1].encode() in data
        return "" if is_media or (is_archive and found[2].startswith("image")) else found[0]

    return _MEDIA_NAME.sub(name, text)


def document(
    text: str, metadata: Mapping[str, Sequence[str]], data: bytes, chars: int, extractor: str
) -> Document:
    """Return the document of Tika's response for `data`; the text is cut at `chars` code points.

    Everything that Tika could not read makes the document `truncated`, with a warning: a cut at a
    limit, a damaged or encrypted part of an archive, or the missing end of a PDF, RTF or zip
    container, which Tika does not report. Raises `ExtractionError` when there is no text and the
    reason is known: encrypted, damaged, or a kind of file that Tika does not read.
    """
    cut = _encrypted_members(data) or _cut_short(data) or _cut_envelopes(data)
    warnings = (*cut, *_faults(metadata), *((CUT,) if len(text) > chars else ()))
    content_type = _first(metadata, "Content-Type") or "application/octet-stream"
    if content_type == "message/rfc822":
        content_type = next(
            (OUTLOOK[mark] for mark in OUTLOOK if data.startswith(mark)), content_type
        )
    if data.startswith(ZIP):
        text = _without_media_names(text, data)
    if content_type.partition(";")[0].strip() == "application/vnd.ms-excel":
        text = without_codes(text)
    is_mail_type = content_type.startswith("message/")
    if is_mail_type and (_PGP.search(data) or _ARMOUR in text):
        warnings = (*warnings, _ENCRYPTED.format("PGP"))
    notes: Sequence[str] = ()
    if content_type.startswith("application/pdf"):
        text, unread, notes = pdf_text(text, metadata)
        warnings = (*warnings, *unread)
    if not text.strip():
        _refuse(warnings, metadata, content_type)
    embedded = embedded_files(data, content_type, pages_read(metadata), text[:chars])
    if f'"{EARLIER_VERSION}' in embedded:
        notes = (*notes, "an earlier version of the text is in the file, and is not read")
    text = _SURROGATES.sub("\ufffd", text[:chars])
    is_word = content_type.startswith("application/msword") and data.startswith(MAGIC)
    if is_word or data.startswith((ZIP, RTF)) or _FLAT in data:
        with suppress(*UNREADABLE):
            text = mark_headers(text, _headers(data))
    return Document(
        text=text,
        title=_clean(_first(metadata, "dc:title"), _MAX_TITLE),
        content_type=content_type.partition(";")[0].strip(),
        metadata=_metadata(metadata) | thread_fields(metadata) | _ocr(metadata, data),
        extractor=extractor,
        truncated=bool(warnings),
        warnings=(*warnings, *notes),
        embedded=embedded,
    )


def _headers(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the headers and footers of Word, OpenDocument or RTF, as `page_headers` does."""
    if data.startswith(MAGIC):
        return word_headers(data)
    return rich_text_headers(data) if data.startswith(RTF) else page_headers(data)


def damage_error(reason: str, data: bytes = b"") -> ExtractionError:
    """Return the error of a document that Tika could not parse."""
    reason = next(iter(_cut_envelopes(data)), "") or _of_envelope(reason) or reason
    if reason in (_DAMAGED, _CUT_ENVELOPE):
        return ExtractionError(f"{reason}; repair the mail or leave it out")
    if reason in (_ENCRYPTED.format(name) for name in ("S/MIME", "PGP")):
        return ExtractionError(f"{reason}; decrypt the mail, then index it again")
    if "encrypted" in reason.lower():
        return ExtractionError(
            "the document is encrypted; remove its password, then index it again"
        )
    detail = _clean(_stable_text(reason), _MAX_WARNING)
    return ExtractionError(
        f"the document is damaged, hostile, or not of its declared type: {detail}; "
        "repair it or leave it out"
    )


def _refuse(
    warnings: Sequence[str], metadata: Mapping[str, Sequence[str]], content_type: str
) -> None:
    """Raise the error that explains why there is no text, if one does."""
    if warnings:
        raise damage_error(warnings[0])
    if any(name.endswith(".EmptyParser") for name in metadata.get("X-TIKA:Parsed-By", ())):
        raise ExtractionError(
            f"no text can be read from this kind of file ({content_type}); "
            "convert it, or leave it out"
        )


def _faults(metadata: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the first line of every exception or warning in the metadata, each once, in the order
    of keys.
    """
    keys = (key for key in sorted(metadata) if _FAULT.match(key) and key not in _HARMLESS)
    values = ((key, value) for key in keys for value in metadata[key])
    lines = (
        _fault(key, value)
        for key, value in values
        if _NO_BYTES not in value and _SIGNATURE not in value
    )
    return tuple(dict.fromkeys(_clean(line, _MAX_WARNING) for line in lines))


def _fault(key: str, value: str) -> str:
    kind = key.rpartition(":")[2]
    if kind == "write_limit_reached":
        return CUT
    first_line, _, _ = value.strip().partition("\n")
    return _of_envelope(first_line) or f"{kind}: {_stable_text(first_line)}"


_ENCRYPTED = "what is encrypted by {} is not read"
_DAMAGED = "what is encrypted or signed by S/MIME is damaged, and not read"


def _of_envelope(reason: str) -> str:
    """Return the reason that S/MIME is not read; empty for another one of Tika's."""
    if _ENVELOPE not in reason.lower() or _SIGNATURE in reason:
        return ""
    return _DAMAGED if _NO_ENVELOPE in reason else _ENCRYPTED.format("S/MIME")


_CUT_ENVELOPE = "the end of an S/MIME envelope is missing"
_PKCS7_PART = re.compile(
    rb"^Content-Type:\s*application/(?:x-)?pkcs7-mime", re.IGNORECASE | re.MULTILINE
)
_PKCS7_DATA = bytes.fromhex("06092a864886f70d010702")  # what PKCS 7 calls it


def _cut_envelopes(data: bytes) -> tuple[str, ...]:
    """Return a warning where an envelope of S/MIME (`.p7m`) with its text inside, or TNEF, alone or
    in a mail, is shorter than it declares: what there is is read.
    """
    envelopes = [data]
    if _PKCS7_PART.search(data) or _MAY_HAVE_TNEF.search(data):
        from indexer.documents.mail.message import part_bytes

        with suppress(MessageError, LookupError, TypeError, RecursionError, AttributeError):
            parts = message_from_bytes(data, policy=policy.compat32).walk()
            envelopes += [part_bytes(part) for part in parts if not part.is_multipart()]
    header = f"\nContent-Description: {CUT_TNEF}".encode()
    is_cut = header in data or any(map(is_cut_tnef, envelopes))
    return (_CUT_ENVELOPE,) * any(map(_is_cut, envelopes)) + (CUT_TNEF,) * is_cut


def _is_cut(envelope: bytes) -> bool:
    """Return whether PKCS 7 in DER or BER is shorter than it declares, or has no end.

    >>> _is_cut(b"0\x10" + _PKCS7_DATA), _is_cut(b"0\x0b" + _PKCS7_DATA)
    (True, False)
    """
    if envelope[:1] != b"0" or _PKCS7_DATA not in envelope[:24]:
        return False
    size = envelope[1]
    if size == 0x80:
        return not envelope.rstrip(b"\r\n").endswith(b"\0\0")
    count = size & 0x7F if size > 0x80 else 0
    size = int.from_bytes(envelope[2 : 2 + count], "big") if count else size
    return len(envelope) < 2 + count + size


def _stable_text(reason: str) -> str:
    """Return Tika's message without packages and object addresses, which differ from run to run."""
    if "TIKA-237" in reason:
        return "it unpacks to far more than it holds, or is nested too deep"
    return _PARSER.sub(r"\1", reason)


def _cut_short(data: bytes) -> tuple[str, ...]:
    """Return a warning when the end mark is missing of a format that has one."""
    if b"%PDF-" in data[:1024]:
        is_whole = b"%%EOF" in data[-2048:]
    elif data.startswith(b"PK\x03\x04"):
        is_whole = b"PK\x05\x06" in data[-(22 + 0xFFFF) :]
    elif data.startswith(RTF):
        is_whole = b"}" in data[-64:]
    else:
        is_whole = True
    return () if is_whole else ("the end of the file is missing",)


def _metadata(metadata: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the metadata that are useful in a search, under plain names."""
    values = {
        name: _clean("; ".join(metadata.get(key, ())), _MAX_VALUE)
        for key, name in _METADATA_NAMES.items()
    }
    return {name: value for name, value in values.items() if value}


# Programs that recognise characters, as they name themselves in a PDF or in hOCR. The font is that
# of the invisible text of Tesseract, which a program that joins pages keeps.
_OCR_PROGRAM = re.compile(
    "abbyy|finereader|tesseract|ocrmypdf|paper capture|omnipage|readiris|textbridge|cuneiform", re.I
)
_OCR_NAMES = ("ocr-system", "pdf:docinfo:creator_tool", "xmp:CreatorTool", "pdf:docinfo:producer")
_OCR_FONT = b"GlyphLessFont"


def _ocr(metadata: Mapping[str, Sequence[str]], data: bytes) -> dict[str, str]:
    """Return the program that recognised the characters of a scan, under the name of metadata.

    >>> _ocr({"pdf:docinfo:producer": ["Adobe Acrobat 9.0 Paper Capture Plug-in"]}, b"")
    {'ocr_program': 'Adobe Acrobat 9.0 Paper Capture Plug-in'}
    """
    values = (value for name in _OCR_NAMES for value in metadata.get(name, ()))
    program = next(filter(_OCR_PROGRAM.search, values), "")
    is_image = _first(metadata, "Content-Type").startswith("image/")
    parsers = metadata.get("X-TIKA:Parsed-By", ())
    is_read = is_image and any("TesseractOCRParser" in parser for parser in parsers)
    if not program and (
        is_read or _first(metadata, "pdf:ocrPageCount") not in ("", "0") or _OCR_FONT in data
    ):
        program = "Tesseract"
    return {OCR: _clean(program, _MAX_PROGRAM)} if program else {}


def _first(metadata: Mapping[str, Sequence[str]], key: str) -> str:
    return next((value for value in metadata.get(key, ()) if value.strip()), "")


def _clean(text: str, limit: int) -> str:
    """Return one line that is safe to store and to show: no control characters, no lone surrogates,
    at most `limit` code points.
    """
    return _UNSAFE.sub(" ", text[: 4 * limit]).strip()[:limit]


def _mark_utf8(html: bytes) -> bytes:
    """Return the bytes with a byte order mark if they are UTF-8 beyond ASCII."""
    return codecs.BOM_UTF8 + html if not html.isascii() and is_utf8(html) else html


# Tracked changes: what an author deleted is no text of OpenDocument and RTF either.

_FLAT = b"office:mimetype="
_READ_MEMBERS = (b"vnd.oasis.opendocument", b"application/epub+zip")
_PIXELS = (".png", ".jpg", ".jpeg")  # of drawings without text
# In a zip of any order Tika reads the text of parts as they come.
_ORDER = {"mimetype": 0, "styles.xml": 1, "content.xml": 2}
_SHEETS = b"opendocument.spreadsheet"
_MEMBERS = ("content.xml", "styles.xml", ".xhtml", ".html", ".htm")
_CHANGES = re.compile(rb"<(text|table):tracked-changes\b.*?</\1:tracked-changes>", re.DOTALL)
_BODY = re.compile(rb"<office:(?:text|spreadsheet)(?:\s[^<>]*)?(?<!/)>")
_NOTE_NUMBER = re.compile(rb"<text:note-citation\b[^<>]*>[^<>]*</text:note-citation>")
_READABLE_PART = re.compile(
    r"(?:word/(?:document\d*|numbering|(?:head|foot)er\d*|(?:foot|end)notes)"
    r"|xl/worksheets/\w+)\.xml$"
)

# of which Tika has no text, while other formats have that of the program that wrote them
_PAGE_NUMBER = re.compile(rb"<text:page-number\b[^<>]*>(\w*)</text:page-number>")
_LISTS = ("word/styles.xml", "word/numbering.xml")  # which number the paragraphs of Word
_MAX_UNPACKED = 256 << 20  # bytes of the members of an OpenDocument


def _readable_file(data: bytes) -> bytes:
    """Return RTF, or an OpenDocument in one file of XML, without what was deleted while changes
    were tracked.
    """
    if data.startswith(RTF):
        return readable_rich_text(data)
    data = usual_markup(data)
    if _SHEETS in data:
        data = displayed_sheets(displayed_headers(data, data))
    return _with_headers(numbered_lists(_readable_text(data), data))


def _with_headers(content: bytes) -> bytes:
    """Return an OpenDocument in one file with its headers and footers before its text, where they
    are in what Tika reads of a zip.

    >>> page = b"<style:master-page><style:header>a</style:header></style:master-page>"
    >>> _with_headers(page + b"<office:text>b")[len(page) :]
    b'<office:text>ab'
    """
    body = _BODY.search(content)
    if body is None:
        return content
    headers = b"".join(markup for markup, _ in odf_headers(content[: body.start()]))
    return content[: body.end()] + headers + content[body.end() :]


def _readable_text(content: bytes) -> bytes:
    """Return the content of an OpenDocument without changes that were tracked and without the
    numbers of notes, which would be the end of words before them, and which other formats lack.

    >>> _readable_text(b"a<text:tracked-changes>b</text:tracked-changes>c<text:tracked-changes>")
    b'ac<text:tracked-changes>'
    >>> _readable_text(b"rent<text:note-citation>1</text:note-citation><text:note-body/>")
    b'rent <text:note-body/>'
    """
    content = _NOTE_NUMBER.sub(b" ", without_deletions(content))
    content = rows_of_odf(with_repeated_cells(_PAGE_NUMBER.sub(rb"\1", content))[0])
    for end_tag in (b"</text:tracked-changes>", b"</table:tracked-changes>"):
        before, end, after = content.rpartition(end_tag)  # after it none would be found
        content = _CHANGES.sub(b"", before + end) + after
    return content


def _with_readable_members(data: bytes) -> bytes:
    """Return an OpenDocument in a zip without what was deleted while changes were tracked and
    without pictures of its pages, headers before the text, and that before objects; an EPUB with a
    line feed at the end of each chapter; other data, and what cannot be read, as it is.
    """
    with suppress(*UNREADABLE), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        kind = b""
        if any(member.filename == "mimetype" for member in members):
            with archive.open("mimetype") as file:
                kind = file.read(100)
        if not any(each in kind for each in _READ_MEMBERS):
            return _readable_archive(data)
        if sum(member.file_size for member in members) > _MAX_UNPACKED:
            return data
        read = {
            member.filename: part_of(archive, member)
            for member in members
            if member.filename.endswith(_MEMBERS)
        }
        changed = dict(read)
        if _SHEETS in kind and "content.xml" in read:
            content, styles = read["content.xml"], read.get("styles.xml", b"")
            changed["content.xml"] = displayed_sheets(content)
            if styles:
                changed["styles.xml"] = displayed_headers(styles, content + styles)
        changed = {name: _readable_member(name, content) for name, content in changed.items()}
        if "content.xml" in changed:
            content = changed["content.xml"]
            changed["content.xml"] = numbered_lists(
                content, changed.get("styles.xml", b"") + content
            )
        ordered = sorted(members, key=lambda member: _ORDER.get(member.filename, len(_ORDER)))
        is_book = _READ_MEMBERS[1] in kind
        kept = [member for member in ordered if is_book or not _may_repeat(member.filename)]
        is_readable = list(filter(_is_text, members)) == list(filter(_is_text, kept))
        return data if is_readable and changed == read else _copy(archive, kept, changed)
    return data


def _is_text(member: zipfile.ZipInfo) -> bool:
    """Return whether the place of a member in a zip matters, or Tika would read it twice."""
    return _may_repeat(member.filename) or member.filename.endswith(("styles.xml", "content.xml"))


def _may_repeat(name: str) -> bool:
    """Return whether a member may be a drawing with text of the document."""
    return bool(DRAWN.match(name)) and not name.lower().endswith(_PIXELS)


def _copy(
    archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], changed: Mapping[str, bytes]
) -> bytes:
    """Return an archive of some of the members, with other content by names that one has."""
    counts = Counter(member.filename for member in members)
    with zipfile.ZipFile(file := io.BytesIO(), "w") as copy:
        for member in members:
            content = changed.get(member.filename) if counts[member.filename] == 1 else None
            content = archive.read(member) if content is None else content
            copy.writestr(member, content, zipfile.ZIP_STORED)  # time, not size, matters
    return file.getvalue()


def _encrypted_members(data: bytes) -> tuple[str, ...]:
    """Return a warning that names the encrypted members of a zip; none without any."""
    names: list[str] = []
    if data.startswith(ZIP):
        with suppress(*UNREADABLE), zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [member.filename for member in filter(is_encrypted, archive.infolist())]
    if not names:
        return ()
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (f"encrypted in the archive, so not read: {_clean(names[0], _MAX_PROGRAM)}{more}",)


def _readable_archive(data: bytes) -> bytes:
    """Return a zip without encrypted members, which make Tika read none; an Office document without
    the drawing of its first page, which Tika would read again, and codes of fonts in headers, with
    boxes and tabs apart from the words before them, slides in order, and numbers of lists.
    """
    with suppress(*UNREADABLE), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        kept = list(filterfalse(is_encrypted, members))
        if sum(member.file_size for member in kept) > _MAX_UNPACKED:
            return data
        changed: dict[str, bytes] = {}
        names = {member.filename for member in kept}
        read = {name: part_of(archive, name) for name in _LISTS if name in names}
        lists = [read.get(name, b"") for name in _LISTS]
        if any(member.filename == "[Content_Types].xml" for member in members):
            for member in kept:
                if _may_repeat(member.filename):
                    changed[member.filename] = b""
                elif _READABLE_PART.match(member.filename):
                    content = read.get(member.filename) or part_of(archive, member)
                    if (readable := _readable_part(member.filename, content, lists)) != content:
                        changed[member.filename] = readable
            changed |= ordered_slides(archive)
        if kept != members or changed:
            return _copy(archive, kept, changed)
    return data


def _readable_part(name: str, content: bytes, lists: Sequence[bytes]) -> bytes:
    if name.startswith("xl/"):
        return displayed_codes(content)
    if name == "word/numbering.xml":
        return whole_numbering(content)
    if name == "word/document.xml":
        content = numbered_paragraphs(content, *lists)
    return separate_boxes(content)


def _readable_member(name: str, content: bytes) -> bytes:
    if name in ("content.xml", "styles.xml"):
        return _readable_text(content)
    return _separate_blocks(content).replace(b"</body>", b"\n</body>")
