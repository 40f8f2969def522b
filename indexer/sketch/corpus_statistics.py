"""Corpus statistics: document and collection frequencies of features, and the corpus size.

Weighted TopSig, rare-term signatures and I-Match need them. They are counted from any texts,
updated while documents arrive, merged, and serialised. A digest of the counts is their id, so that
a sketch can name the statistics it was made with. Features are counted by their 64-bit hashes.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]

_MAGIC = b"nearfold-statistics-1\n"


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Counts of some documents, (n,) each.

    `hashes` are ascending and distinct, `occurrences` their collection frequencies, `holders` their
    document frequencies.
    """

    hashes: Hashes
    occurrences: Counts
    holders: Counts


class CorpusStatistics:
    """Counts of features over documents.

    `features` names the feature set, as in a recipe; different sets do not merge. Adding a document
    takes time in proportion to its own size, because counts are kept in segments that are merged as
    they grow. A look-up covers every document added so far.
    """

    def __init__(self, features: str) -> None:
        self.features = features
        self.documents = 0
        self.length = 0
        self._segments: list[_Segment] = []

    @property
    def id(self) -> str:
        """A digest of every count, 12 hexadecimal digits; it does not depend on document order."""
        whole = self._whole()
        digest = hashlib.sha256(json.dumps([self.features, self.documents, self.length]).encode())
        for part in (whole.hashes, whole.occurrences, whole.holders):
            digest.update(part.astype(">u8").tobytes())
        return digest.hexdigest()[:12]

    def __len__(self) -> int:
        """The number of distinct features."""
        return len(self._whole().hashes)

    def add(self, hashes: Hashes) -> None:
        """Count one document, given the hashes of its features with repeats.

        A document without features counts as one document.
        """
        distinct, occurrences = np.unique(hashes, return_counts=True)
        holders = np.ones(len(distinct), dtype=np.int64)
        self.documents += 1
        self.length += len(hashes)
        self._append(_Segment(distinct, occurrences.astype(np.int64), holders))

    def merge(self, other: CorpusStatistics) -> None:
        """Add the counts of `other`. Raises `UsageError` when it counted other features."""
        if other.features != self.features:
            raise UsageError(
                f"statistics of {other.features} do not merge with statistics of {self.features}"
            )
        self.documents += other.documents
        self.length += other.length
        for segment in list(other._segments):
            self._append(segment)

    def occurrences(self, hashes: Hashes) -> Counts:
        """Return how often each feature occurs in the corpus: (n,) int64, 0 for unseen features.

        This is the collection frequency.
        """
        return self._sum_counts(hashes, "occurrences")

    def holders(self, hashes: Hashes) -> Counts:
        """Return how many documents have each feature: (n,) int64, 0 for unseen features.

        This is the document frequency.
        """
        return self._sum_counts(hashes, "holders")

    def pack(self) -> bytes:
        """Return all counts as bytes.

        A line naming the format, a line of JSON, and zlib-compressed big-endian arrays.
        """
        whole = self._whole()
        head = {
            "features": self.features,
            "documents": self.documents,
            "length": self.length,
            "id": self.id,
            "distinct": len(self),
        }
        arrays = b"".join(
            part.astype(">u8").tobytes()
            for part in (whole.hashes, whole.occurrences, whole.holders)
        )
        return _MAGIC + json.dumps(head, sort_keys=True).encode() + b"\n" + zlib.compress(arrays, 6)

    @classmethod
    def unpack(cls, packed: bytes) -> CorpusStatistics:
        """Return the statistics of packed bytes. Raises `UsageError` for other or damaged bytes."""
        try:
            magic, head_line, body = packed.split(b"\n", 2)
            head = json.loads(head_line)
            arrays = np.frombuffer(zlib.decompress(body), dtype=">u8").reshape(3, head["distinct"])
            statistics = cls(head["features"])
            statistics.documents, statistics.length = head["documents"], head["length"]
            statistics._append(_Segment(arrays[0].astype(np.uint64), *arrays[1:].astype(np.int64)))
        except (ValueError, KeyError, TypeError, zlib.error):
            raise UsageError("these bytes are not corpus statistics, or damaged") from None
        if magic + b"\n" != _MAGIC or statistics.id != head.get("id"):
            raise UsageError("these bytes are not corpus statistics of this version, or damaged")
        return statistics

    def _append(self, segment: _Segment) -> None:
        """Add a segment; merge the last two while the earlier is not twice as long."""
        self._segments.append(segment)
        while len(self._segments) > 1:
            older, newer = self._segments[-2:]
            if len(older.hashes) > 2 * len(newer.hashes):
                break
            self._segments[-2:] = [_merge_segments([older, newer])]

    def _whole(self) -> _Segment:
        if len(self._segments) != 1:
            self._segments = [_merge_segments(self._segments)]
        return self._segments[0]

    def _sum_counts(self, hashes: Hashes, field: str) -> Counts:
        total = np.zeros(len(hashes), dtype=np.int64)
        for segment in self._segments:
            if not len(segment.hashes):
                continue
            places = np.searchsorted(segment.hashes, hashes)
            places = np.minimum(places, len(segment.hashes) - 1)
            counts = getattr(segment, field)[places]
            total += np.where(segment.hashes[places] == hashes, counts, 0)
        return total


def count_features(documents: Iterable[Hashes], features: str) -> CorpusStatistics:
    """Return the statistics of documents, each given by the hashes of its features with repeats.

    >>> documents = [np.array([7, 7, 9], np.uint64), np.array([7], np.uint64)]
    >>> statistics = count_features(documents, "example")
    >>> statistics.documents, statistics.length
    (2, 4)
    >>> statistics.occurrences(np.array([7, 8], np.uint64)).tolist()
    [3, 0]
    """
    statistics = CorpusStatistics(features)
    for hashes in documents:
        statistics.add(hashes)
    return statistics


def _merge_segments(segments: list[_Segment]) -> _Segment:
    if not segments:
        return _Segment(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    hashes, places = np.unique(
        np.concatenate([segment.hashes for segment in segments]), return_inverse=True
    )
    counts = np.zeros((2, len(hashes)), dtype=np.int64)
    np.add.at(counts[0], places, np.concatenate([segment.occurrences for segment in segments]))
    np.add.at(counts[1], places, np.concatenate([segment.holders for segment in segments]))
    return _Segment(hashes, counts[0], counts[1])
