"""Running headers: printed on another day, numbered as another draft, a text is the same."""

from __future__ import annotations

import random

import pytest

from indexer.comparing.criteria import Criteria, for_folding
from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import differences, explain, format_differences
from indexer.comparing.unworded import running_headers
from indexer.recipe import DEFAULT
from indexer.wording import format_marks

VOCABULARY = """
the harbour ferry leaves at eight in morning tenant may assign this lease to affiliate within
notice period of days and landlord shall repair roof walls drains
"""
WORDS = VOCABULARY.split()
PAGES = 9
BREAKS = {"form feeds": "\n\n\f\n", "numbered lines": "\n\n"}
DEDUP = for_folding(Criteria(policy="standard", numbers="changed"), "lcs")
STANDARD = for_folding(Criteria(policy="standard"), "lcs")
STRICT = for_folding(Criteria(policy="strict"), "lcs")


def lease(foot: str, page_break: str = BREAKS["form feeds"], head: str = "Lease of pier") -> str:
    """Return a text of nine pages with a line at the top and lines at the bottom of each."""
    chance = random.Random(7)
    pages = []
    for number in range(PAGES):
        lines = [f"{' '.join(chance.choices(WORDS, k=11))}." for _ in range(20)]
        body = "\n".join(lines)
        pages.append(f"{head}\n\n{body}\n\n{foot.format(page=number + 1, pages=PAGES)}")
    return page_break.join(pages)


def accepts(criteria: Criteria, a: str, b: str) -> bool:
    return criteria.accepts(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))


def facts(a: str, b: str) -> list[tuple[str, str | None, str | None]]:
    sources = (ComparedText(text, DEFAULT).facts for text in (a, b))
    return [(made.kind, made.a, made.b) for made in differences(*sources)]


@pytest.mark.parametrize("page_break", BREAKS.values(), ids=BREAKS)
@pytest.mark.parametrize(
    ("foot", "other", "made"),
    [
        (
            "printed 12 May 2024, page {page} of {pages}",
            "printed 14 May 2024, page {page} of {pages}",
            ("header", "12 May 2024", "14 May 2024"),
        ),
        (
            "printed 12 May 2024\nPage {page}",
            "printed 3 June 2025\nPage {page}",
            ("header", "12 May 2024", "3 June 2025"),
        ),
        ("Draft 3 - page {page}", "Draft 4 - page {page}", ("header", "3", "4")),
    ],
)
def test_feet_of_another_day_or_draft_are_one_difference(foot, other, made, page_break) -> None:
    a, b = lease(foot, page_break), lease(other, page_break)
    assert accepts(STANDARD, a, b) and accepts(DEDUP, a, b)
    assert not accepts(STRICT, a, b)
    assert facts(a, b) == [made]


def test_head_and_foot_of_pages_of_one_paragraph_are_one_difference() -> None:
    words = "".join(f"{word} " * 2 for word in WORDS)
    a, b = (
        "\f".join(f"Printed {day}\n\n{words}{n}.\n\nOn {day}, page {n}" for n in range(1, 7))
        for day in ("12 May 2024", "14 May 2024")
    )
    assert facts(a, b) == [("header", "12 May 2024", "14 May 2024")]
    made = explain(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))
    assert format_marks(made.marks) == "running header"
    assert format_differences(made.facts) == ["1 running header differs: 12 May 2024 / 14 May 2024"]


@pytest.mark.parametrize("page_break", BREAKS.values(), ids=BREAKS)
def test_a_fact_of_the_text_still_separates(page_break: str) -> None:
    a = lease("printed 12 May 2024, page {page}", page_break)
    b = lease("printed 14 May 2024, page {page}", page_break)
    a, b = a.replace("roof", "21", 1), b.replace("roof", "24", 1)
    assert not accepts(DEDUP, a, b)
    assert facts(a, b) == [("number", "21", "24"), ("header", "12 May 2024", "14 May 2024")]


@pytest.mark.parametrize(
    "text",
    [
        # rows of a table that goes on over pages, and sums at the end of a page
        "\f".join("Statement\n" + "\n".join(f"0{n}-01 fee {n}" for n in range(9)) for _ in "abc"),
        "\f".join(f"Account\n{'It is agreed. ' * 30}\n\n\n\nTotal {n}1,200.00" for n in range(4)),
        # letters of a paragraph
        "\f".join(f"Account\n{'It is agreed. ' * 30}\nPay by {n} May." for n in (5, 12, 19)),
        # labels and tickets of a few lines a page
        "\f".join(f"Ticket {n}\nSeat {n}\nRow {n}" for n in range(6)),
        # two pages, one list of pages, chapters that are no pages
        "Draft 1\n" + "It is agreed.\n" * 9 + "\fDraft 1\n" + "It is agreed.\n" * 9,
        "Roof page 3\nWalls page 7\nDrains page 9\nPiers page 10",
        "\n".join(f"Chapter {n}\n" + "It is agreed.\n" * 9 for n in range(5)),
        "",
    ],
)
def test_lines_that_may_state_facts_are_no_running_headers(text: str) -> None:
    lines = [text[start:end] for start, end, _ in running_headers(text)]
    assert set(lines) <= {"Statement", "Account"}
