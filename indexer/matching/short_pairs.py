"""Pairs of which one text is short: their few features have too few bands in common to be found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.copies import PairFilter
from indexer.joins.external_sort import Codes
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.runs import Places
from indexer.joins.short_texts import ShortTexts


class ShortPairs:
    """The pairs that may reach a threshold of `lcs`, of which one text is short.

    `join`: the texts of so few words; None by other measures, and without short texts.
    """

    def __init__(self, join: ShortTexts | None) -> None:
        self.codes: Codes = np.zeros(0, dtype=np.uint64) if join is None else join.pairs()
        self.capped = CapReport() if join is None else join.capped
        self._is_left = np.ones(len(self.codes), dtype=bool)

    def contains(self, left: Places, right: Places) -> NDArray[np.bool_]:
        """Return for each pair whether it is one of these."""
        return self._places(left, right) >= 0

    def discard(self, left: Places, right: Places) -> None:
        """Take out the pairs among these."""
        places = self._places(left, right)
        self._is_left[places[places >= 0]] = False

    def rest(self, selection: PairFilter) -> tuple[Places, Places]:
        """Return the selected pairs that were not taken out."""
        return selection.texts(*decode_pair(self.codes[self._is_left]))

    def _places(self, left: Places, right: Places) -> NDArray[np.intp]:
        """Return the place of each pair in `codes`, -1 for others."""
        if not len(self.codes):
            return np.full(len(left), -1)
        codes = encode_pair(left, right)
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[places] == codes, places, -1)
