"""The files that documents were read from, given only as they were when they were indexed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from indexer.documents import blobs
from indexer.documents.base import ReadOptions, is_mail, may_be_mail
from indexer.documents.blobs import INSIDE
from indexer.documents.containers import expand, holds_files
from indexer.documents.mail.message import is_outlook_message
from indexer.errors import ExtractionError, UsageError
from indexer.model import Blob, Row

MAX_BYTES = 256 << 20  # of a container in which a file is looked for
_PIECE = 1 << 20


class OriginalUnavailable(UsageError):
    """Raised when the file of a document is not given; the text says why."""


class OriginalFiles:
    """The files below a folder; none at all without one."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def path(self, row: Row) -> Path | None:
        """Return the regular file that a document was read from, None if it may not be served.

        It must lie inside the folder of originals after links are followed.
        """
        return self._file(row.path)

    def is_available(self, row: Row) -> bool:
        """Return whether there is a file to look for: the document's own, or its container.

        Its bytes may have changed.
        """
        if self.path(row):
            return True
        outer, inside, _ = row.path.partition(INSIDE)
        return bool(inside) and self._file(outer) is not None and holds_files(outer)

    def is_gone(self, row: Row) -> bool:
        """Return whether the file of a document is no longer in the folder of originals.

        A path that goes on inside a file, as that of an attachment, is not gone with that file.
        """
        path = self._resolve(row.path)
        try:
            if path is None or self._root is None or path.exists():
                return False
            inside = path.parents[: len(path.parents) - len(self._root.parents)]
            return not any(parent.is_file() for parent in inside)
        except (OSError, ValueError):
            return False

    def open(self, row: Row) -> BinaryIO:
        """Open the bytes that a document was read from, at the first one.

        They have the digest that is stored (`raw`). Raises `OriginalUnavailable`.
        """
        if self._root is None:
            raise OriginalUnavailable(
                "files are not served here; start nearfold serve with --originals ROOT"
            )
        if not row.raw:
            raise OriginalUnavailable("the store does not know the bytes of this document's file")
        path = self.path(row)
        try:
            return _verified(path, row.raw) if path else self._member(row)
        except ExtractionError as error:
            raise OriginalUnavailable(f"its file cannot be read: {error}") from error

    def _member(self, row: Row) -> BinaryIO:
        """Return the bytes of a file in an archive or a mailbox, or attached to a mail."""
        outer, inside, name = row.path.partition(INSIDE)
        path = self._file(outer) if inside else None
        if path is None:
            raise OriginalUnavailable(
                "its file is gone"
                if self.is_gone(row)
                else "its file is not in the folder of originals"
            )
        if not holds_files(outer):
            raise OriginalUnavailable("it is a record of a table, and has no file of its own")
        if path.stat().st_size > MAX_BYTES:
            raise OriginalUnavailable(
                f"it is in a container of more than {MAX_BYTES >> 20} MB; save that and open it"
            )
        is_there = False
        for blob in _members(path, outer, name):
            if blob.path == row.path:
                is_there = True
                payload = blobs.read(blob, MAX_BYTES)
                if payload.raw == row.raw:
                    return io.BytesIO(payload.data)
        raise OriginalUnavailable(_CHANGED if is_there else f"it is gone from {outer}")

    def _file(self, name: str) -> Path | None:
        path = self._resolve(name)
        try:
            return path if path is not None and path.is_file() else None
        except (OSError, ValueError):
            return None

    def _resolve(self, name: str) -> Path | None:
        """Return a path after links are followed; None outside the originals."""
        if self._root is None or not name:
            return None
        try:
            path = Path(os.path.realpath(name))
        except (OSError, ValueError):
            return None
        return path if path.is_relative_to(self._root) else None


_CHANGED = "its file has changed since it was indexed; index it again to see it"


def _members(path: Path, name: str, member: str) -> Iterator[Blob]:
    """Yield the blobs in a container; attachments of mails, too, if `member` names one."""
    outer = Blob("", b"", name, os.fsencode(path), path.stat().st_size, None)
    is_attachment = may_be_mail(name) or INSIDE in member
    read_options = ReadOptions(max_bytes=MAX_BYTES, attachments=is_attachment)
    for item in expand([outer], [name], read_options, set()):
        if isinstance(item, Blob):
            yield item


def _verified(path: Path, raw: str) -> BinaryIO:
    """Open a regular file whose SHA-256 is `raw`."""
    stream = blobs.stream(Blob("", b"", str(path), os.fsencode(path), 0, None))
    try:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OriginalUnavailable("its file is not a regular file any more")
        digest = hashlib.sha256()
        while piece := stream.read(_PIECE):
            digest.update(piece)
        if digest.hexdigest() != raw:
            raise OriginalUnavailable(_CHANGED)
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    return stream


# The kinds of files that pages show, the view of one, and the process that makes its pages.

Kind: TypeAlias = Literal["pdf", "picture", "tiff", "word", "mail", "html", "text", "none"]
MAX_DISPLAYED = 64 << 20  # bytes of a file that is shown
_SECONDS = 20
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from indexer.review.originals.render import main; sys.exit(main(sys.argv[2:]))"
)
_WORD_PART = "word/document.xml"
_MAX_UNPACKED = 200 << 20
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


def check_displayable(kind: Kind) -> None:
    """Raise `OriginalUnavailable` for a file that is not shown, with the reason."""
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
    return _WORD_PART in sizes and sum(sizes.values()) <= _MAX_UNPACKED
