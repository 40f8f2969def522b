"""Near-duplicate pairs of a list of fingerprints of 64 bits, without a store.

The tools of Simhash take such lists: one fingerprint a line, and all pairs within k bits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.fingerprinting.keys import design_for
from indexer.fingerprinting.simhash import parse_base32
from indexer.grouping.candidates import ClosePairs
from indexer.system.external_memory import MemoryBudget

BITS = 64
_HEXADECIMAL = re.compile(r"(?:0x)?([0-9a-f]{1,16})", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FingerprintPair:
    """Two fingerprints of a list by name, the earlier first, and the bits in which they differ."""

    a: str
    b: str
    distance: int

    @property
    def similarity(self) -> float:
        """1 - distance / 64."""
        return 1 - self.distance / BITS


@dataclass(frozen=True, slots=True)
class FingerprintList:
    """Fingerprints, (n,) uint64, and their names."""

    values: NDArray[np.uint64]
    names: tuple[str, ...]


def read_fingerprints(lines: Iterable[str]) -> FingerprintList:
    """Return the fingerprints of a file: one a line, and its name after white space.

    A fingerprint is hexadecimal, or the serialised form of a simhash-doc, of one version for all:
    hexadecimal digits do not say theirs. Without a name it is called by its line, the first 1.
    Empty lines are skipped. Raises `UsageError` for any other line, and for two versions.

    >>> read_fingerprints(["e2f5c59183172276  a.txt", "", "0xff"]).names
    ('a.txt', 'line 3')
    """
    values: list[int] = []
    names: list[str] = []
    kinds: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, *name = line.strip().split(maxsplit=1)
        value, kind = _read(word, number)
        values.append(value)
        names.append(name[0] if name else f"line {number}")
        kinds.add(kind)
    versions = sorted(kind or "an unnamed version (hexadecimal digits)" for kind in kinds)
    if len(versions) > 1:
        raise UsageError(
            f"fingerprints of {' and '.join(versions)} do not compare; give those of one version"
        )
    return FingerprintList(np.array(values, dtype=np.uint64), tuple(names))


def _read(word: str, number: int) -> tuple[int, str]:
    """Return a fingerprint and the version of its scheme, empty for hexadecimal digits."""
    if match := _HEXADECIMAL.fullmatch(word):
        return int(match[1], 16), ""
    try:
        return parse_base32(word)
    except UsageError:
        raise UsageError(
            f"line {number} begins with {word[:40]!r}, no fingerprint of up to 16 hexadecimal "
            "digits and no simhash-doc; take such lines out, or make them by `nearfold hash`"
        ) from None


def match_fingerprints(
    fingerprints: FingerprintList, distance: int, cap: int, tables: int | None = None
) -> Iterator[FingerprintPair]:
    """Yield all pairs within a distance, ordered by the first, then the second.

    Memory holds the pairs of distinct values, and the pairs of one fingerprint of equal ones at a
    time. Equal fingerprints count as one where a block is shared by more than `cap`. `tables`: most
    tables of blocks; None takes the usual design. Raises `UsageError` for a distance above 8.
    """
    distinct, values = np.unique(fingerprints.values, return_inverse=True)
    value_of = values.reshape(-1).tolist()
    holders: list[list[int]] = [[] for _ in distinct]
    for index, value in enumerate(value_of):
        holders[value].append(index)
    near: list[list[tuple[int, int]]] = [[(value, 0)] for value in range(len(distinct))]
    design = design_for(BITS, distance, tables)
    rank = np.arange(len(distinct))
    close = ClosePairs(distinct[:, None], design, distance, rank, cap, MemoryBudget())
    for left, right, apart in close.blocks():
        for a, b, bits in zip(left.tolist(), right.tolist(), apart.tolist(), strict=True):
            near[a].append((b, bits))
            near[b].append((a, bits))
    names = fingerprints.names
    for first, value in enumerate(value_of):
        for second, bits in sorted(_later(first, near[value], holders)):
            yield FingerprintPair(names[first], names[second], bits)


def _later(
    first: int, near: Iterable[tuple[int, int]], holders: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Yield the fingerprints after one of them that have its value or one near it, and the bits in
    which they differ.
    """
    for value, bits in near:
        held = holders[value]
        for position in held[bisect_right(held, first) :]:
            yield position, bits
