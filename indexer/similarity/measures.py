"""The similarity measures, by the names that `--measure` takes.

All are in [0, 1], symmetric, and 0 where undefined.

- `jaccard`: Jaccard similarity of the recipe's own features, exact; the sketches estimate it.
- `estimate`: the same from the MinHash slots, with its 95 % Wilson interval.
- `resemblance`: S_R, five-word shingles in common / all distinct shingles (Broder; Dimm, "What is a
  near-dupe, really?").
- `lcs`: words in order, the longest common subsequence of words / words of the longer text (see
  `indexer.similarity.lcs`).
- `lcs_misread`: the same, with misread words in part (see `indexer.similarity.misread`).
- `jaccard_words` and `overlap`: S_J and S_L, words in matching chunks of five or more words (see
  `indexer.similarity.alignment`).
- `containment`: the share of a text's features that lie in the other, both ways; as one number the
  larger of the two.
- `containment_words`: C / words, both ways: words in matching chunks, of the words of either text.
  Shown beside the others.
- `terminology`: distinct words in common / distinct words of the text that has more. Conrad &
  Raymond (ICAIL 2007) ask that 80 or 90 % of the words in one text be contained in the other,
  whatever their frequency, and mean resemblance, not containment: so the text that shares the
  smaller part decides, and a clause inside a contract is not a duplicate of it.
- `hamming`: 1 - d / bits of the SimHash. Of the bits it is exact; it estimates 1 - angle / pi of
  the two sets of features (Charikar, STOC 2002: each bit agrees with that chance), and carries the
  95 % Wilson interval of that: wide, for 64 bits.

Undefined, and so 0: a text without features (`jaccard`, `containment`), without words (the word
measures; two empty texts are no near duplicates), without a sketch (`estimate`, `hamming`; None in
`MeasureValues`). A text shorter than five words is one shingle and one chunk, whole: texts with the
same words have similarity 1 however short they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UnknownMeasure
from indexer.model import Estimate, WordsInOrder
from indexer.similarity.alignment import Alignment, Matching, align
from indexer.similarity.facts import FactSource
from indexer.similarity.lcs import lcs, words_in_order
from indexer.similarity.misread import lcs_misread
from indexer.sketch.bbit import FULL, correct_for_chance
from indexer.sketch.distance import bit_similarity
from indexer.sketch.term_vectors import vector_overlap
from indexer.sketch.wilson import wilson
from indexer.text.word_numbers import Words, number_runs, shared_numbers

SHINGLE_WORDS = 5  # words of a shingle in resemblance, and where boilerplate is discounted


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The distinct features of a text under one recipe: ascending hashes, (n,) uint64."""

    hashes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.hashes)


class Operand(Protocol):
    """One text of a comparison, as measures read it; `indexer.similarity.sides.Side` is one.

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
        """The rare-term signature, (terms,)."""


class TextOperand(Operand, Protocol):
    """An operand with its text."""

    @property
    def text(self) -> str:
        """The text itself."""

    @property
    def spelled(self) -> Words:
        """The words as they are spelled."""

    @property
    def facts(self) -> FactSource:
        """The facts that these state."""


def common(a: FeatureSet, b: FeatureSet) -> int:
    """Count the features that two sets share."""
    small, large = sorted((a.hashes, b.hashes), key=len)
    if not len(small):
        return 0
    places = np.minimum(np.searchsorted(large, small), len(large) - 1)
    return int(np.count_nonzero(large[places] == small))


def jaccard(a: FeatureSet, b: FeatureSet) -> float:
    """Return features in common / all distinct features; 0 when neither has any."""
    shared = common(a, b)
    return _share(shared, len(a) + len(b) - shared)


def containment(a: FeatureSet, b: FeatureSet) -> tuple[float, float]:
    """Return the share of a's features that lie in b, and of b's in a; 0 without features."""
    shared = common(a, b)
    return _share(shared, len(a)), _share(shared, len(b))


@dataclass(frozen=True, slots=True)
class MeasureValues:
    """The values of every measure for one pair of texts. S_L and S_J come from `alignment`.

    `in_order`: the words of the longest common subsequence, of which `lcs` is the share. `estimate`
    and `hamming` are None when a text has no such sketch: it is too short, or the recipe makes
    none. `hamming_interval`: the 95 % confidence interval of the similarity 1 - angle / pi that
    `hamming` estimates. `shingle_width`: words of a shingle in `resemblance`.
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
    in_order: WordsInOrder
    lcs_misread: float
    hamming_interval: tuple[float, float] | None = None
    shingle_width: int = SHINGLE_WORDS

    @property
    def lcs(self) -> float:
        """Words in order, of the words of the longer text."""
        return self.in_order.similarity

    @property
    def containment_words(self) -> tuple[float, float]:
        """Words in matching chunks: of the words of a, of the words of b."""
        return self.alignment.containment


def measure_all(
    a: Operand, b: Operand, matching: Matching = "literal", shingle_width: int = SHINGLE_WORDS
) -> MeasureValues:
    """Compute every measure of two texts.

    `matching` counts for S_L and S_J only, `shingle_width` for S_R.
    """
    aligned = align(a.words, b.words, matching)
    agreeing = hamming(a, b)
    return MeasureValues(
        jaccard=jaccard(a.features, b.features),
        resemblance=resemblance(a.words, b.words, shingle_width),
        jaccard_words=aligned.jaccard,
        overlap=aligned.overlap,
        containment=containment(a.features, b.features),
        terminology=terminology(a.words, b.words),
        estimate=estimate_sketches(a, b),
        hamming=agreeing,
        alignment=aligned,
        in_order=words_in_order(a.words, b.words),
        lcs_misread=lcs_misread(a.words, b.words),
        hamming_interval=None if agreeing is None else wilson(agreeing * a.bits, a.bits),
        shingle_width=shingle_width,
    )


