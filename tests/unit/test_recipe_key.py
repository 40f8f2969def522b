"""A recipe with a secret key: what is stored of it, where it comes from, and its bits."""

import dataclasses
import json
import pickle
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from golden_cases import vector
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_library import edited, sentence

from indexer.comparing.measures import estimate, feature_set, jaccard
from indexer.errors import RecipeMismatch, UsageError
from indexer.fingerprinting.fingerprint import define, fingerprint, fingerprints
from indexer.fingerprinting.hashing import keyed_gram_hashes, keyed_word_features, mix64, siphash24
from indexer.fingerprinting.minhash import standard_error
from indexer.fingerprinting.normalise import decode, encode, normalised_codes_v2, word_starts
from indexer.recipe import DEFAULT, DEFAULT_V1, DEFAULT_V2, Recipe, recipe_named
from indexer.stores import open_store
from indexer.stores.engine import ingest_pipeline
from indexer.system.recipe_inputs import recipe_asked, with_key

GOLDEN, GOLDEN_V2 = (
    json.loads((Path(__file__).parent.parent / f"golden/{name}.json").read_text(encoding="ascii"))
    for name in ("default_v1_keyed", "default_v2_keyed")
)
SECRET, OTHER = GOLDEN["secret"], "another secret, and a long one too"
NAME, NAME_V2 = "default_v1+key:legal", "default_v2+key:legal"
KEYED, KEYED_V2 = (recipe_named(name).with_secret(SECRET) for name in (NAME, NAME_V2))
both = pytest.mark.parametrize("keyed", [KEYED, KEYED_V2], ids=[NAME, NAME_V2])
TEXT = (
    "The ferry to Vega leaves from the northern quay every evening, and dogs travel free of charge."
)
VERSIONS = (DEFAULT_V1.name, DEFAULT_V2.name)
SECRETS = st.text("0123456789abcdef", min_size=32, max_size=64)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
WORDS = st.sampled_from(["to", "be", "or", "not", "近似", "Ферри", "x" * 40, "é", "12"])


def test_the_vector_that_siphash_was_published_with():
    low, high = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    [digest] = siphash24(np.array([low], np.uint64), np.array([high], np.uint64), (low, high))
    assert digest == 0x3F2ACC7F57C29BDB


@pytest.mark.parametrize("text", GOLDEN["texts"], ids=lambda text: text[:12])
def test_golden_vectors(text):
    expected = GOLDEN["texts"][text]
    assert vector(define([text], KEYED)) == expected
    assert vector(fingerprints([text], KEYED)) == expected


@pytest.mark.parametrize("text", GOLDEN_V2["texts"], ids=lambda text: text[:12])
def test_golden_vectors_of_default_v2(text):
    expected = GOLDEN_V2["texts"][text]
    assert vector(define([text], KEYED_V2)) == expected
    assert vector(fingerprints([text], KEYED_V2)) == expected


@pytest.mark.parametrize(
    ("keyed", "golden", "plain", "feature_hash"),
    [
        (KEYED, GOLDEN, DEFAULT_V1, "sip24_v1"),
        (KEYED_V2, GOLDEN_V2, DEFAULT_V2, "sip24_pairs_v1"),
    ],
    ids=[NAME, NAME_V2],
)
def test_a_recipe_describes_its_key_without_revealing_it(keyed, golden, plain, feature_hash):
    assert keyed.key == golden["fingerprint"]
    assert keyed.id == golden["id"] != plain.id
    assert keyed.settings == {
        **plain.settings,
        "name": f"{plain.name}+key:legal",
        "feature_hash": feature_hash,
        "key": keyed.key,
    }
    assert SECRET not in repr(keyed) + str(keyed.settings)
    assert pickle.loads(pickle.dumps(keyed)).secret == SECRET


def test_without_a_key_nothing_changes():
    assert DEFAULT_V1.id == "05acd0445251"
    assert recipe_asked("default", {"NEARFOLD_KEY_LEGAL": SECRET}) is DEFAULT


def test_a_key_that_would_be_lost_on_its_way_is_refused_and_not_repeated():
    for value in (f"{SECRET} ", f" {SECRET}", f"{SECRET}\n", f"{SECRET[:20]}\t{SECRET[20:]}"):
        with pytest.raises(UsageError, match=r"white space|control character") as caught:
            recipe_asked(NAME, {"NEARFOLD_KEY_LEGAL": value})
        assert SECRET[:20] not in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(st.lists(ANY_TEXT, max_size=3), st.integers(1, 6), SECRETS)
def test_the_kernel_equals_the_definition(texts, width, secret):
    recipe = dataclasses.replace(recipe_named(NAME).with_secret(secret), width=width)
    assert_kernel_equals_definition(texts, recipe)


@settings(max_examples=80, deadline=None)
@given(st.lists(ANY_TEXT | st.lists(WORDS, max_size=60).map(" ".join), max_size=3), SECRETS)
def test_the_kernel_equals_the_definition_of_default_v2(texts, secret):
    assert_kernel_equals_definition(texts, recipe_named(NAME_V2).with_secret(secret))


@pytest.mark.parametrize("step", [1, 128, 4096])
def test_the_kernel_equals_the_definition_of_many_letters(step):
    """Letters at places displace each other's hashes in what the kernel keeps."""
    letters = [chr(0x61 + step * number) for number in range(30)]
    words = ["".join(letters[start:] + letters[:start]) * 9 for start in range(len(letters))]
    assert_kernel_equals_definition([" ".join(words * 2)], KEYED_V2)


