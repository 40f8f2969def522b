"""The contents of blobs: payloads, size limits, lines and seekable streams; mails of Maildirs."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import BinaryIO, cast

from indexer.errors import ExtractionError, NearfoldError, UnreadableFile
from indexer.model import Blob, Payload
from indexer.system.failpoints import reached

# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH208
# (pathlib knows no paths of bytes)

_PIECE = 1 << 20


class DamagedRecord(NearfoldError):
    """Raised when the rest of a container cannot be read."""


def file_payload(data: bytes, modified: int | None) -> Payload:
    """Return the payload of a file outside the operating system's file system.

    Only a change of its bytes makes it a changed file.
    """
    raw = hashlib.sha256(data).hexdigest()
    source = hashlib.sha256(f"{len(data)}:{raw}".encode("ascii")).hexdigest()
    return Payload(data, len(data), modified, raw, source)


def bounded(stream: BinaryIO, max_bytes: int) -> bytes | UnreadableFile:
    """Read a whole stream; the error instead when it holds more than `max_bytes`."""
    data = stream.read(max_bytes + 1)
    return data if len(data) <= max_bytes else UnreadableFile.too_large(max_bytes)


def lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | UnreadableFile]:
    """Yield the lines of a stream, an error instead of a line that is too long.

    Raises `DamagedRecord` when the stream cannot be read to its end.
    """
    try:
        while line := stream.readline(max_bytes + 1):
            if len(line) <= max_bytes or line.endswith(b"\n"):
                yield line
                continue
            while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
                pass
            yield UnreadableFile.too_large(max_bytes)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedRecord(
            f"it cannot be read completely ({error}); repair the file, then run again"
        ) from error


@contextlib.contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Open the stream itself, or its copy in a nameless temporary file if it cannot seek."""
    try:
        stream.seek(0, io.SEEK_END)
        stream.seek(0)
    except (OSError, ValueError):
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy, _PIECE)
            copy.seek(0)
            yield cast(BinaryIO, copy)
        return
    yield stream


# Blobs of the members of containers: their keys, ids and contents.

INSIDE = "!/"  # separates the path of a container from the name of a member


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """An opener of a payload in memory, as of archives, which are read from front to back."""

    result: Payload | ExtractionError

    def read(self, max_bytes: int) -> Payload:
        """Return the payload. Raises its `ExtractionError`, or `UnreadableFile` when it is too
        large.
        """
        if isinstance(self.result, ExtractionError):
            raise self.result
        if self.result.size > max_bytes:
            raise UnreadableFile.too_large(max_bytes, self.result.size)
        return self.result

    def stream(self) -> BinaryIO:
        """Return the bytes from memory."""
        return io.BytesIO(self.read(1 << 62).data)


@dataclass(slots=True)
class NumberedBlobs:
    """Distinct keys: the second key of a name gets `#2` and so on, skipping keys in use.

    Remembers 16 bytes of each key.
    """

    _seen: dict[bytes, int] = field(default_factory=dict)

    def first(self, key: bytes) -> bool:
        """Return whether a key is new, and remember it."""
        digest = _short(key)
        count = self._seen[digest] = self._seen.get(digest, 0) + 1
        return count == 1

    def key(self, name: bytes) -> bytes:
        """Return the key for the next item of that name.

        >>> numbered = NumberedBlobs()
        >>> numbered.key(b"a"), numbered.key(b"a#2"), numbered.key(b"a"), numbered.key(b"a")
        (b'a', b'a#2', b'a#3', b'a#4')
        """
        if self.first(name):
            return name
        while not self.first(key := name + b"#%d" % self._seen[_short(name)]):
            self._seen[_short(name)] += 1
        return key


