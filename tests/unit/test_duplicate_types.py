"""Duplicate types: the published pairs, what each type forgives, what turns an obligation,
formulas, and lossless filters.
"""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from indexer.comparing.clauses.body import body
from indexer.comparing.clauses.clause_terms import read_clause, without_layout
from indexer.comparing.clauses.duplicates import (
    duplicate_pairs,
    duplicate_sets,
    may_match,
    signatures,
    term_statistics,
    terminology,
    verdict,
)
from indexer.comparing.clauses.lexicon import HEADING_WORDS, default_lexicon, lexicon
from indexer.errors import UsageError

NEAR = (
    "Section 14.06 Successors and Assignors. All covenants and agreements in this Agreement by "
    "the Sponsor shall bind its "
    "successors and assigns, whether so expressed or not.",
    "Section 11.09. Successors and Assignors. All covenants and agreements in this Indenture "
    "by the Issuer shall bind its "
    "successors and assigns, whether so expressed or not.",
)
FUZZY = (
    "3.1 Successors and Assigns. This agreement enures to the benefit of and is binding on the "
    "parties hereto and their "
    "respective successors and assigns.",
    "32. Successors and Assigns. This agreement shall be binding upon, and enure to the "
    "benefit of, the parties, their legal "
    "representatives, successors and assigns.",
)
REPAIR = (
    "The Tenant shall repair the roof and the windows of the premises promptly after any "
    "damage by fire or storm."
)
LEVERAGE = (
    "The Company shall not permit the Leverage Ratio to exceed 3.50 to 1.00 at the end "
    "of any fiscal quarter."
)


def kind(left: str, right: str, overlap: float = 0.8, words: str = "") -> str | None:
    list_ = lexicon(words) if words else default_lexicon()
    result = verdict(read_clause(left, list_), read_clause(right, list_), list_, overlap)
    again = verdict(read_clause(right, list_), read_clause(left, list_), list_, overlap)
    assert result == again
    return result.type if result else None


def test_the_published_pairs() -> None:
    assert kind(*NEAR) == kind(*NEAR, overlap=0.9) == "near_identical"
    assert kind(*FUZZY) == "fuzzy"
    assert kind(*FUZZY, overlap=0.9) is None
    left, right = (read_clause(text, default_lexicon()) for text in FUZZY)
    assert terminology(left, right) == 0.875
    assert kind(NEAR[0], FUZZY[0]) is None


@pytest.mark.parametrize(
    "right",
    [
        REPAIR.replace("The Tenant", "Tenant").replace("the premises", "such premises"),
        f"7. Repairs. {REPAIR.upper()}",
        REPAIR.replace(" ", "\n", 7).replace("roof and", "roof, and"),
        REPAIR.replace("shall", "hereby shall"),
    ],
)
def test_identical_forgives_what_has_no_substance(right: str) -> None:
    assert kind(REPAIR, right) == "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("$10,000", "Ten Thousand Dollars ($10,000)"),
        ("$10,000", "EUR 1.5 million"),
        ("30 days", "sixty (60) days"),
        ("June 1, 2001", "3 March 2004"),
        ("Boston", "the State of New York"),
        ("Acme Holdings, Inc.", "Bank of Ohio"),
        ("Section 4.2", "Article IX"),
        ("12 Main Street, Springfield, Illinois 62701", "9 High Road, Leeds"),
        ("the Executor", "the Personal Representative"),
        ("promptly", "without delay"),
        ("the lawyer", "the attorney"),
    ],
)
def test_near_identical_forgives_slots_and_synonyms(left: str, right: str) -> None:
    text = (
        "The Company shall deliver to {}, as its guests agreed before, a report on the "
        "state of the warehouse."
    )
    assert kind(text.format(left), text.format(right)) == "near_identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("shall repair", "may repair"),
        ("shall repair", "shall not repair"),
        ("after any", "before any"),
        ("The Tenant", "The Landlord"),
        ("The Tenant", "The Lessor"),
        ("repair the roof and the windows", "photograph every tenant and guest"),
        ("any damage", "no damage"),
        ("shall repair", "is entitled to repair"),
    ],
)
def test_another_obligation_is_no_duplicate(left: str, right: str) -> None:
    assert left in REPAIR
    assert kind(REPAIR, REPAIR.replace(left, right)) is None


