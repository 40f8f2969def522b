"""Figures of the survey of a store, as pages and reports show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FamilySize:
    """A family and its number of documents; `path` is that of its principal, or its id if gone."""

    id: str
    path: str
    documents: int


@dataclass(frozen=True, slots=True)
class LessSimilar:
    """The number of documents that are less similar to their principal than a threshold."""

    threshold: float
    documents: int


@dataclass(frozen=True, slots=True)
class Move:
    """Documents of one family that would be in another, named by their principals."""

    before: str
    before_path: str
    after: str
    after_path: str
    documents: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The families that a threshold would make, and the greatest moves between families.

    `measure` decides; `estimated` if it is estimated from sketches. `gathered`: documents in
    families of two or more; `moved`: documents that would be in another family than now.
    """

    threshold: float
    measure: str
    estimated: bool
    documents: int
    families: int
    gathered: int
    largest: int
    moved: int
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class FamilyChange:
    """A family that would split, or that would be made of several.

    `parts`: the largest families that it would become, or that it would be made of, each with how
    many of its documents; `number`: how many of these there are.
    """

    family: FamilySize
    parts: tuple[FamilySize, ...]
    number: int


@dataclass(frozen=True, slots=True)
class FamilyChanges:
    """The families that a threshold would split or merge: the largest, and how many there are."""

    splits: tuple[FamilyChange, ...] = ()
    merges: tuple[FamilyChange, ...] = ()
    split: int = 0
    merged: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """The number of families that one threshold makes, and of documents in them.

    `estimated` if similarities are estimated from sketches.
    """

    threshold: float
    families: int
    gathered: int
    estimated: bool = False
