"""The hit that is shown for a group of folded hits, where the best one by rank is not wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from indexer.clustering.field_order import FieldOrder, Value
from indexer.searching.fold import Group, ids_of
from indexer.searching.stored_texts import StoredTexts

BATCH = 100  # documents that are read together


def show_by_order(
    groups: Sequence[Group], order: FieldOrder, texts: StoredTexts, threshold: float | None
) -> list[Group]:
    """Return the same hits with the first of each group by an order as its head.

    Groups stay at their rank. Hits whose similarity to the new head is below the threshold follow
    as groups of their own, made in the same way. None: all stay together, as families do.
    """
    values = _values([group for group in groups if group.members], order, texts)
    choice = _Choice(order, values, texts, threshold)
    return [shown for group in groups for shown in choice.shown(group)]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Chooses shown hits; `values` is what hits are compared by, by id."""

    order: FieldOrder
    values: Mapping[str, Value]
    texts: StoredTexts
    threshold: float | None

    def shown(self, group: Group) -> Iterator[Group]:
        """Yield the hits of a group under the hits to show."""
        remaining = group.hits
        while remaining:
            place = self.order.places([self.values.get(hit.id) for hit in remaining])[0]
            head = remaining.pop(place)
            others = remaining
            folded = self._folded(group.head.id, head.id, [hit.id for hit in others])
            yield Group(head, [hit for hit in others if hit.id in folded])
            remaining = [hit for hit in others if hit.id not in folded]

    def _folded(self, best: str, head: str, ids: Sequence[str]) -> set[str]:
        """Return those of these hits, which were folded under `best`, that `head` may fold."""
        if self.threshold is None or head == best:
            return set(ids)
        values = self.texts.similarities(head, ids)
        pairs = zip(ids, values, strict=True)
        return {id for id, value in pairs if value >= self.threshold}


def _values(groups: Sequence[Group], order: FieldOrder, texts: StoredTexts) -> dict[str, Value]:
    """Return what hits are compared by, by id; those of hits that are gone are absent."""
    ids = ids_of(groups)
    values: dict[str, Value] = {}
    for start in range(0, len(ids), BATCH):
        rows = texts.rows(ids[start : start + BATCH])
        values |= {row.id: order.value(row) for row in rows}
    return values
