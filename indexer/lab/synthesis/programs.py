"""Truth made by real programs where they are installed: LibreOffice writes formats, Tesseract reads
a picture of the text.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path

from indexer.lab.synthesis.changes import filled
from indexer.lab.synthesis.file_writers import docx

OFFICE_FORMATS = ("docx", "odt", "pdf", "rtf", "doc", "html")
_SECONDS = 300
_WIDTH, _LINES, _SIZE, _LEADING, _MARGIN = (
    72,
    62,
    15,
    21,
    40,
)  # characters a line, lines a page; pixels
_LATIN = 0x250  # the picture is drawn in letters below this


@cache
def libreoffice() -> str | None:
    """The program's path; None when it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


@cache
def tesseract() -> str | None:
    """The program's path; None when it, or Pillow, which draws the pages, is not installed."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        return None
    return shutil.which("tesseract")


def converted(text: str, ending: str) -> bytes | None:
    """A text as a file of a format, made by LibreOffice; None where it is not installed, or writes
    nothing within the time.
    """
    program = libreoffice()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as place:
        given, home = Path(place, "text.docx"), Path(place, "home").as_uri()
        given.write_bytes(docx(text))
        options = [
            "--headless",
            f"-env:UserInstallation={home}",
            "--convert-to",
            ending,
            "--outdir",
            f"{place}/made",
        ]
        _run([program, *options, str(given)])
        made = Path(place, "made", f"text.{ending}")
        return made.read_bytes() if made.exists() else None


def recognised(text: str) -> str | None:
    """What Tesseract reads on pages of small print of the text.

    None where the program is not installed, where it reads nothing, and for a text that has letters
    other than Latin ones.
    """
    program = tesseract()
    letters = [one for one in text if one.isalpha()]
    if program is None or any(ord(one) >= _LATIN for one in letters):
        return None
    lines = filled(text, _WIDTH)
    read = [
        _run([program, "stdin", "stdout"], _page(lines[at : at + _LINES]))
        for at in range(0, len(lines), _LINES)
    ]
    return b"\n".join(read).decode("utf-8", "replace").strip() or None


def _page(lines: list[str]) -> bytes:
    """A page as a picture, PNG."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_SIZE)
    page = Image.new(
        "L", (2 * _MARGIN + _WIDTH * _SIZE * 2 // 3, 2 * _MARGIN + _LINES * _LEADING), 255
    )
    pen = ImageDraw.Draw(page)
    for place, line in enumerate(lines):
        pen.text((_MARGIN, _MARGIN + place * _LEADING), line, fill=40, font=font)
    held = BytesIO()
    page.rotate(0.4, fillcolor=255, resample=Image.Resampling.BILINEAR).save(
        held, "png", dpi=(110, 110)
    )
    return held.getvalue()


def _run(command: list[str], given: bytes | None = None) -> bytes:
    """What a program prints; nothing when it fails or takes too long."""
    try:
        env = {
            **os.environ,
            "OMP_THREAD_LIMIT": "1",
        }  # the threads of Tesseract wait for each other where processors are busy
        return subprocess.run(
            command, input=given, capture_output=True, timeout=_SECONDS, check=True, env=env
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return b""
