"""Read the documents that a gold set names: by id from a store, or by path from the store or the
disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from indexer.errors import ExtractionError, UsageError
from indexer.indexing.documents import documents_at
from indexer.lab.evaluation.judgements import GoldDocument
from indexer.model import Blob, Row
from indexer.sources.folder import walk
from indexer.stores.base import Store

BATCH = 256
MOST_NAMED = 5


def gold_documents(
    names: Iterable[str], folder: str, store: Store | None
) -> dict[str, GoldDocument]:
    """Return every document by name: an id of the store, a path from `folder`, or a path from the
    working directory.

    Stored documents are preferred; an empty store counts as no store. Raises `UsageError` with the
    first five names that do not exist, and for a file that cannot be read.
    """
    unique_names = list(dict.fromkeys(names))
    store = store if store is not None and store.stored_recipe() else None
    documents = {id: _row_document(row) for id, row in _rows(store, unique_names)}
    places = {name: _real_path(name, folder) for name in unique_names if name not in documents}
    files = {name: place for name, place in places.items() if place}
    documents |= _file_documents(files, store)
    missing = [name for name in unique_names if name not in documents]
    if missing and store is not None:
        documents |= _documents_by_path(missing, folder, store)
        missing = [name for name in missing if name not in documents]
    if missing:
        more = f", and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
        first = ", ".join(map(repr, missing[:MOST_NAMED]))
        problem = "neither an id of the store nor a path" if store else "no path"
        remedy = "" if store else "; for ids give --store"
        raise UsageError(f"{first}{more}: {problem} from {folder} or from here{remedy}")
    return documents


def _rows(store: Store | None, ids: Sequence[str]) -> Iterator[tuple[str, Row]]:
    if store is not None:
        for start in range(0, len(ids), BATCH):
            yield from store.get(ids[start : start + BATCH]).items()


def _row_document(row: Row) -> GoldDocument:
    return GoldDocument(row.id, row.path, row.text, True)


def _real_path(name: str, folder: str) -> str | None:
    """Return the real path of the file that a name means; the folder of the gold set goes before
    the working directory.
    """
    places = (os.path.join(folder, name), name)  # noqa: PTH118 (a name may be of any bytes)
    return next((os.path.realpath(place) for place in places if _is_file(place)), None)


def _is_file(place: str) -> bool:
    try:
        return Path(place).is_file()
    except (OSError, ValueError):
        return False


def _file_documents(files: Mapping[str, str], store: Store | None) -> dict[str, GoldDocument]:
    """Return files by name, from the store where it has them. Raises `UsageError` when one cannot
    be read.
    """
    ids = {
        name: blob.id
        for name, place in files.items()
        for blob in walk([place])
        if isinstance(blob, Blob)
    }
    rows = dict(_rows(store, list(dict.fromkeys(ids.values()))))
    stored = {name: _row_document(rows[id]) for name, id in ids.items() if id in rows}
    paths = {place: name for name, place in files.items() if name not in stored}
    extracted: dict[str, GoldDocument] = {}
    for where, result in documents_at(list(paths)):
        if isinstance(result, ExtractionError):
            raise UsageError(f"{where} cannot be read: {result}")
        extracted[where] = GoldDocument(where, where, result.text, False)
    return stored | {name: extracted[place] for name, place in files.items() if name not in stored}


def _documents_by_path(names: Sequence[str], folder: str, store: Store) -> dict[str, GoldDocument]:
    """Return stored documents by the path that the store has for them, for files that are gone or
    were read elsewhere.
    """
    paths: dict[str, str] = {}
    for name in names:
        joined = os.path.join(folder, name)  # noqa: PTH118 (not normalised: a key, not a file)
        paths |= dict.fromkeys((joined, os.path.realpath(name), name), name)
    return {paths[row.path]: _row_document(row) for row in store.scan() if row.path in paths}
