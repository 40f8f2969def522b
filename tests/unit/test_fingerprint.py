"""The core function.

Golden vectors, an independent oracle in plain integers, statuses and refusals.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from golden_cases import (
    VECTORS,
    VECTORS_SCANS,
    VECTORS_V2,
    VECTORS_V3,
    cases,
    plain_cases,
    recipe_of,
    text_of,
    vector,
)

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import (
    Fingerprints,
    define,
    fingerprint,
    fingerprints,
    kernel_name,
)
from indexer.fingerprinting.normalise import normalise
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, DEFAULT_V3, SCANS_V1, Recipe

CASES = cases()
GOLDEN: dict[str, dict[str, Any]] = json.loads(VECTORS.read_text(encoding="ascii"))
PLAIN: dict[Recipe, dict[str, dict[str, Any]]] = {
    DEFAULT_V2: json.loads(VECTORS_V2.read_text(encoding="ascii")),
    DEFAULT_V3: json.loads(VECTORS_V3.read_text(encoding="ascii")),
    SCANS_V1: json.loads(VECTORS_SCANS.read_text(encoding="ascii")),
}
WORD = 2**64


def test_every_text_has_a_vector() -> None:
    assert list(GOLDEN) == [case["name"] for case in CASES]


@pytest.mark.long
@pytest.mark.parametrize("sign", [define, fingerprints])
def test_golden_vectors(sign: Any) -> None:
    vectors = {case["name"]: vector(sign([text_of(case)], recipe_of(case))) for case in CASES}
    assert vectors == GOLDEN


@pytest.mark.long
@pytest.mark.parametrize("sign", [define, fingerprints])
@pytest.mark.parametrize("recipe", PLAIN, ids=lambda recipe: recipe.name)
def test_golden_vectors_of_other_recipes(recipe: Recipe, sign: Any) -> None:
    vectors = {case["name"]: vector(sign([text_of(case)], recipe)) for case in plain_cases()}
    assert vectors == PLAIN[recipe]


# The oracle: the docstrings of indexer/fingerprinting again, in integers, slowly.


def mix(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB % WORD
    return value ^ value >> 31


def features(text: str, width: int) -> set[int]:
    runs = [
        [ord(c) for c in text[start : start + width]] + [0] * 6
        for start in range(len(text) - width + 1)
    ]
    packed = [
        (a + (b << 21) + (c << 42), d + (e << 21) + (f << 42)) for a, b, c, d, e, f, *_ in runs
    ]
    return {
        mix((low + 0xD1342543DE82EF95 * high + 0x9E3779B97F4A7C15) % WORD) for low, high in packed
    }


def tries(feature: int, slots: int) -> Iterator[tuple[int, int, int]]:
    """Return (slot, round, value) for every round of one feature."""
    for turn in range(2 * slots):
        value = mix((feature + turn * 0x9E3779B97F4A7C15) % WORD) if turn else feature
        yield (value >> 32) * slots >> 32 if turn < slots else turn - slots, turn, value % 2**32


def slots_of(hashes: set[int], slots: int) -> list[int]:
    best: dict[int, tuple[int, int]] = {}
    for feature in hashes:
        for slot, turn, value in tries(feature, slots):
            best[slot] = min(best.get(slot, (turn, value)), (turn, value))
    return [best[slot][1] for slot in range(slots)]


def bits_of(bits: set[int]) -> int:
    return sum(
        1 << bit for bit in range(64) if 2 * sum(feature >> bit & 1 for feature in bits) > len(bits)
    )


def bands_of(slots: list[int], bands: int, rows: int) -> list[str]:
    keys = []
    for band in range(bands):
        value = 0
        for slot in slots[band * rows : (band + 1) * rows]:
            value = mix(value ^ slot)
        keys.append(f"{band:02x}{value:016x}")
    return keys


SMALL = [
    case
    for case in CASES
    if GOLDEN[case["name"]]["status"] == "complete" and len(text_of(case)) < 250
]


@pytest.mark.long
@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["name"])
def test_golden_vectors_equal_the_oracle(case: dict[str, Any]) -> None:
    recipe, vector, text = recipe_of(case), GOLDEN[case["name"]], normalise(text_of(case))
    result = features(text, recipe.width or 1)
    if recipe.minhash and recipe.slots:
        slots = slots_of(result, recipe.slots)
        assert "".join(f"{slot:08x}" for slot in slots) == vector["minhash"]
        assert bands_of(slots, recipe.bands or 0, recipe.rows or 0) == vector["bands"]
    if recipe.simhash:
        assert f"{bits_of(result):016x}" == vector["simhash"]
    assert hashlib.sha256(text.encode()).hexdigest() == vector["exact"]
    assert len(text) == vector["chars"]


def test_the_kernel_has_a_name() -> None:
    assert kernel_name() in {"rust", "numpy"}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "empty"), (" \u00a0\t\n\x00\u200b", "empty"), ("-\n", "empty"),
        ("12 - 3.5 €", "numbers_only"),
        ("ab", "too_short"), ("abcdefghij", "too_short"), ("abcdefghijk", "complete"),
        ("a" * 1000, "too_short"), ("\ud800" * 20, "numbers_only"),
    ],
)  # fmt: skip
def test_status(text: str, status: str) -> None:
    result = fingerprint(text, DEFAULT_V1)
    assert result.status == status
    assert (
        (result.minhash is None)
        == (result.simhash is None)
        == (not result.bands)
        == (not result.blocks)
        == (status != "complete")
    )


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "empty"), (" \u00a0\t\n\x00\u200b", "empty"), ("-\n", "empty"), ("- €", "empty"),
        ("12 - 3.5 €", "numbers_only"), ("one two three", "too_short"),
        ("one two three four", "complete"), ("a " * 1000, "complete"), ("\ud800" * 20, "empty"),
    ],
)  # fmt: skip
def test_status_by_words(text: str, status: str) -> None:
    result = fingerprint(text, DEFAULT_V2)
    assert result.status == status
    assert (result.minhash is None) == (not result.bands) == (status != "complete")
    assert (result.simhash, result.blocks) == (None, ())


def test_surrogates_are_replaced_each_for_itself() -> None:
    apart, replaced, whole = (
        fingerprint(f"near {middle} duplicates", DEFAULT_V1)
        for middle in (chr(0xD83D) + chr(0xDE00), "\ufffd\ufffd", "\U0001f600")
    )
    assert apart.exact == replaced.exact != whole.exact


def test_rows_follow_the_order_of_the_texts() -> None:
    texts = ["first of the texts", "", "second of the texts"]
    signed = fingerprints(texts)
    assert len(signed) == 3
    for place, text in enumerate(texts):
        assert vector(fingerprints([text])) == vector(Fingerprints(**_row(signed, place)))


def _row(signed: Fingerprints, place: int) -> dict[str, Any]:
    values = {
        f.name: getattr(signed, f.name) for f in dataclasses.fields(signed) if f.name != "recipe"
    }
    return {
        "recipe": signed.recipe,
        **{name: value[place : place + 1] for name, value in values.items()},
    }


@pytest.mark.parametrize("recipe", [DEFAULT_V1, DEFAULT_V2], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize("sign", [define, fingerprints])
def test_no_texts_give_no_rows(sign: Any, recipe: Recipe) -> None:
    signed = sign([], recipe)
    shapes = [a.shape for a in (signed.minhash, signed.simhash, signed.band_array())]
    assert (len(signed), shapes) == (0, [(0, recipe.slots), (0,), (0, recipe.bands)])


@pytest.mark.parametrize(("recipe", "slot"), [(DEFAULT_V1, np.uint32), (DEFAULT_V2, np.uint8)])
@pytest.mark.parametrize("sign", [define, fingerprints])
def test_arrays_have_the_promised_types_and_belong_to_the_caller(
    sign: Any, recipe: Recipe, slot: type[np.unsignedinteger[Any]]
) -> None:
    signed = sign(["a text that is long enough", "short"], recipe)
    keys = [tuple(key.decode() for key in row if key) for row in signed.band_array()]
    assert keys == list(signed.bands) and signed.band_array().shape == (2, recipe.bands)
    of_short = sign(["short"], recipe).band_array()
    assert (of_short.shape, of_short.dtype) == ((1, recipe.bands), signed.band_array().dtype)
    assert [a.dtype for a in (signed.minhash, signed.simhash, signed.words, signed.chars)] == [
        slot,
        np.uint64,
        np.int64,
        np.int64,
    ]
    assert all(
        array.flags.writeable
        for array in (signed.minhash, signed.simhash, signed.words, signed.chars)
    )


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("normaliser", "default_v3"), ("packed", 4), ("key_digits", 17),
        ("features", "word_pairs_v1"), ("feature_hash", "sha1"),
        ("minhash", "kmins_v1"),
        ("simhash", "frequency_v1"), ("width", 0), ("width", 7), ("width", None), ("slots", 1),
        ("slots", 1025), ("slots", None),
        ("bands", 22), ("bits", 128), ("bits", None), ("blocks", 65),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_refused(setting: str, value: Any) -> None:
    recipe = dataclasses.replace(DEFAULT_V1, **{setting: value})
    for sign in (define, fingerprints):
        with pytest.raises(UsageError, match=f"{setting} = {value}"):
            sign(["a text that is long enough"], recipe)


def test_sizes_of_a_sketch_that_the_recipe_lacks_are_refused() -> None:
    with pytest.raises(UsageError, match="slots = 128"):
        fingerprints(["a text that is long enough"], dataclasses.replace(DEFAULT_V1, minhash=None))
    with pytest.raises(UsageError, match="bits = 64, blocks = 4"):
        fingerprints(["a text that is long enough"], dataclasses.replace(DEFAULT_V1, simhash=None))


def test_white_space_and_case_change_nothing() -> None:
    text = "Near duplicates are folded together in search results."
    assert vector(fingerprints([text])) | {"words": 0} == vector(
        fingerprints([text.upper().replace(" ", "\n\t")])
    ) | {"words": 0}
