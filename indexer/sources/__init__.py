"""Sources: where documents come from. One narrow seam (`base`), one kind of place a file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from indexer.errors import MissingExtra
from indexer.sources.base import Found, Reading, Source, unique


def open_sources(paths: Sequence[str], reading: Reading, own_files: Collection[str] = ()) -> list[Source]:
    """The sources that PATHs name, files and folders first, in one.

    A PATH is a file or folder when there is one of that name; else `SCHEME://...` is a URL of any file system that fsspec
    knows. Files and folders are looked at now: raises `SourceNotFound` for what is not there, `MissingExtra` when what reads
    such a source is not installed, and `UsageError` for a URL that cannot be read.
    """
    local = [path for path in paths if "://" not in path or os.path.lexists(path)]
    sources: list[Source] = []
    if local:
        from indexer.sources.folder import FileSource

        sources.append(FileSource(local, reading, own_files))
    return [*sources, *(_at_url(path, reading) for path in paths if path not in local)]


def blobs_of(sources: Sequence[Source], reading: Reading) -> Iterator[Found]:
    """Everything in all of them. Where ids may be the same in two sources, the second of that id has failed."""
    found = (item for source in sources for item in source.blobs())
    shared = reading.namespace is not None or reading.own_ids
    return unique(found) if shared and len(sources) > 1 else found


def _at_url(url: str, reading: Reading) -> Source:
    try:
        from indexer.sources.remote import RemoteSource
    except ModuleNotFoundError as error:
        raise MissingExtra(package="fsspec", extra="fsspec") from error
    return RemoteSource(url, reading)
