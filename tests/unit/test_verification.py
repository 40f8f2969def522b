"""Verification of pairs of texts.

Exact measures at the threshold, and pairs ruled out by parity maps.
"""

from itertools import combinations

import pytest
from sample_library import edited, library, rows, sentence

from indexer.comparing.criteria import Criteria
from indexer.grouping import verification
from indexer.grouping.collection import gather
from indexer.grouping.verification import Verifier
from indexer.recipe import DEFAULT

MADE = [edited(sentence(seed), edits) for seed in range(4) for edits in range(0, 40, 3)]


@pytest.fixture(name="collected")
def collected_fixture():
    store = library(rows({str(place): text for place, text in enumerate(MADE)}))
    yield store, gather(store.scan(), DEFAULT, len(MADE))
    store.close()


@pytest.mark.parametrize("least", [0.05, 0.3, 0.5, 0.8, 0.95, 1.0])
def test_pairs_at_the_threshold_are_measured_exactly(collected, least):
    store, collection = collected
    pairs = list(combinations(range(len(collection.documents)), 2))
    exact = Verifier(store, collection, "jaccard").measure_pairs(pairs)
    bounded = Verifier(store, collection, "jaccard").measure_pairs(pairs, least)
    assert all(
        value == exact_value or (value == 0 and exact_value < least)
        for exact_value, value in zip(exact, bounded, strict=True)
    )


def test_few_pairs_below_the_threshold_are_measured(collected, monkeypatch):
    store, collection = collected
    pairs = list(combinations(range(len(collection.documents)), 2))
    exact = Verifier(store, collection, "jaccard").measure_pairs(pairs)
    measured, jaccard = [], verification.jaccard
    monkeypatch.setattr(verification, "jaccard", lambda a, b: measured.append(1) or jaccard(a, b))
    Verifier(store, collection, "jaccard").measure_pairs(pairs, 0.8)
    similar = sum(value >= 0.8 for value in exact)
    assert 0 < similar <= len(measured) < len(pairs) / 4


def test_other_measures_are_not_ruled_out_by_features(collected):
    store, collection = collected
    pairs = list(combinations(range(6), 2))
    verifier = Verifier(store, collection, "overlap")
    assert verifier.measure_pairs(pairs, 0.99) == verifier.measure_pairs(pairs)


@pytest.mark.parametrize("measure", ["lcs", "jaccard"])
def test_texts_that_were_read_ahead_are_not_read_again(collected, monkeypatch, measure):
    store, collection = collected
    pairs = list(combinations(range(len(collection.documents)), 2))
    expected = Verifier(store, collection, measure).measure_pairs(pairs)
    verifier = Verifier(store, collection, measure)
    verifier.read_ahead(pairs)
    monkeypatch.setattr(store, "get", lambda ids: pytest.fail("read again"))
    assert verifier.measure_pairs(pairs) == expected


def test_the_nearest_text_is_found_without_the_criteria_of_texts_after_it(monkeypatch):
    texts = [
        f"{sentence(seed)} {edited(sentence(9), edits)} It costs {price} euros, due on {day} May."
        for seed in (1, 2)
        for edits in (0, 2, 4)
        for price in (40, 50)
        for day in (3, 4)
    ]
    store = library(rows({f"{number:02}": text for number, text in enumerate(texts)}))
    criteria = Criteria("changed", policy="standard", replaced=2)
    collection = gather(store.scan(), DEFAULT, len(texts), criteria=criteria)
    verifier, compared = Verifier(store, collection, "lcs"), []
    accepts_each, count, joined = verifier.accepts_each, len(texts), []

    def count_pairs(pairs: list[tuple[object, object]], **options: bool) -> list[bool]:
        compared.extend(pairs)
        return accepts_each(pairs, **options)

    for text in range(count):
        others = [other for other in range(count) if other != text]
        values = verifier.measure_with(text, others, 0.5)
        with monkeypatch.context() as patch:
            patch.setattr(verifier, "accepts_each", count_pairs)
            found = verifier.measure_nearest(text, others, 0.5)
        nearest = max(values) if max(values) >= 0.5 else 0.0
        joined.append(nearest > 0)
        assert max(found) == nearest
        assert not nearest or found.index(nearest) == values.index(nearest)
    assert any(joined) and not all(joined)
    assert 0 < len(compared) < count * (count - 1)
    store.close()
