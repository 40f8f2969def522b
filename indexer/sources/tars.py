"""Tar archives, plain or packed by gzip, bzip2 or xz: one document a member, in one pass from front
to back.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from lzma import LZMAError
from typing import IO, cast

from indexer.errors import UnreadableFile
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob
from indexer.sources.archives import Allowance, member
from indexer.sources.base import INSIDE, Found, NumberedBlobs, Reading, file_payload, too_large
from indexer.sources.read_blob import stream as stream_of

_DAMAGE = (tarfile.TarError, zlib.error, LZMAError, OSError, EOFError, ValueError)


class _Header(tarfile.TarInfo):
    """A header that must be whole: what is neither one nor the mark at the end is damage, never a
    quiet end.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                raise
            raise tarfile.ReadError(
                str(error) if buf else "it has no mark at its end, so members may be missing"
            ) from error


def blobs(outer: Blob, reading: Reading) -> Iterator[Found]:
    """The files of an archive in its order; an archive within it is one document.

    Links, devices and the like are `SkippedBlob`; a member that is too large has failed. Of two members
    with one name the second is known by the name and `#2`. What is unpacked in sum is bounded;
    beyond it, and where it is damaged, the rest has failed.
    """
    try:
        with (
            stream_of(outer) as stream,
            tarfile.open(fileobj=stream, mode="r|*", tarinfo=_Header) as archive,
        ):
            yield from _members(outer, archive, reading)
    except UnreadableFile as error:
        yield FailedBlob(outer.path, str(error))
    except _DAMAGE as error:
        yield FailedBlob(
            outer.path,
            f"it is no readable tar archive, or damaged ({error}); mend the file, then run again",
        )


def _members(outer: Blob, archive: tarfile.TarFile, reading: Reading) -> Iterator[Found]:
    allowance, numbered = Allowance.of(outer, reading), NumberedBlobs()
    for info in archive:
        allowance.take(info.size)
        if allowance.spent:
            raise allowance.refusal()
        if info.isdir():
            continue
        if not info.isfile():
            yield SkippedBlob(
                f"{outer.path}{INSIDE}{info.name.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')}",
                "special_file",
            )
            continue
        modified = int(info.mtime * 10**9)
        yield member(
            outer, info.name, numbered, _read(archive, info, reading.max_bytes, modified), modified
        )


def _read(
    archive: tarfile.TarFile, info: tarfile.TarInfo, max_bytes: int, modified: int
) -> Payload | UnreadableFile:
    if info.size > max_bytes:
        return too_large(max_bytes, info.size)
    with cast(IO[bytes], archive.extractfile(info)) as stream:
        return file_payload(stream.read(), modified)
