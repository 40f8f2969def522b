"""Blobs of the members of containers: their keys, ids and contents."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, Payload

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
    id = inner_id(outer, key)
    size = 0 if isinstance(result, ExtractionError) else result.size
    return Blob(id, key, f"{outer.path}{INSIDE}{name}", LoadedSource(result), size, modified)


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
