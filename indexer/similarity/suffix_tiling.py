"""Greedy String Tiling over sorted suffixes: fast however often a text repeats a run.

The suffixes of both texts, as sequences of w-word runs, are sorted by prefix doubling. Then the
match length goes down from the longest: suffixes that agree that far form a group, and a group with
a free place in both texts gives a tile. A place that a new tile cuts short is visited again at the
length it has left; that is at most one place a word of the tile, so all places together are visited
again at most N times. Groups are merged the smaller into the larger: O(N log^2 N) for N words.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray


def tiles_by_suffixes(
    runs_a: NDArray[np.int64], runs_b: NDArray[np.int64], width: int
) -> list[tuple[int, int, int]]:
    """Return the tiles (start in a, start in b, words) in the order in which they are placed.

    `runs_*` are numbered `width`-word runs.
    """
    gap = np.full(width, -1)
    text = np.concatenate((runs_a, gap, runs_b, gap))
    reach = _reach(np.isin(text, np.intersect1d(runs_a, runs_b)))
    order, common = _sorted_suffixes(text, reach)
    return _Descent(order, common, reach, len(runs_a) + width, width).tiles()


def _reach(shared: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the consecutive shared runs from each place on; 0 where the first is not shared."""
    place = np.arange(len(shared))
    walls = np.where(shared, len(shared), place)
    return np.minimum.accumulate(walls[::-1])[::-1] - place


