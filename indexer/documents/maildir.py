"""Maildirs: folders of mails, a file each, whose names change when a mail is read or answered.

A Maildir has the folders `tmp`, where mails are delivered, `new` and `cur`. A mail moves from `new`
to `cur` when a program sees it, and gets its flags behind `:2,` there (D. J. Bernstein, "Using
maildir format"). What stays is the unique name before the colon.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from indexer.documents import blobs
from indexer.model import Payload

# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH208
# (pathlib knows no paths of bytes)


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
