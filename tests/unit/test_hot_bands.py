"""The estimate of pairs that a cap left out: bias, interval, determinism."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from sample_library import edited, library, rows, sentence, true_pairs

from indexer.fingerprinting.keys import band_hashes
from indexer.grouping.candidates import SAMPLE_SIZE, FrequentBands, Join
from indexer.grouping.match import MatchOptions, match

BANDS, ROWS = 4, 2


def left_out(slots, cap):
    """Return pairs that a cap leaves out, by brute force.

    Every band such a pair shares is hot and has its centre elsewhere; the value is the number of
    these bands.
    """
    carriers = defaultdict(list)
    for document, keys in enumerate(band_hashes(slots, BANDS, ROWS).tolist()):
        for band, key in enumerate(keys):
            carriers[band, key].append(document)
    looked_at, bands_by_pair = set(), defaultdict(int)
    for documents in carriers.values():
        for pair in combinations(documents, 2):
            if len(documents) <= cap or documents[0] in pair:
                looked_at.add(pair)
            else:
                bands_by_pair[pair] += 1
    return {pair: bands for pair, bands in bands_by_pair.items() if pair not in looked_at}


def random_sample(slots, cap):
    join = Join(slots, BANDS, ROWS, np.arange(len(slots)), cap)
    for _ in join.blocks():
        pass
    return join


def test_weights_count_the_bands_in_which_a_pair_was_left_out():
    slots = np.random.default_rng(5).integers(0, 3, (80, BANDS * ROWS)).astype(np.uint32)
    join = random_sample(slots, 8)
    truth = left_out(slots, 8)
    pairs = list(zip(*map(np.ndarray.tolist, join.frequent.ends), strict=True))
    assert join.frequent.weights().tolist() == [
        1 / truth[pair] if pair in truth else 0.0 for pair in pairs
    ]
    assert join.frequent.pairs == join.capped.pairs and 0 < len(truth) < join.capped.pairs


def test_pairs_are_sampled_with_equal_chance():
    """Two hot bands of unlike size: each pair of either comes as often as any other, by a
    chi-square bound.
    """
    counts = np.zeros((90, 90))
    for salt in range(60):
        hot = FrequentBands(np.zeros((90, 2), np.uint32), 1, 2)
        hot.add(0, 1 + salt, 89, np.arange(30, dtype=np.int32))
        hot.add(0, 1000 + salt, 88, np.arange(30, 80, dtype=np.int32))
        np.add.at(counts, hot.ends, 1)
    a, b = (
        np.array(side)
        for side in zip(*combinations(range(30), 2), *combinations(range(30, 80), 2), strict=True)
    )
    seen = counts[a, b]
    expected = 60 * SAMPLE_SIZE / len(a)
    assert counts.sum() == seen.sum() == 60 * SAMPLE_SIZE
    assert ((seen - expected) ** 2 / expected).sum() < len(a) + 6 * np.sqrt(2 * len(a))


def test_where_few_were_left_out_all_of_them_are_looked_at():
    hot = FrequentBands(np.zeros((40, 2), np.uint32), 1, 2)
    hot.add(0, 1, 39, np.arange(9, -1, -1, dtype=np.int32))
    hot.add(0, 2, 38, np.arange(10, 30, dtype=np.int32))
    every = [*combinations(range(10), 2), *combinations(range(10, 30), 2)]
    assert sorted(zip(*map(np.ndarray.tolist, hot.ends), strict=True)) == every
    is_similar, weights = np.arange(len(every)) < 7, np.ones(len(every))
    missed = hot.missed(0.5, is_similar, weights)
    assert (missed.sampled, missed.found, missed.low, missed.estimate, missed.high) == (
        len(every),
        7,
        7,
        7,
        7,
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_holds_the_truth(seed):
    slots = np.random.default_rng(seed).integers(0, 3, (120, BANDS * ROWS)).astype(np.uint32)
    join = random_sample(slots, 8)
    truth = left_out(slots, 8)
    near = {pair for pair in truth if (slots[pair[0]] == slots[pair[1]]).sum() >= 5}
    pairs = zip(*map(np.ndarray.tolist, join.frequent.ends), strict=True)
    missed = join.frequent.missed(
        5 / 8, np.array([pair in near for pair in pairs]), join.frequent.weights()
    )
    assert missed.low <= len(near) <= missed.high and missed.sampled == SAMPLE_SIZE
    assert missed.low <= missed.estimate <= missed.high < len(truth)


@pytest.mark.parametrize("count", [45, 12])
def test_a_pair_that_is_left_out_is_counted_and_a_higher_cap_finds_it(count):
    texts_by_id = {
        f"{place:03}": edited(sentence(1, 60), 12, f"m{place}-") for place in range(count)
    }
    store = library(rows(texts_by_id))
    capped, uncapped = (match(store, MatchOptions(threshold=0.7, cap=cap)) for cap in (5, 1000))
    truth = true_pairs(texts_by_id, 0.7)
    missed = capped.capped.missed
    left_out_pairs = len({(pair.a, pair.b) for pair in uncapped} & truth.keys()) - len(
        {(pair.a, pair.b) for pair in capped} & truth.keys()
    )
    assert missed is not None and left_out_pairs > 0 and missed.low <= left_out_pairs <= missed.high
    assert missed.sampled == min(SAMPLE_SIZE, capped.capped.pairs)
    assert (
        f"sample of {missed.sampled:,}" if count == 45 else f"all {missed.sampled:,} of these"
    ) in " ".join(capped.notes())
    assert uncapped.capped.missed is None and len(uncapped) >= len(capped)
    assert match(store, MatchOptions(threshold=0.7, cap=5)).capped == capped.capped


def test_pairs_that_were_not_requested_are_not_missed():
    texts_by_id = {f"{place:03}": edited(sentence(1, 60), 12, f"m{place}-") for place in range(45)}
    store = library(rows(texts_by_id, labels={id: ["known"] for id in texts_by_id}))
    assert (
        match(store, MatchOptions(threshold=0.7, cap=5, against="known")).capped.missed.estimate
        == 0
    )
