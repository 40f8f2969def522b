"""Input for Tika and documents from its answers, for the library and the server alike."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from indexer.errors import ExtractionError
from indexer.extraction import mail
from indexer.extraction.base import CUT, HTML_NAMES, XML_NAMES
from indexer.extraction.right_to_left import reorder_lines
from indexer.model import Document

_HTML_START = re.compile(
    rb"\s*(?:<!--[^>]{0,1000}-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE
)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_XML_START = re.compile(rb"\s*<\?xml\b")
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
}
_MOST_TITLE, _MOST_VALUE, _MOST_WARNING = 500, 1000, 300
_UNSAFE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_FAULT = re.compile(r"x-tika:(?:exception|warn)", re.IGNORECASE)
_HARMLESS = frozenset({"X-TIKA:WARN:truncated_metadata"})
_PARSER = re.compile(r"(?:[\w$]+\.)+(\w+)@[0-9a-f]+")


def with_hint(data: bytes, name: str) -> bytes:
    """Return the bytes with marks for Tika, which detects formats and encodings by the first bytes
    alone.

    HTML that is valid UTF-8 gets a byte order mark, whatever it declares, and so do text parts of
    mail that declare UTF-8. A file `.eml` gets a first field that shows it to be a mail. Where only
    the name shows the format, HTML gets a document type and XML a declaration. Everything else is
    returned unchanged.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if data.startswith(_MARKS) or _XML_START.match(data):
        return data
    if _HTML_START.match(data):
        return _mark_utf8(data)
    if mail.is_mail(data, name):
        return mail.mark_charset(mail.mark_type(data, name))
    if suffix in HTML_NAMES:
        return _mark_utf8(_DOCTYPE + data)
    if suffix in XML_NAMES and data.lstrip()[:1] == b"<" and _is_utf8(data):
        return _DECLARATION + data
    return data


def document(
    text: str, metadata: Mapping[str, Sequence[str]], data: bytes, chars: int, extractor: str
) -> Document:
    """Return the document of Tika's answer for `data`; the text is cut at `chars` code points.

    Everything that Tika could not read makes the document `truncated`, with a warning: a cut at a
    limit, a damaged or encrypted part of an archive, or the missing end of a PDF, RTF or zip
    container, which Tika does not report. Raises `ExtractionError` when there is no text and the
    reason is known: encrypted, damaged, or a kind of file that Tika does not read.
    """
    warnings = (*_cut_short(data), *_faults(metadata), *((CUT,) if len(text) > chars else ()))
    content_type = _first(metadata, "Content-Type") or "application/octet-stream"
    if not text.strip():
        _refuse(warnings, metadata, content_type)
    if _first(metadata, "pdf:producer").startswith("LibreOffice"):
        text = reorder_lines(text)
    return Document(
        text=_SURROGATES.sub("\ufffd", text[:chars]),
        title=_clean(_first(metadata, "dc:title"), _MOST_TITLE),
        content_type=content_type.partition(";")[0].strip(),
        metadata=_metadata(metadata) | mail.thread_fields(metadata),
        extractor=extractor,
        truncated=bool(warnings),
        warnings=warnings,
    )


def damage_error(reason: str) -> ExtractionError:
    """Return the error of a document that Tika could not parse."""
    if "encrypted" in reason.lower():
        return ExtractionError(
            "the document is encrypted; remove its password, then index it again"
        )
    detail = _clean(_stable_text(reason), _MOST_WARNING)
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
    lines = (_fault(key, value) for key in keys for value in metadata[key])
    return tuple(dict.fromkeys(_clean(line, _MOST_WARNING) for line in lines))


def _fault(key: str, value: str) -> str:
    kind = key.rpartition(":")[2]
    if kind == "write_limit_reached":
        return CUT
    first_line, _, _ = value.strip().partition("\n")
    return f"{kind}: {_stable_text(first_line)}"


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
    elif data.startswith(b"{\\rtf"):
        is_whole = b"}" in data[-64:]
    else:
        is_whole = True
    return () if is_whole else ("the end of the file is missing",)


def _metadata(metadata: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the metadata that are useful in a search, under plain names."""
    values = {
        name: _clean("; ".join(metadata.get(key, ())), _MOST_VALUE)
        for key, name in _METADATA_NAMES.items()
    }
    return {name: value for name, value in values.items() if value}


def _first(metadata: Mapping[str, Sequence[str]], key: str) -> str:
    return next((value for value in metadata.get(key, ()) if value.strip()), "")


def _clean(text: str, most: int) -> str:
    """Return one line that is safe to store and to show: no control characters, no lone surrogates,
    at most `most` code points.
    """
    return _UNSAFE.sub(" ", text[: 4 * most]).strip()[:most]


def _mark_utf8(html: bytes) -> bytes:
    """Return the bytes with a byte order mark if they are UTF-8 beyond ASCII."""
    return codecs.BOM_UTF8 + html if not html.isascii() and _is_utf8(html) else html


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
