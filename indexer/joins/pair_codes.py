"""A pair of places as one 64-bit code that sorts as the pair does: left << 32 | right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from indexer.joins.external_sort import Codes
    from indexer.joins.runs import Places

_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


def encode_pair(left: Places, right: Places) -> Codes:
    """Return the codes of pairs; places are not negative.

    >>> encode_pair(np.array([1, 0], np.int32), np.array([2, 7], np.int32)).tolist()
    [4294967298, 7]
    """
    codes: Codes = left.astype(np.uint64) << _HALF | right.astype(np.uint64)
    return codes


def decode_pair(codes: Codes) -> tuple[Places, Places]:
    """Return the pairs of codes, left and right.

    >>> [side.tolist() for side in decode_pair(np.array([4294967298, 7], np.uint64))]
    [[1, 0], [2, 7]]
    """
    return (codes >> _HALF).astype(np.int32), (codes & _LOW).astype(np.int32)
