"""The families of a store as work for reviewers, with how far each is reviewed.

The list is read once, and follows labels as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

Order: TypeAlias = Literal["size", "similarity", "conflict", "unreviewed"]
Part: TypeAlias = Literal["open", "done", "conflict", "all"]
ORDERS: tuple[Order, ...] = ("size", "similarity", "conflict", "unreviewed")
PARTS: tuple[Part, ...] = ("open", "done", "conflict", "all")
_REPORTED = 1000  # documents between two reports of progress
Labels: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A family: its documents, and how many of them are reviewed.

    `path` is that of its principal, or the family's name where that is gone. `similarity`: of the
    member that is least similar to the principal, None for a single document. `conflict`: two
    reviewed documents carry different labels.
    """

    family: str
    path: str
    documents: int
    reviewed: int
    similarity: float | None
    conflict: bool

    def is_in(self, part: Part) -> bool:
        """Return whether it is among those with documents to review (`open`), without any
        (`done`), with labels that differ (`conflict`), or all.
        """
        is_open = self.reviewed < self.documents
        parts = {"open": is_open, "done": not is_open, "conflict": self.conflict, "all": True}
        return parts[part]


@dataclass(slots=True)
class _Family:
    path: str
    similarity: float | None = None
    labels: Counter[Labels] = field(default_factory=Counter)


class WorkList:
    """The families of a store.

    A document is reviewed if it carries one of the labels `judgements`, or any label where there
    are none of these. `moved`: of the families `followed`, those that have another principal now,
    each with the family in which its former principal is.
    """

    def __init__(
        self,
        store: Store,
        judgements: Collection[str] = (),
        progress: Progress = no_progress,
        followed: Collection[str] = (),
    ) -> None:
        self._judgements = frozenset(judgements)
        self._families: dict[str, _Family] = {}
        self.moved: dict[str, str] = {}
        total = store.counts().documents
        for done, row in enumerate(store.scan(), 1):
            family = self._families.setdefault(row.family, _Family(row.family))
            if row.id == row.family:
                family.path = row.path
            elif row.similarity is not None:
                least = row.similarity if family.similarity is None else family.similarity
                family.similarity = min(least, row.similarity)
            if row.id in followed and row.id != row.family:
                self.moved[row.id] = row.family
            family.labels[self._judged(row.labels)] += 1
            if not done % _REPORTED:
                progress("families", done, total)

    def __contains__(self, family: str) -> bool:
        """Return whether a family of that name is in the list."""
        return family in self._families

    def relabel(self, changes: Iterable[tuple[str, Labels, Labels]]) -> None:
        """Follow labels that were written: the family of each document, its labels before and
        after.
        """
        for name, before, after in changes:
            if name in self._families:
                labels = self._families[name].labels
                labels[self._judged(before)] -= 1
                labels[self._judged(after)] += 1
                self._families[name].labels = +labels

    def items(self, order: Order, least: int, most: int = 0) -> Sequence[WorkItem]:
        """Return the families of `least` to `most` documents (0: any number) in an order, ties by
        id.

        `size`: the largest first; `similarity`: those with the least similar member first;
        `conflict`: those whose labels differ first, then by size; `unreviewed`: those with the
        most documents to review first.
        """
        return sorted(self._items(least, most), key=_KEYS[order])

    @property
    def documents(self) -> int:
        """Return how many documents there are."""
        return sum(family.labels.total() for family in self._families.values())

    @property
    def reviewed(self) -> int:
        """Return how many documents are reviewed."""
        return sum(_reviewed(family) for family in self._families.values())

    def _items(self, least: int, most: int) -> Iterator[WorkItem]:
        for name, family in self._families.items():
            documents = family.labels.total()
            if least <= documents <= (most or documents):
                conflict = sum(map(bool, family.labels)) > 1
                reviewed, similarity = _reviewed(family), family.similarity
                yield WorkItem(name, family.path, documents, reviewed, similarity, conflict)

    def _judged(self, labels: Labels) -> Labels:
        return tuple(sorted(self._judgements.intersection(labels) if self._judgements else labels))


def _reviewed(family: _Family) -> int:
    return sum(number for labels, number in family.labels.items() if labels)


_KEYS: Mapping[Order, Callable[[WorkItem], Any]] = {
    "size": lambda item: (-item.documents, item.family),
    "similarity": lambda item: (1.0 if item.similarity is None else item.similarity, item.family),
    "conflict": lambda item: (not item.conflict, -item.documents, item.family),
    "unreviewed": lambda item: (item.reviewed - item.documents, item.family),
}
