"""Duplicate types of clauses with names: another name is another party, whatever it looks like."""

import pytest
from clause_pairs import DUTY_OF, REPAIR, STARTS, kind
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from indexer.comparing.clauses.lexicon import HEADING_WORDS, default_lexicon


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("{} shall pay the rent of the premises on the first day of the month.", "Acme, Inc.", ""),
        ("Payments to {} are made on the first day of every month in advance.", "Acme Inc.", ""),
        ("7. {} may inspect the books of the company once in every year.", "J.P. Morgan, N.A.", ""),
        ("Notices to {} take effect on the day on which they are received.", "3M Company", ""),
        ("Notices to {} take effect on the day on which they are received.", "eBay", "iRobot"),
        (
            "{}, as guarantor, waives all rights that it may have at law.",
            "Delta Partners, L.P.",
            "",
        ),
        (
            "Notices to {} take effect on the day on which they are received.",
            "P.O. Box 77, Dover, DE 19901",
            "P.O. Box 4, Reno, NV 89501",
        ),
        ("Notices to {} take effect on the day on which they are received.", "Class A", "Class B"),
    ],
)
def test_another_name_is_near_identical(text: str, left: str, right: str) -> None:
    other = right or "Zenith, Inc."
    assert kind(text.format(left), text.format(other)) == "near_identical"


WITH_NAME = (
    "{} shall pay the rent of the premises in advance on the first day of every month.",
    "Payments to {} are made in advance on the first day of every month without any deduction.",
    "Section 4.02 {} shall pay the rent of the premises in advance on the first of the month.",
    "3.1 Rent. {} shall pay the rent of the premises in advance on the first of the month.",
)


@pytest.mark.parametrize("text", WITH_NAME)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Article 5 LLC", "Article 6 LLC"),
        ("Section 8 Capital", "Section 9 Capital"),
        ("Section 8 Bluebird", "Section 9 Bluebird"),
        ("Section 8 Partners", "Section 9 Partners"),
        ("Section 8\xa0Capital", "Section 9\xa0Capital"),
        ("§ 5 GmbH", "§ 6 GmbH"),
        ("§ 5 GmbH", "5 GmbH"),
        ("(A) Corp", "(B) Corp"),
        ("(D) plc", "(E) plc"),
        ("3.5 Capital LLC", "4.5 Capital LLC"),
        ("C# Ltd", "C Ltd"),
        ("C++ Ltd", "C Ltd"),
        ("[x+1] AG", "[x+2] AG"),
        ("★ Ltd", "☆ Ltd"),
        ("A&B Corp", "B Corp"),
        ("A/B Corp", "A B Corp"),
        ("Smith & Jones LLP", "Smith Jones LLP"),
        ("Wendy's LLC", "Wendy LLC"),
        ("A Inc.", "The Inc."),
        ("A Plus Inc.", "The Plus Inc."),
        ("Said Holdings", "Such Holdings"),
        ("Bank of the West", "Bank of West"),
        ("Bank of The West", "Bank of West"),
        ("Light of the World LLC", "Light of World LLC"),
        ("Class A Trust", "Class Trust"),
        ("Fund I, L.P.", "Fund II, L.P."),
        ("Fund I, L.P.", "Acme, L.P."),
        ("salesforce.com", "Acme LLC"),
        ("acme.de", "zenith.co.uk"),
        ("E*TRADE Corp.", "Acme Corp."),
        ("de Beers", "von Thyssen"),
        ("3i Group", "Acme Group"),
        ("No. 5 Funding LLC", "Acme Funding LLC"),
        ("C++ Ltd", "Acme Ltd"),
        ("[x+1] Inc.", "[y+2] Inc."),
        ("Forever 21, Inc.", "Acme, Inc."),
    ],
)
def test_numbers_signs_and_small_words_of_names(text: str, left: str, right: str) -> None:
    assert kind(text.format(left), text.format(right)) == "near_identical"


@pytest.mark.parametrize(
    "text",
    [
        "SECTION {} CAPITAL SHALL PAY THE RENT OF THE PREMISES IN ADVANCE ON EVERY FIRST DAY.",
        "Section {} Bluebird hereby waives presentment, protest and demand for any sum due here.",
    ],
)
def test_a_number_of_a_name_is_no_label(text: str) -> None:
    assert kind(text.format(8), text.format(9)) == "near_identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SECTION 8 INTEREST ACCRUES ON IT.", "SECTION 9 INTEREST ACCRUES ON IT."),
        ("SECTION 8 TENANT SHALL PAY IT.", "SECTION 9 TENANT SHALL PAY IT."),
        ("Section 8 Tenant shall pay it.", "Section 9 Tenant shall pay it."),
        ("§ 8 Interest accrues on it.", "§ 9 Interest accrues on it."),
        ("(A) Acme Corp. shall pay it.", "(B) Acme Corp. shall pay it."),
        ("5. Company shall pay it.", "6. Company shall pay it."),
        ("Said Tenant shall pay it.", "Such Tenant shall pay it."),
        ("Payments to the Company and this Lease", "Payments to Company and This Lease"),
        ("The Acme Corp. shall pay it.", "Acme Corp. shall pay it."),
        ("It is made by Smith & Jones LLP.", "It is made by Smith and Jones LLP."),
        ("It binds the Secretary of the Company.", "It binds the Secretary of Company."),
        (
            "any use for A PARTICULAR PURPOSE is its own",
            "any use for a particular purpose is its own",
        ),
        ("it shall (A) pay it and (B) keep it", "it shall (a) pay it and (b) keep it"),
    ],
)
def test_numbers_and_articles_outside_names_have_no_substance(left: str, right: str) -> None:
    assert kind(left, right) == "identical"


