"""Documents of a store: of an index that others filled, or of another store of nearfold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from indexer.model import Blob
from indexer.sources.base import Reading, SourceItem
from indexer.sources.members import identifier
from indexer.sources.record_documents import blob, is_empty, payload
from indexer.text.field_paths import field_of

Digest: TypeAlias = Callable[[Mapping[str, Any]], str]


class Documents(Protocol):
    """A reader of the documents of an index."""

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the id and the fields of each document."""
        ...


class IndexSource:
    """One index; a document in it is known by its id there."""

    def __init__(
        self, documents: Documents, location: str, reading: Reading, digest: Digest | None = None
    ) -> None:
        """Read from the store at `location`, its URL without user and options.

        With `digest`, documents are signed in place: they keep their ids, and changed when their
        digest did.
        """
        self._documents = documents
        self._digest = digest
        self._reading = reading if digest is None else replace(reading, own_ids=True)
        self._url = location

    def blobs(self) -> Iterator[SourceItem]:
        """Yield the documents as of the time of the first; one without a text fails, unless it is
        signed in place.
        """
        outer = Blob(identifier(self._space(), self._url.encode()), b"", self._url, b"", 0, None)
        for id, fields in self._documents.documents():
            if self._digest is None:
                content = payload(fields, self._reading)
            else:
                signed = payload(self._with_text(fields), self._reading)
                content = replace(signed, source=self._digest(fields))
            yield blob(outer, id, fields, content, self._reading)

    def _with_text(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields with an empty text when they have none."""
        name = self._reading.text_field
        return {**fields, name: ""} if is_empty(field_of(fields, name)) else fields

    def scopes(self) -> tuple[str, ...]:
        """Return the inside of this index; nothing when its documents are signed in place."""
        return (f"{self._url}!",) if self._digest is None else ()

    def holds(self, path: str) -> bool:
        """Return False: every document was read."""
        return False

    def _space(self) -> bytes:
        return (self._reading.namespace or "").encode("utf-8", "surrogateescape")
