"""Files of several formats from plain text, the same bytes everywhere: dates are fixed, archives
are not compressed.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from types import MappingProxyType
from xml.sax.saxutils import escape
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from indexer.text import codepoints

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DAY = (1980, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def txt(text: str) -> bytes:
    """UTF-8; lone surrogates become U+FFFD."""
    return _sound(text).encode()


def html(text: str) -> bytes:
    """A web page of paragraphs, with the style and script around them that web pages have."""
    body = "\n".join(f"<p>{one}</p>" for one in _paragraphs(text))
    head = "<meta charset=utf-8><title></title><style>p{margin:1em}</style><script>document.title='page'</script>"
    return f"<!doctype html>\n<html><head>{head}</head>\n<body>\n{body}\n</body></html>\n".encode()


def eml(text: str) -> bytes:
    """A mail without a subject, its text in UTF-8 by base64."""
    coded = base64.encodebytes(txt(text)).decode("ascii").replace("\n", "\r\n")
    lines = (
        "From: office@example.org", "To: all@example.org", "Date: Tue, 01 Jan 1980 00:00:00 +0000", "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64",
    )  # fmt: skip
    return ("\r\n".join(lines) + "\r\n\r\n" + coded).encode("ascii")


def rtf(text: str) -> bytes:
    """Rich text, every character outside ASCII by its UTF-16 number."""
    body = "".join(f"\\pard {_rich(one)}\\par\n" for one in _BLANK_LINE.split(_sound(text).strip()))
    head = r"{\rtf1\ansi\ansicpg1252\deff0\uc1{\fonttbl{\f0\fnil Sans;}}\f0\fs22"
    return f"{head}\n{body}}}".encode("ascii")


def docx(text: str) -> bytes:
    """A Word document of paragraphs."""
    body = "".join(f"<w:p><w:r>{_lines(one)}</w:r></w:p>" for one in _paragraphs(text))
    main = f"{_OFFICE}/relationships/officeDocument"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return _zipped(
        {
            "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
            "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
            f'<Relationship Id="r1" Type="{main}" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'{_HEAD}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def odt(text: str) -> bytes:
    """An OpenDocument text of paragraphs."""
    kind = "application/vnd.oasis.opendocument.text"
    body = "".join(f"<text:p>{one}</text:p>" for one in _paragraphs(text))
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{of}"/>'
        for path, of in (("/", kind), ("content.xml", "text/xml"))
    )
    return _zipped(
        {
            "mimetype": kind,
            "META-INF/manifest.xml": f'{_HEAD}<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0" manifest:version="1.2">'
            f"{entries}</manifest:manifest>",
            "content.xml": f'{_HEAD}<office:document-content xmlns:office="{_ODF}:office:1.0" xmlns:text="{_ODF}:text:1.0" '
            f'office:version="1.2"><office:body><office:text>{body}</office:text></office:body></office:document-content>',
        }
    )


FORMATS: Mapping[str, Callable[[str], bytes]] = MappingProxyType(
    {"html": html, "docx": docx, "odt": odt, "eml": eml, "rtf": rtf}
)


def _sound(text: str) -> str:
    return codepoints.decode(codepoints.encode(text))


def _paragraphs(text: str) -> Iterable[str]:
    """The paragraphs, fit for XML: what it cannot write is left out."""
    return (escape(_NOT_XML.sub("", one)) for one in _BLANK_LINE.split(_sound(text).strip()))


def _lines(paragraph: str) -> str:
    return "<w:br/>".join(
        f'<w:t xml:space="preserve">{line}</w:t>' for line in paragraph.splitlines()
    )


def _rich(paragraph: str) -> str:
    units = paragraph.encode("utf-16-be")
    return "".join(
        _rich_unit(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2)
    )


def _rich_unit(unit: int) -> str:
    if unit >= 128:
        return f"\\u{unit - 65536 if unit > 32767 else unit}?"
    one = chr(unit)
    if one in "\\{}":
        return f"\\{one}"
    return "\\line\n" if one == "\n" else "\\tab " if one == "\t" else one if unit >= 32 else ""


def _zipped(files: Mapping[str, str]) -> bytes:
    held = BytesIO()
    with ZipFile(held, "w", ZIP_STORED) as archive:
        for name, content in files.items():
            entry = ZipInfo(name, _DAY)
            entry.create_system = 3  # or it would tell the operating system
            archive.writestr(entry, content.encode())
    return held.getvalue()
