"""Texts of numbers alone are compared as others are, and folded under equal ones only."""

import random

import pytest
from sample_library import rows

from indexer.comparing.criteria import Criteria
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar


def ledger(seed, lines=40, changed=()):
    """Return lines of a date, an account and an amount; those `changed` have another amount."""
    chance = random.Random(seed)
    table = [
        f"2024-{1 + line % 12:02}-{chance.randrange(1, 28):02};{chance.randrange(1000, 9999)};"
        f"{chance.randrange(100, 99_999)}.{chance.randrange(100):02}"
        for line in range(lines)
    ]
    return "\n".join(f"{line}1" if place in changed else line for place, line in enumerate(table))


TEXTS = {
    "a": ledger(1),
    "b": ledger(1, changed=[20]),  # one line of forty
    "c": ledger(1).replace(";", "\t"),  # the same numbers
    "d": ledger(2),
}


@pytest.fixture
def ledgers(store):
    documents = rows(TEXTS)
    assert {row.status for row in documents} == {"numbers_only"}
    assert store.write(documents) == [None] * 4
    store.refresh()
    return store


@pytest.mark.parametrize("measure", ["lcs", "jaccard"])
def test_tables_that_differ_in_a_line_are_pairs_to_review(ledgers, measure):
    for complete in (False, True):
        pairs = match(ledgers, MatchOptions(0.9, measure=measure, all_pairs=complete))
        assert {(pair.a, pair.b) for pair in pairs} == {("a", "b"), ("a", "c"), ("b", "c")}
    found = similar(ledgers, options=SimilarOptions(0.9, measure=measure), id="b").matches
    assert {hit.id for hit in found} == {"a", "c"}
    assert all(0.9 < hit.similarity < 1 for hit in found)


def families(store, **options):
    group(store, GroupOptions(0.9, **options))
    store.refresh()
    return {row.id: row.family for row in store.scan()}


def folded(store, **options):
    page = search(store, "", SearchOptions(threshold=0.9, sort="path", fold="live", **options))
    return {hit.id: [member.id for member in hit.folded] for hit in page.hits}


def test_folding_hides_equal_tables_only(ledgers):
    assert families(ledgers) == {"a": "a", "b": "b", "c": "a", "d": "d"}
    assert folded(ledgers) == {"a": ["c"], "b": [], "d": []}


def test_folding_hides_similar_tables_if_asked_to(ledgers):
    asked = {"criteria": Criteria(numbers="ignore")}
    assert families(ledgers, **asked) == {"a": "a", "b": "a", "c": "a", "d": "d"}
    assert folded(ledgers, **asked) == {"a": ["c", "b"], "d": []}


def test_numbers_that_differ_are_no_pair_if_they_are_distinguished(ledgers):
    criteria = Criteria(numbers="distinguish")
    pairs = match(ledgers, MatchOptions(0.9, criteria=criteria))
    assert {(pair.a, pair.b) for pair in pairs} == {("a", "c")}
