"""What one running site knows: the store, what may be served of it, and what is kept between
requests.
"""

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

from indexer.comparing.blocks_view import SideBySide
from indexer.comparing.boilerplate import Sample, shingle_width
from indexer.comparing.compare import compare
from indexer.errors import DocumentNotFound
from indexer.grouping.survey import survey
from indexer.model import Facet, Row
from indexer.similarity.alignment import Matching
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.web.survey_cache import SurveyReader

MOST_CHARS = 2_000_000
KEPT, FACET_SECONDS = 6, 20.0
T = TypeVar("T")


class TimedCache(Generic[T]):
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
    """One store and its pages. `originals`: the folder whose files may be fetched, None for
    none.
    """

    def __init__(self, store: FullStore, originals: str | None = None) -> None:
        self.store = store
        self.token = secrets.token_urlsafe(32)
        self.surveyor = SurveyReader(lambda told: survey(store, told))
        self._samples: dict[int, SurveyReader[Sample]] = {}
        self._discounted: TimedCache[DiscountedSimilarity] = TimedCache(KEPT * 10)
        self._originals = Path(originals).resolve(strict=True) if originals else None
        self.facets: TimedCache[Mapping[str, tuple[Facet, ...]]] = TimedCache(
            KEPT * 10, FACET_SECONDS
        )
        self._compared: TimedCache[SideBySide] = TimedCache(KEPT)

    def changed(self) -> None:
        """Forget what was counted of documents, for they have changed."""
        self.facets.clear()
        self.surveyor.forget()

    def anew(self) -> None:
        """Read the whole store again when somebody asks next."""
        self.changed()
        self._discounted.clear()
        self._samples.clear()

    def discounted(self, a: Row, b: Row, patience: float) -> DiscountedSimilarity | None:
        """Two documents compared without what the store shares; None while that is still counted
        after `patience` seconds.
        """
        texts = a.text[:MOST_CHARS], b.text[:MOST_CHARS]
        if (kept := self._discounted.get(texts)) is None:
            width = shingle_width(*texts)
            reading = self._samples.setdefault(
                width, SurveyReader(lambda told: Sample(self.store, width, progress=told))
            )
            if (sample := reading.get(patience)) is None:
                return None
            kept = self._discounted.put(texts, sample.compare(*texts))
        return kept

    def row(self, id: str) -> Row:
        """A stored document. Raises `DocumentNotFound`, and `StoreError` when nothing was indexed
        yet.
        """
        require_recipe(self.store)
        row = self.store.get([id]).get(id)
        if row is None:
            raise DocumentNotFound(id=id)
        return row

    def compared(self, a: Row, b: Row, matching: Matching) -> SideBySide:
        """Two documents compared, of texts of more than two million characters the beginnings."""
        recipe = require_recipe(self.store)
        key = (a.id, a.text, b.id, b.text, matching)
        if kept := self._compared.get(key):
            return kept
        texts = a.text[:MOST_CHARS], b.text[:MOST_CHARS]
        return self._compared.put(
            key, SideBySide(compare(*texts, recipe, matching=matching, names=(a.path, b.path)))
        )

    def original(self, row: Row) -> Path | None:
        """The file that a document was read from, when originals are served and it is a regular
        file inside their folder.

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
