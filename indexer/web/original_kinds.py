"""The kinds of files that pages show, the view of one, and the process that makes its pages.

Documents are hostile: a small file can unpack to gigabytes, and parsers of office formats and
pictures have faults. So what is made of one is made by another process, of bounded time and memory
(`render_original`).
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, TypeAlias

from indexer.extraction.mail import is_mail
from indexer.mail.outlook_message import is_outlook_message
from indexer.web.original_files import OriginalUnavailable

Kind: TypeAlias = Literal["pdf", "picture", "tiff", "word", "mail", "html", "text", "none"]
MOST_SHOWN = 64 << 20  # bytes of a file that is shown
_SECONDS = 20
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from indexer.web.render_original import main; sys.exit(main(sys.argv[2:]))"
)
_WORD_PART = "word/document.xml"
_MOST_UNPACKED = 200 << 20
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_NEEDS: dict[Kind, tuple[str, ...]] = {
    "word": ("mammoth", "nh3"),
    "html": ("nh3",),
    "tiff": ("PIL",),
}


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """An attachment of a mail: its number from 1, and the id of a document with its bytes."""

    number: int
    name: str
    content_type: str
    size: int
    document: str | None


@dataclass(frozen=True, slots=True)
class OriginalView:
    """The way in which a file is shown; `none` where it is not, for a `reason`."""

    kind: Kind
    reason: str
    attachments: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class MailPart:
    """An attachment of a mail: its number from 1, its name, type, bytes and their SHA-256."""

    number: int
    name: str
    content_type: str
    size: int
    sha256: str


def kind_of_original(data: bytes, name: str, content_type: str) -> Kind:
    """Return what a file is shown as, by its bytes; by name and type only where these say nothing.

    `none`: it can only be saved.
    """
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if picture_type(data):
        return "picture"
    if data[:4] in (b"II*\0", b"MM\0*"):
        return "tiff"
    if data[:4] == b"PK\3\4":
        return "word" if _is_word(data) else "none"
    if content_type.startswith(("text/html", "application/xhtml")):
        return "html"
    if content_type.startswith("message/") or is_mail(data, name) or is_outlook_message(data, name):
        return "mail"
    return "text" if content_type.startswith("text/plain") else "none"


def picture_type(data: bytes) -> str:
    """Return the type of a picture that browsers show, by its first bytes; empty for others."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _PICTURES.items() if data.startswith(start)), "")


def check_shown(kind: Kind) -> None:
    """Raise `OriginalUnavailable` for what is not shown, with the reason."""
    if kind == "text":
        raise OriginalUnavailable("it is plain text, which this page shows in full")
    if kind == "none":
        raise OriginalUnavailable("files of this type are not shown here; save it to see it")
    if any(find_spec(name) is None for name in _NEEDS.get(kind, ())):
        raise OriginalUnavailable(
            'files of this type are shown with pip install "nearfold[originals]"; save it to see it'
        )


def render(kind: Kind, data: bytes, *more: str) -> bytes:
    """Return what `render_original` makes of a file: safe HTML, a picture in PNG, or JSON.

    Raises `OriginalUnavailable` when it fails, or takes too long or too much memory.
    """
    command = [sys.executable, "-c", _START, json.dumps(sys.path), kind, *more]
    try:
        done = subprocess.run(
            command, check=False, input=data, capture_output=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise OriginalUnavailable(
            f"it takes more than {_SECONDS} seconds to show; save it to see it"
        ) from error
    if done.returncode:
        raise OriginalUnavailable("it is damaged, or too large to show; save it to see it")
    return done.stdout


def parts_of(rendered: bytes) -> Sequence[MailPart]:
    """Return the attachments of a mail that was rendered as `parts`, in order."""
    return [MailPart(**fields) for fields in json.loads(rendered)]


def _is_word(data: bytes) -> bool:
    """Return whether a zip is a Word document of bounded size."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            sizes = {part.filename: part.file_size for part in package.infolist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return _WORD_PART in sizes and sum(sizes.values()) <= _MOST_UNPACKED
