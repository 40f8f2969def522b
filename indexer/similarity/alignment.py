"""The words that two texts have in common, as matching chunks of at least five consecutive words.

Bill Dimm, "What is a near-dupe, really?", names two ways to count. L and S are the words of the
longer and the shorter text, C the words in common.

- `literal`: chunks are matched one to one, the longest first (see `indexer.similarity.tiling`); C
  is the words of all chunks.
- `information`: repeats within a text add nothing, and chunks may overlap. A word counts in neither
  L nor S when it lies in a chunk that stood earlier in its own text; where the two copies overlap,
  only the part beyond the first one is left out. C is the counted words of the shorter text that
  lie in chunks of the other. "Shorter" is by counted words; when both have the same number, C is
  the smaller of the two counts.

L, S and C do not depend on the order of the texts. A text with fewer words than a chunk needs is
itself one chunk: the least chunk of a pair is the smaller of the width and the words of the shorter
text. Where a text has no words, C = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import Passage
from indexer.similarity.tile import Tile
from indexer.similarity.tiling import tiles
from indexer.text.word_numbers import Words, is_lesser, number_runs, shared_numbers

Matching: TypeAlias = Literal["literal", "information"]
MIN_PASSAGE_WORDS = 5  # least words of a matching chunk


@dataclass(frozen=True, slots=True)
class Alignment:
    """The chunks of two texts in order of their place in a, then b, and the counts L, S and C.

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
        """S_L = C / L, in [0, 1]: at least this share of either text is in the other.

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

    >>> from indexer.text.words import words
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

    Ties go to the earliest place in the shorter text, so that C does not depend on the order of the
    texts.
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

    `runs`: the numbers of its runs; `first`: the first place of each of them here; `counted`: the
    words that count.
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
    place = np.arange(len(runs))
    first = _first_places(runs, int(runs.max(initial=-1)) + 1)[runs]
    repeated = first < place
    beyond = np.maximum(place, first + width)[repeated]
    return _Text(runs, first, ~_covered(beyond, place[repeated] + width, size))


def _first_places(runs: NDArray[np.int64], kinds: int) -> NDArray[np.int64]:
    """Return the first place of each kind of run, (kinds,); -1 for one that is not here."""
    first = np.full(kinds, -1, dtype=np.int64)
    first[runs[::-1]] = np.arange(len(runs))[::-1]
    return first


def _covered(starts: NDArray[np.int64], ends: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Flag those of `size` words that lie in at least one of the spans [start, end)."""
    turns = np.bincount(starts, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    return np.cumsum(turns)[:size] > 0


def _common(text: _Text, other: _Text, width: int) -> int:
    """Count the counted words of a text that lie in runs of the other."""
    starts = np.flatnonzero(np.isin(text.runs, other.runs))
    return int(np.count_nonzero(text.counted & _covered(starts, starts + width, len(text.counted))))


def _chunks(text: _Text, other: _Text, width: int) -> list[Tile]:
    """Return chunks that cover the common words of a text.

    They join the first places of every run in each text where these are consecutive.
    """
    kinds = int(max(text.runs.max(initial=-1), other.runs.max(initial=-1))) + 1
    partner = _first_places(other.runs, kinds)[text.runs]
    here = np.flatnonzero((partner >= 0) & (text.first == np.arange(len(text.runs))))
    there = partner[here]
    begins = np.flatnonzero((np.diff(here, prepend=-2) != 1) | (np.diff(there, prepend=-2) != 1))
    lengths = np.diff(begins, append=len(here)) + width - 1
    chunks = zip(here[begins].tolist(), there[begins].tolist(), lengths.tolist(), strict=True)
    return [Tile(*chunk) for chunk in chunks]
