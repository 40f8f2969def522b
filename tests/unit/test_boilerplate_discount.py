"""Similarity without boilerplate: its formula, bounds and purpose."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows, sentence

from indexer.comparing.measures import resemblance
from indexer.comparing.words import words
from indexer.errors import StoreError
from indexer.review.boilerplate import (
    Corpus,
    discount,
    discounted_similarity,
    text_shingles,
    width_for,
)
from indexer.stores import open_store

SHINGLES = st.sets(st.integers(0, 30), max_size=20).map(
    lambda found: np.array(sorted(found), dtype=np.uint64)
)
CORPUS = st.lists(SHINGLES, max_size=8)
GOLDEN = (20, 0.6145, 0.0508, 0.6145)
FORM = (
    "Invoice. Please pay the amount stated below within thirty days of the date of this "
    "invoice to the account named at the "
    "foot of this page. Interest is charged on late payments at the statutory rate. Goods "
    "remain ours until paid in full. "
)


def invoice(number: int) -> str:
    return (
        f"{FORM} For {sentence(number, 12)}. Thank you for your custom and do not hesitate to "
        "call us with any question."
    )


@given(SHINGLES, SHINGLES, CORPUS)
def test_it_is_symmetric_and_a_share(a, b, corpus) -> None:
    result = discounted_similarity(a, b, Corpus(corpus))
    assert result == discounted_similarity(b, a, Corpus(corpus))
    assert 0 <= result.similarity <= 1
    assert 0 <= result.common <= 1
    assert result.texts == len(corpus)
    assert result.plain == (len(set(a) & set(b)) / len(set(a) | set(b)) if len(a) or len(b) else 0)


@given(SHINGLES, SHINGLES, st.integers(1, 5), st.integers(0, 5))
def test_equal_weights_give_the_plain_measure(a, b, carrying, others) -> None:
    both, stranger = np.union1d(a, b), np.array([99], dtype=np.uint64)
    result = discounted_similarity(a, b, Corpus([both] * carrying + [stranger] * others))
    assert result.similarity == pytest.approx(result.plain if others else 0)
    assert discounted_similarity(a, b, Corpus([])).similarity == pytest.approx(result.plain)
    assert discounted_similarity(a, b, Corpus([stranger])).similarity == pytest.approx(result.plain)


@given(SHINGLES, SHINGLES, CORPUS)
def test_the_result_follows_the_formula(a, b, corpus) -> None:
    def weight(shingle: int) -> float:
        carrying = sum(shingle in set(shingles.tolist()) for shingles in corpus)
        return (
            float(np.log((len(corpus) + 1) / (carrying + 1)) / np.log(len(corpus) + 1))
            if corpus
            else 1.0
        )

    both, shared = set(a.tolist()) | set(b.tolist()), set(a.tolist()) & set(b.tolist())
    total = sum(map(weight, both))
    expected = sum(map(weight, shared)) / total if total > 1e-12 else 0
    assert discounted_similarity(a, b, Corpus(corpus)).similarity == pytest.approx(expected)


@given(SHINGLES, SHINGLES, CORPUS)
def test_texts_apart_do_not_count(a, b, corpus) -> None:
    assert discounted_similarity(a, b, Corpus([*corpus, a, b]), [a, b]) == discounted_similarity(
        a, b, Corpus(corpus)
    )


@given(SHINGLES, CORPUS)
def test_rarer_shingles_have_more_weight(a, corpus) -> None:
    counted = Corpus(corpus).frequencies(a)
    weights = counted.weights(a).tolist()
    carrying = [
        sum(shingle in set(shingles.tolist()) for shingles in corpus) for shingle in a.tolist()
    ]
    ranked = sorted(zip(carrying, weights, strict=True))
    assert [weight for _, weight in ranked] == sorted(weights, reverse=True)


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30)
)
def test_plain_is_resemblance(a, b) -> None:
    sides = words(" ".join(a)), words(" ".join(b))
    hashes = [text_shingles(side, width_for(sides)) for side in sides]
    assert discounted_similarity(*hashes, Corpus([])).plain == pytest.approx(resemblance(*sides))


def test_invoices_on_one_form_are_alike_only_by_the_form() -> None:
    store = library(
        rows(
            {f"i{place}": invoice(place) for place in range(20)}
            | {f"o{place}": sentence(place) for place in range(5)}
        )
    )
    result = discount(store, invoice(0), invoice(1))
    assert result.texts == 23
    assert result.plain > 0.6 > 0.3 > result.similarity
    assert result.common > 0.6
    same = discount(store, invoice(0), invoice(0) + " Paid.")
    assert same.plain > 0.9
    assert same.similarity > 0.8


def test_golden() -> None:
    """18 other invoices and 2 letters: the shingles of the form weigh log(21/19) / log(21), rare
    ones about 1.
    """
    store = library(
        rows(
            {f"i{place}": invoice(place) for place in range(20)}
            | {"x": sentence(3), "y": sentence(8), "z": sentence(8)}
        )
    )
    result = discount(store, invoice(0), invoice(1))
    assert (
        result.texts,
        round(result.plain, 4),
        round(result.similarity, 4),
        round(result.common, 4),
    ) == GOLDEN


def test_copies_count_once_and_the_texts_themselves_not_at_all() -> None:
    text = invoice(0)
    store = library(
        rows({"a": text, "b": invoice(1), "c": invoice(2), "d": invoice(2), "e": text.upper()})
    )
    assert discount(store, text, invoice(1)).texts == 1
    assert discount(store, text, invoice(1), sample=2).texts == 0


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no index"):
        discount(open_store(f"sqlite:///{tmp_path}/none.db"), "a", "b")
