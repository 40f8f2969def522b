"""Matching a store: which pairs, each once, by which measure, and the account of the rest."""

import re
import sys
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import edited, library, rows, sentence, true_pairs

import indexer
from indexer.comparing.alignment import lcs
from indexer.comparing.compare import compare
from indexer.comparing.criteria import Criteria
from indexer.comparing.measures import MEASURES
from indexer.comparing.words import normal_words
from indexer.defaults import MEASURE
from indexer.errors import MissingSketch, RecipeMismatch, StoreError, UnknownMeasure, UsageError
from indexer.fingerprinting.minhash import wilson
from indexer.grouping import similar_pairs
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.grouping.verification import Verifier
from indexer.grouping.words_in_common import FEW_WORDS, PassedOver
from indexer.model import Assignment
from indexer.recipe import DEFAULT, DEFAULT_V1, recipe_named
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store

SPELLINGS = {
    "a": f"Straße 1,000 {sentence(3)} ﬁnd dupli-\ncates, 近似 重複",
    "b": f"STRASSE 1.000: {sentence(3)} find “duplicates” 近似重複",
    "c": edited(f"strasse 1 000 {sentence(3)} find duplicates 近 似 重 複", 4),
    "d": edited(f"Straße 1.000 {sentence(3)} ﬁnd du-\nplicates 近似 重複", 6),
}
match_module = sys.modules["indexer.grouping.match"]
TEXTS = {
    "a": sentence(1),
    "b": edited(sentence(1), 2),
    "c": sentence(1).upper(),
    "d": sentence(2),
    "e": edited(sentence(2), 12),
    "f": "",
    "g": "12 34 56",
    "h": sentence(1),
}
texts = st.dictionaries(
    st.text("abcdefghij", min_size=1, max_size=2),
    st.builds(edited, st.integers(0, 3).map(sentence), st.integers(0, 30), st.sampled_from("xyz")),
    max_size=12,
)


def similarities(matched):
    return {(pair.a, pair.b): pair.similarity for pair in matched}


@pytest.mark.long
@given(texts, st.sampled_from([0.2, 0.5, 0.7, 0.8, 0.9, 1.0]))
@settings(max_examples=60, deadline=None)
def test_the_complete_mode_finds_every_pair_and_no_other(texts_by_id, threshold):
    matched = match(library(rows(texts_by_id)), MatchOptions(threshold=threshold, all_pairs=True))
    assert similarities(matched) == true_pairs(texts_by_id, threshold)
    assert len(matched) == len(list(matched))


def true_pairs_in_order(texts_by_id, threshold):
    """Return, by brute force, the pairs at the threshold or above by their words in order."""
    of_texts = {id: normal_words(text) for id, text in texts_by_id.items()}
    values = {(a, b): lcs(of_texts[a], of_texts[b]) for a, b in combinations(sorted(of_texts), 2)}
    return {pair: value for pair, value in values.items() if value >= threshold}


few_words = st.lists(st.sampled_from(["to", "be", "or", "not", "that"]), min_size=3, max_size=25)


@pytest.mark.parametrize("measure", ["lcs", "overlap", "resemblance", "terminology"])
def test_a_pair_has_the_same_similarity_wherever_it_is_measured(measure):
    store = library(rows(SPELLINGS))
    values = {
        (a, b): getattr(compare(SPELLINGS[a], SPELLINGS[b]).measures, measure)
        for a, b in combinations(SPELLINGS, 2)
    }
    assert values["a", "b"] == 1
    assert values["a", "c"] == values["b", "c"] < 1
    assert similarities(match(store, MatchOptions(threshold=0.1, measure=measure))) == values
    if measure == "lcs":
        complete = MatchOptions(threshold=0.1, measure=measure, all_pairs=True)
        assert similarities(match(store, complete)) == values
    for a in SPELLINGS:
        result = similar(store, id=a, options=SimilarOptions(threshold=0.1, measure=measure))
        found = {match.id: match.similarity for match in result.matches}
        assert found == {b: values[min(a, b), max(a, b)] for b in SPELLINGS if b != a}
    group(store, GroupOptions(threshold=0.1, measure=measure))
    for row in store.scan():
        if row.family != row.id:
            assert row.similarity == values[min(row.id, row.family), max(row.id, row.family)]


