"""Sources: where documents come from. One narrow seam (`base`), one kind of place a file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from indexer.errors import MissingExtra, UsageError
from indexer.sources.base import Found, Reading, Source, unique
from indexer.stores import in_place, open_documents
from indexer.stores.address import is_store_url, parse_address
from indexer.stores.base import Store

_HANSKEN = ("hansken://", "hansken+http://")


def target(
    paths: Sequence[str], store: Store, reading: Reading, labels: Sequence[str] = ()
) -> Store:
    """What is written to: the store, which signs documents in place when a PATH is that very store.

    Raises `UsageError` when that is mixed with other PATHs or with labels, or the store is not in a
    search engine.
    """
    addresses = (parse_address(path) for path in paths if is_store_url(path))
    if not any(store.address.is_same_store(address) for address in addresses):
        return store
    if len(paths) > 1:
        raise UsageError(
            f"{store.url} is signed in place, so it must be the only PATH; index the others by another command"
        )
    if labels or reading.label_field:
        raise UsageError(
            f"{store.url} is signed in place, and nothing else of its documents changes; leave labels out"
        )
    return in_place(store, reading.text_field)


def open_sources(
    paths: Sequence[str], reading: Reading, store: Store, own_files: Collection[str] = ()
) -> list[Source]:
    """The sources that PATHs name, files and folders first, in one.

    A PATH is a file or folder when there is one of that name; else `SCHEME://...` is the URL of a
    store, such as an index that others filled, or of any file system that fsspec knows. `store` is
    what `target` gave. Files and folders are looked at now: raises `SourceNotFound` for what is not
    there, `MissingExtra` when what reads such a source is not installed, and `UsageError` for a URL
    that cannot be read, and for a query where a source cannot be asked.
    """
    if reading.query is not None and (
        mute := [path for path in paths if not path.startswith(_HANSKEN)]
    ):
        raise UsageError(
            f"{mute[0]} cannot be asked; --query is for hansken:// alone, leave it out, or index the others apart"
        )
    local = [path for path in paths if "://" not in path or os.path.lexists(path)]
    sources: list[Source] = []
    if local:
        from indexer.sources.folder import FileSource

        sources.append(FileSource(local, reading, own_files))
    return [*sources, *(_at_url(path, reading, store) for path in paths if path not in local)]


def blobs_of(sources: Sequence[Source], reading: Reading) -> Iterator[Found]:
    """Everything in all of them. Where ids may be the same in two places, the second of that id has
    failed.
    """
    found = (item for source in sources for item in source.blobs())
    shared = reading.own_ids or (reading.namespace is not None and len(sources) > 1)
    return unique(found) if shared else found


def _at_url(url: str, reading: Reading, store: Store) -> Source:
    if is_store_url(url):
        from indexer.sources.stored_documents import IndexSource

        address = parse_address(url)
        if store.address.is_same_store(address):
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
