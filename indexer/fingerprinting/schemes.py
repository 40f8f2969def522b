"""Fingerprints of one text by any recipe except the default.

Each step of a recipe is an entry of a table that maps names to the algorithms of this
package. The default recipe has a batch form (`indexer.fingerprinting.fingerprint`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UnknownName, UsageError
from indexer.fingerprinting import minhash, simhash
from indexer.fingerprinting.hashing import distinct_hashes, string_hashes
from indexer.fingerprinting.keys import (
    band_keys,
    hashed_table_keys,
    pack_slots,
    parse_design,
    table_keys,
    tables,
    winnow,
)
from indexer.fingerprinting.minhash import (
    GROUPS,
    ROWS,
    fast_similarity_sketch,
    feature_hashes,
    mega_shingles,
    pack_low_bits,
    permuted_minima,
    super_shingles,
    unpack_low_bits,
    weighted_minhash,
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
    return minhash.truncated_minhash(_octets(features), recipe.bits or 0, version)


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
