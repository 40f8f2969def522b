"""Versions as a table of passages: who has which passage, in which reading."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.review.collation import CollationRow, passages_of
from indexer.review.collation import collate as collate_passages

FIRST = "Lease\n\nThe tenant pays four hundred pounds each month.\n\nNo pets are kept in the house."
SECOND = FIRST.replace("four", "five")
THIRD = SECOND.replace("Lease\n\n", "Lease\n\nThe landlord repairs the roof within a week.\n\n")
FOURTH = "Lease\n\nNo pets are kept in the house."


def collate(texts: list[str]) -> list[CollationRow]:
    return collate_passages([passages_of(text) for text in texts])


def test_each_version_has_its_readings_and_lacks_the_others() -> None:
    rows = collate([FIRST, SECOND, THIRD, FOURTH])
    assert [(row.variants[0][:12], row.cells) for row in rows] == [
        ("Lease", [0, 0, 0, 0]),
        ("The landlord", [None, None, 0, None]),
        ("The tenant p", [0, 1, 1, None]),
        ("No pets are ", [0, 0, 0, 0]),
    ]
    assert rows[2].variants == [
        "The tenant pays four hundred pounds each month.",
        "The tenant pays five hundred pounds each month.",
    ]
    assert [row.is_shared for row in rows] == [True, False, False, True]


def test_a_passage_that_is_not_alike_gets_a_row_of_its_own() -> None:
    rows = collate(["We sell ships to the king of France.", "A cat sat on mats all day today."])
    assert [row.cells for row in rows] == [[0, None], [None, 0]] or [row.cells for row in rows] == [
        [None, 0],
        [0, None],
    ]


def test_case_and_signs_make_no_other_reading() -> None:
    [row] = collate(["We sell: ships.", "WE SELL ships", "we sell ships!"])
    assert (row.variants, row.cells) == (["We sell: ships."], [0, 0, 0])


def test_nothing_gives_no_rows() -> None:
    assert collate([]) == []
    assert collate(["", "...", "\n\n"]) == []
    assert [row.cells for row in collate(["", "We sell ships."])] == [[None, 0]]


PASSAGE = st.lists(
    st.sampled_from(["rent", "roof", "pets", "king", "ship", "cat", "dog"]), min_size=1, max_size=9
)
TEXT = st.lists(PASSAGE.map(" ".join), max_size=6).map("\n\n".join)


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(st.lists(TEXT, max_size=4))
def test_the_rows_hold_every_version_whole_and_in_order(texts: list[str]) -> None:
    rows = collate(texts)
    for version, text in enumerate(texts):
        held = [row.words[at] for row in rows if (at := row.cells[version]) is not None]
        assert held == [words for _, words in passages_of(text)]
    for row in rows:
        assert len(row.cells) == len(texts)
        assert len(set(row.words)) == len(row.words) == len(row.variants)
        assert {at for at in row.cells if at is not None} == set(range(len(row.variants)))


@settings(deadline=None, max_examples=50)
@given(TEXT, st.integers(2, 4))
def test_equal_versions_share_every_row(text: str, number: int) -> None:
    rows = collate([text] * number)
    assert all(row.is_shared for row in rows)
    assert len(rows) == len(passages_of(text))
