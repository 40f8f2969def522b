"""The groups of a store as work for reviewers, with how far each is reviewed.

The list is read once, and follows labels as they are written. Figures of groups are columns, so
that a list of many is ordered and counted without a step for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.coding import ANY_LABEL, Coding, CodingField
from indexer.model import Progress, no_progress
from indexer.review.store_statistics import ALONE, StoredFamilies, outline_batches
from indexer.stores.base import Store

Order: TypeAlias = Literal["size", "similarity", "conflict", "unreviewed"]
Part: TypeAlias = Literal["open", "done", "conflict", "all"]
_LABEL_SETS = 10_000  # whose fields are kept
Labels: TypeAlias = tuple[str, ...]
Positions: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A group: its documents, and how many of them are reviewed.

    `path` is the path of its principal, or the group's name where that is gone. `similarity` is
    that of the member that is least similar to the principal, None for a single document.
    `conflict`: two documents that have labels of a field have different ones.
    """

    family: str
    path: str
    documents: int
    reviewed: int
    similarity: float | None
    conflict: bool


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """The number of documents that are reviewed, and that of all of them."""

    reviewed: int
    documents: int


@dataclass(frozen=True, slots=True)
class FieldProgress:
    """The progress of a field: documents with a value of it, groups that differ in it, and how many
    documents have each of its values, by label.
    """

    name: str
    progress: ReviewProgress
    conflicts: int
    values: Mapping[str, int]


