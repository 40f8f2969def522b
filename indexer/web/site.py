"""What one running site knows: the store, what may be served of it, and what is kept between requests."""

from __future__ import annotations

import math
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Generic, TypeVar

from indexer.align import Matching
from indexer.comparison import compare
from indexer.errors import DocumentNotFound
from indexer.lookup import recipe_of
from indexer.model import Facet, Row
from indexer.sidebyside import SideBySide
from indexer.stores.base import Store
from indexer.web.surveying import Surveyor

MOST_CHARS = 2_000_000
KEPT, FACET_SECONDS = 6, 20.0
T = TypeVar("T")


class Kept(Generic[T]):
    """The values that were asked for last, each for so many seconds; safe to share by threads."""

    def __init__(self, most: int, seconds: float = math.inf) -> None:
        self._most, self._seconds = most, seconds
        self._values = OrderedDict[object, tuple[float, T]]()
        self._lock = threading.Lock()

    def get(self, key: object) -> T | None:
        """The value kept under a key, None where there is none any more."""
        with self._lock:
            made, value = self._values.get(key, (-math.inf, None))
            return value if time.monotonic() - made <= self._seconds else None

    def put(self, key: object, value: T) -> T:
        """Keep a value; the oldest ones go."""
        with self._lock:
            self._values[key] = time.monotonic(), value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()


class Site:
    """One store and its pages. `originals`: the folder whose files may be fetched, None for none."""

    def __init__(self, store: Store, originals: str | None = None) -> None:
        self.store = store
        self.token = secrets.token_urlsafe(32)
        self.surveyor = Surveyor(store)
        self._originals = Path(originals).resolve(strict=True) if originals else None
        self.facets: Kept[Mapping[str, tuple[Facet, ...]]] = Kept(KEPT * 10, FACET_SECONDS)
        self._compared: Kept[SideBySide] = Kept(KEPT)

    def changed(self) -> None:
        """Forget what was counted of documents, for they have changed."""
        self.facets.clear()
        self.surveyor.forget()

    def row(self, id: str) -> Row:
        """A stored document. Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet."""
        recipe_of(self.store)
        row = self.store.get([id]).get(id)
        if row is None:
            raise DocumentNotFound(id=id)
        return row

    def compared(self, a: Row, b: Row, matching: Matching) -> SideBySide:
        """Two documents compared, of texts of more than two million characters the beginnings."""
        recipe = recipe_of(self.store)
        key = (a.id, a.text, b.id, b.text, matching)
        if kept := self._compared.get(key):
            return kept
        texts = a.text[:MOST_CHARS], b.text[:MOST_CHARS]
        return self._compared.put(key, SideBySide(compare(*texts, recipe, matching=matching, names=(a.path, b.path))))

    def original(self, row: Row) -> Path | None:
        """The file that a document was read from, when originals are served and it is a regular file inside their folder.

        Links are followed before it is decided what is inside.
        """
        if self._originals is None or not row.path:
            return None
        try:
            place = Path(os.path.realpath(row.path))
            inside = place.is_relative_to(self._originals) and place.is_file()
        except (OSError, ValueError):
            return None
        return place if inside else None
