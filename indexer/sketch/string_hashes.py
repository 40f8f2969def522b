"""64-bit hashes of features that are strings. `string64_v1`."""

from __future__ import annotations

from collections.abc import Iterable

import mmh3
import numpy as np
from numpy.typing import NDArray


def string_hashes(features: Iterable[str]) -> NDArray[np.uint64]:
    """Return the hash of each feature, in order: (n,) uint64.

    It is the first 64 bits of MurmurHash3 x64 128 with seed 0 of the feature's UTF-8 octets; a
    surrogate escape is the octet that it stands for.

    >>> [hex(value) for value in string_hashes(["token", "été"]).tolist()]
    ['0x12716bd0d89a75dc', '0x53bf5f6c9b9d9a14']
    """
    octets = (feature.encode(errors="surrogateescape") for feature in features)
    hashes = [mmh3.hash64(encoded, signed=False)[0] for encoded in octets]
    return np.array(hashes, dtype=np.uint64)
