"""The layouts of bands that a tuning compares."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from indexer.recipe import DEFAULT
from indexer.sketch.plan import plan

THRESHOLDS = tuple(step / 20 for step in range(2, 20))
RECALLS = (0.8, 0.9, 0.95, 0.99)  # that `match --recall` plans for


@cache
def layout(threshold: float, slots: int, recall: float) -> tuple[int, int]:
    """Return bands and rows for a threshold and a planned recall."""
    best = plan(threshold, recall, recipe=replace(DEFAULT, slots=slots))
    return best.bands, best.rows


def layouts(slots: int) -> list[tuple[int, int]]:
    """Return the bands and rows of every threshold and recall, each once, sorted."""
    pairs = {layout(threshold, slots, recall) for threshold in THRESHOLDS for recall in RECALLS}
    return sorted(pairs)
