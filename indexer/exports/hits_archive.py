"""Hits of a search as an archive: a load file, the texts and the original files.

Texts and files have the number of their record as their name.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path

from indexer.errors import UsageError
from indexer.exports.csv_tables import Column, Table
from indexer.exports.export_records import LOAD_FILE_FAMILIES, DocumentRecord, document_columns
from indexer.exports.load_file import write_dat
from indexer.model import Row
from indexer.stores.abilities import FamilyStore

MOST_BYTES = 1 << 30  # of the texts and files in one archive, before compression
_BATCH = 500  # documents whose families are looked up together
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,10}")
_OF_WHOLE_STORE = {"NearDupCluster", "ExactDupGroup"}


@dataclass(frozen=True, slots=True)
class HitLine:
    """A hit, or a document that is folded under one, by its row in the store."""

    rank: int
    row: Row
    under: str = ""
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class _Member:
    """A document of the archive, and where its text and its file are in it."""

    document: DocumentRecord
    line: HitLine
    text_path: str
    file_path: str


_COLUMNS = (
    *document_columns(
        tuple(column for column in LOAD_FILE_FAMILIES if column.name not in _OF_WHOLE_STORE)
    ),
    Column("HitRank", "whole", attrgetter("line.rank")),
    Column("FoldedUnder", "text", attrgetter("line.under")),
    Column("FoldedSimilarity", "share", attrgetter("line.similarity")),
    Column("TextPath", "text", attrgetter("text_path")),
    Column("NativePath", "text", attrgetter("file_path")),
)


def write_archive(
    store: FamilyStore,
    lines: Iterable[HitLine],
    original_of: Callable[[Row], Path | None],
    archive: zipfile.ZipFile,
) -> None:
    """Write the texts and files of documents, then the load file `hits.dat` that names them.

    `original_of` returns the file of a document, None if there is none. Raises `UsageError` beyond
    `MOST_BYTES`; the archive is not whole then.
    """
    members = _members(store, iter(lines), original_of, archive)
    with tempfile.TemporaryFile() as load_file:
        write_dat(Table(_COLUMNS, members), load_file)
        load_file.seek(0)
        with archive.open(_entry("hits.dat"), "w", force_zip64=True) as target:
            while part := load_file.read(1 << 20):
                target.write(part)


def _members(
    store: FamilyStore,
    lines: Iterator[HitLine],
    original_of: Callable[[Row], Path | None],
    archive: zipfile.ZipFile,
) -> Iterator[_Member]:
    """Yield each document once it is in the archive."""
    number = size = 0
    while batch := list(islice(lines, _BATCH)):
        sizes = _family_sizes(store, [line.row.family for line in batch])
        for line in batch:
            number += 1
            text = line.row.text.encode("utf-8", "replace")
            original = original_of(line.row)
            size += len(text) + (original.stat().st_size if original else 0)
            if size > MOST_BYTES:
                raise UsageError(
                    f"the hits hold more than {MOST_BYTES >> 30} GB; narrow the search by a filter"
                )
            text_path, file_path = f"TEXT/{number:08}.txt", ""
            archive.writestr(_entry(text_path), text)
            if original is not None:
                file_path = f"NATIVE/{number:08}{_ending(original)}"
                _copy(original, archive, file_path)
            document = DocumentRecord(line.row, sizes[line.row.family], None)
            yield _Member(document, line, text_path, file_path)


def _family_sizes(store: FamilyStore, families: Sequence[str]) -> Counter[str]:
    members = store.families.members("family", sorted(set(families)))
    return Counter(family for _, family in members)


def _copy(path: Path, archive: zipfile.ZipFile, name: str) -> None:
    with path.open("rb") as source, archive.open(_entry(name), "w", force_zip64=True) as target:
        while part := source.read(1 << 20):
            target.write(part)


def _entry(name: str) -> zipfile.ZipInfo:
    """Return a compressed entry with the same date in every archive."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _ending(path: Path) -> str:
    return path.suffix.lower() if _ENDING.fullmatch(path.suffix) else ""