@pytest.mark.long
@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=2), few_words.map(" ".join), max_size=12)
    | texts,
    st.sampled_from([0.5, 0.6, 2 / 3, 0.7, 0.8, 0.9, 1.0]) | st.floats(0.5, 1.0),
    st.sampled_from([1, 500]),
)
@settings(max_examples=80, deadline=None)
def test_the_complete_mode_finds_every_pair_of_words_in_order(texts_by_id, threshold, memory):
    store = library(rows(texts_by_id))
    with_keys = {row.id: row.text for row in store.scan() if row.status == "complete"}
    options = MatchOptions(threshold=threshold, all_pairs=True, measure="lcs")
    matched = similarities(match(store, options, memory=memory))
    truth = true_pairs_in_order(with_keys, threshold)
    assert {pair: matched[pair] for pair in matched if set(pair) <= with_keys.keys()} == truth


@pytest.mark.parametrize("measure", ["jaccard", "lcs"])
def test_the_complete_mode_finds_every_pair_of_real_texts(measure):
    files = sorted(Path(__file__).parents[2].glob("docs/*.md"))
    texts_by_id = {}
    for file in [file for file in files if file.stat().st_size > 1000][:12]:
        text = file.read_text(encoding="utf-8")[:12_000]
        for number, share in enumerate((1, 0.95, 0.8, 0.6)):
            lines = text[: int(share * len(text))].splitlines()
            texts_by_id[f"{file.stem}-{number}"] = "\n".join(lines[number:] + lines[:number])
    truth = true_pairs(texts_by_id, 0.5, measure=measure)
    options = MatchOptions(threshold=0.5, all_pairs=True, measure=measure)
    assert similarities(match(library(rows(texts_by_id)), options)) == truth
    assert len(truth) > 50


def test_the_complete_mode_names_its_measures():
    with pytest.raises(UsageError, match="by jaccard or lcs, not by overlap"):
        MatchOptions(all_pairs=True, measure="overlap")
    notes = match(library(rows(TEXTS)), MatchOptions(all_pairs=True, measure="lcs")).notes()
    assert list(notes) == [
        "complete: every pair with lcs of 0.8 or more",
        "in the order of lcs - 0.02 ln(1 + new words)",
    ]


@pytest.mark.parametrize("default", ["jaccard", "lcs"])
def test_options_need_no_measure_whichever_is_the_default(monkeypatch, default):
    monkeypatch.setattr(match_module, "MEASURE", default)
    for options in ({"all_pairs": True}, {"contained": True}, {"audit": 20}, {}):
        MatchOptions(measure=default, **options)
    with pytest.raises(UsageError, match="--contained has a measure of its own, not overlap"):
        MatchOptions(contained=True, measure="overlap")


def test_the_complete_mode_needs_no_slots():
    recipe = recipe_named("simhash-doc")
    store = library(rows(TEXTS, recipe), recipe)
    assert similarities(match(store, MatchOptions(threshold=0.3, all_pairs=True))) == true_pairs(
        TEXTS, 0.3, recipe
    )
    assert {pair.measure for pair in match(store)} <= {"hamming"}


def test_bands_as_of_copietje_are_refused_without_slots():
    recipe = recipe_named("simhash-doc")
    store = library(rows(TEXTS, recipe), recipe)
    with pytest.raises(UsageError, match="need MinHash slots, which recipe simhash-doc"):
        match(store, MatchOptions(threshold=0.95, false_negative_weight=0.75))


