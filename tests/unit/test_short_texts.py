"""Keys of short texts: no pair of which one is short is missed, and few others share one."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.fingerprinting.hashing import number_occurrences, string_hashes
from indexer.grouping.candidates import ShortTexts
from indexer.grouping.words_in_common import FEW_WORDS, max_words, short_keys
from indexer.system.external_memory import MemoryBudget, SpillFiles, decode_pair

texts = st.lists(st.lists(st.sampled_from("abcdefghijkl"), max_size=24), max_size=20)
thresholds = st.sampled_from([0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]) | st.floats(0.1, 1.0)


def occurrences(words):
    return number_occurrences(string_hashes(words))


def pairs_of(words_of_texts, threshold, cap=10**9, budget=None):
    rank = np.arange(len(words_of_texts))
    join = ShortTexts(threshold, rank, cap, budget or MemoryBudget())
    for text, words in enumerate(words_of_texts):
        if len(words) <= max_words(threshold):
            join.put(text, occurrences(words))
    left, right = decode_pair(join.pairs())
    return list(zip(left.tolist(), right.tolist(), strict=True)), join.capped


@given(texts, thresholds)
def test_no_pair_with_a_short_text_is_missed(words_of_texts, threshold):
    pairs, _ = pairs_of(words_of_texts, threshold)
    assert pairs == sorted(set(pairs)) and all(a < b for a, b in pairs)
    for a, b in combinations(range(len(words_of_texts)), 2):
        left, right = words_of_texts[a], words_of_texts[b]
        common = (Counter(left) & Counter(right)).total()
        is_short = min(len(left), len(right)) < FEW_WORDS
        if is_short and common >= max(threshold * max(len(left), len(right)) - 1e-9, 1):
            assert (a, b) in pairs


@given(texts)
def test_at_the_default_threshold_texts_below_ten_words_share_keys_only_if_words(words_of_texts):
    for a, b in pairs_of(words_of_texts, 0.8)[0]:
        left, right = words_of_texts[a], words_of_texts[b]
        longer = max(len(left), len(right))
        if longer < 10:
            assert (Counter(left) & Counter(right)).total() >= 0.8 * longer


@given(texts, st.sampled_from([0.5, 0.8]))
def test_memory_makes_no_difference(words_of_texts, threshold):
    with_files = pairs_of(words_of_texts, threshold, budget=SpillFiles(1))
    assert with_files == pairs_of(words_of_texts, threshold)


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_a_text_has_hundreds_of_keys_at_most(threshold):
    for length in range(1, max_words(threshold) + 1):
        keys = short_keys(np.arange(length, dtype=np.uint64)[None], threshold)
        assert 1 <= keys.shape[1] <= 900
        if threshold >= 0.8 and length < 10:
            assert keys.shape[1] <= 10


def test_a_key_of_more_texts_than_the_cap_pairs_them_with_the_first():
    words_of_texts = [["a", "b", "c", "d", str(number)] for number in range(20)]
    pairs, capped = pairs_of(words_of_texts, 0.8, cap=5)
    assert pairs == [(0, number) for number in range(1, 20)]
    assert (capped.keys, capped.largest, capped.pairs) == (1, 20, 19 * 18 / 2)
