"""Words in order by sequences of one vocabulary: the same values as text by text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.alignment import lcs
from indexer.comparing.words import normal_words
from indexer.grouping import words_in_common
from indexer.grouping.words_in_common import SequenceCache

WORDS = ["to", "be", "or", "not", "that", "is", "the", "question", "的", "話", "tö", "bé", "Thệ"]
sentences = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
texts = st.lists(sentences, min_size=2, max_size=8)


@pytest.mark.long
@given(texts, st.floats(0, 1), st.integers(1, 10_000))
def test_sequences_give_the_lcs_of_the_texts(contents, least, memory):
    cache = SequenceCache(lambda numbers: [contents[number] for number in numbers], memory)
    pairs = [(a, b) for a in range(len(contents)) for b in range(len(contents))]
    for _ in range(2):
        values = cache.measure_pairs(pairs, least)
        for (a, b), value in zip(pairs, values, strict=True):
            exact = lcs(normal_words(contents[a]), normal_words(contents[b]))
            assert value == exact or (value == 0 and exact < least)
            assert cache.measure_pairs([(a, b)], least) == [value]
        for (a, b), flag in zip(pairs, cache.may_reach(pairs, least).tolist(), strict=True):
            assert flag or lcs(normal_words(contents[a]), normal_words(contents[b])) < least


@given(texts, st.floats(0, 1))
def test_sequences_of_words_and_of_texts_and_their_bounds_are_the_same(contents, least):
    by_words, by_texts = words_in_common.Vocabulary(), words_in_common.Vocabulary()
    sequences = [by_texts.sequence_of(text) for text in contents]
    for text, sequence in zip(contents, sequences, strict=True):
        expected = by_words.sequence(normal_words(text))
        assert sequence.codes == expected.codes
        assert sequence.counts.tolist() == expected.counts.tolist()
    for a in sequences:
        for b in sequences:
            flag = words_in_common.may_reach_pair(a, b, least)
            assert [flag] == words_in_common.may_reach([(a, b)], least).tolist()


@given(texts, st.integers(1, 10_000))
def test_the_words_of_a_sequence_are_those_of_the_text(contents, memory):
    cache = SequenceCache(lambda numbers: [contents[number] for number in numbers], memory)
    for pair in [(0, 1), (1, 0), (1, len(contents) - 1)]:
        for words, number in zip(cache.words([pair])[0], pair, strict=True):
            exact = normal_words(contents[number])
            assert words.vocabulary == exact.vocabulary
            assert words.numbers.tolist() == exact.numbers.tolist()


@given(texts)
def test_the_kernel_numbers_words_as_the_definition(contents):
    kernel = words_in_common._kernel.WordNumbers()
    defined = words_in_common._WordNumbers()
    for text in [*contents, "\ud800 x-\ny ½"]:
        assert kernel.of_text(text) == defined.of_text(text)
        words = contents[0].split(" ")
        assert kernel.of_words(words) == defined.of_words(words)


def test_a_pair_is_ruled_out_by_its_words_alone():
    vocabulary = words_in_common.Vocabulary()
    fox, pen = (
        vocabulary.sequence(normal_words(text))
        for text in ("the quick brown fox", "the quick brown pen")
    )
    assert words_in_common.may_reach([(fox, pen), (fox, fox)], 0.8).tolist() == [False, True]
    assert words_in_common.may_reach([(fox, pen)], 0.75).tolist() == [True]
    assert words_in_common.may_reach([], 0.5).tolist() == []


def test_texts_beyond_the_limits_are_left_to_the_alignment(monkeypatch):
    monkeypatch.setattr(words_in_common, "MAX_CODES", 3)
    monkeypatch.setattr(words_in_common, "FEW_PAIRS", 0)
    cache = SequenceCache(lambda numbers: ["a b c" if n == 0 else "a x y z" for n in numbers], 100)
    assert cache.measure_pairs([(0, 1), (0, 0)], 0.0) == [None, 1.0]
    assert cache.words([(0, 1)]) is None
    monkeypatch.setattr(words_in_common, "EXACT_CELLS", 8)
    assert cache.measure_pairs([(0, 0)], 0.0) == [None]


def test_long_texts_are_never_ruled_out_by_counts(monkeypatch):
    monkeypatch.setattr(words_in_common, "_MAX_COUNTED", 2)
    vocabulary = words_in_common.Vocabulary()
    sequence = vocabulary.sequence(normal_words("a a a"))
    assert words_in_common.may_reach([(sequence, sequence)], 1.0).tolist() == [True]
    assert vocabulary.in_order(sequence, sequence, 1.0) == (3, 0)