@pytest.mark.long
@given(texts)
@settings(max_examples=30, deadline=None)
def test_what_the_bands_find_is_true_and_sorted(texts_by_id):
    matched = match(library(rows(texts_by_id)), MatchOptions(threshold=0.6, exact=True))
    pairs = list(matched)
    assert similarities(matched).items() <= true_pairs(texts_by_id, 0.6).items()
    assert [(pair.a, pair.b) for pair in pairs] == sorted({(pair.a, pair.b) for pair in pairs})
    assert {pair.measure for pair in pairs} <= {MEASURE}


def test_slots_decide_what_is_clear_and_texts_the_rest():
    truth = true_pairs(TEXTS, 0.8, measure="jaccard")
    matched = match(library(rows(TEXTS)), MatchOptions(threshold=0.8, measure="jaccard"))
    pairs = {(pair.a, pair.b): pair for pair in matched}
    assert pairs.keys() == truth.keys() and {("a", "b"), ("a", "h"), ("b", "c")} <= pairs.keys()
    assert pairs["a", "h"].measure == "jaccard" and pairs["a", "h"].similarity == 1.0
    for key, pair in pairs.items():
        assert abs(pair.similarity - truth[key]) < (1e-12 if pair.measure == "jaccard" else 0.1)


def test_estimates_carry_their_wilson_interval_and_exact_measures_none():
    recipe = recipe_named("default_v1")
    store = library(rows(TEXTS, recipe), recipe)
    for measure in ("jaccard", "estimate", "hamming"):
        pairs = list(match(store, MatchOptions(threshold=0.5, measure=measure)))
        for pair in pairs:
            equal = round(pair.similarity * recipe.slots)
            expected = (
                wilson(equal, recipe.slots)
                if pair.measure == "estimate"
                else (pair.similarity, pair.similarity)
            )
            assert (pair.low, pair.high) == expected
        assert ("estimate" in {pair.measure for pair in pairs}) == (measure != "hamming")
    assert all(
        pair.low == pair.high for pair in match(store, MatchOptions(threshold=0.5, all_pairs=True))
    )


def test_a_pair_inside_the_error_bar_is_read(monkeypatch):
    read = []
    measure_pairs = Verifier.measure_pairs
    monkeypatch.setattr(
        Verifier,
        "measure_pairs",
        lambda self, pairs, least: read.extend(pairs) or measure_pairs(self, pairs, least),
    )
    texts_by_id = {"a": sentence(1), "b": edited(sentence(1), 6)}
    [(key, value)] = true_pairs(texts_by_id, 0.1, measure="jaccard").items()
    [pair] = match(library(rows(texts_by_id)), MatchOptions(value, measure="jaccard"))
    assert (pair.a, pair.b) == key and pair.measure == "jaccard" and pair.similarity == value
    assert read == [(0, 1)]
    above = MatchOptions(value + 1e-9, measure="jaccard")
    assert list(match(library(rows(texts_by_id)), above)) == []


@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_every_measure(measure):
    recipe = DEFAULT_V1 if measure == "hamming" else DEFAULT
    store = library(rows(TEXTS, recipe), recipe)
    pairs = list(match(store, MatchOptions(threshold=0.9, measure=measure)))
    assert ("a", "h", 1.0) in {(pair.a, pair.b, pair.similarity) for pair in pairs}
    assert all(pair.similarity >= 0.9 for pair in pairs)
    assert {pair.measure for pair in pairs} <= {measure, "estimate"}


def test_documents_without_a_label_against_those_with_it():
    store = library(rows(TEXTS, labels={"a": ["privileged"], "h": ["privileged", "x"], "e": ["x"]}))
    matched = match(store, MatchOptions(threshold=0.8, against="privileged"))
    assert [(pair.a, pair.b) for pair in matched] == [
        ("b", "a"),
        ("b", "h"),
        ("c", "a"),
        ("c", "h"),
    ]
    assert [
        [matched.ids[place], [matched.ids[neighbour] for neighbour, _ in others]]
        for place, others in matched.by_document()
    ] == [
        ["b", ["a", "h"]],
        ["c", ["a", "h"]],
    ]