class _View:
    """Columns by group: the documents that are reviewed, and if their labels differ."""

    def __init__(self, groups: int) -> None:
        self.reviewed = np.zeros(groups, dtype=np.int64)
        self.conflict = np.zeros(groups, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class _Decisions:
    """The labels of a document by field; `is_reviewed`: it lacks no field that it needs."""

    is_reviewed: bool
    labels: tuple[Labels, ...]


class WorkList:
    """The groups of a store.

    A document is reviewed if it lacks no field of the `coding` that it needs; in the list of one
    field, if it has a label of that. `moved`: the groups of `followed` that have another principal
    now, each with the group in which its former principal is. Groups have positions from 0 on, by
    id.
    """

    def __init__(
        self,
        store: Store,
        coding: Coding = ANY_LABEL,
        progress: Progress = no_progress,
        followed: Collection[str] = (),
    ) -> None:
        self.coding = coding
        self._of_fields = lru_cache(_LABEL_SETS)(self._labels_by_field)
        self.moved: dict[str, str] = {}
        read = StoredFamilies()
        labels_by_position: defaultdict[int, Counter[Labels]] = defaultdict(Counter)
        for batch in outline_batches(store, progress):
            for index, row in zip(read.add(batch), batch, strict=True):
                if row.labels:
                    labels_by_position[index][tuple(row.labels)] += 1
                if row.id in followed and row.id != row.family:
                    self.moved[row.id] = row.family
        by_id = sorted(range(len(read.names)), key=read.names.__getitem__)
        self._names = [read.names[position] for position in by_id]
        self._paths = [read.paths[position] for position in by_id]
        self._positions = {name: index for index, name in enumerate(self._names)}
        self._sizes = np.array(read.sizes, dtype=np.int64)[by_id]
        self._similarity = np.array(read.similarities, dtype=np.float64)[by_id]
        self._labels = {
            self._positions[read.names[at]]: labels for at, labels in labels_by_position.items()
        }
        self.labelled: Counter[str] = Counter()
        for labels in self._labels.values():
            for names, number in labels.items():
                self.labelled.update(dict.fromkeys(names, number))
        names_of_views = ("", *(field.name for field in coding.fields if field.name))
        self._views = {name: _View(len(by_id)) for name in names_of_views}
        self._view = self._views[""]
        for index in self._labels:
            self._count(index)

    def of_field(self, name: str) -> WorkList:
        """Return the list by one field, which follows the same labels; empty: by all of them.

        Raises `UsageError` if there is no such field.
        """
        if name:
            self.coding.field(name)
        of_field = copy(self)
        of_field._view = self._views[name]
        return of_field

    def __contains__(self, family: str) -> bool:
        """Return whether a group of that name is in the list."""
        return family in self._positions

    def __getitem__(self, position: int) -> WorkItem:
        """Return the group at a position."""
        similarity = float(self._similarity[position])
        return WorkItem(
            self._names[position],
            self._paths[position],
            int(self._sizes[position]),
            int(self._view.reviewed[position]),
            None if similarity == ALONE else similarity,
            bool(self._view.conflict[position]),
        )

    def relabel(self, changes: Iterable[tuple[str, Labels, Labels]]) -> None:
        """Follow labels that were written: the group of each document, its labels before and
        after.
        """
        for name, before, after in changes:
            position = self._positions.get(name)
            if position is None:
                continue
            labels = self._labels.setdefault(position, Counter())
            labels[tuple(before)] -= 1
            labels[tuple(after)] += 1
            self.labelled.subtract(before)
            self.labelled.update(after)
            self._count(position)

    def positions(self, order: Order, minimum: int, limit: int = 0) -> Positions:
        """Return the groups of `minimum` to `limit` documents (0: any number) in an order, ties by
        id.

        `size`: the largest first; `similarity`: those with the least similar member first;
        `conflict`: those whose labels differ first, then by size; `unreviewed`: those with the
        most documents to review first.
        """
        is_chosen = self._sizes >= minimum
        if limit:
            is_chosen &= self._sizes <= limit
        chosen = np.flatnonzero(is_chosen)
        sizes = self._sizes[chosen]
        keys = {
            "size": (-sizes,),
            "similarity": (np.minimum(self._similarity[chosen], 1.0),),
            "conflict": (-sizes, ~self._view.conflict[chosen]),
            "unreviewed": (self._view.reviewed[chosen] - sizes,),
        }
        return chosen[np.lexsort(keys[order])]

    def of_families(self, positions: Positions, names: Collection[str]) -> Positions:
        """Return the positions of the groups that have one of these names."""
        is_named = np.zeros(len(self._names), dtype=np.bool_)
        is_named[[self._positions[name] for name in names if name in self._positions]] = True
        return positions[is_named[positions]]

    def in_part(self, positions: Positions, part: Part) -> Positions:
        """Return those with documents to review (`open`), without any (`done`), with labels that
        differ (`conflict`), or all.
        """
        if part == "all":
            return positions
        if part == "conflict":
            return positions[self._view.conflict[positions]]
        is_open = self._view.reviewed[positions] < self._sizes[positions]
        return positions[is_open if part == "open" else ~is_open]

    def counts(self, positions: Positions | None = None) -> tuple[int, int]:
        """Return how many documents are reviewed, and how many there are, None: in all groups."""
        at = slice(None) if positions is None else positions
        return int(self._view.reviewed[at].sum()), int(self._sizes[at].sum())

    def progress_of_fields(self) -> tuple[FieldProgress, ...]:
        """Return the progress of each named field; none without fields."""
        return tuple(map(self._progress_of, filter(attrgetter("name"), self.coding.fields)))

    def _progress_of(self, field: CodingField) -> FieldProgress:
        own = self.of_field(field.name)
        labels = dict.fromkeys((*field.labels, *field.of(sorted(self.labelled))))
        return FieldProgress(
            field.name,
            ReviewProgress(*own.counts()),
            len(own.in_part(own.positions("size", 2), "conflict")),
            {label: self.labelled[label] for label in labels},
        )

    def with_label(self, positions: Positions, label: str) -> Positions:
        """Return the positions of the groups of which a document has a label."""
        has_label = np.zeros(len(self._names), dtype=np.bool_)
        for position, labels in self._labels.items():
            sets = (names for names, number in labels.items() if number > 0)
            has_label[position] = any(label in names for names in sets)
        return positions[has_label[positions]]

    def count_unlike(self, similarity: float) -> int:
        """Return the number of groups with a member less similar to the principal than that."""
        return int(np.count_nonzero(self._similarity < similarity))

    def _count(self, position: int) -> None:
        """Count the labels of a group anew."""
        labels = [(names, number) for names, number in self._labels[position].items() if number > 0]
        counted = [(self._of_fields(names), number) for names, number in labels]
        whole = self._views[""]
        whole.reviewed[position] = sum(number for of, number in counted if of.is_reviewed)
        whole.conflict[position] = False
        for at, field in enumerate(self.coding.fields):
            coded = [(of.labels[at], number) for of, number in counted if of.labels[at]]
            differs = len({names for names, _number in coded}) > 1
            if field.name and not field.many:  # one document may have two values, as from `index`
                differs |= any(len(names) > 1 for names, _number in coded)
            whole.conflict[position] |= differs
            if field.name:
                view = self._views[field.name]
                view.conflict[position] = differs
                view.reviewed[position] = sum(number for _names, number in coded)

    def _labels_by_field(self, labels: Labels) -> _Decisions:
        by_field = tuple(tuple(sorted(field.of(labels))) for field in self.coding.fields)
        return _Decisions(not self.coding.missing(labels), by_field)
