"""Runs of equal values in sorted arrays, and the pairs of places inside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import Codes
from indexer.joins.memory_budget import BLOCK

Places: TypeAlias = NDArray[np.int32]
"""Places in an array: of documents, of texts, of sets."""


def slices_of_runs(codes: Codes, low: np.uint64, size: int) -> Iterator[slice]:
    """Yield slices of about `size` sorted codes that do not cut a run.

    Codes that differ only in the bits of `low` belong to one run.

    >>> codes = np.array([16, 17, 18, 32, 48], dtype=np.uint64)
    >>> [(part.start, part.stop) for part in slices_of_runs(codes, np.uint64(15), 2)]
    [(0, 3), (3, 5)]
    """
    start = 0
    while start < len(codes):
        end = min(start + size, len(codes))
        end = int(np.searchsorted(codes, codes[end - 1] | low, side="right"))
        yield slice(start, end)
        start = end


def find_runs(values: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and the length of each run of equal values in a sorted array.

    >>> [part.tolist() for part in find_runs(np.array([3, 3, 5, 9, 9, 9], dtype=np.uint64))]
    [[0, 2, 3], [2, 1, 3]]
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return starts, np.diff(np.append(starts, len(values)))


def pairs_in_runs(
    starts: NDArray[np.int64], sizes: NDArray[np.int64], block: int = BLOCK
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield all pairs of places inside each run of `sizes[i]` places from `starts[i]`.

    The lower place comes first. Blocks are cut as in `pairs_with_followers`.

    >>> blocks = pairs_in_runs(np.array([0, 7]), np.array([3, 2]))
    >>> [(left.tolist(), right.tolist()) for left, right in blocks]
    [([0, 0, 1, 7], [1, 2, 2, 8])]
    """
    places = np.repeat(starts, sizes) + offsets(sizes)
    followers = np.repeat(starts + sizes, sizes) - places - 1
    yield from pairs_with_followers(places, followers, block)


def pairs_with_followers(
    places: NDArray[np.int64], followers: NDArray[np.int64], block: int = BLOCK
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield each place paired with the `followers[i]` places that follow it, in blocks.

    `places` and `followers`: (n,) int64. A block is two arrays (pairs,), never empty. It ends where
    it would exceed `block` pairs; a place with more followers than that has a block of its own.
    """
    ends = np.cumsum(followers)
    first = 0
    while first < len(places):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + block, side="right")))
        counts = followers[first:last]
        left = np.repeat(places[first:last], counts)
        if len(left):
            yield left, left + 1 + offsets(counts)
        first = last


def offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, 1, ... size - 1 for each size, one after the other: (sum of sizes,) int64.

    >>> offsets(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
