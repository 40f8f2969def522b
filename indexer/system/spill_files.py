"""Temporary files for arrays that exceed the memory budget.

The files have no name, so the operating system removes them however the process ends.
"""

from __future__ import annotations

import math
import os
import tempfile
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from indexer.comparing.external_memory import MEGABYTE, MemoryBudget
from indexer.defaults import MEMORY_MEGABYTES
from indexer.errors import UsageError


class SpillFiles(MemoryBudget):
    """A memory budget that puts arrays into files once they take half of `limit`.

    The other half of `limit` is for buffers. The files are in the folder that `TMPDIR` names. Their
    arrays are mapped into memory: the system may write any page back and drop it, so they never
    take memory that other processes need. Raises `UsageError` when that disk is full.
    """

    def __init__(self, megabytes: int = MEMORY_MEGABYTES) -> None:
        super().__init__(megabytes * MEGABYTE)
        self._in_memory = 0

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array: in memory while the budget lasts, else in a file."""
        size = np.dtype(dtype).itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,))
        if self._in_memory + size > self.limit // 2:
            return _map_file(shape, dtype, size)
        array = np.empty(shape, dtype=dtype)
        self._in_memory += size
        weakref.finalize(array, self._release, size)
        return array

    def spill(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy: in memory while the budget lasts, else in a file."""
        copy = self.array(array.shape, array.dtype)
        copy[...] = array
        return copy

    def _release(self, size: int) -> None:
        self._in_memory -= size


def _map_file(shape: int | tuple[int, ...], dtype: DTypeLike, size: int) -> NDArray[Any]:
    """Return an array in a file without a name.

    Its blocks are allocated first, so that a full disk is an error here and not a crash later.
    """
    if not size:
        return np.empty(shape, dtype)
    try:
        with tempfile.TemporaryFile(prefix="nearfold-") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))
    except OSError as error:
        raise UsageError(
            f"no space for {size / MEGABYTE:,.0f} MB of temporary files in "
            f"{tempfile.gettempdir()} ({error.strerror}); "
            "set TMPDIR to a folder on a larger disk, or allow more --memory"
        ) from error
