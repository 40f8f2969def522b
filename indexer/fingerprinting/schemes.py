"""Fingerprints of one text by any recipe except the default.

Each step of a recipe is an entry of a table that maps names to the algorithms of this
package. Those of MinHash that no default recipe uses are here: permutations, truncated hashes,
weights, super-shingles. The default recipe has a batch form (`indexer.fingerprinting.fingerprint`).
"""

from __future__ import annotations

import hashlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, TypeVar

import mmh3
import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.fingerprinting import simhash
from indexer.fingerprinting.hashing import (
    GAMMA,
    distinct_hashes,
    mix64,
    mix64_array,
    natural_log,
    string_hashes,
)
from indexer.fingerprinting.keys import (
    band_hashes,
    band_keys,
    hashed_table_keys,
    pack_slots,
    parse_design,
    table_keys,
    tables,
    winnow,
)
from indexer.fingerprinting.minhash import (
    fast_similarity_sketch,
    pack_low_bits,
    unpack_low_bits,
)
from indexer.fingerprinting.normalise import (
    BLANK,
    NORMALISERS,
    codepoint_classes,
    count_words,
    decode,
    encode,
    has_letters,
)
from indexer.fingerprinting.rare_terms import (
    THRESHOLD,
    CorpusStatistics,
    hash_key,
    imatch,
    prefix_keys,
    rare_terms,
    term_keys,
    term_vector,
)
from indexer.fingerprinting.tokens import (
    DUTCH,
    TOKENISERS,
    byte_grams,
    grams,
    shingles,
    stop_list,
    tokens,
)
from indexer.model import Fingerprint, Status
from indexer.recipe import RUNS, Recipe

V = TypeVar("V")
WINNOWING_WINDOW = 4
BitSketch = Callable[[Sequence[str], Recipe, CorpusStatistics | None], int]


def fingerprint_by(
    recipe: Recipe, text: str, statistics: CorpusStatistics | None = None
) -> Fingerprint:
    """Return the fingerprint of one text by any recipe of the tables below.

    The status is defined as for the default recipe. Raises `UnknownName` for an unknown step,
    `UsageError` for weights without corpus statistics.
    """
    if recipe.statistics and statistics is None:
        if recipe.corpus is None:
            raise UsageError(
                f"recipe {recipe.name} needs corpus statistics; "
                "give --statistics FOLDER, or a file saved from it"
            )
        statistics = recipe.corpus()
    normalised = _look_up("normaliser", NORMALISERS, recipe.normaliser)(text)
    codes = encode(normalised)
    features = _features(normalised, recipe)
    without_blanks = codes[codepoint_classes()[codes] & BLANK == 0]
    status = status_of(without_blanks, len(set(features)), recipe)
    fingerprint = Fingerprint(
        status=status,
        minhash=None,
        simhash=None,
        bands=(),
        blocks=(),
        exact=hashlib.sha256(decode(codes).encode()).hexdigest(),
        words=count_words(text),
        chars=len(codes),
    )
    if status != "complete":
        return fingerprint
    return replace(fingerprint, **_sketches(features, recipe, statistics))


def status_of(codes: NDArray[np.uint32], features: int, recipe: Recipe) -> Status:
    """Return the status of a text.

    From its normalised code points without blanks, and its number of distinct features.
    """
    if not len(codes):
        return "empty"
    if not has_letters(codes):
        return "numbers_only"
    return "complete" if features >= max(recipe.min_features, 1) else "too_short"


def features_of(text: str, recipe: Recipe) -> list[str]:
    """Return the features of a text, in order, with repeats.

    Raises `UnknownName` for an unknown step.
    """
    normalise = _look_up("normaliser", NORMALISERS, recipe.normaliser)
    return _features(normalise(text), recipe)


def _features(normalised: str, recipe: Recipe) -> list[str]:
    if recipe.features == "chars_v1":
        return list(grams(normalised, recipe.width or 1))
    if runs := RUNS.fullmatch(recipe.features):
        return _runs(normalised, int(runs["width"]), runs["unit"])
    if recipe.features.startswith("tokens_"):
        stop_words = stop_list(recipe.stop_words) if recipe.stop_words else ()
        return tokens(normalised, recipe.features.removeprefix("tokens_"), stop_words)
    return list(_look_up("tokenizer", {**TOKENISERS, **DUTCH}, recipe.features)(normalised))


