"""JSON Lines: one record a line, known by the number of its line, counted from 1."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from indexer.errors import ExtractionError, UnreadableFile
from indexer.sources.base import Reading, Records
from indexer.sources.payloads import lines


def records(path: str, stream: BinaryIO, reading: Reading) -> Records:
    """Yield the records of a file; empty lines are none, but count."""
    for number, line in enumerate(lines(stream, reading.max_bytes), 1):
        if isinstance(line, UnreadableFile):
            yield str(number), line
        elif line.strip():
            yield str(number), _record(line)


def raw_rows(path: str, stream: BinaryIO, reading: Reading) -> Iterator[bytes]:
    """Yield the line of each item of `records` as it stands; empty for a line that is too long."""
    for line in lines(stream, reading.max_bytes):
        if isinstance(line, UnreadableFile):
            yield b""
        elif line.strip():
            yield line.removeprefix(codecs.BOM_UTF8)


def _record(line: bytes) -> Mapping[str, Any] | ExtractionError:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return ExtractionError(f"the line is not JSON ({error}); repair it, or leave it out")
    if not isinstance(record, Mapping):
        return ExtractionError("the line is not a JSON object; repair it, or leave it out")
    return record
