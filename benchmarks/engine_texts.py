"""A library with synthetic near duplicates and look-alikes, and the exact truth about who resembles
whom.

Words are sampled as in languages: the r-th most frequent one as often as 1 / r. A third of the
texts stand alone; two fifths are in families of copies with words replaced, passages gone or the
layout changed; the rest are forms, which share a passage with others without being copies. Nothing
of that is taken for truth: `neighbours` compares a text with all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from indexer.text.normal_words import folded_words

FIRST = 0x20000  # a word is a character from here on
ENGLISH = np.array(
    [
        82,
        15,
        28,
        43,
        127,
        22,
        20,
        61,
        70,
        2,
        8,
        40,
        24,
        67,
        75,
        19,
        1,
        60,
        63,
        91,
        28,
        10,
        24,
        2,
        20,
        1,
    ]
)
WORDS = 50_000


def library(documents: int, random: np.random.Generator) -> list[str]:
    """Texts of 150 to 300 words, 0.9 to 2.4 kB, in any order."""
    vocabulary_words = vocabulary(random)
    shares = np.cumsum(1 / np.arange(3, len(vocabulary_words) + 3))

    def words(count: int) -> NDArray[np.str_]:
        return vocabulary_words[np.searchsorted(shares, random.random(count) * shares[-1])]

    texts: list[str] = []
    while len(texts) < documents:
        kind, length = random.random(), int(random.integers(150, 301))
        if kind < 0.7:
            texts.append(write_sentences(words(length)))
        elif kind < 0.94:
            texts += copies(words, length, random)
        else:
            passage = words(int(length * random.uniform(0.5, 0.9)))
            texts += [
                write_sentences(np.concatenate([passage, words(length - len(passage))]))
                for _ in range(random.integers(3, 20))
            ]
    random.shuffle(texts)
    return texts[:documents]


def vocabulary(random: np.random.Generator) -> NDArray[np.str_]:
    """Return made-up words of two to eleven letters, each as frequent as in English, so that texts
    have as many different grams.
    """
    letters = random.choice(
        list("abcdefghijklmnopqrstuvwxyz"), (WORDS, 11), p=ENGLISH / ENGLISH.sum()
    )
    return np.array(
        [
            "".join(row[:length])
            for row, length in zip(letters, random.integers(2, 12, WORDS), strict=True)
        ]
    )


def copies(words, length: int, random: np.random.Generator) -> Iterator[str]:
    """An original and copies of it, mostly few."""
    original = words(length)
    for _ in range(min(30, 2 + int(random.pareto(1.5)))):
        edited, kind = original.copy(), random.random()
        places = random.random(length) < (0 if kind < 0.2 else random.uniform(0, 0.06))
        edited[places] = words(int(places.sum()))
        if kind > 0.8:
            start = int(random.integers(0, length))
            edited = np.delete(edited, slice(start, start + int(random.integers(5, length // 4))))
        text = write_sentences(edited)
        yield text.upper().replace(". ", ".\n\n") if random.random() < 0.2 else text


def write_sentences(words: NDArray[np.str_]) -> str:
    """Sentences of twelve words."""
    word_list = words.tolist()
    return (
        ". ".join(" ".join(word_list[start : start + 12]) for start in range(0, len(word_list), 12))
        + "."
    )


def neighbours(texts: Sequence[str], queries: Sequence[int], threshold: float) -> list[set[int]]:
    """Return for each queried text, by place, the others that have a share of `threshold` or more
    of the longer text's words in the same order (the measure `lcs`), by comparing it with all.
    """
    numbers: dict[str, int] = {}
    characters = [
        "".join(chr(FIRST + numbers.setdefault(word, len(numbers))) for word in plain_words(text))
        for text in texts
    ]
    near = cdist(
        [characters[place] for place in queries],
        characters,
        scorer=LCSseq.normalized_similarity,
        # lower: rapidfuzz 3.14 may give 0 for a pair whose similarity is exactly the cut-off
        score_cutoff=threshold - 0.01,
        dtype=np.float32,
    )
    return [
        {*np.flatnonzero(row >= threshold - 1e-6).tolist()} - {place}
        for place, row in zip(queries, near, strict=True)
    ]


def plain_words(text: str) -> list[str]:
    """The words of a text of this library."""
    return text.lower().replace(".", "").split()


def check(texts: Sequence[str]) -> None:
    """Refuse to call truth what the measure would not: the words must be those it compares."""
    for text in texts:
        if folded_words(text) != plain_words(text):
            raise SystemExit(f"not the words that are compared: {text[:60]}")
