"""Words of either of two texts that the other lacks, and how rare these are in a store.

Words are those that measures compare (`indexer.text.normal_words`), each once, so that copies by
spelling have no new ones. A share of words says how much of two texts differs; new words say
whether what differs is information: the names, numbers and terms that only one of them has.

Rarity is that of the words as spelled (`indexer.text.words`) of which the new ones are part:
"42,000" for "000", as an index may keep it. The novelty of a pair is the sum over these, of both
sides, of ln(documents / documents with the word): 0 where each has every word of the other,
whatever their order and number, and at most
ln(documents) a word. It is symmetric. A word that every document has adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np

from indexer.model import NewWords, RareWord, WordFrequencies
from indexer.text.word_numbers import Words
from indexer.text.wording import count_of, join_names

RARE = 0.02  # of the documents of a store
SHOWN = 5  # rare words that a sentence names
MOST_KNOWN = 1 << 17  # words whose frequencies are remembered
FrequencyLookup: TypeAlias = Callable[[Sequence[str]], WordFrequencies]
_Sides: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class WordText(Protocol):
    """A text with its words; `indexer.similarity.sides.Side` is one."""

    @property
    def text(self) -> str:
        """The text itself."""

    @property
    def words(self) -> Words:
        """The words of the normalised text."""

    @property
    def spelled(self) -> Words:
        """The words as they are spelled."""


class Rarity:
    """The frequencies of words in a store, asked for once; those of 131,072 words are remembered.

    `lookup` counts the documents of the store that have each word.
    """

    def __init__(self, lookup: FrequencyLookup) -> None:
        self._lookup = lookup
        self._documents = 0
        self._counts: dict[str, int] = {}

    def frequencies(self, words: Sequence[str]) -> WordFrequencies:
        """Return the frequencies of distinct words; those not remembered by one look-up."""
        missing = [word for word in words if word not in self._counts]
        if missing and len(self._counts) + len(missing) > MOST_KNOWN:
            self._counts.clear()
            missing = list(words)
        if missing:
            answer = self._lookup(missing)
            self._documents = answer.documents
            self._counts |= answer.counts
        return WordFrequencies(self._documents, {word: self._counts[word] for word in words})


def new_words(a: WordText, b: WordText) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the distinct words of a that b lacks, and those of b that a lacks.

    They are spelled as in the text that has them, where they first stand.

    >>> from indexer.recipe import DEFAULT
    >>> from indexer.similarity.sides import Side
    >>> new_words(Side("To be or NOT to be", DEFAULT), Side("Be, or be e-mailed", DEFAULT))
    (('To', 'NOT'), ('e', 'mailed'))
    """
    return tuple(_spellings(a, _new(a, b))), tuple(_spellings(b, _new(b, a)))


def measure_new_words(
    pairs: Sequence[tuple[WordText, WordText]], rarity: Rarity | None = None
) -> list[NewWords]:
    """Return the new words of many pairs, whose frequencies are asked for together.

    Without `rarity` they are only counted.
    """
    new = [(_new(a, b), _new(b, a)) for a, b in pairs]
    counts = [NewWords(len(left), len(right)) for left, right in new]
    if rarity is None:
        return counts
    wholes = [
        (tuple(_whole_words(a, left)), tuple(_whole_words(b, right)))
        for (a, b), (left, right) in zip(pairs, new, strict=True)
    ]
    words = dict.fromkeys(word for pair in wholes for side in pair for word in side)
    frequencies = rarity.frequencies(list(words))
    return [
        _with_rarity(count, pair, frequencies) for count, pair in zip(counts, wholes, strict=True)
    ]


def spell_new_words(new: NewWords) -> str:
    """Return a sentence: how many words, how many of them rare, the rarest by name, the novelty.

    >>> rare = RareWord("quorum", "left", 1), RareWord("4711", "right", 2)
    >>> spell_new_words(NewWords(2, 1, rare, 9.21))
    '3 new words, 2 of them rare: quorum, 4711 (novelty 9.2)'
    """
    if not new.left + new.right:
        return "no new words"
    novelty = "" if new.novelty is None else f" (novelty {new.novelty:,.1f})"
    return _sentence(new.left + new.right, new.rare) + novelty


