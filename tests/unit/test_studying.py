"""The study: signatures equal those of single documents, neighbours those of brute force; accounts add up; runs go on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting import fingerprint
from indexer.schemes import counted_features
from indexer.sketch.bbit import pack_low_bits
from indexer.studying.methods import BITS, FEATURES, lengths, pairs_of
from indexer.studying.neighbours import distinct, neighbours
from indexer.studying.signatures import Tables, grams_of

TEXTS = [
    "The quick brown fox jumps over the lazy dog. " * 3,
    "A ferry line between the two harbours opens in May.",
    "日本語の文章もここにある、短いけれど。",
    "This Agreement is made between Coca-Cola and the Supplier named below, on terms of Schedule A.",
    "This Agreement is made between Nabisco and the Supplier named below, on terms of Schedule A.",
    "abcd",
]


def test_signatures_are_those_of_single_documents() -> None:
    statistics = counted_features(TEXTS, FEATURES)
    grams = [grams_of(text) for text in TEXTS]
    tables = Tables(grams, (16, 40, 64, 768, 1024))
    for text, one in zip(TEXTS, grams, strict=True):
        made = tables.signatures(one, statistics)
        for method, bits in pairs_of((16, 40, 64, 768, 1024)):
            single = fingerprint(text, method.recipe(bits), statistics)
            value = single.simhash
            if single.minhash is not None:
                value = int.from_bytes(pack_low_bits(single.minhash, 1), "big")
            assert made[method.name, bits] == (value or 0).to_bytes(bits // 8, "big"), (method.name, bits)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(16, 1), (16, 3), (32, 1), (32, 3), (128, 1), (128, 3), (1024, 1), (1024, 3), (40, 2)]),
    st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 1023), max_size=4)), min_size=1, max_size=40),
)
def test_neighbours_are_those_of_brute_force(width: tuple[int, int], drawn: list[tuple[int, set[int]]]) -> None:
    bits, distance = width
    values = []
    for base, flipped in drawn:
        value = int.from_bytes(bytes([base * 37 % 256]) * (bits // 8), "big")
        for one in flipped:
            value ^= 1 << one % bits
        values.append(value)
    rows = np.frombuffer(b"".join(value.to_bytes(bits // 8, "big") for value in values), np.uint8).reshape(len(values), -1)
    found = neighbours(distinct(rows), bits, distance).tolist()
    assert found == [sum((one ^ other).bit_count() <= distance for other in values) - 1 for one in values]


def test_lengths_are_checked() -> None:
    assert lengths([64, 16, 64]) == (16, 64) and lengths(BITS) == BITS
    for wrong in ([8], [20], [2048], []):
        with pytest.raises(UsageError):
            lengths(wrong)
