"""The groups of a store as work for reviewers, with how far each is reviewed.

The list is read once, and follows labels as they are written. Figures of groups are columns, so
that a list of many is ordered and counted without a step for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import Progress, no_progress
from indexer.review.store_statistics import ALONE, StoredFamilies
from indexer.stores.abilities import outlines
from indexer.stores.base import Store

Order: TypeAlias = Literal["size", "similarity", "conflict", "unreviewed"]
Part: TypeAlias = Literal["open", "done", "conflict", "all"]
_REPORTED = 1000  # documents between two reports of progress
Labels: TypeAlias = tuple[str, ...]
Positions: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A group: its documents, and how many of them are reviewed.

    `path` is the path of its principal, or the group's name where that is gone. `similarity`: of
    the member that is least similar to the principal, None for a single document. `conflict`: two
    reviewed documents carry different labels.
    """

    family: str
    path: str
    documents: int
    reviewed: int
    similarity: float | None
    conflict: bool


class WorkList:
    """The groups of a store.

    A document is reviewed if it carries one of the labels `judgements`, or any label where there
    are none of these. `moved`: of the groups `followed`, those that have another principal now,
    each with the group in which its former principal is. Groups have positions from 0 on, by id.
    """

    def __init__(
        self,
        store: Store,
        judgements: Collection[str] = (),
        progress: Progress = no_progress,
        followed: Collection[str] = (),
    ) -> None:
        self._judgements = frozenset(judgements)
        self.moved: dict[str, str] = {}
        read = StoredFamilies()
        labels_by_position: defaultdict[int, Counter[Labels]] = defaultdict(Counter)
        total = store.counts().documents
        for done, row in enumerate(outlines(store), 1):
            index = read.add(row)
            if judged := self._judged(row.labels):
                labels_by_position[index][judged] += 1
            if row.id in followed and row.id != row.family:
                self.moved[row.id] = row.family
            if not done % _REPORTED:
                progress("families", done, total)
        by_id = sorted(range(len(read.names)), key=read.names.__getitem__)
        self._names = [read.names[position] for position in by_id]
        self._paths = [read.paths[position] for position in by_id]
        self._positions = {name: index for index, name in enumerate(self._names)}
        self._sizes = np.array(read.sizes, dtype=np.int64)[by_id]
        self._similarity = np.array(read.similarities, dtype=np.float64)[by_id]
        self._labels = {
            self._positions[read.names[at]]: labels for at, labels in labels_by_position.items()
        }
        self._reviewed = np.zeros(len(by_id), dtype=np.int64)
        self._conflict = np.zeros(len(by_id), dtype=np.bool_)
        for index in self._labels:
            self._count(index)

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
            int(self._reviewed[position]),
            None if similarity == ALONE else similarity,
            bool(self._conflict[position]),
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
            labels[self._judged(before)] -= 1
            labels[self._judged(after)] += 1
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
            "conflict": (-sizes, ~self._conflict[chosen]),
            "unreviewed": (self._reviewed[chosen] - sizes,),
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
            return positions[self._conflict[positions]]
        is_open = self._reviewed[positions] < self._sizes[positions]
        return positions[is_open if part == "open" else ~is_open]

    def counts(self, positions: Positions | None = None) -> tuple[int, int]:
        """Return how many documents are reviewed, and how many there are, None: in all groups."""
        at = slice(None) if positions is None else positions
        return int(self._reviewed[at].sum()), int(self._sizes[at].sum())

    def count_unlike(self, similarity: float) -> int:
        """Return the number of groups with a member less similar to the principal than that."""
        return int(np.count_nonzero(self._similarity < similarity))

    def _count(self, position: int) -> None:
        """Count the labels of a group anew."""
        labels = self._labels[position]
        reviewed = [number for judged, number in labels.items() if judged and number > 0]
        self._reviewed[position] = sum(reviewed)
        self._conflict[position] = len(reviewed) > 1

    def _judged(self, labels: Labels) -> Labels:
        return tuple(sorted(self._judgements.intersection(labels) if self._judgements else labels))
