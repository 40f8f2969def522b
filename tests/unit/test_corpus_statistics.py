"""Corpus statistics: right counts in any order, cheap updates, merging, bytes, names."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.rare_terms import CorpusStatistics, count_features

DOCUMENTS = st.lists(st.lists(st.integers(0, 12), max_size=12), max_size=12)


def arrays(documents: list[list[int]]) -> list[np.ndarray]:
    return [np.array(document, dtype=np.uint64) for document in documents]


@given(DOCUMENTS)
def test_counts_are_right_after_every_document(documents: list[list[int]]) -> None:
    statistics, features = CorpusStatistics("numbers"), np.arange(14, dtype=np.uint64)
    occurrences, holders = Counter(), Counter()
    for count, document in enumerate(documents, start=1):
        statistics.add(np.array(document, dtype=np.uint64))
        occurrences.update(document)
        holders.update(set(document))
        assert (statistics.documents, statistics.length) == (count, occurrences.total())
        assert statistics.occurrences(features).tolist() == [
            occurrences[feature] for feature in range(14)
        ]
        assert statistics.holders(features).tolist() == [holders[feature] for feature in range(14)]
    assert len(statistics) == len(occurrences)


@given(DOCUMENTS, st.randoms(use_true_random=False), st.integers(0, 12))
def test_order_and_merging_change_nothing(documents: list[list[int]], random, cut: int) -> None:
    counted_together = count_features(arrays(documents), "numbers")
    shuffled = list(documents)
    random.shuffle(shuffled)
    left, right = (
        count_features(arrays(shuffled[:cut]), "numbers"),
        count_features(arrays(shuffled[cut:]), "numbers"),
    )
    left.merge(right)
    assert left.id == counted_together.id
    assert left.pack() == counted_together.pack()


@given(DOCUMENTS)
def test_bytes_round_trip(documents: list[list[int]]) -> None:
    statistics = count_features(arrays(documents), "numbers")
    read = CorpusStatistics.unpack(statistics.pack())
    assert (read.features, read.documents, read.length, read.id, len(read)) == (
        "numbers", statistics.documents, statistics.length, statistics.id, len(statistics),
    )  # fmt: skip
    read.add(np.array([3], dtype=np.uint64))
    statistics.add(np.array([3], dtype=np.uint64))
    assert read.id == statistics.id != count_features(arrays(documents), "numbers").id


def test_golden() -> None:
    statistics = count_features(
        [string_hashes(["the", "cat", "and", "the", "dog"]), string_hashes(["the", "end"])], "words"
    )
    assert statistics.id == "343ebd852459"
    assert statistics.pack().startswith(b"nearfold-statistics-1\n")


def test_names_tell_statistics_apart() -> None:
    documents = arrays([[1, 1, 2]])
    names = {
        count_features(documents, "a").id,
        count_features(documents, "b").id,
        count_features(documents * 2, "a").id,
        count_features(arrays([[1, 2, 2]]), "a").id,
    }
    assert len(names) == 4


def test_unlike_features_do_not_merge() -> None:
    with pytest.raises(UsageError, match="words do not merge with statistics of chars"):
        CorpusStatistics("chars").merge(CorpusStatistics("words"))


@pytest.mark.parametrize("cut", [0, 5, 30, 90, -1])
def test_damaged_bytes_are_refused(cut: int) -> None:
    packed = count_features(arrays([[1, 2, 3]] * 3), "numbers").pack()
    with pytest.raises(UsageError, match="not corpus statistics"):
        CorpusStatistics.unpack(packed[:cut])
    with pytest.raises(UsageError, match="not corpus statistics"):
        CorpusStatistics.unpack(packed.replace(b'"documents": 3', b'"documents": 4'))
    with pytest.raises(UsageError, match="not corpus statistics"):
        CorpusStatistics.unpack(packed.replace(b"statistics-1", b"statistics-2"))


def test_merging_with_itself_doubles() -> None:
    statistics = count_features(arrays([[1, 1, 2]]), "numbers")
    statistics.merge(statistics)
    assert (statistics.documents, statistics.length) == (2, 6)
    assert statistics.holders(np.array([1, 2], np.uint64)).tolist() == [2, 2]


def test_updates_stay_cheap() -> None:
    """A thousand documents into a corpus of many features: segments, not one array copied a
    thousand times.
    """
    statistics = count_features(arrays([list(range(200_000))]), "numbers")
    for place in range(1000):
        statistics.add(np.arange(place, place + 50, dtype=np.uint64))
        assert statistics.holders(np.array([place], np.uint64))[0] >= 2
    assert len(statistics._segments) < 20
