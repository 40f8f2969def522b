"""Exact numbers of documents within a Hamming distance of each, without comparing all with all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.blocks import designs, tables
from indexer.sketch.hashing import mix64_array

MAX_TABLES = 20
Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
_ONES = np.array([value.bit_count() for value in range(1 << 16)], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Signatures, each once: (n, words) uint64, how many documents have each, and the place of each
    document's in them.
    """

    words: Words
    documents: Counts
    place: Counts


def distinct(signatures: NDArray[np.uint8]) -> Distinct:
    """Return the distinct rows of (documents, octets) signatures; bits are filled up to whole words
    with zeros.
    """
    missing = -signatures.shape[1] % 8
    filled = np.ascontiguousarray(np.pad(signatures, ((0, 0), (missing, 0))))
    rows = filled.view(f"V{filled.shape[1]}").ravel()
    _, first, place, documents = np.unique(
        rows, return_index=True, return_inverse=True, return_counts=True
    )
    return Distinct(
        filled[first].view(">u8").astype(np.uint64), documents.astype(np.int64), place.reshape(-1)
    )


def neighbours(signatures: Distinct, bits: int, distance: int) -> Counts:
    """Return the number of other documents within `distance` bits (1 or more) of each document:
    (documents,) int64.

    Signatures are cut into blocks; any two so close are equal in some (Manku, Jain & Das
    Sarma, WWW 2007); only those with equal blocks are compared. Memory is in proportion to the
    number of signatures.
    """
    masks = [
        _words(mask, signatures.words.shape[1])
        for mask in tables(designs(bits, distance, MAX_TABLES)[-1])
    ]
    near: Counts = (signatures.documents - 1).astype(np.int64)
    for number, mask in enumerate(masks):
        order, ends = _groups(signatures.words, mask)
        for left, right in _pairs(order, ends):
            differing = signatures.words[left] ^ signatures.words[right]
            good = ~(differing & mask).any(axis=1) & (count_ones(differing) <= distance)
            for earlier in masks[:number]:
                good &= (differing & earlier).any(axis=1)
            np.add.at(near, left[good], signatures.documents[right[good]])
            np.add.at(near, right[good], signatures.documents[left[good]])
    counts: Counts = near[signatures.place]
    return counts


def count_ones(words: Words) -> Counts:
    """Return the number of bits that are set in each row."""
    set_bits: NDArray[np.uint8] = _ONES[np.ascontiguousarray(words).view(np.uint16)]
    counts: Counts = set_bits.sum(axis=1, dtype=np.int64)
    return counts


def _words(mask: int, words: int) -> Words:
    return np.frombuffer(mask.to_bytes(8 * words, "big"), dtype=">u8").astype(np.uint64)


def _groups(words: Words, mask: Words) -> tuple[Counts, Counts]:
    """Return an order of the rows in which those with equal bits under the mask are together, and
    where the group of each ends.
    """
    keys = np.zeros(len(words), dtype=np.uint64)
    for column in (words & mask).T:
        keys = mix64_array(keys ^ column)
    order = np.argsort(keys, kind="stable")
    arranged = keys[order]
    return order, np.searchsorted(arranged, arranged, side="right")


def _pairs(order: Counts, ends: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Yield all pairs inside the groups, each once: with the next, the next but one, and so on."""
    active = np.arange(len(order))
    for step in range(1, len(order)):
        active = active[active + step < ends[active]]
        if not len(active):
            return
        yield order[active], order[active + step]
