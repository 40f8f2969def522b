"""Small documents of many formats with the same text, and hostile ones, all generated here."""

from __future__ import annotations

import atexit
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from functools import cache

from docx import Document as WordDocument
from odf.opendocument import OpenDocumentText
from odf.text import P
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from indexer.documents.base import DEFAULT_LIMITS, Limits, Task
from indexer.documents.native import NativeExtractor
from indexer.documents.workers import Pool
from indexer.errors import ExtractionError
from indexer.model import Document

TITLE = "Of rivers"
PARAGRAPHS = (
    "The quick brown fox jumps over the lazy dog near the river bank every single morning.",
    "Café, naïve and résumé are words with accents; Zürich is a town on a lake.",
    "The last paragraph says that nothing was left out on the way here.",
)


class Reader:
    """The native extractor in one worker process, where it reads three times as fast as in the
    large process of the tests.
    """

    identity = NativeExtractor.identity

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool: Pool | None = None
        atexit.register(self.close)

    def close(self) -> None:
        """End the process until a document is read again."""
        if self._pool:
            self._pool.close()
        self._pool = None

    def extract(self, data: bytes, name: str) -> Document:
        self._pool = self._pool or Pool(NativeExtractor, 1, self._limits).__enter__()
        [(_, result)] = self._pool.extract_all([Task(None, data, name)])
        if isinstance(result, ExtractionError):
            raise result
        return result


READERS: dict[Limits, Reader] = {}


def native_reader(limits: Limits = DEFAULT_LIMITS) -> Reader:
    """Return an extractor that the tests of a process share."""
    if limits not in READERS:
        READERS[limits] = Reader(limits)
    return READERS[limits]


def html(paragraphs: Sequence[str] = PARAGRAPHS) -> bytes:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    head = f"<head><title>{TITLE}</title></head>"
    return f"<!DOCTYPE html><html>{head}<body>{body}</body></html>".encode()


def docx(paragraphs: Sequence[str] = PARAGRAPHS) -> bytes:
    document = WordDocument()
    document.core_properties.title = TITLE
    for text in paragraphs:
        document.add_paragraph(text)
    return _save_bytes(document.save)


def odt(paragraphs: Sequence[str] = PARAGRAPHS) -> bytes:
    document = OpenDocumentText()
    for text in paragraphs:
        document.text.addElement(P(text=text))
    return _save_bytes(document.write)


def rtf(paragraphs: Sequence[str] = PARAGRAPHS) -> bytes:
    escaped = (
        "".join(char if char < "\x80" else f"\\u{ord(char)}?" for char in text)
        for text in paragraphs
    )
    body = "".join(f"{text}\\par\n" for text in escaped)
    fonts = r"{\fonttbl{\f0 Times;}}"
    info = rf"{{\info{{\title {TITLE}}}}}"
    return f"{{\\rtf1\\ansi\\deff0{fonts}{info}\\f0\n{body}}}".encode("ascii")


def pdf(
    paragraphs: Sequence[str] = PARAGRAPHS,
    *,
    password: str | None = None,
    pages: int = 1,
    producer: str = "",
) -> bytes:
    """Return a PDF with `pages` pages of the same paragraphs; a password encrypts it."""

    def save(file: io.BytesIO) -> None:
        canvas = Canvas(file, encrypt=None if password is None else StandardEncryption(password))
        canvas.setTitle(TITLE)
        if producer:
            canvas.setProducer(producer)
        for _ in range(pages):
            for line, text in enumerate(paragraphs):
                canvas.drawString(72, 780 - 20 * line, text)
            canvas.showPage()
        canvas.save()

    return _save_bytes(save)


def eml(paragraphs: Sequence[str] = PARAGRAPHS) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ann@example.org", "bob@example.org", TITLE
    message.set_content("\n\n".join(paragraphs))
    return message.as_bytes()


def zipped(files: Mapping[str, bytes]) -> bytes:
    def save(file: io.BytesIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)

    return _save_bytes(save)


def formats() -> dict[str, bytes]:
    """Return the same text in every format, by file name."""
    return dict(_written_formats())


@cache
def _written_formats() -> dict[str, bytes]:
    return {
        "a.docx": docx(),
        "a.eml": eml(),
        "a.html": html(),
        "a.odt": odt(),
        "a.pdf": pdf(),
        "a.rtf": rtf(),
        "a.zip": zipped({"inside/a.html": html()}),
    }


def zip_bomb(name: str, unit: bytes, repeat: int) -> bytes:
    """A zip with one member: `unit`, `repeat` times. The checksum is wrong, which nobody finds out
    who does not unpack it all.

    The unit is packed once and repeated as it is, so ten gigabytes take a moment.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = (packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)) * repeat + packer.flush()
    label, size = name.encode(), len(unit) * repeat
    big = struct.pack("<HHQQ", 1, 16, size, len(packed))
    shared = struct.pack(
        "<HHHHHIIIHH", 45, 0, 8, 0, 33, 0, 2**32 - 1, 2**32 - 1, len(label), len(big)
    )
    local = b"PK\x03\x04" + shared + label + big
    central = b"PK\x01\x02" + struct.pack("<H", 45) + shared + bytes(14) + label + big
    offset = len(local) + len(packed)
    end64 = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(central), offset)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, offset + len(central), 1)
    end = b"PK\x05\x06" + struct.pack(
        "<HHHHIIH", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0
    )
    return local + packed + central + end64 + locator + end


def _save_bytes(save: object) -> bytes:
    file = io.BytesIO()
    save(file)  # type: ignore[operator]
    return file.getvalue()