def _sorted_suffixes(
    text: NDArray[np.int64], reach: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places with reach in the order of their suffixes.

    Beside each stands the number of runs that it has in common with the one before it.
    """
    places = np.flatnonzero(reach)
    levels = [np.where(reach > 0, text, -1)]
    longest = int(reach.max(initial=0))
    step, distinct = 1, 0
    while step < longest and distinct < len(places):
        prefix = levels[-1]
        ahead = np.minimum(places + step, len(text) - 1)
        pairs = prefix[places] * (len(text) + 1) + prefix[ahead] + 1
        values, ranks = np.unique(pairs, return_inverse=True)
        level = np.full(len(text), -1, dtype=np.int64)
        level[places] = ranks
        levels.append(level)
        step, distinct = 2 * step, len(values)
    order = places[np.argsort(levels[-1][places], kind="stable")]
    return order, _common(order, levels, reach)


def _common(
    order: NDArray[np.int64], levels: list[NDArray[np.int64]], reach: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the runs that each suffix has in common with the one before it in `order`.

    0 for the first.
    """
    above, below = order[:-1].copy(), order[1:].copy()
    for power in range(len(levels) - 1, -1, -1):
        step = 1 << power
        equal = (
            (levels[power][above] == levels[power][below])
            & (reach[above] >= step)
            & (reach[below] >= step)
        )
        above += step * equal
        below += step * equal
    return np.concatenate(([0], below - order[1:]))


class _Descent:
    """A search for tiles by length, from the longest down.

    Lengths are counted in runs; places of b follow those of a. `left`: the free runs from a place
    on, where these are fewer than the present length. `due`: the length at which a place joins its
    group when no tile cuts it short. A group is named by a member, in the sorted order, that
    `_root` finds. Once a place joined, the group has one heap of places for each text; some of
    these places may have been taken or cut short since.
    """

    def __init__(
        self,
        order: NDArray[np.int64],
        common: NDArray[np.int64],
        reach: NDArray[np.int64],
        first_b: int,
        width: int,
    ) -> None:
        self.first_b, self.width = first_b, width
        self.left: list[int] = reach.tolist()
        self.free = [int(np.count_nonzero(reach[:first_b])), int(np.count_nonzero(reach[first_b:]))]
        rank = np.zeros(len(reach), dtype=np.int64)
        rank[order] = np.arange(len(order))
        due = np.zeros(len(reach), dtype=np.int64)
        due[order] = np.maximum(common, np.append(common[1:], 0)[: len(common)])
        self.rank: list[int] = rank.tolist()
        self.due: list[int] = due.tolist()
        self.parent = list(range(len(order)))
        self.heaps: dict[int, tuple[list[int], list[int]]] = {}
        self.joining = _Agenda(due)
        self.merging = _Agenda(common)

    def tiles(self) -> list[tuple[int, int, int]]:
        """Go down until one text has no free run that the other shares."""
        placed: list[tuple[int, int, int]] = []
        while all(self.free):
            length = max(self.joining.next, self.merging.next)
            if not length:
                break
            grown = [self._merge(rank) for rank in self.merging.take(length)]
            due = self.joining.take(length)
            grown += [self._join(place) for place in due if self.left[place] >= length]
            groups = {self._root(group) for group in grown if group is not None}
            placed += self._place(groups, length)
        return placed

    def _root(self, group: int) -> int:
        parent = self.parent
        while parent[group] != group:
            parent[group] = group = parent[parent[group]]
        return group

    def _merge(self, rank: int) -> int | None:
        """Merge the groups of a suffix and the one before it.

        Return the group if places of both came together.
        """
        above, below = self._root(rank - 1), self._root(rank)
        if above not in self.heaps:
            self.parent[above] = below
            return None
        if below not in self.heaps:
            self.parent[below] = above
            return None
        small, large = sorted((above, below), key=self._size)
        self.parent[small] = large
        for source, target in zip(self.heaps.pop(small), self.heaps[large], strict=True):
            for place in source:
                heappush(target, place)
        return large

    def _size(self, group: int) -> int:
        """Count the places of a group in both heaps."""
        heap_a, heap_b = self.heaps[group]
        return len(heap_a) + len(heap_b)

    def _join(self, place: int) -> int:
        group = self._root(self.rank[place])
        heappush(self.heaps.setdefault(group, ([], []))[place >= self.first_b], place)
        return group

    def _place(self, groups: set[int], length: int) -> list[tuple[int, int, int]]:
        """Place the tiles of this length.

        Of all groups with places in both texts the one comes first that is earliest in a, then b.
        """
        placed = []
        ready = [(-1, group) for group in groups if all(self.heaps[group])]
        while ready:
            at_a, group = heappop(ready)
            heap_a, heap_b = self.heaps[group]
            if not (self._prune(heap_a, length) and self._prune(heap_b, length)):
                continue
            if heap_a[0] == at_a:
                placed.append((at_a, heap_b[0] - self.first_b, length + self.width - 1))
                self._take(heap_b[0], length)
                self._take(at_a, length)
            heappush(ready, (heap_a[0], group))
        return placed

    def _prune(self, heap: list[int], length: int) -> bool:
        """Drop places until the first one is free for `length` runs; return False if none is."""
        while heap and self.left[heap[0]] < length:
            heappop(heap)
        return bool(heap)

    def _take(self, start: int, length: int) -> None:
        """Take the words of a tile.

        Runs that touch it are no longer free; places before it keep the runs up to it.
        """
        left = self.left
        text = int(start >= self.first_b)
        cut = start - self.width + 1
        for place in range(max(cut, 0), start + length + self.width - 1):
            if left[place]:
                left[place] = 0
                self.free[text] -= 1
        for place in range(cut - 1, max(cut - length, -1), -1):
            if not left[place]:
                break
            left[place] = cut - place
            if self.due[place] > left[place]:
                self.joining.add(left[place], place)


class _Agenda:
    """Items by the length at which they are due, the longest first; items due at 0 are left out."""

    def __init__(self, due: NDArray[np.int64]) -> None:
        order = np.argsort(-due, kind="stable")[: np.count_nonzero(due)]
        lengths, begins = np.unique(-due[order], return_index=True)
        self._items: list[int] = order.tolist()
        self._begins: list[int] = [*begins.tolist(), len(order)]
        self._lengths: list[int] = [*(-lengths).tolist(), 0]
        self._nth = 0
        self._late: list[tuple[int, int]] = []

    @property
    def next(self) -> int:
        """The greatest length at which an item is due; 0 when none is left."""
        return max(self._lengths[self._nth], -self._late[0][0] if self._late else 0)

    def add(self, length: int, item: int) -> None:
        """Add an item that is due at a length below the present one."""
        heappush(self._late, (-length, item))

    def take(self, length: int) -> list[int]:
        """Take out the items that are due at this length."""
        taken: list[int] = []
        if self._lengths[self._nth] == length:
            taken = self._items[self._begins[self._nth] : self._begins[self._nth + 1]]
            self._nth += 1
        while self._late and self._late[0][0] == -length:
            taken.append(heappop(self._late)[1])
        return taken
