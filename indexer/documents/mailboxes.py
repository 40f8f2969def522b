"""Attachments of mails as documents of their own, beside the mail."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email import message_from_bytes
from email.errors import MessageError
from itertools import chain, pairwise
from typing import BinaryIO

from indexer.documents.base import Reading, SourceItem
from indexer.documents.blobs import (
    DamagedRecord,
    LoadedSource,
    NumberedBlobs,
    file_payload,
    inner_blob,
    lines,
    read,
)
from indexer.documents.mail.headers import PARENT
from indexer.documents.mail.message import split_attachments
from indexer.documents.maildir import MailFile
from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob


def divide(mail: Blob, reading: Reading) -> Sequence[Blob] | None:
    """Return a mail without its attachments, then these; None for one that cannot be divided.

    An attachment is known by its name, the second of a name by `#2` after it, and has the id of the
    mail in its metadata. The bytes and digest of the mail stay those of its file.
    """
    try:
        payload = read(mail, reading.max_bytes)
        text, files = split_attachments(payload.data)
    except (ExtractionError, ValueError):
        return None
    if not files:
        return [replace(mail, opener=LoadedSource(payload))]
    source = hashlib.sha256(f"{payload.source}:without attachments".encode("ascii")).hexdigest()
    rest = LoadedSource(replace(payload, data=text, source=source))
    blobs = [replace(mail, opener=rest, source=None)]
    numbered = NumberedBlobs()
    for file in files:
        key = numbered.key(file.name.encode("utf-8", "surrogateescape"))
        name = key.decode("utf-8", "replace")
        content = file_payload(file.data, None)
        if isinstance(mail.opener, MailFile):
            content = mail.opener.with_name(content)
        blob = inner_blob(mail, key, name, content)
        blobs.append(replace(blob, metadata={PARENT: mail.id}))
    return blobs


# Mailboxes in mbox format: one document a message, as if each were a file `.eml`.

_HEADERS = re.compile(rb"\A.*?\r?\n\r?\n", re.DOTALL)
_MOST_HEADERS = 1 << 20
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


def mbox_messages(outer: Blob, stream: BinaryIO, reading: Reading) -> Iterator[SourceItem]:
    """Yield the messages of a mailbox, divided at lines that begin with `From ` and have two of
    three: an empty line above, the date of a delivery, a field of a message below. Without the date
    it is a usual field, or an address follows `From `.

    A message is known by its Message-ID, the second with the same one by `#2` after it; without
    one, by the byte at which it begins. Lines quoted as `>From ` stay as they are.
    """
    numbered = NumberedBlobs()
    try:
        for offset, message in _messages(stream, reading.max_bytes):
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
    place = len(first)
    size = 0
    is_after_empty = False
    message: list[bytes] = []
    for line, following in pairwise(chain(rest, [None, None])):
        if line is None or _is_from_line(line, following, is_after_empty):
            is_whole = size <= max_bytes
            content = b"".join(message) if is_whole else UnreadableFile.too_large(max_bytes)
            yield str(start), content
            start = place
            size = 0
            message = []
            is_after_empty = False
            place += len(line) if isinstance(line, bytes) else 0
            continue
        length = len(line) if isinstance(line, bytes) else max_bytes + 1
        size += length
        place += length
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
    headers = _HEADERS.match(message[:_MOST_HEADERS])
    try:
        parsed = message_from_bytes(headers[0] if headers else message[:_MOST_HEADERS])
        value = parsed["Message-ID"]
    except (MessageError, ValueError):
        return None
    return str(value).strip().strip("<>") or None if value else None
