"""Bounds on the items with a property among a finite number, by a sample without replacement."""

from __future__ import annotations

import numpy as np

TAIL = 0.025  # the chance that may lie beyond either end of a 95 % interval


def count_bounds(size: int, sampled: int, found: int) -> tuple[int, int]:
    """Return the 95 % interval of how many of `size` items have a property.

    Of `sampled` items, drawn with equal chance, `found` have it. Clopper & Pearson's interval
    (1934) with the hypergeometric distribution, exact for a finite number of items: never narrower
    than 95 %, all items if none were sampled, and a single number if all were.

    >>> count_bounds(50_000, 300, 0), count_bounds(10, 10, 4), count_bounds(7, 0, 0)
    ((0, 609), (4, 4), (0, 7))
    """
    return (
        size - _most(size, sampled, sampled - found),
        _most(size, sampled, found),
    )


def _most(size: int, sampled: int, found: int) -> int:
    """Return the largest count with which as few finds, or fewer, have a chance above `TAIL`."""
    low, high = found, size - sampled + found
    while low < high:
        middle = (low + high + 1) // 2
        if _chance_of_fewer(size, middle, sampled, found) > TAIL:
            low = middle
        else:
            high = middle - 1
    return low


def _chance_of_fewer(size: int, count: int, sampled: int, found: int) -> float:
    """Return the chance that a sample has at most `found` of the `count` items among `size`."""
    first, last = max(0, sampled - size + count), min(sampled, count)
    numbers = np.arange(first, last, dtype=np.float64)
    gains = np.log(count - numbers) + np.log(sampled - numbers)
    losses = np.log(numbers + 1) + np.log(size - count - sampled + numbers + 1)
    logs = np.concatenate([[0.0], np.cumsum(gains - losses)])
    chances = np.exp(logs - logs.max())
    return float(chances[: found - first + 1].sum() / chances.sum())
