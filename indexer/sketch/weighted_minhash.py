"""Weighted MinHash by improved consistent weighted sampling. `icws_v1`.

Ioffe, "Improved Consistent Sampling, Weighted Minhash and L1 Sketching", ICDM 2010. Equal slots of
two sketches estimate the weighted Jaccard similarity, the sum of lesser weights over the sum of
greater ones, without bias.

The paper's random numbers of each feature x and slot k are hashes of (x, k), so that no generator
and no dictionary is needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UsageError
from indexer.sketch.hashing import GAMMA, mix64_array
from indexer.sketch.logarithm import natural_log

_DRAWS = 5
_CHUNK = 1 << 16


def weighted_minhash(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], slots: int
) -> NDArray[np.uint32]:
    """Return the sketch of distinct 64-bit feature hashes with positive weights: (slots,) uint32.

    The order does not matter. A slot is 32 mixed bits of the sample (x, t) that wins it, so
    different samples agree with a chance of 2**-32. Raises `NoFeatures` for an empty set,
    `UsageError` when a weight is not positive.

    >>> weighted_minhash(np.array([1, 2], np.uint64), np.array([1.0, 0.5]), 3).tolist()
    [1452414493, 3687987351, 1452414493]
    """
    if len(hashes) == 0:
        raise NoFeatures
    if not np.all(weights > 0):
        raise UsageError("weights of features must be positive; leave out features of weight 0")
    logs = natural_log(weights.astype(np.float64))
    step = max(1, _CHUNK // len(hashes))
    parts = [
        _samples(hashes, logs, np.arange(start, min(start + step, slots)))
        for start in range(0, slots, step)
    ]
    return np.concatenate(parts)


def _samples(
    hashes: NDArray[np.uint64], logs: NDArray[np.float64], slots: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the samples of slots.

    For each slot and feature r, c and beta are random; t = floor(ln S / r + beta); the least ln c -
    r (t - beta) - r wins.
    """
    draws = [_uniform(hashes, _DRAWS * slots + draw) for draw in range(_DRAWS)]
    spread = -natural_log(draws[0] * draws[1])  # two exponentials: a Gamma(2, 1) variable
    scale = -natural_log(draws[2] * draws[3])
    shift = draws[4]
    steps = np.floor(logs / spread + shift)
    winners = np.argmin(natural_log(scale) - spread * (steps - shift) - spread, axis=1)
    levels = steps[np.arange(len(slots)), winners].astype(np.int64).view(np.uint64)
    values: NDArray[np.uint32] = (
        mix64_array(hashes[winners] + mix64_array(levels)) >> np.uint64(32)
    ).astype(np.uint32)
    return values


def _uniform(hashes: NDArray[np.uint64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (draws, features) numbers in (0, 1) with 52 random bits.

    Each is a function of its feature and its draw.
    """
    streams = (draws + 1).astype(np.uint64) * np.uint64(GAMMA)
    mixed = mix64_array(hashes + streams[:, None])
    numbers: NDArray[np.float64] = ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return numbers
