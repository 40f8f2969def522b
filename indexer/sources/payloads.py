"""The contents of blobs: payloads, size limits, lines and seekable streams."""

from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from indexer.errors import NearfoldError, UnreadableFile
from indexer.model import Payload

_PIECE = 1 << 20


class DamagedRecord(NearfoldError):
    """Raised when the rest of a container cannot be read."""


def file_payload(data: bytes, modified: int | None) -> Payload:
    """Return the payload of a file outside the operating system's file system.

    Only a change of its bytes makes it a changed file.
    """
    raw = hashlib.sha256(data).hexdigest()
    source = hashlib.sha256(f"{len(data)}:{raw}".encode("ascii")).hexdigest()
    return Payload(data, len(data), modified, raw, source)


def bounded(stream: BinaryIO, max_bytes: int) -> bytes | UnreadableFile:
    """Read a whole stream; the error instead when it holds more than `max_bytes`."""
    data = stream.read(max_bytes + 1)
    return data if len(data) <= max_bytes else UnreadableFile.too_large(max_bytes)


def lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | UnreadableFile]:
    """Yield the lines of a stream, an error in place of a line that is too long.

    Raises `DamagedRecord` when the stream cannot be read to its end.
    """
    try:
        while line := stream.readline(max_bytes + 1):
            if len(line) <= max_bytes or line.endswith(b"\n"):
                yield line
                continue
            while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
                pass
            yield UnreadableFile.too_large(max_bytes)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedRecord(
            f"it cannot be read to its end ({error}); repair the file, then run again"
        ) from error


@contextlib.contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Open the stream itself, or its copy in a nameless temporary file if it cannot seek."""
    try:
        stream.seek(0, io.SEEK_END)
        stream.seek(0)
    except (OSError, ValueError):
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy, _PIECE)
            copy.seek(0)
            yield cast(BinaryIO, copy)
        return
    yield stream
