"""Passages that are left out of comparisons, in words alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.words import normal_words
from indexer.errors import UsageError
from indexer.system.approved_passages import (
    NO_OMISSION,
    ApprovedPassages,
    Omission,
    approved_passages,
    without_spans,
)

NOTICE = (
    "This message is confidential and may be privileged; if you are not the addressee, delete it."
)
APPROVED = ApprovedPassages((NOTICE,))
WORDS = len(normal_words(NOTICE))


def words_of(text: str) -> list[str]:
    return normal_words(text).folded


LINES = st.lists(st.text(st.sampled_from("abc xyz.,-1"), max_size=20), max_size=8)


@given(LINES, st.integers(0, 8), st.booleans())
def test_an_inserted_passage_leaves_the_words_as_they_were(lines, place, is_upper):
    place = min(place, len(lines))
    notice = NOTICE.upper().replace(" ", "\n") if is_upper else NOTICE
    text = "\n".join([*lines[:place], "", notice, "", *lines[place:]])
    before = "\n".join([*lines[:place], "", "", *lines[place:]])
    shorter, left_out = APPROVED.remove_from(text)
    assert words_of(shorter) == words_of(before)
    assert left_out == Omission(frozenset({0}), WORDS)


NOTICE_WORDS = NOTICE.split()


@given(st.lists(st.sampled_from([*NOTICE_WORDS, "ferry", "page 3"]), max_size=60))
def test_what_stays_is_in_the_text_in_order(items):
    text = " ".join(items)
    shorter, left_out = ApprovedPassages((NOTICE,), (r"page \d",)).remove_from(text)
    rest = iter(words_of(text))
    assert all(word in rest for word in words_of(shorter))
    assert left_out.words == len(words_of(text)) - len(words_of(shorter))
    assert (shorter is text) == (left_out == NO_OMISSION)


@given(st.integers(0, len(NOTICE_WORDS)))
def test_a_word_that_was_put_into_a_passage_stays(place):
    text = " ".join(["We sell.", *NOTICE_WORDS[:place], "never", *NOTICE_WORDS[place:], "Bo"])
    shorter, left_out = APPROVED.remove_from(text)
    assert "never" in words_of(shorter)
    if not left_out.words:
        assert shorter is text


def test_less_than_four_fifths_of_a_passage_is_no_passage():
    part = " ".join(NOTICE_WORDS[:12])
    assert APPROVED.remove_from(part) == (part, NO_OMISSION)


def test_golden():
    approved = ApprovedPassages((NOTICE, "All rights reserved"), (r"^Page \d+ of \d+$",))
    text = f"Ann\n(All rights reserved.)\nPage 1 of 2\nBo\n{NOTICE}"
    assert approved.remove_from(text) == ("Ann\n \n \nBo\n ", Omission(frozenset({0, 1, 2}), 23))
    assert approved.id == ApprovedPassages(approved.passages[::-1], approved.patterns).id
    assert approved.id == "f8f6b9ae598a"
    assert str(Omission(frozenset({0, 2}), 84)) == "2 approved passages (84 words) left out"


def test_a_page_stamp_within_a_passage_does_not_hide_it():
    stamped = " ".join([*NOTICE_WORDS[:8], "\nPage 3 of 9\n", *NOTICE_WORDS[8:]])
    approved = ApprovedPassages((NOTICE,), (r"^Page \d+ of \d+$",))
    assert words_of(approved.remove_from(f"Yes. {stamped}")[0]) == ["yes"]
    assert len(words_of(APPROVED.remove_from(f"Yes. {stamped}")[0])) > 1


def test_spans_that_overlap():
    assert without_spans("0123456789", [(1, 4), (2, 3), (3, 6)]) == "0 6789"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no passage is approved"),
        (['{"text": "a b"}', '{"text": "a", "approved": "yes"}'], "no passage is approved"),
        (["", "{"], "line 2"),
        (["[]"], "line 1"),
        (['{"text": 1, "approved": true}'], "needs a text, or a pattern"),
        (['{"text": "a", "pattern": "b", "approved": true}'], "needs a text, or a pattern"),
        (['{"text": "...", "approved": true}'], "no words"),
        (['{"pattern": "(", "approved": true}'], "not a valid regular expression"),
        (['{"pattern": "", "approved": true}'], "matches where there is no text"),
        (['{"pattern": "(Page [0-9]+)?", "approved": true}'], "matches where there is no text"),
        (['{"pattern": "^ *$", "approved": true}'], "matches where there is no text"),
    ],
)
def test_lists_that_are_refused(lines, message):
    with pytest.raises(UsageError, match=message):
        approved_passages(lines)


def test_lines_that_are_approved():
    lines = [
        json.dumps({"text": NOTICE, "words": WORDS, "approved": True}),
        json.dumps({"text": "not this one"}),
        json.dumps({"pattern": "^Page", "approved": True}),
    ]
    assert approved_passages(lines) == ApprovedPassages((NOTICE,), ("^Page",))


@given(st.lists(st.sampled_from([*NOTICE_WORDS, NOTICE, "ferry", "page 3", "\n"]), max_size=60))
def test_blanks_keep_the_places_of_what_stays(items):
    text = " ".join(items)
    shorter, left_out = APPROVED.blank_out(text)
    assert len(shorter) == len(text)
    assert all(now in (before, " ") for before, now in zip(text, shorter, strict=True))
    assert shorter.count("\n") == text.count("\n")
    assert left_out.words == len(normal_words(text)) - len(normal_words(shorter))
    assert APPROVED.blank_out(shorter) == (shorter, NO_OMISSION)


def test_a_passage_that_comes_about_by_blanking_is_blanked_too():
    words = [f"n{number}" for number in range(14)]
    nested = " ".join([*words[:7], *words, *words[7:]])
    shorter, _ = ApprovedPassages((" ".join(words),)).blank_out(f"ferry {nested} pier")
    assert words_of(shorter) == ["ferry", "pier"]


def test_a_list_is_written_as_it_is_read():
    passages = ApprovedPassages((NOTICE, "All rights\nreserved."), (r"^Page \d+$",))
    again = approved_passages(passages.lines().splitlines())
    assert (again, again.id) == (passages, passages.id)
