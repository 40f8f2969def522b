"""Blocks of a comparison page: every word once, in its place, marked by its kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.compare import compare, edits
from indexer.comparing.words import words
from indexer.review.side_by_side import PlacedText, SideBySide, facts, shared_ends

STRETCHES = st.lists(
    st.sampled_from(
        [
            "a b c d e",
            "f g h i j k",
            "l m n o p q r",
            "x",
            "y z",
            "(s, t)\n\n",
            "a b c d e. f g",
            "מילה אחת",
            "港口通知",
        ]
    ),
    max_size=8,
)
SEQUENCES = st.lists(st.sampled_from("abcd"), max_size=12)


def longest_common(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for left_item in a:
        before = 0
        for place, right_item in enumerate(b, 1):
            before, row[place] = (
                row[place],
                max(before + (left_item == right_item), row[place], row[place - 1]),
            )
    return row[-1]


@given(SEQUENCES, SEQUENCES)
def test_edits_are_the_fewest_and_turn_one_into_the_other(a: list[str], b: list[str]) -> None:
    edit_list = edits(a, b)
    turned, end = [], 0
    for edit in edit_list:
        turned += a[end : edit.a] + b[edit.b : edit.b_end]
        end = edit.a_end
    assert turned + a[end:] == b
    assert sum(edit.a_end - edit.a + edit.b_end - edit.b for edit in edit_list) == len(a) + len(
        b
    ) - 2 * longest_common(a, b)


def test_texts_too_different_are_one_edit_between_their_common_ends() -> None:
    a, b = ["same", *"abcdef", "end"], ["same", *"uvwxyz", "end"]
    [edit] = edits(a, b, limit=4)
    assert (edit.a, edit.a_end, edit.b, edit.b_end) == (1, 7, 1, 7)


@given(st.text("ae\u0301\u0323x", max_size=6), st.text("ae\u0301\u0323x", max_size=6))
def test_shared_ends_never_overlap(a: str, b: str) -> None:
    first, last = shared_ends(a, b)
    assert first + last <= min(len(a), len(b))
    assert a[:first] == b[:first]
    assert a[len(a) - last :] == b[len(b) - last :]


@given(STRETCHES, STRETCHES, st.integers(2, 12))
def test_every_word_is_shown_once_and_in_order(
    first: list[str], second: list[str], most: int
) -> None:
    view = SideBySide(compare("; ".join(first), "; ".join(second)), most)
    shown_cells = list(view.cells(view.blocks))
    for side, text in zip(("left", "right"), view.comparison.texts, strict=True):
        shown_text = " ".join(
            "".join(run.text for run in getattr(cells, side)) for cells in shown_cells
        )
        assert words(shown_text).folded == words(text).folded


@pytest.mark.parametrize("most", range(1, 13))
def test_many_short_paragraphs_are_cut_into_parts_however_small(most: int) -> None:
    text = PlacedText("\n\n".join("abcdefghij"))
    block_range = range(10)
    cuts = list(text.cuts(block_range, most, text.paragraphs(block_range)))
    assert cuts == sorted(set(cuts)) and set(cuts) <= set(range(1, 10))


@given(STRETCHES, STRETCHES)
def test_differences_are_numbered_in_order_and_begin_on_both_sides(
    first: list[str], second: list[str]
) -> None:
    view = SideBySide(compare(" ".join(first), " ".join(second)))
    numbers = [number for block in view.blocks for number in block.differences]
    assert numbers == list(range(1, view.differences + 1))
    for side in ("left", "right"):
        begun = [
            run.difference
            for cells in view.cells(view.blocks)
            for run in getattr(cells, side)
            if run.difference
        ]
        assert begun == numbers


def test_marks_say_what_differs_inside_a_word() -> None:
    same = "and nothing else has changed in this sentence"
    view = SideBySide(compare(f"The colour is red {same}", f"The color is blue {same}"))
    left, right = (
        [(run.mark, run.text) for run in cells]
        for cell_pair in view.cells(view.blocks)
        for cells in (cell_pair.left, cell_pair.right)
    )
    assert ("letters", "u") in left
    assert ("only", "red") in left
    assert ("only", "blue") in right


def test_a_moved_passage_is_marked_on_both_sides() -> None:
    view = SideBySide(
        compare("one two three four five. a b c d e f g", "a b c d e f g one two three four five.")
    )
    [cells] = list(view.cells(view.blocks))
    for side in (cells.left, cells.right):
        assert [(run.passage, run.opens) for run in side if run.mark == "moved"] == [(1, True)]


def test_long_texts_come_in_many_blocks_of_bounded_size() -> None:
    text = " ".join(f"word{place}" for place in range(3000))
    view = SideBySide(compare(text, text.replace("word77 ", "")))
    assert len(view.blocks) > 15
    for cells in view.cells(view.blocks):
        assert sum(len(words(run.text)) for run in cells.left) <= 400


def test_shown_text_cannot_control_the_page() -> None:
    view = SideBySide(compare("safe\u202eexe.txt \x1b[31m \x00 end", "safe\u2066 end"))
    printed = "".join(
        run.text for cells in view.cells(view.blocks) for run in (*cells.left, *cells.right)
    )
    assert not set(printed) & set("\u202e\u2066\x1b\x00")


def test_facts_of_both_documents_are_paired_by_name() -> None:
    pairs = facts({"type": "text/plain", "size": "1"}, {"size": "2", "author": "Ann\u202e"})
    assert [(pair.name, pair.left, pair.right, pair.same) for pair in pairs] == [
        ("type", "text/plain", "", False),
        ("size", "1", "2", False),
        ("author", "", "Ann⟨RLO⟩", False),
    ]
