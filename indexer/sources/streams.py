"""Streams of containers: opened with their errors told, unpacked from gzip, cut into lines of
bounded length.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob
from indexer.sources.base import too_large
from indexer.sources.read_blob import stream as stream_of
from indexer.sources.record_documents import DamagedRecord

_PIECE = 1 << 20


@contextlib.contextmanager
def open_stream(outer: Blob) -> Iterator[BinaryIO | FailedBlob]:
    """The bytes of a container, unpacked where its name ends in `.gz`; its failure when it cannot
    be opened.
    """
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(stream_of(outer))
        except ExtractionError as error:
            yield FailedBlob(outer.path, str(error))
            return
        if outer.path.lower().endswith(".gz"):
            stream = cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
        yield stream


@contextlib.contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream, or a copy in a nameless temporary file where the server gives it only from front
    to back.
    """
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


def lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | UnreadableFile]:
    """The lines of a stream, one that is too long as an error. Raises `DamagedRecord` when it cannot be
    read to its end.
    """
    try:
        while line := stream.readline(max_bytes + 1):
            if len(line) <= max_bytes or line.endswith(b"\n"):
                yield line
                continue
            while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
                pass
            yield too_large(max_bytes)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedRecord(
            f"it cannot be read to its end ({error}); mend the file, then run again"
        ) from error