@pytest.mark.parametrize("label", ["nobody carries it", "", "Privileged"])
def test_a_label_that_no_document_carries_is_refused_with_those_that_there_are(label):
    store = library(rows(TEXTS, labels={"a": ["privileged"], "h": ["privileged", "x"], "e": ["x"]}))
    with pytest.raises(UsageError, match=r"choose one of: privileged, x$"):
        match(store, MatchOptions(against=label))
    with pytest.raises(UsageError, match="no document has labels"):
        match(library(rows(TEXTS)), MatchOptions(against=label))


def test_only_pairs_that_touch_what_is_new():
    store = library(rows(TEXTS))
    store.families.assign([Assignment(id, id, True, None, None) for id in TEXTS if id != "c"])
    assert [(pair.a, pair.b) for pair in match(store, MatchOptions(threshold=0.8, new=True))] == [
        ("a", "c"),
        ("b", "c"),
        ("c", "h"),
    ]


def test_most_similar_first():
    matched = match(library(rows(TEXTS)), MatchOptions(threshold=0.5))
    matches = {
        matched.ids[place]: [matched.ids[neighbour] for neighbour, _ in others]
        for place, others in matched.by_document()
    }
    assert matches["a"][:2] == ["c", "h"] and matches["a"][2] == "b"


def test_pairs_come_by_rank_and_copies_before_others_of_the_same_words():
    texts = {
        "a": "5 apples and 500 pears are in the large box that stands behind the old green door",
        "b": "5 apples and -500 pears are in the large box that stands behind the old green door",
        "c": "5 apples and 500 pears are in the large box that stands behind the old door, green",
        "d": "6 apples and 500 pears are in the large box that stands behind the old green door",
    }
    store = library(rows({**texts, "e": texts["a"].upper()}))
    listed = [pair for part in match(store).best_first() for pair in part]
    assert [(pair.a, pair.b) for pair in listed[:3]] == [("a", "e"), ("a", "b"), ("b", "e")]
    assert [pair.is_copy for pair in listed[:3]] == [True, False, False]
    assert {pair.similarity for pair in listed[:3]} == {1.0}
    reordered, other = (
        next(pair for pair in listed if (pair.a, pair.b) == ("a", name)) for name in "cd"
    )
    assert reordered.similarity == other.similarity and listed.index(reordered) < listed.index(
        other
    )
    assert reordered.rank == reordered.similarity > other.rank
    looked_up = similar(store, id="a").matches
    ranks = {(pair.a, pair.b): pair.rank for pair in listed}
    assert [ranks["a", found.id] for found in looked_up] == [found.rank for found in looked_up]


@pytest.mark.parametrize("complete", [False, True])
def test_pairs_that_are_rearranged_or_grown_are_counted_where_they_are_passed_over(complete):
    first, second = (" ".join(f"{name}{place}" for place in range(40)) for name in "ab")
    third = " ".join(f"c{place}" for place in range(30))
    texts = {
        "a": f"{first} {second}",
        "b": f"{second} {first}",
        "c": f"{first} {second} {third}",
        "d": " ".join(f"d{place}" for place in range(80)),
    }
    store = library(rows(texts))
    options = MatchOptions(exact=not complete, all_pairs=complete)
    matched = match(store, options)
    assert not len(matched)
    if not complete:
        assert (matched.passed_over.rearranged, matched.passed_over.grown) == (1, 2)
        [rearranged, grown] = [note for note in matched.notes() if "passed over" in note]
        assert rearranged.startswith("1 pair ") and "--measure overlap" in rearranged
        assert grown.startswith("2 pairs ") and "--measure grown" in grown
    assert len(match(store, MatchOptions(measure="overlap"))) == 1
    assert ("a", "c") in {(pair.a, pair.b) for pair in match(store, MatchOptions(contained=True))}
    policy = Criteria(policy="standard")
    assert match(store, MatchOptions(criteria=policy)).passed_over == PassedOver()
    for threshold in (0.8, 0.9, 0.9):  # the last of them measures nothing anew
        assert group(store, GroupOptions(threshold)).passed_over == PassedOver(1, 2)
    assert group(store, GroupOptions(0.9, measure="overlap")).passed_over == PassedOver()
    assert group(store, GroupOptions(0.9, measure="overlap")).largest == 2
    assert group(store, GroupOptions(0.9, measure="containment")).largest == 3


