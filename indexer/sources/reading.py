"""Reading one file: the bytes, and what tells that it is still the same file."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from indexer.errors import Unreadable
from indexer.model import Blob

_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
_PIECE = 1 << 30


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes of a file as they were at one moment.

    `modified` is in nanoseconds since 1970 UTC. `raw` is the SHA-256 of the bytes, `source` the SHA-256 of size, time and
    bytes; both 64 hexadecimal digits.
    """

    data: bytes
    size: int
    modified: int
    raw: str
    source: str


def read(blob: Blob, max_bytes: int) -> Payload:
    """Read a file once; a second time when it changed meanwhile.

    Size, time and bytes come from the same open file. Never waits on a FIFO and never follows a symbolic link that took the
    file's place. Raises `Unreadable` for what is gone, forbidden, not a regular file any more, larger than `max_bytes` (it is
    not read then), failing, or changing under both readings.
    """
    try:
        payload = _read_once(blob.opener, max_bytes) or _read_once(blob.opener, max_bytes)
    except OSError as error:
        raise _unreadable(error) from error
    if payload is None:
        raise Unreadable(reason="the file changed while it was read", mend="run again when nothing writes to it")
    return payload


def _read_once(opener: bytes, max_bytes: int) -> Payload | None:
    """The file's payload, or None when it changed during the reading."""
    handle = os.open(opener, _FLAGS)
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise Unreadable(reason="it is not a regular file any more", mend="run again")
        if before.st_size > max_bytes:
            raise _too_large(before.st_size, max_bytes)
        data = _bounded(handle, before.st_size + 1)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    if len(data) != before.st_size or (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        return None
    raw = hashlib.sha256(data).hexdigest()
    source = hashlib.sha256(f"{before.st_size}:{before.st_mtime_ns}:{raw}".encode("ascii")).hexdigest()
    return Payload(data, before.st_size, before.st_mtime_ns, raw, source)


def _bounded(handle: int, most: int) -> bytes:
    """At most `most` bytes up to the end of the file."""
    pieces = []
    while most > 0 and (piece := os.read(handle, min(most, _PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _too_large(size: int, max_bytes: int) -> Unreadable:
    return Unreadable(
        reason=f"the file has {size / 2**20:,.0f} MB, more than the limit of {max_bytes / 2**20:,.0f} MB",
        mend="split it, or allow more in `Limits.bytes` from Python",
    )


def _unreadable(error: OSError) -> Unreadable:
    if isinstance(error, FileNotFoundError):
        return Unreadable(reason="the file vanished before it was read", mend="run again")
    if isinstance(error, PermissionError):
        return Unreadable(reason="no permission to read the file", mend="grant it, or run as a user who has it")
    return Unreadable(reason=f"the file could not be read ({error.strerror or error})", mend="check the disk, then run again")
