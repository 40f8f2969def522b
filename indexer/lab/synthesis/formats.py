"""Write plain text in several formats, with the same bytes everywhere: dates are fixed, archives
are not compressed.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from indexer.fingerprinting.normalise import decode, encode
from indexer.lab.synthesis.changes import wrap_lines

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DAY = (1980, 1, 1, 0, 0, 0)
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def txt(text: str) -> bytes:
    """Return UTF-8; lone surrogates become U+FFFD."""
    return _well_formed(text).encode()


def html(text: str) -> bytes:
    """Return a web page of paragraphs with a style and a script, as web pages have."""
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in _paragraphs(text))
    header = (
        "<meta charset=utf-8><title></title><style>p{margin:1em}</style>"
        "<script>document.title='page'</script>"
    )
    return (
        f"<!doctype html>\n<html><head>{header}</head>\n<body>\n{body}\n</body></html>\n".encode()
    )


def eml(text: str) -> bytes:
    """Return a mail without a subject, its text in UTF-8 and base64."""
    coded = base64.encodebytes(txt(text)).decode("ascii").replace("\n", "\r\n")
    lines = (
        "From: office@example.org",
        "To: all@example.org",
        "Date: Tue, 01 Jan 1980 00:00:00 +0000",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: base64",
    )
    return ("\r\n".join(lines) + "\r\n\r\n" + coded).encode("ascii")


def rtf(text: str) -> bytes:
    """Return rich text, every character outside ASCII as its UTF-16 number."""
    body = "".join(
        f"\\pard {_rtf_text(paragraph)}\\par\n"
        for paragraph in _BLANK_LINE.split(_well_formed(text).strip())
    )
    header = r"{\rtf1\ansi\ansicpg1252\deff0\uc1{\fonttbl{\f0\fnil Sans;}}\f0\fs22"
    return f"{header}\n{body}}}".encode("ascii")


def docx(text: str) -> bytes:
    """Return a Word document of paragraphs."""
    body = "".join(f"<w:p><w:r>{_lines(paragraph)}</w:r></w:p>" for paragraph in _paragraphs(text))
    main = f"{_OFFICE}/relationships/officeDocument"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    return _zip_files(
        {
            "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
            f'<Default Extension="rels" ContentType="{rels}"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
            "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
            f'<Relationship Id="r1" Type="{main}" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'{_XML}<w:document xmlns:w="{_WORD}">'
            f"<w:body>{body}</w:body></w:document>",
        }
    )


def odt(text: str) -> bytes:
    """Return an OpenDocument text of paragraphs."""
    kind = "application/vnd.oasis.opendocument.text"
    body = "".join(f"<text:p>{paragraph}</text:p>" for paragraph in _paragraphs(text))
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{media_type}"/>'
        for path, media_type in (("/", kind), ("content.xml", "text/xml"))
    )
    return _zip_files(
        {
            "mimetype": kind,
            "META-INF/manifest.xml": f"{_XML}<manifest:manifest "
            f'xmlns:manifest="{_ODF}:manifest:1.0" manifest:version="1.2">'
            f"{entries}</manifest:manifest>",
            "content.xml": f'{_XML}<office:document-content xmlns:office="{_ODF}:office:1.0" '
            f'xmlns:text="{_ODF}:text:1.0" office:version="1.2"><office:body><office:text>{body}'
            "</office:text></office:body></office:document-content>",
        }
    )


FORMATS: Mapping[str, Callable[[str], bytes]] = MappingProxyType(
    {"html": html, "docx": docx, "odt": odt, "eml": eml, "rtf": rtf}
)


def _well_formed(text: str) -> str:
    return decode(encode(text))


def _paragraphs(text: str) -> Iterable[str]:
    """Yield the paragraphs, escaped for XML, without the characters that XML does not allow."""
    return (
        escape(_NOT_XML.sub("", paragraph))
        for paragraph in _BLANK_LINE.split(_well_formed(text).strip())
    )


def _lines(paragraph: str) -> str:
    return "<w:br/>".join(
        f'<w:t xml:space="preserve">{line}</w:t>' for line in paragraph.splitlines()
    )


def _rtf_text(paragraph: str) -> str:
    units = paragraph.encode("utf-16-be")
    return "".join(
        _rtf_unit(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2)
    )


def _rtf_unit(unit: int) -> str:
    if unit >= 128:
        return f"\\u{unit - 65536 if unit > 32767 else unit}?"
    character = chr(unit)
    if character in "\\{}":
        return f"\\{character}"
    if character == "\n":
        return "\\line\n"
    if character == "\t":
        return "\\tab "
    return character if unit >= 32 else ""


def _zip_files(files: Mapping[str, str]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for name, content in files.items():
            entry = ZipInfo(name, _DAY)
            entry.create_system = 3  # fixed, as it depends on the operating system otherwise
            archive.writestr(entry, content.encode())
    return buffer.getvalue()


# Variants made by LibreOffice, which writes formats, and by Tesseract, which reads a picture.

OFFICE_FORMATS = ("docx", "odt", "pdf", "rtf", "doc", "html")
_SECONDS = 300
_WIDTH = 72  # characters of a line
_LINES = 62  # lines of a page
_SIZE, _LEADING, _MARGIN = 15, 21, 40  # pixels
_LATIN = 0x250  # the picture is drawn in letters below this


@cache
def libreoffice() -> str | None:
    """Return the path of LibreOffice; None when it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


