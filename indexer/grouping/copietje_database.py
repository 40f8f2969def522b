"""Near duplicates of labelled documents, from the MinHashes in a database of copietje.

Its table `documents` has a `uid`, a `privileged_status`, empty for documents without a label, and a
`minhash`, a big-endian `LeanMinHash` of datasketch, which `copietje download` wrote.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import ALMOST_ONE, Plan, plan_by_weight
from indexer.errors import UsageError
from indexer.grouping.group_options import check_threshold

# The serialised form of datasketch's `LeanMinHash`, to read stores of datasketch or copietje.

_CODES = {1: "affine32", 2: "affine64"}
_NUMBERS = {name: code for code, name in _CODES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class StoredSketch:
    """Slots with their scheme and seed; different schemes or seeds do not compare."""

    slots: NDArray[Any]
    scheme: str
    seed: int = 1


def unpack_lean(packed: bytes, byte_order: str = "!") -> StoredSketch:
    """Read one stored sketch; slots are uint32, uint64 under `affine64`.

    `byte_order` is one of the characters of Python's `struct`: `!` big-endian, `<` little-endian,
    `@` native with padding (datasketch's default). Raises `UsageError` for other bytes.
    """
    try:
        seed, count = struct.unpack_from(f"{byte_order}qi", packed)
        header, scheme = f"{byte_order}qi", "legacy"
        if count < 0:
            header, count = f"{header}B", -count
            scheme = _CODES[struct.unpack_from(header, packed)[2]]
        body = f"{header}{count}{'Q' if scheme == 'affine64' else 'I'}"
        slots = struct.unpack_from(body, packed)[-count:] if count else ()
    except (struct.error, KeyError):
        raise UsageError("these bytes are not a LeanMinHash; try another byte order") from None
    size = struct.calcsize(body)
    if len(packed) != size:
        raise UsageError(
            f"a LeanMinHash of {count} slots has {size} bytes, not {len(packed)}; "
            "try another byte order"
        )
    kind = np.uint64 if scheme == "affine64" else np.uint32
    return StoredSketch(np.array(slots, dtype=kind), scheme, seed)


def pack_lean(sketch: StoredSketch, byte_order: str = "!") -> bytes:
    """Return a sketch as datasketch serialises it; the inverse of `unpack_lean`.

    >>> pack_lean(StoredSketch(np.array([258], dtype=np.uint32), "legacy")).hex()
    '00000000000000010000000100000102'
    """
    count, slots = len(sketch.slots), sketch.slots.tolist()
    if sketch.scheme == "legacy":
        return struct.pack(f"{byte_order}qi{count}I", sketch.seed, count, *slots)
    letter = "Q" if sketch.scheme == "affine64" else "I"
    return struct.pack(
        f"{byte_order}qiB{count}{letter}", sketch.seed, -count, _NUMBERS[sketch.scheme], *slots
    )


_SELECT = "SELECT uid, privileged_status, minhash FROM documents WHERE minhash IS NOT NULL"


@dataclass(frozen=True, slots=True)
class LabelledMatches:
    """The labelled documents that resemble one without a label, as (similarity, uid)."""

    uid: str
    matches: tuple[tuple[float, str], ...]


def match_database(path: Path, threshold: float, weight: float) -> Iterator[LabelledMatches]:
    """Yield the documents without a label that have matches, in the order of the database.

    Those share a band and have at least `threshold` of their slots in common, above 0 and at most
    1. `weight` is that of missed pairs, by which bands are planned as by datasketch. Memory holds
    the sketches of labelled documents. Raises `UsageError` for a file that is no such database, and
    for sketches of different sizes or schemes.
    """
    check_threshold(threshold)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            labelled = _LabelledSketches(database, path)
            index = labelled.index(threshold, weight)
            for uid, sketch in _sketches(database, "privileged_status IS NULL"):
                slots = labelled.comparable(sketch)
                if matches := tuple(index.matches(slots, threshold)):
                    yield LabelledMatches(uid, matches)
    except sqlite3.Error as error:
        raise UsageError(
            f"{path} is no database of copietje ({error}); give the file that its download wrote"
        ) from error


def _sketches(database: sqlite3.Connection, condition: str) -> Iterator[tuple[str, StoredSketch]]:
    for uid, _, packed in database.execute(f"{_SELECT} AND {condition} ORDER BY rowid"):
        yield uid, unpack_lean(packed)


class _LabelledSketches:
    """The sketches of the labelled documents of a database."""

    def __init__(self, database: sqlite3.Connection, path: Path) -> None:
        first = next(_sketches(database, "TRUE"), None)
        if first is None:
            raise UsageError(f"{path} holds no MinHashes; run `copietje download` to its end")
        self._like, self._path = first[1], path
        pairs = _sketches(database, "privileged_status IS NOT NULL")
        self._slots = {uid: self.comparable(sketch) for uid, sketch in pairs}

    def comparable(self, sketch: StoredSketch) -> NDArray[Any]:
        """Return the slots of a sketch of the same size, scheme and seed as the first."""
        sketches = (self._like, sketch)
        kinds = [(len(entry.slots), entry.scheme, entry.seed) for entry in sketches]
        if kinds[0] != kinds[1]:
            raise UsageError(
                f"{self._path} holds MinHashes of {kinds[0][0]} slots ({kinds[0][1]}) and of "
                f"{kinds[1][0]} ({kinds[1][1]}), which do not compare; fingerprint its documents "
                "anew"
            )
        return sketch.slots

    def index(self, threshold: float, weight: float) -> _BandIndex:
        layout = plan_by_weight(min(threshold, ALMOST_ONE), len(self._like.slots), weight)
        return _BandIndex(self._slots, layout)


class _BandIndex:
    """Sketches by the bytes of each of their bands."""

    def __init__(self, slots: dict[str, NDArray[Any]], layout: Plan) -> None:
        self._uids = list(slots)
        self._slots = list(slots.values())
        self._layout = layout
        self._holders: dict[tuple[int, bytes], list[int]] = {}
        for index, row in enumerate(self._slots):
            for key in self._keys(row):
                self._holders.setdefault(key, []).append(index)

    def _keys(self, row: NDArray[Any]) -> Iterator[tuple[int, bytes]]:
        rows = self._layout.rows
        for band in range(self._layout.bands):
            yield band, row[band * rows : (band + 1) * rows].tobytes()

    def matches(self, row: NDArray[Any], threshold: float) -> Iterator[tuple[float, str]]:
        positions = {position for key in self._keys(row) for position in self._holders.get(key, ())}
        for position in sorted(positions):
            similarity = float(np.count_nonzero(self._slots[position] == row)) / len(row)
            if similarity >= threshold:
                yield similarity, self._uids[position]
