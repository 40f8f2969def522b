"""Reading one blob with the digest by which changes are noticed: files here, others by their own
opener.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import BinaryIO

from indexer.errors import UnreadableFile
from indexer.model import Blob, Payload
from indexer.system.failpoints import reached

_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
_PIECE = 1 << 30


def read(blob: Blob, max_bytes: int) -> Payload:
    """Read a blob; a file that changes meanwhile is read a second time.

    Size, time and bytes of a file come from the same open file; `source` is the SHA-256 of all
    three. Never waits on a FIFO and never follows a symbolic link that took the file's place.
    Raises `UnreadableFile` for a file that is gone, forbidden, not a regular file any more, larger
    than `max_bytes` (it is not read then), failing, or changed during both readings.
    """
    if not isinstance(blob.opener, bytes):
        return blob.opener.read(max_bytes)
    return read_file(blob.opener, max_bytes)


def read_file(place: bytes, max_bytes: int) -> Payload:
    """Read a file, as `read` does."""
    try:
        reached("before_read")
        payload = _read_once(place, max_bytes) or _read_once(place, max_bytes)
        reached("after_read")
    except OSError as error:
        raise _unreadable(error) from error
    if payload is None:
        raise UnreadableFile(
            reason="the file changed while it was read",
            remedy="run again when nothing writes to it",
        )
    return payload


def stream(blob: Blob) -> BinaryIO:
    """Open a blob's bytes; the caller closes the stream. Raises `UnreadableFile`."""
    if not isinstance(blob.opener, bytes):
        return blob.opener.stream()
    return open_file(blob.opener)


def open_file(place: bytes) -> BinaryIO:
    """Open a file, as `stream` does."""
    try:
        return os.fdopen(os.open(place, _FLAGS), "rb")
    except OSError as error:
        raise _unreadable(error) from error


def _read_once(opener: bytes, max_bytes: int) -> Payload | None:
    """Return the file's payload, None when it changed meanwhile."""
    handle = os.open(opener, _FLAGS)
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise UnreadableFile(reason="it is not a regular file any more", remedy="run again")
        if before.st_size > max_bytes:
            raise UnreadableFile.too_large(max_bytes, before.st_size)
        data = _bounded(handle, before.st_size + 1)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    size = before.st_size
    modified = before.st_mtime_ns
    if len(data) != size or (after.st_size, after.st_mtime_ns) != (size, modified):
        return None
    raw = hashlib.sha256(data).hexdigest()
    source = hashlib.sha256(f"{size}:{modified}:{raw}".encode("ascii")).hexdigest()
    return Payload(data, size, modified, raw, source)


def _bounded(handle: int, most: int) -> bytes:
    """Read up to the end of the file, at most `most` bytes; all but one are the whole file, since
    that one was requested too.
    """
    pieces = []
    while most > 0 and (piece := os.read(handle, min(most, _PIECE))):
        pieces.append(piece)
        most -= len(piece)
        if most == 1:
            break
    return b"".join(pieces)


def _unreadable(error: OSError) -> UnreadableFile:
    if isinstance(error, FileNotFoundError):
        return UnreadableFile(reason="the file vanished before it was read", remedy="run again")
    if isinstance(error, PermissionError):
        return UnreadableFile(
            reason="no permission to read the file", remedy="grant it, or run as a user who has it"
        )
    return UnreadableFile(
        reason=f"the file could not be read ({error.strerror or error})",
        remedy="check the disk, then run again",
    )
