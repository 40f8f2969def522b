"""The map of a comparison: where the texts differ."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.compare import compare
from indexer.review.side_by_side import SEGMENTS, MapSegment, SideBySide, difference_map


def text(first: int, end: int) -> str:
    return " ".join(f"word{place}" for place in range(first, end))


def mapped(a: str, b: str) -> Sequence[MapSegment]:
    return difference_map(SideBySide(compare(a, b)).blocks)


def test_a_difference_is_where_it_stands() -> None:
    segments = mapped(text(0, 4000), f"{text(0, 3000)} {text(9000, 9100)} {text(3100, 4000)}")
    [place] = [number for number, segment in enumerate(segments) if segment.first == 1]
    assert len(segments) == SEGMENTS
    assert place in (SEGMENTS * 3 // 4 - 1, SEGMENTS * 3 // 4)
    assert sum(segment.differing for segment in segments) / SEGMENTS < 0.06
    assert not any(segment.moved for segment in segments)


def test_a_passage_that_moved_is_marked_and_copies_have_an_even_map() -> None:
    a, b, c = text(0, 900), text(1000, 1300), text(2000, 2900)
    segments = mapped(f"{a} {b} {c}", f"{b} {a} {c}")
    assert any(segment.moved for segment in segments)
    assert not segments[-1].moved
    assert {segment.differing for segment in mapped(a, a)} == {0.0}
    assert list(mapped("", "")) == []


@given(
    st.lists(st.sampled_from("abcd"), max_size=40), st.lists(st.sampled_from("abcd"), max_size=40)
)
def test_every_difference_is_in_one_segment(a: list[str], b: list[str]) -> None:
    view = SideBySide(compare(" ".join(a), " ".join(b)), limit=5)
    segments = difference_map(view.blocks)
    begun = [segment for segment in segments if segment.first is not None]
    numbers = [n for one in begun for n in range(one.first or 0, (one.last or 0) + 1)]
    assert numbers == list(range(1, view.differences + 1)) or not segments
    assert all(0 <= segment.differing <= 1 for segment in segments)
