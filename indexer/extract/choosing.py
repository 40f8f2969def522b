"""Extractors by the names that `--extractor` takes."""

from __future__ import annotations

import os

from indexer.errors import UnknownName
from indexer.extract.base import Maker
from indexer.extract.native import NativeExtractor
from indexer.extract.plain import PlainExtractor
from indexer.extract.server import tika_server

DEFAULT_SERVER = "http://127.0.0.1:9998"
SERVER_VARIABLE = "NEARFOLD_TIKA"


def extractor_named(name: str) -> Maker:
    """What makes the extractor of that name: `native`, `server` or `plain`.

    The server's URL is taken from the environment variable NEARFOLD_TIKA, else it is Tika's usual one on this machine. The
    server is asked for its version here: raises `ExtractorUnavailable` when it does not answer, `MissingExtra` without the
    client library, `UnknownName` for another name.
    """
    match name:
        case "native":
            return NativeExtractor
        case "plain":
            return PlainExtractor
        case "server":
            return tika_server(os.environ.get(SERVER_VARIABLE, DEFAULT_SERVER))
    raise UnknownName("extractor", name, ("native", "server", "plain"))
