"""The fields of documents that matching and grouping need, in a few hundred bytes each."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.field_order import Value
from indexer.joins.record_pages import Names, Records
from indexer.model import Row, Status
from indexer.similarity.field_rules import RuleValues


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields of one document that matching and grouping need.

    `order_value` is what documents are ordered by, where that is a field; `rule_values` what the
    rules of the criteria compare. `text` is the number of its text.
    """

    id: str
    path: str
    status: Status
    words: int
    modified: int | None
    raw: str
    exact: str
    labels: tuple[str, ...]
    family: str
    principal: bool | None
    similarity: float | None
    cluster: str | None
    provisional: bool
    order_value: Value
    rule_values: RuleValues
    text: int


class Entries(Sequence[Entry]):
    """The entries of all documents, unpacked from a few hundred bytes at each access."""

    def __init__(self, ids: Names, paths: Names, rest: Records, texts: NDArray[np.int32]) -> None:
        self.ids = ids
        self.paths = paths
        self._rest = rest
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        rest: list[Any] = [*marshal.loads(self._rest[place]), int(self._texts[place])]
        return Entry(self.ids[place], self.paths[place], *rest)

    def __iter__(self) -> Iterator[Entry]:
        return (self[place] for place in range(len(self)))


def pack_entry(row: Row, order_value: Value, rule_values: RuleValues) -> bytes:
    """Return the fields of an `Entry` between its path and its text, as `Entries` unpacks them."""
    fields = (
        row.status,
        row.words,
        row.modified,
        row.raw,
        row.exact,
        row.labels,
        row.family,
        row.principal,
        row.similarity,
        row.cluster,
        row.provisional,
    )
    return marshal.dumps((*fields, order_value, rule_values))
