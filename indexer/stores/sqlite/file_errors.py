"""Errors of SQLite as errors of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreStopped,
    UnsupportedOperation,
)


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Raise SQLite's errors as ours, by their text: Python 3.10 gives no code."""
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(path, str(error)) from error


def _store_error(path: str, text: str) -> StoreError:
    """Return the error that a message of SQLite means."""
    if "locked" in text:
        return StoreBusy(what=path, holder="another process")
    if "disk is full" in text:
        return StoreStopped(reason=f"no space is left for {path}", remedy="free some space")
    if "readonly" in text:
        return StoreStopped(
            reason=f"{path} is read-only", remedy="allow writing to the file and its folder"
        )
    if "disk I/O error" in text:
        return StoreStopped(
            reason=f"the disk that holds {path} reports an error",
            remedy="check the disk and its free space",
        )
    if "unable to open" in text:
        return StoreError(
            f"{path} cannot be opened; "
            "check that its folder exists and that you may read and write both" + slash_hint(path)
        )
    if "fts5" in text and "no such" in text:
        return UnsupportedOperation(
            store="this Python's SQLite",
            operation="search texts (it has no FTS5)",
            alternative="use another Python",
        )
    if "Could not decode" in text:  # what follows in the text is of a document
        return StoreDamaged(path=path, reason="a text in it is not UTF-8")
    if any(sign in text for sign in ("not a database", "malformed", "corrupt", "no such")):
        return StoreDamaged(path=path, reason=text)
    return StoreError(f"{path}: {text}; run `nearfold doctor`")


def slash_hint(path: str) -> str:
    """Return how to write the absolute path that a relative one may be meant for, or nothing."""
    meant = Path("/", path)
    if Path(path).is_absolute() or Path(path).parent.exists() or not meant.parent.is_dir():
        return ""
    return f"; for {meant} write four slashes: sqlite:///{meant}"