ABBREVIATED = [
    ("Wm. Brown & Sons, Inc.", "Geo. Brown & Sons, Inc."),
    ("Intl. Paper Company", "Natl. Paper Company"),
    ("Gen. Dynamics", "Elec. Dynamics"),
    ("Mme. Curie", "Mlle. Curie"),
    ("Penn. Power Co.", "Va. Power Co."),
    ("Acme Intl. Ltd.", "Zenith Intl. Ltd."),
    ("Kestrel Mfg. Company", "Merlin Mfg. Company"),
    ("Kestrel Sdn. Bhd.", "Merlin Sdn. Bhd."),
    ("Kestrel Hldgs. Limited", "Merlin Hldgs. Limited"),
    ("Kestrel Svcs. Company", "Merlin Svcs. Company"),
    ("AB. Pepper LLC", "CD. Pepper LLC"),
    ("Wm. May", "Geo. May"),
    ("Wm. A. Brown", "Geo. A. Brown"),
    ("Gen. Partner", "Ltd. Partner"),
    ("J. May", "K. May"),
    ("4.1 Holdings", "4.2 Holdings"),
    ("Section 5 Partners, L.P.", "Section 6 Partners, L.P."),
    ("Article III Partners", "Article IV Partners"),
    ("10.1 Ventures Ltd", "10.2 Ventures Ltd"),
    ("(a) Ventures LLC", "(b) Ventures LLC"),
    ("§ 5 GmbH", "§ 6 GmbH"),
]


@pytest.mark.parametrize("number", ["", "3. ", "(b) ", "1. Rent. "])
@pytest.mark.parametrize("text", DUTY_OF)
@pytest.mark.parametrize(("left", "right"), ABBREVIATED)
def test_an_abbreviation_or_a_number_of_a_name_is_never_cut(
    left: str, right: str, text: str, number: str
) -> None:
    pair = (f"{number}{text.format(left)}", f"{number}{text.format(right)}")
    assert kind(*pair) in {"near_identical", "fuzzy"}


def test_the_act_before_an_abbreviation_counts() -> None:
    text = "{} Water Service Company are due quarterly in arrears and bear interest until paid."
    left, right = text.format("Payments to Conn."), text.format("Refunds to Calif.")
    assert kind(left, right) != "identical"


ABBREVIATIONS = st.text("bcdefghklmnprstvw", min_size=2, max_size=5).filter(
    lambda word: word not in HEADING_WORDS and word not in default_lexicon().party_words
)


@pytest.mark.long
@settings(max_examples=100)
@given(
    ABBREVIATIONS,
    ABBREVIATIONS,
    st.sampled_from(["{}. Pepper LLC", "Kestrel {}. Company", "{}. Curie", "{}. Smith & Sons"]),
    st.sampled_from(["", "3. ", "(b) ", "Payments to "]),
)
def test_made_up_abbreviations_are_never_cut(left: str, right: str, name: str, before: str) -> None:
    texts = [before + DUTY_OF[0].format(name.format(word.capitalize())) for word in (left, right)]
    assume(left != right)
    assert kind(*texts) != "identical"


@pytest.mark.parametrize(
    "text",
    [
        "If to {}:\nThe rent notice is payable at the office on the first business day of it.",
        "Release of {}. All claims that arise under this lease are released on the day of it.",
        "RELEASE OF {}\n\nAll claims that arise under this lease are released on the day of it.",
    ],
)
@pytest.mark.parametrize(
    ("left", "right"), [("Kestrel Group", "Merlin Group"), ("Kestrel", "Merlin")]
)
def test_a_heading_with_a_name_in_it_stays(left: str, right: str, text: str) -> None:
    assert kind(text.format(left), text.format(right)) in {"near_identical", "fuzzy"}


def test_a_roman_number_before_a_firm_may_be_its_initials() -> None:
    text = "Pepper LLC shall pay the rent of the premises on the first day of every month."
    assert kind(f"IX. {text}", f"XI. {text}") == kind(f"IX. {text}", text) == "near_identical"
    assert kind(f"LL. {text}", f"VX. {text}") == "fuzzy"


