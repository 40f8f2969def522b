"""What slots alone decide of a pair of texts: that it is out, that it is in, or nothing."""

from __future__ import annotations

import math

from indexer.joins.bands import intervals

_ROUNDING = 1e-9


def fewest_equal(measure: str, width: int, threshold: float) -> int:
    """The fewest of `width` slots that are equal in a pair which slots do not rule out, `width` at
    the most.

    For `jaccard` the 95 % interval of such a pair ends at the threshold or above; `estimate` is
    the slots; of other measures slots say nothing.

    >>> fewest_equal("jaccard", 128, 0.5), fewest_equal("estimate", 128, 0.5), fewest_equal("overlap", 128, 0.5)
    (53, 64, 0)
    """
    if measure == "estimate":
        return math.ceil(threshold * width - _ROUNDING)
    ends = intervals(width)[1].tolist() if measure == "jaccard" else [1.0]
    return next((equal for equal, high in enumerate(ends) if high >= threshold), width)


def enough_equal(measure: str, width: int, threshold: float, exact: bool = False) -> int:
    """The fewest equal slots that alone tell that a pair is at the threshold or above; width + 1
    when none do.

    For `jaccard` the 95 % interval begins there, unless every pair is to be measured exactly.

    >>> enough_equal("jaccard", 128, 0.5), enough_equal("jaccard", 128, 0.5, exact=True), enough_equal("estimate", 128, 0.5)
    (76, 129, 0)
    """
    if measure == "estimate":
        return 0
    begins = intervals(width)[0].tolist() if measure == "jaccard" and not exact else []
    return next((equal for equal, low in enumerate(begins) if low >= threshold), width + 1)
