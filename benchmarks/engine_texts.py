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

from indexer.text.normalise import normalise

WIDTH, LETTERS = 4, 27  # a to z, and the full stop
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
CHUNK = 5_000
LANES, LANE = 4, 16  # counters in one 64-bit number


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
    """Return for each queried text, by place, the others with a Jaccard similarity of `threshold`
    or more, by counting all grams.
    """
    sets = [grams(text) for text in texts]
    sizes = np.array([len(gram_set) for gram_set in sets])
    parts = [sets[at : at + CHUNK] for at in range(0, len(sets), CHUNK)]
    joined = [
        (np.concatenate(part), np.cumsum([0, *(len(gram_set) for gram_set in part[:-1])]))
        for part in parts
    ]
    neighbour_sets: list[set[int]] = []
    for start in range(0, len(queries), LANES):
        group = queries[start : start + LANES]
        table = np.zeros(LETTERS**WIDTH, np.uint64)
        for lane, place in enumerate(group):
            table[sets[place]] += np.uint64(1 << LANE * lane)
        counted = np.concatenate(
            [np.add.reduceat(table[all_of], starts) for all_of, starts in joined]
        )
        for lane, place in enumerate(group):
            shared = (counted >> np.uint64(LANE * lane) & np.uint64(2**LANE - 1)).astype(np.int64)
            near = shared >= threshold * (sizes + sizes[place] - shared)
            neighbour_sets.append({*np.flatnonzero(near).tolist()} - {place})
    return neighbour_sets


def grams(text: str) -> NDArray[np.int32]:
    """The distinct runs of four characters of the normal form, as numbers."""
    letters = np.frombuffer("".join(text.lower().split()).encode(), np.uint8).astype(np.int32)
    letters = np.where(letters == ord("."), LETTERS - 1, letters - ord("a"))
    packed = sum(
        letters[place : len(letters) - WIDTH + 1 + place] * LETTERS ** (WIDTH - 1 - place)
        for place in range(WIDTH)
    )
    packed = np.sort(packed)
    return packed[np.append(True, packed[1:] != packed[:-1])]


def check(texts: Sequence[str]) -> None:
    """Refuse to call truth what the recipe would not: its normal form must be what `grams` takes it
    for.
    """
    for text in texts:
        if normalise(text) != "".join(text.lower().split()) or not set(normalise(text)) <= {
            *"abcdefghijklmnopqrstuvwxyz."
        }:
            raise SystemExit(f"not the normal form of the recipe: {text[:60]}")
