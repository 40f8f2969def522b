"""The sources that the PATHs of `nearfold index` name, and the store that is written to."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from indexer.errors import MissingExtra, UsageError
from indexer.model import Blob, Outcome, SkippedBlob
from indexer.sources.base import Reading, Source, SourceItem, unique
from indexer.stores import in_place, open_documents
from indexer.stores.abilities import FullStore
from indexer.stores.address import is_store_url, parse_address

_HANSKEN = ("hansken://", "hansken+http://")


def target(
    paths: Sequence[str], store: FullStore, reading: Reading, adds_values: bool = False
) -> FullStore:
    """Return the store to write to, which signs documents in place when a PATH is that very store.

    Raises `UsageError` when that is mixed with other PATHs, with labels of a field or with
    `adds_values`, by which documents get labels or a custodian, or the store is not in a search
    engine.
    """
    addresses = (parse_address(path) for path in paths if is_store_url(path))
    if not any(store.address.is_same_store(address) for address in addresses):
        return store
    if len(paths) > 1:
        raise UsageError(
            f"{store.url} is signed in place, so it must be the only PATH; "
            "index the others by another command"
        )
    if adds_values or reading.label_field:
        raise UsageError(
            f"{store.url} is signed in place, and nothing else of its documents changes; "
            "leave labels and custodian out"
        )
    return in_place(store, reading.text_field)


def open_sources(
    paths: Sequence[str],
    reading: Reading,
    store: FullStore | None,
    own_files: Collection[str] = (),
) -> list[Source]:
    """Return the sources that PATHs name: one of all files and folders first, then one for each
    URL.

    A PATH is a file or folder when there is one of that name; else `SCHEME://...` is the URL of a
    store, such as an index that others filled, or of any file system that fsspec knows. `store` is
    the result of `target`; None where documents are read alone, and none is signed in place. Files
    and folders are looked up now: raises `SourceNotFound` for a missing one, `MissingExtra` when
    the reader of such a source is not installed, and `UsageError` for a URL that cannot be read,
    and for a query where a source takes none.
    """
    if reading.query is not None:
        _check_queryable(paths)
    local = [path for path in paths if "://" not in path or os.path.lexists(path)]
    sources: list[Source] = []
    if local:
        from indexer.sources.folder import FileSource

        sources.append(FileSource(local, reading, own_files))
    return [*sources, *(_source_at(path, reading, store) for path in paths if path not in local)]


def blobs_of(sources: Sequence[Source], reading: Reading) -> Iterator[SourceItem]:
    """Yield the items of all sources; where two places may have the same ids, the second blob with
    an id fails.
    """
    items = (item for source in sources for item in source.blobs())
    has_shared_ids = reading.own_ids or (reading.namespace is not None and len(sources) > 1)
    return unique(items) if has_shared_ids else items


def select_blobs(
    items: Iterable[Blob | Outcome], include: Sequence[str], exclude: Sequence[str]
) -> Iterator[Blob | Outcome]:
    """Yield the items; blobs that are not to be read become `SkippedBlob` (`excluded`).

    A pattern is one of shells (`*`, `?`, `[abc]`), with capitals as written. With a `/` it is
    compared with the whole key, the path relative to PATH, where `*` stands for `/` too; else with
    the last name.
    """
    for item in items:
        if isinstance(item, Blob) and not _is_selected(item, include, exclude):
            yield SkippedBlob(item.path, "excluded")
        else:
            yield item


def _is_selected(blob: Blob, include: Sequence[str], exclude: Sequence[str]) -> bool:
    key = blob.key.decode("utf-8", "replace")
    name = key.rpartition("/")[2]

    def matches(pattern: str) -> bool:
        return fnmatchcase(key if "/" in pattern else name, pattern)

    is_included = not include or any(map(matches, include))
    return is_included and not any(map(matches, exclude))


def _check_queryable(paths: Sequence[str]) -> None:
    """Raise `UsageError` when a PATH is of a source that takes no query."""
    for path in paths:
        if not path.startswith(_HANSKEN):
            raise UsageError(
                f"{path} takes no query; --query is for hansken:// alone, "
                "leave it out, or index the others apart"
            )


def _source_at(url: str, reading: Reading, store: FullStore | None) -> Source:
    if is_store_url(url):
        from indexer.sources.stored_documents import IndexSource

        address = parse_address(url)
        if store is not None and store.address.is_same_store(address):
            signed = in_place(store, reading.text_field)
            return IndexSource(signed, address.location, reading, signed.digest)
        return IndexSource(open_documents(address), address.location, reading)
    if url.startswith(_HANSKEN):
        try:
            from indexer.sources.hansken import HanskenSource
        except ModuleNotFoundError as error:
            raise MissingExtra(package="hansken", extra="hansken") from error
        return HanskenSource(url, reading)
    try:
        from indexer.sources.remote import RemoteSource
    except ModuleNotFoundError as error:
        raise MissingExtra(package="fsspec", extra="fsspec") from error
    return RemoteSource(url, reading)