@pytest.mark.parametrize("name", ["{} Inc.", "{} Fitness, Inc.", "{} Limited"])
@pytest.mark.parametrize("text", DUTY_OF)
def test_names_of_figures_with_a_stroke_are_names(name: str, text: str) -> None:
    texts = [text.format(name.format(figures)) for figures in ("24/7", "9/5")]
    assert kind(texts[0], texts[1]) == "near_identical"


NAMES_BY_NUMBER = [
    *("{}A Capital", "{}M", "{}-Eleven", "A-{} LLC", "Exhibit {} Media", "[{}] Ltd", "[{}.1] Inc."),
    *("Chapter {} Media", "No. {} Films", "{}: Capital LLC", "{}A. Holdings", "§ {}-1 GmbH"),
    *("Section {} - Capital LLC", "Article {}. LLC", "{}/5 Inc.", "T-{} Energy", "{} Degrees"),
]

PAIRS_OF_NAMES = [
    *(("3M", "5M"), ("1st Bank", "2nd Bank"), ("An Post", "Post"), ("The The Ltd", "The Ltd")),
    *(("The The", "The"), ("The Who", "Who"), ("An Óige", "Óige"), ("Disney+", "Disney")),
    *(("Article Four Coffee", "Article Five Coffee"), ("Title IX Films", "Title X Films")),
    *(("First, Kestrel & Sons LLP", "Second, Kestrel & Sons LLP"), ("Exhibit A", "Exhibit B")),
    *(("[Rent] Group", "[Taxes] Group"), ("Rent - Kestrel LLC", "Tax - Kestrel LLC")),
]


@pytest.mark.long
@settings(max_examples=150)
@given(STARTS, st.sampled_from(NAMES_BY_NUMBER), st.integers(2, 40), st.integers(41, 99))
def test_a_number_in_a_name_is_never_a_label(start: str, name: str, one: int, two: int) -> None:
    for text in (*DUTY_OF, "Payments to {} are due in advance on the first day of every month."):
        pair = [start + text.format(name.format(number)) for number in (one, two)]
        assert kind(*pair) != "identical"


@pytest.mark.parametrize(("left", "right"), PAIRS_OF_NAMES)
@pytest.mark.parametrize("start", ["", "7. ", "4A. ", "[4.1] ", "ARTICLE FOUR\n\n", "**Rent.** "])
def test_names_that_look_like_articles_or_labels_stay(start: str, left: str, right: str) -> None:
    for text in (*DUTY_OF, "Payments to {} are due in advance on the first day of every month."):
        assert kind(start + text.format(left), start + text.format(right)) != "identical"


SHOUTED = (
    "Acme Foods, Inc. shall deliver to Kestrel Ltd on June 1, 2020 under Section 4.2 a written "
    "report on the state of the warehouse, the goods that are stored in it, all damage by fire or "
    "storm, and every claim that guests or neighbours have made, with interest of 5 per cent."
)


def test_capitals_change_no_clause() -> None:
    assert kind(SHOUTED, SHOUTED.upper()) == "identical"
    assert kind(f"7. Rent. {SHOUTED}", f"ARTICLE FOUR\n\n{SHOUTED.upper()}") == "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Acme Foods, Inc.", "Zenith, Inc."),
        ("Acme Foods, Inc.", "Bank of Ohio"),
        ("Kestrel Ltd", "Merlin Ltd"),
        ("June 1, 2020", "May 7, 2021"),
        ("Section 4.2", "Article IX"),
    ],
)
def test_another_name_in_capitals_is_near_identical(left: str, right: str) -> None:
    assert kind(SHOUTED.upper(), SHOUTED.replace(left, right)) == "near_identical"


def test_another_firm_in_two_clauses_in_capitals_is_near_identical() -> None:
    other = SHOUTED.replace("Kestrel Ltd", "Merlin Ltd").upper()
    assert kind(SHOUTED.upper(), other) == "near_identical"


def test_another_act_in_capitals_is_no_name() -> None:
    assert kind(REPAIR.upper(), REPAIR.replace("shall", "may")) is None
    assert kind(REPAIR.upper(), REPAIR.replace("repair", "photograph")) != "near_identical"
    swapped = SHOUTED.replace("Acme Foods, Inc.", "X").replace("Kestrel Ltd", "Acme Foods, Inc.")
    assert kind(SHOUTED.upper(), swapped.replace("X", "Kestrel Ltd")) == "parties_exchanged"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Obligations of Tenant", "Obligations of Landlord"),
        ("Tenant's Property", "Landlord's Property"),
    ],
)
def test_names_with_opposites_are_no_duplicates(left: str, right: str) -> None:
    text = "The {} under this lease survive the end of the term and any sale of the premises."
    assert kind(text.format(left), text.format(right)) == "parties_exchanged"
