"""The similarity measures, by the names that `--measure` takes.

All are in [0, 1], symmetric, and 0 where undefined.

- `jaccard`: Jaccard similarity of the recipe's own features, exact; the sketches estimate it.
- `estimate`: the same from the MinHash slots, with its 95 % Wilson interval.
- `resemblance`: S_R, five-word shingles in common / all distinct shingles (Broder; Dimm, "What is a
  near-dupe, really?").
- `lcs`: words in order, the longest common subsequence of words / words of the longer text (see
  `indexer.comparing.alignment`).
- `grown`: the same, of the words of the shorter text, or of half of the longer one if that is more:
  a text that passages were added to.
- `lcs_misread`: `lcs`, with misread words in part (see `indexer.comparing.misread`).
- `jaccard_words` and `overlap`: S_J and S_L, words in matching chunks of five or more words (see
  below).
- `containment`: the fraction of a text's features that lie in the other, both ways; as one number
  the larger of the two.
  `overlap:8` has chunks of eight words, `overlap:information` information matching, and
  `overlap:8:information` both; so has `jaccard_words`, and `resemblance:3` shingles of three words.
- `containment_words`: C / words, both ways: words in matching chunks, of the words of either text.
  Shown with the other measures.
- `terminology`: distinct words in common / distinct words of the text that has more. Conrad &
  Raymond (ICAIL 2007) require 80 or 90 % of the words in one text to be contained in the other,
  whatever their frequency, and mean resemblance, not containment: so the smaller fraction
  decides, and a clause inside a contract is not a duplicate of it.
- `hamming`: 1 - d / bits of the SimHash. Of the bits it is exact; it estimates 1 - angle / pi of
  the two sets of features (Charikar, STOC 2002: each bit agrees with that chance), and carries the
  95 % Wilson interval of that: wide, for 64 bits.

Undefined, and so 0: a text without features (`jaccard`, `containment`), without words (the word
measures; two empty texts are no near duplicates), without a sketch (`estimate`, `hamming`; None in
`MeasureValues`). A text shorter than five words is one shingle and one chunk, whole: texts with the
same words have similarity 1 however short they are.

Matching chunks have at least five consecutive words. Bill Dimm, "What is a near-dupe, really?",
names two ways to count. L and S are the words of the longer and the shorter text, C the words in
common.

- `literal`: chunks are matched one to one, the longest first (see `indexer.comparing.tiling`); C
  is the words of all chunks.
- `information`: repeats within a text add nothing, and chunks may overlap. A word counts in neither
  L nor S when it lies in a chunk that stood earlier in its own text; where the two copies overlap,
  only the part beyond the first one is left out. C is the counted words of the shorter text that
  lie in chunks of the other. "Shorter" is by counted words; when both have the same number, C is
  the smaller of the two counts.

L, S and C do not depend on the order of the texts. A text with fewer words than a chunk needs is
itself one chunk: the minimum chunk of a pair is the smaller of the width and the words of the
shorter text. Where a text has no words, C = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing import relations
from indexer.comparing.alignment import AlignedWords, grown, lcs, words_in_order
from indexer.comparing.facts import FactSource
from indexer.comparing.measure import FeatureSet, Measure, Operand, exact
from indexer.comparing.misread import LCS_MISREAD, lcs_misread
from indexer.comparing.tiling import Tile, tiles_by_pairs, tiles_by_suffixes
from indexer.comparing.unworded import sort_unworded
from indexer.comparing.words import (
    Words,
    is_lesser,
    normal_words,
    number_runs,
    shared_numbers,
    words,
)
from indexer.defaults import MEASURE_VARIANT, SHINGLE_WORDS
from indexer.errors import UnknownMeasure
from indexer.fingerprinting.hashing import (
    distinct_hashes,
    gram_hashes,
    string_hashes,
    word_features,
)
from indexer.fingerprinting.keys import bit_similarity, passage_runs, unpack_slots
from indexer.fingerprinting.minhash import FULL, correct_for_chance, wilson
from indexer.fingerprinting.normalise import normalised_codes, normalised_codes_v2
from indexer.fingerprinting.rare_terms import vector_overlap
from indexer.model import Estimate, Fingerprint, Matching, Passage, WordsInOrder
from indexer.recipe import KEYED_HASHES, Recipe


class TextOperand(Operand, Protocol):
    """An operand with its text."""

    @property
    def text(self) -> str:
        """The text itself."""

    @property
    def spelled(self) -> Words:
        """The words as they are written."""

    @property
    def unworded(self) -> list[tuple[int, int]]:
        """The spans that are no wording."""

    @property
    def facts(self) -> FactSource:
        """The facts that these state."""


def common(a: FeatureSet, b: FeatureSet) -> int:
    """Count the features that two sets share."""
    small, large = sorted((a.hashes, b.hashes), key=len)
    if not len(small):
        return 0
    positions = np.minimum(np.searchsorted(large, small), len(large) - 1)
    return int(np.count_nonzero(large[positions] == small))


def jaccard(a: FeatureSet, b: FeatureSet) -> float:
    """Return features in common / all distinct features; 0 when neither has any."""
    shared = common(a, b)
    return _fraction(shared, len(a) + len(b) - shared)


def containment(a: FeatureSet, b: FeatureSet) -> tuple[float, float]:
    """Return the fraction of a's features that lie in b, and of b's in a; 0 without features."""
    shared = common(a, b)
    return _fraction(shared, len(a)), _fraction(shared, len(b))


# Matching chunks.

PAIRS_PER_WORD = 1  # pairs of equal runs above which suffixes are sorted instead
_MIN_PAIRS = 10_000  # pairs up to which all are listed in any case


def tiles(a: NDArray[np.int64], b: NDArray[np.int64], width: int) -> list[Tile]:
    """Return the tiles of two texts of numbered words, each at least `width` words long.

    They are in the order in which they are matched.

    >>> tiles(np.array([1, 2, 3, 4, 9, 2, 3]), np.array([2, 3, 8, 1, 2, 3, 4]), width=2)
    [Tile(a=0, b=3, words=4), Tile(a=5, b=0, words=2)]
    """
    runs_a, runs_b = number_runs(a, b, width)
    counts_a, counts_b = np.bincount(runs_a), np.bincount(runs_b)
    both = min(len(counts_a), len(counts_b))
    pairs = int(counts_a[:both] @ counts_b[:both])
    if pairs > max(_MIN_PAIRS, PAIRS_PER_WORD * (len(a) + len(b))):
        return [Tile(*tile) for tile in tiles_by_suffixes(runs_a, runs_b, width)]
    return tiles_by_pairs(runs_a, runs_b, width)


MIN_PASSAGE_WORDS = 5  # minimum words of a matching chunk


@dataclass(frozen=True, slots=True)
class Alignment:
    """The chunks of two texts in order of their position in a, then b, and the counts L, S and C.

    `counted`: words of a, of b. Under information matching chunks may overlap, and may hold words
    that are not counted.
    """

    chunks: tuple[Tile, ...]
    counted: tuple[int, int]
    common: int

    @property
    def longer(self) -> int:
        """L."""
        return max(self.counted)

    @property
    def shorter(self) -> int:
        """S."""
        return min(self.counted)

    @property
    def containment(self) -> tuple[float, float]:
        """C / words of a and C / words of b, each in [0, 1]; the smaller one is S_L.

        0 for a text without words.
        """
        a, b = (self.common / words if words else 0.0 for words in self.counted)
        return a, b

    @property
    def overlap(self) -> float:
        """S_L = C / L, in [0, 1]: at least this fraction of either text is in the other.

        0 without words.
        """
        return self.common / self.longer if self.longer else 0.0

    @property
    def jaccard(self) -> float:
        """S_J = C / (L + S - C), in [0, 1] and never above S_L. 0 without words."""
        return self.common / (self.longer + self.shorter - self.common) if self.longer else 0.0


def align(
    a: Words, b: Words, matching: Matching = "literal", width: int = MIN_PASSAGE_WORDS
) -> Alignment:
    """Align two texts by chunks of at least `width` words.

    Near linear: O(N log^2 N) for N words of both texts, however often they repeat themselves.

    >>> from indexer.comparing.words import words
    >>> a, b = words("to be or not to be"), words("To be, or not to be: to be or not to be!")
    >>> align(a, b).overlap, align(a, b, "information").overlap
    (0.5, 1.0)
    """
    width = max(1, min(width, len(a), len(b)))
    if matching == "information":
        return _align_information(a, b, width)
    return _align_literally(a, b, width)


def passages(alignment: Alignment, a: Words, b: Words) -> tuple[Passage, ...]:
    """Return the chunks of an alignment as passages with character offsets, in the same order."""
    return tuple(
        Passage(
            a=(int(a.starts[chunk.a]), int(a.ends[chunk.a + chunk.words - 1])),
            b=(int(b.starts[chunk.b]), int(b.ends[chunk.b + chunk.words - 1])),
            words=chunk.words,
        )
        for chunk in alignment.chunks
    )


def _align_literally(a: Words, b: Words, width: int) -> Alignment:
    """Match one to one.

    Ties go to the earliest position in the shorter text, so that C does not depend on the order of
    the texts.
    """
    numbers_a, numbers_b = shared_numbers(a, b)
    if is_lesser(b, a):
        placed = [Tile(tile.b, tile.a, tile.words) for tile in tiles(numbers_b, numbers_a, width)]
    else:
        placed = tiles(numbers_a, numbers_b, width)
    common = sum(tile.words for tile in placed)
    return Alignment(tuple(sorted(placed)), (len(a), len(b)), common)


class _Text(NamedTuple):
    """One text under information matching.

    `runs`: the numbers of its runs; `first`: the first position of each of them here; `counted`:
    the words that count.
    """

    runs: NDArray[np.int64]
    first: NDArray[np.int64]
    counted: NDArray[np.bool_]


def _align_information(a: Words, b: Words, width: int) -> Alignment:
    runs_a, runs_b = number_runs(*shared_numbers(a, b), width)
    text_a = _text(runs_a, len(a), width)
    text_b = _text(runs_b, len(b), width)
    common_a = _common(text_a, text_b, width)
    common_b = _common(text_b, text_a, width)
    size_a = int(np.count_nonzero(text_a.counted))
    size_b = int(np.count_nonzero(text_b.counted))
    if (size_a, common_a) <= (size_b, common_b):
        return Alignment(tuple(_chunks(text_a, text_b, width)), (size_a, size_b), common_a)
    chunks = sorted(Tile(chunk.b, chunk.a, chunk.words) for chunk in _chunks(text_b, text_a, width))
    return Alignment(tuple(chunks), (size_a, size_b), common_b)


def _text(runs: NDArray[np.int64], size: int, width: int) -> _Text:
    position = np.arange(len(runs))
    first = _first_positions(runs, int(runs.max(initial=-1)) + 1)[runs]
    repeated = first < position
    beyond = np.maximum(position, first + width)[repeated]
    return _Text(runs, first, ~_covered(beyond, position[repeated] + width, size))


def _first_positions(runs: NDArray[np.int64], kinds: int) -> NDArray[np.int64]:
    """Return the first position of each kind of run, (kinds,); -1 for one that is not here."""
    first = np.full(kinds, -1, dtype=np.int64)
    first[runs[::-1]] = np.arange(len(runs))[::-1]
    return first


def _covered(starts: NDArray[np.int64], ends: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Flag which of `size` words lie in one of the spans [start, end)."""
    turns = np.bincount(starts, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    return np.cumsum(turns)[:size] > 0


def _common(text: _Text, other: _Text, width: int) -> int:
    """Count the counted words of a text that lie in runs of the other."""
    starts = np.flatnonzero(np.isin(text.runs, other.runs))
    return int(np.count_nonzero(text.counted & _covered(starts, starts + width, len(text.counted))))


def _chunks(text: _Text, other: _Text, width: int) -> list[Tile]:
    """Return chunks that cover the common words of a text.

    They join the first positions of every run in each text where these are consecutive.
    """
    kinds = int(max(text.runs.max(initial=-1), other.runs.max(initial=-1))) + 1
    partner = _first_positions(other.runs, kinds)[text.runs]
    here = np.flatnonzero((partner >= 0) & (text.first == np.arange(len(text.runs))))
    there = partner[here]
    begins = np.flatnonzero((np.diff(here, prepend=-2) != 1) | (np.diff(there, prepend=-2) != 1))
    lengths = np.diff(begins, append=len(here)) + width - 1
    chunks = zip(here[begins].tolist(), there[begins].tolist(), lengths.tolist(), strict=True)
    return [Tile(*chunk) for chunk in chunks]


# The values of every measure.

MeasuredValue: TypeAlias = "float | tuple[float, float] | Estimate | None"


@dataclass(frozen=True, slots=True)
class MeasureValues:
    """The values of every measure for one pair of texts. S_L and S_J come from `alignment`.

    `in_order`: the words of the longest common subsequence, of which `lcs` is the fraction.
    `estimate` and `hamming` are None when a text has no such sketch: it is too short, or the recipe
    makes none. `hamming_interval`: the 95 % confidence interval of the similarity 1 - angle / pi
    that `hamming` estimates. `shingle_width`: words of a shingle in `resemblance`. `others`: the
    values of measures without a field here.
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
    grown: float
    hamming_interval: tuple[float, float] | None = None
    shingle_width: int = SHINGLE_WORDS
    others: Mapping[str, float] = field(default_factory=dict)

    def value(self, name: str) -> MeasuredValue:
        """Return the value of a measure by name."""
        value: MeasuredValue = self.others[name] if name in self.others else getattr(self, name)
        return value

    @property
    def lcs(self) -> float:
        """Words in order, of the words of the longer text."""
        return self.in_order.similarity

    @property
    def containment_words(self) -> tuple[float, float]:
        """Words in matching chunks: of the words of a, of the words of b."""
        return self.alignment.containment


def measure_all(
    a: Operand,
    b: Operand,
    matching: Matching = "literal",
    shingle_width: int = SHINGLE_WORDS,
    variants: Sequence[str] = (),
) -> MeasureValues:
    """Compute every measure of two texts, and these variants of measures.

    `matching` counts for S_L and S_J only, `shingle_width` for S_R.
    """
    aligned = align(a.words, b.words, matching)
    in_order = AlignedWords(a.words, b.words)
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
        in_order=words_in_order(a.words, b.words, length=in_order.length),
        grown=grown(a.words, b.words, length=in_order.length),
        lcs_misread=lcs_misread(a.words, b.words, aligned=in_order),
        hamming_interval=None if agreeing is None else wilson(agreeing * a.bits, a.bits),
        shingle_width=shingle_width,
        others={
            name: measure_pair(name, a, b, matching).similarity
            for name in (*MEASURES, *variants)
            if not hasattr(MeasureValues, name)
        },
    )


def resemblance(a: Words, b: Words, width: int = SHINGLE_WORDS) -> float:
    """Return S_R: distinct shingles of `width` words in common / distinct shingles of both.

    0 when a text has no words. The width is at most the words of the shorter text, so that a short
    text is one shingle.

    >>> from indexer.comparing.words import words
    >>> resemblance(words("did you steal the money"), words("Did you steal the money? Yes."))
    0.5
    """
    if not len(a) or not len(b):
        return 0.0
    runs_a, runs_b = number_runs(*shared_numbers(a, b), min(width, len(a), len(b)))
    kinds = 1 + max(int(runs_a.max()), int(runs_b.max()))
    in_a = np.bincount(runs_a, minlength=kinds) > 0
    in_b = np.bincount(runs_b, minlength=kinds) > 0
    return _fraction(int(np.count_nonzero(in_a & in_b)), int(np.count_nonzero(in_a | in_b)))


def terminology(a: Words, b: Words) -> float:
    """Return distinct words in common / distinct words of the text that has more.

    0 when neither has any.

    >>> from indexer.comparing.words import words
    >>> terminology(words("binding on the parties"), words("binding upon the said parties"))
    0.6
    """
    shared = len(set(a.vocabulary).intersection(b.vocabulary))
    return _fraction(shared, max(len(a.vocabulary), len(b.vocabulary)))


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
        return exact(vector_overlap(a.vector, b.vector))
    return estimate(a.minhash, b.minhash, a.slot_bits)


def hamming(a: Operand, b: Operand) -> float | None:
    """Return 1 - d / bits for the Hamming distance d of the SimHash sketches.

    None when one is missing.
    """
    if a.simhash is None or b.simhash is None:
        return None
    return bit_similarity(a.simhash, b.simhash, a.bits)


def _fraction(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# The declared measures.

JACCARD = Measure(
    "jaccard",
    "features in common, which candidate keys approximate",
    lambda a, b, *_: jaccard(a.features, b.features),
    is_of_features=True,
)
ESTIMATE = Measure(
    "estimate",
    "jaccard, estimated from the sketches",
    lambda a, b, *_: estimate_sketches(a, b) or 0.0,
    is_of_features=True,
    sketch="MinHash",
)
LCS = Measure(
    "lcs",
    "words in the same order, relative to the longer text",
    lambda a, b, _, minimum: lcs(a.words, b.words, minimum),
    version=2,
    relation=relations.LCS,
    is_in_order=True,
    new_word_cost=0.02,
)
GROWN = Measure(
    "grown",
    "words in the same order, relative to the shorter text",
    lambda a, b, _, minimum: grown(a.words, b.words, minimum),
    relation=relations.GROWN,
    is_in_order=True,
)
OVERLAP = Measure(
    "overlap",
    "S_L: shared words, relative to the longer text",
    lambda a, b, matching, _: align(a.words, b.words, matching).overlap,
    relation=relations.OVERLAP,
)
JACCARD_WORDS = Measure(
    "jaccard_words",
    "S_J: shared words, relative to both texts together",
    lambda a, b, matching, _: align(a.words, b.words, matching).jaccard,
    relation=relations.JACCARD_WORDS,
)
RESEMBLANCE = Measure(
    "resemblance",
    "S_R: five-word shingles in common",
    lambda a, b, *_: resemblance(a.words, b.words),
    relation=relations.RESEMBLANCE,
)
CONTAINMENT_WORDS = Measure("containment_words", "shared words, relative to A / relative to B")
TERMINOLOGY = Measure(
    "terminology",
    "distinct words in common, relative to the larger set",
    lambda a, b, *_: terminology(a.words, b.words),
    relation=relations.TERMINOLOGY,
)
CONTAINMENT = Measure(
    "containment",
    "features of A in B / of B in A",
    lambda a, b, *_: max(containment(a.features, b.features)),
    relation=relations.CONTAINMENT,
)
HAMMING = Measure(
    "hamming",
    "equal bits of the SimHash; about 1 - angle / π",
    lambda a, b, *_: hamming(a, b) or 0.0,
    sketch="SimHash",
)
DECLARED: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        JACCARD,
        ESTIMATE,
        LCS,
        GROWN,
        LCS_MISREAD,
        OVERLAP,
        JACCARD_WORDS,
        RESEMBLANCE,
        CONTAINMENT_WORDS,
        TERMINOLOGY,
        CONTAINMENT,
        HAMMING,
    )
}
"""Every measure by name, in the order in which comparisons show them."""
MEASURES: dict[str, Measure] = {
    name: measure for name, measure in DECLARED.items() if measure.function is not None
}
"""The measures that `--measure` takes, by name; `MEASURE_NAMES` lists them for `--help`."""


def describe_measures(values: MeasureValues) -> dict[str, str]:
    """Return the phrase of each measure for these values, with their width of shingles."""
    phrases = {name: measure.phrase for name, measure in DECLARED.items()}
    if values.shingle_width != SHINGLE_WORDS:
        phrases["resemblance"] = f"S_R: {values.shingle_width}-word shingles in common"
    return phrases


def rank_phrase(name: str) -> str:
    """Return by what matches of a measure are ordered; empty where it is the measure itself.

    >>> rank_phrase("lcs"), rank_phrase("jaccard")
    ('lcs - 0.02 ln(1 + new words)', '')
    """
    cost = MEASURES[name].new_word_cost if name in MEASURES else 0
    return f"{name} - {cost:g} ln(1 + new words)" if cost else ""


def measure_named(name: str) -> Measure:
    """Return a measure, or a variant of one such as `overlap:8:information` or `resemblance:3`.

    Bands for a variant are planned as for another measure (`planned_as`). Raises `UnknownMeasure`,
    which lists the names.
    """
    if name in MEASURES:
        return MEASURES[name]
    variant = MEASURE_VARIANT.fullmatch(name)
    if variant is None:
        raise UnknownMeasure(name=name, known=tuple(MEASURES))
    if shingle := variant["shingle"]:
        return _of_shingles(int(shingle))
    width = int(variant["words"] or MIN_PASSAGE_WORDS)
    return _of_chunks(name, variant["measure"], width, bool(variant["matching"]))


@cache
def _of_shingles(width: int) -> Measure:
    return Measure(
        f"resemblance:{width}",
        f"S_R: {width}-word shingles in common",
        lambda a, b, *_: resemblance(a.words, b.words, width),
        planned_as="resemblance",
    )


@cache
def _of_chunks(name: str, base: str, width: int, by_information: bool) -> Measure:
    matching: Matching = "information" if by_information else "literal"
    chunks = f"in chunks of {width} words or more by {matching} matching"

    def value(a: Operand, b: Operand, *_: object) -> float:
        alignment = align(a.words, b.words, matching, width)
        return alignment.overlap if base == "overlap" else alignment.jaccard

    # features count repeats, so that a text and its double are as a text that has grown
    planned_as = "grown" if by_information else base
    return Measure(name, f"{MEASURES[base].phrase}, {chunks}", value, planned_as=planned_as)


def check_measure(name: str) -> None:
    """Raise `UnknownMeasure`, which lists the names, for a name that is not a measure's."""
    measure_named(name)


def measure_pair(
    name: str, a: Operand, b: Operand, matching: Matching = "literal", minimum: float = 0.0
) -> Estimate:
    """Return one measure by name, as the number that a threshold is compared with.

    For exact measures low and high are equal. The value may be 0 for a pair below `minimum`, which
    saves time. Raises `UnknownMeasure`, which lists the names.
    """
    return measure_named(name).value(a, b, matching, minimum)


# A text of a comparison, with everything that measures read computed once.

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
    from indexer.fingerprinting.schemes import features_of

    return FeatureSet(distinct_hashes(string_hashes(features_of(text, recipe))))


@dataclass(frozen=True)
class ComparedText:
    """One text of a comparison, with its sketches; the rest is computed on first use.

    What the recipe leaves out of texts is blank in `text`, so that positions in it are right.
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
        """The words as they are written, which state facts."""
        return words(self.text)

    @cached_property
    def unworded(self) -> list[tuple[int, int]]:
        """The spans of URLs, targets of links, tokens and lines that recur."""
        return sort_unworded(self.text)

    @cached_property
    def facts(self) -> FactSource:
        """The facts that the words state."""
        return FactSource(self.text, self.spelled)

    @cached_property
    def runs(self) -> NDArray[np.uint64]:
        """The runs that passages are made of."""
        return passage_runs(self.text)


def stored_text(
    text: str, recipe: Recipe, packed: bytes | None, simhash: int | None = None
) -> ComparedText:
    """Return a stored text as measures read it, with the sketches of its row."""
    sketch = unpack_slots(packed, recipe.slot_bytes) if packed else None
    if recipe.terms:
        return ComparedText(text, recipe, vector=sketch)
    if recipe.has_long_bits:
        return ComparedText(text, recipe, simhash=int.from_bytes(packed, "big") if packed else None)
    return ComparedText(text, recipe, sketch, simhash)


def fingerprinted_text(text: str, recipe: Recipe, fingerprinted: Fingerprint) -> ComparedText:
    """Return a text as measures read it, with the sketches of its fingerprint."""
    vector = fingerprinted.vector if recipe.terms else None
    return ComparedText(text, recipe, fingerprinted.minhash, fingerprinted.simhash, vector)


def parity_map(hashes: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Return the map of one set, (bits / 64,) uint64; `bits` is a power of two.

    >>> parity_map(np.array([1, 3, 65, 65 + 64, 7, 7 + 128], dtype=np.uint64), 128).tolist()
    [8, 2]
    """
    counts = np.bincount((hashes & np.uint64(bits - 1)).astype(np.int64), minlength=bits)
    packed = np.packbits((counts & 1).astype(np.uint8), bitorder="little")
    return packed.view("<u8").astype(np.uint64)
