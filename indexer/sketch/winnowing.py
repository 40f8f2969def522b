"""Winnowing: a subset of a text's n-gram hashes that has at least one of every window.

Schleimer, Wilkerson & Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD
2003. Of every window of w consecutive hashes the least is selected, the rightmost if there are
several. Texts that share a run of at least w + n - 1 characters share a selected hash; of long
texts 2 / (w + 1) of the hashes are selected. A baseline.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError


def winnow(hashes: NDArray[np.uint64], window: int) -> NDArray[np.int64]:
    """Return the places of the selected hashes, ascending, (k,) int64.

    Fewer hashes than the window has places are one window; without hashes nothing is selected.
    Raises `UsageError` for a window below 1.

    >>> values = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]
    >>> hashes = np.array(values, np.uint64)
    >>> hashes[winnow(hashes, 4)].tolist()
    [17, 17, 8, 39, 17]
    """
    if window < 1:
        raise UsageError(f"a window has at least one place, not {window}")
    if len(hashes) == 0:
        return np.empty(0, dtype=np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(hashes, min(window, len(hashes)))
    width = windows.shape[1]
    rightmost = width - 1 - np.argmin(windows[:, ::-1], axis=1)
    return np.unique(rightmost + np.arange(len(windows)))


def guarantee(window: int, width: int) -> int:
    """Return the length in characters from which a shared passage always shares a hash.

    For n-grams of `width` characters.

    >>> guarantee(4, 5)
    8
    """
    return window + width - 1