def test_a_text_that_has_grown_is_found_by_every_command():
    story, more = (" ".join(f"{name}{place}" for place in range(60)) for name in "ab")
    middle = story.replace("a30", f"{more} a30")
    store = library(rows({"story": story, "grown": middle, "other": more[: len(more) // 2]}))
    assert not len(match(store))
    [pair] = match(store, MatchOptions(measure="grown"))
    assert (pair.a, pair.b, pair.similarity) == ("grown", "story", 1.0)
    [found] = similar(store, id="story", options=SimilarOptions(measure="grown")).matches
    assert (found.id, found.similarity) == ("grown", 1.0)
    group(store, GroupOptions(measure="grown", threshold=0.9, criteria=Criteria(policy="loose")))
    families = {row.id: row.family for row in store.get(["story", "grown", "other"]).values()}
    assert families["story"] == families["grown"] != families["other"]


@pytest.mark.parametrize("measure", ["resemblance:3", "overlap:8", "overlap:information"])
def test_variants_of_measures_are_stored_with_their_pairs(measure):
    store = library(rows(TEXTS))
    pairs = list(match(store, MatchOptions(measure=measure, exact=True)))
    assert {(pair.a, pair.b) for pair in pairs} >= {("a", "c"), ("a", "h")}
    assert {pair.measure for pair in pairs} == {measure}
    assert compare(TEXTS["a"], TEXTS["h"], variants=[measure]).measures.value(measure) == 1
    found = similar(store, id="a", options=SimilarOptions(measure=measure)).matches
    assert {match.measure for match in found} == {measure}
    group(store, GroupOptions(measure=measure))
    page = search(store, sentence(1), SearchOptions(measure=measure))
    assert any({"a", "c"} <= {hit.id, *(folded.id for folded in hit.folded)} for hit in page.hits)


def test_information_matching_finds_a_text_and_its_double():
    store = library(rows({"once": sentence(1), "twice": f"{sentence(1)} {sentence(1)}"}))
    [pair] = match(store, MatchOptions(measure="overlap:information", threshold=0.9))
    assert (pair.a, pair.b, pair.similarity) == ("once", "twice", 1.0)
    assert not match(store, MatchOptions(measure="overlap", threshold=0.9))


def test_copies_beyond_the_cap_are_counted():
    texts_by_id = {f"{place:03}": sentence(1) for place in range(40)}
    matched = match(library(rows(texts_by_id)), MatchOptions(threshold=0.8, cap=50))
    assert [(pair.a, pair.b) for pair in matched] == [("000", id) for id in sorted(texts_by_id)[1:]]
    assert matched.copies_left_out == 40 * 39 // 2 - 39
    assert "copies" in " ".join(matched.notes())
    assert (
        len(match(library(rows(texts_by_id)), MatchOptions(threshold=0.8, all_pairs=True)))
        == 40 * 39 // 2
    )


def test_the_planned_recall_is_reported():
    matched = match(library(rows(TEXTS)), MatchOptions(threshold=0.5))
    assert matched.plan is not None and (matched.plan.bands, matched.plan.rows) == (47, 2)
    assert "47 bands x 2 rows" in " ".join(matched.notes())


def true_short_pairs(texts_by_id, threshold):
    """Return, by brute force, the pairs in order at the threshold, of which one text is short."""
    words = {id: len(normal_words(text)) for id, text in texts_by_id.items()}
    truth = true_pairs_in_order(texts_by_id, threshold)
    return {pair: value for pair, value in truth.items() if min(map(words.get, pair)) < FEW_WORDS}


short_texts = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2),
    st.lists(st.sampled_from(["to", "be", "or", "not", "that", "is", "the"]), max_size=24).map(
        " ".join
    ),
    max_size=25,
)


@pytest.mark.long
@given(short_texts, st.sampled_from([0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]))
@settings(max_examples=80, deadline=None)
def test_every_pair_with_a_short_text_is_found(texts_by_id, threshold):
    store = library(rows(texts_by_id))
    compared = {row.id: row.text for row in store.scan() if row.status == "complete"}
    matched = similarities(match(store, MatchOptions(threshold, measure="lcs")))
    found = {pair: value for pair, value in matched.items() if set(pair) <= compared.keys()}
    truth = true_short_pairs(compared, threshold)
    assert truth.items() <= found.items()
    assert found.items() <= true_pairs_in_order(compared, threshold).items()


def test_short_texts_of_which_too_many_share_a_key_are_paired_with_the_first():
    texts_by_id = {f"{place:03}": f"the ferry leaves at {place}" for place in range(30)}
    matched = match(library(rows(texts_by_id)), MatchOptions(cap=10, measure="lcs"))
    assert {("000", f"{place:03}") for place in range(1, 30)} <= similarities(matched).keys()
    assert len(matched) < 30 * 29 / 2
    assert "frequent band" in " ".join(matched.notes())
    assert len(match(library(rows(texts_by_id)), MatchOptions(measure="lcs"))) == 30 * 29 / 2


def test_pairs_of_short_texts_are_those_that_are_asked_for():
    texts_by_id = {f"{place}": f"the ferry leaves at {place}" for place in range(4)}
    store = library(rows(texts_by_id, labels={"0": ["new"]}))
    matched = match(store, MatchOptions(against="new", measure="lcs"))
    assert {(pair.a, pair.b) for pair in matched} == {("1", "0"), ("2", "0"), ("3", "0")}
    distinguished = MatchOptions(measure="lcs", criteria=Criteria("distinguish"))
    assert not len(match(store, distinguished))


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 0.0}, {"threshold": 1.1}, {"cap": 1}, {"all_pairs": True, "measure": "overlap"}],
)
def test_values_out_of_range(wrong):
    with pytest.raises(UsageError):
        match(library(rows(TEXTS)), MatchOptions(**wrong))


