"""Count the documents within a Hamming distance of each, exactly, without comparing all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

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
    """Distinct signatures, (n, words) uint64.

    `documents`: how many have each, (n,); `place` of each document's signature, (documents,).
    """

    words: Words
    documents: Counts
    place: Counts


def distinct(signatures: NDArray[np.uint8]) -> Distinct:
    """Return the distinct rows of (documents, octets) signatures.

    Bits are filled up to whole words with zeros.
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
    """Return the number of other documents within `distance` bits (1 or more) of each document,
    (documents,) int64.

    Signatures are cut into blocks, some of which are equal in any two so near (Manku, Jain & Das
    Sarma, WWW 2007); only those with equal blocks are compared. Memory is in proportion to the
    number of signatures.
    """
    documents = signatures.documents
    near: Counts = (documents - 1).astype(np.int64)
    for left, right in near_pairs(signatures.words, bits, distance):
        np.add.at(near, left, documents[right])
        np.add.at(near, right, documents[left])
    numbers: Counts = near[signatures.place]
    return numbers


def near_pairs(words: Words, bits: int, distance: int) -> Iterator[tuple[Counts, Counts]]:
    """Yield the pairs of rows within `distance` bits (1 or more), each once, as arrays of rows."""
    masks = [
        _words(mask, words.shape[1]) for mask in tables(designs(bits, distance, MAX_TABLES)[-1])
    ]
    for number, mask in enumerate(masks):
        order, ends = _groups(words, mask)
        for left, right in _pairs(order, ends):
            differing = words[left] ^ words[right]
            is_near = ~(differing & mask).any(axis=1) & (count_ones(differing) <= distance)
            for earlier in masks[:number]:  # a pair counts once, under its first mask
                is_near &= (differing & earlier).any(axis=1)
            yield left[is_near], right[is_near]


def common_pairs(a: Words, b: Words, bits: int, distance: int) -> tuple[int, int]:
    """Return how many pairs of rows are within `distance` in both arrays, and in either."""
    of_a = of_b = of_both = 0
    for left, right in near_pairs(a, bits, distance):
        of_a += len(left)
        of_both += int((count_ones(b[left] ^ b[right]) <= distance).sum())
    for left, _ in near_pairs(b, bits, distance):
        of_b += len(left)
    return of_both, of_a + of_b - of_both


def count_ones(words: Words) -> Counts:
    """Return the number of bits that are set in each row."""
    counts: NDArray[np.uint8] = _ONES[np.ascontiguousarray(words).view(np.uint16)]
    sums: Counts = counts.sum(axis=1, dtype=np.int64)
    return sums


def _words(mask: int, words: int) -> Words:
    return np.frombuffer(mask.to_bytes(8 * words, "big"), dtype=">u8").astype(np.uint64)


def _groups(words: Words, mask: Words) -> tuple[Counts, Counts]:
    """Return the rows ordered so that those with equal bits under the mask are together, and the
    end of the group of each.
    """
    keys = np.zeros(len(words), dtype=np.uint64)
    for column in (words & mask).T:
        keys = mix64_array(keys ^ column)
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    return order, np.searchsorted(in_order, in_order, side="right")


def _pairs(order: Counts, ends: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Yield all pairs inside the groups, each once: with the next, the next but one, and so on."""
    active = np.arange(len(order))
    for step in count(1):
        active = active[active + step < ends[active]]
        if not len(active):
            return
        yield order[active], order[active + step]
