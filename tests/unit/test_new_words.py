"""New words: the words that only one of two texts has, and their rarity."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows, sentence

from indexer.comparing.compare import as_json, compare
from indexer.comparing.criteria import Criteria, parse_requirements
from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import (
    MAX_KNOWN,
    Rarity,
    format_new_words,
    format_new_words_by_text,
    measure_new_words,
)
from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.model import NewWords, RareWord, WordFrequencies
from indexer.recipe import DEFAULT
from indexer.review.compared_statistics import threshold_statistics
from indexer.searching.fold_hits import fold_hits
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store

COUNTS = {"a": 1, "b": 2, "c": 30, "d": 99, "e": 100, "f": 0}
TEXTS = st.lists(st.sampled_from([*COUNTS, "A", "F"]), max_size=9).map(" ".join)

SPELLED = st.lists(st.sampled_from(["ß", "SS", "e-mail", "e", "1,000", "1.000", "½", "x"])).map(
    " ".join
)


def count(words):
    return WordFrequencies(100, {word: COUNTS[word.lower()] for word in words})


def measured(a, b, lookup=count):
    return measure_new_words(
        [(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))], Rarity(lookup)
    )[0]


def test_novelty_sums_the_inverse_document_frequencies_of_both_sides() -> None:
    new = measured("a c e", "E b d f")
    expected = [100 / 1, 100 / 30, 100 / 2, 100 / 99, 100 / 1]  # f is in none: as in one
    assert new.novelty == pytest.approx(math.log(math.prod(expected)))
    assert (new.left, new.right) == (2, 3)
    assert new.rare == (
        RareWord("f", "right", 0),
        RareWord("a", "left", 1),
        RareWord("b", "right", 2),
    )


@given(TEXTS, TEXTS)
def test_novelty_is_symmetric(a, b):
    one, other = measured(a, b), measured(b, a)
    assert one.novelty == other.novelty
    assert (one.left, one.right) == (other.right, other.left)
    words = [{(word.word, word.side) for word in new.rare} for new in (one, other)]
    swap = {"left": "right", "right": "left"}
    assert words[0] == {(word, swap[side]) for word, side in words[1]}


@given(TEXTS)
def test_texts_of_the_same_words_have_no_novelty(text):
    reordered = " ".join(reversed((text + " " + text.upper()).split()))
    assert measured(text, reordered) == NewWords(0, 0, (), 0.0)


@given(SPELLED, SPELLED)
def test_no_more_words_are_new_than_are_not_in_order(a, b):
    compared = compare(a, b)
    common, words = compared.measures.in_order.common, compared.words
    assert compared.new_words.left <= words[0] - common
    assert compared.new_words.right <= words[1] - common


@given(TEXTS, TEXTS, st.sampled_from(sorted(COUNTS)))
def test_novelty_grows_with_each_word_that_only_one_has(a, b, word):
    before = measured(a, b).novelty
    longer = measured(f"{a} {word}", b).novelty
    if word in b.lower().split():
        assert longer <= before
    else:
        assert longer >= before


def test_words_are_only_counted_without_a_store() -> None:
    new = compare("one two three", "one two four five").new_words
    assert new == NewWords(1, 2, None, None)
    assert format_new_words(new) == "3 new words"
    assert format_new_words_by_text(new) == ["A has 1 new word", "B has 2 new words"]


@pytest.mark.parametrize(("documents", "rare"), [(1, True), (100, True), (99, False), (50, False)])
def test_a_word_is_rare_in_a_fiftieth_of_the_documents_or_in_one(documents, rare):
    frequency = 2 if documents > 1 else 1
    new = measured("a", "", lambda words: WordFrequencies(documents, {"a": frequency}))
    assert bool(new.rare) == rare


def test_an_empty_store_makes_nothing_rare_or_new() -> None:
    new = measured("a", "b", lambda words: WordFrequencies(0, dict.fromkeys(words, 0)))
    assert new.novelty == 0.0


def test_frequencies_are_asked_for_once_and_together() -> None:
    asked = []

    def lookup(words):
        asked.append(sorted(words))
        return count(words)

    rarity = Rarity(lookup)
    pairs = [(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT)) for a, b in ("ab", "bc", "aa")]
    measure_new_words(pairs, rarity)
    measure_new_words([(ComparedText("c d", DEFAULT), ComparedText("a", DEFAULT))], rarity)
    measure_new_words([(ComparedText("c", DEFAULT), ComparedText("a d", DEFAULT))], rarity)
    assert asked == [["a", "b", "c"], ["d"]]


def test_frequencies_are_forgotten_in_time() -> None:
    rarity = Rarity(lambda words: WordFrequencies(9, dict.fromkeys(words, 1)))
    for start in range(0, 3 * MAX_KNOWN, MAX_KNOWN // 2):
        words = [str(number) for number in range(start, start + MAX_KNOWN // 2)]
        assert rarity.frequencies(words).counts == dict.fromkeys(words, 1)
        assert len(rarity._counts) <= MAX_KNOWN


def test_words_are_shown_as_written_the_rarest_first_and_five_of_them() -> None:
    rare = [RareWord(word, "left", 1) for word in ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")]
    assert format_new_words(NewWords(9, 3, tuple(rare), 60.0)) == (
        "12 new words, 6 of them rare: Ada, Bo, Cy, Di, Ed, … (novelty 60.0)"
    )
    assert format_new_words(NewWords(0, 1, (RareWord("x\u202e", "right", 1),), 2.0)) == (
        "1 new word, rare: x⟨RLO⟩ (novelty 2.0)"
    )
    assert format_new_words_by_text(NewWords(2, 0, tuple(rare[:2]), 9.0)) == [
        "A has 2 new words, all of them rare: Ada, Bo",
        "B has 0 new words",
        "novelty 9.0",
    ]
    assert format_new_words(NewWords(2, 0, (), 0.4)) == (
        "2 new words, none of them rare (novelty 0.4)"
    )
    assert format_new_words(NewWords(0, 0, (), 0.0)) == "no new words"


TEXT = sentence(1, words=60)
CHANGES = {"a": "", "b": " plain", "c": " quorum 4711", "d": " quorum indemnify 4711 Straße"}


@pytest.fixture
def store():
    """Return 40 documents; `plain` is in most of them, the other added words in one or two."""
    texts = {id: TEXT + words for id, words in CHANGES.items()}
    texts |= {f"x{place:02}": f"{sentence(place + 2)} plain" for place in range(36)}
    return library(rows(texts))


def test_a_match_says_which_words_are_new_and_how_rare(store):
    [new] = [hit.new_words for hit in similar(store, id="a").matches if hit.id == "c"]
    assert (new.left, new.right) == (0, 2)
    assert [(word.word, word.documents) for word in new.rare] == []
    assert new.novelty == pytest.approx(2 * math.log(40 / 2))
    [new] = [hit.new_words for hit in similar(store, id="c").matches if hit.id == "d"]
    assert new.rare == (RareWord("Straße", "right", 1), RareWord("indemnify", "right", 1))


def test_compare_gives_the_same_and_json(store):
    by_store = compare(TEXT, TEXT + CHANGES["d"], frequencies=store.vocabulary.frequencies)
    [hit] = [hit for hit in similar(store, id="a").matches if hit.id == "d"]
    assert by_store.new_words == hit.new_words
    assert as_json(by_store)["new_words"]["right"] == 4
    assert as_json(by_store)["new_words"]["rare"][0] == {
        "word": "Straße",
        "side": "right",
        "documents": 1,
    }
    assert as_json(compare("a", "b"))["new_words"] == {
        "left": 1,
        "right": 1,
        "rare": None,
        "novelty": None,
    }


LIMITS = [
    (0.0, ["ab"][:0]),
    (0.1, ["ab"]),
    (6.0, ["ab", "ac"]),
    (6.2, ["ab", "ac", "bc"]),
    (7.4, ["ab", "ac", "bc", "cd"]),
    (20.0, ["ab", "ac", "ad", "bc", "bd", "cd"]),
]


@pytest.mark.long
@pytest.mark.parametrize(("most", "expected"), LIMITS)
@pytest.mark.parametrize("measure", ["jaccard", "lcs", "containment"])
def test_novelty_is_an_upper_limit_wherever_pairs_are_decided(store, most, expected, measure):
    criteria = Criteria(novelty=most)
    found = match(store, MatchOptions(0.5, measure=measure, criteria=criteria, exact=True))
    pairs = sorted(min(pair.a, pair.b) + max(pair.a, pair.b) for pair in found)
    assert [pair for pair in pairs if "x" not in pair] == expected
    options = SimilarOptions(0.5, measure, criteria=criteria)
    for id in "abcd":
        others = {hit.id for hit in similar(store, options=options, id=id).matches}
        expected_others = {pair.replace(id, "") for pair in expected if id in pair}
        assert others & set("abcd") == expected_others


def test_families_and_folds_keep_to_it(store):
    criteria = Criteria(novelty=6.2)
    group(store, GroupOptions(0.5, principal="longest", criteria=criteria))
    families = {row.id: row.family for row in store.scan() if row.id in "abcd"}
    assert families == {"a": "c", "b": "c", "c": "c", "d": "d"}
    hits = fold_hits(store, "abcd", 0.5, criteria=criteria)
    assert {hit.id: [one.id for one in hit.folded] for hit in hits} == {"a": ["b", "c"], "d": []}


def test_thresholds_are_previewed_with_it(store, tmp_path):
    filed = open_store(f"sqlite:///{tmp_path}/store.db")
    filed.prepare(DEFAULT)
    filed.write(list(store.scan()))
    group(filed, GroupOptions(0.5, criteria=Criteria(novelty=6.2)))
    assert threshold_statistics(filed).at().moved == 0
    filed.close()


def test_copies_are_new_in_nothing() -> None:
    texts = {"a": f"{TEXT} e-mail of 1,000 in Straße", "b": f"{TEXT} E MAIL of 1.000 in STRASSE"}
    store = library(rows(texts))
    criteria = Criteria(novelty=0.0)
    [hit] = similar(store, options=SimilarOptions(criteria=criteria), id="a").matches
    assert hit.same and hit.new_words == NewWords(0, 0, (), 0.0)
    assert [pair.similarity for pair in match(store, MatchOptions(criteria=criteria))] == [1.0]
    assert compare(*texts.values()).new_words == NewWords(0, 0)


def test_requirements_of_novelty_are_upper_limits() -> None:
    for text in ("novelty=20", "novelty<=20", "novelty <= 20"):
        assert parse_requirements([text, "lcs=.9"]) == ((("lcs", 0.9),), {"novelty": 20.0})
    assert parse_requirements(["novelty<=20", "novelty=5"]) == ((), {"novelty": 5.0})
    assert parse_requirements(["lcs>=0.9"]) == ((("lcs", 0.9),), {})
    for wrong in ("novelty>=20", "lcs<=0.9"):
        with pytest.raises(UsageError, match="novelty and replaced at most one"):
            parse_requirements([wrong])
    with pytest.raises(UsageError, match="0 or more"):
        Criteria(novelty=-1.0)
    assert Criteria(novelty=0.0)
    criteria = Criteria(require=(("lcs", 0.9),), novelty=2.5)
    assert criteria.settings() == {"require": ["lcs=0.9", "novelty<=2.5"]}
    assert Criteria.from_settings(criteria.settings()) == criteria


def test_without_frequencies_a_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="only a store counts"):
        Criteria(novelty=1.0).accepts(ComparedText("a", DEFAULT), ComparedText("b", DEFAULT))
