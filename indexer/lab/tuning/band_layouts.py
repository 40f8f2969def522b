"""The layouts of bands that a tuning compares."""

from __future__ import annotations

from functools import cache

from indexer.sketch.plan import plan

THRESHOLDS = tuple(step / 20 for step in range(2, 20))
WEIGHTS = (0.25, 0.5, 0.75, 0.9)  # of false negatives


@cache
def layout(threshold: float, slots: int, weight: float) -> tuple[int, int]:
    """Return bands and rows for a threshold and a weight of false negatives."""
    best = plan(threshold, slots, weight)
    return best.bands, best.rows


def layouts(slots: int) -> list[tuple[int, int]]:
    """Return the bands and rows of every threshold and weight, each once, sorted."""
    pairs = {layout(threshold, slots, weight) for threshold in THRESHOLDS for weight in WEIGHTS}
    return sorted(pairs)
