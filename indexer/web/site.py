"""What one running site knows: the store, what may be served of it, and what is kept between requests."""

from __future__ import annotations

import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from indexer.align import Matching
from indexer.comparison import compare
from indexer.errors import DocumentNotFound
from indexer.lookup import recipe_of
from indexer.model import Row
from indexer.sidebyside import SideBySide
from indexer.stores.base import Store
from indexer.web.surveying import Surveyor

MOST_CHARS = 2_000_000
KEPT = 6
T = TypeVar("T")


class Kept(Generic[T]):
    """The values that were asked for last; safe to share by threads."""

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[object, T]()
        self._lock = threading.Lock()

    def get(self, key: object, make: Callable[[], T]) -> T:
        """The value kept under a key, made where there is none."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._lock:
            self._values[key] = made
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return made


class Site:
    """One store and its pages. `originals`: the folder whose files may be fetched, None for none."""

    def __init__(self, store: Store, originals: str | None = None) -> None:
        self.store = store
        self.token = secrets.token_urlsafe(32)
        self.surveyor = Surveyor(store)
        self._originals = Path(originals).resolve(strict=True) if originals else None
        self._compared: Kept[SideBySide] = Kept(KEPT)

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

        def make() -> SideBySide:
            texts = a.text[:MOST_CHARS], b.text[:MOST_CHARS]
            return SideBySide(compare(*texts, recipe, matching=matching, names=(a.path, b.path)))

        return self._compared.get(key, make)

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
