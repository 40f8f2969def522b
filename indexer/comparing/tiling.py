"""Greedy String Tiling: one-to-one matching of equal runs, longest first (Wise, SIGCSE 1996).

Pairs of equal runs are listed where they are few; else the suffixes of both texts are sorted,
which is fast however often a text repeats a run.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Tile(NamedTuple):
    """Equal runs of `words` words: positions of the first word in each text."""

    a: int
    b: int
    words: int


# By sorted suffixes.


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
    """Count the consecutive shared runs from each position on; 0 where the first is not shared."""
    position = np.arange(len(shared))
    walls = np.where(shared, len(shared), position)
    return np.minimum.accumulate(walls[::-1])[::-1] - position


def _sorted_suffixes(
    text: NDArray[np.int64], reach: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions with reach in the order of their suffixes.

    With each comes the number of runs that it has in common with the one before it.
    """
    positions = np.flatnonzero(reach)
    levels = [np.where(reach > 0, text, -1)]
    longest = int(reach.max(initial=0))
    step, distinct = 1, 0
    while step < longest and distinct < len(positions):
        prefix = levels[-1]
        ahead = np.minimum(positions + step, len(text) - 1)
        pairs = prefix[positions] * (len(text) + 1) + prefix[ahead] + 1
        values, ranks = np.unique(pairs, return_inverse=True)
        level = np.full(len(text), -1, dtype=np.int64)
        level[positions] = ranks
        levels.append(level)
        step, distinct = 2 * step, len(values)
    order = positions[np.argsort(levels[-1][positions], kind="stable")]
    return order, _common_run_counts(order, levels, reach)


def _common_run_counts(
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

    Lengths are counted in runs; positions of b follow the positions of a. `left`: the free runs
    from a position on, where these are fewer than the present length. `due`: the length at which a
    position joins its group when no tile cuts it short. A group is named by a member, in the sorted
    order, that `_root` finds. Once a position joined, the group has one heap of positions for each
    text; some of these positions may have been taken or cut short since.
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
            grown += [self._join(position) for position in due if self.left[position] >= length]
            groups = {self._root(group) for group in grown if group is not None}
            placed += self._position(groups, length)
        return placed

    def _root(self, group: int) -> int:
        parent = self.parent
        while parent[group] != group:
            parent[group] = group = parent[parent[group]]
        return group

    def _merge(self, rank: int) -> int | None:
        """Merge the groups of a suffix and the one before it.

        Return the group if positions of both came together.
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
            for position in source:
                heappush(target, position)
        return large

    def _size(self, group: int) -> int:
        """Count the positions of a group in both heaps."""
        heap_a, heap_b = self.heaps[group]
        return len(heap_a) + len(heap_b)

    def _join(self, position: int) -> int:
        group = self._root(self.rank[position])
        heappush(self.heaps.setdefault(group, ([], []))[position >= self.first_b], position)
        return group

    def _position(self, groups: set[int], length: int) -> list[tuple[int, int, int]]:
        """Place the tiles of this length.

        Of all groups with positions in both texts the earliest in a, then b, comes first.
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
        """Drop positions until the first one is free for `length` runs; return False if none is."""
        while heap and self.left[heap[0]] < length:
            heappop(heap)
        return bool(heap)

    def _take(self, start: int, length: int) -> None:
        """Take the words of a tile.

        Runs that touch it are no longer free; positions before it keep the runs up to it.
        """
        left = self.left
        text = int(start >= self.first_b)
        cut = start - self.width + 1
        for position in range(max(cut, 0), start + length + self.width - 1):
            if left[position]:
                left[position] = 0
                self.free[text] -= 1
        for position in range(cut - 1, max(cut - length, -1), -1):
            if not left[position]:
                break
            left[position] = cut - position
            if self.due[position] > left[position]:
                self.joining.add(left[position], position)


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


# By pairs of equal runs.


def tiles_by_pairs(runs_a: NDArray[np.int64], runs_b: NDArray[np.int64], width: int) -> list[Tile]:
    """Return the tiles from every pair of equal runs, in the order in which they are placed.

    `runs_a` and `runs_b` are the runs of `width` words of either text, as `number_runs` numbers
    them. No tiles where either text has no run.
    """
    starts_a, starts_b, lengths = _diagonals(runs_a, runs_b)
    keys = (1 - width - lengths).tolist()
    matches = list(zip(keys, starts_a.tolist(), starts_b.tolist(), strict=True))
    heapify(matches)
    taken_a = bytearray(len(runs_a) + width)
    taken_b = bytearray(len(runs_b) + width)
    placed = []
    while matches:
        minus, at_a, at_b = heappop(matches)
        words = -minus
        if taken_a.find(1, at_a, at_a + words) < 0 and taken_b.find(1, at_b, at_b + words) < 0:
            placed.append(Tile(at_a, at_b, words))
            taken_a[at_a : at_a + words] = taken_b[at_b : at_b + words] = b"\1" * words
            continue
        for offset, length in _free(taken_a, at_a, taken_b, at_b, words, width):
            heappush(matches, (-length, at_a + offset, at_b + offset))
    return placed


def _diagonals(
    runs_a: NDArray[np.int64], runs_b: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ...]:
    """Return the maximal matches, (m,) int64 each.

    Starts in a, starts in b, and the number of consecutive equal runs.
    """
    order = np.argsort(runs_b, kind="stable")
    counts = np.bincount(runs_b, minlength=int(runs_a.max(initial=-1)) + 1)
    count = counts[runs_a]
    first = (np.cumsum(counts) - counts)[runs_a]
    at_a = np.repeat(np.arange(len(runs_a)), count)
    nth = np.arange(len(at_a)) - np.repeat(np.cumsum(count) - count, count)
    at_b = order[np.repeat(first, count) + nth]
    stride = len(runs_a) + 1
    keys = np.sort((at_a - at_b + len(runs_b)) * stride + at_a)
    begins = np.flatnonzero(np.diff(keys, prepend=-2) != 1)
    starts_a = keys[begins] % stride
    starts_b = starts_a + len(runs_b) - keys[begins] // stride
    return starts_a, starts_b, np.diff(begins, append=len(keys))


def _free(
    taken_a: bytearray, at_a: int, taken_b: bytearray, at_b: int, words: int, width: int
) -> list[tuple[int, int]]:
    """Return (offset, words) of each stretch of a match that is taken in neither text.

    Stretches have at least `width` words.
    """
    stretches = []
    offset = wall_a = wall_b = 0
    while words - offset >= width:
        if wall_a <= offset:
            wall_a = taken_a.find(1, at_a + offset, at_a + words) - at_a
            wall_a = wall_a if wall_a >= 0 else words
        if wall_b <= offset:
            wall_b = taken_b.find(1, at_b + offset, at_b + words) - at_b
            wall_b = wall_b if wall_b >= 0 else words
        wall = min(wall_a, wall_b)
        if wall - offset >= width:
            stretches.append((offset, wall - offset))
        offset = max(wall, taken_a.find(0, at_a + wall) - at_a, taken_b.find(0, at_b + wall) - at_b)
    return stretches
