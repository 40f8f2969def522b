"""The folder of a document. An example of an export column."""

from __future__ import annotations

from pathlib import PurePath

from indexer.review.exports.columns import DocumentRecord
from indexer.review.exports.writers import Column


def folder_of(record: DocumentRecord) -> str | None:
    """Return the folder of a document's file; None without a path."""
    return str(PurePath(record.row.path).parent) if record.row.path else None


# A line of `FAMILIES` in indexer/review/exports/columns.py: the name in tables, the kind of its
# values, the value of a record, and the name in load files, for which the order there has a line.
FOLDER = Column("folder", "text", folder_of, "FileFolder")
