"""Criteria decide wherever pairs are decided: `match`, `group`, `similar` and folding."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from invoices import invoices
from sample_library import library, rows, sentence

from indexer.comparing.criteria import Criteria
from indexer.comparing.measures import ComparedText
from indexer.errors import UsageError
from indexer.fingerprinting.keys import unpack_slots
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.recipe import DEFAULT
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.journal import job_history, journal_path

DISTINGUISH = Criteria("distinguish")
PLAIN = "the quick brown fox jumps over the lazy dog and pays 5 1 coins to Anna in May {}"
TEXTS = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.sampled_from(
        [
            PLAIN.format(2020),
            PLAIN.format(2021),
            PLAIN.format(2020).upper(),
            PLAIN.format(2020).replace("5 1", "5-1"),
            PLAIN.format(2020).replace("5 1", "-5 1"),
            PLAIN.format(2020).replace("Anna", "Ben"),
            PLAIN.format("next year"),
        ]
    ),
    min_size=2,
)


def store_of(texts):
    return library(rows(texts))


def families(store):
    return {row.id: row.family for row in store.scan()}


@pytest.mark.parametrize("count", [24, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_invoice_is_in_a_family_or_folded_if_numbers_are_distinguished(count):
    texts = {f"{place:04}": text for place, text in enumerate(dict.fromkeys(invoices(count)))}
    store = store_of(texts)
    group(store, GroupOptions(criteria=DISTINGUISH))
    assert families(store) == {id: id for id in texts}
    assert all(row.cluster is None for row in store.scan())
    assert list(match(store, MatchOptions(criteria=DISTINGUISH))) == []
    page = search(store, "", SearchOptions(limit=2000, criteria=DISTINGUISH))
    assert len(page.hits) == len(texts)
    group(store)
    assert len(set(families(store).values())) < len(texts) / 4
    assert len(search(store, "", SearchOptions(limit=2000)).hits) < len(texts) / 4


@pytest.mark.long
@given(
    TEXTS,
    st.builds(
        Criteria,
        st.sampled_from(["ignore", "distinguish"]),
        st.sampled_from([(), (("lcs", 0.95),), (("terminology", 0.9), ("estimate", 0.7))]),
    ),
    st.sampled_from(["jaccard", "lcs", "estimate"]),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_pairs_are_those_without_criteria_that_meet_them(texts, criteria, measure):
    store = store_of(texts)
    plain = MatchOptions(0.6, measure=measure, exact=True)
    keys = {row.id: criteria.text_key(row) for row in store.scan()}
    firsts = {}  # the text of a key is that of its first document
    for row in store.scan():
        side = ComparedText(
            row.text, DEFAULT, unpack_slots(row.minhash, DEFAULT.slot_bytes), row.simhash
        )
        firsts.setdefault(keys[row.id], side)
    expected = {
        (pair.a, pair.b)
        for pair in match(store, plain)
        if keys[pair.a] == keys[pair.b]
        or criteria.accepts(firsts[keys[pair.a]], firsts[keys[pair.b]])
    }
    options = MatchOptions(0.6, measure=measure, criteria=criteria)
    assert {(pair.a, pair.b) for pair in match(store, options)} == expected


def test_texts_that_only_normalise_alike_are_no_copies_if_numbers_are_distinguished():
    store = store_of({"a": PLAIN.format(1), "b": PLAIN.format(1).replace("5 1", "5-1")})
    assert [pair.similarity for pair in match(store)] == [1.0]
    assert list(match(store, MatchOptions(criteria=DISTINGUISH))) == []
    group(store, GroupOptions(criteria=DISTINGUISH))
    assert families(store) == {"a": "a", "b": "b"}


def test_every_way_of_finding_pairs_meets_the_criteria():
    texts = dict(zip("abc", [*invoices(2), invoices(1)[0].upper()], strict=True))
    store = store_of(texts)
    require = Criteria(require=(("lcs", 0.995),))
    for options in ({}, {"exact": True}, {"all_pairs": True}, {"contained": True}):
        pairs = match(store, MatchOptions(criteria=require, **options))
        assert [(pair.a, pair.b) for pair in pairs] == [("a", "c")]
    found = similar(store, texts["a"], SimilarOptions(criteria=require))
    assert [hit.id for hit in found.matches] == ["a", "c"]
    hits = fold_hits(store, "abc", criteria=require)
    assert [(hit.id, [folded.id for folded in hit.folded]) for hit in hits] == [
        ("a", ["c"]),
        ("b", []),
    ]


def test_family_folding_says_by_what_group_made_the_families(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/a.db")
    store.prepare(DEFAULT)
    store.write(rows({"a": PLAIN.format(1), "b": PLAIN.format(1)}))
    options = SearchOptions(fold="family")
    assert search(store, "fox", options).notes == ()
    criteria = Criteria("distinguish", (("lcs", 0.9),))
    group(store, GroupOptions(0.7, "overlap", criteria=criteria))
    group(store, GroupOptions(0.9), write=False)
    [note] = search(store, "fox", options).notes
    assert "--threshold 0.7 --measure overlap" in note
    assert "--numbers distinguish --require lcs=0.9" in note
    job = job_history(journal_path(store.address))[1]
    assert job.settings["numbers"] == "distinguish"
    assert job.counts["documents"] == 2
    store.close()


def test_criteria_belong_to_folding_by_similarity():
    for fold in ("family", "types", "none"):
        with pytest.raises(UsageError, match="--fold live"):
            SearchOptions(fold=fold, criteria=DISTINGUISH)
    with pytest.raises(UsageError, match="--audit"):
        MatchOptions(audit=50, criteria=DISTINGUISH)


def test_a_token_belongs_to_the_criteria_of_its_search():
    store = store_of({id: sentence(place) for place, id in enumerate("abc")})
    token = search(store, "", SearchOptions(limit=1)).next
    with pytest.raises(UsageError, match="another search"):
        search(store, "", SearchOptions(limit=1, after=token, criteria=DISTINGUISH))
