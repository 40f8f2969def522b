"""Hits of a search as an archive: a load file, the texts and the original files.

Texts and files have the number of their record as their name.
"""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from indexer.coding import NO_CODING, Coding
from indexer.documents.base import CUSTODIAN
from indexer.errors import UsageError
from indexer.jobs.review_file import with_labels
from indexer.model import Hit, Row
from indexer.review.api.documents import SearchParameters, search_options
from indexer.review.api.endpoints import parse_parameters
from indexer.review.exports.columns import (
    LOAD_FILE_FAMILIES,
    DocumentRecord,
    coded_columns,
    date_of,
    document_columns,
)
from indexer.review.exports.writers import Column, Table, write_dat
from indexer.review.http import csv_download, query_texts
from indexer.searching.search import search
from indexer.stores.abilities import FamilyStore

if TYPE_CHECKING:
    from indexer.review.site import Site


MAX_BYTES = 1 << 30  # of the texts and files in one archive, before compression
_BATCH = 500  # documents whose families are looked up together
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,10}")
_OF_WHOLE_STORE = {"NearDupCluster", "ExactDupGroup"}


@dataclass(frozen=True, slots=True)
class ExportLine:
    """The line of a hit in an export, or of a document that is folded under one."""

    rank: int
    row: Row
    under: str = ""
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class _Member:
    """A document of the archive, and where its text and its file are in it."""

    document: DocumentRecord
    line: ExportLine
    text_path: str
    file_path: str


_COLUMNS = (
    *document_columns(
        tuple(column for column in LOAD_FILE_FAMILIES if column.name not in _OF_WHOLE_STORE)
    ),
    Column("HitRank", "whole", attrgetter("line.rank")),
    Column("FoldedUnder", "text", attrgetter("line.under")),
    Column("FoldedSimilarity", "fraction", attrgetter("line.similarity")),
    Column("TextPath", "text", attrgetter("text_path")),
    Column("NativePath", "text", attrgetter("file_path")),
)


def write_archive(
    store: FamilyStore,
    lines: Iterable[ExportLine],
    original_of: Callable[[Row], Path | None],
    archive: zipfile.ZipFile,
    coding: Coding = NO_CODING,
) -> None:
    """Write the texts and files of documents, then the load file `hits.dat` that names them.

    `original_of` returns the file of a document, None if there is none. Raises `UsageError` beyond
    `MAX_BYTES`; the archive is not whole then.
    """
    members = _members(store, iter(lines), original_of, archive)
    with tempfile.TemporaryFile() as load_file:
        write_dat(Table(coded_columns(_COLUMNS, coding), members), load_file)
        load_file.seek(0)
        with archive.open(_entry("hits.dat"), "w", force_zip64=True) as target:
            while part := load_file.read(1 << 20):
                target.write(part)


def _members(
    store: FamilyStore,
    lines: Iterator[ExportLine],
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
            if size > MAX_BYTES:
                raise UsageError(
                    f"the hits hold more than {MAX_BYTES >> 30} GB; narrow the search by a filter"
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


# The hits of a search as a table or an archive, each with the documents folded under it.

MAX_HITS = 10_000  # in one table; folded hits are not counted


_HIT_COLUMNS = (
    Column("rank", "whole", attrgetter("rank")),
    Column("id", "text", attrgetter("row.id")),
    Column("path", "text", attrgetter("row.path")),
    Column("title", "text", attrgetter("row.title")),
    Column("content_type", "text", attrgetter("row.content_type")),
    Column("modified", "time", attrgetter("row.modified")),
    Column("date", "time", lambda line: date_of(line.row)[0]),
    Column("date_of", "text", lambda line: date_of(line.row)[1]),
    Column("custodian", "text", lambda line: line.row.metadata.get(CUSTODIAN)),
    Column("words", "whole", attrgetter("row.words")),
    Column("status", "text", attrgetter("row.status")),
    Column("labels", "list", attrgetter("row.labels")),
    Column("family", "text", attrgetter("row.family")),
    Column("folded_under", "text", attrgetter("under")),
    Column("similarity", "fraction", attrgetter("similarity")),
)


def hits_route(site: Site) -> BaseRoute:
    """Return the route of the table. It takes the parameters of a search; all pages are in it."""

    def endpoint(request: Request) -> Response:
        values = _search_values(request)
        columns = coded_columns(_HIT_COLUMNS, site.review.coding())
        return csv_download(Table(columns, export_lines(site, values)), "hits.csv")

    return Route("/hits.csv", endpoint)


def archive_route(site: Site) -> BaseRoute:
    """Return the route of the archive. It takes the parameters of a search; all pages are in it."""

    def endpoint(request: Request) -> Response:
        values = _search_values(request)
        handle, name = tempfile.mkstemp(prefix="nearfold-hits-", suffix=".zip")
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
                lines, coding = export_lines(site, values), site.review.coding()
                write_archive(site.store, lines, site.originals.path, archive, coding)
        except BaseException:
            path.unlink()
            raise
        return FileResponse(
            path,
            media_type="application/zip",
            filename="hits.zip",
            headers={"content-encoding": "identity"},  # it is compressed already
            background=BackgroundTask(path.unlink),
        )

    return Route("/hits.zip", endpoint)


def _search_values(request: Request) -> SearchParameters:
    return parse_parameters(SearchParameters, query_texts(request))


def export_lines(site: Site, values: SearchParameters) -> Iterator[ExportLine]:
    """Yield each hit, and after it what is folded under it; documents deleted since are absent."""
    rank = 0
    for hits in _batches(site, values):
        folded = [document.id for hit in hits for document in hit.folded]
        rows = site.store.get([*(hit.id for hit in hits), *folded])
        for hit in hits:
            rank += 1
            if hit.id in rows:
                yield ExportLine(rank, rows[hit.id])
            for document in hit.folded:
                if document.id in rows:
                    yield ExportLine(rank, rows[document.id], hit.id, document.similarity)


def _batches(site: Site, values: SearchParameters) -> Iterator[tuple[Hit, ...]]:
    options = replace(search_options(site, values, False), limit=_BATCH, page=1, facts=0)
    query = with_labels(values.q, site.coding())
    for _ in range(MAX_HITS // _BATCH):
        page = search(site.store, query, options)
        yield page.hits
        if not page.more or page.next is None:
            return
        options = replace(options, after=page.next)
