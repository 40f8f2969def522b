"""Extractors by the names that `--extractor` takes, and which documents need one."""

from __future__ import annotations

import os
from typing import TypeVar

from indexer.errors import UnknownName
from indexer.extraction.base import Limits, Maker
from indexer.extraction.gzip_files import unpack
from indexer.extraction.native import NativeExtractor, StructuredExtractor
from indexer.extraction.plain import PlainExtractor, plain_document
from indexer.extraction.tika_server import tika_server
from indexer.extraction.worker_pool import Task
from indexer.model import Document

K = TypeVar("K")

DEFAULT_SERVER = "http://127.0.0.1:9998"
SERVER_VARIABLE = "NEARFOLD_TIKA"


def extractor_named(name: str, headings: bool = False) -> Maker:
    """What makes the extractor of that name: `native`, `server` or `plain`. `headings`: asked for
    where it can tell them.

    The server's URL is taken from the environment variable NEARFOLD_TIKA, else it is Tika's usual
    one on this machine. The server is asked for its version here: raises `ExtractorUnavailable`
    when it does not answer, `MissingExtra` without the client library, `UnknownName` for another
    name.
    """
    match name:
        case "native":
            return StructuredExtractor if headings else NativeExtractor
        case "plain":
            return PlainExtractor
        case "server":
            return tika_server(os.environ.get(SERVER_VARIABLE, DEFAULT_SERVER))
    raise UnknownName("extractor", name, ("native", "server", "plain"))


def document_or_task(key: K, data: bytes, name: str, limits: Limits) -> Document | Task[K]:
    """A plain text's document here and now, a task for the worker processes for everything else;
    gzip files unpacked first.

    Raises `ExtractionError` when the bytes cannot be unpacked.
    """
    data, name = unpack(data, name, limits)
    return plain_document(data, name, limits) or Task(key, data, name)
