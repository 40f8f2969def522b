"""A similarity measure as one object, and what it reads of two texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.relations import Relation
from indexer.model import Estimate, Matching, NewWords

if TYPE_CHECKING:
    from indexer.comparing.words import Words


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The distinct features of a text under one recipe: ascending hashes, (n,) uint64."""

    hashes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.hashes)


class Operand(Protocol):
    """One text of a comparison, as measures read it, such as `measures.ComparedText`.

    A sketch that the text does not have is None.
    """

    @property
    def features(self) -> FeatureSet:
        """The recipe's features."""

    @property
    def words(self) -> Words:
        """The words of the normalised text."""

    @property
    def minhash(self) -> NDArray[Any] | None:
        """The MinHash slots, (slots,)."""

    @property
    def slot_bits(self) -> int:
        """The number of bits of each slot."""

    @property
    def simhash(self) -> int | None:
        """The SimHash."""

    @property
    def bits(self) -> int:
        """The number of bits of the SimHash."""

    @property
    def vector(self) -> NDArray[Any] | None:
        """The rare-term vector, (terms,)."""


MeasureFunction: TypeAlias = "Callable[[Operand, Operand, Matching, float], float | Estimate]"
"""Returns the similarity of two texts by a kind of matching; it may be 0 below the minimum value of
interest, the last argument.
"""


@dataclass(frozen=True, slots=True)
class Measure:
    """A similarity measure: every `--measure`, `compare` and the planning of bands read it.

    Its values are in [0, 1], the same for either order of the texts, and 0 where undefined.

    `phrase`: describes the value to people.
    `function`: None for a figure that `compare` shows and no threshold is compared with.
    `version`: raise it when values change; `group` then measures all pairs anew.
    `relation`: the similarity of the features of pairs, by which bands are planned.
    `planned_as`: the measure whose relation is taken for features that `relation` lacks.
    `is_of_features`: the value is, or estimates, the similarity of the features themselves.
    `is_in_order`: words are aligned in order; folding then limits how often words are replaced.
    `new_word_cost`: how much ln(1 + new words) takes off the rank of a match.
    `sketch`: the sketches that are compared instead of texts.
    """

    name: str
    phrase: str
    function: MeasureFunction | None = None
    version: int = 1
    relation: Relation = field(default_factory=dict)
    planned_as: str | None = None
    is_of_features: bool = False
    is_in_order: bool = False
    new_word_cost: float = 0.0
    sketch: Literal["MinHash", "SimHash"] | None = None

    def value(self, a: Operand, b: Operand, matching: Matching, minimum: float) -> Estimate:
        """Return the similarity with its interval, which is a point for an exact value."""
        if self.function is None:
            raise TypeError(f"{self.name} is not a number and has no threshold")
        similarity = self.function(a, b, matching, minimum)
        return similarity if isinstance(similarity, Estimate) else exact(similarity)

    def rank(self, similarity: float, new_words: NewWords) -> float:
        """Return the value by which matches are ordered; no threshold is compared with it."""
        return similarity - self.new_word_cost * math.log1p(new_words.left + new_words.right)

    def ranks(
        self, similarity: NDArray[np.float64], new_words: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the ranks of many matches, given the number of the new words of each."""
        ranks: NDArray[np.float64] = similarity - self.new_word_cost * np.log1p(new_words)
        return ranks


def exact(similarity: float) -> Estimate:
    """Return an exact value as an estimate without an error."""
    return Estimate(similarity, similarity, similarity)
