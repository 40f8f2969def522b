"""Clauses: their starts and headings; no word lost or counted twice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.clauses.segmentation import MAX_CLAUSES, Heading, clauses

CONTRACT = """CREDIT AGREEMENT

TABLE OF CONTENTS

ARTICLE I DEFINITIONS ........ 1
Section 1.1 Defined Terms ........ 1
Section 7.9 Leverage Ratio ....... 23

This Credit Agreement is made as of 4 March 2024 between
Foo Ltd and Bar plc.

WHEREAS, the Borrower wants money; and

ARTICLE I
DEFINITIONS

Section 1.1 Defined Terms. In this Agreement the words have the meaning given in
Section 7.9 above, and as set out under Section 7.9 (m) below.
(a) "Bank" means a bank;
(b) "Day" means a day.

Section 7.9. Leverage Ratio. The Borrower shall not permit the ratio to exceed 3.5 to 1.
(m) LEVERAGE RATIO. The Borrower shall keep it under
7.9 at all times.
(n) COVERAGE RATIO The Borrower shall keep

7.10 Waiver of Jury Trial
EACH PARTY HEREBY WAIVES ITS RIGHT TO A TRIAL BY JURY IN ANY
ACTION ARISING OUT OF THIS AGREEMENT, AND EACH PARTY
AGREES THAT IT WILL NOT SEEK ONE, AND SO
IT DOES NOT.
7.10.1 The waiver covers counterclaims too.

Schedule 2
Form of Notice

