"""Comparisons of two stored documents, kept between requests."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.comparing.compare import compare
from indexer.model import Matching, Progress, Row, no_progress
from indexer.review.boilerplate import DiscountedSimilarity, Sample, shingle_width
from indexer.review.caches import BackgroundReader, ReaderCache, TimedCache
from indexer.review.side_by_side import SideBySide
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe

MAX_CHARS = 2_000_000  # of a text that are compared
WINDOW_CHARS = 60_000  # of long texts that are compared at once, before the whole of them
LONG_CHARS = 200_000  # of texts that are compared or looked up in the background
_COMPARISONS = 60  # of short texts that are cached
_DISCOUNTED = 60  # similarities without boilerplate that are cached


@dataclass(frozen=True, slots=True)
class SideView:
    """Two texts side by side.

    `chars`: None for the whole, or how many characters of each are compared so far.
    """

    side_by_side: SideBySide
    chars: int | None


class Comparisons:
    """Comparisons of documents of a store; comparisons of long texts are computed by `readers`."""

    def __init__(self, store: FullStore, readers: ReaderCache) -> None:
        self._store, self._readers = store, readers
        self._samples: dict[int, BackgroundReader[Sample]] = {}
        self._discounted: TimedCache[DiscountedSimilarity] = TimedCache(_DISCOUNTED)
        self._compared: TimedCache[SideBySide] = TimedCache(_COMPARISONS)

    def clear(self) -> None:
        """Discard the results; what `readers` computes is theirs."""
        self._discounted.clear()
        self._compared.clear()

    def reset(self) -> None:
        """Discard what depends on other documents of the store; it is counted again then."""
        self._discounted.clear()
        self._samples.clear()

    def side_by_side(self, a: Row, b: Row, matching: Matching, timeout: float) -> SideView:
        """Return two documents side by side, the first two million characters of each text.

        Of long texts that are not compared after `timeout` seconds, the beginnings: they are
        compared at once, and the whole goes on.
        """
        recipe = require_recipe(self._store)
        texts = a.text[:MAX_CHARS], b.text[:MAX_CHARS]
        chars = len(texts[0]) + len(texts[1])

        def compare_all(progress: Progress = no_progress) -> SideBySide:
            return SideBySide(
                compare(
                    *texts,
                    recipe,
                    matching=matching,
                    names=(a.path, b.path),
                    frequencies=self._store.vocabulary.frequencies,
                )
            )

        key = (a.path, texts[0], b.path, texts[1], matching)
        if chars <= LONG_CHARS:
            cached = self._compared.get(key)
            return SideView(cached or self._compared.put(key, compare_all()), None)
        window = texts[0][:WINDOW_CHARS], texts[1][:WINDOW_CHARS]
        window_key = ("window", *key)
        beginning = self._compared.get(window_key)
        if beginning is None:
            # before the whole, which would take the processor from it
            names = a.path, b.path
            compared = compare(*window, recipe, matching=matching, names=names)
            beginning = self._compared.put(window_key, SideBySide(compared))
        whole = self._readers.get(key, compare_all, chars, timeout)
        return SideView(beginning, WINDOW_CHARS) if whole is None else SideView(whole, None)

    def discounted(self, a: Row, b: Row, timeout: float) -> DiscountedSimilarity | None:
        """Return the similarity of two documents without the text that the store shares.

        None if that text is not yet counted after `timeout` seconds.
        """
        texts = a.text[:MAX_CHARS], b.text[:MAX_CHARS]
        cached = self._discounted.get(texts)
        if cached is not None:
            return cached
        sample = self._sample_reader(shingle_width(*texts)).get(timeout)
        if sample is None:
            return None

        def compare_weighted(progress: Progress = no_progress) -> DiscountedSimilarity:
            return self._discounted.put(texts, sample.compare(*texts))

        if len(texts[0]) + len(texts[1]) <= LONG_CHARS:
            return compare_weighted()
        return self._readers.get(("discounted", texts), compare_weighted, 1, timeout)

    def _sample_reader(self, width: int) -> BackgroundReader[Sample]:
        reader = BackgroundReader(lambda progress: Sample(self._store, width, progress=progress))
        return self._samples.setdefault(width, reader)
