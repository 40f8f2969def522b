"""Near duplicates of short texts: found by their words, and folded, in every store."""

import random

import pytest
from sample_library import fill, rows, similarity

from indexer.grouping.words_in_common import FEW_WORDS
from indexer.jobs.check import check
from indexer.model import WordLookup
from indexer.searching.fold_hits import fold_hits
from indexer.searching.similar import SimilarOptions, similar, similar_many

WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ale", "oor", "int", "ury")]
FAMILIES, COPIES = 16, 5


def edited(words, rng):
    """Return words with one or two replaced, left out or added."""
    words = list(words)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(words))
        words[place : place + rng.randint(0, 1)] = rng.sample(WORDS, rng.randint(0, 1))
    return words


def short_texts():
    rng = random.Random(7)
    texts = {}
    for family in range(FAMILIES):
        first = rng.sample(WORDS, rng.randint(5, 22))
        for copy in range(COPIES):
            words = first if copy == 0 else edited(first, rng)
            texts[f"{family:02}-{copy}"] = " ".join(words)
    return {id: text for id, text in texts.items() if len(text.split()) > 3}


TEXTS = short_texts()


@pytest.fixture
def library(store):
    return fill(store, rows(TEXTS))


def is_short(*texts):
    return min(len(text.split()) for text in texts) < FEW_WORDS


REPEATED = [pytest.param(threshold, marks=pytest.mark.slow) for threshold in (0.7, 0.8, 0.9)]


@pytest.mark.long
@pytest.mark.one_engine
@pytest.mark.parametrize("threshold", [0.6, *REPEATED])
def test_every_near_duplicate_of_a_short_text_is_found(library, threshold):
    options = SimilarOptions(threshold, limit=1000)
    for result in similar_many(library, ids=list(TEXTS), options=options):
        text = TEXTS[result.query]
        values = {
            id: similarity(text, other)
            for id, other in TEXTS.items()
            if id != result.query and is_short(text, other)
        }
        near = {id: pytest.approx(value) for id, value in values.items() if value >= threshold}
        found = {match.id: match.similarity for match in result.matches if match.id in values}
        assert found == near


@pytest.mark.parametrize("threshold", [0.8, 0.9])
def test_no_hit_is_shown_beside_a_short_one_that_it_resembles(library, threshold):
    shown = [hit.id for hit in fold_hits(library, list(TEXTS), threshold)]
    assert len(shown) < len(TEXTS)
    for place, id in enumerate(shown):
        for before in shown[:place]:
            if is_short(TEXTS[id], TEXTS[before]):
                assert similarity(TEXTS[id], TEXTS[before]) < threshold


def test_a_short_text_with_another_word_is_no_new_document(library):
    id, text = next((id, text) for id, text in TEXTS.items() if len(text.split()) == 7)
    words = text.split()
    result = check(library, " ".join([*words[:3], "unheard", *words[4:]]))
    assert (result.verdict, result.of) == ("review", id)
    assert not result.notes


def test_words_are_found_as_they_are_written_or_compared(library):
    texts = {
        "apostrophe": "we don't know when the shop re-opens",
        "ligature": "the ﬁrst ﬂoor oﬃces are empty now",
        "sharp": "die STRASSE am See ist heute gesperrt",
        "han": "图书馆今天开放到九点",
        "accents": "le café est fermé jusqu'à lundi",
    }
    library.write(rows(texts))
    library.refresh()
    asked = {
        "apostrophe": "we don’t know when this shop re-opens",
        "ligature": "the ﬁrst ﬂoor oﬃces were empty now",
        "sharp": "Die Straße am See war heute gesperrt",
        "han": "图书馆今天开放到八点",
        "accents": "Le café reste fermé jusqu’à lundi",
    }
    results = similar_many(library, list(asked.values()), SimilarOptions(0.7))
    assert [[match.id for match in result.matches] for result in results] == [[id] for id in asked]


def test_texts_below_four_words_are_no_near_duplicates(library):
    library.write(rows({"three": "hartford ludgate tower"}))
    library.refresh()
    result = similar(library, "hartford ludgate tower bridge", SimilarOptions(0.7))
    assert not result.matches


def test_rows_with_most_words_come_first_and_the_limit_is_said(library):
    words = tuple((word,) for word in TEXTS["04-0"].split())
    every, best = library.vocabulary.candidates(
        [WordLookup(words, 1, 4, 30), WordLookup(words, 1, 4, 30)], 200
    )
    assert every == best and every.found[0].id == "04-0" and not every.cut
    (cut,) = library.vocabulary.candidates([WordLookup(words, 1, 4, 30)], 3)
    assert cut.found == every.found[:3] and cut.cut
    lengths = {candidate.id: len(TEXTS[candidate.id].split()) for candidate in every.found}
    (within,) = library.vocabulary.candidates([WordLookup(words, 1, 6, 9)], 200)
    assert [candidate.id for candidate in within.found] == [
        id for id, length in lengths.items() if 6 <= length <= 9
    ]