def _short(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()[:16]


def identifier(space: bytes, key: bytes) -> str:
    """Return the first 32 hexadecimal digits of the SHA-256 of both, each after its length in 8
    bytes, big-endian.
    """
    return hashlib.sha256(length_prefixed((space, key))).hexdigest()[:32]


def length_prefixed(parts: Iterable[bytes]) -> bytes:
    """Return the parts, each after its length in 8 bytes, big-endian: others give other bytes."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def inner_id(outer: Blob, key: bytes) -> str:
    """Return the id of what a container holds under a key."""
    return identifier(outer.id.encode(), INSIDE.encode() + key)


def inner_blob(
    outer: Blob,
    key: bytes,
    name: str,
    result: Payload | ExtractionError,
    modified: int | None = None,
) -> Blob:
    """Return a blob inside a container: its id is made of the container's id and its key, its path
    of both names.
    """
    size = 0 if isinstance(result, ExtractionError) else result.size
    return Blob(
        inner_id(outer, key),
        key,
        f"{outer.path}{INSIDE}{name}",
        LoadedSource(result),
        size,
        modified,
        other_ids=tuple if outer.other_ids is tuple else partial(_inner_ids, outer.other_ids, key),
    )


def _inner_ids(outer_ids: Callable[[], Iterable[str]], key: bytes) -> Iterator[str]:
    for id in _ids_of(outer_ids):
        yield identifier(id.encode(), INSIDE.encode() + key)


@lru_cache(16)
def _ids_of(outer_ids: Callable[[], Iterable[str]]) -> tuple[str, ...]:
    """Return the other ids of a container, once for all that it holds."""
    return tuple(outer_ids())


def file_ids(folder: bytes, key: bytes) -> Iterator[str]:
    """Yield the ids that a file has by each other PATH above it than `folder`, the nearest first.

    `key`: its path relative to that folder.
    """
    whole = os.path.join(folder, key)
    above = os.path.dirname(whole)
    while True:
        if above != folder:
            yield identifier(above, whole.removeprefix(above).lstrip(b"/"))
        parent = os.path.dirname(above)
        if parent == above:
            return
        above = parent


def archive_member(
    outer: Blob,
    name: str,
    numbered: NumberedBlobs,
    result: Payload | ExtractionError,
    modified: int | None,
) -> Blob:
    """Return the blob of an archive's member; a name that is not UTF-8 is shown with U+FFFD."""
    raw = name.encode("utf-8", "surrogateescape")
    return inner_blob(outer, numbered.key(raw), raw.decode("utf-8", "replace"), result, modified)


# Read one blob with the digest by which changes are noticed.

_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
_MAX_READ_BYTES = 1 << 30


def read(blob: Blob, max_bytes: int) -> Payload:
    """Read a blob; a file that changes meanwhile is read a second time.

    Size, time and bytes of a file come from the same open file; `source` is the SHA-256 of all
    three. Never waits on a FIFO and never follows a symbolic link that took the file's place.
    Raises `UnreadableFile` for a file that is gone, forbidden, not a regular file any more, larger
    than `max_bytes` (it is not read then), failing, or changed during both readings.
    """
    if not isinstance(blob.opener, bytes):
        return blob.opener.read(max_bytes)
    return read_file(blob.opener, max_bytes)


def read_file(path: bytes, max_bytes: int) -> Payload:
    """Read a file, as `read` does."""
    try:
        reached("before_read")
        payload = _read_once(path, max_bytes) or _read_once(path, max_bytes)
        reached("after_read")
    except OSError as error:
        raise _unreadable(error) from error
    if payload is None:
        raise UnreadableFile(
            reason="the file changed while it was read",
            remedy="run again when nothing writes to it",
        )
    return payload


def stream(blob: Blob) -> BinaryIO:
    """Open a blob's bytes; the caller closes the stream. Raises `UnreadableFile`."""
    if not isinstance(blob.opener, bytes):
        return blob.opener.stream()
    return open_file(blob.opener)


def open_file(path: bytes) -> BinaryIO:
    """Open a file, as `stream` does."""
    try:
        return os.fdopen(os.open(path, _FLAGS), "rb")
    except OSError as error:
        raise _unreadable(error) from error


def _read_once(opener: bytes, max_bytes: int) -> Payload | None:
    """Return the file's payload, None when it changed meanwhile."""
    handle = os.open(opener, _FLAGS)
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise UnreadableFile(reason="it is not a regular file any more", remedy="run again")
        if before.st_size > max_bytes:
            raise UnreadableFile.too_large(max_bytes, before.st_size)
        data = _bounded(handle, before.st_size + 1)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    size = before.st_size
    modified = before.st_mtime_ns
    if len(data) != size or (after.st_size, after.st_mtime_ns) != (size, modified):
        return None
    raw = hashlib.sha256(data).hexdigest()
    source = hashlib.sha256(f"{size}:{modified}:{raw}".encode("ascii")).hexdigest()
    return Payload(data, size, modified, raw, source)


def _bounded(handle: int, left: int) -> bytes:
    """Read up to the end of the file, at most `left` bytes; all but one are the whole file,
    since that one was requested too.
    """
    pieces = []
    while left > 0 and (piece := os.read(handle, min(left, _MAX_READ_BYTES))):
        pieces.append(piece)
        left -= len(piece)
        if left == 1:
            break
    return b"".join(pieces)


def _unreadable(error: OSError) -> UnreadableFile:
    if isinstance(error, FileNotFoundError):
        return UnreadableFile(reason="the file vanished before it was read", remedy="run again")
    if isinstance(error, PermissionError):
        return UnreadableFile(
            reason="no permission to read the file", remedy="grant it, or run as a user who has it"
        )
    return UnreadableFile(
        reason=f"the file could not be read ({error.strerror or error})",
        remedy="check the disk, then run again",
    )


# The limit of what an archive may unpack to.

MAX_TIMES = 200


@dataclass(slots=True)
class Allowance:
    """Bytes that may still be unpacked of an archive: `left` in sum, `max_member` of a member.

    At first the sum is 200 times the archive's own size, and one document more.
    """

    left: int
    max_member: int

    @classmethod
    def of(cls, archive: Blob, max_bytes: int) -> Allowance:
        """Return the allowance of a whole archive; a document has at most `max_bytes`."""
        return cls(MAX_TIMES * archive.size + max_bytes, max_bytes)

    @property
    def is_spent(self) -> bool:
        """True when nothing more may be unpacked."""
        return self.left <= 0

    def take(self, size: int) -> None:
        """Count unpacked bytes."""
        self.left -= size

    def refusal(self) -> UnreadableFile:
        """Return the error of a member that was not unpacked."""
        return UnreadableFile(
            reason=f"the archive unpacks to more than {MAX_TIMES} times its size, as a bomb does",
            remedy="unpack the archive if you trust it, then index the folder",
        )


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
        return self.with_name(read_file(self.path, max_bytes))

    def with_name(self, payload: Payload) -> Payload:
        """Return a payload, of the mail or of an attachment, whose digest changes with the name
        of the file.
        """
        name = b"/".join(self.path.rsplit(b"/", 2)[-2:])
        source = hashlib.sha256(payload.source.encode("ascii") + name).hexdigest()
        return replace(payload, source=source)

    def stream(self) -> BinaryIO:
        """Open the file as `read_blob.stream` does."""
        return open_file(self.path)


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
