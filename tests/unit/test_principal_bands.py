"""Principals by their bands."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexer.fingerprinting.keys import band_hashes
from indexer.jobs.arrival import CARRIERS, PrincipalBands

BANDS, ROWS, SLOTS = 3, 2, 8
sketches = st.lists(
    st.lists(st.integers(0, 2), min_size=SLOTS, max_size=SLOTS), min_size=1, max_size=5
)


def array(rows):
    return np.array(rows, dtype=np.uint32).reshape(-1, SLOTS)


@given(
    st.lists(sketches, max_size=6),
    sketches,
    st.integers(0, SLOTS),
    st.sets(st.integers(0, 29), max_size=5),
)
def test_principals_that_share_a_band_and_enough_slots_are_returned(added, queries, least, removed):
    principals, slots_by_id = PrincipalBands(SLOTS, BANDS, ROWS), {}
    for batch in added:
        ids = [f"{(len(slots_by_id) + place) % 20}" for place in range(len(batch))]
        principals.add(ids, array(batch))
        slots_by_id |= dict(zip(ids, batch, strict=True))
    for number in removed:
        principals.discard(f"{number}")
        slots_by_id.pop(f"{number}", None)
    expected = set()
    for row, slots in enumerate(queries):
        for id, known_slots in slots_by_id.items():
            both = band_hashes(array([slots, known_slots]), BANDS, ROWS)
            if (both[0] == both[1]).any() and sum(map(int.__eq__, slots, known_slots)) >= least:
                expected.add((row, id))
    assert set(principals.near(array(queries), least)) == expected
    assert len(principals) == len(slots_by_id) and all(id in principals for id in slots_by_id)


def test_of_a_band_that_many_carry_the_first_are_found():
    principals = PrincipalBands(SLOTS, BANDS, ROWS)
    principals.add(
        [f"{place:03}" for place in range(CARRIERS + 50)], array([[1] * SLOTS] * (CARRIERS + 50))
    )
    assert [id for _, id in principals.near(array([[1] * SLOTS]), 0)] == [
        f"{place:03}" for place in range(CARRIERS)
    ]


def test_nobody_is_known():
    assert list(PrincipalBands(SLOTS, BANDS, ROWS).near(array([[1] * SLOTS]), 0)) == []


def test_more_pairs_than_are_compared_together_come_in_order():
    rows = 40
    principals = PrincipalBands(SLOTS, BANDS, ROWS)
    principals.add([f"{place:03}" for place in range(CARRIERS)], array([[1] * SLOTS] * CARRIERS))
    assert list(principals.near(array([[1] * SLOTS] * rows), SLOTS)) == [
        (row, f"{place:03}") for row in range(rows) for place in range(CARRIERS)
    ]
