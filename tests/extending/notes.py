"""The notes of a JSON file, `notes://PATH`. An example of a source that a URL names.

Copy this module into `indexer/documents/`, and declare `NOTES` in `URL_SOURCES` of
`indexer/documents/sources.py`, before the last line. A source of a service is
`indexer/documents/hansken.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from indexer.documents.base import ReadOptions, SourceItem
from indexer.documents.blobs import LoadedSource, file_payload, identifier
from indexer.documents.sources import UrlSource
from indexer.errors import SourceNotFound, UnreadableFile
from indexer.model import Blob, FailedBlob

SCHEME = "notes://"


class NotesSource:
    """The texts of a JSON object, by name."""

    def __init__(self, url: str, read_options: ReadOptions) -> None:
        self._url = url.rstrip("/")
        self._options = read_options
        self._path = Path(self._url.removeprefix(SCHEME))
        if not self._path.exists():
            raise SourceNotFound(path=url)  # 1. a URL that leads nowhere is refused at once

    def blobs(self) -> Iterator[SourceItem]:
        """Yield the notes by name."""
        try:
            notes = json.loads(self._path.read_bytes())
        except (OSError, ValueError) as error:
            yield FailedBlob(self._url, str(error))  # 2. each item has one outcome
            return
        for name, text in sorted(notes.items()):
            yield self._blob(name, text.encode())

    def _blob(self, name: str, data: bytes) -> Blob:
        space = self._options.namespace or self._url
        key = name.encode()
        is_too_large = len(data) > self._options.max_bytes
        content = (
            UnreadableFile.too_large(self._options.max_bytes)
            if is_too_large
            else file_payload(data, modified=None)
        )
        return Blob(
            identifier(space.encode(), key),  # 3. the id is the same in every run
            key,
            f"{self._url}/{name}",
            LoadedSource(content),
            len(data),
            modified=None,
        )

    def scopes(self) -> tuple[str, ...]:
        """Return the URL: `index --prune` deletes documents below it that `blobs` lacks."""
        return (self._url,)

    def holds(self, path: str) -> bool:
        """Return False: `blobs` yields all that there is."""
        return False


# 4. A library that the source needs is imported in this function, not before.
def _load() -> Callable[[str, ReadOptions], NotesSource]:
    return NotesSource


NOTES = UrlSource((SCHEME,), _load, package="json", extra="notes")