def assert_kernel_equals_definition(texts, recipe):
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


@pytest.mark.long
@given(st.lists(WORDS, max_size=40), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_word_pairs_under_a_key_are_as_documented(words, low, high):
    def sip(first, second):
        message = (np.array([word], dtype=np.uint64) for word in (first, second))
        return int(siphash24(*message, (low, high))[0])

    def word_hash(word):
        letters = (ord(letter) + (place << 21) for place, letter in enumerate(word))
        return mix64(sum(sip(letter, 2**64 - 1) for letter in letters) % 2**64)

    codes = normalised_codes_v2(" ".join(words))
    ends = [*word_starts(codes).tolist(), len(codes)]
    text = decode(codes)
    hashes = [word_hash(text[start:end].rstrip()) for start, end in pairwise(ends)]
    times = Counter()
    features = []
    for before, word in pairwise(hashes):
        pair = mix64(mix64(before) ^ word)
        features.append(sip(pair, times[pair]))
        times[pair] += 1
    assert sorted(keyed_word_features(codes, (low, high)).tolist()) == sorted(features)


@both
def test_two_keys_share_no_key_of_an_index(keyed):
    plain = recipe_named(keyed.name.partition("+")[0])
    right = recipe_named(keyed.name).with_secret(OTHER)
    signed = [fingerprint(TEXT, recipe) for recipe in (plain, keyed, right)]
    assert all(left.bands for left in signed)
    assert len({key for left in signed for key in (*left.bands, *left.blocks)}) == sum(
        len(left.bands) + len(left.blocks) for left in signed
    )


@pytest.mark.parametrize("edits", [0, 5, 20, 60, 200])
def test_a_key_changes_slots_and_not_the_similarity_that_they_estimate(edits):
    texts = [sentence(1, 200), edited(sentence(1, 200), edits)]
    left, right = (feature_set(text, KEYED_V2) for text in texts)
    exact = jaccard(left, right)
    margin = 4 * standard_error(exact, 160, 8)
    recipes = (DEFAULT_V2, KEYED_V2, recipe_named(NAME_V2).with_secret(OTHER))
    signed = [fingerprints(texts, recipe).minhash for recipe in recipes]
    for slots in signed:
        assert abs(estimate(*slots, bits=8).similarity - exact) <= margin
    for one, other in combinations(signed, 2):
        assert estimate(one[0], other[0], bits=8).similarity <= 4 * standard_error(0, 160, 8)


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
    for name, version in (("default", DEFAULT.name), *((name, name) for name in VERSIONS)):
        recipe = recipe_asked(f"{name}+key:legal", {"NEARFOLD_KEY_LEGAL": SECRET})
        assert (recipe.name, recipe.secret) == (f"{version}+key:legal", SECRET)


def test_a_missing_a_short_and_a_wrong_key_are_refused():
    with pytest.raises(UsageError, match="NEARFOLD_KEY_LEGAL_FILE"):
        recipe_asked(NAME, {"NEARFOLD_KEY_OTHER": SECRET})
    with pytest.raises(UsageError, match="32 characters or more, not 9") as caught:
        recipe_asked(NAME, {"NEARFOLD_KEY_LEGAL": "too short"})
    assert "too short" not in str(caught.value)


@both
def test_without_its_key_or_with_another_a_stored_recipe_signs_nothing(keyed):
    stored = Recipe(**keyed.settings)
    with pytest.raises(UsageError, match=f"fingerprint .*, but .* was made with {keyed.key}"):
        with_key(stored, {"NEARFOLD_KEY_LEGAL": OTHER})
    for unkeyed in (stored, recipe_named(keyed.name)):
        with pytest.raises(UsageError, match="NEARFOLD_KEY_LEGAL_FILE"):
            fingerprint(TEXT, unkeyed)


@pytest.mark.parametrize(
    "name",
    [
        "default_v1+key:",
        "default_v1+key:Legal",
        "default_v1+key:a b",
        "default_v2+key:Legal",
        "default_v4+key:legal",
        "clauses+key:legal",
        "+key:x",
    ],
)
def test_other_spellings_are_unknown(name):
    with pytest.raises(UsageError, match=r"unknown|unlike|spelled"):
        recipe_named(name)


@both
def test_the_feature_hash_of_the_other_version_is_refused(keyed):
    other = {"sip24_v1": "sip24_pairs_v1", "sip24_pairs_v1": "sip24_v1"}[keyed.feature_hash]
    for sign in (define, fingerprints):
        with pytest.raises(UsageError, match=f"feature_hash = {other}"):
            sign([TEXT], dataclasses.replace(keyed, feature_hash=other))


@both
def test_a_store_keeps_the_fingerprint_and_never_the_key(keyed, tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFOLD_KEY_LEGAL", SECRET)
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    store.prepare(keyed)
    store.close()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    again = open_store(url)
    assert again.stored_recipe() == keyed and again.stored_recipe().secret == SECRET
    with pytest.raises(RecipeMismatch, match=f"key: {keyed.key} -> "):
        again.prepare(recipe_named(keyed.name).with_secret(OTHER))
    again.close()
    monkeypatch.delenv("NEARFOLD_KEY_LEGAL")
    assert open_store(url).stored_recipe().secret is None


@both
def test_no_pipeline_in_a_cluster_receives_the_key(keyed):
    with pytest.raises(UsageError, match="secret key would be stored in the cluster") as caught:
        ingest_pipeline.pipeline(keyed)
    assert SECRET not in str(caught.value)
