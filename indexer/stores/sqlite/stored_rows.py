"""Rows of the embedded store as documents that can be indexed into another store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.stores.base import Store


class StoredRows:
    """Rows as plain fields: text, title, path, content_type, labels, and metadata by name."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield every row, ascending by id."""
        for row in self._store.scan():
            fields = {
                "text": row.text,
                "title": row.title,
                "path": row.path,
                "content_type": row.content_type,
            }
            yield row.id, {**row.metadata, **fields, "labels": list(row.labels)}

    def close(self) -> None:
        """Close the store."""
        self._store.close()
