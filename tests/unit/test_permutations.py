"""Classic MinHash: equality with datasketch in all its schemes, and its stored sketches."""

import json
import zlib
from pathlib import Path

import mmh3
import numpy as np
import pytest
from datasketch import LeanMinHash, MinHash
from datasketch.hashfunc import sha1_hash32, sha1_hash64
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.normalise import norm_html
from indexer.fingerprinting.schemes import HASHES, SCHEMES, feature_hashes, permuted_minima
from indexer.fingerprinting.tokens import TOKENISERS
from indexer.grouping.copietje_database import StoredSketch, pack_lean, unpack_lean

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/lean165.json").read_text())["vectors"]
PEERS = {
    "sha1": sha1_hash32,
    "mmh3": lambda data: mmh3.hash(data, signed=False),
    "crc32": zlib.crc32,
}


def theirs(features: list[bytes], name: str, slots: int, scheme: str) -> MinHash:
    function = sha1_hash64 if (name, scheme) == ("sha1", "affine64") else PEERS[name]
    peer = MinHash(num_perm=slots, hashfunc=function, scheme=scheme)
    peer.update_batch(features)
    return peer


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", HASHES)
@settings(max_examples=25)
@given(
    features=st.lists(st.binary(max_size=20), min_size=1, max_size=30),
    slots=st.sampled_from([1, 7, 128]),
)
def test_slots_equal_datasketch(features: list[bytes], slots: int, name: str, scheme: str) -> None:
    ours = permuted_minima(feature_hashes(features, name, scheme), slots, scheme)
    assert ours.tolist() == theirs(features, name, slots, scheme).hashvalues.tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_large_sets_are_cut_into_pieces_without_effect(scheme: str) -> None:
    features = [b"%d" % number for number in range(5000)]
    ours = permuted_minima(feature_hashes(features, "sha1", scheme), 128, scheme)
    assert ours.tolist() == theirs(features, "sha1", 128, scheme).hashvalues.tolist()


def test_default_scheme_is_datasketch_default() -> None:
    peer = MinHash()
    peer.update_batch([b"a", b"b"])
    assert permuted_minima(feature_hashes([b"a", b"b"]), 128).tolist() == peer.hashvalues.tolist()


@pytest.mark.parametrize(
    "vector", GOLDEN, ids=lambda v: f"{v['hash']}-{v['slots']}-{len(v['tokens'])}"
)
def test_golden_sketches_of_copietje_are_read_and_matched(vector: dict) -> None:
    stored = unpack_lean(bytes.fromhex(vector["stored"]))
    ours = permuted_minima(
        feature_hashes([t.encode() for t in vector["tokens"]], vector["hash"], "legacy"),
        vector["slots"],
        "legacy",
    )
    assert (stored.scheme, stored.seed) == ("legacy", 1)
    assert np.array_equal(stored.slots, ours)


def test_a_whole_condenser_equals_datasketch_over_copietjes_text() -> None:
    """`ws:norm-html:sha1:128` on the text of copietje's own test, whose normal form its test
    states.
    """
    text = (
        "<p>Some $TEXT</p><br>\n\n wIth <h1>CAPITALS !</h1>\n - SpAces, CharacTers& and "
        "punctuation?"
    )
    stated = "some text with capitals spaces characters and punctuation"
    ours = [token.encode() for token in TOKENISERS["ws"](norm_html(text))]
    assert (
        permuted_minima(feature_hashes(ours), 128).tolist()
        == theirs([t.encode() for t in stated.split()], "sha1", 128, "affine32").hashvalues.tolist()
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("order", "!<>=@")
def test_stored_sketches_are_written_as_datasketch_writes_them(scheme: str, order: str) -> None:
    peer = LeanMinHash(theirs([b"a", b"b"], "sha1", 5, scheme))
    stored = bytearray(peer.bytesize(order))
    peer.serialize(stored, order)
    sketch = unpack_lean(bytes(stored), order)
    assert (sketch.slots.tolist(), sketch.scheme, sketch.seed) == (
        peer.hashvalues.tolist(),
        scheme,
        1,
    )
    assert pack_lean(sketch, order) == bytes(stored)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\0" * 11,
        b"\0" * 11 + b"\x02" + b"\0" * 7,
        bytes(8) + b"\xff\xff\xff\xff\x07" + bytes(4),
        bytes(16) + b"x",
    ],
)
def test_what_is_no_sketch_is_refused(damaged: bytes) -> None:
    with pytest.raises(UsageError, match="LeanMinHash"):
        unpack_lean(damaged)


def test_a_sketch_in_another_byte_order_is_refused() -> None:
    stored = pack_lean(StoredSketch(np.arange(128, dtype=np.uint32), "legacy"), "<")
    with pytest.raises(UsageError, match="byte order"):
        unpack_lean(stored, "!")


def test_the_empty_set_has_no_sketch_and_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        permuted_minima(feature_hashes([]), 128)
    with pytest.raises(UsageError, match="sha1, mmh3, crc32"):
        feature_hashes([b"a"], "md5")
    with pytest.raises(UsageError, match="affine32, affine64, legacy"):
        permuted_minima(feature_hashes([b"a"]), 128, "affine16")