def test_no_such_measure_and_no_store(tmp_path):
    with pytest.raises(UnknownMeasure):
        match(library(rows(TEXTS)), MatchOptions(measure="likeness"))
    with pytest.raises(StoreError):
        match(open_store(f"sqlite:///{tmp_path}/new.db"))


def test_a_new_store_in_memory_is_empty(tmp_path):
    new = "sqlite://:memory:"
    assert list(indexer.match(new)) == list(indexer.families(new)) == []
    assert indexer.search(new, "ferry").total == indexer.group(new).documents == 0
    with closing(open_store(new)) as store:
        assert list(match(store)) == list(store.scan()) == []
        (tmp_path / "a.txt").write_text("The harbour ferry leaves at eight in the morning. " * 3)
        indexer.index(str(tmp_path), store, indexer.IndexOptions())
        assert match(store).documents == 1


def test_a_search_in_a_new_store_in_memory_sets_no_recipe(tmp_path):
    bits = indexer.recipe_named("simhash-doc")
    (tmp_path / "a.txt").write_text("The harbour ferry leaves at eight in the morning. " * 3)
    with closing(open_store("sqlite://:memory:")) as store:
        assert indexer.search(store, "ferry").total == 0
        indexer.index(str(tmp_path), store, indexer.IndexOptions(recipe=bits))
        assert indexer.search(store, "ferry").total == 1
        assert store.stored_recipe() == bits
        with pytest.raises(RecipeMismatch):
            indexer.index(str(tmp_path), store, indexer.IndexOptions(recipe=DEFAULT))


