"""Stores: where rows live. One narrow seam (`base`), one adapter a file."""

from __future__ import annotations

from pathlib import Path

from indexer.errors import UsageError
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

        return SqliteStore(url, _file(url))
    raise UsageError(f"{url} is not a store; use {_SPELLINGS}")


def _file(url: str) -> str:
    """The file that a SQLite URL names; nothing in it is decoded, `~` is the home folder."""
    rest = url.removeprefix(_SQLITE)
    if rest in ("", ":memory:", "/:memory:"):
        return ":memory:"
    if not rest.startswith("/") or rest == "/":
        raise UsageError(f"{url} names no file; write sqlite:///relative.db or sqlite:////absolute.db")
    return str(Path(rest[1:]).expanduser())
