"""Different texts made to share every band and slot of `default_v1`: none counts as a duplicate of
another.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from crafted_texts import EQUAL_WORDS, craft_text
from sample_library import edited, library, rows, sentence

from indexer.comparing.measures import ComparedText, feature_set, jaccard, measure_pair
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.grouping.candidates import Join
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, recipe_named
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import WINDOW, SimilarOptions, similar

KEYED, KEYED_V2 = (
    recipe_named(f"{version}+key:tests").with_secret("not known to the documents' authors")
    for version in ("default_v1", "default_v2")
)
CRAFTED = {f"crafted {number:02}": craft_text(number) for number in range(24)}
HONEST = {"honest": sentence(1), "its copy": edited(sentence(1), 2)}
THRESHOLD = 0.8
BOTH = pytest.mark.parametrize("measure", ["lcs", "jaccard"])


def crafted_library():
    return library(rows({**CRAFTED, **HONEST}, DEFAULT_V1), DEFAULT_V1)


@pytest.fixture(scope="module")
def store():
    return crafted_library()


def test_the_public_hash_lets_anybody_craft_texts_with_equal_sketches():
    signed = fingerprints(list(CRAFTED.values()), DEFAULT_V1)
    assert ((signed.minhash == signed.minhash[0]).mean(axis=1) > 0.95).all()
    assert all(len(set(bands) & set(signed.bands[0])) > 15 for bands in signed.bands)
    sets = [feature_set(text, DEFAULT_V1) for text in CRAFTED.values()]
    assert max(jaccard(a, b) for a, b in itertools.combinations(sets, 2)) < 0.05


def test_with_a_secret_key_the_same_texts_share_no_more_than_chance():
    signed = fingerprints(list(CRAFTED.values()), KEYED)
    assert ((signed.minhash[1:] == signed.minhash[0]).mean(axis=1) < 0.1).all()
    bands = [key for text in signed.bands for key in text]
    assert len(set(bands)) == len(bands) == 21 * len(CRAFTED)


def test_words_with_equal_hashes_under_default_v2_differ_under_a_secret_key():
    texts = [" ".join(f"{start}{number}" for number in range(300)) for start in EQUAL_WORDS]
    public, keyed = fingerprints(texts, DEFAULT_V2), fingerprints(texts, KEYED_V2)
    assert (public.minhash[0] == public.minhash[1]).all() and public.bands[0] == public.bands[1]
    assert (keyed.minhash[0] == keyed.minhash[1]).mean() < 0.05
    assert len({*keyed.bands[0], *keyed.bands[1]}) == 2 * 42
    sides = [ComparedText(text, KEYED_V2) for text in texts]
    assert [measure_pair(name, *sides).similarity for name in ("jaccard", "lcs")] == [1, 0]


@BOTH
def test_a_lookup_matches_no_crafted_text(store, measure):
    options = SimilarOptions(threshold=THRESHOLD, measure=measure)
    assert similar(store, options=options, id="crafted 00").matches == ()
    [match] = similar(store, options=options, id="honest").matches
    assert match.id == "its copy"


def test_exact_matching_lists_no_crafted_pair_and_estimates_are_labelled(store):
    jaccard_pairs = MatchOptions(threshold=THRESHOLD, measure="jaccard")
    for options in (MatchOptions(threshold=THRESHOLD), replace(jaccard_pairs, exact=True)):
        exact_pairs = match(store, options)
        assert [(pair.a, pair.b) for pair in exact_pairs] == [("honest", "its copy")]
    pairs = match(store, jaccard_pairs)
    estimates = [pair for pair in pairs if pair.a.startswith("crafted")]
    assert {pair.measure for pair in estimates} == {"estimate"}


@BOTH
def test_groups_join_no_crafted_texts(measure):
    store = crafted_library()
    group(store, GroupOptions(threshold=THRESHOLD, measure=measure))
    families = {row.id: row.family for row in store.scan()}
    assert families["honest"] == families["its copy"]
    assert len({families[id] for id in CRAFTED}) == len(CRAFTED)


@BOTH
def test_folding_hides_no_crafted_text(store, measure):
    page = search(store, "", SearchOptions(threshold=THRESHOLD, measure=measure, limit=100))
    assert sorted(hit.id for hit in page.hits) == [*sorted(CRAFTED), "honest"]
    assert {text.id for hit in page.hits for text in hit.folded} == {"its copy"}
    folded = fold_hits(store, [*CRAFTED, *HONEST], THRESHOLD, measure=measure)
    assert [hit.id for hit in folded] == [*CRAFTED, "honest"]


@BOTH
def test_paging_loses_no_crafted_text(store, measure):
    options = SearchOptions(threshold=THRESHOLD, measure=measure, limit=5)
    hit_ids = []
    after = None
    for _ in range(20):
        page = search(store, "", replace(options, after=after))
        hit_ids += [hit.id for hit in page.hits]
        after = page.next
        if after is None:
            break
    assert sorted(hit_ids) == [*sorted(CRAFTED), "honest"]


def test_hot_keys_are_skipped_so_a_lookup_reads_a_bounded_number_of_rows():
    store = crafted_library()
    store.frequent_key_floor = 10
    store.frequent_key_fraction = 0.05
    lookup = similar(store, options=SimilarOptions(threshold=THRESHOLD), id="crafted 00")
    assert len(lookup.capped_keys) > 15 and "too many documents" in " ".join(lookup.notes)
    signed = fingerprints([CRAFTED["crafted 00"]], DEFAULT_V1)[0]
    assert len(store.candidates([(signed.bands, signed.blocks)], WINDOW)[0].found) < 8
    honest = similar(store, options=SimilarOptions(threshold=THRESHOLD), id="honest")
    assert [match.id for match in honest.matches] == ["its copy"]


@pytest.mark.parametrize(
    ("cap", "pairs"), [(5, len(CRAFTED) - 1), (1000, len(CRAFTED) * (len(CRAFTED) - 1) // 2)]
)
def test_a_cap_keeps_the_pairs_of_matching_and_grouping_linear(cap, pairs):
    slots = fingerprints(list(CRAFTED.values()), DEFAULT_V1).minhash
    join = Join(slots, 21, 6, np.arange(len(slots)), cap)
    assert sum(len(left) for left, _ in join.blocks()) == pairs
