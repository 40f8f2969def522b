"""64-bit hashes of features that are strings. `string64_v1`."""

from __future__ import annotations

from collections.abc import Iterable

import mmh3
import numpy as np
from numpy.typing import NDArray


def string_hashes(features: Iterable[str]) -> NDArray[np.uint64]:
    """The first 64 bits of MurmurHash3 x64 128 with seed 0 of each feature's UTF-8 octets, in
    order: (n,) uint64.

    A surrogate escape is the octet that it stands for.

    >>> [hex(one) for one in string_hashes(["token", "été"]).tolist()]
    ['0x12716bd0d89a75dc', '0x53bf5f6c9b9d9a14']
    """
    return np.array(
        [
            mmh3.hash64(feature.encode(errors="surrogateescape"), signed=False)[0]
            for feature in features
        ],
        dtype=np.uint64,
    )