def test_words_that_turn_a_sum_or_a_condition() -> None:
    price = (
        "The price is the closing value of the assets {} the capital adjustment, as "
        "determined by the auditor of both."
    )
    assert kind(price.format("plus"), price.format("minus")) is None
    notice = (
        "The Licensee may end this deed upon thirty days notice {} the Licensor fails to "
        "perform its duties hereunder."
    )
    assert kind(notice.format("if"), notice.format("unless")) is None


def test_other_words_of_duty_and_idioms_are_not_identical() -> None:
    assert kind(REPAIR, REPAIR.replace("shall", "is required to")) == "near_identical"
    assert kind(REPAIR, REPAIR.replace("fire", "fire, without limitation,")) == "fuzzy"


def test_parties_that_change_places() -> None:
    text = (
        "{} indemnifies {} against all claims of third persons that arise out of the sale "
        "of the goods."
    )
    assert (
        kind(text.format("Acme Foods", "Orion Bank"), text.format("Orion Bank", "Acme Foods"))
        is None
    )
    assert (
        kind(text.format("Acme Foods", "Orion Bank"), text.format("Solway Ltd", "Quill AG"))
        == "near_identical"
    )
    lower = (
        "as a rule the {} insures the {} against all claims of third persons that arise "
        "out of the sale of goods"
    )
    assert kind(lower.format("seller", "buyer"), lower.format("buyer", "seller")) is None
    assert (
        kind(lower.format("seller", "buyer"), lower.format("vendor", "purchaser"))
        == "near_identical"
    )


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        (LEVERAGE, "3.50 to 1.00", "4.00 to 1.00"),
        (
            "The price to be paid at closing is P = 1.5 x EBITDA / 12, as the auditors of both "
            "parties compute it.",
            "1.5",
            "1.7",
        ),
        (
            "The royalty that the publisher owes is net sales multiplied by 0.12 less returns "
            "granted in good faith.",
            "0.12",
            "0.15",
        ),
        (
            "Sums are translated at the rate of exchange of 1.10 Dollars for one Euro, rounded "
            "to the nearest cent.",
            "1.10",
            "1.12",
        ),
        (
            "The margin depends on the level shown in the certificate:\nLevel I 1.25 "
            "0.50\nLevel II 1.75 0.75",
            "0.75",
            "0.80",
        ),
        (
            "If the quotient A + B > C holds at the end of the year, the buyer pays the seller "
            "a premium in cash.",
            "+",
            "÷",
        ),
        (
            "The Company keeps the ratio of its debt to its equity below three to one at the "
            "end of any year.",
            "three",
            "four",
        ),
        (
            "The present value equals each payment divided by (1 + r)^n on the day named by "
            "the Agent.",
            "^n",
            "^m",
        ),
        (
            "Each Holder receives the sum Base Rent = Area × Rate on the day named by the Agent.",
            "Rate",
            "Factor",
        ),
        (
            "Each Holder receives A = B ÷ C in cash on the day named by the Agent under this deed.",
            "B ÷ C",
            "C ÷ B",
        ),
        (
            "Each Holder receives A = B - C - D in cash on the day named by the Agent under "
            "this deed.",
            "- D",
            "- E",
        ),
    ],
)
def test_one_number_of_a_formula(text: str, left: str, right: str) -> None:
    assert kind(text, f"4.2 {text}") == "identical"
    assert kind(text, text.replace(left, right, 1)) is None


