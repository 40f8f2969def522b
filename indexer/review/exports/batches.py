"""Review batches: groups of near duplicates stay together, one reviewer a group, the work shared
evenly.

Whoever read one document of a group knows most of the others. So a group goes to the reviewer who
has read most of it already; groups that nobody has begun go, the largest first, to whoever has
least to read.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Balance: TypeAlias = Literal["words", "documents"]


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that are read together, in reading order. `history`: the reviewer of each document
    that has one already.
    """

    id: str
    documents: tuple[str, ...]
    words: int
    history: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A group in a batch, or the `part`-th of several batches where one cannot hold it.

    `is_begun`: its reviewer has read some of it.
    """

    group: str
    documents: tuple[str, ...]
    is_begun: bool
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """The work that one reviewer receives at a time. Batches are numbered from 1, in the order of
    the reviewers.
    """

    number: int
    reviewer: str
    pieces: tuple[Piece, ...]


def batches(
    groups: Sequence[Group], reviewers: Sequence[str], size: int, balance: Balance = "words"
) -> list[Batch]:
    """Share groups among reviewers and pack them into batches of at most `size` documents; the
    order of groups does not matter.

    Without `reviewers` those that the groups' history names; without any, one who has no name. A
    history of somebody who is not among the reviewers counts for nothing.

    >>> read = Group("d", ("d",), 30, history=("Bo",))
    >>> pairs = [Group("a", ("a", "b"), 90), Group("c", ("c",), 50), read]
    >>> for batch in batches(pairs, ["Al", "Bo"], 10):
    ...     print(batch.reviewer, [piece.group for piece in batch.pieces])
    Al ['a']
    Bo ['c', 'd']
    """
    names = list(
        dict.fromkeys(reviewers or sorted({name for group in groups for name in group.history}))
    ) or [""]
    assigned = _assign(groups, names, balance)
    packed: list[tuple[str, tuple[Piece, ...]]] = []
    for name in names:
        pieces = [
            piece
            for group, reviewer, is_begun in assigned
            if reviewer == name
            for piece in _pieces(group, is_begun, size)
        ]
        packed.extend((name, batch) for batch in _pack(pieces, size))
    return [Batch(number, name, batch) for number, (name, batch) in enumerate(packed, 1)]


def _assign(
    groups: Sequence[Group], names: Sequence[str], balance: Balance
) -> list[tuple[Group, str, bool]]:
    """Return each group with its reviewer, and whether that reviewer has begun it; the largest
    first, ties by id.
    """
    ordered = sorted(groups, key=lambda group: (-len(group.documents), -group.words, group.id))
    load = dict.fromkeys(names, 0)
    position = {name: number for number, name in enumerate(names)}
    chosen = dict[str, str]()
    for group in ordered:
        counted = Counter(name for name in group.history if name in position)
        if counted:
            chosen[group.id] = min(counted, key=lambda name: (-counted[name], position[name]))
            load[chosen[group.id]] += _work(group, balance)
    begun = set(chosen)
    for group in sorted(ordered, key=lambda group: (-_work(group, balance), group.id)):
        if group.id not in begun:
            chosen[group.id] = min(names, key=lambda name: (load[name], position[name]))
            load[chosen[group.id]] += _work(group, balance)
    return [(group, chosen[group.id], group.id in begun) for group in ordered]


def _work(group: Group, balance: Balance) -> int:
    """Return what a group costs a reviewer; a document without words still has to be opened."""
    return len(group.documents) + (group.words if balance == "words" else 0)


def _pieces(group: Group, is_begun: bool, size: int) -> list[Piece]:
    """Return a group whole, or cut into parts that are full batches except the last."""
    cuts = [group.documents[start : start + size] for start in range(0, len(group.documents), size)]
    return [
        Piece(group.id, documents, is_begun, part, len(cuts))
        for part, documents in enumerate(cuts, 1)
    ]


def _pack(pieces: Sequence[Piece], size: int) -> list[tuple[Piece, ...]]:
    """Pack pieces into batches by best-fit decreasing: each goes where least is left."""
    filled: list[list[Piece]] = []
    free: list[tuple[int, int]] = []  # (space left, batch), ascending
    for piece in sorted(pieces, key=lambda piece: -len(piece.documents)):
        position = bisect_left(free, (len(piece.documents), -1))
        if position < len(free):
            space, batch = free.pop(position)
        else:
            space, batch = size, len(filled)
            filled.append([])
        filled[batch].append(piece)
        insort(free, (space - len(piece.documents), batch))
    return [tuple(batch) for batch in filled]
