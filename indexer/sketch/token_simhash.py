"""The SimHash of tokens by the `simhash-doc` scheme (see `indexer.sketch.simhash_doc`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from indexer.errors import NoFeatures, UnknownName
from indexer.sketch.jenkins import jenkins64
from indexer.sketch.projection import sign_bits, weighted_sum

BITS = 64
VERSIONS = ("v1", "v2", "v3", "v4", "v5")
_DISTINCT = ("v4",)


def simhash_doc_tokens(words: Sequence[str], version: str = "v2") -> int:
    """Return the 64 bits of tokens, for callers with their own tokeniser.

    Each repeat counts, except in `v4`.
    """
    if version not in VERSIONS:
        raise UnknownName("version", version, VERSIONS)
    if not words:
        raise NoFeatures
    counts = Counter(words)
    hashes = jenkins64([word.encode() for word in counts])
    bits = np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(-1, BITS)
    votes = 2 * bits.view(np.int8) - 1
    weights = np.array(list(counts.values()), dtype=np.float64)
    if version in _DISTINCT:
        weights = np.ones(len(counts))
    return sign_bits(weighted_sum(votes, weights))
