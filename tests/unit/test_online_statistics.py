"""Online weighted TopSig: numbered statistics that grow, and rows that name theirs."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import rows

from indexer.errors import RecipeMismatch, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.keys import bits_of_row, hamming
from indexer.fingerprinting.schemes import count_text_features, features_of
from indexer.fingerprinting.simhash import topsig
from indexer.grouping.match import MatchOptions, match
from indexer.jobs import corpus_statistics
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.reindex import reindex
from indexer.recipe import Recipe, recipe_named
from indexer.stores import open_store
from indexer.system.recipe_inputs import keep_statistics, with_corpus

ROOT = Path(__file__).parent.parent
GOLDEN = json.loads((ROOT / "golden/online_topsig.json").read_text())
ONLINE = recipe_named("signature-study:online-topsig:256")
TEXTS = [
    text
    for texts in json.loads((ROOT / "data/declaration.json").read_text()).values()
    for text in texts
]


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def with_next(recipe: Recipe, texts: list[str]) -> Recipe:
    return keep_statistics(recipe, count_text_features(texts, recipe))


def recipes() -> tuple[Recipe, Recipe]:
    """The recipe with the statistics of one text, and with those of all as number 2."""
    first = with_next(ONLINE, TEXTS[:1])
    return first, with_next(first, TEXTS)


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: f"{vector['bits']}")
def test_golden(vector: dict) -> None:
    recipe = recipe_named(f"signature-study:online-topsig:{vector['bits']}")
    recipe = with_next(with_next(recipe, TEXTS[:2]), TEXTS)
    for number, expected in zip((1, 2), vector["signatures"], strict=True):
        signing = with_corpus(recipe.by_statistics()[number - 1])
        signed = fingerprint(TEXTS[0], signing)
        assert signing.id == expected["recipe"]
        assert f"{signed.simhash:x}" == expected["signature"]
        assert signed.blocks[:2] == tuple(expected["keys"])


def test_a_number_signs_as_weighted_topsig_by_its_statistics() -> None:
    recipe = recipes()[1]
    for number, counted in ((1, TEXTS[:1]), (2, TEXTS)):
        statistics = count_text_features(counted, ONLINE)
        hashes = string_hashes(features_of(TEXTS[2], ONLINE))
        expected = topsig(hashes, 256, statistics, weights="log_ratio_v1")
        signed = fingerprint(TEXTS[2], with_corpus(recipe.by_statistics()[number - 1]))
        assert signed.simhash == expected


def test_keys_of_two_numbers_are_never_equal() -> None:
    first, second = recipes()
    keys = [set(fingerprint(TEXTS[0], recipe).blocks) for recipe in (first, second)]
    assert all(keys) and not keys[0] & keys[1]


def write_folder(folder: Path, texts: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    for place, text in enumerate(texts):
        file = folder / f"{place}.txt"
        if not file.exists():
            file.write_text(text, encoding="utf-8")


def test_statistics_grow_when_the_store_holds_twice_what_they_counted(tmp_path) -> None:
    folder = tmp_path / "in"
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        numbers = []
        for count in (2, 3, 5, 5):
            write_folder(folder, TEXTS[:count])
            index(folder, store, IndexOptions(recipe=ONLINE))
            recipe = store.stored_recipe()
            assert recipe is not None
            numbers.append((recipe.statistics_number, recipe.corpus().documents))
        assert numbers == [(1, 2), (1, 2), (1, 2), (2, 5)]
        write_folder(folder, TEXTS[:6])
        index(folder, store)
        by_number = [row.recipe.split(".")[1] for row in store.scan()]
        assert sorted(by_number) == ["1"] * 5 + ["2"]
        with pytest.raises(RecipeMismatch):
            index(folder, store, IndexOptions(recipe=recipe_named("default")))


def test_the_first_statistics_count_the_first_documents_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(corpus_statistics, "FIRST_DOCUMENTS", 2)
    write_folder(tmp_path / "in", TEXTS[:5])
    with closing(open_store("sqlite://:memory:")) as store:
        index(tmp_path / "in", store, IndexOptions(recipe=ONLINE))
        recipe = store.stored_recipe()
        assert recipe is not None and recipe.corpus().documents == 2
        assert store.counts().documents == 5


def test_reindex_signs_all_by_the_next_number_and_says_what_moved() -> None:
    first, second = recipes()
    texts = dict(zip("abcdef", TEXTS, strict=False))
    with closing(open_store("sqlite://:memory:")) as store:
        store.prepare(first)
        store.write(rows(dict(list(texts.items())[:4]), first))
        store.prepare(second)
        store.write(rows(dict(list(texts.items())[4:]), second))
        before = {row.id: bits_of_row(row) for row in store.scan()}
        result = reindex(store, ONLINE)
        recipe = store.stored_recipe()
        assert recipe is not None and recipe.statistics_number == 3
        assert recipe.corpus().id == count_text_features(texts.values(), ONLINE).id
        after = {row.id: bits_of_row(row) for row in store.scan()}
        assert {row.recipe for row in store.scan()} == {recipe.id}
        distances = [hamming(before[id] or 0, after[id] or 0) for id in texts]
        changes = result.bit_changes
        assert changes is not None and any(distances)
        assert dict(changes.by_distance) == {d: distances.count(d) for d in distances}
        assert (changes.rows, changes.greatest_distance) == (6, max(distances))
        assert changes.changed == sum(map(bool, distances))
        assert changes.mean_distance == pytest.approx(sum(distances) / changes.changed)
        assert reindex(store, ONLINE).copied == 0


def test_statistics_that_are_gone_are_named(tmp_path, monkeypatch) -> None:
    recipe = with_next(ONLINE, ["counted here and read nowhere"])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(UsageError, match=str(recipe.statistics_digest)):
        fingerprint(TEXTS[0], recipe)


NAMES = ["harbour", "ferry", "night", "quay", "bridge", "letter"]
WORDS = st.lists(st.sampled_from(NAMES), max_size=30)


@pytest.mark.long
@settings(deadline=None, max_examples=15)
@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=6), st.data())
def test_rows_of_several_numbers_have_the_pairs_of_rows_of_one(texts, data) -> None:
    """Whatever the statistics and the rows that they signed: never compared across numbers."""
    counted = data.draw(st.lists(st.sampled_from(TEXTS + texts), min_size=1, max_size=3))
    first = with_next(ONLINE, counted)
    second = with_next(first, TEXTS)
    documents = {str(place): text for place, text in enumerate(texts)}
    early = data.draw(st.sets(st.sampled_from(sorted(documents))))
    answers = []
    for is_mixed in (True, False):
        with closing(open_store("sqlite://:memory:")) as store:
            store.prepare(first)
            old = {id: text for id, text in documents.items() if is_mixed and id in early}
            store.write(rows(old, first))
            store.prepare(second)
            store.write(rows({i: t for i, t in documents.items() if i not in old}, second))
            pairs = match(store, MatchOptions(threshold=0.875))
            answers.append({(pair.a, pair.b, pair.similarity) for pair in pairs})
    assert answers[0] == answers[1]


def test_bits_without_a_signature_do_not_count_as_moved() -> None:
    recipe = recipes()[0]
    [row] = rows({"a": ""}, recipe)
    assert bits_of_row(row) is None
