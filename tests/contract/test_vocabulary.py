"""Document frequencies of words, the same in every store."""

from dataclasses import replace

import pytest
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.fingerprinting.normalise import without_accents
from indexer.recipe import DEFAULT
from indexer.searching.similar import similar_many

WORDS = {
    "quorum": 1,
    "Plain": 30,
    "plain": 30,
    "common": 39,
    "titular": 1,
    "e-mail": 2,
    "don’t": 1,
    "1,000.50": 1,
    "Straße": 1,
    "文": 1,
    "图书": 1,
    "absent": 0,
    "3.14": 0,
}


# more than half of their words have accents: copies without these have other keys
PERMISSION = (
    "rozhodnutí městského úřadu o zrušení stavebního povolení bude účastníkům řízení doručeno "
    "nejpozději do třiceti dnů a nabývá právní moci uplynutím lhůty k podání odvolání, kterou "
    "správní orgán uvede v poučení",
    "žadatel je povinen uhradit správní poplatek předem na účet úřadu nebo složenkou, která mu "
    "byla zaslána se žádostí, jinak se řízení zastavuje a jistina se vrací do patnácti dnů po "
    "oznámení účastníkům",
)


@pytest.fixture
def library(store):
    """Return 40 documents, one of them deleted."""
    texts = [f"common text {'plain' if place < 30 else 'odd'} number{place}" for place in range(40)]
    texts[3] += " quorum. Quorum! E-mail 1,000.50 Straße 图书馆"
    texts[4] += " an e-mail from the café don’t"
    texts[5] += " mail e CAFÉ 3 and 14 文"
    documents = [row(f"{place:02}", title="", text=text) for place, text in enumerate(texts)]
    documents[6] = replace(documents[6], title="titular")
    assert store.write(documents) == [None] * 40
    store.refresh()
    store.delete(["39"])
    store.refresh()
    return store


def test_the_documents_with_each_word_are_counted(library):
    frequencies = library.vocabulary.frequencies(list(WORDS))
    assert frequencies.documents == 39
    assert dict(frequencies.counts) == WORDS


@pytest.mark.gap("core analysis", reason="without analysis-common accents are distinguished")
def test_accents_make_no_difference(library):
    assert library.vocabulary.frequencies(["café", "cafe"]).counts == {"café": 2, "cafe": 2}
    stored = {"accents": PERMISSION[0], "plain": without_accents(PERMISSION[1])}
    rows = [row(id, title="", text=text) for id, text in stored.items()]
    assert library.write(fingerprint_rows(rows, DEFAULT)) == [None] * 2
    library.refresh()
    texts = [without_accents(PERMISSION[0]), PERMISSION[1]]
    found = [result.matches for result in similar_many(library, texts)]
    assert [[(match.id, match.marks[0].kind) for match in matches] for matches in found] == [
        [("accents", "accents")],
        [("plain", "accents")],
    ]


def test_no_words_take_no_counts(library):
    assert library.vocabulary.frequencies([]).counts == {}
    assert library.vocabulary.frequencies([]).documents == 39


def test_many_words_are_counted_at_once(library):
    words = [f"number{place}" for place in range(250)]
    counts = library.vocabulary.frequencies(words).counts
    assert [counts[word] for word in words] == [1] * 39 + [0] * 211


def test_the_words_of_parts_are_counted_among_parts(library):
    part = replace(
        row("00#1", title="", text="quorum of a part"), parent="00", start=0, stop=16, family="00#1"
    )
    library.parts.record("clauses_v1")
    assert library.write([part]) == [None]
    library.refresh()
    in_documents = library.vocabulary.frequencies(["quorum"])
    in_parts = library.parts.view("parts").vocabulary.frequencies(["quorum"])
    assert (in_documents.documents, in_documents.counts["quorum"]) == (39, 1)
    assert (in_parts.documents, in_parts.counts["quorum"]) == (1, 1)