def spell_sides(new: NewWords) -> list[str]:
    """Return a sentence for each of two texts, A and B, and one for their novelty where known.

    >>> spell_sides(NewWords(2, 0, (RareWord("quorum", "left", 1),), 9.21))
    ['A has 2 new words, 1 of them rare: quorum', 'B has 0 new words', 'novelty 9.2']
    """
    if not new.left + new.right:
        return ["no new words"]
    sentences = []
    sides: tuple[tuple[str, Literal["left", "right"], int], ...]
    sides = ("A", "left", new.left), ("B", "right", new.right)
    for letter, side, count in sides:
        rare = None if new.rare is None else [word for word in new.rare if word.side == side]
        sentences.append(f"{letter} has {_sentence(count, rare)}")
    if new.novelty is not None:
        sentences.append(f"novelty {new.novelty:,.1f}")
    return sentences


def _sentence(count: int, rare: Sequence[RareWord] | None) -> str:
    words = count_of(count, "new word")
    if rare is None or not count:
        return words
    if not rare:
        return f"{words}, {'not' if count == 1 else 'none of them'} rare"
    named = join_names(word.word for word in rare[:SHOWN])
    more = ", …" if len(rare) > SHOWN else ""
    if count == 1:
        return f"{words}, rare: {named}"
    number = "all" if count == len(rare) else f"{len(rare):,}"
    return f"{words}, {number} of them rare: {named}{more}"


def _new(side: WordText, other: WordText) -> list[int]:
    """Return the numbers of the words of one text that the other lacks."""
    known = other.words.numbering
    return [number for word, number in side.words.numbering.items() if word not in known]


def _spellings(side: WordText, new: list[int]) -> Iterator[str]:
    """Yield words of a text by their numbers, as it first spells them.

    One that is broken at the end of a line is put together.
    """
    words = side.words
    firsts = words.firsts[new]
    starts, ends = words.starts[firsts].tolist(), words.ends[firsts].tolist()
    for number, start, end in zip(new, starts, ends, strict=True):
        yield _put_together(side.text[start:end], words.vocabulary[number])


def _whole_words(side: WordText, new: list[int]) -> dict[str, None]:
    """Return the words of a text, as spelled, that those with these numbers are part of."""
    words, spelled = side.words, side.spelled
    firsts = words.firsts[new]
    first_starts, first_ends = words.starts[firsts], words.ends[firsts]
    places = np.searchsorted(spelled.starts, first_starts, side="right") - 1
    is_inside = places >= 0
    is_inside[is_inside] = spelled.ends[places[is_inside]] >= first_ends[is_inside]
    first_starts[is_inside] = spelled.starts[places[is_inside]]
    first_ends[is_inside] = spelled.ends[places[is_inside]]
    spellings: dict[str, None] = {}
    spans = zip(new, first_starts.tolist(), first_ends.tolist(), strict=True)
    for number, start, end in spans:
        spellings[_put_together(side.text[start:end], words.vocabulary[number])] = None
    return spellings


def _put_together(written: str, word: str) -> str:
    """Return a word as written, or folded where it is broken at the end of a line."""
    return word if "\n" in written or "\r" in written else written


def _with_rarity(new: NewWords, sides: _Sides, frequencies: WordFrequencies) -> NewWords:
    documents = max(1, frequencies.documents)
    most = max(1, RARE * documents)
    rare: list[RareWord] = []
    amounts: list[float] = []
    names: tuple[Literal["left", "right"], ...] = ("left", "right")
    for name, words in zip(names, sides, strict=True):
        for word in words:
            count = frequencies.counts[word]
            # a document may be written between two counts
            amounts.append(math.log(documents / min(documents, max(1, count))))
            if count <= most:
                rare.append(RareWord(word, name, count))
    rare.sort(key=lambda word: (word.documents, word.word))
    return NewWords(new.left, new.right, tuple(rare), math.fsum(amounts))
