"""Mailboxes in mbox format: one document a message, as if each were a file `.eml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from itertools import chain, pairwise
from typing import BinaryIO

from indexer.documents.base import ReadOptions, SourceItem
from indexer.documents.blobs import DamagedRecord, NumberedBlobs, file_payload, inner_blob, lines
from indexer.errors import UnreadableFile
from indexer.model import Blob, FailedBlob

_HEADERS = re.compile(rb"\A.*?\r?\n\r?\n", re.DOTALL)
_MAX_HEADERS = 1 << 20
_FIELD = re.compile(rb"[!-9;-~]+:")
_USUAL_FIELD = re.compile(
    rb"(?:from|to|subject|date|message-id|received|return-path|delivered-to|mime-version"
    rb"|content-[!-9;-~]+|x-[!-9;-~]+|status|sender|reply-to):",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(rb"From \S+@")
_DATE = re.compile(  # as `asctime` writes it (RFC 4155), also with a zone
    rb"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +[A-Z][a-z]{2} +\d{1,2} +\d{1,2}:\d\d(?::\d\d)?"
    rb"(?: +[+-]?\w+)? +\d{4}\b(?: +[+-]?\d{4})?\s*$"
)


def mbox_messages(outer: Blob, stream: BinaryIO, read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the messages of a mailbox, divided at lines that begin with `From ` and have two of
    three: an empty line above, the date of a delivery, a field of a message below. Without the date
    it is a usual field, or an address follows `From `.

    A message is known by its Message-ID, the second with the same one by `#2` after it; without
    one, by the byte at which it begins. Lines quoted as `>From ` stay as they are.
    """
    numbered = NumberedBlobs()
    try:
        for offset, message in _messages(stream, read_options.max_bytes):
            if isinstance(message, UnreadableFile):
                key = numbered.key(offset.encode())
                yield inner_blob(outer, key, f"{key.decode()}.eml", message)
                continue
            name = _message_id(message) or offset
            key = numbered.key(name.encode("utf-8", "surrogateescape"))
            shown = f"{key.decode('utf-8', 'replace')}.eml"
            yield inner_blob(outer, key, shown, file_payload(message, None))
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _messages(stream: BinaryIO, max_bytes: int) -> Iterator[tuple[str, bytes | UnreadableFile]]:
    """Yield the number of the byte where a message's `From ` line begins, and the message without
    that line.
    """
    rest = lines(stream, max_bytes)
    first = next(rest, b"")
    if not isinstance(first, bytes) or not first.startswith(b"From "):
        if first:
            raise DamagedRecord(
                "it is not a mailbox: it does not begin with `From `; "
                "rename it, or give --containers none"
            )
        return
    start = 0
    position = len(first)
    size = 0
    is_after_empty = False
    message: list[bytes] = []
    for line, following in pairwise(chain(rest, [None, None])):
        if line is None or _is_from_line(line, following, is_after_empty):
            is_whole = size <= max_bytes
            content = b"".join(message) if is_whole else UnreadableFile.too_large(max_bytes)
            yield str(start), content
            start = position
            size = 0
            message = []
            is_after_empty = False
            position += len(line) if isinstance(line, bytes) else 0
            continue
        length = len(line) if isinstance(line, bytes) else max_bytes + 1
        size += length
        position += length
        if size <= max_bytes and isinstance(line, bytes):
            message.append(line)
        is_after_empty = line in (b"\n", b"\r\n")


def _is_from_line(
    line: bytes | UnreadableFile, following: bytes | UnreadableFile | None, is_after_empty: bool
) -> bool:
    """Return whether a line begins a message, also where the program that wrote the box left out
    the empty line above.

    A sentence may begin with "From", where the program quoted no such line.
    """
    if not isinstance(line, bytes) or not line.startswith(b"From "):
        return False
    below = following if isinstance(following, bytes) else b""
    if _DATE.search(line):
        return is_after_empty or _FIELD.match(below) is not None
    field = _FIELD if _ADDRESSED.match(line) else _USUAL_FIELD
    return is_after_empty and field.match(below) is not None


def _message_id(message: bytes) -> str | None:
    """Return the Message-ID without its brackets, None without one."""
    headers = _HEADERS.match(message[:_MAX_HEADERS])
    try:
        parsed = message_from_bytes(headers[0] if headers else message[:_MAX_HEADERS])
        value = parsed["Message-ID"]
    except (MessageError, ValueError):
        return None
    return str(value).strip().strip("<>") or None if value else None
