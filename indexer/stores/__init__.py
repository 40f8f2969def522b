"""Stores: where rows live. One narrow seam (`base`), one adapter a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import MissingExtra, UsageError
from indexer.stores.base import Documents, Store
from indexer.stores.engine.address import Address, address
from indexer.system.urls import without_login

if TYPE_CHECKING:
    from indexer.stores.engine.foreign_index import InPlaceStore

_SQLITE = "sqlite://"
_SPELLINGS = "sqlite:///FILE, opensearch://HOST:PORT/INDEX, opensearch+https://..., elasticsearch://... or elasticsearch+https://..."


def open_store(url: str) -> Store:
    """The store at a URL: nothing is read, created or connected yet.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://:memory:`;
    `opensearch://[user@]host:port/index`, `opensearch+https://`, `elasticsearch://`,
    `elasticsearch+https://`. Raises `UsageError` for anything else, `MissingExtra` when the
    engine's client is not installed.

    >>> open_store("sqlite:///library.db").url
    'sqlite:///library.db'
    """
    if url.startswith(_SQLITE):
        from indexer.stores.sqlite.store import SqliteStore

        return SqliteStore(url, sqlite_file(url))
    scheme = url.partition("://")[0].removesuffix("+https")
    if scheme in _ENGINES and "://" in url:
        return _ENGINES[scheme](address(url, os.environ))
    raise UsageError(f"{without_login(url)} is not a store; use {_SPELLINGS}")


def _opensearch(where: Address) -> Store:
    try:
        from indexer.stores.engine.opensearch import open_opensearch
    except ModuleNotFoundError as error:
        raise MissingExtra(package="opensearch-py", extra="opensearch") from error
    return open_opensearch(where)


def _elasticsearch(where: Address) -> Store:
    try:
        from indexer.stores.engine.elasticsearch import open_elasticsearch
    except ModuleNotFoundError as error:
        raise MissingExtra(package="elasticsearch", extra="elasticsearch") from error
    return open_elasticsearch(where)


def open_documents(url: str) -> Documents:
    """The documents at a store's URL as their owner keeps them, whoever filled it; nothing is
    connected yet.

    Raises what `open_store` raises.
    """
    store = open_store(url)
    if url.startswith(_SQLITE):
        from indexer.stores.sqlite.stored_rows import StoredRows

        return StoredRows(store)
    from indexer.stores.engine.foreign_index import ForeignIndex, engine_of

    return ForeignIndex(engine_of(store))


def in_place(store: Store, text_field: str) -> InPlaceStore:
    """The store in an index of somebody else's documents, to which nothing is added but `near_*`
    fields.

    Closing it closes `store`. Raises `UsageError` for one of SQLite, which are all nearfold's.
    """
    if store.url.startswith(_SQLITE):
        raise UsageError(
            f"{store.url} is the store itself; give --store another one, or other PATHs"
        )
    from indexer.stores.engine.foreign_index import InPlaceStore, engine_of

    return store if isinstance(store, InPlaceStore) else InPlaceStore(engine_of(store), text_field)


def is_store(url: str) -> bool:
    """Whether a URL is spelled as a store's."""
    scheme, colon, _ = url.partition("://")
    return bool(colon) and (scheme == "sqlite" or scheme.removesuffix("+https") in _ENGINES)


def same_store(one: str, other: str) -> bool:
    """Whether two URLs name one store; how it is made and who asks does not count."""
    if one.startswith(_SQLITE) or other.startswith(_SQLITE):
        return one.startswith(_SQLITE) and other.startswith(_SQLITE) and _file(one) == _file(other)
    first, second = address(one, os.environ), address(other, os.environ)
    kinds = one.partition(":")[0] == other.partition(":")[0]
    return kinds and (first.hosts, first.path, first.index) == (
        second.hosts,
        second.path,
        second.index,
    )


def _file(url: str) -> str:
    file = sqlite_file(url)
    return file if file == ":memory:" else os.path.realpath(file)


_ENGINES = {"opensearch": _opensearch, "elasticsearch": _elasticsearch}


def sqlite_file(url: str) -> str:
    """The file that a SQLite URL names, `:memory:` for none; nothing in it is decoded, `~` is the
    home folder.

    Raises `UsageError` when it names none.
    """
    rest = url.removeprefix(_SQLITE)
    if rest in ("", ":memory:", "/:memory:"):
        return ":memory:"
    if not rest.startswith("/") or rest == "/":
        raise UsageError(
            f"{url} names no file; write sqlite:///relative.db or sqlite:////absolute.db"
        )
    return str(Path(rest[1:]).expanduser())
