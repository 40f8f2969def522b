"""Excerpts, replies and documents inside longer ones, found in both directions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import library, rows

from indexer.comparing.reasons import copy_key
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import MASK, mix64
from indexer.fingerprinting.keys import (
    GUARANTEED_LENGTH,
    RUN,
    RunIndex,
    contained_fraction,
    passage_keys,
    passage_runs,
    run_hashes,
)
from indexer.grouping.match import MatchOptions, match

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def prose(seed, length):
    """Return letters without a pattern: no two long stretches are equal."""
    pieces_of_text, value = [], seed
    for place in range(length):
        value = mix64(value + place)
        pieces_of_text.append(LETTERS[value % 26] + (" " if value % 5 == 0 else ""))
    return "".join(pieces_of_text)


def letters(text):
    return "".join(character for character in text if character.isalnum())


def covered_share(a, b):
    """Return, by brute force, the share of a's letters in runs of `RUN` that are in b."""
    a, b = letters(a), letters(b)
    flags = [False] * len(a)
    for start in range(len(a) - RUN + 1):
        if a[start : start + RUN] in b:
            flags[start : start + RUN] = [True] * RUN
    return sum(flags) / len(a) if len(a) >= RUN else 0.0


def longest_shared(a, b):
    """Return whether a stretch of `GUARANTEED_LENGTH` letters is in both texts, by brute force."""
    a, b = letters(a), letters(b)
    return any(
        a[start : start + GUARANTEED_LENGTH] in b for start in range(len(a) - GUARANTEED_LENGTH + 1)
    )


pieces = st.builds(
    lambda seed, start, length: prose(seed, 260)[start : start + length],
    *(st.integers(0, 3), st.integers(0, 200), st.integers(0, 130)),
)
texts = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.lists(pieces, min_size=1, max_size=4).map("\n> ".join),
    min_size=2,
)


@pytest.mark.long
@given(texts, st.sampled_from([0.1, 0.5, 0.9]))
@settings(max_examples=60)
def test_reported_stretches_exist_and_long_stretches_are_reported(texts_by_id, threshold):
    pairs = {
        (pair.a, pair.b): pair
        for pair in match(
            library(rows(texts_by_id)), MatchOptions(threshold=threshold, contained=True)
        )
    }
    documents = {row.id: row for row in rows(texts_by_id)}
    complete = [id for id, row in documents.items() if row.status == "complete"]
    copies = {pair for pair in pairs if len({copy_key(documents[id]) for id in pair}) == 1}
    assert all(pairs[pair].containment == (1.0, 1.0) for pair in copies)
    pairs = {pair: value for pair, value in pairs.items() if set(pair) <= set(complete)}
    for a, b in combinations(sorted(complete), 2):
        truth = (
            (1.0, 1.0)
            if letters(texts_by_id[a]) == letters(texts_by_id[b])
            else (
                covered_share(texts_by_id[a], texts_by_id[b]),
                covered_share(texts_by_id[b], texts_by_id[a]),
            )
        )
        pair = pairs.pop((a, b), None)
        if pair is not None:
            assert pair.containment == pytest.approx(truth) and pair.measure == "passages"
            assert pair.similarity == max(pair.containment) >= threshold
        else:
            assert max(truth) < threshold or not longest_shared(texts_by_id[a], texts_by_id[b])
    assert not pairs


def test_an_excerpt_a_reply_and_an_attachment():
    report, note = prose(1, 3000), prose(2, 200)
    texts_by_id = {
        "a report": report,
        "b excerpt": note + report[900:1400],
        "c reply": "I agree with all of this.\n\n"
        + "\n".join(f"> {report[at : at + 70]}" for at in range(0, len(report), 70)),
        "d bundle": prose(3, 2000) + report + prose(4, 2000),
        "e other": prose(5, 3000),
    }
    pairs = {
        (pair.a[0], pair.b[0]): pair.containment
        for pair in match(library(rows(texts_by_id)), MatchOptions(threshold=0.6, contained=True))
    }
    assert set(pairs) == {("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")}
    assert pairs["a", "d"][0] == 1.0 and 0.4 < pairs["a", "d"][1] < 0.5
    assert pairs["a", "c"][0] == 1.0 and 0.98 < pairs["a", "c"][1] < 1
    assert 0.1 < pairs["a", "b"][0] < 0.25 and 0.6 < pairs["a", "b"][1] < 0.8