@cache
def tesseract() -> str | None:
    """Return the path of Tesseract; None when it, or Pillow, which draws the pages, is missing."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        return None
    return shutil.which("tesseract")


def convert(text: str, ending: str) -> bytes | None:
    """Return a text as a file of a format, made by LibreOffice; None when it is not installed, or
    writes nothing within 300 seconds.
    """
    program = libreoffice()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as position:
        source = Path(position, "text.docx")
        home = Path(position, "home").as_uri()
        source.write_bytes(docx(text))
        options = [
            "--headless",
            f"-env:UserInstallation={home}",
            "--convert-to",
            ending,
            "--outdir",
            f"{position}/made",
        ]
        _run([program, *options, str(source)])
        result = Path(position, "made", f"text.{ending}")
        return result.read_bytes() if result.exists() else None


def recognise(text: str) -> str | None:
    """Return what Tesseract reads on pages of the text in small print.

    None where the program is not installed, where it reads nothing, and for a text that has letters
    other than Latin ones.
    """
    program = tesseract()
    characters = [letter for letter in text if letter.isalpha()]
    if program is None or any(ord(letter) >= _LATIN for letter in characters):
        return None
    lines = wrap_lines(text, _WIDTH)
    pages = [
        _run([program, "stdin", "stdout"], _page(lines[at : at + _LINES]))
        for at in range(0, len(lines), _LINES)
    ]
    return b"\n".join(pages).decode("utf-8", "replace").strip() or None


def _page(lines: list[str]) -> bytes:
    """Return a page as a PNG picture."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_SIZE)
    width = 2 * _MARGIN + _WIDTH * _SIZE * 2 // 3
    height = 2 * _MARGIN + _LINES * _LEADING
    page = Image.new("L", (width, height), 255)
    pen = ImageDraw.Draw(page)
    for index, line in enumerate(lines):
        pen.text((_MARGIN, _MARGIN + index * _LEADING), line, fill=40, font=font)
    buffer = BytesIO()
    page.rotate(0.4, fillcolor=255, resample=Image.Resampling.BILINEAR).save(
        buffer, "png", dpi=(110, 110)
    )
    return buffer.getvalue()


def _run(command: list[str], stdin: bytes | None = None) -> bytes:
    """Return the output of a program; empty when it fails or takes longer than 300 seconds."""
    # The threads of Tesseract wait for each other where processors are busy.
    env = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    try:
        return subprocess.run(
            command, input=stdin, capture_output=True, timeout=_SECONDS, check=True, env=env
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return b""
