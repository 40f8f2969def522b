"""Folding hits by the bits or rare terms of their rows, for recipes that keep no slots."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from indexer.model import TERM_HEAD, RankedRow
from indexer.searching.stored_texts import StoredTexts
from indexer.sketch.distance import hamming
from indexer.sketch.rare_term_keys import lengths_agree
from indexer.sketch.sketch_options import equal_parts, sketch_size


class SketchRule:
    """Folds hits under the shown hit whose stored sketch is most similar, from a threshold on.

    `texts` measures by the sketches, and knows the criteria. Ties go to the first. A hit without a
    sketch, or of other `statuses`, folds under a copy only.
    """

    def __init__(self, threshold: float, texts: StoredTexts, statuses: Collection[str]) -> None:
        self._threshold, self._texts, self._statuses = threshold, texts, statuses
        least = equal_parts(texts.recipe, threshold)
        self._heads: _Heads = _TermHeads(least)
        if not texts.recipe.terms:
            self._heads = _BitHeads(sketch_size(texts.recipe) - least)
        self._ids: list[str] = []
        self._without_sketch: dict[str, list[int]] = defaultdict(list)

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Read the hits that come next together."""
        self._texts.read_ahead([hit.id for hit in hits])

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose head is most similar and meets the criteria."""
        for place in self._possible(hit):
            value = self._texts.similarity(self._ids[place], hit.id, self._threshold)
            if value >= self._threshold - 1e-9:
                return place
        self.add_head(hit)
        return None

    def add_head(self, hit: RankedRow) -> None:
        """Remember the head; without a sketch only copies may join it."""
        sketch = self._sketch(hit)
        if sketch is None:
            self._without_sketch[hit.digest].append(len(self._ids))
        else:
            self._heads.add(sketch, len(self._ids))
        self._ids.append(hit.id)

    def _possible(self, hit: RankedRow) -> list[int]:
        """Return the groups that a hit may join, that of the most similar head first."""
        sketch = self._sketch(hit)
        if sketch is None:
            return self._without_sketch.get(hit.digest, []) if hit.digest else []
        return [place for _, place in sorted(self._heads.near(sketch))]

    def _sketch(self, hit: RankedRow) -> Any:
        """Return bits or a signature of rare terms; None for a hit that has none."""
        return self._texts.sketch(hit.id) if hit.status in self._statuses else None


class _Heads(Protocol):
    """The sketches of heads by the places of their groups."""

    def add(self, sketch: Any, place: int) -> None:
        """Remember the sketch of a head."""
        ...

    def near(self, sketch: Any) -> Iterator[tuple[int, int]]:
        """Yield how different each similar head is, and its place."""
        ...


class _BitHeads:
    """Heads within a number of different bits."""

    def __init__(self, distance: int) -> None:
        self._distance = distance
        self._heads: list[tuple[int, int]] = []

    def add(self, sketch: int, place: int) -> None:
        self._heads.append((sketch, place))

    def near(self, sketch: int) -> Iterator[tuple[int, int]]:
        for head, place in self._heads:
            apart = hamming(sketch, head)
            if apart <= self._distance:
                yield apart, place


class _TermHeads:
    """Heads with at least so many rare terms in common, and a length that agrees."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._lengths: dict[int, int] = {}
        self._holders: dict[int, list[int]] = defaultdict(list)

    def add(self, sketch: NDArray[Any], place: int) -> None:
        self._lengths[place] = int(sketch[0])
        for entry in sketch[TERM_HEAD:].tolist():
            self._holders[entry].append(place)

    def near(self, sketch: NDArray[Any]) -> Iterator[tuple[int, int]]:
        common: Counter[int] = Counter()
        for entry in sketch[TERM_HEAD:].tolist():
            common.update(self._holders.get(entry, ()))
        for place, number in common.items():
            if number >= self._least and lengths_agree(int(sketch[0]), self._lengths[place]):
                yield -number, place
