"""The hits of a search as a table or an archive, each with the documents folded under it."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from indexer.exports.csv_tables import Column, Table
from indexer.exports.hits_archive import HitLine, write_archive
from indexer.model import Hit
from indexer.searching.search import search
from indexer.web.document_questions import DOCUMENT_QUESTIONS, search_options
from indexer.web.downloads import csv_download
from indexer.web.questions import ParameterValues, parameter_values
from indexer.web.request_body import query_texts

if TYPE_CHECKING:
    from indexer.web.site import Site

MOST_HITS = 10_000  # in one table; what is folded under them is not counted
_BATCH = 500  # hits that are read together


_COLUMNS = (
    Column("rank", "whole", attrgetter("rank")),
    Column("id", "text", attrgetter("row.id")),
    Column("path", "text", attrgetter("row.path")),
    Column("title", "text", attrgetter("row.title")),
    Column("content_type", "text", attrgetter("row.content_type")),
    Column("modified", "time", attrgetter("row.modified")),
    Column("words", "whole", attrgetter("row.words")),
    Column("status", "text", attrgetter("row.status")),
    Column("labels", "list", attrgetter("row.labels")),
    Column("family", "text", attrgetter("row.family")),
    Column("folded_under", "text", attrgetter("under")),
    Column("similarity", "share", attrgetter("similarity")),
)


def hits_route(site: Site) -> BaseRoute:
    """Return the route of the table. It takes the parameters of a search; all pages are in it."""

    def endpoint(request: Request) -> Response:
        values = _search_values(request)
        return csv_download(Table(_COLUMNS, hit_lines(site, values)), "hits.csv")

    return Route("/hits.csv", endpoint)


def archive_route(site: Site) -> BaseRoute:
    """Return the route of the archive. It takes the parameters of a search; all pages are in it."""

    def endpoint(request: Request) -> Response:
        values = _search_values(request)
        handle, name = tempfile.mkstemp(prefix="nearfold-hits-", suffix=".zip")
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
                write_archive(site.store, hit_lines(site, values), site.originals.path, archive)
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


def _search_values(request: Request) -> ParameterValues:
    return parameter_values(DOCUMENT_QUESTIONS["search"].parameters, query_texts(request))


def hit_lines(site: Site, values: ParameterValues) -> Iterator[HitLine]:
    """Yield each hit, and after it what is folded under it; documents deleted since are absent."""
    rank = 0
    for hits in _batches(site, values):
        folded = [document.id for hit in hits for document in hit.folded]
        rows = site.store.get([*(hit.id for hit in hits), *folded])
        for hit in hits:
            rank += 1
            if hit.id in rows:
                yield HitLine(rank, rows[hit.id])
            for document in hit.folded:
                if document.id in rows:
                    yield HitLine(rank, rows[document.id], hit.id, document.similarity)


def _batches(site: Site, values: ParameterValues) -> Iterator[tuple[Hit, ...]]:
    options = replace(search_options(values, False), limit=_BATCH, page=1, facts=0)
    for _ in range(MOST_HITS // _BATCH):
        page = search(site.store, values["q"], options)
        yield page.hits
        if not page.more or page.next is None:
            return
        options = replace(options, after=page.next)
