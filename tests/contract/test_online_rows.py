"""Online weighted TopSig: rows of several statistics in one store, until `reindex` signs them."""

import pytest
from sample_library import edited, rows, sentence

from indexer.fingerprinting.fingerprint import fresh_rows
from indexer.fingerprinting.schemes import count_text_features
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.reindex import reindex
from indexer.jobs.status import status
from indexer.recipe import recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.system.recipe_inputs import keep_statistics

ONLINE = recipe_named("signature-study:online-topsig:256")
REPORT = sentence(3, words=200)
TEXTS = {
    "a": REPORT,
    "b": f"{REPORT}.",
    "c": edited(REPORT, 2),
    "d": sentence(5, words=200),
    "e": "The bakery on the corner sells rye bread, cinnamon buns and strong coffee from six on.",
    "empty": "",
}
EARLIER = {id: TEXTS[id] for id in ("a", "c", "e")}
LATER = {id: text for id, text in TEXTS.items() if id not in EARLIER}
THRESHOLD = 0.875


@pytest.fixture
def mixed(unprepared):
    """A store whose rows two statistics signed, those of the second as it was grown."""
    first = keep_statistics(ONLINE, count_text_features([TEXTS["e"]], ONLINE))
    second = keep_statistics(first, count_text_features(TEXTS.values(), ONLINE))
    for recipe, texts in ((first, EARLIER), (second, LATER)):
        unprepared.prepare(recipe)
        assert unprepared.stored_recipe().id == recipe.id
        assert set(unprepared.write(rows(texts, recipe=recipe))) == {None}
    unprepared.refresh()
    return unprepared


def numbers(store):
    return {row.id: row.recipe.split(".")[1] for row in store.scan()}


def answers(store):
    """Return pairs, families, look-ups and folded hits within an eighth of the bits."""
    pairs = {(pair.a, pair.b, pair.similarity) for pair in match(store, MatchOptions(THRESHOLD))}
    group(store, GroupOptions(THRESHOLD))
    store.refresh()
    families = {row.id: row.family for row in store.scan()}
    options = SimilarOptions(1 - 8 / 256, "hamming")
    near = {hit.id: hit.similarity for hit in similar(store, REPORT, options).matches}
    page = search(store, "", SearchOptions(sort="path", fold="live", threshold=THRESHOLD))
    folded = {(hit.id, *sorted(other.id for other in hit.folded)) for hit in page.hits}
    return pairs, families, near, folded


def test_rows_of_two_statistics_answer_as_if_the_later_signed_all(mixed):
    assert numbers(mixed) == {**dict.fromkeys(EARLIER, "1"), **dict.fromkeys(LATER, "2")}
    before = answers(mixed)
    assert {"a", "b"} <= before[2].keys()
    result = reindex(mixed, ONLINE)
    mixed.refresh()
    assert set(numbers(mixed).values()) == {"3"}
    assert mixed.stored_recipe().numbered_statistics.startswith("3:")
    assert result.bit_changes.rows == 5 and result.bit_changes.changed >= 1
    assert answers(mixed) == before


def test_status_counts_the_rows_that_await_another_signature(mixed):
    assert status(mixed).signed_earlier == len(EARLIER)
    assert mixed.counts().by_recipe[mixed.stored_recipe().id] == len(LATER)
    reindex(mixed, ONLINE)
    mixed.refresh()
    assert status(mixed).signed_earlier == 0


def test_an_interrupted_reindex_goes_on_after_other_documents_came(mixed):
    def interrupt(_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        reindex(mixed, ONLINE, on_progress=interrupt)
    assert numbers(mixed) == {**dict.fromkeys(EARLIER, "1"), **dict.fromkeys(LATER, "2")}
    added = {"later": sentence(9, words=150)}
    assert set(mixed.write(rows(added, recipe=mixed.stored_recipe()))) == {None}
    mixed.refresh()
    reindex(mixed, ONLINE)
    mixed.refresh()
    recipe = mixed.stored_recipe()
    assert recipe.corpus().documents == len(TEXTS) + 1
    assert {row.recipe for row in mixed.scan()} == {recipe.id}
    assert all(stored is fresh for stored, fresh in fresh_rows(mixed.scan(), recipe))
