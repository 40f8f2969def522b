"""Audits of synthetic stores whose misses brute force knows: without bias, with intervals that hold
as often as stated.
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows, true_pairs

from indexer.defaults import RECALL
from indexer.errors import UsageError
from indexer.grouping.audit import (
    RULED_OUT,
    Stratum,
    allot,
    audit_strata,
    count_bounds,
    distinct_indexes,
)
from indexer.grouping.match import MatchOptions, MatchResult, match
from indexer.recipe import recipe_named

LITTLE = 0.5  # a planned recall at which many pairs are missed


def synthetic_families(seed: int, families: int = 60, size: int = 4) -> dict[str, str]:
    """Families of texts with edits of every strength, so that similarities lie on both sides of any
    threshold.
    """
    chance = random.Random(seed)
    vocabulary = [
        "".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(3, 9)))
        for _ in range(3000)
    ]
    texts: dict[str, str] = {}
    for family in range(families):
        original = chance.choices(vocabulary, k=60)
        for member in range(size):
            share = chance.choice([0.01, 0.03, 0.06, 0.1]) if member else 0
            words = [
                chance.choice(vocabulary) if chance.random() < share else word for word in original
            ]
            words[member] = (
                f"mark{member}"  # no two texts are copies: an audit counts pairs of distinct texts
            )
            texts[f"{family:03}-{member}"] = " ".join(words)
    return texts


def pair_ids(matched: MatchResult) -> set[tuple[str, str]]:
    return {(pair.a, pair.b) for pair in matched}


@pytest.mark.long
@pytest.mark.parametrize(
    ("threshold", "seed"), [(0.8, 1), pytest.param(0.6, 2, marks=pytest.mark.slow)]
)
def test_the_estimate_has_no_bias_and_the_interval_its_coverage(
    threshold: float, seed: int
) -> None:
    texts = synthetic_families(seed)
    store, truth = library(rows(texts)), true_pairs(texts, threshold)
    listed_pairs = {
        (audit.a, audit.b)
        for audit in match(store, MatchOptions(threshold=threshold, recall=LITTLE))
    }
    recall = len(listed_pairs & truth.keys()) / len(truth)
    assert 0.3 < recall < 0.97
    audits = [
        match(
            store,
            MatchOptions(threshold=threshold, recall=LITTLE, audit=80, seed=1000 * draw),
        ).audit
        for draw in range(25)
    ]
    missed = [audit.missed for audit in audits]
    error = statistics.stdev(missed) / math.sqrt(len(missed))
    assert abs(statistics.mean(missed) - len(truth.keys() - listed_pairs)) < 3 * error + 1e-9
    covered = sum(audit.low <= recall <= audit.high for audit in audits) / len(audits)
    assert covered >= 0.88
    assert statistics.mean(audit.high - audit.low for audit in audits) < 0.35
    spread = statistics.mean(audit.error for audit in audits if audit.error)
    assert spread == pytest.approx(statistics.stdev(audit.recall for audit in audits), rel=0.5)
    assert all(audit.floor <= audit.low for audit in audits)


@pytest.mark.slow
def test_intervals_hold_over_many_stores() -> None:
    covered = trials = 0
    for seed in range(10, 22):
        texts = synthetic_families(seed, families=25)
        store, truth = library(rows(texts)), true_pairs(texts, 0.7)
        listed_pairs = {
            (pair.a, pair.b)
            for pair in match(store, MatchOptions(threshold=0.7, recall=LITTLE, exact=True))
        }
        for draw in range(3):
            audit = match(
                store,
                MatchOptions(threshold=0.7, recall=LITTLE, exact=True, audit=40, seed=draw * 77),
            ).audit
            covered += audit.low <= len(listed_pairs) / len(truth) <= audit.high
            trials += 1
    assert covered / trials >= 0.85


def test_an_audit_of_all_pairs_is_exact() -> None:
    texts = synthetic_families(3, families=8)
    store, truth = library(rows(texts)), true_pairs(texts, 0.7)
    matched = match(store, MatchOptions(threshold=0.7, recall=LITTLE, audit=10_000))
    listed_pairs = {(pair.a, pair.b) for pair in matched}
    audit = matched.audit
    assert audit.missed == len(truth.keys() - listed_pairs)
    assert audit.recall == pytest.approx(len(listed_pairs & truth.keys()) / len(truth))
    assert (audit.error, audit.low, audit.high) == (
        0,
        pytest.approx(audit.recall),
        pytest.approx(audit.recall),
    )
    assert sum(pair.size for pair in audit.strata) == len(texts) * (len(texts) - 1) // 2


def test_distant_pairs_are_sampled_and_counted_when_they_are_similar() -> None:
    """Sketches never put near duplicates far apart in real life: the sum is tested on strata made
    by hand.
    """
    near, far = (
        Stratum("near", 100, 50, 10, 0.3, False),
        Stratum("far", 10_000, 100, 0, 0.0, False, placed=False),
    )
    measured = Stratum("measured", 200, 200, 200, 1.0, True)
    trusting = audit_strata(0.8, [measured, near, far])
    assert (trusting.right, trusting.missed, trusting.recall) == (200, 20, pytest.approx(200 / 220))
    assert trusting.low < trusting.recall < trusting.high
    assert trusting.floor < 0.4 < trusting.low
    surprised = audit_strata(
        0.8, [measured, near, Stratum("far", 10_000, 100, 1, 0.0, False, placed=False)]
    )
    assert surprised.missed == 120
    assert surprised.low < 0.5 < surprised.high


def test_the_variance_by_hand() -> None:
    sampled = Stratum("s", 100, 20, 5, 0.2, False)
    assert (sampled.total, sampled.variance) == (25, pytest.approx(100**2 * 0.8 * 0.25 * 0.75 / 19))
    audit = audit_strata(0.8, [Stratum("m", 75, 75, 75, 1.0, True), sampled])
    assert audit.recall == 0.75
    assert audit.error == pytest.approx(75 * math.sqrt(sampled.variance) / 100**2)


def test_an_empty_store_and_one_without_duplicates() -> None:
    store = library(
        rows({"a": "one text of some words alone", "b": "quite another lot with nothing shared"})
    )
    matched = match(store, MatchOptions(threshold=0.8, audit=20))
    assert matched.audit.recall is None
    assert "there was nothing to find" in " ".join(matched.notes())
    alone = match(
        library(rows({"a": "one text of some words alone"})), MatchOptions(threshold=0.8, audit=20)
    )
    assert alone.audit.missed == 0 and "no two different texts" in " ".join(alone.notes())


def test_the_summary_claims_no_more_than_was_verified() -> None:
    measured, far = (
        Stratum("measured", 3, 3, 3, 1.0, True),
        Stratum("far", 32, 32, 0, 0.0, False, placed=False),
    )
    [every] = audit_strata(
        0.8, [measured, Stratum("near", 1, 1, 1, 0.9, False), far], "lcs"
    ).sentences()
    assert every == (
        "audit: all 36 pairs of different texts are verified; 1 pair of texts is at 0.8 or "
        "above by lcs and not listed: recall 75.0%"
    )
    sampled = Stratum("far", 50_000, 300, 0, 0.0, False, placed=False)
    [nothing] = audit_strata(0.99, [Stratum("measured", 0, 0, 0, 1.0, True), sampled]).sentences()
    assert (
        "300 of 50,000" in nothing
        and "far apart; by this random sample alone 609 may still do so" in nothing
    )
    first, second = audit_strata(0.8, [measured, sampled]).sentences()
    assert "about 0 pairs of texts are" in first and "0 of 300 pairs sampled from 50,000" in second
    assert "recall of pairs of different texts 100.0% (95 % interval 74.3% to 100.0%)" in first
    assert "one in 10,000 of those at 0.8 lies there" in second


def test_no_interval_is_a_point_unless_all_pairs_are_verified() -> None:
    measured = Stratum("measured", 1000, 1000, 1000, 1.0, True)
    unsampled = Stratum("near", 50, 0, 0, 0.2, False)
    without_finds = Stratum("near", 500, 100, 0, 0.2, False)
    always_found = Stratum("near", 500, 100, 100, 0.8, False)
    rare = Stratum("rare", 1_000_000, 10, 0, 1e-6, False)
    far = Stratum("far", 10**6, 25, 0, 0.0, False, placed=False)
    for part in (unsampled, without_finds, always_found, rare, far):
        audit = audit_strata(0.8, [measured, part])
        assert audit.floor <= audit.low < audit.high and audit.low <= audit.recall <= audit.high
    trusting = audit_strata(0.8, [measured, rare])
    assert trusting.floor < 0.01 < 0.99 < trusting.low
    surprised = audit_strata(0.8, [measured, Stratum("rare", 1_000_000, 10, 1, 1e-6, False)])
    assert surprised.low < 0.01


@given(st.integers(1, 60), st.data())
def test_bounds_of_a_count_hold_in_95_of_100_samples(size: int, data: st.DataObject) -> None:
    sampled = data.draw(st.integers(0, size))
    count = data.draw(st.integers(0, size))
    held = 0.0
    for found in range(max(0, sampled - size + count), min(sampled, count) + 1):
        low, high = count_bounds(size, sampled, found)
        assert found <= low <= high <= size - sampled + found
        ways = math.comb(count, found) * math.comb(size - count, sampled - found)
        held += ways / math.comb(size, sampled) * (low <= count <= high)
    assert held >= 0.95 - 1e-9


@pytest.mark.long
@pytest.mark.parametrize(
    "recipe_name", [pytest.param("default_v1", marks=pytest.mark.slow), "default_v2"]
)
def test_intervals_hold_for_words_in_order(recipe_name: str) -> None:
    texts = synthetic_families(5)
    recipe = recipe_named(recipe_name)
    store = library(rows(texts, recipe), recipe)
    options = MatchOptions(threshold=0.8, recall=LITTLE, measure="lcs")
    truth = pair_ids(match(store, replace(options, all_pairs=True)))
    recall = len(pair_ids(match(store, options)) & truth) / len(truth)
    assert 0.3 < recall < 0.97
    audits = [
        match(store, replace(options, audit=80, seed=1000 * draw)).audit for draw in range(20)
    ]
    covered = sum(audit.low <= recall <= audit.high for audit in audits)
    assert covered >= 0.9 * len(audits)
    assert statistics.mean(audit.recall for audit in audits) == pytest.approx(recall, abs=0.05)
    assert statistics.mean(audit.high - audit.low for audit in audits) < 0.6
    assert {audit.measure for audit in audits} == {"lcs"}
    whole = match(store, replace(options, audit=100_000)).audit
    assert (whole.recall, whole.low, whole.high) == pytest.approx((recall, recall, recall))
    assert any(part.name == RULED_OUT and part.size for part in whole.strata)


def test_strata_hold_every_pair_once_where_bands_would_take_too_many() -> None:
    texts = synthetic_families(6, families=6)
    store = library(rows(texts))
    for measure, threshold in (("containment", 0.8), ("terminology", 0.5), ("lcs", 0.3)):
        options = MatchOptions(threshold=threshold, measure=measure, audit=100_000)
        audit = match(store, options).audit
        assert sum(part.size for part in audit.strata) == len(texts) * (len(texts) - 1) // 2
        assert (audit.low, audit.high) == (audit.recall, audit.recall)


def test_a_hot_band_is_not_put_far_apart() -> None:
    texts = synthetic_families(7, families=1, size=30)
    store = library(rows(texts))
    capped = match(store, MatchOptions(threshold=0.6, cap=2, exact=True, audit=10_000))
    whole = match(store, MatchOptions(threshold=0.6, all_pairs=True))
    assert len(capped) < len(whole)
    assert capped.audit.strata[-1].found == 0
    assert capped.audit.missed == len(whole) - len(capped)


def test_bands_as_those_of_groups_miss_less() -> None:
    store = library(rows(synthetic_families(1)))
    few, many = (
        match(store, MatchOptions(threshold=0.8, audit=200, **bands)).audit
        for bands in ({"recall": LITTLE}, {"recall": RECALL})
    )
    assert few.recall < 0.95 < 0.99 < many.recall


def test_what_cannot_be_audited() -> None:
    store = library(rows(synthetic_families(4, families=2)))
    for wrong in (
        {"all_pairs": True},
        {"contained": True},
        {"new": True},
        {"against": "x"},
        {"measure": "hamming"},
    ):
        with pytest.raises(UsageError, match="--audit"):
            match(store, MatchOptions(audit=50, **wrong))
    with pytest.raises(UsageError, match="20 pairs or more"):
        match(store, MatchOptions(audit=5))


def test_samples_are_spread_over_strata_and_differ() -> None:
    assert allot([10, 0, 5], [0.5, 0.5, 0.5], 100) == [10, 0, 5]
    assert sum(allot([1000, 1000, 1000], [0.5, 0.1, 0.0], 100)) == 100
    for number, among in ((5, 6), (50, 60), (50, 10_000), (0, 0)):
        numbers = distinct_indexes(number, among, 3).tolist()
        assert len(set(numbers)) == len(numbers) == number
        assert all(0 <= place < among for place in numbers)
    times = [0] * 10
    for seed in range(3000):
        for place in distinct_indexes(3, 10, seed * 13).tolist():
            times[place] += 1
    assert all(800 < count < 1000 for count in times)