def resemblance(a: Words, b: Words, width: int = SHINGLE_WORDS) -> float:
    """Return S_R: distinct shingles of `width` words in common / distinct shingles of both.

    0 when a text has no words. The width is at most the words of the shorter text, so that a short
    text is one shingle.

    >>> from indexer.text.words import words
    >>> resemblance(words("did you steal the money"), words("Did you steal the money? Yes."))
    0.5
    """
    if not len(a) or not len(b):
        return 0.0
    runs_a, runs_b = number_runs(*shared_numbers(a, b), min(width, len(a), len(b)))
    kinds = 1 + max(int(runs_a.max()), int(runs_b.max()))
    in_a = np.bincount(runs_a, minlength=kinds) > 0
    in_b = np.bincount(runs_b, minlength=kinds) > 0
    return _share(int(np.count_nonzero(in_a & in_b)), int(np.count_nonzero(in_a | in_b)))


def terminology(a: Words, b: Words) -> float:
    """Return distinct words in common / distinct words of the text that has more.

    0 when neither has any.

    >>> from indexer.text.words import words
    >>> terminology(words("binding on the parties"), words("binding upon the said parties"))
    0.6
    """
    shared = len(set(a.vocabulary).intersection(b.vocabulary))
    return _share(shared, max(len(a.vocabulary), len(b.vocabulary)))


def estimate(a: NDArray[Any] | None, b: NDArray[Any] | None, bits: int = FULL) -> Estimate | None:
    """Estimate the Jaccard similarity of the features from equal slots of so many bits.

    `a` and `b`: the slots of two texts by one recipe, (slots,) of the same length, not empty. None
    when a sketch is missing.
    """
    if a is None or b is None:
        return None
    equal = int(np.count_nonzero(a == b))
    if bits < FULL:
        return correct_for_chance(equal, len(a), bits)
    return Estimate(equal / len(a), *wilson(equal, len(a)))


def estimate_sketches(a: Operand, b: Operand) -> Estimate | None:
    """Return `estimate` of the slots of two texts, or the overlap of their rare terms.

    None when a sketch is missing.
    """
    if a.vector is not None and b.vector is not None:
        return _exact(vector_overlap(a.vector, b.vector))
    return estimate(a.minhash, b.minhash, a.slot_bits)


def hamming(a: Operand, b: Operand) -> float | None:
    """Return 1 - d / bits for the Hamming distance d of the SimHash sketches.

    None when one is missing.
    """
    if a.simhash is None or b.simhash is None:
        return None
    return bit_similarity(a.simhash, b.simhash, a.bits)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _exact(similarity: float) -> Estimate:
    return Estimate(similarity, similarity, similarity)


MeasureFunction: TypeAlias = Callable[[Operand, Operand, Matching, float], Estimate]
MEASURES: Mapping[str, MeasureFunction] = MappingProxyType(
    {
        "jaccard": lambda a, b, *_: _exact(jaccard(a.features, b.features)),
        "lcs": lambda a, b, _, least: _exact(lcs(a.words, b.words, least)),
        "lcs_misread": lambda a, b, _, least: _exact(lcs_misread(a.words, b.words, least)),
        "resemblance": lambda a, b, *_: _exact(resemblance(a.words, b.words)),
        "jaccard_words": lambda a, b, matching, _: _exact(
            align(a.words, b.words, matching).jaccard
        ),
        "overlap": lambda a, b, matching, _: _exact(align(a.words, b.words, matching).overlap),
        "containment": lambda a, b, *_: _exact(max(containment(a.features, b.features))),
        "terminology": lambda a, b, *_: _exact(terminology(a.words, b.words)),
        "estimate": lambda a, b, *_: estimate_sketches(a, b) or _exact(0.0),
        "hamming": lambda a, b, *_: _exact(hamming(a, b) or 0.0),
    }
)
MEASURE_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "jaccard": "features in common; keys find candidates by it",
        "estimate": "of features, from the sketches alone",
        "lcs": "words in order, of the longer text",
        "lcs_misread": "words in order, misread words in part",
        "overlap": "S_L: shared words, of the longer text",
        "jaccard_words": "S_J: shared words, of both together",
        "resemblance": "S_R: five-word shingles in common",
        "containment_words": "shared words, of the words of A / of B",
        "terminology": "distinct words in common, of the larger set",
        "containment": "features of A in B / of B in A",
        "hamming": "equal bits of the SimHash; about 1 - angle / π",
    }
)
"""The description of each value in a comparison of A and B, in the order they are shown in."""


def describe_measures(values: MeasureValues) -> dict[str, str]:
    """Return `MEASURE_DESCRIPTIONS` of these values, with their width of shingles."""
    meanings = dict(MEASURE_DESCRIPTIONS)
    if values.shingle_width != SHINGLE_WORDS:
        meanings["resemblance"] = f"S_R: {values.shingle_width}-word shingles in common"
    return meanings


def check_measure(name: str) -> None:
    """Raise `UnknownMeasure`, which lists the names, for a name that is not a measure's."""
    if name not in MEASURES:
        raise UnknownMeasure(name=name, known=tuple(MEASURES))


def measure_pair(
    name: str, a: Operand, b: Operand, matching: Matching = "literal", least: float = 0.0
) -> Estimate:
    """Return one measure by name, as the number that a threshold is compared with.

    For exact measures low and high are equal. The value may be 0 for a pair below `least`, which
    saves time. Raises `UnknownMeasure`, which lists the names.
    """
    check_measure(name)
    return MEASURES[name](a, b, matching, least)
