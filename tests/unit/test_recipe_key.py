"""A recipe with a secret key: what is stored of it, where it comes from, and its bits."""

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from golden_cases import vector
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import RecipeMismatch, UsageError
from indexer.recipe import DEFAULT_V1, Recipe, recipe_named
from indexer.sketch.fingerprint import define, fingerprint, fingerprints
from indexer.sketch.siphash import keyed_gram_hashes, siphash24
from indexer.stores import open_store
from indexer.stores.engine import painless
from indexer.system.keyed_recipes import recipe_asked, with_key
from indexer.text.codepoints import encode

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden/default_v1_keyed.json").read_text(encoding="ascii")
)
SECRET, OTHER = GOLDEN["secret"], "another secret, and a long one too"
NAME = "default_v1+key:legal"
KEYED = recipe_named(NAME).with_secret(SECRET)
TEXT = (
    "The ferry to Vega leaves from the northern quay every evening, and dogs travel free of charge."
)


def test_the_vector_that_siphash_was_published_with():
    low, high = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    [digest] = siphash24(np.array([low], np.uint64), np.array([high], np.uint64), (low, high))
    assert digest == 0x3F2ACC7F57C29BDB


@pytest.mark.parametrize("text", GOLDEN["texts"], ids=lambda text: text[:12])
def test_golden_vectors(text):
    expected = GOLDEN["texts"][text]
    assert vector(define([text], KEYED)) == expected
    assert vector(fingerprints([text], KEYED)) == expected


def test_a_recipe_describes_its_key_without_revealing_it():
    assert KEYED.key == GOLDEN["fingerprint"]
    assert KEYED.id == GOLDEN["id"] != DEFAULT_V1.id
    assert KEYED.settings == {
        **DEFAULT_V1.settings,
        "name": NAME,
        "feature_hash": "sip24_v1",
        "key": KEYED.key,
    }
    assert SECRET not in repr(KEYED) + str(KEYED.settings)
    assert pickle.loads(pickle.dumps(KEYED)).secret == SECRET


def test_without_a_key_nothing_changes():
    assert DEFAULT_V1.id == "05acd0445251"
    assert recipe_asked("default", {"NEARFOLD_KEY_LEGAL": SECRET}) is DEFAULT_V1


def test_a_key_that_would_be_lost_on_its_way_is_refused_and_not_repeated():
    for value in (f"{SECRET} ", f" {SECRET}", f"{SECRET}\n", f"{SECRET[:20]}\t{SECRET[20:]}"):
        with pytest.raises(UsageError, match=r"white space|control character") as caught:
            recipe_asked(NAME, {"NEARFOLD_KEY_LEGAL": value})
        assert SECRET[:20] not in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=()), max_size=60), max_size=3),
    st.integers(1, 6),
    st.text("0123456789abcdef", min_size=32, max_size=64),
)
def test_the_kernel_equals_the_definition(texts, width, secret):
    recipe = dataclasses.replace(recipe_named(NAME).with_secret(secret), width=width)
    compiled, defined = fingerprints(texts, recipe), define(texts, recipe)
    assert np.array_equal(compiled.minhash, defined.minhash) and np.array_equal(
        compiled.simhash, defined.simhash
    )
    assert (compiled.bands, compiled.blocks, compiled.exact) == (
        defined.bands,
        defined.blocks,
        defined.exact,
    )


@given(st.text(st.characters(), min_size=12, max_size=12), st.integers(1, 6))
def test_every_character_of_a_run_counts(text, width):
    codes = encode(text)
    hashes = keyed_gram_hashes(codes, width, (1, 2))
    runs = [tuple(codes[start : start + width].tolist()) for start in range(len(hashes))]
    assert len(set(hashes.tolist())) == len(set(runs))


def test_two_keys_share_no_key_of_an_index():
    right = recipe_named(NAME).with_secret(OTHER)
    signed = [fingerprint(TEXT, recipe) for recipe in (DEFAULT_V1, KEYED, right)]
    assert len({key for left in signed for key in (*left.bands, *left.blocks)}) == sum(
        len(left.bands) + len(left.blocks) for left in signed
    )


def test_the_key_comes_from_a_variable_or_from_a_file_that_only_its_owner_reads(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n", encoding="ascii")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600") as caught:
        recipe_asked(NAME, {"NEARFOLD_KEY_LEGAL_FILE": str(file)})
    assert SECRET not in str(caught.value)
    file.chmod(0o600)
    for environment in ({"NEARFOLD_KEY_LEGAL_FILE": str(file)}, {"NEARFOLD_KEY_LEGAL": SECRET}):
        recipe = recipe_asked(NAME, environment)
        assert (recipe, recipe.secret) == (KEYED, SECRET)
    assert recipe_asked("default+key:legal", {"NEARFOLD_KEY_LEGAL": SECRET}) == KEYED


def test_a_missing_a_short_and_a_wrong_key_are_refused():
    with pytest.raises(UsageError, match="NEARFOLD_KEY_LEGAL_FILE"):
        recipe_asked(NAME, {"NEARFOLD_KEY_OTHER": SECRET})
    with pytest.raises(UsageError, match="32 characters or more, not 9") as caught:
        recipe_asked(NAME, {"NEARFOLD_KEY_LEGAL": "too short"})
    assert "too short" not in str(caught.value)
    stored = Recipe(**KEYED.settings)
    with pytest.raises(UsageError, match=f"fingerprint .*, but .* was made with {KEYED.key}"):
        with_key(stored, {"NEARFOLD_KEY_LEGAL": OTHER})
    for unkeyed in (stored, recipe_named(NAME)):
        with pytest.raises(UsageError, match="NEARFOLD_KEY_LEGAL_FILE"):
            fingerprint(TEXT, unkeyed)


@pytest.mark.parametrize(
    "name",
    [
        "default_v1+key:",
        "default_v1+key:Legal",
        "default_v1+key:a b",
        "clauses+key:legal",
        "+key:x",
    ],
)
def test_other_spellings_are_unknown(name):
    with pytest.raises(UsageError, match=r"unknown|unlike|spelled"):
        recipe_named(name)


def test_a_store_keeps_the_fingerprint_and_never_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFOLD_KEY_LEGAL", SECRET)
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    store.prepare(KEYED)
    store.close()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    again = open_store(url)
    assert again.stored_recipe() == KEYED and again.stored_recipe().secret == SECRET
    with pytest.raises(RecipeMismatch, match=f"key: {KEYED.key} -> "):
        again.prepare(recipe_named(NAME).with_secret(OTHER))
    again.close()
    monkeypatch.delenv("NEARFOLD_KEY_LEGAL")
    assert open_store(url).stored_recipe().secret is None


def test_no_pipeline_in_a_cluster_receives_the_key():
    with pytest.raises(UsageError, match="secret key would be stored in the cluster") as caught:
        painless.pipeline(KEYED)
    assert SECRET not in str(caught.value)
