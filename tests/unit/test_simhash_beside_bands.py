"""Recipe `default_v3`: the bands of `default_v2`, a SimHash beside them, and look-ups by either."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_rows import row

from indexer.comparing.compare import compare
from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import define, fingerprint, fingerprint_rows, fingerprints
from indexer.fingerprinting.hashing import word_features
from indexer.fingerprinting.keys import block_keys, hamming, stored_sketch
from indexer.fingerprinting.normalise import normalised_codes_v2
from indexer.model import Row
from indexer.recipe import DEFAULT_V2, DEFAULT_V3, Recipe, recipe_named
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store

WORDS = st.lists(
    st.sampled_from(["to", "be", "or", "not", "that", "is", "the", "5", "近", "question"]),
    max_size=60,
)
TEXT = " ".join(f"word{number}" for number in range(300))


@given(WORDS.map(" ".join))
def test_slots_bands_and_counts_are_those_of_default_v2(text: str) -> None:
    v2, v3 = define([text], DEFAULT_V2), define([text], DEFAULT_V3)
    assert v2.minhash.tolist() == v3.minhash.tolist()
    assert (v2.bands, v2.status, v2.words.tolist()) == (v3.bands, v3.status, v3.words.tolist())
    assert v2.exact == v3.exact


@given(WORDS.map(" ".join))
def test_bits_are_majorities_over_the_occurrences_of_pairs(text: str) -> None:
    features = word_features(normalised_codes_v2(text)).tolist()
    own = fingerprint(text, DEFAULT_V3)
    if len(features) < 3:
        assert (own.simhash, own.blocks) == (None, ())
        return
    majority = sum(
        1 << bit for bit in range(64) if 2 * sum(f >> bit & 1 for f in features) > len(features)
    )
    assert own.simhash == majority
    assert own.blocks == block_keys(majority, 64, 4)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a gain of 500 dollars", "a gain of -500 dollars"),
        ("if a < b then stop", "if a > b then stop"),
        ("written in C today", "written in C++ today"),
    ],
)
def test_signs_make_another_text(a: str, b: str) -> None:
    for sign in (define, fingerprints):
        assert len({*sign([a, b], DEFAULT_V2).exact}) == 1
        assert len({*sign([a, b], DEFAULT_V3).exact}) == 2


def test_a_secret_key_hides_the_bits_too() -> None:
    keyed = recipe_named("default_v3+key:legal").with_secret("0123456789abcdef" * 4)
    plain, hidden = fingerprint(TEXT, DEFAULT_V3), fingerprint(TEXT, keyed)
    assert plain.simhash is not None and hidden.simhash is not None
    assert hamming(plain.simhash, hidden.simhash) > 10
    assert define([TEXT], keyed).simhash.tolist() == [hidden.simhash]
    assert plain.exact == hidden.exact


@pytest.mark.parametrize("change", [{"bits": 32}, {"exact": "symbols_v2"}, {"simhash": "other_v1"}])
def test_unknown_settings_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="cannot compute"):
        fingerprints(["text"], dataclasses.replace(DEFAULT_V3, **change))  # type: ignore[arg-type]


def test_bands_and_blocks_are_looked_up_apart() -> None:
    """A row that shares one band and one block with the query shares two keys, and is none."""
    store = open_store("sqlite:///:memory:")
    store.prepare(DEFAULT_V3)
    own = fingerprint(TEXT, DEFAULT_V3)
    assert own.simhash is not None
    other = " ".join(f"other{number}" for number in range(300))
    unlike = fingerprint(other, DEFAULT_V3)

    def stored(id: str, bands: tuple[str, ...], simhash: int) -> Row:
        keys = {"bands": bands, "blocks": own.blocks, "simhash": simhash}
        return row(id, recipe=DEFAULT_V3.id, text=other, minhash=stored_sketch(unlike), **keys)

    one_of_each = stored("one of each", (own.bands[0], *unlike.bands[1:]), own.simhash ^ 0x7FF)
    close = stored("close", unlike.bands, own.simhash ^ 0b111)
    store.write([one_of_each, close])
    lcs = similar(store, TEXT, SimilarOptions(threshold=0.0, measure="lcs"))
    assert lcs.matches == ()
    bits = similar(store, TEXT, SimilarOptions(threshold=0.0, measure="hamming"))
    assert [match.id for match in bits.matches] == ["close"]


@pytest.mark.parametrize("recipe", [DEFAULT_V2, DEFAULT_V3], ids=lambda recipe: recipe.name)
def test_other_symbols_of_value_are_no_exact_copy_by_either_recipe(recipe: Recipe) -> None:
    a, b = f"{TEXT} a gain of 500", f"{TEXT} a gain of -500"
    assert compare(a, b, recipe).same is None
    assert compare(a, f"> {a}", recipe).same is not None
    store = open_store("sqlite:///:memory:")
    store.prepare(recipe)
    store.write(fingerprint_rows([row("minus", text=b), row("quoted", text=f"> {a}")], recipe))
    found = {match.id: match for match in similar(store, a).matches}
    assert found["quoted"].same and not found["minus"].same
    assert found["minus"].similarity == 1.0
    assert found["minus"].differences
