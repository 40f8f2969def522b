"""Temporary files for what memory has no room for. They have no name: whatever ends the process,
the system takes them back.
"""

from __future__ import annotations

import math
import os
import tempfile
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from indexer.errors import UsageError
from indexer.joins.external_sort import MEGABYTE, MemoryBudget

DEFAULT_MEGABYTES = 512


class SpillFiles(MemoryBudget):
    """A room whose arrays take memory up to half of `limit`, the other half being for buffers, and
    lie in files beyond that.

    The files lie where `TMPDIR` says. An array is mapped into memory: the system may write any page
    of it back and let it go, so that it never takes memory that others need. Raises `UsageError`
    when there is no room on that disk either.
    """

    def __init__(self, megabytes: int = DEFAULT_MEGABYTES) -> None:
        super().__init__(megabytes * MEGABYTE)
        self._held = 0

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A new array, in memory while there is room for it."""
        size = np.dtype(dtype).itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,))
        if self._held + size > self.limit // 2:
            return _mapped(shape, dtype, size)
        made = np.empty(shape, dtype=dtype)
        self._held += size
        weakref.finalize(made, self._let_go, size)
        return made

    def aside(self, array: NDArray[Any]) -> NDArray[Any]:
        """A copy in a file, or in memory while there is room for it."""
        copy = self.array(array.shape, array.dtype)
        copy[...] = array
        return copy

    def _let_go(self, size: int) -> None:
        self._held -= size


def _mapped(shape: int | tuple[int, ...], dtype: DTypeLike, size: int) -> NDArray[Any]:
    """An array in a file without a name; its blocks are set aside before, for a full disk must not
    show in mid-write.
    """
    try:
        with tempfile.TemporaryFile(prefix="nearfold-") as file:
            if hasattr(os, "posix_fallocate") and size:
                os.posix_fallocate(file.fileno(), 0, size)
            return (
                np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))
                if size
                else np.empty(shape, dtype)
            )
    except OSError as error:
        raise UsageError(
            f"no room for {size / MEGABYTE:,.0f} MB of temporary files in {tempfile.gettempdir()} ({error.strerror}); "
            "set TMPDIR to a folder on a larger disk, or allow more --memory"
        ) from error
