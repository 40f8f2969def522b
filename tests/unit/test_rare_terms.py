"""Rare-term signatures: order, short texts, reliability, and keys with and without lost pairs."""

import json
import math
import random
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.rare_terms import (
    WAYS,
    CorpusStatistics,
    RareTerms,
    by_rarity,
    count_features,
    hash_key,
    length_bucket,
    lengths_agree,
    overlap,
    prefix,
    prefix_keys,
    rare_terms,
)
from indexer.fingerprinting.tokens import tokens

ROOT = Path(__file__).parent.parent
GOLDEN = json.loads((ROOT / "golden/rareterms.json").read_text())
TEXTS = {
    language: texts[0]
    for language, texts in json.loads((ROOT / "data/declaration.json").read_text()).items()
}
VOCABULARY = [f"w{number}" for number in range(200)]
SUCCESSORS = [  # the fuzzy pair of the paper's table 3
    (
        "This agreement enures to the benefit of and is binding on the parties hereto and their "
        "respective successors and assigns."
    ),
    "This agreement shall be binding upon, and enure to the benefit of, the parties, their "
    "legal representatives, successors "
    "and assigns.",
]


def zipf(seed: int = 1, documents: int = 300) -> CorpusStatistics:
    """Return statistics in which word i occurs in about one document of i."""
    generator = random.Random(seed)
    texts = [
        [word for rank, word in enumerate(VOCABULARY, 1) if generator.random() < 3 / (rank + 2)]
        for _ in range(documents)
    ]
    return count_features((string_hashes(text) for text in texts), "words")


STATISTICS = zipf()
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=120)


def signature(words: list[str], size: int = 30) -> RareTerms:
    return rare_terms(words, STATISTICS, size)


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: vector["name"])
def test_golden(vector: dict) -> None:
    statistics = count_features(
        (string_hashes(tokens(text, "v4")) for text in TEXTS.values()), "tokens_v4"
    )
    signature = rare_terms(tokens(vector["text"], "v4"), statistics, vector["size"])
    assert list(signature.entries) == vector["entries"]
    assert (signature.length, signature.distinct, signature.is_reliable) == (
        vector["length"],
        vector["distinct"],
        vector["reliable"],
    )
    assert list(prefix_keys(signature)) == vector["prefix_keys"]
    assert hash_key(tokens(vector["text"], "v4"), statistics) == vector["hash_key"]


@given(WORDS)
def test_rarest_first_and_distinct(words: list[str]) -> None:
    ranked = by_rarity(words, STATISTICS)
    holders = STATISTICS.holders(string_hashes(ranked)).tolist()
    assert holders == sorted(holders)
    assert sorted(ranked) == sorted(set(words))


@given(WORDS, st.randoms(use_true_random=False))
def test_one_order_for_all_texts(words: list[str], generator) -> None:
    shuffled = list(words)
    generator.shuffle(shuffled)
    assert by_rarity(shuffled, STATISTICS) == by_rarity(words, STATISTICS)


@given(WORDS, st.sampled_from([10, 30, 60]))
def test_padding_fills_the_vector_with_copies_of_own_terms(words: list[str], size: int) -> None:
    terms = signature(words, size)
    assert len(terms.entries) == len(set(terms.entries)) == size
    assert terms.entries[: len(terms.terms)] == terms.terms
    assert {entry.split("#")[0] for entry in terms.entries} == set(terms.terms)


@given(WORDS, WORDS, st.sampled_from(WAYS))
def test_overlap_is_symmetric_and_one_with_itself(
    left: list[str], right: list[str], way: str
) -> None:
    a, b = signature(left), signature(right)
    assert overlap(a, b, way) == overlap(b, a, way)
    assert 0 <= overlap(a, b, way) <= 1
    assert overlap(a, a, way) == 1.0


def test_the_three_ways_with_a_short_and_a_long_text() -> None:
    """12 terms all contained in a text of 40: only `shorter` calls that alike, when they are its
    rarest.
    """
    ranked = by_rarity(VOCABULARY[:40], STATISTICS)
    short, long = signature(ranked[:12]), signature(ranked)
    assert overlap(short, long, "unequal") == overlap(short, long, "padded") == 12 / 30
    assert overlap(short, long, "shorter") == 1.0


def test_unrelated_texts_of_twelve_terms_stay_apart_and_edited_ones_together() -> None:
    """Words drawn as they are in a language, the commonest in most texts; then one word of twelve
    exchanged.
    """
    generator = random.Random(5)
    words, weights = (
        [f"v{number}" for number in range(5000)],
        list(accumulate(1 / (rank + 2) for rank in range(5000))),
    )
    statistics = count_features(
        (string_hashes(generator.choices(words, cum_weights=weights, k=200)) for _ in range(300)),
        "words",
    )

    def text() -> list[str]:
        terms: dict[str, None] = {}
        while len(terms) < 12:
            terms.update(dict.fromkeys(generator.choices(words, cum_weights=weights)))
        return list(terms)

    shares = [
        overlap(rare_terms(text(), statistics), rare_terms(text(), statistics)) for _ in range(1000)
    ]
    assert sum(share < 0.2 for share in shares) / 1000 > 0.97
    assert sum(shares) / 1000 < 0.06
    for _ in range(200):
        original = text()
        edited = [f"new{generator.random()}", *generator.sample(original, 11)]
        assert overlap(rare_terms(original, statistics), rare_terms(edited, statistics)) >= 0.86


