"""Pairs of sketches that share a key and have enough slots or bits in common, each pair once.

For tasks of a cluster, each of which holds the sketches of some keys: a pair is listed where the
first key that it shares is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.near_sketches import NearSketches
from indexer.joins.runs import find_runs, pairs_in_runs
from indexer.joins.slot_counter import SlotCounter

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

BLOCK = 1 << 16  # pairs that are compared at a time

Flags: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
CountEqual: TypeAlias = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[Any]]
"""Return how much is equal in the sketches at the places left and right."""


def near_in_buckets(
    slots: NDArray[Any], keys: Keys, is_open: Flags, least: int
) -> tuple[NearSketches, int]:
    """Return the pairs with `least` equal slots, and the number of all pairs that were looked at.

    `slots`: (n, slots) of uint8 or uint32. `keys`: (n, bands). A pair is looked at in the first
    band whose key it shares, if `is_open`, (n, bands), says so for both there. Pairs come in no
    order, the lower place left. The compiled kernel, where installed, gives the same pairs faster.

    >>> slots = np.array([[1, 2], [1, 9], [1, 2]], np.uint8)
    >>> keys = np.array([[5, 7], [5, 8], [6, 7]], np.uint64)
    >>> near, candidates = near_in_buckets(slots, keys, np.ones((3, 2), bool), 2)
    >>> near.tolist(), candidates
    ([[0, 2, 2]], 2)
    """
    if _kernel is None or not hasattr(_kernel, "near_in_buckets") or not keys.size:
        counter = SlotCounter(slots)
        return count_in_buckets(keys, is_open, counter.count, least)
    low = slots.astype(np.uint8, copy=False)
    answer, candidates = _kernel.near_in_buckets(
        low.tobytes(), low.shape[1], keys.tobytes(), keys.shape[1], is_open.tobytes(), least
    )
    near: NearSketches = np.frombuffer(answer, dtype=np.uint32).reshape(-1, 3)
    if slots.dtype == np.uint8:
        return near, candidates
    exact: NearSketches = near.copy()
    exact[:, 2] = np.count_nonzero(slots[near[:, 0]] == slots[near[:, 1]], axis=1)
    return exact[exact[:, 2] >= least], candidates


def count_in_buckets(
    keys: Keys, is_open: Flags, equal: CountEqual, least: int
) -> tuple[NearSketches, int]:
    """Return what `near_in_buckets` does for sketches of any kind, by numpy."""
    near, candidates = [np.zeros((0, 3), np.uint32)], 0
    for band in range(keys.shape[1]):
        for left, right in _pairs_of_band(keys[:, band], is_open[:, band]):
            is_new = ~(keys[left, :band] == keys[right, :band]).any(axis=1)
            first, second = left[is_new], right[is_new]
            candidates += len(first)
            counts = equal(first, second)
            is_near = counts >= least
            columns = first[is_near], second[is_near], counts[is_near]
            near.append(np.column_stack(columns).astype(np.uint32))
    return np.concatenate(near), candidates


def _pairs_of_band(
    keys: Keys, is_open: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the pairs of places that are open and have the same key, in blocks."""
    members = np.flatnonzero(is_open)
    members = members[np.argsort(keys[members], kind="stable")]
    starts, sizes = find_runs(keys[members])
    for first, second in pairs_in_runs(starts[sizes > 1], sizes[sizes > 1], BLOCK):
        yield members[first], members[second]
