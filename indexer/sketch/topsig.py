"""TopSig: signatures of N bits from sums of sparse random vectors of -1, 0 and 1.

Geva & De Vries, "TOPSIG: Topology Preserving Document Signatures", CIKM 2011; Roegiest & Lee, SIGIR
2019. There is one vector a feature, a function of its 64-bit hash: no table of vectors, no
generator. A bit is set when its sum is strictly positive.

Vectors, by the chance of an entry that is not zero:

* `paper_v1`: 1 / sqrt(N);
* `released_v1`: 1 / 16 up to N = 256 and 1 / 32 beyond, as in the study's released code.

Weights of a feature with tf occurrences in a document of |d|, and cf in a corpus of |C|:

* `frequency_v1`: tf ("unweighted" in the study);
* `log_ratio_v1`: ln((tf / |d|) / (cf / |C|)), once per distinct feature, negative values kept;
* `log_ratio_tool_v1`: the TopSig tool's: that logarithm times (tf - 0.5) where it is positive,
  elsewhere tf.

The corpus is taken to contain at least the document itself: cf >= tf, |C| >= |d|.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.hashing import GAMMA, mix64_array
from indexer.sketch.logarithm import natural_log
from indexer.sketch.projection import sign_bits, to_units, weighted_sum

VECTORS = ("paper_v1", "released_v1")
WEIGHTS = ("frequency_v1", "log_ratio_v1", "log_ratio_tool_v1")
_CHUNK = 1 << 18  # bits that are computed together


def topsig(
    hashes: NDArray[np.uint64],
    bits: int,
    statistics: CorpusStatistics | None = None,
    vectors: str = "paper_v1",
    weights: str | None = None,
) -> int:
    """Return the signature of a text from the hashes of its features, with repeats, in any order.

    `bits` is 16 to 1024, a multiple of 8. Weights are by default `log_ratio_v1` with statistics and
    `frequency_v1` without. Raises `NoFeatures` without features, `UsageError` for other settings.

    >>> hex(topsig(np.array([1, 2, 2, 3], np.uint64), 32))
    '0x90014858'
    """
    if bits % 8 or not 16 <= bits <= 1024:
        raise UsageError(f"the signature has a multiple of 8 bits from 16 to 1024, not {bits}")
    distinct, values = feature_weights(hashes, statistics, weights)
    units = to_units(values)
    sums = np.zeros(bits)
    step = _CHUNK // bits
    for start in range(0, len(distinct), step):
        part = slice(start, start + step)
        sums += weighted_sum(sparse_vectors(distinct[part], bits, vectors), units[part])
    return sign_bits(sums)


def sparse_vectors(
    hashes: NDArray[np.uint64], bits: int, vectors: str = "paper_v1"
) -> NDArray[np.int8]:
    """Return the vectors of features: (n, bits) of -1, 0 and 1.

    Entry i comes from y = mix64(hash + (i + 1) GAMMA): not zero when the upper half of y is below
    the chance times 2**32, and then 1 when y is odd, else -1.
    """
    places = np.arange(1, bits + 1, dtype=np.uint64) * np.uint64(GAMMA)
    mixed = mix64_array(hashes[:, None] + places)
    present = mixed >> np.uint64(32) < np.uint64(_threshold(bits, vectors))
    signs = (mixed & np.uint64(1)).astype(np.int8) * 2 - 1
    return np.where(present, signs, 0).astype(np.int8)


def feature_weights(
    hashes: NDArray[np.uint64],
    statistics: CorpusStatistics | None = None,
    weights: str | None = None,
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the distinct features, ascending, and their weights: (n,) uint64, (n,) float64."""
    weights = weights or ("frequency_v1" if statistics is None else "log_ratio_v1")
    if weights not in WEIGHTS:
        raise UnknownName("weights", weights, WEIGHTS)
    if len(hashes) == 0:
        raise NoFeatures
    distinct, times = np.unique(hashes, return_counts=True)
    frequency = times.astype(np.float64)
    if weights == "frequency_v1":
        return distinct, frequency
    if statistics is None:
        raise UsageError(f"weights {weights} need corpus statistics")
    logs = _log_ratios(distinct, frequency, len(hashes), statistics)
    if weights == "log_ratio_tool_v1":
        return distinct, np.where(logs > 0, logs * (frequency - 0.5), frequency)
    return distinct, logs


def _log_ratios(
    distinct: NDArray[np.uint64],
    frequency: NDArray[np.float64],
    length: int,
    statistics: CorpusStatistics,
) -> NDArray[np.float64]:
    """Return ln((tf / |d|) / (cf / |C|)) = ln(tf |C| / (cf |d|))."""
    in_corpus = np.maximum(statistics.occurrences(distinct), frequency)
    return natural_log(frequency * max(statistics.length, length) / (in_corpus * length))


def _threshold(bits: int, vectors: str) -> int:
    """Return the chance of an entry that is not zero, times 2**32, rounded down."""
    if vectors == "paper_v1":
        return math.isqrt((1 << 64) // bits)
    if vectors == "released_v1":
        return 1 << 28 if bits <= 256 else 1 << 27
    raise UnknownName("vectors", vectors, VECTORS)
