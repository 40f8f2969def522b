"""The hits after those of a page, read by their sketches where a store reads these sooner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress

from indexer.model import RankedRow
from indexer.searching.fold import SelectiveRule
from indexer.searching.stored_texts import KEPT, StoredTexts, ranked_row
from indexer.stores.base import HitSketches, RankedHit, Ranking

_MOST = KEPT // 2  # rows that are read together, so that they are remembered
_NO_PATH = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class RestOfHits:
    """The hits of a ranking of `total` after its first ones, at most `window` with these."""

    sketches: HitSketches
    total: int
    window: int
    texts: StoredTexts

    @property
    def first(self) -> int:
        """The hits that are read before."""
        return self.sketches.first

    def read(
        self, hits: list[RankedRow], rule: SelectiveRule, shown: range
    ) -> tuple[list[RankedRow], int, bool] | None:
        """Return the needed ones of `hits` and of those after them, how many others are heads, and
        whether these are all hits; None if too many are needed.
        """
        is_complete = self.total <= self.window
        following: list[RankedHit] = [*hits, *self.sketches.best(self.window)]
        flags, others = rule.needed(following, None if is_complete else shown, is_tied=True)
        count = len(hits)
        places = [place for place, flag in enumerate(flags[count:]) if flag]
        if len(places) > _MOST:
            return None
        rows = self.sketches.rows(places) if places else []
        if rows is None:
            return None
        self.texts.remember(rows)
        ranked = [
            replace(ranked_row(row), score=following[count + place].score)
            for row, place in zip(rows, places, strict=True)
        ]
        ranked.sort(key=_by_rank)
        return [*compress(hits, flags), *ranked], others, is_complete


def rest_of_hits(ranking: Ranking, window: int, texts: StoredTexts) -> RestOfHits | None:
    """Return the hits after the first ones of a ranking; None without their sketches."""
    if ranking.sketches is None:
        return None
    return RestOfHits(ranking.sketches, ranking.total, window, texts)


def _by_rank(hit: RankedRow) -> tuple[float, str, str]:
    return -(hit.score or 0.0), hit.path or _NO_PATH, hit.id
