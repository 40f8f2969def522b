"""Several versions of a text as a table: which version has which passage, and in which variant.

Progressive alignment, as in Feng & Doolittle, "Progressive sequence alignment as a prerequisite to
correct phylogenetic trees", Journal of Molecular Evolution 25 (1987), and for texts Spencer & Howe,
"Collating texts using progressive multiple alignment", Computers and the Humanities 38 (2004):

- The passages of the first version are the rows.
- Each further version is aligned with the rows, in order, so that the sum of the similarities of
  what stands in one row is greatest (Needleman & Wunsch 1970, gaps cost nothing). A passage is as
  similar to a row as to its most similar variant: 2 where the words are equal, else the fraction of
  distinct words in common (Dice) from `ALIKE` on, and 0 below, which no row is shared for.
- A passage without a row gets one of its own, before the row of the passage after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.words import folded_words

ALIKE = 0.5  # fraction of words in common from which passages are variants of one
_SHORT = 3  # words, below which a sentence goes on with the next one of its paragraph
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])")
_EQUAL = 2.0
Words: TypeAlias = tuple[str, ...]
Unit: TypeAlias = tuple[str, Words]


@dataclass(slots=True)
class CollationRow:
    """A passage: its variants, and for each version the position of its variant, None if it lacks
    the passage.

    Readings differ in words; each is as the first version that has it writes it.
    """

    variants: list[str] = field(default_factory=list)
    cells: list[int | None] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)

    @property
    def is_shared(self) -> bool:
        """Return whether all versions have it in the same variant."""
        return set(self.cells) == {0}


def collate(versions: Sequence[Sequence[Unit]]) -> list[CollationRow]:
    """Return the rows of versions, each the passages of a text as `passages_of` returns them.

    The passages of each version stand in its own order. No version, or versions without passages,
    give no row. Time and memory grow with the product of the passages of a version and the rows.

    >>> texts = "We sell ten ships.\\n\\nNo cats.", "We sell two ships.\\n\\nNo cats."
    >>> rows = collate([passages_of(text) for text in texts])
    >>> [(row.variants, row.cells) for row in rows]
    [(['We sell ten ships.', 'We sell two ships.'], [0, 1]), (['No cats.'], [0, 0])]
    """
    rows: list[CollationRow] = []
    for version, units in enumerate(versions):
        rows = list(_merged(rows, units, version))
    return rows


def passages_of(text: str) -> list[Unit]:
    """Return the passages of a text, each with its words: sentences.

    Those of one or two words go on with the next one; blank lines always part passages. Passages
    without words are left out.

    >>> [passage for passage, _ in passages_of("1. Rent. The tenant pays it.\\n\\nNo cats.")]
    ['1. Rent. The tenant pays it.', 'No cats.']
    """
    passages = []
    for paragraph in _PARAGRAPH.split(text):
        begun = ""
        for sentence in _SENTENCE.split(paragraph):
            begun = f"{begun} {sentence}".strip()
            if len(words := tuple(folded_words(begun))) >= _SHORT:
                passages.append((begun, words))
                begun = ""
        if words := tuple(folded_words(begun)):
            passages.append((begun, words))
    return passages


def _merged(
    rows: Sequence[CollationRow], units: Sequence[Unit], version: int
) -> Iterator[CollationRow]:
    """Yield the rows with a further version."""
    done = 0
    for row, position in zip(rows, _positions(rows, units), strict=True):
        if position is None:
            row.cells.append(None)
            yield row
            continue
        yield from (_new_row(unit, version) for unit in units[done:position])
        text, words = units[position]
        if words not in row.words:
            row.variants.append(text)
            row.words.append(words)
        row.cells.append(row.words.index(words))
        yield row
        done = position + 1
    yield from (_new_row(unit, version) for unit in units[done:])


def _new_row(unit: Unit, version: int) -> CollationRow:
    text, words = unit
    return CollationRow([text], [*[None] * version, 0], [words])


def _positions(rows: Sequence[CollationRow], units: Sequence[Unit]) -> list[int | None]:
    """Return for each row the position of its passage among `units`, None without one."""
    scores = _scores(rows, [words for _, words in units])
    best = np.zeros((len(rows) + 1, len(units) + 1))
    for at, row_scores in enumerate(scores):
        aligned = np.maximum(best[at, 1:], best[at, :-1] + row_scores)
        best[at + 1, 1:] = np.maximum.accumulate(aligned)
    positions: list[int | None] = [None] * len(rows)
    at, position = len(rows), len(units)
    while at and position:
        if best[at, position] == best[at - 1, position]:
            at -= 1
        elif best[at, position] == best[at, position - 1]:
            position -= 1
        else:
            at, position = at - 1, position - 1
            positions[at] = position
    return positions


def _scores(rows: Sequence[CollationRow], units: Sequence[Words]) -> NDArray[np.float64]:
    """Return the similarity of each row to each passage."""
    variants = [words for row in rows for words in row.words]
    owners = np.repeat(np.arange(len(rows)), [len(row.words) for row in rows])
    numbers: dict[str, int] = {}
    for words in (*variants, *units):
        numbers.update((word, len(numbers)) for word in words if word not in numbers)
    table = np.zeros((len(variants) + len(units), len(numbers)), dtype=np.float32)
    for index, words in enumerate((*variants, *units)):
        table[index, [numbers[word] for word in words]] = 1
    sizes = table.sum(axis=1)
    left, right = table[: len(variants)], table[len(variants) :]
    common = left @ right.T
    fractions = 2.0 * common / (sizes[: len(variants), None] + sizes[None, len(variants) :])
    similarity = np.where(fractions >= ALIKE, fractions, 0.0)
    keys: dict[Words, int] = {}
    own = np.array([keys.setdefault(words, len(keys)) for words in variants], dtype=np.int64)
    others = np.array([keys.get(words, -1) for words in units], dtype=np.int64)
    similarity[own[:, None] == others[None, :]] = _EQUAL
    scores = np.zeros((len(rows), len(units)))
    np.maximum.at(scores, owners, similarity)
    return scores
