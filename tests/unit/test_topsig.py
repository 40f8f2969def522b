"""TopSig: golden signatures, a second definition in plain Python, densities and weights."""

import json
import math
from collections import Counter
from pathlib import Path

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.hashing import GAMMA, MASK, gram_hashes, mix64
from indexer.fingerprinting.keys import hamming
from indexer.fingerprinting.normalise import encode
from indexer.fingerprinting.rare_terms import CorpusStatistics, count_features
from indexer.fingerprinting.simhash import (
    VECTORS,
    WEIGHTS,
    feature_weights,
    shake_projection,
    sparse_vectors,
    topsig,
)
from indexer.fingerprinting.tokens import character_grams
from indexer.recipe import recipe_named

ROOT = Path(__file__).parent.parent
GOLDEN = json.loads((ROOT / "golden/topsig.json").read_text())
TEXTS = [
    text
    for texts in json.loads((ROOT / "data/declaration.json").read_text()).values()
    for text in texts
]
DENSITY = {
    "paper_v1": lambda bits: bits**-0.5,
    "released_v1": lambda bits: 1 / 16 if bits <= 256 else 1 / 32,
}
DOCUMENTS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=30), min_size=1, max_size=6)


def grams(text: str) -> np.ndarray:
    return gram_hashes(encode(text), 4)


def corpus() -> CorpusStatistics:
    return count_features((grams(text) for text in TEXTS), "none/chars_v1/4")


@pytest.mark.parametrize(
    "vector", GOLDEN, ids=lambda v: f"{v['vectors']}-{v['weights']}-{v['bits']}"
)
def test_golden(vector: dict) -> None:
    signature = topsig(
        grams(TEXTS[0]), vector["bits"], corpus(), vector["vectors"], vector["weights"]
    )
    assert f"{signature:x}" == vector["signature"]


def by_hand(
    features: list[int],
    corpus_counts: Counter,
    corpus_length: int,
    bits: int,
    vectors: str,
    weights: str,
) -> int:
    """Return the signature by definition, with Python's own numbers."""
    limit = int(DENSITY[vectors](bits) * 2**32)
    sums = [0.0] * bits
    for feature, times in Counter(features).items():
        count, length = max(corpus_counts[feature], times), max(corpus_length, len(features))
        ratio = math.log((times / len(features)) / (count / length))
        tool = ratio * (times - 0.5) if ratio > 0 else times
        weight = {"frequency_v1": times, "log_ratio_v1": ratio, "log_ratio_tool_v1": tool}[weights]
        for place in range(bits):
            mixed = mix64(feature + (place + 1) * GAMMA & MASK)
            if mixed >> 32 < limit:
                sums[place] += round(weight * 2**20) * (1 if mixed & 1 else -1)
    return sum(1 << (bits - 1 - place) for place, total in enumerate(sums) if total > 0)


def test_the_recipe_signs_the_documented_example_as_documented() -> None:
    text = "The ferry sails at noon."
    octets = [text[start : start + 4].encode() for start in range(len(text) - 3)]
    features = [mmh3.hash64(gram, seed=0, signed=False)[0] for gram in octets]
    expected = by_hand(features, Counter(), 0, 64, "paper_v1", "frequency_v1")
    recipe = recipe_named("signature-study:topsig:64")
    assert fingerprint(text, recipe).simhash == expected
    documented = (ROOT.parent / "docs/schemes.md").read_text(encoding="utf-8")
    assert f'`signature-study:topsig:64` of "{text}" is {expected:016x}.' in documented


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("vectors", VECTORS)
@given(documents=DOCUMENTS, bits=st.sampled_from([16, 24, 64, 256]))
def test_signatures_are_as_defined(
    documents: list[list[int]], bits: int, vectors: str, weights: str
) -> None:
    arrays = [np.array(document, dtype=np.uint64) for document in documents]
    statistics = count_features(arrays[1:], "numbers")
    counts = Counter(feature for document in documents[1:] for feature in document)
    expected = by_hand(documents[0], counts, counts.total(), bits, vectors, weights)
    assert topsig(arrays[0], bits, statistics, vectors, weights) == expected


@pytest.mark.parametrize("vectors", VECTORS)
@pytest.mark.parametrize("bits", [16, 32, 64, 128, 256, 512, 1024])
def test_vectors_have_their_density_and_no_bias(bits: int, vectors: str) -> None:
    """40,000 entries or more; five standard deviations."""
    hashes = grams(" ".join(TEXTS))[: max(40, 40_000 // bits)]
    entries = sparse_vectors(np.unique(hashes), bits, vectors)
    chance = DENSITY[vectors](bits)
    assert abs(np.mean(entries != 0) - chance) < 5 * math.sqrt(chance / entries.size)
    assert abs(entries.sum(dtype=int)) < 5 * math.sqrt(np.count_nonzero(entries))


def test_a_negative_weight_counts() -> None:
    """A feature rarer here than in the corpus pulls its vector the other way."""
    statistics = count_features([np.repeat(np.array([1, 2], np.uint64), [90, 10])], "numbers")
    distinct, weights = feature_weights(np.array([1] + [2] * 9, dtype=np.uint64), statistics)
    assert distinct.tolist() == [1, 2]
    assert weights.tolist() == pytest.approx([math.log(0.1 / 0.9), math.log(0.9 / 0.1)])


@pytest.mark.long
@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_order_does_not_matter(features: list[int], random) -> None:
    shuffled = list(features)
    random.shuffle(shuffled)
    assert topsig(np.array(features, np.uint64), 64) == topsig(np.array(shuffled, np.uint64), 64)


def test_a_document_of_the_corpus_and_an_unseen_one_get_equal_weights_when_nothing_is_shared() -> (
    None
):
    features = np.array([5, 6, 6], dtype=np.uint64)
    _, unseen = feature_weights(features, CorpusStatistics("numbers"))
    _, alone = feature_weights(features, count_features([features], "numbers"))
    assert unseen.tolist() == alone.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_no_language_collapses(weights: str) -> None:
    statistics = corpus()
    signatures = [topsig(grams(text), 64, statistics, weights=weights) for text in TEXTS]
    assert len(set(signatures)) == len(TEXTS)
    edited = topsig(
        grams(TEXTS[0].replace("conscience", "judgement")), 64, statistics, weights=weights
    )
    assert hamming(signatures[0], edited) < min(
        hamming(signatures[0], signature) for signature in signatures[1:]
    )


def test_statistics_weigh_hash_projections_too() -> None:
    """The study's open question as a function: SHAKE for vectors, corpus statistics for weights."""
    text, statistics = TEXTS[0], corpus()
    distinct, weights = feature_weights(grams(text), statistics)
    weight = dict(zip(distinct.tolist(), weights.tolist(), strict=True))
    features = {gram.encode(): weight[int(grams(gram)[0])] for gram in character_grams(text, 4)}
    assert f"{shake_projection(features, 64):016x}" == "5923b17a6f9ecfeb"


def test_other_settings_are_refused() -> None:
    features = np.array([1], dtype=np.uint64)
    for bits in (8, 20, 2048):
        with pytest.raises(UsageError, match="16 to 1024"):
            topsig(features, bits)
    with pytest.raises(UsageError, match="paper_v1, released_v1"):
        topsig(features, 64, vectors="dense")
    with pytest.raises(UsageError, match="frequency_v1, log_ratio_v1, log_ratio_tool_v1"):
        topsig(features, 64, weights="idf")
    with pytest.raises(UsageError, match="need corpus statistics"):
        topsig(features, 64, weights="log_ratio_v1")
    with pytest.raises(ValueError, match="empty"):
        topsig(features[:0], 64)
