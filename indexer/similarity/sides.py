"""The two texts of a comparison, with everything that measures read computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.joins.parity_maps import parity_map
from indexer.model import Fingerprint
from indexer.recipe import Recipe
from indexer.recipe_key import KEYED_HASHES
from indexer.similarity.facts import FactSource
from indexer.similarity.measures import FeatureSet
from indexer.sketch.bbit import FULL
from indexer.sketch.codec import unpack_slots
from indexer.sketch.hashing import distinct_hashes, gram_hashes
from indexer.sketch.passage_keys import passage_runs
from indexer.sketch.string_hashes import string_hashes
from indexer.sketch.word_features import word_features
from indexer.text.normal_words import normal_words
from indexer.text.normalise import normalised_codes
from indexer.text.normalise_v2 import normalised_codes_v2
from indexer.text.word_numbers import Words
from indexer.text.words import words

PARITY_BITS = 1 << 13


def feature_set(text: str, recipe: Recipe) -> FeatureSet:
    """Return the features that the recipe's sketches are made of, without its secret key.

    Compute it once to compare a text with many. Raises `UsageError` for a recipe with an unknown
    step.
    """
    if recipe.features == "word_pairs_v1":
        return FeatureSet(distinct_hashes(word_features(normalised_codes_v2(text))))
    if recipe.feature_hash in ("gram64_v1", KEYED_HASHES["gram64_v1"]):
        normalised = normalised_codes_v2 if recipe.normaliser == "default_v2" else normalised_codes
        return FeatureSet(distinct_hashes(gram_hashes(normalised(text), recipe.width or 1)))
    from indexer.sketch.schemes import features_of

    return FeatureSet(distinct_hashes(string_hashes(features_of(text, recipe))))


@dataclass(frozen=True)
class Side:
    """One text of a comparison, with its sketches; the rest is computed on first use.

    What the recipe leaves out of texts is blank in `text`, so that places in it are right.
    """

    text: str
    recipe: Recipe
    minhash: NDArray[Any] | None = None
    simhash: int | None = None
    vector: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.recipe.compared(self.text))

    @property
    def bits(self) -> int:
        """The bits of the SimHash."""
        return self.recipe.bits or 64

    @property
    def slot_bits(self) -> int:
        """The bits of each MinHash slot."""
        return self.recipe.packed or FULL

    @cached_property
    def features(self) -> FeatureSet:
        """The recipe's features."""
        return feature_set(self.text, self.recipe)

    @cached_property
    def parity(self) -> NDArray[np.uint64]:
        """The parity map of the features, of `PARITY_BITS` bits."""
        return parity_map(self.features.hashes, PARITY_BITS)

    @cached_property
    def words(self) -> Words:
        """The words of the normalised text, which measures compare."""
        return normal_words(self.text)

    @cached_property
    def spelled(self) -> Words:
        """The words as they are spelled, which state facts."""
        return words(self.text)

    @cached_property
    def facts(self) -> FactSource:
        """The facts that the spelled words state."""
        return FactSource(self.text, self.spelled)

    @cached_property
    def runs(self) -> NDArray[np.uint64]:
        """The runs that passages are made of."""
        return passage_runs(self.text)


def stored_side(
    text: str, recipe: Recipe, packed: bytes | None, simhash: int | None = None
) -> Side:
    """Return a stored text as a side of a comparison, with the sketches of its row."""
    sketch = unpack_slots(packed, recipe.slot_bytes) if packed else None
    if recipe.terms:
        return Side(text, recipe, vector=sketch)
    if recipe.has_long_bits:
        return Side(text, recipe, simhash=int.from_bytes(packed, "big") if packed else None)
    return Side(text, recipe, sketch, simhash)


def signed_side(text: str, recipe: Recipe, signed: Fingerprint) -> Side:
    """Return a text as a side of a comparison, with the sketches of its fingerprint."""
    vector = signed.vector if recipe.terms else None
    return Side(text, recipe, signed.minhash, signed.simhash, vector)
