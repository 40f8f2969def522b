"""Stores: where rows are kept. One narrow interface (`base`), one adapter a folder."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from indexer.errors import MissingExtra, UsageError
from indexer.stores.abilities import FullStore
from indexer.stores.address import StoreAddress, is_store_url, parse_address
from indexer.stores.base import Documents

if TYPE_CHECKING:
    from indexer.stores.engine.in_place import InPlaceStore

__all__ = [
    "in_place", "location_of", "open_documents", "open_store", "with_store_urls",
]  # fmt: skip


def open_store(url: str) -> FullStore:
    """Return the store at a URL; nothing is read, created or connected yet.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://:memory:`;
    `opensearch://[user@]host:port/index`, `opensearch+https://`, `elasticsearch://`,
    `elasticsearch+https://`. Raises `UsageError` for anything else, `MissingExtra` when the
    engine's client is not installed.

    >>> open_store("sqlite:///library.db").url
    'sqlite:///library.db'
    """
    return _open(parse_address(url))


def location_of(url: str) -> str:
    """Return the URL of a store without user and options; empty for a URL of anything else."""
    return parse_address(url).location if is_store_url(url) else ""


def open_documents(url: str) -> Documents:
    """Return the documents of a store as their owner keeps them, whoever filled it.

    Nothing is connected yet. Raises what `open_store` raises.
    """
    store = open_store(url)
    if store.address.is_sqlite:
        from indexer.stores.sqlite.store import StoredRows

        return StoredRows(store)
    from indexer.stores.engine.in_place import ForeignIndex, index_of

    return ForeignIndex(index_of(store))


def in_place(store: FullStore, text_field: str) -> InPlaceStore:
    """Return the store for an index of other programs' documents, which get `near_*` fields only.

    Closing it closes `store`. Raises `UsageError` for a SQLite store, whose documents are all
    nearfold's.
    """
    if store.address.is_sqlite:
        raise UsageError(
            f"{store.url} is the store itself; give --store another one, or other PATHs"
        )
    from indexer.stores.engine.in_place import InPlaceStore, index_of

    return store if isinstance(store, InPlaceStore) else InPlaceStore(index_of(store), text_field)


def _open(address: StoreAddress) -> FullStore:
    if address.kind == "sqlite":
        from indexer.stores.sqlite.store import SqliteStore

        return SqliteStore(address)
    if address.kind == "opensearch":
        return _open_opensearch(address)
    return _open_elasticsearch(address)


def _open_opensearch(address: StoreAddress) -> FullStore:
    try:
        from indexer.stores.engine.opensearch import open_opensearch
    except ModuleNotFoundError as error:
        raise MissingExtra(package="opensearch-py", extra="opensearch") from error
    return open_opensearch(address)


def _open_elasticsearch(address: StoreAddress) -> FullStore:
    try:
        from indexer.stores.engine.elasticsearch import open_elasticsearch
    except ModuleNotFoundError as error:
        raise MissingExtra(package="elasticsearch", extra="elasticsearch") from error
    return open_elasticsearch(address)


# Functions that take a store, called with the URL of one.

PARAMETER = "store"


def with_store_urls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that opens its `store` where that is a URL, and closes it in the end; its
    signature, which `help()` prints, has both.

    A function without a parameter of that name is returned as it is.
    """
    signature = inspect.signature(function)
    if PARAMETER not in signature.parameters:
        return function

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        bound = signature.bind_partial(*values, **named)
        url = bound.arguments.get(PARAMETER)
        if not isinstance(url, str):
            return function(*values, **named)
        results = _with_open_store(function, bound, url)
        return results if inspect.isgeneratorfunction(function) else next(results)

    accepted = f"{signature.parameters[PARAMETER].annotation} | str"
    parameters = [
        parameter.replace(annotation=accepted) if parameter.name == PARAMETER else parameter
        for parameter in signature.parameters.values()
    ]
    described = signature.replace(parameters=parameters)
    call.__signature__ = described  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, PARAMETER: accepted}
    return call


def _with_open_store(
    function: Callable[..., Any], bound: inspect.BoundArguments, url: str
) -> Iterator[Any]:
    """Yield the result of a function, or its results one by one, and close the store after it."""

    with closing(open_store(url)) as store:
        bound.arguments[PARAMETER] = store
        result = function(*bound.args, **bound.kwargs)
        if inspect.isgenerator(result):
            yield from result
            return
    yield result
