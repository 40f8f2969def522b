"""The files that documents were read from, given only as they were when they were indexed."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from indexer.errors import ExtractionError, UsageError
from indexer.model import Blob, Row
from indexer.sources import read_blob
from indexer.sources.base import Reading
from indexer.sources.containers import expand, holds_files, may_be_mail
from indexer.sources.members import INSIDE

MOST_BYTES = 256 << 20  # of a container in which a file is looked for
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
        """Return whether there is a file to look for: that of a document, or the container of it.

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
        if path.stat().st_size > MOST_BYTES:
            raise OriginalUnavailable(
                f"it is in a container of more than {MOST_BYTES >> 20} MB; save that and open it"
            )
        is_there = False
        for blob in _members(path, outer, name):
            if blob.path == row.path:
                is_there = True
                payload = read_blob.read(blob, MOST_BYTES)
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
    reading = Reading(max_bytes=MOST_BYTES, attachments=is_attachment)
    for item in expand([outer], [name], reading, set()):
        if isinstance(item, Blob):
            yield item


def _verified(path: Path, raw: str) -> BinaryIO:
    """Open a regular file whose SHA-256 is `raw`."""
    stream = read_blob.stream(Blob("", b"", str(path), os.fsencode(path), 0, None))
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
