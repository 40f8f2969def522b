"""Look-ups of short texts by words, held against all pairs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import library, rows, similarity

from indexer.fingerprinting.normalise import without_accents
from indexer.grouping.words_in_common import FEW_WORDS
from indexer.model import Candidates
from indexer.searching.similar import SimilarOptions, similar, similar_many, word_lookup
from indexer.stores.sqlite import candidates

words = st.lists(st.sampled_from([f"w{letter}" for letter in "abcdefghijkl"]), max_size=26)
texts = st.lists(words, min_size=2, max_size=12)
thresholds = st.sampled_from([0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 0.95])


@pytest.mark.long
@given(texts, thresholds, st.sampled_from([2, 3, 2_000]))
@settings(deadline=None, max_examples=60)
def test_every_near_duplicate_is_found(words_of_texts, threshold, rows_at_first):
    joined = {f"{place:02}": " ".join(words) for place, words in enumerate(words_of_texts)}
    stored = rows(joined)
    keyed = {row.id: row.text for row in stored if row.bands}
    store = library(stored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_AT_FIRST", rows_at_first)
        options = SimilarOptions(threshold, limit=100)
        for result in similar_many(store, ids=list(keyed), options=options):
            text = keyed[result.query]
            found = {match.id for match in result.matches}
            for id, other in keyed.items():
                is_short = min(len(text.split()), len(other.split())) < FEW_WORDS
                if id != result.query and is_short:
                    is_near = similarity(text, other) >= threshold
                    assert (id in found) == is_near, (text, other)
    store.close()


def test_a_word_that_is_written_in_another_way_is_looked_up_in_both():
    lookup = word_lookup("The ﬁrst re-\nplies of Ann", 0.8)
    assert lookup.words == (
        ("the",),
        ("first", "ﬁrst"),
        ("replies", "re-\nplies"),
        ("of",),
        ("ann",),
    )


def test_long_texts_are_not_looked_up_by_words(monkeypatch):
    texts = {"a": " ".join(f"w{n}" for n in range(24)), "b": " ".join(f"w{n}" for n in range(23))}
    store = library(rows(texts))
    asked = []
    monkeypatch.setattr(
        type(store.vocabulary),
        "candidates",
        lambda _self, lookups, limit: asked.append(lookups) or [Candidates(())],
    )
    similar(store, id="a", options=SimilarOptions(0.8))
    assert not asked
    similar(store, id="b", options=SimilarOptions(0.8))
    assert len(asked) == 1


def test_frequent_words_find_the_same(monkeypatch):
    texts = {f"{n:03}": f"the ferry leaves the quay at {n} each day" for n in range(60)}
    store = library(rows(texts))
    matches = similar(store, id="007", options=SimilarOptions(0.8, limit=100)).matches
    assert len(matches) == 59
    monkeypatch.setattr(candidates, "_AT_FIRST", 10)
    assert similar(store, id="007", options=SimilarOptions(0.8, limit=100)).matches == matches


def test_few_words_find_copies_with_accents_in_a_large_file(monkeypatch):
    written = (
        "rozhodnutí městského úřadu o zrušení stavebního povolení bude účastníkům řízení doručeno "
        "nejpozději do třiceti dnů a nabývá právní moci uplynutím lhůty k podání odvolání, kterou "
        "správní orgán uvede v poučení"
    )
    others = {f"{n:03}": f"{' '.join(written.split()[n::9])} číslo {n}" for n in range(9)}
    store = library(rows({"whole": written, **others}))
    monkeypatch.setattr(candidates, "_AT_FIRST", 2)
    monkeypatch.setattr(candidates, "_SAMPLE", 3)
    for text in (without_accents(written), without_accents(written) + " xyzzy"):
        assert [match.id for match in similar(store, text).matches] == ["whole"]
