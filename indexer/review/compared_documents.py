"""The documents of a comparison as read: text, metadata, and warnings of the extraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from indexer.errors import DocumentNotFound
from indexer.fingerprinting.fingerprint import with_pictographs
from indexer.jobs.document_rows import STDIN, WARNING, document_at
from indexer.model import Row, unpack_embedded
from indexer.stores.base import Store
from indexer.stores.fields import metadata_label
from indexer.stores.requirements import stored_ids
from indexer.wording import CUT, EMPTY, STATUS_WARNINGS

_MIN_DIGITS = 12  # of a SHA-256, which tell two sets of files apart


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
    embedded: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """Return the properties to compare besides the text, by name, without unknown and empty
        ones.
        """
        facts = {
            "title": self.title,
            "content type": self.content_type,
            "size": "" if self.size is None else f"{self.size:,} bytes",
            "file modified": _iso_time(self.modified),
            "labels": ", ".join(self.labels),
            "extractor": self.extractor,
            "files in the document": _file_names(self.embedded),
        }
        for key, value in sorted(self.metadata.items()):
            name = metadata_label(key, self.content_type)
            facts[f"{name} (metadata)" if name in facts else name] = value
        return {name: value for name, value in facts.items() if value}


def original(name: str, store: Store) -> Original:
    """Return a document by the path of a file, from stdin (`-`), or by the id or path of a stored
    one; a file goes before it.

    Raises `DocumentNotFound` for a name that is neither, and what `document_at` raises.
    """
    if name == STDIN or Path(name).exists():
        return _read(name)
    [id] = stored_ids(store, [name])
    row = store.get([id]).get(id) if store.stored_recipe() else None
    if row is None:
        raise DocumentNotFound(id=name)
    return stored_original(row)


def _read(name: str) -> Original:
    """Read a file, or stdin for `-`. A truncated or empty text always has a warning."""
    path, document = document_at(name)
    file_status = Path(name).stat() if name != STDIN else None
    warnings = document.warnings or ((CUT,) if document.truncated else ())
    return Original(
        path=path,
        text=document.text,
        title=document.title,
        content_type=document.content_type,
        size=file_status and file_status.st_size,
        modified=file_status and file_status.st_mtime_ns // 1_000_000,
        extractor=document.extractor,
        labels=document.labels,
        metadata=document.metadata,
        warnings=warnings if document.text.strip() else (*warnings, EMPTY),
        embedded=with_pictographs(document.embedded, document.text),
    )


def stored_original(row: Row) -> Original:
    """Return a stored document, with the warnings of its extraction; of one that was stored without
    any, those that follow from its status.
    """
    metadata = dict(row.metadata)
    stored = metadata.pop(WARNING, "")
    warnings = (
        stored or STATUS_WARNINGS.get(row.status, ""),
        EMPTY if row.status == "empty" else "",
    )
    return Original(
        path=row.path,
        text=row.text,
        title=row.title,
        content_type=row.content_type,
        size=row.size,
        modified=row.modified,
        extractor=row.extractor,
        labels=row.labels,
        metadata=metadata,
        warnings=tuple(dict.fromkeys(filter(None, warnings))),
        embedded=row.embedded,
    )


def _file_names(embedded: str) -> str:
    """Return the names of the files in a document, after the beginning of the SHA-256 of all."""
    names = ", ".join(file.name for file in unpack_embedded(embedded))
    return f"SHA-256 {embedded[:_MIN_DIGITS]}: {names}" if embedded else ""


def _iso_time(milliseconds: int | None) -> str:
    """Return a time as ISO 8601 in UTC; empty when unknown or beyond the calendar."""
    if milliseconds is None:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(
            timespec="seconds"
        )
    except (OverflowError, OSError, ValueError):
        return ""
