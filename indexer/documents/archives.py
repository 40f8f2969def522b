"""Tar archives, plain or packed by gzip, bzip2 or xz: one document a member, in one pass."""

from __future__ import annotations

import contextlib
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime, timezone
from lzma import LZMAError
from typing import IO, BinaryIO, cast

from indexer.documents.base import ReadOptions, SourceItem
from indexer.documents.blobs import (
    INSIDE,
    Allowance,
    NumberedBlobs,
    archive_member,
    bounded,
    file_payload,
    seekable,
)
from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob

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


def tar_members(outer: Blob, stream: BinaryIO, read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the files of an archive in its order; an archive within it is one document.

    Links, devices and the like are `SkippedBlob`; a member that is too large fails. Of two members
    with one name the second is known by the name and `#2`. The sum of unpacked bytes is bounded;
    beyond it, and where it is damaged, the rest fails.
    """
    try:
        with tarfile.open(fileobj=stream, mode="r|*", tarinfo=_Header) as archive:
            yield from _members(outer, archive, read_options)
    except UnreadableFile as error:
        yield FailedBlob(outer.path, str(error))
    except _DAMAGE as error:
        yield FailedBlob(
            outer.path,
            f"it is damaged, or not a tar archive ({error}); repair the file, then run again",
        )


def _members(
    outer: Blob, archive: tarfile.TarFile, read_options: ReadOptions
) -> Iterator[SourceItem]:
    allowance = Allowance.of(outer, read_options.max_bytes)
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
        result = _read(archive, info, read_options.max_bytes, modified)
        yield archive_member(outer, info.name, numbered, result, modified)


def _read(
    archive: tarfile.TarFile, info: tarfile.TarInfo, max_bytes: int, modified: int
) -> Payload | UnreadableFile:
    if info.size > max_bytes:
        return UnreadableFile.too_large(max_bytes, info.size)
    with cast(IO[bytes], archive.extractfile(info)) as stream:
        return file_payload(stream.read(), modified)


# Zip archives: one document a member, read one after the other, nothing written to disk.

_ENCRYPTED = 1
_DAMAGE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def zip_members(outer: Blob, stream: BinaryIO, read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the files of an archive in the order of its directory; an archive within it is one
    document.

    Links are `SkippedBlob`; encrypted, damaged and too large members fail. Of two members with one
    name the second is known by the name and `#2`. The sum of unpacked bytes is bounded: members
    beyond it fail.
    """
    with contextlib.ExitStack() as stack:
        try:
            content = stack.enter_context(seekable(stream))
            archive = stack.enter_context(zipfile.ZipFile(content))
        except _DAMAGE_ERRORS as error:
            yield FailedBlob(
                outer.path,
                f"it cannot be read as a zip archive ({error}); repair the file, then run again",
            )
            return
        allowance = Allowance.of(outer, read_options.max_bytes)
        numbered = NumberedBlobs()
        for info in archive.infolist():
            if not info.is_dir():
                yield _member(outer, archive, info, allowance, numbered)


def _member(
    outer: Blob,
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    allowance: Allowance,
    numbered: NumberedBlobs,
) -> Blob | SkippedBlob:
    if stat.S_ISLNK(info.external_attr >> 16):
        return SkippedBlob(f"{outer.path}{INSIDE}{info.filename}", "special_file")
    modified = _modified(info)
    result: Payload | ExtractionError
    if info.flag_bits & _ENCRYPTED:
        result = UnreadableFile(
            reason="it is encrypted", remedy="unpack the archive, then index the folder"
        )
    else:
        result = _read_member(archive, info, allowance, modified)
    return archive_member(outer, info.filename, numbered, result, modified)


def _read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, modified: int | None
) -> Payload | UnreadableFile:
    if allowance.is_spent:
        return allowance.refusal()
    try:
        with archive.open(info) as stream:
            data = bounded(stream, allowance.max_member)  # type: ignore[arg-type]
    except _DAMAGE_ERRORS as error:
        return UnreadableFile(
            reason=f"the archive is damaged here ({error})", remedy="repair it, then run again"
        )
    if isinstance(data, UnreadableFile):
        allowance.take(allowance.max_member)
        return data
    allowance.take(len(data))
    return file_payload(data, modified)


def _modified(info: zipfile.ZipInfo) -> int | None:
    """Return nanoseconds since 1970; archives name no time zone, so the time is taken for UTC."""
    try:
        return int(datetime(*info.date_time, tzinfo=timezone.utc).timestamp()) * 10**9
    except ValueError:
        return None
