"""Zip archives: one document a member, read one after the other. Nothing is written to disk, so
names can do no harm.
"""

from __future__ import annotations

import contextlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime, timezone
from lzma import LZMAError

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob
from indexer.sources.archives import Allowance, member
from indexer.sources.base import Found, NumberedBlobs, Reading, bounded, file_payload
from indexer.sources.streams import open_stream, seekable

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


def blobs(outer: Blob, reading: Reading) -> Iterator[Found]:
    """The files of an archive in the order of its directory; an archive within it is one document.

    Links are `SkippedBlob`; what is encrypted, damaged or too large has failed. Of two members with one
    name the second is known by the name and `#2`. What is unpacked in sum is bounded: members
    beyond that have failed.
    """
    with open_stream(outer) as stream:
        if isinstance(stream, FailedBlob):
            yield stream
            return
        with contextlib.ExitStack() as stack:
            try:
                archive = stack.enter_context(
                    zipfile.ZipFile(stack.enter_context(seekable(stream)))
                )
            except _DAMAGE as error:
                yield FailedBlob(
                    outer.path,
                    f"it is no readable zip archive ({error}); mend the file, then run again",
                )
                return
            allowance, numbered = Allowance.of(outer, reading), NumberedBlobs()
            for info in archive.infolist():
                if not info.is_dir():
                    yield _found(outer, archive, info, allowance, numbered)


def _found(
    outer: Blob,
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    allowance: Allowance,
    numbered: NumberedBlobs,
) -> Blob | SkippedBlob:
    if stat.S_ISLNK(info.external_attr >> 16):
        return SkippedBlob(f"{outer.path}!/{info.filename}", "special_file")
    modified = _modified(info)
    result: Payload | ExtractionError
    if info.flag_bits & _ENCRYPTED:
        result = UnreadableFile(
            reason="it is encrypted", remedy="unpack the archive, then index the folder"
        )
    else:
        result = _read(archive, info, allowance, modified)
    return member(outer, info.filename, numbered, result, modified)


def _read(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, modified: int | None
) -> Payload | UnreadableFile:
    if allowance.spent:
        return allowance.refusal()
    try:
        with archive.open(info) as stream:
            data = bounded(stream, allowance.most)  # type: ignore[arg-type]
    except _DAMAGE as error:
        return UnreadableFile(
            reason=f"the archive is damaged here ({error})", remedy="repair it, then run again"
        )
    allowance.take(allowance.most if isinstance(data, UnreadableFile) else len(data))
    return data if isinstance(data, UnreadableFile) else file_payload(data, modified)


def _modified(info: zipfile.ZipInfo) -> int | None:
    """Nanoseconds since 1970; the archive does not tell the zone, so it is taken for UTC."""
    try:
        return int(datetime(*info.date_time, tzinfo=timezone.utc).timestamp()) * 10**9
    except ValueError:
        return None