def test_an_empty_store_has_no_pairs():
    assert list(match(open_store("sqlite://:memory:"))) == []
    for all_pairs in (False, True):
        assert list(match(library([]), MatchOptions(all_pairs=all_pairs))) == []


@pytest.mark.parametrize(
    "options", [{}, {"measure": "lcs"}, {"all_pairs": True}, {"contained": True}, {"cap": 2}]
)
def test_parts_that_are_reported_are_all_pairs_each_once(options):
    parts = []
    matched = match(
        library(rows(TEXTS)), MatchOptions(threshold=0.5, **options), on_pairs=parts.append
    )
    reported = [pair for part in parts for pair in part]
    assert sorted(reported, key=lambda pair: (pair.a, pair.b)) == list(matched)
    assert {("a", "c"), ("a", "h")} <= {(pair.a, pair.b) for pair in parts[0]}


def test_an_estimate_of_the_pairs_comes_before_many_are_verified(monkeypatch):
    monkeypatch.setattr(similar_pairs, "ESTIMATED", 0)
    events = []
    match(
        library(rows(TEXTS)),
        MatchOptions(threshold=0.5, exact=True),
        on_pairs=lambda part: events.append(len(part)),
        on_estimate=events.append,
    )
    copies, said, *verified = events
    assert copies == 3 and "reach 0.5" in said and sum(verified) > 0


def test_the_estimate_counts_the_pairs_that_copies_make(monkeypatch):
    monkeypatch.setattr(similar_pairs, "ESTIMATED", 0)
    sentences = []
    families = {place: (sentence(place), edited(sentence(place), 2)) for place in range(9)}
    texts_by_id = {
        f"{place}-{number:02}": text[number % 2]
        for place, text in families.items()
        for number in range(12)
    }
    options = MatchOptions(0.8, measure="lcs")
    matched = match(library(rows(texts_by_id)), options, on_estimate=sentences.append)
    [said] = sentences
    fewest, most = re.search(r"about ([\d,]+) to ([\d,]+) pairs of documents", said).groups()
    bounds = [int(number.replace(",", "")) for number in (fewest, most)]
    assert bounds[0] <= len(matched) == 9 * 12 * 11 // 2 <= bounds[1]


def test_numbers_are_distinguished_by_words_in_order_too():
    store = library(rows({"a": sentence(1) + " 41", "b": sentence(1) + " 42"}))
    options = MatchOptions(threshold=0.5, measure="lcs")
    assert len(match(store, options)) == 1
    distinguishing = replace(options, criteria=Criteria(numbers="distinguish"))
    assert len(match(store, distinguishing)) == 0


@pytest.mark.parametrize(
    ("recipe", "measure", "missing"),
    [
        ("default_v2", "hamming", "makes no SimHash, which hamming"),
        (
            "simhash-doc",
            "estimate",
            "keeps bits alone, .* not by estimate|makes no MinHash, which estimate",
        ),
    ],
)
def test_a_measure_of_sketches_that_the_index_does_not_hold_is_refused(recipe, measure, missing):
    store = library([], recipe_named(recipe))
    required = Criteria(require=((measure, 0.5),))
    for how in ({"measure": measure}, {"criteria": required}):
        for job in (
            lambda how=how: similar(store, "any text", SimilarOptions(**how)),
            lambda how=how: search(store, "any", SearchOptions(**how)),
            lambda how=how: fold_hits(store, ["a"], **how),
        ):
            with pytest.raises((UsageError, MissingSketch), match=f"{recipe}.* ({missing})"):
                job()
    if measure == "hamming":
        for job in (
            lambda: match(store, MatchOptions(measure=measure)),
            lambda: group(store, GroupOptions(criteria=required)),
        ):
            with pytest.raises(MissingSketch, match="reindex --recipe default_v3"):
                job()
