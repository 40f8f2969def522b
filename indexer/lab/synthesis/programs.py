"""Variants made by installed programs: LibreOffice writes formats, Tesseract reads a picture of the
text.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path

from indexer.lab.synthesis.changes import wrap_lines
from indexer.lab.synthesis.file_writers import docx

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
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "text.docx")
        home = Path(place, "home").as_uri()
        source.write_bytes(docx(text))
        options = [
            "--headless",
            f"-env:UserInstallation={home}",
            "--convert-to",
            ending,
            "--outdir",
            f"{place}/made",
        ]
        _run([program, *options, str(source)])
        result = Path(place, "made", f"text.{ending}")
        return result.read_bytes() if result.exists() else None


def recognise(text: str) -> str | None:
    """Return what Tesseract reads on pages of the text in small print.

    None where the program is not installed, where it reads nothing, and for a text that has letters
    other than Latin ones.
    """
    program = tesseract()
    letters = [letter for letter in text if letter.isalpha()]
    if program is None or any(ord(letter) >= _LATIN for letter in letters):
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
    for place, line in enumerate(lines):
        pen.text((_MARGIN, _MARGIN + place * _LEADING), line, fill=40, font=font)
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
