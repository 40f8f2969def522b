"""Precision, recall and F1 of pairs and of sets against the truth; a share of nothing is None,
never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, TypeVar

from indexer.clustering.families import ConnectedTexts

Rule: TypeAlias = Literal["all", "connected", "any"]
RULES: Mapping[str, str] = {
    "connected": "a set counts when pairs link all its documents, directly or through each other",
    "all": "a set counts when each pair of its documents is there",
    "any": "a set counts when at least one pair of its documents is there",
}
T = TypeVar("T", bound=Hashable)
Pair: TypeAlias = tuple[T, T]


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs that are duplicates and were found, were found and are none, are duplicates and were
    missed.
    """

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Of what was found, the share that is right; None when nothing was found."""
        return share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """Of what is to be found, the share that was; None when there is nothing."""
        return share(self.right, self.right + self.missed)

    @property
    def f1(self) -> float | None:
        """2 * right / (2 * right + wrong + missed), the harmonic mean of both; None when all three
        are 0.

        >>> round(Counts(94, 15, 9).f1, 4)
        0.8868
        """
        return share(2 * self.right, 2 * self.right + self.wrong + self.missed)


def share(part: float, whole: float) -> float | None:
    """A share, None of nothing."""
    return part / whole if whole else None


def ordered_pair(a: T, b: T) -> tuple[T, T]:
    """A pair that is the same whichever side comes first."""
    return (a, b) if str(a) <= str(b) else (b, a)


def count_pairs(found: Collection[Pair[T]], true: Collection[Pair[T]]) -> Counts:
    """Of ordered pairs that were found, and those that are duplicates."""
    right = len(set(found) & set(true))
    return Counts(right, len(found) - right, len(true) - right)


def linked_sets(pairs: Iterable[Pair[T]]) -> list[tuple[T, ...]]:
    """The sets that pairs link together, directly or through others; members and sets sorted by
    their spelling.

    >>> linked_sets([("a", "b"), ("d", "c"), ("b", "e")])
    [('a', 'b', 'e'), ('c', 'd')]
    """
    edges = list(pairs)
    members = sorted({one for pair in edges for one in pair}, key=str)
    numbers = {one: number for number, one in enumerate(members)}
    chains = ConnectedTexts(len(members))
    for a, b in edges:
        chains.join(numbers[a], numbers[b])
    sets: dict[int, list[T]] = {}
    for number, one in enumerate(members):
        sets.setdefault(chains.root(number), []).append(one)
    return [tuple(one) for one in sets.values()]


def is_captured(members: Sequence[T], pairs: Collection[Pair[T]], rule: Rule) -> bool:
    """Whether ordered `pairs` hold a set together by the rule."""
    inside = [pair for pair in combinations(sorted(members, key=str), 2) if pair in pairs]
    if rule == "any":
        return bool(inside)
    if rule == "all":
        return len(inside) == len(members) * (len(members) - 1) // 2
    return len(members) > 1 and linked_sets(inside) == [tuple(sorted(members, key=str))]


@dataclass(frozen=True, slots=True)
class SetCounts:
    """Sets of the truth that were captured, of all of them; and sets that were found and are right,
    of all of those.
    """

    captured: int
    sets: int
    right: int
    found: int

    @property
    def recall(self) -> float | None:
        """The share of true sets that was captured."""
        return share(self.captured, self.sets)

    @property
    def precision(self) -> float | None:
        """The share of found sets that is right."""
        return share(self.right, self.found)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None when one is None, 0 when both are 0."""
        if self.recall is None or self.precision is None:
            return None
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def count_sets(
    sets: Sequence[Sequence[T]], found: Collection[Pair[T]], true: Collection[Pair[T]], rule: Rule
) -> SetCounts:
    """True sets judged by the pairs found; the sets that pairs found link judged by the true pairs,
    by the same rule.
    """
    made = linked_sets(found)
    return SetCounts(
        sum(is_captured(members, found, rule) for members in sets),
        len(sets),
        sum(is_captured(members, true, rule) for members in made),
        len(made),
    )
