"""Random samples of pairs, and of the pairs that are in none of some sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import Codes
from indexer.joins.pair_codes import encode_pair
from indexer.statistics.intervals import random_places

MOST_LISTED = 200_000  # pairs of texts up to which all are listed to sample from


class OtherPairs:
    """The pairs of `texts` texts that are in none of `others`.

    `others` are sorted codes, no code in two of them. `size` counts the pairs.
    """

    def __init__(self, texts: int, others: Sequence[Codes]) -> None:
        self._texts = texts
        self._others = others
        self._all_pairs = texts * (texts - 1) // 2
        self.size = self._all_pairs - sum(map(len, others))

    def sample(self, number: int, seed: int) -> Codes:
        """Return `number` of them, each with equal chance, none twice; the same for a seed."""
        if self._all_pairs <= max(MOST_LISTED, 4 * number):
            pairs = self._all()
            return pairs[distinct_places(number, len(pairs), seed + 1)]
        sample: Codes = np.zeros(0, dtype=np.uint64)
        step = 0
        while len(sample) < number:
            a = random_places(4 * number, seed + 2 + step, self._texts)
            b = random_places(4 * number, seed + 3 + step, self._texts)
            is_pair = a != b
            codes = encode_pair(np.minimum(a, b)[is_pair], np.maximum(a, b)[is_pair])
            joined = np.concatenate([sample, self._without_others(codes)])
            sample = joined[np.sort(np.unique(joined, return_index=True)[1])]
            step += 2
        return sample[:number]

    def _all(self) -> Codes:
        left, right = np.triu_indices(self._texts, 1)
        codes = encode_pair(left.astype(np.int32), right.astype(np.int32))
        return self._without_others(codes)

    def _without_others(self, codes: Codes) -> Codes:
        for others in self._others:
            codes = codes[~are_in(codes, others)]
        return codes


def are_in(codes: Codes, others: Codes) -> NDArray[np.bool_]:
    """Return which codes are among `others`, which are sorted: (codes,) bool."""
    if not len(others):
        return np.zeros(len(codes), dtype=bool)
    places = np.minimum(np.searchsorted(others, codes), len(others) - 1)
    is_in: NDArray[np.bool_] = others[places] == codes
    return is_in


def distinct_places(number: int, among: int, seed: int) -> NDArray[np.int64]:
    """Return `number` different places below `among`, with equal chance; the same for a seed.

    (number,) int64 in random order; all places where `among` is not larger than `number`.
    """
    if number * 4 >= among:
        keys = random_places(among, seed, 1 << 62)
        order: NDArray[np.int64] = np.argsort(keys, kind="stable")[:number]
        return order
    candidates = random_places(4 * number + 64, seed, among)
    first: Sequence[int] = np.sort(np.unique(candidates, return_index=True)[1])[:number].tolist()
    return candidates[first]
