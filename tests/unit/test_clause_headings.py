"""Headings, numbers and layout of clauses: what is left out before clauses are compared."""

import pytest
from clause_pairs import DUE, NUMBERINGS, RENT, REPAIR, STARTS, kind
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.comparing.clauses.body import body
from indexer.comparing.clauses.clause_terms import without_layout
from indexer.comparing.clauses.lexicon import default_lexicon


def test_headings_and_numbers_are_left_out() -> None:
    assert body("(m) LEVERAGE RATIO. The ratio is 3.") == "The ratio is 3."
    assert (
        body("Section 7.9 WAIVER OF JURY TRIAL\nEach party waives it.") == "Each party waives it."
    )
    assert body("Fees and costs: each bears its own.", "Fees and costs") == "each bears its own."
    assert body("6. Compensation of Escrow Agent") != ""


def test_a_number_that_was_extracted_as_heading_may_be_part_of_a_name() -> None:
    name = "Section 8 Capital shall pay the rent."
    assert body(name, "Section 8") == body(name[10:], "Section 8") == name
    assert body("The Tenant shall pay.", "Section 8") == "The Tenant shall pay."
    assert body("Section 8 The Tenant shall pay.", "Section 8") == "The Tenant shall pay."


@pytest.mark.parametrize(
    "text",
    [
        "Acme, Inc. shall pay the rent.",
        "Payments to Acme Inc. The rent is due.",
        "Mr. Smith shall pay the rent.",
        "J. Smith pays the rent.",
        "THE COMPANY SHALL PAY THE RENT. The tenant pays nothing.",
        "Tenant: The rent is due.",
        "Payments to Acme\nHoldings are due on the first day of every month.",
        "Acme Holdings LLC\n\nThe rent is due.",
        "Section 4.2 shall survive the termination of this agreement.",
        "1.5 million dollars are due.",
        "P.O. Box 77, Dover. The rent is due.",
        "eBay Services. The rent is due.",
    ],
)
def test_names_and_sentences_are_no_headings(text: str) -> None:
    assert body(text, parties=default_lexicon().party_words) == text


def test_an_extracted_heading_that_is_part_of_a_name_is_put_back() -> None:
    name, claims = "Brown & Sons, Inc. shall repair the roof.", "All claims are released."
    assert body(name, "2 Wm").startswith("Wm. Brown & Sons, Inc.")
    assert body(f"2. Wm. {name}", "2 Wm").startswith("Wm. Brown")
    assert body(claims, "Release of Kestrel Group") == f"Release of Kestrel Group. {claims}"
    assert body(claims, "7 Release of Liability") == claims


@pytest.mark.parametrize(
    "text",
    [
        "Rent. The Tenant pays.",
        "Waiver of Jury Trial. Each party waives it.",
        "Limitation of Liability. Tenant pays it.",
        "Payment of Rent. Interest accrues on it.",
        "Confidentiality. Company shall keep it.",
        "Rent. Intl. Paper Company shall pay it.",
    ],
)
def test_a_heading_of_whole_words_is_cut(text: str) -> None:
    assert body(text, parties=default_lexicon().party_words) == text.partition(". ")[2]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Kestrel. ", "Falcon. "),
        ("5. Kestrel: ", "6. Falcon: "),
        ("KESTREL\n\n", "FALCON\n\n"),
        ("Liberty. ", "Trinity. "),
        ("Release of Liberty. ", "Release of Trinity. "),
        ("Kestrel. ", ""),
        ("Tenant. ", "Landlord. "),
        ("Grant. ", "Price. "),
        ("Marshall Price. ", "Grant Law. "),
    ],
)
@pytest.mark.parametrize("text", [DUE, "The rent is due."])
def test_a_heading_that_may_name_a_party_is_a_difference(left: str, right: str, text: str) -> None:
    assert kind(left + text, right + text) == "near_identical"
    assert kind(left + text, f"7. {left}{text}") == "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Severability. ", "Survival of Warranties. "),
        ("Non-Disclosure. ", "Tenant's Obligations. "),
        ("Charterer's Default. ", "Calendar Months. "),
        ("5.1(b) ", "5.1(c) "),
        ("5.1(b)(ii) Rent. ", "7(c) Payment. "),
        ("(b)(ii) ", "2 (b) "),
        ("IX. ", "XI. "),
    ],
)
def test_headings_of_known_words_and_numbers_are_no_difference(left: str, right: str) -> None:
    words = "charterer = hirer"
    for other in (right, ""):
        assert kind(left + DUE, other + DUE, words=words) == "identical"


@pytest.mark.parametrize(
    "text",
    [
        DUE.replace("premises", "pre\u00admises"),
        DUE.replace("advance", "ad-\nvance"),
        DUE.replace("advance", "ad\u00ad\nvance"),
        DUE.replace("premises", "pre\u200bmises"),
        "> " + DUE.replace("advance", "\n> advance"),
        "> > " + DUE,
        ">\n> 5. Rent.\n>\n> " + DUE.replace("advance", "ad-\n> vance"),
    ],
)
def test_layout_is_no_difference(text: str) -> None:
    assert kind(DUE, text) == "identical"


@pytest.mark.parametrize("number", NUMBERINGS)
def test_forms_of_numbering_are_no_difference(number: str) -> None:
    for text in (DUE, REPAIR, RENT.format("$500")):
        for other in ("", "7. ", "Section 9.3 "):
            assert kind(number + text, other + text) == "identical"


@settings(max_examples=100)
@given(STARTS, STARTS, st.sampled_from([DUE, REPAIR, RENT.format("$500")]))
def test_any_numbering_is_any_other(left: str, right: str, text: str) -> None:
    assert kind(left + text, right + text) == "identical"


def test_signs_that_compare_are_no_layout() -> None:
    assert without_layout("> 50 units of it") == "> 50 units of it"
    assert without_layout("a\n> b") == "a\n> b"
    assert without_layout("pre-\nand post-closing") == "pre-\nand post-closing"
