"""JSON Lines: one record a line. Empty lines are none; `.gz` files are unpacked on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob
from indexer.sources import record_documents as _records
from indexer.sources.base import Reading
from indexer.sources.streams import lines, open_stream


def blobs(outer: Blob, reading: Reading) -> Iterator[Blob | FailedBlob]:
    """The records of a file; one is known by the number of its line, counted from 1, or by its
    `id_field`.
    """
    with open_stream(outer) as stream:
        if isinstance(stream, FailedBlob):
            yield stream
            return
        yield from _records.blobs(outer, _records_in(stream, reading), reading)


def _records_in(
    stream: BinaryIO, reading: Reading
) -> Iterator[tuple[str, Mapping[str, Any] | ExtractionError]]:
    for number, line in enumerate(lines(stream, reading.max_bytes), 1):
        if isinstance(line, UnreadableFile):
            yield str(number), line
        elif line.strip():
            yield str(number), _record(line)


def _record(line: bytes) -> Mapping[str, Any] | ExtractionError:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return ExtractionError(f"the line is no JSON ({error}); mend it, or leave it out")
    return (
        record
        if isinstance(record, Mapping)
        else ExtractionError("the line is no JSON object; mend it, or leave it out")
    )