def test_fuzzy_is_bounded_by_length_and_terminology() -> None:
    longer = (
        f"{REPAIR} Notice of such damage comes from the janitor or from the neighbours in the "
        "house next to it."
    )
    assert kind(REPAIR, longer) is None
    reordered = (
        "Promptly after any damage by storm or fire, the Tenant shall repair the "
        "windows and the roof of the premises."
    )
    assert kind(REPAIR, reordered) == "fuzzy"


@pytest.mark.parametrize("text", ["", "   ", "the", "!?", "\ud800"])
def test_nothing_is_a_duplicate_of_nothing(text: str) -> None:
    assert kind(text, text) is None


def test_short_clauses_can_be_identical_only() -> None:
    assert kind("The Company shall pay Boston.", "Company shall pay Boston.") == "identical"
    assert kind("The Company shall pay Boston.", "The Company shall pay Leeds.") is None


def test_words_of_a_user() -> None:
    pair = (
        "The chief engineer shall inspect all pumps of the vessel once in every week of the "
        "voyage.",
        "The head of engineering shall inspect all pumps of the vessel once in every week of "
        "the voyage.",
    )
    assert kind(*pair) == "fuzzy"
    assert kind(*pair, words="chief engineer = head of engineering") == "near_identical"
    text, party = (
        "the charterer shall pay for fuel and water and port dues of the vessel",
        "charterer",
    )
    swapped = text.replace(party, "shipowner")
    assert (
        kind(
            text,
            swapped,
            words="[opposites]\ncharterer <> shipowner\n[parties]\ncharterer, shipowner",
        )
        is None
    )


@pytest.mark.parametrize(
    "line", ["alone", "a = ", "[nothing]\na = b", "[opposites]\na = b", "[parties]\n, ,"]
)
def test_lines_that_are_no_entries(line: str) -> None:
    with pytest.raises(UsageError, match="ours, line"):
        lexicon(line, "ours")


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
DUTY_OF = (
    "{} shall pay the rent to the landlord on the first business day of each calendar month.",
    "{}'s obligations under this guaranty are absolute and survive the end of the lease.",
)


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


DUE = "The rent of the premises is due in advance on the first day of every calendar month."


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


RENT = (
    "The Tenant shall pay to the lessor for the leased premises a rent of {} in advance, on the "
    "first business day of each month, without any deduction, to the account held at Leeds."
)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *((form.format("€"), form.format("£")) for form in ("10,000 {}", "10.000,- {}", "{}.50")),
        *((form.format("$"), form.format("¥")) for form in ("[10,000] {}", "per {}", "{}-10,000")),
        ("10,000 ₹", "10,000"),
        ("10,000 %", "10,000"),
        ("5′", "5″"),
        ("5'", '5"'),
        ("5 m²", "5 m2"),
        ("10-20", "10 20"),
        ("(10,000)", "10,000"),
        ("~10,000", "10,000"),
        ("what BBB- pays", "what BBB pays"),
    ],
)
def test_clauses_with_other_signs_are_not_identical(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) != "identical"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5:00 p.m.", "6:00 p.m."),
        ("17:00", "18:30"),
        ("9:00 a.m. on June 1", "10:00 a.m. on June 2"),
        ("that of 2020/21", "that of 2021/22"),
        ("$10,000/month", "$12,000/month"),
        ("the caller from +44 20 7946 0000", "the caller from +1 212 555 0199"),
    ],
)
def test_times_of_day_years_and_telephones_are_slots(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) == "near_identical"


@pytest.mark.parametrize(
    ("left", "right"), [("a ratio of 1:10", "a ratio of 1:20"), ("2:1", "3:1"), ("10/12", "11/12")]
)
def test_ratios_and_quotients_are_no_slots(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [("10–20 days", "10-20 days"), ("“ten”", '"ten"'), ("5 m²", "5 m²")],
)
def test_other_dashes_and_quotation_marks_are_identical(left: str, right: str) -> None:
    assert kind(RENT.format(left), RENT.format(right)) == "identical"


