"""The similarity measures, by the names that `--measure` takes. All are in [0, 1], symmetric, and 0
where undefined.

- `jaccard`: Jaccard similarity of the recipe's own features, exact: what the sketches estimate.
- `estimate`: the same from the MinHash slots, with its 95 % Wilson interval.
- `resemblance`: S_R, five-word shingles in common / all distinct shingles (Broder; Dimm, "What is a near-dupe, really?").
- `jaccard_words` and `overlap`: S_J and S_L, words in matching chunks of five or more words (see `indexer.similarity.alignment`).
- `containment`: the share of a text's features that lie in the other, both ways; as one number the larger side.
- `containment_words`: C / words, both ways: words in matching chunks, of the words of either text. Shown beside the others.
- `terminology`: distinct words in common / distinct words of the text that has more. Conrad & Raymond (ICAIL 2007) ask that
  80 or 90 % of the words in one text be contained in the other, whatever their frequency, and mean resemblance, not
  containment: so the text that shares the smaller part decides, and a clause inside a contract is no duplicate of it.
- `hamming`: 1 - d / bits of the SimHash. Of the bits it is exact; it estimates 1 - angle / pi of the two sets of features
  (Charikar, STOC 2002: each bit agrees with that chance), and carries the 95 % Wilson interval of that: wide, for 64 bits.

Undefined, and so 0: a text without features (`jaccard`, `containment`), without words (the word
measures; two empty texts are no near duplicates), without a sketch (`estimate`, `hamming`; None in
`Measures`). A text shorter than five words is one shingle and one chunk, whole: texts with the same
words have similarity 1 however short they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UnknownMeasure
from indexer.joins.external_sort import distinct
from indexer.joins.parity_maps import parity_map
from indexer.model import Estimate
from indexer.recipe import Recipe
from indexer.recipe_key import KEYED_HASH
from indexer.similarity.alignment import WIDTH, Alignment, Matching, align
from indexer.sketch.distance import bit_similarity
from indexer.sketch.hashing import gram_hashes
from indexer.sketch.passage_keys import passage_runs
from indexer.sketch.schemes import features_of
from indexer.sketch.string_hashes import string_hashes
from indexer.sketch.wilson import wilson
from indexer.text.normalise import normalised_codes
from indexer.text.word_ngrams import grams, shared_numbers
from indexer.text.words import Words, words

PARITY_BITS = 1 << 13


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The distinct features of a text under one recipe: their hashes in ascending order, (n,)
    uint64.
    """

    hashes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.hashes)


def feature_set(text: str, recipe: Recipe) -> FeatureSet:
    """The features that the recipe's sketches are made of; compute it once to compare a text with
    many. It takes no secret key.

    Raises `UsageError` for a recipe with a step that is not known.
    """
    if recipe.feature_hash in ("gram64_v1", KEYED_HASH):
        return FeatureSet(distinct(np.sort(gram_hashes(normalised_codes(text), recipe.width or 1))))
    return FeatureSet(distinct(np.sort(string_hashes(features_of(text, recipe)))))


def common(a: FeatureSet, b: FeatureSet) -> int:
    """How many features two sets share."""
    small, large = sorted((a.hashes, b.hashes), key=len)
    if not len(small):
        return 0
    places = np.minimum(np.searchsorted(large, small), len(large) - 1)
    return int(np.count_nonzero(large[places] == small))


def jaccard(a: FeatureSet, b: FeatureSet) -> float:
    """Features in common / all distinct features; 0 when neither has any."""
    shared = common(a, b)
    return _share(shared, len(a) + len(b) - shared)


def containment(a: FeatureSet, b: FeatureSet) -> tuple[float, float]:
    """How much of a's features lie in b, and of b's in a; 0 for a side without features."""
    shared = common(a, b)
    return _share(shared, len(a)), _share(shared, len(b))


@dataclass(frozen=True)
class Side:
    """One text of a comparison, with its sketches; what measures need of it is computed once, when
    it is asked for.
    """

    text: str
    recipe: Recipe
    minhash: NDArray[Any] | None = None
    simhash: int | None = None

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
        """The words."""
        return words(self.text)

    @cached_property
    def runs(self) -> NDArray[np.uint64]:
        """The runs that passages are made of."""
        return passage_runs(self.text)


@dataclass(frozen=True, slots=True)
class Measures:
    """Every measure of one pair. `alignment` says where S_L and S_J come from.

    `estimate` and `hamming` are None when a text has no such sketch: it is too short, or the recipe
    makes none. `hamming_interval`: where the similarity 1 - angle / pi lies that `hamming`
    estimates, with 95 % confidence.
    """

    jaccard: float
    resemblance: float
    jaccard_words: float
    overlap: float
    containment: tuple[float, float]
    terminology: float
    estimate: Estimate | None
    hamming: float | None
    alignment: Alignment
    hamming_interval: tuple[float, float] | None = None

    @property
    def containment_words(self) -> tuple[float, float]:
        """Words in matching chunks: of the words of a, of the words of b."""
        return self.alignment.containment


