"""The source seam: where blobs come from, how they are read, and the parts that sources share."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, Protocol, TypeAlias

from indexer.errors import ExtractionError, UnreadableFile, UsageError
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob

Found: TypeAlias = Blob | SkippedBlob | FailedBlob
Containers: TypeAlias = Literal["given", "all", "none"]
_NO_DELIMITERS = '"\r\n\0'
INSIDE = "!/"  # stands between a container and what is in it


@dataclass(frozen=True, slots=True)
class Reading:
    """How sources are read.

    `text_field`, `id_field`, `title_field`, `label_field`: fields of a record; a dot leads into a
    nested one. Without `id_field` a record's key is its number. `own_ids`: a record's key is its
    document's id; with `parted` not one that ends as those of parts do. `containers`: which
    archives, mailboxes and tables are opened; those that are given, those met in folders too, or
    none. `namespace`: what ids are relative to. `query`: which documents of a source that can be
    asked. `delimiter`: what stands between the fields of CSV; None looks at the first row.
    `max_bytes` and `max_chars` bound one document. Raises `UsageError` for a delimiter that is not
    one character, or one that CSV has another use for.
    """

    text_field: str = "text"
    id_field: str | None = None
    title_field: str = "title"
    label_field: str | None = None
    own_ids: bool = False
    parted: bool = False
    containers: Containers = "given"
    namespace: str | None = None
    query: str | None = None
    delimiter: str | None = None
    max_bytes: int = 256 << 20
    max_chars: int = 10_000_000

    def __post_init__(self) -> None:
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in _NO_DELIMITERS
        ):
            raise UsageError(
                f"{self.delimiter!r} cannot stand between fields; give one character, or `tab`"
            )


class Source(Protocol):
    """Documents of one kind of place."""

    def blobs(self) -> Iterator[Found]:
        """Everything in it, each once, in an order that depends on nothing but content; ids are
        stable.

        What cannot be listed or opened is `FailedBlob`, and the rest goes on.
        """
        ...

    def scopes(self) -> tuple[str, ...]:
        """Paths at or below which every row came from this source; empty when rows must not be
        pruned by it.
        """
        ...

    def holds(self, path: str) -> bool:
        """Whether there still is, or may be, what a row's path names although `blobs` did not yield
        it.
        """
        ...


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """An opener of what was read already, as in an archive, which is read from front to back."""

    result: Payload | ExtractionError

    def read(self, max_bytes: int) -> Payload:
        """What was read, or why it could not be."""
        if isinstance(self.result, ExtractionError):
            raise self.result
        if self.result.size > max_bytes:
            raise too_large(max_bytes, self.result.size)
        return self.result

    def stream(self) -> BinaryIO:
        """The bytes from memory."""
        return io.BytesIO(self.read(1 << 62).data)


@dataclass(slots=True)
class NumberedBlobs:
    """Keys made distinct: the second of a kind gets `#2`, and so on, past those that are there.
    Remembers 16 bytes of each.
    """

    _seen: dict[bytes, int] = field(default_factory=dict)

    def first(self, key: bytes) -> bool:
        """Whether a key was not there before; now it is."""
        digest = _short(key)
        count = self._seen[digest] = self._seen.get(digest, 0) + 1
        return count == 1

    def key(self, wanted: bytes) -> bytes:
        """The key for the next thing of that name.

        >>> numbered = NumberedBlobs()
        >>> numbered.key(b"a"), numbered.key(b"a#2"), numbered.key(b"a"), numbered.key(b"a")
        (b'a', b'a#2', b'a#3', b'a#4')
        """
        if self.first(wanted):
            return wanted
        while not self.first(key := wanted + b"#%d" % self._seen[_short(wanted)]):
            self._seen[_short(wanted)] += 1
        return key


def _short(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()[:16]


def identifier(space: bytes, key: bytes) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of both, each after its length in 8 bytes,
    big-endian.
    """
    digest = hashlib.sha256()
    for part in (space, key):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:32]


def inner(
    outer: Blob,
    key: bytes,
    name: str,
    result: Payload | ExtractionError,
    modified: int | None = None,
) -> Blob:
    """A blob inside a container: its id is made of the container's and its key, its path of both
    names.
    """
    size = 0 if isinstance(result, ExtractionError) else result.size
    where = f"{outer.path}{INSIDE}{name}"
    return Blob(
        identifier(outer.id.encode(), INSIDE.encode() + key),
        key,
        where,
        LoadedSource(result),
        size,
        modified,
    )


def unique(found: Iterable[Found]) -> Iterator[Found]:
    """Two blobs with one id: the second one fails, naming the first. Remembers the id and path of
    each.
    """
    first: dict[str, str] = {}
    for item in found:
        if isinstance(item, Blob) and first.setdefault(item.id, item.path) != item.path:
            where = first[item.id]
            remedy = "give each PATH a namespace of its own, or leave --own-ids out"
            yield FailedBlob(
                item.path, f"has the same name under this namespace as {where}; {remedy}"
            )
        else:
            yield item


def file_payload(data: bytes, modified: int | None) -> Payload:
    """The payload of a file that is not the operating system's: what tells a change is its bytes
    alone.
    """
    raw = hashlib.sha256(data).hexdigest()
    return Payload(
        data,
        len(data),
        modified,
        raw,
        hashlib.sha256(f"{len(data)}:{raw}".encode("ascii")).hexdigest(),
    )


def bounded(stream: BinaryIO, max_bytes: int) -> bytes | UnreadableFile:
    """A whole stream, or the error that it holds more bytes than one document may."""
    data = stream.read(max_bytes + 1)
    return data if len(data) <= max_bytes else too_large(max_bytes)


def too_large(max_bytes: int, size: int | None = None) -> UnreadableFile:
    """The error of what has more bytes than one document may."""
    limit = f"more than the limit of {max_bytes / 2**20:,.0f} MB"
    return UnreadableFile(
        reason=f"it has {limit}"
        if size is None
        else f"the file has {size / 2**20:,.0f} MB, {limit}",
        remedy="split it, or allow more in `Limits.bytes` from Python",
    )
