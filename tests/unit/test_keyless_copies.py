"""Copies without keys, too short, of numbers only or empty, under criteria: pairs if these hold."""

from dataclasses import replace

import pytest
from sample_library import library, rows

from indexer.comparing.criteria import Criteria, parse_windows
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.searching.similar import SimilarOptions, similar

DAY = 86_400_000_000_000
TEXTS = {
    "short": ("So it goes", "so  it GOES"),
    "numbers": ("12 34", "12  34"),
    "empty": ("", ""),
}
WINDOW = Criteria(window=parse_windows(["size=10"]))
DIFFER = Criteria(differ=("content_type",))
DISTINGUISH = Criteria("distinguish")


def stored(kind, apart, second=None):
    """Return a store of two copies: of sizes so far apart, of different types, if not 0."""
    first = TEXTS[kind][0]
    a, b = rows({"a": first, "b": TEXTS[kind][1] if second is None else second})
    raw = "same bytes" if kind == "empty" else ""
    content_type = "text/html" if apart else a.content_type
    others = rows({"y": "other words", "z": "99 98"})
    return library(
        [
            replace(a, raw=raw, size=100),
            replace(b, raw=raw, size=100 + apart, content_type=content_type),
            *others,
        ]
    )


def answers(store, criteria, measure="lcs"):
    """Return the pairs by `similar`, by `match` and by `group`, which must agree."""
    options = SimilarOptions(0.8, measure, criteria=criteria)
    found = {("a", hit.id) for hit in similar(store, options=options, id="a").matches}
    pairs = match(store, MatchOptions(0.8, measure=measure, criteria=criteria))
    matched = {(pair.a, pair.b) for pair in pairs}
    group(store, GroupOptions(0.8, measure, criteria=criteria))
    members = {(row.family, row.id) for row in store.scan() if row.family != row.id}
    assert found == matched == members
    return found


@pytest.mark.long
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("measure", ["lcs", "jaccard"])
@pytest.mark.parametrize(
    ("criteria", "apart", "are_pairs"),
    [
        (WINDOW, 0, True),
        (WINDOW, 5, True),
        (WINDOW, 50, False),
        (DIFFER, 5, True),
        (DIFFER, 0, False),
        (DISTINGUISH, 0, True),
    ],
)
def test_copies_are_pairs_if_the_criteria_hold(kind, measure, criteria, apart, are_pairs):
    assert answers(stored(kind, apart), criteria, measure) == ({("a", "b")} if are_pairs else set())


def test_copies_that_state_different_facts_are_none_if_these_are_distinguished():
    store = stored("numbers", 0, "-12 34")
    assert answers(store, DISTINGUISH) == set()
    assert similar(store, id="a").matches == ()
    assert list(match(store, MatchOptions(0.8))) == []
