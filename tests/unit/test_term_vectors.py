"""Stored rare-term signatures: their layout, overlap and keys, and the statistics they need."""

import json
import random
from pathlib import Path

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer import IndexOptions, index, open_store, recipe_named, similar
from indexer.comparing.band_plan import equal_parts
from indexer.errors import RecipeMismatch, UsageError
from indexer.fingerprinting.fingerprint import fingerprint, fingerprints
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.rare_terms import (
    common_entries,
    count_features,
    format_hash,
    hash_key,
    lengths_agree,
    min_common,
    overlap,
    rare_terms,
    term_keys,
    term_vector,
    vector_overlap,
)
from indexer.fingerprinting.schemes import count_text_features
from indexer.fingerprinting.tokens import tokens
from indexer.system import recipe_inputs

VOCABULARY = [f"w{number}" for number in range(200)]
# word i occurs in every i-th document
STATISTICS = count_features(
    (
        string_hashes([word for rank, word in enumerate(VOCABULARY, 1) if number % rank == 0])
        for number in range(300)
    ),
    "words",
)
GOLDEN = json.loads((Path(__file__).parent.parent / "golden/rareterms.json").read_text())
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=120)
THRESHOLDS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 1.0])


def vector_of(words: list[str], size: int = 30):
    return term_vector(rare_terms(words, STATISTICS, size), hash_key(words, STATISTICS))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda vector: vector["name"])
def test_the_layout_is_length_hash_and_the_upper_halves_of_entries(golden: dict) -> None:
    texts = json.loads((Path(__file__).parent.parent / "data/declaration.json").read_text())
    recipe = recipe_named("clauses")
    statistics = count_text_features([one[0] for one in texts.values()], recipe)
    words = tokens(golden["text"], "v2")
    if not words:
        return
    signature = rare_terms(words, statistics, golden["size"])
    vector = term_vector(signature, hash_key(words, statistics))
    halves = [mmh3.hash64(entry.encode(), signed=False)[0] >> 32 for entry in signature.entries]
    assert vector.tolist()[3:] == halves and vector[0] == len(words)
    assert format_hash(vector) == hash_key(words, statistics)
    assert vector.dtype == np.uint32 and len(vector) == 3 + golden["size"]


@given(WORDS, WORDS, st.sampled_from([10, 30, 60]))
def test_the_overlap_is_that_of_the_padded_terms_where_lengths_agree(
    left: list[str], right: list[str], size: int
) -> None:
    a, b = vector_of(left, size), vector_of(right, size)
    expected = overlap(rare_terms(left, STATISTICS, size), rare_terms(right, STATISTICS, size))
    if not lengths_agree(len(left), len(right)):
        expected = 0.0
    assert vector_overlap(a, b) == vector_overlap(b, a) == pytest.approx(expected)
    assert common_entries(a[None], b[None])[0] == round(expected * size)
    assert vector_overlap(a, a) == 1.0


@given(WORDS, st.integers(0, 6), st.randoms(use_true_random=False), THRESHOLDS)
def test_no_pair_at_the_threshold_is_without_a_common_key(
    words: list[str], edits: int, chance: random.Random, threshold: float
) -> None:
    edited = list(words)
    for _ in range(edits):
        edited[chance.randrange(len(edited))] = chance.choice(VOCABULARY)
    a, b = vector_of(words), vector_of(edited)
    if vector_overlap(a, b) >= threshold - 1e-9:
        assert set(term_keys(a, threshold)) & set(term_keys(b, threshold))
        assert common_entries(a[None], b[None])[0] >= min_common(threshold, 30)


def test_equal_halves_of_one_vector_are_told_apart() -> None:
    halves = ["entry"] * 3
    signature = rare_terms(["one", "two"], STATISTICS, 10)
    vector = term_vector(
        type(signature)(2, 2, 10, signature.terms, (*signature.entries[:7], *halves)), "0" * 16
    )
    assert len(set(vector[3:].tolist())) == 10


def test_thresholds_in_entries() -> None:
    recipe = recipe_named("clauses:60")
    assert [equal_parts(recipe, threshold) for threshold in (0.9, 0.91, 1.0)] == [54, 55, 60]
    assert (recipe.sketch_width, recipe.sketch_bytes) == (63, 252)


LONG = " ".join(f"term{place} and another" for place in range(20))


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_store_keeps_its_statistics_as_it_grows(tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(LONG)
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    clauses = IndexOptions(recipe_named("clauses"), extractor="plain")
    index([str(folder)], store, clauses)
    first = store.stored_recipe()
    [kept] = (state / "nearfold" / "statistics").iterdir()
    assert kept.name == first.statistics and first.corpus().documents == 1
    (folder / "b.txt").write_text(LONG.replace("term7", "other"))
    index([str(folder)], store, clauses)
    index([str(folder)], store)
    assert store.stored_recipe() == first
    with pytest.raises(RecipeMismatch, match="statistics: "):
        index(
            [str(folder)],
            store,
            IndexOptions(recipe_named("clauses"), extractor="plain", statistics=str(folder)),
        )
    assert [hit.path[-5:] for hit in similar(store, LONG).matches] == ["a.txt", "b.txt"]
    row = next(iter(store.scan()))
    assert row.minhash == fingerprint(row.text, first).vector.astype(">u4").tobytes()
    store.close()


def test_without_its_statistics_a_store_is_read_but_signs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    (tmp_path / "a.txt").write_text(LONG)
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    index(
        [str(tmp_path / "a.txt")], store, IndexOptions(recipe_named("clauses"), extractor="plain")
    )
    digest = store.stored_recipe().statistics
    store.close()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    recipe_inputs._statistics.cache_clear()
    again = open_store(url)
    assert len(list(again.scan())) == 1
    with pytest.raises(UsageError, match=f"statistics {digest}.* NEARFOLD_STATISTICS"):
        similar(again, LONG)
    kept = state / "nearfold" / "statistics" / digest
    monkeypatch.setenv("NEARFOLD_STATISTICS", str(kept))
    assert len(similar(again, LONG).matches) == 1
    again.close()


def test_statistics_go_with_weights_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="clauses:30 cannot be kept"):
        fingerprints([LONG], recipe_named("clauses"))
    (tmp_path / "a.txt").write_text(LONG)
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    with pytest.raises(UsageError, match="default_v3 has no corpus weights"):
        index([str(tmp_path)], store, IndexOptions(statistics=str(tmp_path), extractor="plain"))
    store.close()
    assert not (tmp_path / "x.db").exists()
