"""Counting the equal MinHash slots of pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.external_memory import AT_ONCE, MemoryBudget, Places, parts
from indexer.defaults import RECALL
from indexer.fingerprinting.minhash import FULL, Z95, wilson, without_chance
from indexer.fingerprinting.plan import ALMOST_ONE, fewest_equal_slots, is_related
from indexer.recipe import Recipe

STEP = 1 << 12

Slots: TypeAlias = NDArray[np.uint32]
"""MinHash slots, (documents, slots)."""


class SlotCounter:
    """A counter of the equal slots of pairs.

    The low byte of each slot is compared first: it rules out most pairs at a quarter of the memory
    traffic.
    """

    def __init__(self, slots: Slots, budget: MemoryBudget | None = None) -> None:
        budget = budget or MemoryBudget()
        size = budget.share(8, 8 * slots.shape[1] or 1, most=AT_ONCE)
        self._slots = slots
        self._low: NDArray[np.uint8] = budget.array(slots.shape, np.uint8)
        for part in parts(len(slots), size):
            self._low[part] = slots[part]

    def at_least(
        self, left: Places, right: Places, least: int
    ) -> tuple[Places, Places, NDArray[np.uint16]]:
        """Return the pairs with at least `least` equal slots, in order, and their equal slots.

        `left` and `right` are places of documents, (pairs,); the results are (pairs that reach,).
        """
        promising = _count_equal(self._low, left, right) >= least
        left, right = left[promising], right[promising]
        equal = _count_equal(self._slots, left, right)
        reached = equal >= least
        return left[reached], right[reached], equal[reached]

    def count(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Return the number of equal slots of each pair, (pairs,) uint16."""
        return _count_equal(self._slots, left, right)

    def reaches(self, left: Places, right: Places, least: int) -> NDArray[np.bool_]:
        """Return for each pair whether it has at least `least` equal slots, (pairs,) bool."""
        return _count_equal(self._slots, left, right) >= least


def _count_equal(
    slots: NDArray[np.uint32] | NDArray[np.uint8], left: NDArray[Any], right: NDArray[Any]
) -> NDArray[np.uint16]:
    counts = np.empty(len(left), dtype=np.uint16)
    for start in range(0, len(left), STEP):
        part = slice(start, start + STEP)
        same = slots[left[part]] == slots[right[part]]
        np.add.reduce(same.view(np.uint8), axis=1, dtype=np.uint16, out=counts[part])
    return counts


# Bounds on equal slots that accept a pair, or rule it out, without its texts.

Z999 = 3.2905267314919255


def enough_equal(
    measure: str, width: int, threshold: float, exact: bool = False, bits: int = FULL
) -> int:
    """Return the fewest equal slots that place a pair at the threshold or above by themselves.

    It is width + 1 when no number does. For `jaccard` the 95 % interval starts at the threshold or
    above, unless `exact`: then every pair is measured on its texts.

    >>> enough_equal("jaccard", 128, 0.5), enough_equal("jaccard", 128, 0.5, exact=True)
    (76, 129)
    >>> enough_equal("estimate", 128, 0.5)
    0
    """
    if measure == "estimate":
        return 0
    use_slots = measure == "jaccard" and not exact
    starts = similarity_intervals(width, bits=bits)[0].tolist() if use_slots else []
    return next((equal for equal, low in enumerate(starts) if low >= threshold), width + 1)


@lru_cache(maxsize=256)
def fewest_equal(measure: str, threshold: float, recipe: Recipe) -> int:
    """Return the fewest slots equal in a pair that slots do not rule out at a threshold.

    For `jaccard` the 99.9 % interval of such a pair ends at the threshold or above. For other
    measures slots rule out a quarter of the pairs that `RECALL` lets bands and slots miss together.
    For `estimate` the slots are the measure, and rule nothing out beforehand; nor do they for
    measures and features whose relation is not known, or without slots.

    >>> from indexer.recipe import DEFAULT_V1
    >>> [fewest_equal(name, 0.8, DEFAULT_V1) for name in ("jaccard", "lcs", "estimate", "hamming")]
    [88, 61, 0, 0]
    """
    if measure == "jaccard" and recipe.minhash:
        highs = similarity_intervals(recipe.slots or 0, Z999, recipe.packed or FULL)[1]
        return int(np.argmax(highs >= threshold))
    if not recipe.minhash or not is_related(measure, recipe.relation):
        return 0
    limited = min(max(threshold, 1 - ALMOST_ONE), ALMOST_ONE)
    return fewest_equal_slots(limited, RECALL, measure, recipe)


@lru_cache(maxsize=64)
def similarity_intervals(
    slots: int, z: float = Z95, bits: int = FULL
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of the Wilson interval for 0, 1, ... `slots` equal slots: (slots + 1,) each.

    The default z gives 95 %. Ends are corrected for slots of `bits` that agree by chance. The
    arrays are kept for the next call, and cannot be written.
    """
    ends = np.array([wilson(equal, slots, z) for equal in range(slots + 1)])
    intervals = without_chance(ends[:, 0], bits), without_chance(ends[:, 1], bits)
    for end in intervals:
        end.flags.writeable = False
    return intervals


def slot_similarity(
    equal: NDArray[np.unsignedinteger[Any]], slots: int, bits: int
) -> NDArray[np.float64]:
    """Return the similarity that numbers of equal slots estimate, corrected for chance.

    `equal`: (n,), each in [0, `slots`]. (n,) float64 in [0, 1].
    """
    return without_chance(equal / slots, bits)


def equal_slots(similarity: NDArray[np.float64], slots: int, bits: int) -> NDArray[np.intp]:
    """Return the numbers of equal slots that `slot_similarity` gave these similarities, (n,)."""
    equal: NDArray[np.intp] = np.rint(_share(similarity, bits) * slots).astype(np.intp)
    return equal


def _share(similarity: Any, bits: int) -> Any:
    """Return the share of equal slots to expect."""
    chance = 2.0**-bits if bits < FULL else 0.0
    return chance + (1 - chance) * similarity
