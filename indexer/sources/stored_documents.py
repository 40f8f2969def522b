"""Documents that are in a store already: an index that others filled, or another store of
nearfold's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from indexer.model import Blob
from indexer.sources.base import Found, Reading, identifier
from indexer.sources.record_documents import blob, nothing, payload
from indexer.text.field_paths import field_of

Digest: TypeAlias = Callable[[Mapping[str, Any]], str]


class Documents(Protocol):
    """Where documents are read from."""

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Id and fields of each."""
        ...


class IndexSource:
    """One index; a document in it is known by its id there."""

    def __init__(
        self, held: Documents, location: str, reading: Reading, digest: Digest | None = None
    ) -> None:
        """`location`: the URL of the store, without user and options.

        `digest`: documents are signed where they are, keep their ids, and changed when it says
        so.
        """
        self._held, self._digest = held, digest
        self._reading = reading if digest is None else replace(reading, own_ids=True)
        self._url = location

    def blobs(self) -> Iterator[Found]:
        """Documents as they are when the first is read; one without a text has failed, unless it is
        signed where it is.
        """
        outer = Blob(identifier(self._space(), self._url.encode()), b"", self._url, b"", 0, None)
        for id, fields in self._held.documents():
            if self._digest is None:
                held = payload(fields, self._reading)
            else:
                held = replace(
                    payload(self._with_text(fields), self._reading), source=self._digest(fields)
                )
            yield blob(outer, id, fields, held, self._reading)

    def _with_text(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """A document that is signed where it is has an empty text when it has none."""
        name = self._reading.text_field
        return {**fields, name: ""} if nothing(field_of(fields, name)) else fields

    def scopes(self) -> tuple[str, ...]:
        """Everything that was read from this index, unless it is signed where it is."""
        return (f"{self._url}!",) if self._digest is None else ()

    def holds(self, path: str) -> bool:
        """Nothing that was not read."""
        return False

    def _space(self) -> bytes:
        return (self._reading.namespace or "").encode("utf-8", "surrogateescape")
