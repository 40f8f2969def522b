"""The documents that a gold set names, with their texts: by id from a store, or by path from the
store or from the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import ExtractionError, UsageError
from indexer.indexing.documents import documents_at
from indexer.model import Blob, Row
from indexer.sources.folder import walk
from indexer.stores.base import Store

BATCH = 256
LISTED = 5


@dataclass(frozen=True, slots=True)
class GoldDocuments:
    """A document. `key` tells whether two names mean the same one: its id where it is `stored`,
    else its real path.
    """

    key: str
    path: str
    text: str
    stored: bool


def gold_documents(
    names: Iterable[str], folder: str, store: Store | None
) -> dict[str, GoldDocuments]:
    """Every document by name. A name is an id of the store, a path from `folder`, or a path from
    the working directory.

    What the store has is taken from there; an empty store is none. Raises `UsageError` with the
    first few that are nowhere or cannot be read.
    """
    wanted = list(dict.fromkeys(names))
    store = store if store is not None and store.stored_recipe() else None
    found = {id: _of_row(row) for id, row in _rows(store, wanted)}
    files = {
        name: place
        for name in wanted
        if name not in found
        for place in [_file(name, folder)]
        if place
    }
    found |= _of_files(files, store)
    missing = [name for name in wanted if name not in found]
    if missing and store is not None:
        found |= _by_path(missing, folder, store)
        missing = [name for name in missing if name not in found]
    if missing:
        more = f", and {len(missing) - LISTED:,} more" if len(missing) > LISTED else ""
        where = "neither an id of the store nor a path" if store else "no path"
        remedy = "" if store else "; for ids give --store"
        raise UsageError(
            f"{', '.join(map(repr, missing[:LISTED]))}{more}: {where} from {folder} or from here{remedy}"
        )
    return found


def _rows(store: Store | None, ids: Sequence[str]) -> Iterator[tuple[str, Row]]:
    if store is not None:
        for start in range(0, len(ids), BATCH):
            yield from store.get(ids[start : start + BATCH]).items()


def _of_row(row: Row) -> GoldDocuments:
    return GoldDocuments(row.id, row.path, row.text, True)


def _file(name: str, folder: str) -> str | None:
    """The real path of a file that a name means; what stands in the folder of the gold set goes
    before what stands here.
    """
    places = (os.path.join(folder, name), name)  # noqa: PTH118 (a name may be of any bytes)
    return next((os.path.realpath(place) for place in places if _is_file(place)), None)


def _is_file(place: str) -> bool:
    try:
        return Path(place).is_file()
    except (OSError, ValueError):
        return False


def _of_files(files: Mapping[str, str], store: Store | None) -> dict[str, GoldDocuments]:
    """Files by name, from the store where it has them. Raises `UsageError` when one cannot be
    read.
    """
    ids = {
        name: blob.id
        for name, place in files.items()
        for blob in walk([place])
        if isinstance(blob, Blob)
    }
    rows = dict(_rows(store, list(dict.fromkeys(ids.values()))))
    found = {name: _of_row(rows[id]) for name, id in ids.items() if id in rows}
    unread = {place: name for name, place in files.items() if name not in found}
    made: dict[str, GoldDocuments] = {}
    for where, result in documents_at(list(unread)):
        if isinstance(result, ExtractionError):
            raise UsageError(f"{where} cannot be read: {result}")
        made[where] = GoldDocuments(where, where, result.text, False)
    return found | {name: made[place] for name, place in files.items() if name not in found}


def _by_path(names: Sequence[str], folder: str, store: Store) -> dict[str, GoldDocuments]:
    """Documents whose files are gone, or were read elsewhere, by the path that the store keeps."""
    paths: dict[str, str] = {}
    for name in names:
        joined = os.path.join(folder, name)  # noqa: PTH118 (not normalised: a key, not a file)
        paths |= dict.fromkeys((joined, os.path.realpath(name), name), name)
    return {paths[row.path]: _of_row(row) for row in store.scan() if row.path in paths}
