"""The probable origin of each version of a text: the tree with the fewest differences.

A minimum spanning arborescence (Chu and Liu, "On the shortest arborescence of a directed graph",
1965; Edmonds, "Optimum branchings", 1967): every version but the first comes from one that is not
younger, and the differences along the tree are as few as possible. Two texts alone do not show
which was first: where dates do not decide, the direction is a convention.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers64 = NDArray[np.int64]
_NEVER, _ROOT, _MOST = np.int64(1 << 61), np.int64(1 << 56), np.int64((1 << 24) - 1)


def lineage(
    differences: Numbers64, times: Sequence[int | None], preferred: Sequence[int]
) -> list[int | None]:
    """Return the origin of each version, None for the first of all.

    `differences`: (n, n), symmetric, the difference of two versions; 2**24 and more is the same,
    and n at most 1,000. `times`: the creation times, None where unknown: no version comes from a
    younger one, and versions without a time or with the same time may go either way. `preferred`:
    all versions, the likely first one first; it decides where differences and times do not: the
    tree begins with the earliest in this order, and of equally near origins the nearest in it is
    taken.

    >>> far = np.array([[0, 2, 5], [2, 0, 3], [5, 3, 0]])
    >>> lineage(far, [None] * 3, [0, 1, 2]), lineage(far, [30, 20, 10], [2, 1, 0])
    ([None, 0, 1], [1, 2, None])
    """
    count = len(differences)
    if not count:
        return []
    rank = np.empty(count, dtype=np.int64)
    rank[list(preferred)] = np.arange(count)
    costs = np.full((count + 1, count + 1), _NEVER)
    ties = np.abs(rank[:, None] - rank[None, :])
    weighted = np.minimum(differences, _MOST) * (count * count + 1) + ties
    costs[:count, :count] = np.where(_is_younger(times), _NEVER, weighted)
    costs[count, :count] = _ROOT + rank
    parents = _arborescence(costs, count)
    return [None if parent == count else parent for parent in parents[:count]]


def _is_younger(times: Sequence[int | None]) -> NDArray[np.bool_]:
    """Flag the pairs (from, to) whose origin is younger than the copy."""
    is_dated = np.array([time is not None for time in times])
    seconds = np.array([time or 0 for time in times], dtype=np.int64)
    later: NDArray[np.bool_] = seconds[:, None] > seconds[None, :]
    later &= is_dated[:, None] & is_dated[None, :]
    return later


def _arborescence(costs: Numbers64, root: int) -> list[int]:
    """Return the parent of each node in the cheapest tree from the root, which is its own parent.

    `costs[i, j]` is from i to j.
    """
    costs = costs.copy()
    np.fill_diagonal(costs, _NEVER)
    parents: list[int] = costs.argmin(axis=0).tolist()
    parents[root] = root
    cycle = _cycle(parents)
    if not cycle:
        return parents
    outside = [node for node in range(len(costs)) if node not in set(cycle)]
    saved = np.array([costs[parents[node], node] for node in cycle])
    entering = costs[np.ix_(outside, cycle)] - saved
    leaving = costs[np.ix_(cycle, outside)]
    smaller = np.full((len(outside) + 1, len(outside) + 1), _NEVER)
    smaller[:-1, :-1] = costs[np.ix_(outside, outside)]
    smaller[:-1, -1] = entering.min(axis=1)
    smaller[-1, :-1] = leaving.min(axis=0)
    chosen = _arborescence(smaller, outside.index(root))
    for place, node in enumerate(outside):
        if node == root:
            continue
        if chosen[place] < len(outside):
            parents[node] = outside[chosen[place]]
        else:
            parents[node] = cycle[int(leaving[:, place].argmin())]
    entry = chosen[-1]
    parents[cycle[int(entering[entry].argmin())]] = outside[entry]
    return parents


def _cycle(parents: Sequence[int]) -> list[int]:
    """Return the nodes of one cycle of parents; empty when there is none.

    A node that is its own parent is not a cycle.
    """
    visited_from = [-1] * len(parents)
    for start in range(len(parents)):
        node = start
        while visited_from[node] < 0 and parents[node] != node:
            visited_from[node] = start
            node = parents[node]
        if visited_from[node] == start and parents[node] != node:
            return _around(parents, node)
    return []


def _around(parents: Sequence[int], start: int) -> list[int]:
    nodes, node = [start], parents[start]
    while node != start:
        nodes.append(node)
        node = parents[node]
    return nodes
