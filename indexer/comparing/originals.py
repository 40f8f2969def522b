"""The two documents of a comparison as they were read: text, metadata, and what went wrong while
they were.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from indexer.errors import DocumentNotFound, SourceNotFound
from indexer.indexing.documents import STDIN, document_at
from indexer.model import Document, Row
from indexer.stores.base import Store

CUT = "the text is cut: the extractor stopped at a limit or gave up in the middle"
EMPTY = "no text was found: it may be a picture of one"
_TOLD = {
    "truncated": CUT,
    "empty": EMPTY,
    "too_short": "the text is too short to be compared by its sketch",
    "numbers_only": "the text is numbers alone: it is never a near duplicate",
    "unsigned": "a pipeline took the document and could not sign it",
}


@dataclass(frozen=True, slots=True)
class Original:
    """A document as it was read. `path` is `-` for stdin; `modified` is in milliseconds since 1970
    UTC; None is unknown.
    """

    path: str
    text: str
    title: str = ""
    content_type: str = ""
    size: int | None = None
    modified: int | None = None
    extractor: str = ""
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """What a reader compares besides the text, by name; what is unknown or empty is left
        out.
        """
        told = {
            "title": self.title,
            "content type": self.content_type,
            "size": "" if self.size is None else f"{self.size:,} bytes",
            "file modified": _moment(self.modified),
            "labels": ", ".join(self.labels),
            "extractor": self.extractor,
        }
        for name, value in sorted(self.metadata.items()):
            told[f"{name} (metadata)" if name in told else name] = value
        return {name: value for name, value in told.items() if value}


def original(name: str, store: Store) -> Original:
    """A document by path, from stdin (`-`), or by id; what exists as a path is a path.

    Raises `SourceNotFound` for what is spelled like a path and is not there, `DocumentNotFound` for
    an id that is not in the store, and what `document_at` raises.
    """
    if name == STDIN or Path(name).exists():
        return _read(*document_at(name))
    row = store.get([name]).get(name) if store.stored_recipe() else None
    if row is None:
        raise (
            SourceNotFound(path=name)
            if os.sep in name or Path(name).suffix
            else DocumentNotFound(id=name)
        )
    return stored_original(row)


def _read(path: str, document: Document) -> Original:
    """A file that was read just now. A cut text always has a warning; a text without a character
    gets one.
    """
    seen = Path(path).stat() if path != STDIN else None
    warnings = document.warnings or ((CUT,) if document.truncated else ())
    return Original(
        path=path,
        text=document.text,
        title=document.title,
        content_type=document.content_type,
        size=seen and seen.st_size,
        modified=seen and seen.st_mtime_ns // 1_000_000,
        extractor=document.extractor,
        labels=document.labels,
        metadata=document.metadata,
        warnings=warnings if document.text.strip() else (*warnings, EMPTY),
    )


def stored_original(row: Row) -> Original:
    """A document of a store, which keeps the status alone of what went wrong when it was read."""
    return Original(
        path=row.path,
        text=row.text,
        title=row.title,
        content_type=row.content_type,
        size=row.size,
        modified=row.modified,
        extractor=row.extractor,
        labels=row.labels,
        metadata=row.metadata,
        warnings=(_TOLD[row.status],) if row.status in _TOLD else (),
    )


def _moment(milliseconds: int | None) -> str:
    """A time as ISO 8601 in UTC; nothing for one that is unknown or beyond the calendar."""
    if milliseconds is None:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(
            timespec="seconds"
        )
    except (OverflowError, OSError, ValueError):
        return ""
