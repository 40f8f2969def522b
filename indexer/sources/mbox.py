"""Mailboxes in mbox format: one document a message, as if each were a file `.eml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from itertools import chain
from typing import BinaryIO

from indexer.errors import UnreadableFile
from indexer.model import Blob, FailedBlob
from indexer.sources.base import NumberedBlobs, Reading, file_payload, inner, too_large
from indexer.sources.record_documents import DamagedRecord
from indexer.sources.streams import lines, open_stream

_HEADERS = re.compile(rb"\A.*?\r?\n\r?\n", re.DOTALL)
_MOST_HEADERS = 1 << 20


def blobs(outer: Blob, reading: Reading) -> Iterator[Blob | FailedBlob]:
    """The messages of a mailbox, divided at lines that begin with `From ` after an empty one.

    A message is known by its Message-ID, the second with the same one by `#2` after it; without
    one, by the byte at which it begins. Lines quoted as `>From ` stay as they are.
    """
    numbered = NumberedBlobs()
    with open_stream(outer) as stream:
        if isinstance(stream, FailedBlob):
            yield stream
            return
        try:
            for offset, message in _messages(stream, reading.max_bytes):
                name = (
                    offset
                    if isinstance(message, UnreadableFile)
                    else _message_id(message) or offset
                )
                key = numbered.key(name.encode("utf-8", "surrogateescape"))
                result = (
                    message if isinstance(message, UnreadableFile) else file_payload(message, None)
                )
                yield inner(outer, key, f"{key.decode('utf-8', 'replace')}.eml", result)
        except DamagedRecord as error:
            yield FailedBlob(outer.path, str(error))


def _messages(stream: BinaryIO, max_bytes: int) -> Iterator[tuple[str, bytes | UnreadableFile]]:
    """Each message without its `From ` line, and the number of the byte where that line begins."""
    found = lines(stream, max_bytes)
    first = next(found, b"")
    if not isinstance(first, bytes) or not first.startswith(b"From "):
        if first:
            raise DamagedRecord(
                "it is no mailbox, since it does not begin with `From `; rename it, or give --containers none"
            )
        return
    start, place, size, empty = 0, len(first), 0, False
    message: list[bytes] = []
    for line in chain(found, [None]):
        if line is None or (empty and isinstance(line, bytes) and line.startswith(b"From ")):
            yield str(start), b"".join(message) if size <= max_bytes else too_large(max_bytes)
            start, size, message, empty = place, 0, [], False
            place += len(line or b"")
            continue
        length = len(line) if isinstance(line, bytes) else max_bytes + 1
        size, place = size + length, place + length
        if size <= max_bytes and isinstance(line, bytes):
            message.append(line)
        empty = line in (b"\n", b"\r\n")


def _message_id(message: bytes) -> str | None:
    headers = _HEADERS.match(message[:_MOST_HEADERS])
    try:
        found = message_from_bytes(headers[0] if headers else message[:_MOST_HEADERS])["Message-ID"]
    except (MessageError, ValueError):
        return None
    return str(found).strip().strip("<>") or None if found else None
