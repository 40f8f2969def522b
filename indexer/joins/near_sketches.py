"""Pairs of MinHash sketches with enough slots in common, each of some with each of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import Candidates, Screen
from indexer.sketch.codec import unpack_slots

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

NearSketches: TypeAlias = NDArray[np.uint32]
"""(pairs, 3): the place of either sketch, and their equal slots."""


def near_sketches(left: NDArray[Any], right: NDArray[Any], least: int) -> NearSketches:
    """Return the pairs with at least `least` equal slots, by the place in `left`, then in `right`.

    Sketches are rows of uint8 or uint32: `left` (n, slots), `right` (m, slots); no pairs where n or
    m is 0. Of wider slots the low bytes are compared first: they rule out most pairs. The compiled
    kernel, where installed, does that faster with the same result.

    >>> left, right = np.array([[1, 2, 3]], np.uint8), np.array([[1, 2, 9], [7, 8, 9]], np.uint8)
    >>> near_sketches(left, right, 2).tolist()
    [[0, 0, 2]]
    """
    low_left, low_right = left.astype(np.uint8), right.astype(np.uint8)
    if _kernel is not None and hasattr(_kernel, "near_sketches") and left.shape[1]:
        answer = _kernel.near_sketches(
            low_left.tobytes(), low_right.tobytes(), left.shape[1], least
        )
        near = np.frombuffer(answer, dtype=np.uint32).reshape(-1, 3)
    else:
        near = count_equal(low_left, low_right, least)
    if left.dtype == np.uint8 or not len(near):
        return near
    exact: NearSketches = near.copy()
    exact[:, 2] = np.count_nonzero(left[near[:, 0]] == right[near[:, 1]], axis=1)
    return exact[exact[:, 2] >= least]


def count_equal(left: NDArray[np.uint8], right: NDArray[np.uint8], least: int) -> NearSketches:
    """Return what `near_sketches` does for slots of a byte, by numpy: (pairs, 3) uint32."""
    by_slot = np.ascontiguousarray(right.T)
    counting = np.uint8 if left.shape[1] < 256 else np.uint32
    near = []
    for place, slots in enumerate(left):
        is_equal = by_slot == slots[:, None]
        equal = np.add.reduce(is_equal.view(np.uint8), axis=0, dtype=counting)
        rows = np.flatnonzero(equal >= least)
        near.append(np.column_stack([np.full(len(rows), place), rows, equal[rows]]))
    return np.concatenate(near).astype(np.uint32) if near else np.zeros((0, 3), np.uint32)


def pass_screen(screen: Screen, packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Flag the packed sketches, (sketches, bytes), that have enough slots in common with a screen.

    >>> pass_screen(Screen(bytes([1, 2, 3]), 1, 2), np.array([[1, 2, 9], [7, 8, 9]], np.uint8))
    array([ True, False])
    """
    if not len(packed):
        return np.zeros(0, dtype=np.bool_)
    slots = unpack_slots(packed.tobytes(), screen.slot_bytes).reshape(len(packed), -1)
    own = unpack_slots(screen.slots, screen.slot_bytes)
    passes = np.zeros(len(slots), dtype=np.bool_)
    passes[near_sketches(own[np.newaxis], slots, screen.least)[:, 1]] = True
    return passes


def filter_candidates(candidates: Candidates, screen: Screen) -> Candidates:
    """Return the candidates that pass a screen, or have no sketch, whatever their lengths."""
    size = len(screen.slots)
    every = candidates.found
    sketches = [entry.minhash for entry in every if entry.minhash and len(entry.minhash) == size]
    packed = np.frombuffer(b"".join(sketches), dtype=np.uint8).reshape(len(sketches), size)
    passes = iter(pass_screen(screen, packed).tolist())
    passing_entries = tuple(
        entry for entry in every if not entry.minhash or len(entry.minhash) != size or next(passes)
    )
    return replace(candidates, found=passing_entries, screened=len(every) - len(passing_entries))
