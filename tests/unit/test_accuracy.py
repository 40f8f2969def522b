"""Errors of the sketches against exact Jaccard similarity, within bounds."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.fingerprinting.fingerprint import Fingerprints, fingerprints
from indexer.fingerprinting.hashing import gram_hashes
from indexer.fingerprinting.minhash import fast_similarity_sketch, wilson
from indexer.fingerprinting.normalise import normalised_codes
from indexer.recipe import DEFAULT_V1

SLOTS, PAIRS = 128, 1200
# (features in both, features in one only, RMSE / theory that Fast Similarity Sketching reaches)
SHAPES = {
    "tiny": (24, 6, 0.72),
    "short": (240, 40, 0.83),
    "long": (2400, 300, 0.96),
    "apart": (100, 200, 0.865),
    "same": (300, 0, 0.0),
}
TOLERANCE = 1.05


@cache
def sketch_pairs(shape: str) -> tuple[float, NDArray[np.bool_]]:
    """Return exact similarities, and the slots that agree for many pairs of sets.

    (pairs, slots).
    """
    both, apart, _ = SHAPES[shape]
    rng = np.random.default_rng(both)
    agree = np.empty((PAIRS, SLOTS), dtype=np.bool_)
    for pair in range(PAIRS):
        features = rng.integers(0, 2**64, both + 2 * apart, dtype=np.uint64)
        left, right = (
            features[: both + apart],
            np.concatenate([features[:both], features[both + apart :]]),
        )
        agree[pair] = fast_similarity_sketch(left, SLOTS) == fast_similarity_sketch(right, SLOTS)
    return both / (both + 2 * apart), agree


def excess(similarity: float, agree: NDArray[np.bool_]) -> float:
    """Return the root mean square error over sqrt(J (1 - J) / SLOTS).

    The error of k independent hash functions.
    """
    error = float(np.sqrt(np.mean((agree.mean(axis=1) - similarity) ** 2)))
    return error / float(np.sqrt(similarity * (1 - similarity) / SLOTS))


@pytest.mark.long
@pytest.mark.parametrize("shape", ["tiny", "short", "long", "apart"])
def test_error_is_no_larger_than_it_should_be(shape: str) -> None:
    similarity, agree = sketch_pairs(shape)
    assert excess(similarity, agree) < SHAPES[shape][2] * TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize("shape", ["tiny", "short", "long", "apart"])
def test_the_bound_catches_an_estimator_a_tenth_worse(shape: str) -> None:
    similarity, agree = sketch_pairs(shape)
    worse = similarity + (agree.mean(axis=1, keepdims=True) - similarity) * 1.1
    assert excess(similarity, worse) > SHAPES[shape][2] * TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize("shape", ["tiny", "short", "long", "apart"])
def test_the_bound_catches_a_sketch_of_fewer_slots(shape: str) -> None:
    similarity, agree = sketch_pairs(shape)
    assert excess(similarity, agree[:, :100]) > SHAPES[shape][2] * TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize("shape", ["tiny", "short", "long", "apart"])
def test_the_estimate_has_no_bias(shape: str) -> None:
    similarity, agree = sketch_pairs(shape)
    estimates = agree.mean(axis=1)
    assert abs(estimates.mean() - similarity) < 3 * estimates.std() / np.sqrt(PAIRS)


@pytest.mark.parametrize("shape", ["tiny", "short", "long", "apart"])
def test_every_slot_has_its_share(shape: str) -> None:
    similarity, agree = sketch_pairs(shape)
    off = np.abs(agree.mean(axis=0) - similarity) / np.sqrt(similarity * (1 - similarity) / PAIRS)
    assert off.max() < 4.5


def test_equal_sets_agree_everywhere() -> None:
    assert sketch_pairs("same")[1].all()


# The whole way from texts: words drawn by Zipf's law, one text a changed copy of the other. Each
# pair has words of its own:
# a hash function is fixed, so that pairs with common words would all err to the same side.


@cache
def signed_pairs() -> tuple[NDArray[np.float64], Fingerprints]:
    """Return exact Jaccard similarities of 600 pairs of texts, and the fingerprints.

    Pair p is rows 2p and 2p + 1.
    """
    rng = np.random.default_rng(5)
    texts = []
    for pair in range(600):
        lexicon = np.array("".join(rng.choice(list("etaoinshrdlucmfw  "), 3000)).split())
        words = lexicon[rng.zipf(1.3, rng.integers(30, 400)) % len(lexicon)]
        changed = np.where(
            rng.random(len(words)) < pair / 600,
            lexicon[rng.integers(0, len(lexicon), len(words))],
            words,
        )
        texts += [" ".join(words), " ".join(changed)]
    features = [np.unique(gram_hashes(normalised_codes(text), 4)) for text in texts]
    pairs = zip(features[::2], features[1::2], strict=True)
    return np.array(
        [len(np.intersect1d(a, b)) / len(np.union1d(a, b)) for a, b in pairs]
    ), fingerprints(texts, DEFAULT_V1)


def hamming(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.unpackbits((left ^ right).view(np.uint8).reshape(len(left), 8), axis=1).sum(
        axis=1, dtype=np.int64
    )


@pytest.mark.long
def test_texts_are_estimated_within_theory() -> None:
    similarity, signed = signed_pairs()
    estimates = (signed.minhash[::2] == signed.minhash[1::2]).mean(axis=1)
    unit = np.sqrt(similarity * (1 - similarity) / SLOTS)
    off = ((estimates - similarity) / np.where(unit == 0, 1, unit))[similarity < 1]
    assert np.sqrt(np.mean(off**2)) < 1
    assert abs(off.mean()) < 3 / np.sqrt(len(off))


@pytest.mark.long
def test_simhash_distance_is_the_angle() -> None:
    """Of sets with cosine c, each bit differs with chance p = arccos(c) / pi (Charikar, STOC
    2002).
    """
    similarity, signed = signed_pairs()
    chance = np.arccos(2 * similarity / (1 + similarity)) / np.pi
    off = hamming(signed.simhash[::2], signed.simhash[1::2]) - 64 * chance
    spread = np.sqrt(64 * chance * (1 - chance))
    assert abs(off.mean()) < 1
    assert np.sqrt(np.mean((off[spread > 0] / spread[spread > 0]) ** 2)) < 1.1


@pytest.mark.long
def test_the_interval_of_hamming_holds_the_angle() -> None:
    similarity, signed = signed_pairs()
    truth = 1 - np.arccos(2 * similarity / (1 + similarity)) / np.pi
    equal = 64 - hamming(signed.simhash[::2], signed.simhash[1::2])
    within = [
        low <= exact <= high
        for exact, (low, high) in zip(truth, (wilson(int(n), 64) for n in equal), strict=True)
    ]
    assert 0.9 < np.mean(within) < 0.99


@pytest.mark.long
def test_simhash_distance_falls_as_similarity_rises() -> None:
    similarity, signed = signed_pairs()
    distance = hamming(signed.simhash[::2], signed.simhash[1::2])
    assert np.corrcoef(similarity, distance)[0, 1] < -0.85


def test_unrelated_texts_are_far_apart_by_simhash() -> None:
    _, signed = signed_pairs()
    distance = hamming(signed.simhash[::2], np.roll(signed.simhash[::2], 1))
    assert np.percentile(distance, 1) >= 10
