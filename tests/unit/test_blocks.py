"""Tables of bit blocks: no pair within the distance is missed. For k = 3 every flip mask is
tried.
"""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.keys import (
    DOC_CLOSE,
    Design,
    block_keys,
    choose_design,
    designs,
    table_keys,
    tables,
)


def flips(bits: int, distance: int) -> np.ndarray:
    """Return every mask with at most `distance` of `bits` bits set."""
    return np.array(
        [
            sum(1 << place for place in places)
            for size in range(distance + 1)
            for places in itertools.combinations(range(bits), size)
        ],
        dtype=np.uint64,
    )


def count_missed(design: Design, masks: np.ndarray) -> int:
    """Return the number of flip masks that touch the key of every table."""
    keys = np.array(tables(design), dtype=np.uint64)
    return int(np.sum(np.all(masks[:, None] & keys != 0, axis=1)))


def test_sixteen_tables_of_28_bits_miss_none_of_43745_flips() -> None:
    every = flips(64, 3)
    assert len(every) == 43_745
    assert (DOC_CLOSE.tables, DOC_CLOSE.key_bits, DOC_CLOSE.distance) == (16, 28, 3)
    assert all(mask.bit_count() == 28 for mask in tables(DOC_CLOSE))
    assert count_missed(DOC_CLOSE, every) == 0


def test_without_any_one_of_the_tables_some_flips_are_missed() -> None:
    every, keys = flips(64, 3), np.array(tables(DOC_CLOSE), dtype=np.uint64)
    for left_out in range(16):
        assert np.any(np.all(every[:, None] & np.delete(keys, left_out) != 0, axis=1))


def test_four_bits_may_be_missed() -> None:
    assert (
        count_missed(DOC_CLOSE, np.array([1 | 1 << 16 | 1 << 32 | 1 << 48], dtype=np.uint64)) == 1
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "design",
    [choose_design(64, [(8, 2)]), *designs(64, 6)],
    ids=lambda design: f"{design.tables}x{design.key_bits}",
)
def test_distance_six_misses_none_of_100000_random_flips(design: Design) -> None:
    generator = np.random.default_rng(6)
    places = generator.permuted(np.tile(np.arange(64, dtype=np.uint64), (100_000, 1)), axis=1)[
        :, :6
    ]
    masks = np.bitwise_or.reduce(np.uint64(1) << places, axis=1)
    assert design.distance >= 6
    assert count_missed(design, masks) == 0


@pytest.mark.parametrize(
    "design",
    [design for distance in (1, 2) for design in designs(64, distance, 64)],
    ids=lambda d: f"{d.distance}-{d.tables}",
)
def test_small_distances_miss_nothing_at_all(design: Design) -> None:
    assert count_missed(design, flips(64, design.distance)) == 0


@given(st.integers(8, 64), st.integers(1, 4), st.data())
def test_any_design_finds_any_pair_within_its_distance(bits: int, distance: int, data) -> None:
    choices = designs(bits, distance)
    if not choices:
        return
    masks = tables(data.draw(st.sampled_from(choices)))
    sketch = data.draw(st.integers(0, 2**bits - 1))
    changed = sketch
    for place in data.draw(st.sets(st.integers(0, bits - 1), max_size=distance)):
        changed ^= 1 << place
    assert set(table_keys(sketch, masks)) & set(table_keys(changed, masks))


@pytest.mark.parametrize("bits", [32, 64, 128, 1024])
@pytest.mark.parametrize("distance", [1, 3, 6])
def test_designs_are_as_they_say(bits: int, distance: int) -> None:
    options = designs(bits, distance, 100)
    assert [design.tables for design in options] == sorted({design.tables for design in options})
    assert [design.key_bits for design in options] == sorted(
        {design.key_bits for design in options}
    )
    for design in options:
        masks = tables(design)
        assert len(masks) == len(set(masks)) == design.tables
        assert min(mask.bit_count() for mask in masks) == design.key_bits
        assert design.distance >= distance


@given(st.integers(0, 2**64 - 1))
def test_keys_are_the_bits_under_the_mask(sketch: int) -> None:
    for number, (mask, key) in enumerate(
        zip(tables(DOC_CLOSE), table_keys(sketch, tables(DOC_CLOSE)), strict=True)
    ):
        bits = "".join(str(sketch >> place & 1) for place in range(63, -1, -1) if mask >> place & 1)
        assert key == f"{number:02x}{int(bits, 2):07x}"


@given(st.integers(0, 2**64 - 1), st.sampled_from([2, 4, 8, 16]))
def test_one_level_with_one_part_gives_the_stored_block_keys(sketch: int, parts: int) -> None:
    assert table_keys(sketch, tables(choose_design(64, [(parts, 1)]))) == block_keys(
        sketch, 64, parts
    )


@pytest.mark.long
def test_expected_candidates_are_those_met() -> None:
    """Among random sketches a look-up meets as many rows as announced."""
    design, count = choose_design(32, [(4, 1)]), 20_000
    generator = random.Random(3)
    masks = tables(design)
    stored = [table_keys(generator.getrandbits(32), masks) for _ in range(count)]
    met = 0
    for _ in range(40):
        query = table_keys(generator.getrandbits(32), masks)
        met += sum(left == right for row in stored for left, right in zip(query, row, strict=True))
    assert met / 40 == pytest.approx(design.expected_candidates(count), rel=0.05)


@pytest.mark.parametrize("levels", [[], [(4, 4)], [(4, 0)], [(1, 1)]])
def test_levels_that_choose_nothing_or_all_are_refused(levels: list) -> None:
    with pytest.raises(UsageError, match="each level"):
        choose_design(64, levels)


def test_too_few_bits_are_refused() -> None:
    with pytest.raises(UsageError, match="too few"):
        choose_design(8, [(4, 1), (7, 1)])
    assert designs(4, 4) == []


@pytest.mark.parametrize(
    "design",
    [*designs(64, 3, 20), *designs(64, 6)],
    ids=lambda design: f"{design.distance}-{design.tables}",
)
def test_documented_designs_are_those_there_are(design: Design) -> None:
    documented = (Path(__file__).parent.parent.parent / "docs/schemes.md").read_text(
        encoding="utf-8"
    )
    assert f"| {design.distance} | {design.tables} | {design.key_bits} |" in documented
