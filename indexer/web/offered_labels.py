"""The names of labels that pages offer: those that keys choose between, and all of the store."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from indexer.model import Query
from indexer.stores.abilities import CachesReads, FullStore
from indexer.system.progress_callback import Progress
from indexer.web.survey_cache import SurveyReader

MOST_LABELS = 9  # that keys choose between
_FRESH_SECONDS = 20.0  # for which the labels of a store are not read again
_WAIT_SECONDS = 1.0  # after their reading began, for which pages wait for them


class OfferedLabels:
    """The labels of a store by name, read beside the requests for them; safe to share by threads.

    `exclusive`: the labels that keys choose between, at most nine: a document gets one of them in
    place of the others. Without them keys add labels of the store.
    """

    def __init__(self, store: FullStore, exclusive: Sequence[str] = ()) -> None:
        self.exclusive = tuple(exclusive)
        self._store = store
        self._of_keys = list(exclusive)
        self._keys_lock = threading.Lock()
        self._reader = SurveyReader(self._read)
        self._stored: tuple[str, ...] = ()
        self._written: set[str] = set()

    def of_keys(self) -> Sequence[str]:
        """Return the labels that keys choose between, at most nine.

        Without given ones, those of the store: by name, and later ones after them, so that no key
        changes its meaning while the server runs.
        """
        if self.exclusive or len(self._of_keys) >= MOST_LABELS:
            return tuple(self._of_keys)
        with self._keys_lock:
            for value in self.known():
                if value not in self._of_keys and len(self._of_keys) < MOST_LABELS:
                    self._of_keys.append(value)
            return tuple(self._of_keys)

    def known(self) -> Sequence[str]:
        """Return the labels to complete what is typed: those of keys, then all of the store."""
        if self._reader.age > _FRESH_SECONDS:
            self._reader.discard()
        self._reader.begin()
        names = self._reader.get(max(0.0, _WAIT_SECONDS - self._reader.age))
        if names is not None:
            self._stored = names
        written = sorted(self._written.difference(self._stored))
        return tuple(dict.fromkeys([*self._of_keys, *self._stored, *written]))

    def begin(self) -> None:
        """Begin to read the labels of the store, so that no page waits for them."""
        self._reader.begin()

    def discard(self) -> None:
        """Read the labels of the store again when they are asked for next."""
        self._reader.discard()

    def add(self, names: Iterable[str]) -> None:
        """Remember labels that were written, until the store is read."""
        self._written.update(names)

    def forget_added(self) -> None:
        """Forget the labels that were written: some of them were undone."""
        self._written.clear()

    def _read(self, progress: Progress) -> tuple[str, ...]:
        """Return the labels of the store.

        One in a file then keeps what searches and Jobs count.
        """
        facets = self._store.search(Query("", facets=("labels",))).facets
        if isinstance(self._store, CachesReads):
            self._store.counts()
        return tuple(sorted(facet.value for facet in facets.get("labels", ())))
