"""The files of signatures: the names of their arrays, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

ALL, ONLINE = "all", "online"

Rows: TypeAlias = NDArray[np.uint8]


def signature_name(method: str, bits: int) -> str:
    """Return the name of the signatures of a method."""
    return f"{method}-{bits}"


def question_name(statistics: int | str, bits: int) -> str:
    """Return the name of weighted TopSig signatures by the statistics of the first n texts, of ALL,
    or ONLINE: of those that arrived so far.
    """
    return f"statistics-{statistics}-{bits}"


def load_signatures(files: Sequence[Path], name: str) -> Rows:
    """Return the signatures of that name of all texts: (texts, octets)."""
    parts = []
    for file in files:
        with np.load(file) as arrays:
            parts.append(arrays[name])
    return np.concatenate(parts)
