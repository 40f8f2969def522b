"""Example of a format of rows: cards of lines `NAME: VALUE`, with an empty line between two.

Copy this module into `indexer/documents/`, and declare `CARDS` in `RECORD_FORMATS` of
`indexer/documents/containers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from indexer.documents.base import ReadOptions, Records
from indexer.documents.containers import RecordFormat
from indexer.errors import ExtractionError, UnreadableFile


def records(path: str, stream: BinaryIO, read_options: ReadOptions) -> Records:
    """Yield the fields of each card under its number, from 1."""
    for number, card in enumerate(lines(path, stream, read_options), 1):
        if len(card) > read_options.max_bytes:  # 1. a row has a limit of its own
            yield str(number), UnreadableFile.too_large(read_options.max_bytes)
            continue
        pairs = [line.partition(": ") for line in card.decode("utf-8", "replace").split("\n")]
        if not all(colon for _, colon, _ in pairs):  # 2. a row that is wrong fails by itself
            yield str(number), ExtractionError("a line of the card has no `: `; repair it")
        else:
            yield str(number), {name: value for name, _, value in pairs}


def lines(path: str, stream: BinaryIO, read_options: ReadOptions) -> Iterator[bytes]:
    """Yield each card as it stands, by which `dedup` writes the ones that stay."""
    for card in stream.read().split(b"\n\n"):
        if card.strip():
            yield card.strip(b"\n")


CARDS = RecordFormat("cards", (".cards",), records, lines)  # 3. also `.cards.gz`
