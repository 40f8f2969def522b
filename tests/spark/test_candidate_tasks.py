"""The tasks that compare sketches, without a cluster: the pairs of one machine's join."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray

from indexer.fingerprinting.keys import bit_words, design_for
from indexer.grouping.candidates import ClosePairs, Join, SlotCounter
from indexer.recipe import recipe_named
from indexer.spark import bands
from indexer.spark.bands import (
    FrequentKeys,
    Sharing,
    block_sharing,
    bucket_counter,
    bucket_summer,
    frequent_keys,
    value_counter,
)
from indexer.spark.candidates import part_comparer, part_mapper, star_mapper
from indexer.system.external_memory import MemoryBudget

BANDS, ROWS, MIN_EQUAL = 8, 3, 9
Pairs = list[tuple[int, int, int]]


class Texts:
    """Sketches with the numbers and ranks of their texts, as batches."""

    def __init__(self, sketches: NDArray[np.uint8]) -> None:
        random = np.random.default_rng(2)
        count = len(sketches)
        self.sketches = sketches
        self.numbers = np.sort(random.choice(10**12, count, replace=False))
        self.ranks = random.permutation(count)

    def batches(self) -> list[Any]:
        columns = {
            "text": pa.array(self.numbers),
            "rank": pa.array(self.ranks),
            "minhash": pa.array([row.tobytes() for row in self.sketches], pa.binary()),
        }
        batches: list[Any] = pa.table(columns).to_batches(max_chunksize=170)
        return batches

    def crowded(self, sharing: Sharing, cap: int, buckets: int = 64) -> NDArray[np.bool_]:
        """Return the crowded buckets, counted by three tasks."""
        batches = self.batches()
        counted = [
            part for task in range(3)
            for part in bucket_counter(sharing, buckets)(iter(batches[task::3]))
        ]  # fmt: skip
        rows = [row for part in bucket_summer(cap)(iter(counted)) for row in part.to_pylist()]
        rows.sort(key=lambda row: row["band"])
        packed = np.array([np.frombuffer(row["buckets"], np.uint8) for row in rows])
        return np.unpackbits(packed, axis=1).astype(np.bool_)

    def hot(self, sharing: Sharing, cap: int) -> FrequentKeys:
        """Return the hot keys, by counts that are summed as Spark sums them."""
        counts = defaultdict(list)
        crowded = self.crowded(sharing, cap)
        for part in value_counter(sharing, crowded)(iter(self.batches())):
            for row in part.to_pylist():
                counts[row["band"], row["hash"]].append((row["rank"], row["text"], row["size"]))
        hot = {key: min(rows) for key, rows in counts.items() if sum(row[2] for row in rows) > cap}
        centres = [first[1] for first in hot.values()]
        places = np.searchsorted(self.numbers, centres)
        columns = {
            "band": pa.array([band for band, _ in hot], pa.int32()),
            "hash": pa.array([value for _, value in hot], pa.int64()),
            "centre": pa.array(centres, pa.int64()),
            "minhash": pa.array([row.tobytes() for row in self.sketches[places]], pa.binary()),
        }
        return frequent_keys(sharing, pa.table(columns))

    def pairs(self, sharing: Sharing, cap: int, parts: int) -> tuple[Pairs, int, int]:
        """Return the pairs that tasks find, and the numbers of candidates and of hot keys."""
        hot = self.hot(sharing, cap)
        tasks = defaultdict(list)
        turns = [(number, 3) for number in range(3)]
        sent = [part_mapper(sharing, hot, parts, turn)(iter(self.batches())) for turn in turns]
        for rows in chain.from_iterable(sent):
            for part in set(rows.column("part").to_pylist()):
                is_of_part = pyarrow.compute.equal(rows.column("part"), part)
                tasks[part].append(rows.filter(is_of_part))
        found = list(star_mapper(sharing, hot)(iter(self.batches()))) if len(hot.values) else []
        for task in tasks.values():
            found += part_comparer(sharing, parts)(iter(task))
        rows = [row for part in found for row in part.to_pylist()]
        pairs = [
            (row["left"], row["right"], row["equal"]) for row in rows if row["left"] is not None
        ]
        return sorted(pairs), sum(row["candidates"] for row in rows), len(hot.values)


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("cap", [10**6, 60, 3])
def test_tasks_find_the_pairs_of_slots_that_one_machine_finds(
    cap: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bands, "AT_ONCE", 400)
    random = np.random.default_rng(1)
    slots: NDArray[Any] = random.integers(0, 4, (900, BANDS * ROWS)).astype(np.uint8)
    slots[:300, :6] = random.integers(0, 2, (300, 6))
    texts = Texts(slots)
    join, counter = Join(slots, BANDS, ROWS, texts.ranks, cap), SlotCounter(slots)
    expected, expected_candidates = [], 0
    for left, right in join.blocks():
        expected_candidates += len(left)
        a, b, equal = counter.at_least(left, right, MIN_EQUAL)
        columns = texts.numbers[a], texts.numbers[b], equal
        expected += list(zip(*(column.tolist() for column in columns), strict=True))

    found, count, hot = texts.pairs(Sharing({"bands": BANDS, "rows": ROWS}, MIN_EQUAL), cap, parts)

    assert (count, hot) == (expected_candidates, len(join.frequent))
    assert found == sorted(expected)
    assert len(found) > 0


@pytest.mark.parametrize("cap", [10**6, 12])
def test_tasks_find_the_pairs_of_bits_that_one_machine_finds(cap: int) -> None:
    random = np.random.default_rng(1)
    bits = np.unpackbits(random.integers(0, 256, (20, 8)).astype(np.uint8), axis=1)
    bits = bits[random.integers(0, 20, 400)] ^ (random.random((400, 64)) < 0.05)
    texts = Texts(np.packbits(bits, axis=1))
    sharing = block_sharing(recipe_named("simhash-doc"), 0.9)
    distance = sharing.shape["distance"]
    close = ClosePairs(
        bit_words(texts.sketches), design_for(64, distance), distance, texts.ranks, cap,
        MemoryBudget(),
    )  # fmt: skip
    expected = []
    for left, right, apart in close.blocks():
        columns = texts.numbers[left], texts.numbers[right], 64 - apart
        expected += list(zip(*(column.tolist() for column in columns), strict=True))

    found, count, _ = texts.pairs(sharing, cap, parts=5)

    assert count == close.candidates
    assert found == sorted(expected)
    assert len(found) > 0
