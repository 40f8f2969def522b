"""Clauses for tests of their duplicates, and the type of a pair in both orders."""

from hypothesis import strategies as st

from indexer.comparing.clauses.clause_terms import read_clause
from indexer.comparing.clauses.duplicates import verdict
from indexer.comparing.clauses.lexicon import default_lexicon, lexicon

REPAIR = (
    "The Tenant shall repair the roof and the windows of the premises promptly after any "
    "damage by fire or storm."
)


def kind(left: str, right: str, overlap: float = 0.8, words: str = "") -> str | None:
    list_ = lexicon(words) if words else default_lexicon()
    result = verdict(read_clause(left, list_), read_clause(right, list_), list_, overlap)
    again = verdict(read_clause(right, list_), read_clause(left, list_), list_, overlap)
    assert result == again
    return result.type if result else None


DUTY_OF = (
    "{} shall pay the rent to the landlord on the first business day of each calendar month.",
    "{}'s obligations under this guaranty are absolute and survive the end of the lease.",
)

DUE = "The rent of the premises is due in advance on the first day of every calendar month."

RENT = (
    "The Tenant shall pay to the lessor for the leased premises a rent of {} in advance, on the "
    "first business day of each month, without any deduction, to the account held at Leeds."
)

NUMBERINGS = [
    *("ARTICLE FOUR\n\n", "Section Four. ", "4A. ", "12B) ", "Exhibit A\n\n", "[4.1] ", "(iv)(b) "),
    *("## 4. ", "**4.1** ", "### 4.1 Rent\n\n", "<b>4.1</b> ", "<h2>4. Rent</h2>\n", "4\\. "),
    *("Schedule 2: ", "4.1.(a) ", "4-1. ", "§ 4-102. ", "[Section 4] ", "IV - ", "IV.1 ", "(4.) "),
    *("First. ", "Fourth: ", "4 - ", "4: ", "Sub-section 4.1: ", "Article 7bis. ", "A.1.2 ", "④ "),
    *("Rent; Payment. ", "4.1 Taxes; Insurance. ", "“Rent.” ", "**Rent.** ", "Part Two. "),
]

STARTS = st.sampled_from([*NUMBERINGS, "", "3. ", "(b) ", "1. Rent. "])
