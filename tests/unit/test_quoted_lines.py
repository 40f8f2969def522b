"""Words that a text quotes."""

import pytest

from indexer.grouping.group_options import quoted_words

HEADERS = [
    "-----Original Message-----\nFrom: Ann\nSent: Monday\nTo: Bob",
    "---------- Forwarded message ----------\nFrom: Ann <a@example.org>\nDate: 1 May\nTo: Bob",
    "Von: Ann\nGesendet: Montag\nAn: Bob\nBetreff: Plan",
    "De : Ann\nEnvoyé : lundi\nÀ : Bob",
    "*From:* Ann\r\n*Sent:* Monday\r\n*To:* Bob",
    "发件人：安\n发送时间：星期一\n收件人：鲍勃",
]


def test_marked_lines_are_quoted():
    assert quoted_words("Yes, at noon.\n\nAnn wrote:\n> Shall we meet?\n  >> Where?\n") == 4
    assert quoted_words("> all of it") == 3


def test_nothing_is_quoted_by_signs_elsewhere_and_by_prompts_of_python():
    assert quoted_words("") == 0
    assert quoted_words("a > b\n-> c\n<p>\n") == 0
    assert quoted_words(">>> sorted([3, 1])\n[1, 3]\n") == 0


@pytest.mark.parametrize("header", HEADERS)
def test_all_from_the_header_of_a_forwarded_message_on_is_quoted(header):
    before = quoted_words(f"Please see below.\n\n{header}\n\n")
    assert 0 < before == quoted_words(f"Other words here.\n\n{header}\n\nx") - 1


def test_a_message_that_begins_with_its_header_is_not_quoted():
    assert quoted_words("From: Ann\nSent: Monday\nTo: Bob\n\nShall we meet?") == 0
    assert quoted_words("A list.\n\nFrom: Ann\n\nShall we meet?") == 0


@pytest.mark.parametrize("line", ["From: " * 50_000, "a\nFrom:" + " " * 300_000, " \t*" * 100_000])
def test_long_lines_take_no_quadratic_time(line):
    """Minutes if a pattern tried every division of the line."""
    assert quoted_words(f"a\n{line}") == 0
