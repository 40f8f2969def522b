"""Greedy String Tiling: one-to-one matching of equal runs, longest first (Wise, SIGCSE 1996).

The longest run that is free in both texts becomes a tile, until no free run of the least length is
left. Ties go to the run that is earliest in the first text, then earliest in the second. Both
algorithms below place exactly these tiles. N is the number of words of both texts, P the number of
pairs of equal w-word runs, one in each text.

- `tiles_by_pairs` lists all P pairs: the fast one for ordinary texts, where P is about as large as
  N. O(P log P).
- `tiles_by_suffixes` sorts the suffixes instead, so that it does not matter how often a run is
  repeated. O(N log^2 N).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from indexer.similarity.suffix_tiling import tiles_by_suffixes
from indexer.similarity.tile import Tile
from indexer.text.word_numbers import number_runs

PAIRS_PER_WORD = 1  # pairs of equal runs above which suffixes are sorted instead
_LEAST_PAIRS = 10_000  # pairs up to which all are listed in any case


def tiles(a: NDArray[np.int64], b: NDArray[np.int64], width: int) -> list[Tile]:
    """Return the tiles of two texts of numbered words, each at least `width` words long.

    They are in the order in which they are placed.

    >>> tiles(np.array([1, 2, 3, 4, 9, 2, 3]), np.array([2, 3, 8, 1, 2, 3, 4]), width=2)
    [Tile(a=0, b=3, words=4), Tile(a=5, b=0, words=2)]
    """
    runs_a, runs_b = number_runs(a, b, width)
    counts_a, counts_b = np.bincount(runs_a), np.bincount(runs_b)
    both = min(len(counts_a), len(counts_b))
    pairs = int(counts_a[:both] @ counts_b[:both])
    if pairs > max(_LEAST_PAIRS, PAIRS_PER_WORD * (len(a) + len(b))):
        return [Tile(*tile) for tile in tiles_by_suffixes(runs_a, runs_b, width)]
    return tiles_by_pairs(runs_a, runs_b, width)


def tiles_by_pairs(runs_a: NDArray[np.int64], runs_b: NDArray[np.int64], width: int) -> list[Tile]:
    """Return the tiles from every pair of equal runs, in the order in which they are placed.

    `runs_a` and `runs_b` are the runs of `width` words of either text, as `number_runs` numbers
    them. No tiles where either text has no run.
    """
    starts_a, starts_b, lengths = _diagonals(runs_a, runs_b)
    keys = (1 - width - lengths).tolist()
    matches = list(zip(keys, starts_a.tolist(), starts_b.tolist(), strict=True))
    heapify(matches)
    taken_a = bytearray(len(runs_a) + width)
    taken_b = bytearray(len(runs_b) + width)
    placed = []
    while matches:
        minus, at_a, at_b = heappop(matches)
        words = -minus
        if taken_a.find(1, at_a, at_a + words) < 0 and taken_b.find(1, at_b, at_b + words) < 0:
            placed.append(Tile(at_a, at_b, words))
            taken_a[at_a : at_a + words] = taken_b[at_b : at_b + words] = b"\1" * words
            continue
        for offset, length in _free(taken_a, at_a, taken_b, at_b, words, width):
            heappush(matches, (-length, at_a + offset, at_b + offset))
    return placed


def _diagonals(
    runs_a: NDArray[np.int64], runs_b: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ...]:
    """Return the maximal matches, (m,) int64 each.

    Starts in a, starts in b, and the number of consecutive equal runs.
    """
    order = np.argsort(runs_b, kind="stable")
    first = np.searchsorted(runs_b[order], runs_a, side="left")
    count = np.searchsorted(runs_b[order], runs_a, side="right") - first
    at_a = np.repeat(np.arange(len(runs_a)), count)
    nth = np.arange(len(at_a)) - np.repeat(np.cumsum(count) - count, count)
    at_b = order[np.repeat(first, count) + nth]
    stride = len(runs_a) + 1
    keys = np.sort((at_a - at_b + len(runs_b)) * stride + at_a)
    begins = np.flatnonzero(np.diff(keys, prepend=-2) != 1)
    starts_a = keys[begins] % stride
    starts_b = starts_a + len(runs_b) - keys[begins] // stride
    return starts_a, starts_b, np.diff(begins, append=len(keys))


def _free(
    taken_a: bytearray, at_a: int, taken_b: bytearray, at_b: int, words: int, width: int
) -> list[tuple[int, int]]:
    """Return (offset, words) of each stretch of a match that is taken in neither text.

    Stretches have at least `width` words.
    """
    stretches = []
    offset = wall_a = wall_b = 0
    while words - offset >= width:
        if wall_a <= offset:
            wall_a = taken_a.find(1, at_a + offset, at_a + words) - at_a
            wall_a = wall_a if wall_a >= 0 else words
        if wall_b <= offset:
            wall_b = taken_b.find(1, at_b + offset, at_b + words) - at_b
            wall_b = wall_b if wall_b >= 0 else words
        wall = min(wall_a, wall_b)
        if wall - offset >= width:
            stretches.append((offset, wall - offset))
        offset = max(wall, taken_a.find(0, at_a + wall) - at_a, taken_b.find(0, at_b + wall) - at_b)
    return stretches