def test_unrelated_english_sentences_of_twelve_terms_stay_under_a_fifth() -> None:
    sentences = [
        "the tenant shall pay rent monthly without any deduction or set off",
        "our quarterly report shows revenue growth across every european market segment",
        "please water these plants twice weekly while we travel to spain",
        "a compiler translates source programs into efficient machine code for execution",
        "the committee of ministers adopted its budget for the coming fiscal year",
        "heavy snow closed several mountain roads and delayed trains to the north",
    ]
    for place, sentence in enumerate(sentences):
        for earlier in sentences[:place]:
            left, right = signature(sentence.split()), signature(earlier.split())
            assert left.is_reliable
            assert overlap(left, right) < 0.2


def test_the_papers_fuzzy_pair_is_near() -> None:
    left, right = (signature(tokens(text)) for text in SUCCESSORS)
    assert overlap(left, right, "shorter") > 0.6


@pytest.mark.parametrize(("count", "reliable"), [(0, False), (9, False), (10, True)])
def test_below_ten_terms_nothing_is_reliable_and_there_are_no_keys(
    count: int, reliable: bool
) -> None:
    terms = signature(VOCABULARY[:count] * 3)
    assert (terms.is_reliable, terms.distinct, terms.length) == (reliable, count, 3 * count)
    assert bool(prefix_keys(terms)) == reliable


@given(
    WORDS,
    st.sets(st.integers(0, 119)),
    st.lists(st.sampled_from([*VOCABULARY, "x1", "x2", "x3"]), max_size=12),
)
def test_prefix_keys_lose_no_pair(words: list[str], dropped: set[int], added: list[str]) -> None:
    """Any two texts of which one is an edit of the other: at .9 or above they share a key."""
    edited = [word for place, word in enumerate(words) if place not in dropped or place % 3] + added
    assume(edited)
    left, right = signature(words), signature(edited)
    for threshold in (0.9, 0.8, 0.5):
        if left.is_reliable and right.is_reliable and overlap(left, right) >= threshold:
            assert set(prefix_keys(left, threshold)) & set(prefix_keys(right, threshold))


@given(
    st.sets(st.integers(0, 60), min_size=1),
    st.sets(st.integers(0, 60), min_size=1),
    st.sampled_from([0.3, 0.5, 0.7, 0.8, 0.9, 1.0]),
)
def test_prefixes_of_any_ordered_sets_lose_no_pair(
    left: set[int], right: set[int], threshold: float
) -> None:
    """Unequal sizes too: common entries counted over the longer vector, and over the n first of
    each.
    """
    left_entries, right_entries = (
        [f"{number:02d}" for number in sorted(numbers)] for numbers in (left, right)
    )
    shared = min(len(left_entries), len(right_entries))
    for first, second in (
        (left_entries, right_entries),
        (left_entries[:shared], right_entries[:shared]),
    ):
        if len(set(first) & set(second)) >= threshold * max(len(first), len(second)):
            assert set(prefix(left_entries, threshold)) & set(prefix(right_entries, threshold))


def test_prefixes_are_no_longer_than_need_be() -> None:
    """One entry fewer, and a pair at the threshold is lost."""
    terms = [f"{number:02d}" for number in range(30)]
    right = [*terms[3:], "90", "91", "92"]
    assert len(set(terms) & set(right)) == 27
    assert len(prefix(terms, 0.9)) == 4
    assert not set(terms[:3]) & set(right[:3])
    assert set(prefix(terms, 0.9)) & set(prefix(right, 0.9)) == {"03"}


@pytest.mark.parametrize("size", [10, 20, 30, 50, 60])
def test_thresholds_are_decimals_not_binary_fractions(size: int) -> None:
    assert len(prefix([str(number) for number in range(size)], 0.9)) == size - 9 * size // 10 + 1


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.sampled_from([0.1, 0.2, 0.5]))
def test_length_buckets_lose_no_pair(length: int, other_length: int, tolerance: float) -> None:
    other_length = max(
        1,
        int(length * (1 - tolerance))
        + other_length % max(1, int(length * tolerance / (1 - tolerance)) + 2),
    )
    if lengths_agree(length, other_length, tolerance):
        assert abs(length_bucket(length, tolerance) - length_bucket(other_length, tolerance)) <= 1


def test_length_buckets_at_their_edges() -> None:
    for length in range(1, 2000):
        bucket = length_bucket(length)
        assert 5**bucket <= length * 4**bucket < length * 4**bucket + 1
        assert length * 4 ** (bucket + 1) < 5 ** (bucket + 1)
        assert abs(length_bucket(math.ceil(length * 4 / 5)) - bucket) <= 1


def test_hash_key_keeps_equal_texts_and_loses_some_edited_ones() -> None:
    words = random.Random(2).choices(VOCABULARY, k=80)
    assert hash_key(words, STATISTICS) == hash_key(list(words), STATISTICS)
    rarest = by_rarity(words, STATISTICS)[0]
    assert hash_key([word for word in words if word != rarest], STATISTICS) != hash_key(
        words, STATISTICS
    )
    assert hash_key([*words[40:], *words[:40]], STATISTICS) != hash_key(words, STATISTICS)


def test_other_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 10"):
        rare_terms(["a"], STATISTICS, 9)
    with pytest.raises(UsageError, match="padded, shorter, unequal"):
        overlap(signature(["a"]), signature(["a"]), "best")
    with pytest.raises(UsageError, match="30 and 60"):
        overlap(signature(["a"], 30), signature(["a"], 60))
    with pytest.raises(ValueError, match="empty"):
        hash_key([], STATISTICS)
