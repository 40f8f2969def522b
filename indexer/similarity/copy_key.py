"""The key that copies of a document have in common."""

from __future__ import annotations

from indexer.model import Row


def copy_key(row: Row) -> str:
    """Return what a document shares with its copies and with nothing else.

    It is the digest of the normalised text or, where nothing is left of the text, of the bytes; the
    id of a document that has neither.
    """
    if row.chars and row.exact:
        return row.exact
    return f"bytes {row.raw}" if row.raw else row.id
