"""Figures of the survey of a store, as pages and reports show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FamilySize:
    """A family by its id, the path of its principal (its id if that is gone), and its number of
    documents.
    """

    id: str
    path: str
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
    """The families that a threshold would make, and the families that would change most. `measure`
    names what decides; `estimated` if it is estimated from sketches.
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
class Step:
    """Number of families that one threshold makes, and of documents in them; `estimated` if their
    similarity is estimated from sketches.
    """

    threshold: float
    families: int
    gathered: int
    estimated: bool = False
