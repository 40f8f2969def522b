"""The signature study's MinHash: minima of truncated digests, compared with a second definition."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.schemes import VERSIONS, truncated_minhash, truncated_width
from indexer.fingerprinting.tokens import character_grams

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/truncated.json").read_text())
NAMES = ("md5", "sha1", "sha256", "sha512")
SETS = st.sets(st.binary(max_size=8), min_size=1, max_size=12)


def bit_strings(features: set[bytes], name: str) -> list[str]:
    digests = [hashlib.new(name, feature).digest() for feature in features]
    return ["".join(f"{byte:08b}" for byte in digest) for digest in digests]


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda v: f"{v['version']}-{v['bits']}")
def test_golden(vector: dict) -> None:
    grams = [gram.encode() for gram in character_grams(vector["text"], 4)]
    assert f"{truncated_minhash(grams, vector['bits'], vector['version']):x}" == vector["signature"]


@given(SETS, st.sampled_from([16, 32, 64, 128, 256, 512]))
def test_first_bits_as_the_paper_says(features: set[bytes], bits: int) -> None:
    parts = [min(string[: bits // 4] for string in bit_strings(features, name)) for name in NAMES]
    assert truncated_minhash(features, bits) == int("".join(parts), 2)


@given(SETS, st.sampled_from([16, 32, 64, 128, 256, 512, 1024]))
def test_last_bits_as_the_released_code_has_it(features: set[bytes], bits: int) -> None:
    parts = [
        min(string[-bits // 4 :] for string in bit_strings(features, name)).zfill(bits // 4)
        for name in NAMES
    ]
    assert truncated_minhash(features, bits, "last_v1") == int("".join(parts), 2)


def test_two_hashes_are_shorter_than_a_quarter_of_1024() -> None:
    features = {b"a", b"b"}
    least = [min(bit_strings(features, name)) for name in ("md5", "sha1")]
    rest = [
        min(string[:256] for string in bit_strings(features, name)) for name in ("sha256", "sha512")
    ]
    assert truncated_width(1024) == 800 == sum(map(len, least + rest))
    assert truncated_minhash(features, 1024) == int("".join(least + rest), 2)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bits", [16, 32, 64, 128, 256, 512, 768, 1024])
def test_signatures_fit_their_width(version: str, bits: int) -> None:
    signature = truncated_minhash([b"%d" % number for number in range(40)], bits, version)
    assert 0 <= signature < 1 << truncated_width(bits, version)


@given(SETS, SETS)
def test_the_signature_of_a_union_is_made_of_parts_of_both(
    first: set[bytes], second: set[bytes]
) -> None:
    both, left, right = (
        truncated_minhash(features, 64) for features in (first | second, first, second)
    )
    for shift in (0, 16, 32, 48):
        assert both >> shift & 0xFFFF == min(left >> shift & 0xFFFF, right >> shift & 0xFFFF)


@pytest.mark.parametrize("bits", [0, 12, 18, 1028, 2048])
def test_other_widths_are_refused(bits: int) -> None:
    with pytest.raises(UsageError, match="16 to 1024"):
        truncated_minhash([b"a"], bits)


def test_the_empty_set_and_other_versions_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        truncated_minhash([], 64)
    with pytest.raises(UsageError, match="first_v1, last_v1"):
        truncated_minhash([b"a"], 64, "middle_v1")
