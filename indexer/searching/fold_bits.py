"""Folding hits by the Hamming distance of their bits, for recipes that keep no slots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from indexer.model import RankedRow
from indexer.searching.stored_texts import StoredTexts
from indexer.sketch.distance import hamming


class ByBits:
    """Folds hits under the shown hit whose bits differ least, within a distance.

    `threshold` is the similarity of that distance; `texts` measures by `hamming` and knows the
    criteria. Ties go to the first. A hit without bits, or of other `statuses`, folds under a copy
    only.
    """

    def __init__(
        self, threshold: float, distance: int, texts: StoredTexts, statuses: Collection[str]
    ) -> None:
        self._threshold, self._distance = threshold, distance
        self._texts, self._statuses = texts, statuses
        self._groups = 0
        self._heads: list[tuple[int, int, str]] = []
        self._without_bits: dict[str, list[tuple[int, str]]] = defaultdict(list)

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Read the hits that come next together."""
        self._texts.read_ahead([hit.id for hit in hits])

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose head has the nearest bits and meets the criteria."""
        bits = self._bits(hit)
        for place, head in self._possible(hit, bits):
            if self._texts.similarity(head, hit.id, self._threshold) >= self._threshold - 1e-9:
                return place
        self._add_head(hit, bits)
        return None

    def add_head(self, hit: RankedRow) -> None:
        """Remember the head; without bits only copies may join it."""
        self._add_head(hit, self._bits(hit))

    def _possible(self, hit: RankedRow, bits: int | None) -> list[tuple[int, str]]:
        """Return the groups that a hit may join and their heads, the nearest first."""
        if bits is None:
            return self._without_bits.get(hit.digest, []) if hit.digest else []
        distances = [(hamming(bits, other), place, id) for other, place, id in self._heads]
        return [(place, id) for apart, place, id in sorted(distances) if apart <= self._distance]

    def _bits(self, hit: RankedRow) -> int | None:
        return self._texts.simhash(hit.id) if hit.status in self._statuses else None

    def _add_head(self, hit: RankedRow, bits: int | None) -> None:
        if bits is None:
            self._without_bits[hit.digest].append((self._groups, hit.id))
        else:
            self._heads.append((bits, self._groups, hit.id))
        self._groups += 1
