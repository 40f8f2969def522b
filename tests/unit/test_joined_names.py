"""Names that reading divides are one slot where two clauses differ in nothing else."""

from __future__ import annotations

import pytest

from indexer import duplicate_pairs

DUTIES = (
    "{} shall indemnify the Purchaser against all losses arising out of any breach of warranty.",
    "The Borrower shall repay to {} all outstanding principal together with accrued interest.",
    "All notices under this lease must be in writing, and shall be delivered by courier to {}.",
)
DIVIDED = (
    *("Wm. Wrigley Jr. Company", "Gebr. Heinemann SE", "Marks and Spencer Group plc", "abrdn plc"),
    *("Skadden, Arps, Slate, Meagher & Flom LLP", "58.com Inc."),
    *("Petronas Sdn. Bhd.", "Škoda Auto a.s.", "Müller GmbH & Co. KG", "E.ON SE", "1&1 AG"),
    *("Aldi Einkauf SE & Co. oHG", "Grupo Bimbo, S.A.B. de C.V.", "A.P. Møller - Mærsk A/S"),
    *("Dr. Ing. h.c. F. Porsche AG", "Zakłady Azotowe Sp. z o.o.", "Trust Co. of the West"),
)
AMOUNTS = ("$7,000.00", "CHF 2'000'000", "£75k", "Rs. 12,00,000", "US$ 3.5 million", "SEK 40,000")
OTHERS = (  # pairs that differ in more than a name
    ("affiliates of Acme Ltd", "Zenith Ltd"),
    ("the bankrupt Acme Ltd", "Zenith plc"),
    ("Acme Ltd and Zenith plc", "Halden Ltd"),
    ("the Borrower and Acme Ltd", "Zenith Ltd"),
    ("Acme Ltd or its successors", "Halden Ltd"),
    ("Acme Ltd within 30 days", "Zenith Ltd"),
    ("some friends", "Zenith plc"),
)


def kind(left: str, right: str) -> str:
    pairs = duplicate_pairs([("a", left), ("b", right)])
    return pairs[0].type if pairs else "none"


@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("duty", DUTIES)
def test_divided_names_are_names(duty: str, name: str) -> None:
    assert kind(duty.format(name), duty.format("Halden Marine Limited")) == "near_identical"


@pytest.mark.parametrize("amount", AMOUNTS)
def test_amounts_of_several_countries_are_amounts(amount: str) -> None:
    text = "The price payable at completion is {}, and it may be adjusted by the closing accounts."
    assert kind(text.format(amount), text.format("EUR 900")) == "near_identical"


def test_abbreviated_months_are_dates() -> None:
    text = "This lease takes effect on {}, and continues until either party has terminated it."
    assert kind(text.format("Sept. 3, 2017"), text.format("1 May 2020")) == "near_identical"


@pytest.mark.parametrize(("left", "right"), OTHERS)
def test_other_parties_are_more_than_another_name(left: str, right: str) -> None:
    assert kind(DUTIES[1].format(left), DUTIES[1].format(right)) in {"fuzzy", "none"}


def test_a_sentence_after_a_name_is_no_part_of_it() -> None:
    text = "The Borrower repays the whole loan to {} daily from the due date until actual payment."
    assert kind(text.format("Acme. Costs accrue"), text.format("Halden. Fees accrue")) == "fuzzy"


@pytest.mark.parametrize("name", ["ZENITH SHIPPING LIMITED", "ACME INC.", "ABRDN PLC"])
def test_companies_in_capitals_are_names(name: str) -> None:
    text = DUTIES[1].upper()
    assert kind(text.format(name), text.format("HALDEN MARINE COMPANY")) == "near_identical"


def test_two_companies_in_capitals_are_not_one() -> None:
    text = DUTIES[1].upper()
    assert kind(text.format("ACME LTD AND ZENITH PLC"), text.format("HALDEN LTD")) == "fuzzy"


def test_words_in_capitals_are_no_names() -> None:
    text = "THE SELLER SHALL PAY THE {} TO THE PORT OF DESTINATION NAMED IN THIS CONTRACT OF SALE."
    assert kind(text.format("FREIGHT"), text.format("FARE")) == "fuzzy"


def test_limited_is_no_company_where_it_stands_alone() -> None:
    text = "THE LIABILITY OF EACH PARTY UNDER THIS AGREEMENT AND THE ANNEXED DOCUMENTS IS {}."
    assert kind(text.format("LIMITED"), text.format("UNLIMITED")) in {"fuzzy", "none"}


def test_adverbs_that_deny_are_negations() -> None:
    text = "Information that is {} available to the public is no secret under this deed of trust."
    assert kind(text.format("freely"), text.format("rarely")) == "none"
    assert kind(text.format("hardly"), text.format("rarely")) == "fuzzy"
