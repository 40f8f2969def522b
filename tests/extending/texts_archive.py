"""Example of a type of archive: texts in one file, each after a line `=== NAME`.

Copy this module into `indexer/documents/`, and declare `ARCHIVE` in `CONTAINERS` of
`indexer/documents/containers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from indexer.documents.base import ReadOptions, SourceItem
from indexer.documents.blobs import DamagedRecord, NumberedBlobs, file_payload, inner_blob
from indexer.documents.containers import Container
from indexer.errors import UnreadableFile
from indexer.model import Blob, FailedBlob

_MARK = b"=== "


def members(outer: Blob, stream: BinaryIO, reading: ReadOptions) -> Iterator[SourceItem]:
    """Yield the texts of an archive in its order; damage fails the archive alone."""
    numbered = NumberedBlobs()  # 1. keys are distinct: the second `a.txt` is `a.txt#2`
    try:
        for name, text in _texts(stream):
            key = numbered.key(name)
            is_too_large = len(text) > reading.max_bytes  # 2. a member has a limit of its own
            content = (
                UnreadableFile.too_large(reading.max_bytes)
                if is_too_large
                else file_payload(text, modified=None)
            )
            yield inner_blob(outer, key, key.decode("utf-8", "replace"), content)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))  # 3. each item has one outcome


def _texts(stream: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    pieces = (b"\n" + stream.read()).split(b"\n" + _MARK)
    if pieces[0].strip():
        raise DamagedRecord("it does not begin with `=== `; repair the file, then run again")
    for piece in pieces[1:]:
        name, _, text = piece.partition(b"\n")
        yield name, text


ARCHIVE = Container((".texts",), members, holds_files=True)
