"""Comparisons without approved passages, the same in every store."""

import random
from dataclasses import replace

from sample_library import fill, rows

from indexer.grouping.group import group
from indexer.grouping.match import MatchOptions, match
from indexer.system.approved_passages import NO_PASSAGES, ApprovedPassages

NOTICE = " ".join(f"n{random.Random(3).randrange(99) + place}" for place in range(60))
APPROVED = ApprovedPassages((NOTICE,))


def body(number: int, words: int = 40) -> str:
    draw = random.Random(number)
    return " ".join(f"w{draw.randrange(10**6)}" for _ in range(words))


TEXTS = {
    "a": f"{body(1)}\n\n{NOTICE}",
    "b": body(1),
    "c": f"{NOTICE}\n\n{body(2)}",
    "d": f"{NOTICE}\n\n{body(3)}",
    "e": f"{body(4)} {body(5, 4)}",
    "f": f"{body(4)}\n{NOTICE}\n{body(6, 4)}",
}


def pairs(store, approved: ApprovedPassages = NO_PASSAGES, **options) -> dict:
    result = match(store, MatchOptions(0.55, **options), leave_out=approved)
    return {(pair.a, pair.b): round(pair.similarity, 3) for pair in result}


def test_pairs_are_those_of_texts_without_the_passages(store):
    fill(store, rows(TEXTS))
    assert {("a", "c"), ("a", "d"), ("c", "d")} <= pairs(store).keys()
    expected = {("a", "b"): 1.0, ("e", "f"): 0.909}
    assert pairs(store, APPROVED) == pairs(store, APPROVED, all_pairs=True) == expected


def test_a_result_says_what_was_left_out(store):
    fill(store, rows(TEXTS))
    result = match(store, MatchOptions(0.8), leave_out=APPROVED)
    words = {(pair.a, pair.b): pair.left_out.words for pair in result}
    assert words == {("a", "b"): 60, ("e", "f"): 60}
    expected = f"1 approved passage (240 words) left out of 4 documents, by list {APPROVED.id}"
    assert list(result.notes())[-1] == expected
    assert match(store).omissions is None


def test_families_are_those_of_texts_without_the_passages(store):
    fill(store, rows(TEXTS))
    before = store.get(list(TEXTS))
    result = group(store, leave_out=APPROVED)
    assert (result.families, result.left_out.documents) == (2, 4)
    after = store.get(list(TEXTS))
    assert {id: row.family for id, row in after.items() if row.family != id} == {"b": "a", "f": "e"}
    fields = ("family", "principal", "similarity", "cluster", "provisional")
    for id, row in after.items():
        kept = {name: getattr(row, name) for name in fields}
        assert row == replace(before[id], **kept)
