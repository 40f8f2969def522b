"""Signatures by every method and of every length for many texts at once: shared steps are computed
once.

Each equals, bit for bit, that of `fingerprint` by the recipe of its method. SHAKE256 of fewer bits
is the beginning of more; the least hash of a MinHash belongs to the same feature whatever the
length; TopSig's vectors are mostly zeros and kept as lists.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.lab.studies.methods import FEATURES, NAMED
from indexer.sketch.bbit import pack_low_bits
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.minhash import fast_similarity_sketch
from indexer.sketch.projection import sign_bits, to_units
from indexer.sketch.schemes import features_of
from indexer.sketch.string_hashes import string_hashes
from indexer.sketch.topsig import feature_weights, sparse_vectors
from indexer.sketch.truncated_minhash import truncated_minhash

Hashes = NDArray[np.uint64]
Units = NDArray[np.float64]
Places = NDArray[np.int64]
_PIECE = 1 << 21  # entries of dense vectors at a time
_OCTETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
_LEAST = ("md5", "sha1", "sha256", "sha512")  # of which a MinHash of the study has the least values


@dataclass(frozen=True, slots=True)
class Grams:
    """The features of a text, each once: octets, 64-bit hashes (ascending) and frequencies."""

    names: list[bytes]
    hashes: Hashes
    times: Places

    @property
    def repeated(self) -> Hashes:
        """The hashes, each as often as its feature occurs in the text."""
        return np.repeat(self.hashes, self.times)

    def units(self, statistics: CorpusStatistics | None = None) -> Units:
        """Return the weight of each feature in units of 2**-20: its frequency, or with statistics
        the logarithm of ratios.
        """
        if statistics is None:
            return to_units(self.times.astype(np.float64))
        return to_units(feature_weights(self.repeated, statistics)[1])


def grams_of(text: str) -> Grams:
    """Return the UTF-8 character 4-grams of the text without normalisation."""
    counted = Counter(features_of(text, FEATURES))
    names, hashes = list(counted), string_hashes(counted)
    order = np.argsort(hashes)
    times = np.fromiter(counted.values(), dtype=np.int64, count=len(names))
    return Grams(
        [names[place].encode("utf-8", "surrogateescape") for place in order],
        hashes[order],
        times[order],
    )


class Vectors:
    """TopSig's vectors of features for several lengths, as lists of the entries that are not
    zero.
    """

    def __init__(self, hashes: Hashes, bits: Sequence[int]) -> None:
        self._bits, self._columns = tuple(bits), sum(bits)
        step = max(1, _PIECE // self._columns)
        pieces = [
            self._entries(hashes[start : start + step]) for start in range(0, len(hashes), step)
        ]
        counts = (
            np.concatenate([counts for counts, _ in pieces]) if pieces else np.empty(0, np.int64)
        )
        self._starts, self._counts = np.cumsum(counts) - counts, counts
        self._entered = (
            np.concatenate([places for _, places in pieces]) if pieces else np.empty(0, np.int16)
        )

    def _entries(self, hashes: Hashes) -> tuple[Places, NDArray[np.int16]]:
        """Return the number of entries of each feature, and their columns; those of -1 come after
        all columns.
        """
        dense = np.concatenate([sparse_vectors(hashes, bits) for bits in self._bits], axis=1)
        rows, columns = np.nonzero(dense)
        signed = columns + self._columns * (dense[rows, columns] < 0)
        return np.bincount(rows, minlength=len(hashes)).astype(np.int64), signed.astype(np.int16)

    def signatures(self, rows: Places, weights: Units) -> dict[int, int]:
        """Return the signature of each length of the features in these rows with these weights."""
        counts = self._counts[rows]
        ends = np.cumsum(counts)
        places = np.repeat(self._starts[rows] - ends + counts, counts) + np.arange(
            ends[-1] if len(ends) else 0
        )
        times = np.repeat(weights, counts)
        sums = np.bincount(self._entered[places], times, 2 * self._columns).astype(np.float64)
        totals = sums[: self._columns] - sums[self._columns :]
        edges = np.cumsum((0, *self._bits))
        return {
            bits: sign_bits(totals[start : start + bits])
            for bits, start in zip(self._bits, edges, strict=False)
        }


class Tables:
    """Digests and vectors of the features of a batch of texts, computed once for all of them."""

    def __init__(self, texts: Sequence[Grams], bits: Sequence[int]) -> None:
        self.bits = tuple(bits)
        named = {
            name: hash
            for grams in texts
            for name, hash in zip(grams.names, grams.hashes.tolist(), strict=True)
        }
        names = list(named)
        self._row = {name: row for row, name in enumerate(names)}
        self.hashes = np.fromiter(named.values(), dtype=np.uint64, count=len(names))
        self._vectors = Vectors(self.hashes, bits)
        self._shake = _octets([hashlib.shake_256(name).digest(max(bits) // 8) for name in names])
        self._sha512 = _octets([hashlib.sha512(name).digest() for name in names])
        self._ranks = [_ranks(names, hash) for hash in _LEAST]
        self._names = names

    def rows(self, grams: Grams) -> Places:
        """Return the rows of the features of a text in the tables."""
        return np.fromiter(
            (self._row[name] for name in grams.names), dtype=np.int64, count=len(grams.names)
        )

    def signatures(
        self, grams: Grams, statistics: CorpusStatistics
    ) -> dict[tuple[str, int], bytes]:
        """Return the signatures of a text with features: big-endian octets by method and length."""
        rows = self.rows(grams)
        frequencies = grams.units()
        weights = grams.units(statistics)
        winners = {self._names[rows[np.argmin(ranks[rows])]] for ranks in self._ranks}
        signatures: dict[str, Mapping[int, int]] = {
            "simhash": _project(self._shake[rows], frequencies, self.bits),
            "simhash-sha512": _project(self._sha512[rows], frequencies, self.bits),
            "weighted-simhash": _project(self._shake[rows], weights, self.bits),
            "topsig": self._vectors.signatures(rows, frequencies),
            "weighted-topsig": self._vectors.signatures(rows, weights),
            "minhash": {bits: truncated_minhash(winners, bits) for bits in self.bits},
            "minhash-ours": {bits: _low_bits(grams.hashes, bits) for bits in self.bits},
        }
        return {
            (name, bits): value.to_bytes(bits // 8, "big")
            for name, of_method in signatures.items()
            for bits, value in of_method.items()
            if bits <= NAMED[name].most
        }


def _octets(digests: list[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(digests), -1)


def _ranks(names: list[bytes], hash: str) -> Places:
    """Return the rank of each name by its hash, from 0."""
    digests = [hashlib.new(hash, name, usedforsecurity=False).digest() for name in names]
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=digests.__getitem__)] = np.arange(len(names))
    return ranks


def _project(digests: NDArray[np.uint8], weights: Units, bits: Sequence[int]) -> dict[int, int]:
    """Return SimHash of every length from (n, octets) digests.

    Weights are summed by the values of each octet, then by its bits.
    """
    octets = digests.shape[1]
    places = digests + (np.arange(octets, dtype=np.int32) << 8)
    sums = np.bincount(places.ravel(), weights=np.repeat(weights, octets), minlength=octets << 8)
    set_bits = (sums.reshape(octets, 256) @ _OCTETS).ravel()
    votes = 2 * set_bits - weights.sum()
    return {length: sign_bits(votes[:length]) for length in bits if length <= len(votes)}


def _low_bits(hashes: Hashes, bits: int) -> int:
    """Return one bit of each slot of a MinHash of so many slots."""
    return int.from_bytes(pack_low_bits(fast_similarity_sketch(hashes, bits), 1), "big")
