"""Words in common with other texts: the kernel and sequences give what the definitions do."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lcs_oracle import lcs_by_table

from indexer.comparing.alignment import lcs, max_replaced
from indexer.comparing.criteria import Criteria
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.reasons import Rarity
from indexer.comparing.words import normal_words
from indexer.grouping import words_in_common
from indexer.grouping.words_in_common import accepts_in_common, measure_in_common
from indexer.recipe import DEFAULT, DEFAULT_V2

WORDS = ["to", "be", "or", "not", "Be", "of-\nten", "½", "的", "話", "\ud800", "bé", "tö"]
sentences = st.lists(st.sampled_from(WORDS), max_size=150).map(" ".join)


@pytest.mark.parametrize("kernel", [True, False])
@given(sentences, st.lists(sentences, max_size=4), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_words_in_common_are_those_of_the_definitions(
    kernel: bool, text: str, others: list[str], least: float
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not kernel:
            patch.setattr(words_in_common, "_kernel", None)
        counted = words_in_common.words_in_common(text, others, least)
        values = words_in_common.lcs_to_each(text, others, least)
        flags = words_in_common.may_have_common_words(text, others, least)
    words = normal_words(text)
    own = words.folded
    for other, common, value, flag in zip(others, counted, values, flags, strict=True):
        folded = normal_words(other).folded
        longer = max(len(own), len(folded))
        plain = lcs_by_table(words.plain.folded, normal_words(other).plain.folded)
        in_order, shared = lcs_by_table(own, folded), (Counter(own) & Counter(folded)).total()
        excess = max((Counter(own) - Counter(folded)).values(), default=0)
        assert common is not None
        assert common.words == (len(own), len(folded))
        is_exact = kernel
        if words.has_accents == normal_words(other).has_accents:
            assert common.in_order == (in_order if in_order >= least * longer - 1e-9 else 0)
        else:
            is_exact = False
            expected = (in_order, plain - in_order) if plain >= least * longer - 1e-9 else (0, 0)
            assert (common.in_order, common.accents) == expected
        assert common.shared >= shared
        assert common.shared == shared or not is_exact
        assert common.excess == excess or not is_exact
        assert value == common.lcs
        assert not common.in_order or value == lcs(normal_words(text), normal_words(other))
        assert flag or shared < least * longer


@pytest.mark.parametrize("kernel", [True, False])
@given(sentences, sentences)
def test_no_words_are_replaced_more_often_than_the_bound(
    kernel: bool, text: str, other: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not kernel:
            patch.setattr(words_in_common, "_kernel", None)
            patch.setattr(words_in_common, "BINS", 4)
        (common,) = words_in_common.words_in_common(text, [other], 0.0)
    assert common is not None
    replaced = max_replaced(ComparedText(text, DEFAULT), ComparedText(other, DEFAULT)).times
    assert replaced <= common.max_out_of_order


@given(sentences, sentences, st.sampled_from(["lcs", "jaccard"]), st.sampled_from([0.5, 2.0]))
def test_pairs_are_accepted_as_by_the_whole_texts(
    text: str, other: str, measure: str, replaced: float
) -> None:
    criteria = Criteria(replaced=replaced)
    a, b = ComparedText(text, DEFAULT_V2), ComparedText(other, DEFAULT_V2)
    [(value, common)] = measure_in_common(measure, a, [b], 0.0)
    assert value == measure_pair(measure, a, b).similarity
    assert (common is None) == (measure != "lcs")
    rarity = Rarity(lambda words: pytest.fail("novelty is not asked for"))
    assert accepts_in_common(criteria, a, b, common, rarity) == criteria.accepts(a, b)


def test_long_texts_are_left_to_the_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of the kernel would take too much memory, and sequences too many letters."""
    long = "a b " * 5_000
    assert words_in_common.words_in_common(long, [long, "a"], 0.5)[1] is not None
    assert words_in_common.lcs_to_each(long, [long], 0.5) == [None]
    assert words_in_common.may_have_common_words(long, [long, "a"], 0.5) == [True, False]
    monkeypatch.setattr(words_in_common, "_kernel", None)
    monkeypatch.setattr(words_in_common, "EXACT_CELLS", 8)
    assert words_in_common.lcs_to_each("a b c", ["a b c", "a x"], 0.0) == [None, 1 / 3]
