"""Zip archives: one document a member, read one after the other, nothing written to disk."""

from __future__ import annotations

import contextlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime, timezone
from lzma import LZMAError
from typing import BinaryIO

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob
from indexer.sources.archives import Allowance
from indexer.sources.base import Reading, SourceItem
from indexer.sources.members import INSIDE, NumberedBlobs, archive_member
from indexer.sources.payloads import bounded, file_payload, seekable

_ENCRYPTED = 1
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def blobs(outer: Blob, stream: BinaryIO, reading: Reading) -> Iterator[SourceItem]:
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
        except _DAMAGE as error:
            yield FailedBlob(
                outer.path,
                f"it cannot be read as a zip archive ({error}); repair the file, then run again",
            )
            return
        allowance = Allowance.of(outer, reading.max_bytes)
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
        result = _read(archive, info, allowance, modified)
    return archive_member(outer, info.filename, numbered, result, modified)


def _read(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, modified: int | None
) -> Payload | UnreadableFile:
    if allowance.is_spent:
        return allowance.refusal()
    try:
        with archive.open(info) as stream:
            data = bounded(stream, allowance.most)  # type: ignore[arg-type]
    except _DAMAGE as error:
        return UnreadableFile(
            reason=f"the archive is damaged here ({error})", remedy="repair it, then run again"
        )
    if isinstance(data, UnreadableFile):
        allowance.take(allowance.most)
        return data
    allowance.take(len(data))
    return file_payload(data, modified)


def _modified(info: zipfile.ZipInfo) -> int | None:
    """Return nanoseconds since 1970; archives name no time zone, so the time is taken for UTC."""
    try:
        return int(datetime(*info.date_time, tzinfo=timezone.utc).timestamp()) * 10**9
    except ValueError:
        return None