def measures(a: Side, b: Side, matching: Matching = "literal") -> Measures:
    """Every measure of two texts; `matching` counts for S_L and S_J only."""
    aligned = align(a.words, b.words, matching)
    bits, agreeing = a.recipe.bits or 64, hamming(a, b)
    return Measures(
        jaccard=jaccard(a.features, b.features),
        resemblance=resemblance(a.words, b.words),
        jaccard_words=aligned.jaccard,
        overlap=aligned.overlap,
        containment=containment(a.features, b.features),
        terminology=terminology(a.words, b.words),
        estimate=estimate(a.minhash, b.minhash),
        hamming=agreeing,
        alignment=aligned,
        hamming_interval=None if agreeing is None else wilson(agreeing * bits, bits),
    )


def resemblance(a: Words, b: Words, width: int = WIDTH) -> float:
    """S_R: distinct shingles of `width` words in common / distinct shingles of both; 0 when a text
    has no words.

    The width is at most the words of the shorter text, so that a short text is one shingle.

    >>> resemblance(words("did you steal the money"), words("Did you steal the money? Yes."))
    0.5
    """
    if not len(a) or not len(b):
        return 0.0
    runs_a, runs_b = grams(*shared_numbers(a, b), min(width, len(a), len(b)))
    kinds = 1 + max(int(runs_a.max()), int(runs_b.max()))
    in_a, in_b = np.bincount(runs_a, minlength=kinds) > 0, np.bincount(runs_b, minlength=kinds) > 0
    return _share(int(np.count_nonzero(in_a & in_b)), int(np.count_nonzero(in_a | in_b)))


def terminology(a: Words, b: Words) -> float:
    """Distinct words in common / distinct words of the text that has more; 0 when neither has any.

    >>> terminology(words("binding on the parties"), words("binding upon the said parties"))
    0.6
    """
    shared = len(set(a.vocabulary).intersection(b.vocabulary))
    return _share(shared, max(len(a.vocabulary), len(b.vocabulary)))


def estimate(a: NDArray[Any] | None, b: NDArray[Any] | None) -> Estimate | None:
    """The Jaccard similarity of the features, estimated from equal slots; None when a sketch is
    missing.
    """
    if a is None or b is None:
        return None
    equal = int(np.count_nonzero(a == b))
    return Estimate(equal / len(a), *wilson(equal, len(a)))


def hamming(a: Side, b: Side) -> float | None:
    """1 - d / bits for the Hamming distance d of the SimHash sketches; None when one is missing."""
    if a.simhash is None or b.simhash is None:
        return None
    return bit_similarity(a.simhash, b.simhash, a.recipe.bits or 64)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _exact(similarity: float) -> Estimate:
    return Estimate(similarity, similarity, similarity)


Measure: TypeAlias = Callable[[Side, Side, Matching], Estimate]
MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "jaccard": lambda a, b, _: _exact(jaccard(a.features, b.features)),
        "resemblance": lambda a, b, _: _exact(resemblance(a.words, b.words)),
        "jaccard_words": lambda a, b, matching: _exact(align(a.words, b.words, matching).jaccard),
        "overlap": lambda a, b, matching: _exact(align(a.words, b.words, matching).overlap),
        "containment": lambda a, b, _: _exact(max(containment(a.features, b.features))),
        "terminology": lambda a, b, _: _exact(terminology(a.words, b.words)),
        "estimate": lambda a, b, _: estimate(a.minhash, b.minhash) or _exact(0.0),
        "hamming": lambda a, b, _: _exact(hamming(a, b) or 0.0),
    }
)
MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "jaccard": "features in common; what look-ups go by",
        "estimate": "of features, from the sketches alone",
        "overlap": "S_L: shared words, of the longer text",
        "jaccard_words": "S_J: shared words, of both together",
        "resemblance": "S_R: five-word shingles in common",
        "containment_words": "shared words, of the words of A / of B",
        "terminology": "distinct words in common, of the larger set",
        "containment": "features of A in B / of B in A",
        "hamming": "equal bits of the SimHash; about 1 - angle / π",
    }
)
"""What each measure tells a reader of a comparison of A and B, in the order in which they are shown."""


def measure_pair(name: str, a: Side, b: Side, matching: Matching = "literal") -> Estimate:
    """One measure by name, as the number a threshold is compared with; exact measures have no width
    between low and high.

    Raises `UnknownMeasure`, which lists the names there are.
    """
    if name not in MEASURES:
        raise UnknownMeasure(name=name, known=tuple(MEASURES))
    return MEASURES[name](a, b, matching)
