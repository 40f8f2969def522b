"""Numbers before a clause are no difference, but those that may name what it is about."""

from __future__ import annotations

import pytest

from indexer import duplicate_pairs

BODY = "The Tenant shall pay the rent in advance on the first business day of every month."
NUMBERS = (
    *("Step 4.", "Schedule 2, Part 1\n", "cl. 14", "N° 4", "Nº 7", "第3条", "Article 1er\n"),
    *("Cláusula 3ª", "Ziffer 3\n", "SECONDLY,", "–", "◦", "Stage 2:", "PHASE III.\n"),
)
BARE = ("4A", "12", "007", "5-1", "5.1-2", "II-3", "A.1", "C(3)")


def kind(left: str, right: str) -> str:
    pairs = duplicate_pairs([("a", left), ("b", right)])
    return pairs[0].type if pairs else "none"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("title", ["", "Payment Terms. "])
def test_a_number_of_any_form_is_no_difference(number: str, title: str) -> None:
    assert kind(f"{number} {title}{BODY}", f"7. Rent. {BODY}") == "identical"


@pytest.mark.parametrize("number", BARE)
def test_a_number_without_a_sign_is_cut_before_a_heading(number: str) -> None:
    assert kind(f"{number} Payment Terms. {BODY}", BODY) == "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Lot 4:", "Lot 5:"),
        ("Boeing 747.", "Boeing 737."),
        ("Apollo 13.\n", "Apollo 14.\n"),
        ("Phase II.", "Phase III."),
        ("Enclosure 3:", "4."),
    ],
)
def test_a_number_that_may_name_a_thing_is_a_difference(left: str, right: str) -> None:
    assert kind(f"{left} {BODY}", f"{right} {BODY}") == "near_identical"


def test_a_party_with_a_number_is_no_heading() -> None:
    assert kind(f"Tenant 1: {BODY}", BODY) != "identical"


def test_emphasis_may_belong_to_the_name_of_a_firm() -> None:
    duty = "{} shall pay the rent in advance on the first business day of every month."
    assert kind(duty.format("*Star* Inc."), duty.format("Star Inc.")) == "near_identical"
    assert kind(duty.format("**Star Inc.**"), duty.format("Star Inc.")) == "identical"