def test_sides_follow_the_order_of_the_pair():
    container = prose(1, 1000)
    texts_by_id = {"a": container[:300], "b": container, "c": container.upper()}
    store = library(rows(texts_by_id, labels={"a": ["known"]}))
    against_known = match(store, MatchOptions(contained=True, against="known"))
    assert [(pair.a, pair.b, pair.containment[1]) for pair in against_known] == [
        ("b", "a", 1.0),
        ("c", "a", 1.0),
    ]
    assert all(pair.containment[0] < 0.4 for pair in against_known)
    assert {
        (pair.a, pair.b): pair.containment for pair in match(store, MatchOptions(contained=True))
    }["b", "c"] == (1.0, 1.0)


def test_a_passage_in_many_texts_is_passed_over_and_counted():
    notice = prose(9, 300)
    texts_by_id = {f"{place:02}": prose(100 + place, 100) + notice for place in range(12)}
    store = library(rows(texts_by_id))
    assert len(match(store, MatchOptions(0.5, contained=True))) == 66
    capped = match(store, MatchOptions(0.5, contained=True, cap=5))
    assert len(capped) < 6 and capped.capped.largest == 12 and capped.capped.keys > 10
    assert "passages in many texts" in " ".join(capped.notes())


@pytest.mark.parametrize("options", [{"all_pairs": True}, {"measure": "overlap"}])
def test_options_that_exclude_each_other_are_refused(options):
    with pytest.raises(UsageError):
        match(library([]), MatchOptions(contained=True, **options))


@given(st.lists(st.integers(0, 0x10FFFF), max_size=60), st.integers(1, 33))
def test_runs_are_hashed_as_numbers_to_a_base(codes, width):
    expected = []
    for start in range(len(codes) - width + 1):
        value = 0
        for code in codes[start : start + width]:
            value = (value * 0x9E3779B97F4A7C15 + code + 1) & MASK
        expected.append(mix64(value))
    assert run_hashes(np.array(codes, dtype=np.uint32), width).tolist() == expected


@given(
    st.integers(0, 400),
    st.integers(GUARANTEED_LENGTH, 80),
    st.text(LETTERS, max_size=40),
    st.text(LETTERS, max_size=40),
)
def test_a_long_enough_stretch_shares_a_key(start, length, before, after):
    runs = passage_runs(prose(7, 600))
    stretch = letters(prose(7, 600))[start : start + length]
    quoting = passage_runs(before + " " + stretch + "; " + after)
    assert np.isin(passage_keys(runs), passage_keys(quoting)).any()


def test_keys_and_shares_are_what_they_were():
    """Golden values: the same keys in every version, whatever the machine."""
    runs = passage_runs(
        "We the undersigned agree to lease the ferry, with boiler and coal, until the end of "
        "the summer season."
    )
    assert [f"{key:016x}" for key in passage_keys(runs).tolist()] == GOLDEN
    assert (
        contained_fraction(
            runs,
            passage_runs("> with boiler and coal, until\n> the end of the summer season.\nReally?"),
        )
        == 45 / 81
    )
    assert (
        contained_fraction(np.zeros(0, np.uint64), runs)
        == contained_fraction(runs, np.zeros(0, np.uint64))
        == 0.0
    )


GOLDEN = ["02a997d734ad5d6b", "151f2bc4440d799e", "279d93341f8a7140"]


@given(texts.map(lambda by_id: list(by_id.values())))
def test_one_text_beside_many_has_the_shares_of_each_pair(contents):
    every = [passage_runs(text) for text in contents]
    index = RunIndex(every[0])
    for runs in [*every, np.concatenate([*every, every[0]])]:
        shares = contained_fraction(every[0], runs), contained_fraction(runs, every[0])
        assert index.contained_fractions(runs) == shares
