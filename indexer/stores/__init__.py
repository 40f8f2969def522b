"""Stores: where rows live. One narrow seam (`base`), one adapter a file."""

from __future__ import annotations

import os
from pathlib import Path

from indexer.errors import MissingExtra, UsageError
from indexer.stores._engine_address import Address, address
from indexer.stores.base import Store

_SQLITE = "sqlite://"
_SPELLINGS = (
    "sqlite:///FILE, opensearch://HOST:PORT/INDEX, opensearch+https://..., elasticsearch://... or elasticsearch+https://..."
)


def open_store(url: str) -> Store:
    """The store at a URL: nothing is read, created or connected yet.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://:memory:`; `opensearch://[user@]host:port/index`,
    `opensearch+https://`, `elasticsearch://`, `elasticsearch+https://`. Raises `UsageError` for anything else, `MissingExtra`
    when the engine's client is not installed.

    >>> open_store("sqlite:///library.db").url
    'sqlite:///library.db'
    """
    if url.startswith(_SQLITE):
        from indexer.stores.sqlite import SqliteStore

        return SqliteStore(url, sqlite_file(url))
    scheme = url.partition("://")[0].removesuffix("+https")
    if scheme in _ENGINES and "://" in url:
        return _ENGINES[scheme](address(url, os.environ))
    raise UsageError(f"{url} is not a store; use {_SPELLINGS}")


def _opensearch(where: Address) -> Store:
    try:
        from indexer.stores.opensearch import open_opensearch
    except ModuleNotFoundError as error:
        raise MissingExtra(package="opensearch-py", extra="opensearch") from error
    return open_opensearch(where)


def _elasticsearch(where: Address) -> Store:
    try:
        from indexer.stores.elasticsearch import open_elasticsearch
    except ModuleNotFoundError as error:
        raise MissingExtra(package="elasticsearch", extra="elasticsearch") from error
    return open_elasticsearch(where)


_ENGINES = {"opensearch": _opensearch, "elasticsearch": _elasticsearch}


def sqlite_file(url: str) -> str:
    """The file that a SQLite URL names, `:memory:` for none; nothing in it is decoded, `~` is the home folder.

    Raises `UsageError` when it names none.
    """
    rest = url.removeprefix(_SQLITE)
    if rest in ("", ":memory:", "/:memory:"):
        return ":memory:"
    if not rest.startswith("/") or rest == "/":
        raise UsageError(f"{url} names no file; write sqlite:///relative.db or sqlite:////absolute.db")
    return str(Path(rest[1:]).expanduser())