def test_a_roman_number_before_a_firm_may_be_its_initials() -> None:
    text = "Pepper LLC shall pay the rent of the premises on the first day of every month."
    assert kind(f"IX. {text}", f"XI. {text}") == kind(f"IX. {text}", text) == "near_identical"
    assert kind(f"LL. {text}", f"VX. {text}") == "fuzzy"


@pytest.mark.parametrize("name", ["{} Inc.", "{} Fitness, Inc.", "{} Limited"])
@pytest.mark.parametrize("text", DUTY_OF)
def test_names_of_figures_with_a_stroke_are_names(name: str, text: str) -> None:
    texts = [text.format(name.format(figures)) for figures in ("24/7", "9/5")]
    assert kind(texts[0], texts[1]) == "near_identical"


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


NUMBERINGS = [
    *("ARTICLE FOUR\n\n", "Section Four. ", "4A. ", "12B) ", "Exhibit A\n\n", "[4.1] ", "(iv)(b) "),
    *("## 4. ", "**4.1** ", "### 4.1 Rent\n\n", "<b>4.1</b> ", "<h2>4. Rent</h2>\n", "4\\. "),
    *("Schedule 2: ", "4.1.(a) ", "4-1. ", "§ 4-102. ", "[Section 4] ", "IV - ", "IV.1 ", "(4.) "),
    *("First. ", "Fourth: ", "4 - ", "4: ", "Sub-section 4.1: ", "Article 7bis. ", "A.1.2 ", "④ "),
    *("Rent; Payment. ", "4.1 Taxes; Insurance. ", "“Rent.” ", "**Rent.** ", "Part Two. "),
]


@pytest.mark.parametrize("number", NUMBERINGS)
def test_forms_of_numbering_are_no_difference(number: str) -> None:
    for text in (DUE, REPAIR, RENT.format("$500")):
        for other in ("", "7. ", "Section 9.3 "):
            assert kind(number + text, other + text) == "identical"


STARTS = st.sampled_from([*NUMBERINGS, "", "3. ", "(b) ", "1. Rent. "])
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


@settings(max_examples=100)
@given(STARTS, STARTS, st.sampled_from([DUE, REPAIR, RENT.format("$500")]))
def test_any_numbering_is_any_other(left: str, right: str, text: str) -> None:
    assert kind(left + text, right + text) == "identical"


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
    assert kind(SHOUTED.upper(), swapped.replace("X", "Kestrel Ltd")) is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Flat 2/1", "Flat 2/2", "near_identical"),
        ("LIBOR + 2.5%", "LIBOR + 3.0%", "near_identical"),
        ("LIBOR + 2.5%", "LIBOR - 2.5%", None),
        ("P = LIBOR + 2.5%", "P = LIBOR + 3.0%", None),
        ("Disney+", "Hulu", "near_identical"),
        ("x² + 1", "x2 + 1", None),
        ("x² + y", "x³ + y", None),
    ],
)
def test_flats_margins_and_powers(left: str, right: str, expected: str | None) -> None:
    assert kind(RENT.format(left), RENT.format(right)) == expected


def test_signs_that_compare_are_no_layout() -> None:
    assert without_layout("> 50 units of it") == "> 50 units of it"
    assert without_layout("a\n> b") == "a\n> b"
    assert without_layout("pre-\nand post-closing") == "pre-\nand post-closing"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Obligations of Tenant", "Obligations of Landlord"),
        ("Tenant's Property", "Landlord's Property"),
    ],
)
def test_names_with_opposites_are_no_duplicates(left: str, right: str) -> None:
    text = "The {} under this lease survive the end of the term and any sale of the premises."
    assert kind(text.format(left), text.format(right)) is None


