"""Many small records within a memory budget: bytes by number, without one object for each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.joins.memory_budget import MemoryBudget
from indexer.joins.string_sequences import StringSequence

PAGE = 1 << 12


class Records:
    """Records in the order of adding; they are spilled in pages of `PAGE` records."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._pages: list[tuple[NDArray[np.int64], NDArray[np.uint8]]] = []
        self._pending: list[bytes] = []

    def __len__(self) -> int:
        return len(self._pages) * PAGE + len(self._pending)

    def add(self, record: bytes) -> None:
        """Add a record."""
        self._pending.append(record)
        if len(self._pending) == PAGE:
            ends = np.cumsum([0, *map(len, self._pending)])
            data = np.frombuffer(b"".join(self._pending), dtype=np.uint8)
            self._pages.append((self._budget.spill(ends), self._budget.spill(data)))
            self._pending = []

    def __getitem__(self, place: int) -> bytes:
        """Return one record. Raises `IndexError` beyond the last."""
        page, within = divmod(place, PAGE)
        if page >= len(self._pages):
            return self._pending[place - len(self._pages) * PAGE]
        ends, data = self._pages[page]
        return data[ends[within] : ends[within + 1]].tobytes()


class Names(StringSequence):
    """Strings as UTF-8 records; lone surrogates are kept."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._records = Records(budget)

    def add(self, name: str) -> None:
        """Add a string."""
        self._records.add(name.encode("utf-8", "surrogatepass"))

    def __len__(self) -> int:
        return len(self._records)

    def at(self, place: int) -> str:
        """Return one string."""
        return self._records[place].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))
