"""Differences between two short word sequences, and between two words.

Eugene Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica, 1986), with a bound
on the differences.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_EDITS = 100  # insertions and deletions that are looked for


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch [a, a_end) of one sequence in place of [b, b_end) of the other.

    Either may be empty.
    """

    a: int
    a_end: int
    b: int
    b_end: int


def edits(a: Sequence[str], b: Sequence[str], most: int = MOST_EDITS) -> list[Edit]:
    """Return the shortest edits from a to b, in order; between two edits both are equal.

    With more than `most` single insertions and deletions everything between the common beginning
    and the common end is one edit. Time: O((N + M) * most).

    >>> edits("did you steal money".split(), "did they steal money then".split())
    [Edit(a=1, a_end=2, b=1, b_end=2), Edit(a=4, a_end=4, b=4, b_end=5)]
    """
    first, last = _ends(a, b)
    inner_a, inner_b = a[first : len(a) - last], b[first : len(b) - last]
    if not inner_a and not inner_b:
        return []
    path = _path(inner_a, inner_b, most) if inner_a and inner_b else None
    if path is None:
        return [Edit(first, len(a) - last, first, len(b) - last)]
    return list(_stretches(path, len(inner_a), len(inner_b), first))


def shared_ends(a: str, b: str) -> tuple[int, int]:
    """Count the characters that two words share at their beginning and at their end.

    No mark is separated from its letter.

    >>> shared_ends("colour", "color"), shared_ends("e\u0301", "e")
    ((4, 1), (0, 0))
    """
    first, last = _ends(a, b)
    while first and any(
        unicodedata.combining(char) for char in a[first : first + 1] + b[first : first + 1]
    ):
        first -= 1
    while last and unicodedata.combining(a[len(a) - last]):
        last -= 1
    return first, last


def _ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Count the equal items at the beginning and, of the rest, at the end."""
    most = min(len(a), len(b))
    first = next((place for place in range(most) if a[place] != b[place]), most)
    most -= first
    last = next((place for place in range(most) if a[-1 - place] != b[-1 - place]), most)
    return first, last


def _path(a: Sequence[str], b: Sequence[str], most: int) -> list[tuple[int, int]] | None:
    """Return the places that are equal in both on the shortest path, ascending.

    None when it has more than `most` steps.
    """
    furthest: dict[int, int] = {1: 0}
    trail: list[dict[int, int]] = []
    for steps in range(min(most, len(a) + len(b)) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-steps, steps + 1, 2):
            x = _start(furthest, diagonal, steps)
            y = x - diagonal
            while 0 <= y < len(b) and x < len(a) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return list(_walk_back(trail, len(a), len(b)))[::-1]
    return None


def _start(furthest: dict[int, int], diagonal: int, steps: int) -> int:
    """Return the beginning of a diagonal after one more step.

    The step leads down from the diagonal above, or right from the one below.
    """
    if _is_down(furthest, diagonal, steps):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _is_down(furthest: dict[int, int], diagonal: int, steps: int) -> bool:
    """Return whether the step to a diagonal leads down."""
    if diagonal in (-steps, steps):
        return diagonal == -steps
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _walk_back(trail: Sequence[dict[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """Yield the equal places from the end to the beginning."""
    for steps in range(len(trail) - 1, -1, -1):
        diagonal = x - y
        begin = _start(trail[steps], diagonal, steps)
        while x > begin and y > begin - diagonal:
            x, y = x - 1, y - 1
            yield x, y
        if steps:
            x, y = (x, y - 1) if _is_down(trail[steps], diagonal, steps) else (x - 1, y)


def _stretches(
    path: Sequence[tuple[int, int]], size_a: int, size_b: int, offset: int
) -> Iterator[Edit]:
    """Yield the stretches between the equal places."""
    a = b = 0
    for x, y in [*path, (size_a, size_b)]:
        if x > a or y > b:
            yield Edit(a + offset, x + offset, b + offset, y + offset)
        a, b = x + 1, y + 1
