"""Mailboxes in mbox format, one document a message, as if each were a file `.eml`; Maildirs."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import BinaryIO

from indexer.documents import blobs
from indexer.documents.base import ReadOptions, SourceItem
from indexer.documents.blobs import DamagedRecord, NumberedBlobs, file_payload, inner_blob, lines
from indexer.errors import UnreadableFile
from indexer.model import Blob, FailedBlob, Payload

# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH208
# (pathlib knows no paths of bytes)

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
    from email import message_from_bytes
    from email.errors import MessageError

    headers = _HEADERS.match(message[:_MAX_HEADERS])
    try:
        parsed = message_from_bytes(headers[0] if headers else message[:_MAX_HEADERS])
        value = parsed["Message-ID"]
    except (MessageError, ValueError):
        return None
    return str(value).strip().strip("<>") or None if value else None


# Maildirs: folders of mails, a file each, whose names change when a mail is read or answered. A
# Maildir has the folders `tmp`, where mails are delivered, `new` and `cur`. A mail moves from `new`
# to `cur` when a program sees it, and gets its flags behind `:2,` there (D. J. Bernstein, "Using
# maildir format"). What stays is the unique name before the colon.

_FOLDERS = (b"cur", b"new", b"tmp")
_MESSAGE = re.compile(rb"(?P<unique>\d{9,}\.[^/:]+\.[^/:]+)(?::[12],[^/]*)?")  # time, id, host


@dataclass(frozen=True, slots=True)
class MailFile:
    """A reader of a mail in a Maildir; its digest changes with its folder and flags, too, so that
    the stored path stays the path of the file.
    """

    path: bytes

    def read(self, max_bytes: int) -> Payload:
        """Read the file as `read_blob.read` does."""
        return self.with_name(blobs.read_file(self.path, max_bytes))

    def with_name(self, payload: Payload) -> Payload:
        """Return a payload, of the mail or of an attachment, whose digest changes with the name
        of the file.
        """
        name = b"/".join(self.path.rsplit(b"/", 2)[-2:])
        source = hashlib.sha256(payload.source.encode("ascii") + name).hexdigest()
        return replace(payload, source=source)

    def stream(self) -> BinaryIO:
        """Open the file as `read_blob.stream` does."""
        return blobs.open_file(self.path)


def holds_messages(folder: bytes) -> bool:
    """Return whether a folder is the `cur` or `new` of a Maildir."""
    return os.path.basename(folder) in _FOLDERS[:2] and _is_in_maildir(folder)


def holds_deliveries(folder: bytes) -> bool:
    """Return whether a folder is the `tmp` of a Maildir."""
    return os.path.basename(folder) == _FOLDERS[2] and _is_in_maildir(folder)


def _is_in_maildir(folder: bytes) -> bool:
    parent = os.path.dirname(folder)
    return all(os.path.isdir(os.path.join(parent, name)) for name in _FOLDERS)


def is_message(path: bytes) -> bool:
    """Return whether a file is a mail in a Maildir, by its name and folder."""
    is_named = unique_name(path.rpartition(b"/")[2]) is not None
    return is_named and holds_messages(os.path.dirname(path))


def unique_name(name: bytes) -> bytes | None:
    """Return the part of the name of a mail that stays; None for a file that is no mail.

    >>> unique_name(b"1707123600.M1P2.host:2,FS"), unique_name(b"2024.01.txt")
    (b'1707123600.M1P2.host', None)
    """
    match = _MESSAGE.fullmatch(name)
    return match["unique"] if match else None


def message_keys(folder: bytes, prefix: bytes, names: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the key of each file in the folder `cur` or `new` of a Maildir.

    `prefix`: the prefix of its keys. A mail has the same key in both folders, with any flags: the
    one of its unique name in `cur`. A second mail of that name, such as one in `new` that is in
    `cur` too, keeps its whole name; so does a file that is no mail.
    """
    known: set[bytes | None] = {None}
    moved = prefix
    if os.path.basename(folder) == b"new":
        known |= {unique_name(name) for name in os.listdir(os.path.join(folder, b"..", b"cur"))}
        moved = prefix.removesuffix(b"new/") + b"cur/" if prefix else prefix
    for name in names:
        unique = unique_name(name)
        yield prefix + name if unique is None or unique in known else moved + unique
        known.add(unique)