def test_sets_are_not_transitive() -> None:
    words = [f"item{chr(97 + place)}" for place in range(22)]
    texts = [" ".join(words[start : start + 16]) for start in (0, 3, 6)]
    clauses = [(str(place), text) for place, text in enumerate(texts)]
    assert [(entry.a, entry.b) for entry in duplicate_pairs(clauses)] == [("0", "1"), ("1", "2")]
    [result] = duplicate_sets(clauses)
    assert (result.principal, [entry.id for entry in result.members]) == ("0", ["1"])
    [result] = duplicate_sets([clauses[1], clauses[0], clauses[2]])
    assert (result.principal, [entry.id for entry in result.members]) == ("1", ["0", "2"])


def test_the_strictest_type_wins() -> None:
    clauses = [
        ("fuzzy", FUZZY[1]),
        ("same", FUZZY[0]),
        ("asked", FUZZY[0].replace("the parties hereto", "parties")),
    ]
    assert [(pair.a, pair.b, pair.type) for pair in duplicate_pairs(clauses)] == [
        ("fuzzy", "same", "fuzzy"),
        ("fuzzy", "asked", "fuzzy"),
        ("same", "asked", "identical"),
    ]


def test_what_is_refused() -> None:
    for overlap in (0, -1, 1.1, float("nan")):
        with pytest.raises(UsageError):
            duplicate_sets([], overlap=overlap)
    with pytest.raises(UsageError):
        duplicate_pairs([("a", REPAIR), ("a", REPAIR)])
    assert duplicate_sets([]) == ()


VOCABULARY = [
    f"{one}{two}"
    for one in ("pay", "ren", "goo", "cla", "bond", "cert")
    for two in ("ment", "tal", "ds", "im", "ing", "")
]
ODD = [
    "the",
    "such",
    "Acme",
    "Orion Bank",
    "seller",
    "shall",
    "promptly",
    "without delay",
    "$5",
    "12 days",
    "of",
    "not",
    "x = 3",
    ".",
]
TEXTS = st.lists(st.sampled_from([*VOCABULARY, *ODD]), min_size=8, max_size=90).map(" ".join)
EDITS = st.lists(
    st.tuples(st.integers(0, 89), st.sampled_from([*VOCABULARY, *ODD, ""])), max_size=8
)


def apply_edits(text: str, edits: list[tuple[int, str]]) -> str:
    words = text.split(" ")
    for place, word in edits:
        words[place % len(words)] = word
    return " ".join(words)


@settings(max_examples=100)
@given(
    TEXTS,
    st.lists(EDITS, min_size=2, max_size=6),
    st.sampled_from([0.5, 0.8, 0.9, 1.0]),
    st.booleans(),
)
def test_filters_lose_no_pair(
    text: str, copies: list[list[tuple[int, str]]], overlap: float, counted: bool
) -> None:
    texts = [apply_edits(text, edits) for edits in copies]
    statistics = term_statistics(texts[::2]) if counted else None
    clauses = [(str(place), content) for place, content in enumerate(texts)]
    pairs = {
        (pair.a, pair.b): pair.type
        for pair in duplicate_pairs(clauses, overlap=overlap, statistics=statistics)
    }
    words = default_lexicon()
    readings = [read_clause(text, words) for text in texts]
    expected = {
        (str(a), str(b)): match.type
        for b in range(len(texts))
        for a in range(b)
        if (match := verdict(readings[a], readings[b], words, overlap))
    }
    assert pairs == expected


def test_filters_do_spare_comparisons() -> None:
    texts = [*NEAR, *FUZZY, REPAIR, LEVERAGE]
    signed = signatures([read_clause(text, default_lexicon()) for text in texts], 0.8)
    candidates = {
        (a, b)
        for b in range(6)
        for a in range(b)
        if set(signed[a].keys) & set(signed[b].keys) and may_match(signed[a], signed[b], 0.8)
    }
    assert candidates == {(0, 1), (2, 3)}