def _runs(text: str, width: int, unit: str) -> list[str]:
    """Return word shingles, or byte n-grams as strings.

    Surrogate escapes stand for bytes that are not valid UTF-8.
    """
    if unit == "word-shingles":
        return list(shingles(TOKENISERS["words"](text), width))
    return [gram.decode("utf-8", "surrogateescape") for gram in byte_grams(text, width)]


def _octets(features: Sequence[str]) -> Iterator[bytes]:
    return (feature.encode("utf-8", "surrogateescape") for feature in features)


def _sketches(
    features: Sequence[str], recipe: Recipe, statistics: CorpusStatistics | None
) -> dict[str, Any]:
    """Return the sketches and keys of at least one feature, by the field names of `Fingerprint`."""
    sketches: dict[str, Any] = {}
    if recipe.terms and statistics is not None:
        signature = rare_terms(features, statistics, recipe.terms)
        vector = term_vector(signature, hash_key(features, statistics))
        sketches["terms"] = signature.terms
        sketches["rare"] = prefix_keys(signature, recipe.similarity or THRESHOLD)
        sketches["vector"] = vector
        sketches["blocks"] = term_keys(vector, recipe.similarity or THRESHOLD)
    if recipe.baseline:
        sketches["blocks"] = _baseline(features, recipe, statistics)
    if recipe.minhash:
        slots = _minhash(features, recipe)
        sketches["minhash"] = slots
        if recipe.is_storable:
            keys = band_keys(slots[np.newaxis], recipe.bands or 0, recipe.rows or 0)
            sketches["bands"] = keys[0]
    if recipe.simhash:
        sketch = _look_up("signature", BIT_SKETCHES, recipe.simhash)
        bits = sketch(features, recipe, statistics)
        sketches["simhash"] = bits
        if recipe.has_long_bits:
            octets = bits.to_bytes((recipe.bits or 0) // 8, "big")
            sketches["vector"] = np.frombuffer(octets, dtype=np.uint8)
        if recipe.tables:
            keys_of = hashed_table_keys if recipe.has_long_bits else table_keys
            blocks = keys_of(bits, _masks(recipe.bits or 0, recipe.tables))
            number = recipe.statistics_number  # rows of two numbers then share no key
            sketches["blocks"] = tuple(f"{number}n{key}" for key in blocks) if number else blocks
    return sketches


def count_text_features(texts: Iterable[str], recipe: Recipe) -> CorpusStatistics:
    """Return corpus statistics of texts: features counted by their 64-bit string hashes."""
    statistics = CorpusStatistics(feature_set_name(recipe))
    for text in texts:
        statistics.add(string_hashes(features_of(text, recipe)))
    return statistics


def feature_set_name(recipe: Recipe) -> str:
    """Return the name of a recipe's feature set, which its statistics must have.

    It consists of normaliser, features and width.
    """
    return f"{recipe.normaliser}/{recipe.features}/{recipe.width or '-'}"


def _minhash(features: Sequence[str], recipe: Recipe) -> NDArray[Any]:
    """Return the slots by the recipe's scheme.

    `fss` and `icws` (weighted by frequency) use the 64-bit string hashes.
    """
    scheme = (recipe.minhash or "").removesuffix("_v1")
    count = recipe.slots or 0
    slots: NDArray[Any]
    if scheme == "fss":
        slots = fast_similarity_sketch(string_hashes(features), count)
    elif scheme == "icws":
        distinct, times = np.unique(string_hashes(features), return_counts=True)
        slots = weighted_minhash(distinct, times.astype(np.float64), count)
    else:
        hashes = feature_hashes(_octets(features), recipe.feature_hash, scheme)
        slots = permuted_minima(hashes, count, scheme)
    if not recipe.packed:
        return slots
    return unpack_low_bits(pack_low_bits(slots, recipe.packed), recipe.packed, count)


def datasketch_slots(text: str, recipe: Recipe) -> bytes | None:
    """Return the slots that copietje and datasketch store of any text, four bytes each.

    Texts that have no sketch elsewhere are empty sets here, whose slots are all full, or one empty
    run of words. None for a recipe of another scheme.
    """
    if recipe.minhash not in ("affine32_v1", "legacy_v1") or recipe.packed:
        return None
    features = features_of(text, recipe)
    if not features and recipe.features.startswith("white-space-"):
        features = [""]
    if not features:
        return b"\xff" * recipe.sketch_bytes
    return pack_slots(_minhash(features, recipe))


def _baseline(
    features: Sequence[str], recipe: Recipe, statistics: CorpusStatistics | None
) -> tuple[str, ...]:
    """Return the keys of a published scheme.

    Two texts match when they share one key (super-shingles: two).
    """
    hashes = string_hashes(features)
    if recipe.baseline == "winnowing_v1":
        selected = hashes[winnow(hashes, WINNOWING_WINDOW)].tolist()
        return tuple(f"{value:016x}" for value in dict.fromkeys(selected))
    if recipe.baseline == "i-match_v1" and statistics is not None:
        signatures = enumerate(imatch(features, statistics))
        return tuple(
            f"{position:02x}{signature}" for position, signature in signatures if signature
        )
    slots = fast_similarity_sketch(distinct_hashes(hashes), GROUPS * ROWS)
    shingle = super_shingles if recipe.baseline == "super-shingles_v1" else mega_shingles
    return tuple(f"{index:02x}{value:016x}" for index, value in enumerate(shingle(slots)))


def _shake(hash: str, features: Sequence[str], recipe: Recipe, _: CorpusStatistics | None) -> int:
    return simhash.shake_simhash(_octets(features), recipe.bits or 0, hash)


def _weighted_shake(
    features: Sequence[str], recipe: Recipe, statistics: CorpusStatistics | None
) -> int:
    """Return the projection of the features' SHAKE hashes with the weights of TopSig."""
    names = list(dict.fromkeys(features))
    by_hash = dict(zip(string_hashes(names).tolist(), names, strict=True))
    hashes, weights = simhash.feature_weights(string_hashes(features), statistics)
    octets = [by_hash[value].encode() for value in hashes.tolist()]
    weight_of = dict(zip(octets, weights.tolist(), strict=True))
    return simhash.shake_projection(weight_of, recipe.bits or 0)


def _truncated(
    version: str, features: Sequence[str], recipe: Recipe, _: CorpusStatistics | None
) -> int:
    return truncated_minhash(_octets(features), recipe.bits or 0, version)


def _topsig(
    vectors: str,
    weights: str,
    features: Sequence[str],
    recipe: Recipe,
    statistics: CorpusStatistics | None,
) -> int:
    return simhash.topsig(string_hashes(features), recipe.bits or 0, statistics, vectors, weights)


def _simhash_doc(
    version: str, features: Sequence[str], _recipe: Recipe, _: CorpusStatistics | None
) -> int:
    return simhash.simhash_doc_tokens(features, version)


BIT_SKETCHES: Mapping[str, BitSketch] = MappingProxyType(
    {
        "shake_raw_v1": partial(_shake, "shake_256"),
        "sha512_raw_v1": partial(_shake, "sha512"),
        "weighted_shake_v1": _weighted_shake,
        "truncated_first_v1": partial(_truncated, "first_v1"),
        "truncated_last_v1": partial(_truncated, "last_v1"),
        "topsig_paper_v1": partial(_topsig, "paper_v1", "frequency_v1"),
        "topsig_released_v1": partial(_topsig, "released_v1", "frequency_v1"),
        "weighted_topsig_paper_v1": partial(_topsig, "paper_v1", "log_ratio_v1"),
        "weighted_topsig_released_v1": partial(_topsig, "released_v1", "log_ratio_v1"),
        "weighted_topsig_tool_v1": partial(_topsig, "paper_v1", "log_ratio_tool_v1"),
        **{
            f"simhash_doc_{version}": partial(_simhash_doc, version) for version in simhash.VERSIONS
        },
    }
)


@cache
def _masks(bits: int, levels: str) -> tuple[int, ...]:
    """Return the table masks of a design as recipes write it, such as `4/1,4/1`."""
    return tables(parse_design(bits, levels))


def _look_up(what: str, table: Mapping[str, V], name: str | None) -> V:
    if name is None or name not in table:
        raise UnknownName(what, name, table)
    return table[name]


# Classic MinHash: the minimum of each of k permutations, with the same bits as datasketch.

Hash = Callable[[bytes], int]

_SEED = 1
_MERSENNE = np.uint64((1 << 61) - 1)
_LOW_32_BITS = np.uint64((1 << 32) - 1)
_CHUNK = 1024  # features that are permuted together
SCHEMES = ("affine32", "affine64", "legacy")


@dataclass(frozen=True, slots=True)
class _Mixer:
    """A MurmurHash3 finaliser: xor-shift, multiply, xor-shift, multiply, xor-shift."""

    first: int
    multiplier: int
    second: int
    other: int
    third: int


_MIX32 = _Mixer(16, 0x85EBCA6B, 13, 0xC2B2AE35, 16)
_MIX64 = _Mixer(33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33)


def sha1_32(feature: bytes) -> int:
    """Return the first 4 bytes of SHA-1, little-endian.

    >>> sha1_32(b"token")
    108566510
    """
    return int.from_bytes(hashlib.sha1(feature, usedforsecurity=False).digest()[:4], "little")


def sha1_64(feature: bytes) -> int:
    """Return the first 8 bytes of SHA-1, little-endian, as `affine64` uses by default."""
    return int.from_bytes(hashlib.sha1(feature, usedforsecurity=False).digest()[:8], "little")


def mmh3_32(feature: bytes) -> int:
    """Return MurmurHash3 x86_32 with seed 0, unsigned."""
    return mmh3.hash(feature, signed=False)


HASHES: dict[str, Hash] = {"sha1": sha1_32, "mmh3": mmh3_32, "crc32": zlib.crc32}


def feature_hashes(
    features: Iterable[bytes], name: str = "sha1", scheme: str = "affine32"
) -> NDArray[np.uint64]:
    """Return the distinct hashes of features, ascending, (n,) uint64.

    32 bits wide, but 64 for SHA-1 under `affine64`. Raises `UnknownName` for another hash or
    scheme.

    >>> feature_hashes([b"b", b"a", b"a"], "crc32").tolist()
    [1908338681, 3904355907]
    """
    _check("hash", name, tuple(HASHES))
    _check("scheme", scheme, SCHEMES)
    function = sha1_64 if (name, scheme) == ("sha1", "affine64") else HASHES[name]
    return np.array(sorted({function(feature) for feature in features}), dtype=np.uint64)


def permuted_minima(
    hashes: NDArray[np.uint64], slots: int, scheme: str = "affine32"
) -> NDArray[Any]:
    """Return the minimum value of each of `slots` permutations.

    (slots,) uint32, uint64 under `affine64`. Repeats change nothing. An empty set has no sketch:
    raises `NoFeatures`. Raises `UnknownName` for another scheme.

    >>> permuted_minima(feature_hashes([b"a", b"b"]), 3).tolist()
    [1200720104, 1576973892, 798820969]
    """
    _check("scheme", scheme, SCHEMES)
    if len(hashes) == 0:
        raise NoFeatures
    kind = np.uint64 if scheme == "affine64" else np.uint32
    minima = np.full(slots, np.iinfo(kind).max, dtype=kind)
    for start in range(0, len(hashes), _CHUNK):
        values = _permute(hashes[start : start + _CHUNK, None], slots, scheme)
        np.minimum(minima, values.min(axis=0).astype(kind), out=minima)
    return minima


def _permute(hashes: NDArray[np.uint64], slots: int, scheme: str) -> NDArray[Any]:
    """Return the (n, slots) values of all permutations of (n, 1) hashes."""
    factors, terms = _parameters(slots, scheme)
    values: NDArray[Any]
    if scheme == "legacy":
        values = (hashes * factors + terms) % _MERSENNE & _LOW_32_BITS
        return values
    mixer = _MIX32 if scheme == "affine32" else _MIX64
    values = _mix(hashes.astype(factors.dtype), mixer) * factors + terms
    return values


def _mix(values: NDArray[Any], mixer: _Mixer) -> NDArray[Any]:
    kind = values.dtype.type
    values = (values ^ (values >> kind(mixer.first))) * kind(mixer.multiplier)
    values = (values ^ (values >> kind(mixer.second))) * kind(mixer.other)
    mixed: NDArray[Any] = values ^ (values >> kind(mixer.third))
    return mixed


@cache
def _parameters(slots: int, scheme: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return factors and terms of the permutations, in datasketch's order of generation."""
    generator = np.random.RandomState(_SEED)
    if scheme == "legacy":
        pairs = np.empty((slots, 2), dtype=np.uint64)
        for pair in pairs:
            pair[0] = generator.randint(1, _MERSENNE, dtype=np.uint64)
            pair[1] = generator.randint(0, _MERSENNE, dtype=np.uint64)
        return pairs[:, 0], pairs[:, 1]
    width, kind = (32, np.uint32) if scheme == "affine32" else (64, np.uint64)
    factors = generator.randint(0, 1 << (width - 1), slots, dtype=kind) * kind(2) + kind(1)
    return factors, generator.randint(0, 1 << width, slots, dtype=kind)


def _check(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UnknownName(what, name, known)


# The MinHash of the signature study: the minima of four truncated cryptographic hashes.

_HASHES = (("md5", 128), ("sha1", 160), ("sha256", 256), ("sha512", 512))
VERSIONS = ("first_v1", "last_v1")


def truncated_minhash(features: Iterable[bytes], bits: int, version: str = "first_v1") -> int:
    """Return the signature of a set of features, MD5's part most significant.

    Repeats change nothing. `bits` is a multiple of 4 from 16 to 1024; `truncated_width` gives the
    actual width. Raises `NoFeatures` for an empty set, `UsageError` for other widths, `UnknownName`
    for other versions.

    >>> hex(truncated_minhash([b"near", b"dupe"], 32))
    '0x85d843c6'
    >>> hex(truncated_minhash([b"near", b"dupe"], 32, "last_v1"))
    '0xe397647'
    """
    distinct = set(features)
    widths = _widths(bits, version)
    if not distinct:
        raise NoFeatures
    signature = 0
    for (name, length), width in zip(_HASHES, widths, strict=True):
        length_taken = min(width, length)
        digests = (hashlib.new(name, item, usedforsecurity=False).digest() for item in distinct)
        values = [int.from_bytes(digest, "big") for digest in digests]
        if version == "first_v1":
            minimum = min(value >> (length - length_taken) for value in values)
        else:
            minimum = min(value & ((1 << length_taken) - 1) for value in values)
        signature = signature << width | minimum
    return signature


def truncated_width(bits: int, version: str = "first_v1") -> int:
    """Return the number of bits of a signature.

    It is `bits`, except where `first_v1` would need more bits than a hash has.

    >>> truncated_width(512), truncated_width(1024), truncated_width(1024, "last_v1")
    (512, 800, 1024)
    """
    return sum(_widths(bits, version))


def _widths(bits: int, version: str) -> list[int]:
    if version not in VERSIONS:
        raise UnknownName("version", version, VERSIONS)
    if bits % 4 or not 16 <= bits <= 1024:
        raise UsageError(f"a fingerprint has a multiple of 4 bits from 16 to 1024, not {bits}")
    return [min(bits // 4, length) if version == "first_v1" else bits // 4 for _, length in _HASHES]


# Weighted MinHash by improved consistent weighted sampling. `icws_v1`.

_DRAWS = 5
_CHUNK_VALUES = 1 << 16


def weighted_minhash(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], slots: int
) -> NDArray[np.uint32]:
    """Return the sketch of distinct 64-bit feature hashes with positive weights: (slots,) uint32.

    The order does not matter. A slot is 32 mixed bits of the sample (x, t) that wins it, so
    different samples agree with a chance of 2**-32. Raises `NoFeatures` for an empty set,
    `UsageError` when a weight is not positive.

    >>> weighted_minhash(np.array([1, 2], np.uint64), np.array([1.0, 0.5]), 3).tolist()
    [1452414493, 3687987351, 1452414493]
    """
    if len(hashes) == 0:
        raise NoFeatures
    if not np.all(weights > 0):
        raise UsageError("weights of features must be positive; leave out features of weight 0")
    logs = natural_log(weights.astype(np.float64))
    step = max(1, _CHUNK_VALUES // len(hashes))
    parts = [
        _samples(hashes, logs, np.arange(start, min(start + step, slots)))
        for start in range(0, slots, step)
    ]
    return np.concatenate(parts)


def _samples(
    hashes: NDArray[np.uint64], logs: NDArray[np.float64], slots: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the samples of slots.

    For each slot and feature r, c and beta are random; t = floor(ln S / r + beta); the lowest ln c
    - r (t - beta) - r wins.
    """
    draws = [_uniform(hashes, _DRAWS * slots + draw) for draw in range(_DRAWS)]
    spread = -natural_log(draws[0] * draws[1])  # two exponentials: a Gamma(2, 1) variable
    scale = -natural_log(draws[2] * draws[3])
    shift = draws[4]
    steps = np.floor(logs / spread + shift)
    winners = np.argmin(natural_log(scale) - spread * (steps - shift) - spread, axis=1)
    levels = steps[np.arange(len(slots)), winners].astype(np.int64).view(np.uint64)
    values: NDArray[np.uint32] = (
        mix64_array(hashes[winners] + mix64_array(levels)) >> np.uint64(32)
    ).astype(np.uint32)
    return values


def _uniform(hashes: NDArray[np.uint64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (draws, features) numbers in (0, 1) with 52 random bits.

    Each is a function of its feature and its draw.
    """
    streams = (draws + 1).astype(np.uint64) * np.uint64(GAMMA)
    mixed = mix64_array(hashes + streams[:, None])
    numbers: NDArray[np.float64] = ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return numbers


# Super-shingles and mega-shingles: hashes of groups of MinHash slots, and of pairs of groups.

GROUPS, ROWS = 6, 14  # groups of slots, and slots of a group
NEEDED = 2  # equal groups of near duplicates


def super_shingles(slots: NDArray[np.uint32]) -> tuple[int, ...]:
    """Return a 64-bit hash of each group of `ROWS` consecutive slots.

    Raises `UsageError` when there are too few slots.

    >>> len(super_shingles(np.arange(84, dtype=np.uint32)))
    6
    """
    needed = GROUPS * ROWS
    if len(slots) < needed:
        raise UsageError(
            f"{GROUPS} groups of {ROWS} slots need {needed} slots, not {len(slots)}; "
            "give a longer sketch"
        )
    return tuple(band_hashes(slots[None, :], GROUPS, ROWS)[0].tolist())


def mega_shingles(slots: NDArray[np.uint32]) -> tuple[int, ...]:
    """Return a 64-bit hash of each pair of super-shingles and their positions: 15 of 6.

    One in common means two super-shingles in common.
    """
    hashes = super_shingles(slots)
    pairs = itertools.combinations(range(GROUPS), NEEDED)
    return tuple(
        mix64(mix64(hashes[a] ^ a) ^ mix64(hashes[b] ^ b) ^ (a << 8 | b)) for a, b in pairs
    )


def chance(similarity: float) -> float:
    """Return the chance that two texts of this similarity share at least `NEEDED` groups.

    >>> round(chance(0.95), 3), round(chance(0.80), 4)
    (0.879, 0.0258)
    """
    equal = similarity**ROWS
    return sum(
        math.comb(GROUPS, count) * equal**count * (1 - equal) ** (GROUPS - count)
        for count in range(NEEDED, GROUPS + 1)
    )