To the Agent: we hereby give notice.
"""


def heads(text: str, structure: list[Heading] | None = None) -> list[tuple[str, str, str]]:
    """Return label, heading, and the first two words of the body."""
    divided = clauses(text, structure)
    return [
        (clause.label, clause.heading, " ".join(text[clause.body : clause.end].split()[:2]))
        for clause in divided
    ]


def test_a_contract():
    assert heads(CONTRACT) == [
        ("", "CREDIT AGREEMENT", ""),
        ("", "", "This Credit"),
        ("", "", "WHEREAS, the"),
        ("ARTICLE I", "DEFINITIONS", ""),
        ("Section 1.1", "Defined Terms", "In this"),
        ("Section 7.9", "Leverage Ratio", "The Borrower"),
        ("(m)", "LEVERAGE RATIO", "The Borrower"),
        ("(n)", "COVERAGE RATIO", "The Borrower"),
        ("7.10", "Waiver of Jury Trial", "EACH PARTY"),
        ("7.10.1", "", "The waiver"),
        ("Schedule 2", "Form of Notice", "To the"),
    ]
    assert [clause.level for clause in clauses(CONTRACT)] == [1, 0, 0, 1, 2, 2, 3, 3, 2, 3, 1]


@pytest.mark.parametrize(
    ("line", "label", "heading"),
    [
        ("Section 7.9 WAIVER OF JURY TRIAL", "Section 7.9", "WAIVER OF JURY TRIAL"),
        ("(m) LEVERAGE RATIO", "(m)", "LEVERAGE RATIO"),
        ("6. Compensation of Escrow Agent", "6", "Compensation of Escrow Agent"),
        (
            "Section 14.06 Successors and Assignors. All covenants bind.",
            "Section 14.06",
            "Successors and Assignors",
        ),
        ("3.1 Successors and Assigns. This agreement enures.", "3.1", "Successors and Assigns"),
        ("ARTICLE IV: COVENANTS", "ARTICLE IV", "COVENANTS"),
        ("Article 5 \u2013 Protection des données", "Article 5", "Protection des données"),
        ("§ 4 Haftung und Gewährleistung", "§ 4", "Haftung und Gewährleistung"),
        ("§ 12a. Kündigung. Der Vertrag endet.", "§ 12a", "Kündigung"),
        ("Anlage 3", "Anlage 3", ""),
        ("Exhibit B-1", "Exhibit B-1", ""),
        ("Exhibit C FORM OF NOTE", "Exhibit C", "FORM OF NOTE"),
        ("I. Introduction", "I", "Introduction"),
        ("1 Definitions", "1", "Definitions"),
        ("5. Limitation of liability", "5", "Limitation of liability"),
        ("2. The Client shall pay within thirty days.", "2", ""),
        ("第四条 （目的）本契約は次のとおりとする。", "第四条", "目的"),
    ],
)
def test_headings(line, label, heading):
    (only,) = clauses(f"{line}\nIt is agreed so.")
    assert (only.label, only.heading) == (label, heading)


@pytest.mark.parametrize(
    "line",
    [
        "Section 7.9 of the Indenture shall apply.",
        "Section 7.9 above says so.",
        "Section 7.9, the schedule and this clause are one.",
        "Article IV hereof stands.",
        "§ 5 Abs. 2 bleibt unberührt.",
        "7.9 million pounds were paid.",
        "4 March 2024 is the date.",
        "(a) the first of the items;",
        "J. Doe signed.",
        "2024. It was a year.",
    ],
)
def test_what_a_sentence_says_of_a_clause_is_no_heading(line):
    for gap in ("\n", "\n\n"):
        assert not any(
            clause.label or clause.heading
            for clause in clauses(f"The words before.{gap}{line}{gap}The words after.\n")
        )


def test_a_wrapped_sentence_does_not_break_at_a_reference():
    text = (
        "1. Debt. The Borrower may borrow as permitted under\nSection 7.9 Leverage Ratio "
        "and shall repay.\n2. Term. A year."
    )
    assert heads(text) == [("1", "Debt", "The Borrower"), ("2", "Term", "A year.")]


def test_without_headings_paragraphs_are_clauses():
    assert heads("One paragraph here.\nIts second line.\n\nAnother one.\n \nA third.") == [
        ("", "", "One paragraph"),
        ("", "", "Another one."),
        ("", "", "A third."),
    ]
    long = "A paragraph in one line goes on, " * 5
    assert len(clauses(f"{long}\n{long}\n{long}")) == 3


def test_a_title_in_capitals_is_repeated_by_its_paragraphs():
    text = (
        "WARRANTIES\nThe first one is given.\n\nThe second one is "
        "given.\n\nREMEDIES\n\nNone at all."
    )
    assert heads(text) == [
        ("", "WARRANTIES", "The first"),
        ("", "WARRANTIES", "The second"),
        ("", "REMEDIES", "None at"),
    ]


def test_a_number_goes_on_in_brackets():
    text = (
        "Section 7.9(b)(ii) Fees. The Client shall pay as in\nSection 7.8(c) "
        "above.\n7.10(c) The fee is due.\n7.11 Term. None."
    )
    assert heads(text) == [
        ("Section 7.9(b)(ii)", "Fees", "The Client"),
        ("7.10(c)", "", "The fee"),
        ("7.11", "Term", "None."),
    ]


def test_tables_of_contents_are_left_out():
    bare = "Contents\n1. Fees\n2. Term\n\n1. Fees\nThe Client shall pay.\n2. Term\nOne year."
    assert heads(bare) == [("1", "Fees", "The Client"), ("2", "Term", "One year.")]
    tabs = (
        "1. Fees\t2\n2. Term\t3\n3. Notices\t11\n\nNow it begins.\n\n1. Fees\nThe Client shall pay."
    )
    assert heads(tabs) == [("", "", "Now it"), ("1", "Fees", "The Client")]
    stepped = (
        "1. Fees .... 2\n   1.1 When .... 2\n   1.2 How\t3\n2. Term .... 4\n\n1. "
        "Fees\n1.1 When. In May.\n2. Term\nOne year."
    )
    assert heads(stepped)[0] == ("1", "Fees", "")
    assert len(heads(stepped)) == 3
    table = "Widgets\t20\nGadgets\t30\nScrews\t40"
    assert (
        " ".join(table[clause.start : clause.end] for clause in clauses(table)).split()
        == table.split()
    )


def test_structure_that_extraction_gave():
    text = (
        "Our fees\nThey are paid monthly.\n\nIn advance.\nOur term\nIt is a year.\n3. Law. "
        "That of Jersey."
    )
    structure = [Heading(0, 8, 2), Heading(text.index("Our term"), text.index("Our term") + 8, 2)]
    assert heads(text, structure) == [
        ("", "Our fees", "They are"),
        ("", "Our fees", "In advance."),
        ("", "Our term", "It is"),
        ("3", "Law", "That of"),
    ]
    assert [clause.level for clause in clauses(text, structure)] == [2, 2, 2, 1]


def test_nothing_has_no_clauses_and_too_many_are_one():
    assert clauses("") == clauses(" \n\t\n") == []
    many = clauses("A word.\n\n" * (MAX_CLAUSES + 5))
    assert len(many) == MAX_CLAUSES
    assert many[-1].end == len("A word.\n\n" * (MAX_CLAUSES + 5)) - 2


LINES = st.sampled_from(
    [
        *CONTRACT.splitlines(),
        "",
        " ",
        "FOO BAR",
        "A. Fees",
        "word word",
        "1. X",
        "(a) Law.",
        "\u2028",
        "§",
    ]
)


@given(st.lists(LINES, max_size=30).map("\n".join) | st.text(max_size=80))
def test_every_word_lies_in_at_most_one_clause(text):
    divided = clauses(text)
    assert all(clause.end <= following.start for clause, following in pairwise(divided))
    for clause in divided:
        assert clause.start <= clause.body <= clause.end
        assert text[clause.start : clause.end] == text[clause.start : clause.end].strip() != ""
    if "...." not in text and "CONTENTS" not in text:
        assert "".join(
            "".join(text[clause.start : clause.end].split()) for clause in divided
        ) == "".join(text.split())


def test_a_name_in_small_letters_is_a_heading_of_the_newest_rules() -> None:
    text = "4. Etsy\nThe seller bears the costs.\n5. eBay\nThe buyer bears the costs."
    assert [clause.heading for clause in clauses(text)] == ["Etsy", "eBay"]
    assert [clause.heading for clause in clauses(text, version="clauses_v2")] == ["Etsy"]
