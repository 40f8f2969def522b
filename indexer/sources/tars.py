"""Tar archives, plain or packed by gzip, bzip2 or xz: one document a member, in one pass."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from lzma import LZMAError
from typing import IO, BinaryIO, cast

from indexer.errors import UnreadableFile
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob
from indexer.sources.archives import Allowance
from indexer.sources.base import Reading, SourceItem
from indexer.sources.members import INSIDE, NumberedBlobs, archive_member
from indexer.sources.payloads import file_payload

_DAMAGE = (tarfile.TarError, zlib.error, LZMAError, OSError, EOFError, ValueError)


class _Header(tarfile.TarInfo):
    """A header that must be whole: anything else but the end mark is damage, never a quiet end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                raise
            reason = str(error) if buf else "it has no mark at its end, so members may be missing"
            raise tarfile.ReadError(reason) from error


def blobs(outer: Blob, stream: BinaryIO, reading: Reading) -> Iterator[SourceItem]:
    """Yield the files of an archive in its order; an archive within it is one document.

    Links, devices and the like are `SkippedBlob`; a member that is too large fails. Of two members
    with one name the second is known by the name and `#2`. The sum of unpacked bytes is bounded;
    beyond it, and where it is damaged, the rest fails.
    """
    try:
        with tarfile.open(fileobj=stream, mode="r|*", tarinfo=_Header) as archive:
            yield from _members(outer, archive, reading)
    except UnreadableFile as error:
        yield FailedBlob(outer.path, str(error))
    except _DAMAGE as error:
        yield FailedBlob(
            outer.path,
            f"it is damaged, or not a tar archive ({error}); repair the file, then run again",
        )


def _members(outer: Blob, archive: tarfile.TarFile, reading: Reading) -> Iterator[SourceItem]:
    allowance = Allowance.of(outer, reading.max_bytes)
    numbered = NumberedBlobs()
    for info in archive:
        allowance.take(info.size)
        if allowance.is_spent:
            raise allowance.refusal()
        if info.isdir():
            continue
        if not info.isfile():
            name = info.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            yield SkippedBlob(f"{outer.path}{INSIDE}{name}", "special_file")
            continue
        modified = int(info.mtime * 10**9)
        result = _read(archive, info, reading.max_bytes, modified)
        yield archive_member(outer, info.name, numbered, result, modified)


def _read(
    archive: tarfile.TarFile, info: tarfile.TarInfo, max_bytes: int, modified: int
) -> Payload | UnreadableFile:
    if info.size > max_bytes:
        return UnreadableFile.too_large(max_bytes, info.size)
    with cast(IO[bytes], archive.extractfile(info)) as stream:
        return file_payload(stream.read(), modified)
