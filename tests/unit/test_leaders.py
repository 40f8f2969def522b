"""Principals found again by their bands."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexer.joins.principal_bands import CARRIERS, PrincipalBands
from indexer.sketch.keys import band_hashes

BANDS, ROWS, SLOTS = 3, 2, 8
sketches = st.lists(
    st.lists(st.integers(0, 2), min_size=SLOTS, max_size=SLOTS), min_size=1, max_size=5
)


def array(made):
    return np.array(made, dtype=np.uint32).reshape(-1, SLOTS)


@given(
    st.lists(sketches, max_size=6),
    sketches,
    st.integers(0, SLOTS),
    st.sets(st.integers(0, 29), max_size=5),
)
def test_who_shares_a_band_and_enough_slots_is_found(added, asked, least, gone):
    leaders, known = PrincipalBands(SLOTS, BANDS, ROWS), {}
    for made in added:
        ids = [f"{(len(known) + place) % 20}" for place in range(len(made))]
        leaders.add(ids, array(made))
        known |= dict(zip(ids, made, strict=True))
    for number in gone:
        leaders.discard(f"{number}")
        known.pop(f"{number}", None)
    expected = set()
    for row, slots in enumerate(asked):
        for id, other in known.items():
            both = band_hashes(array([slots, other]), BANDS, ROWS)
            if (both[0] == both[1]).any() and sum(map(int.__eq__, slots, other)) >= least:
                expected.add((row, id))
    assert set(leaders.near(array(asked), least)) == expected
    assert len(leaders) == len(known) and all(id in leaders for id in known)


def test_of_a_band_that_many_carry_the_first_are_found():
    leaders = PrincipalBands(SLOTS, BANDS, ROWS)
    leaders.add(
        [f"{place:03}" for place in range(CARRIERS + 50)], array([[1] * SLOTS] * (CARRIERS + 50))
    )
    assert [id for _, id in leaders.near(array([[1] * SLOTS]), 0)] == [
        f"{place:03}" for place in range(CARRIERS)
    ]


def test_nobody_is_known():
    assert list(PrincipalBands(SLOTS, BANDS, ROWS).near(array([[1] * SLOTS]), 0)) == []
