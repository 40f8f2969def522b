"""simhash-doc: the published vectors, lookup3's own, and the scheme's properties."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.keys import allowed_distance, bit_similarity, hamming
from indexer.fingerprinting.simhash import (
    BITS,
    CLOSE,
    LOOSE,
    VERSIONS,
    format_base32,
    hashlittle2,
    jenkins64,
    parse_base32,
    simhash_doc,
    simhash_doc_tokens,
)
from indexer.fingerprinting.tokens import fold_token, tokens

VECTORS = json.loads(
    (Path(__file__).parent.parent.parent / "docs/vectors/simhash-doc.json").read_text()
)
DECLARATION = json.loads((Path(__file__).parent.parent / "data/declaration.json").read_text())
FOUR_SCORE = b"Four score and seven years ago"
MASK = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("key", "pc", "pb", "expected"),
    [
        (b"", 0, 0, (0xDEADBEEF, 0xDEADBEEF)),
        (b"", 0, 0xDEADBEEF, (0xBD5B7DDE, 0xDEADBEEF)),
        (b"", 0xDEADBEEF, 0xDEADBEEF, (0x9C093CCD, 0xBD5B7DDE)),
        (FOUR_SCORE, 0, 0, (0x17770551, 0xCE7226E6)),
        (FOUR_SCORE, 0, 1, (0xE3607CAE, 0xBD371DE4)),
        (FOUR_SCORE, 1, 0, (0xCD628161, 0x6CBEA4B3)),
    ],
)
def test_lookup3_passes_its_own_self_test(
    key: bytes, pc: int, pb: int, expected: tuple[int, int]
) -> None:
    first, second = hashlittle2([key], pc, pb)
    assert (int(first[0]), int(second[0])) == expected


def rotate(word: int, places: int) -> int:
    return (word << places | word >> (32 - places)) & MASK


def lookup3_by_hand(key: bytes) -> int:
    """Return hashlittle2, computed a word at a time with the letters of the definition."""
    a = b = c = (0xDEADBEEF + len(key)) & MASK
    if not key:
        return b << 32 | c
    while True:
        words = [int.from_bytes(key[place : place + 4][:4], "little") for place in (0, 4, 8)]
        a, b, c = ((value + word) & MASK for value, word in zip((a, b, c), words, strict=True))
        if len(key) <= 12:
            break
        key = key[12:]
        a = (a - c & MASK) ^ rotate(c, 4)
        c = c + b & MASK
        b = (b - a & MASK) ^ rotate(a, 6)
        a = a + c & MASK
        c = (c - b & MASK) ^ rotate(b, 8)
        b = b + a & MASK
        a = (a - c & MASK) ^ rotate(c, 16)
        c = c + b & MASK
        b = (b - a & MASK) ^ rotate(a, 19)
        a = a + c & MASK
        c = (c - b & MASK) ^ rotate(b, 4)
        b = b + a & MASK
    c = (c ^ b) - rotate(b, 14) & MASK
    a = (a ^ c) - rotate(c, 11) & MASK
    b = (b ^ a) - rotate(a, 25) & MASK
    c = (c ^ b) - rotate(b, 16) & MASK
    a = (a ^ c) - rotate(c, 4) & MASK
    b = (b ^ a) - rotate(a, 14) & MASK
    c = (c ^ b) - rotate(b, 24) & MASK
    return b << 32 | c


@given(st.lists(st.binary(max_size=40), max_size=12))
def test_hashes_of_many_keys_are_those_of_each(keys: list[bytes]) -> None:
    assert jenkins64(keys).tolist() == [lookup3_by_hand(key) for key in keys]


@pytest.mark.parametrize("length", range(50))
def test_every_tail_length(length: int) -> None:
    key = bytes(range(100, 100 + length))
    assert jenkins64([key]).tolist() == [lookup3_by_hand(key)]


def test_published_hashes() -> None:
    for vector in VECTORS["hashes"]:
        assert f"{int(jenkins64([vector['key'].encode()])[0]):016x}" == vector["hash"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("vector", VECTORS["sketches"], ids=lambda vector: vector["name"])
def test_published_sketches(vector: dict, version: str) -> None:
    expected = vector["versions"][version]
    assert tokens(vector["text"], version) == expected["tokens"]
    assert format_base32(simhash_doc(vector["text"], version), version) == expected["sketch"]
    assert parse_base32(expected["sketch"]) == (int(expected["bits"], 16), version)


@pytest.mark.parametrize("text", VECTORS["no_sketch"])
@pytest.mark.parametrize("version", VERSIONS)
def test_without_tokens_there_is_no_sketch(text: str, version: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        simhash_doc(text, version)


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
@given(terms=st.lists(st.text("abcdé", min_size=1), min_size=1, max_size=30))
def test_bits_are_signs_of_sums(terms: list[str], version: str) -> None:
    counts = Counter(set(terms) if version == "v4" else terms)
    bits = 0
    for place in range(BITS):
        total = sum(
            times if lookup3_by_hand(token.encode()) >> place & 1 else -times
            for token, times in counts.items()
        )
        bits |= (total > 0) << place
    assert simhash_doc_tokens(terms, version) == bits


def test_a_single_token_is_its_hash() -> None:
    assert simhash_doc("token") == lookup3_by_hand(b"token")


@given(st.integers(0, 2**64 - 1), st.sampled_from(VERSIONS))
def test_spelling_round_trip_in_any_case(bits: int, version: str) -> None:
    assert parse_base32(format_base32(bits, version).upper()) == (bits, version)
    assert len(format_base32(bits, version)) == len("simhash-doc-v1:") + 13


@pytest.mark.parametrize("spelling", VECTORS["spellings"]["refused"])
def test_what_is_no_spelling_is_refused(spelling: str) -> None:
    with pytest.raises(UsageError, match="not a simhash-doc"):
        parse_base32(spelling)


def test_accepted_spellings() -> None:
    assert {parse_base32(spelling)[0] for spelling in VECTORS["spellings"]["accepted"]} == {
        0x0123456789ABCDEF
    }


def test_loose_is_six_bits_and_close_is_one() -> None:
    assert (allowed_distance(LOOSE), allowed_distance(CLOSE)) == (6, 1)
    for similarity in (LOOSE, CLOSE):
        distance = allowed_distance(similarity)
        assert (
            bit_similarity(0, (1 << distance) - 1, BITS)
            >= similarity
            > bit_similarity(0, (2 << distance) - 1, BITS)
        )


def test_versions_differ_where_they_say() -> None:
    hindi = DECLARATION["hi"][0]
    assert simhash_doc_tokens(tokens(hindi, "v1"), "v1") != simhash_doc_tokens(
        tokens(hindi, "v2"), "v2"
    )
    english = DECLARATION["en"][0]
    assert (
        simhash_doc(english, "v1")
        == simhash_doc(english, "v2")
        == simhash_doc(english, "v3")
        != simhash_doc(english, "v4")
    )
    with pytest.raises(UsageError, match="v1, v2, v3, v4, v5, v6"):
        simhash_doc_tokens(["a"], "v7")


@given(st.text())
def test_v5_is_v1_of_texts_that_step_2_does_not_change(text: str) -> None:
    folded = fold_token(text)
    if fold_token(folded) == folded:
        assert tokens(folded, "v5") == tokens(folded, "v1")


def test_v5_has_letters_as_written() -> None:
    assert tokens("Straße ﬁn Ⅷ NASA", "v5") == ["Straße", "ﬁn", "NASA"]
    assert tokens("Straße ﬁn Ⅷ NASA", "v1") == ["straße", "fin", "viii", "nasa"]
    assert simhash_doc("NASA", "v5") == lookup3_by_hand(b"NASA") != simhash_doc("NASA", "v1")


@pytest.mark.parametrize("language", DECLARATION)
def test_no_language_collapses(language: str) -> None:
    left, right = (simhash_doc(text, "v4") for text in DECLARATION[language])
    edited = simhash_doc(DECLARATION[language][0][:-3], "v4")
    assert hamming(left, right) > max(12, hamming(left, edited))


def test_a_stop_list_is_applied() -> None:
    assert simhash_doc("the fox of the forest", stop_words={"the", "of"}) == simhash_doc(
        "fox forest"
    )
