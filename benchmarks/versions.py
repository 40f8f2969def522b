"""Recovery of a synthetic history of revisions: the share of steps between the right
two versions.

    python benchmarks/versions.py [--histories 200] [--versions 12] [--words 400]

A history begins with a text of English word frequencies. Each revision edits one before it in a few
places: words replaced, inserted and deleted, sometimes a sentence moved. In a chain it is the last
one, in a tree any; with gaps, a third of the versions is lost, and the right origin is the nearest
one that is left. `steps`: right two versions, whichever was first; `directed`: the right origin
too. Without dates the tree begins with the shortest text. "star" is what is right when every
version is said to come from the first one.
"""

from __future__ import annotations

import argparse

import numpy as np

from indexer.recipe import DEFAULT
from indexer.similarity.lineage import lineage
from indexer.similarity.measures import common
from indexer.similarity.sides import feature_set

Text = list[str]
KINDS = (
    ("chain", False, False),
    ("tree", True, False),
    ("chain with gaps", False, True),
    ("tree with gaps", True, True),
)


def vocabulary(random: np.random.Generator, size: int = 5000) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwyp"))
    return ["".join(random.choice(letters, length)) for length in random.integers(2, 10, size)]


def random_text(words: list[str], size: int, random: np.random.Generator) -> Text:
    share = 1 / np.arange(1, len(words) + 1)
    return [words[number] for number in random.choice(len(words), size, p=share / share.sum())]


def revise(text: Text, words: list[str], random: np.random.Generator) -> Text:
    """Make one to five edits of one to eight words; one revision in ten moves a stretch as well."""
    revised = list(text)
    for _ in range(random.integers(1, 6)):
        place, size = int(random.integers(0, len(revised))), int(random.integers(1, 9))
        kind = random.integers(0, 3)
        revised[place : place + (0 if kind == 0 else size)] = (
            [] if kind == 1 else random_text(words, size, random)
        )
    if random.random() < 0.1:
        place, target = (int(random.integers(0, len(revised) - 20)) for _ in range(2))
        moved = revised[place : place + 15]
        del revised[place : place + 15]
        revised[target:target] = moved
    return revised


def history(
    count: int, size: int, branching: bool, gaps: bool, random: np.random.Generator
) -> tuple[list[Text], list[int]]:
    """Texts in order of time, and the origin of each among them; -1 for those without."""
    words = vocabulary(random)
    texts, origins = [random_text(words, size, random)], [-1]
    for place in range(1, count):
        origin = int(random.integers(0, place)) if branching else place - 1
        texts.append(revise(texts[origin], words, random))
        origins.append(origin)
    kept_places = [
        place for place in range(count) if not gaps or place == 0 or random.random() < 2 / 3
    ]
    for place in range(1, count):
        while origins[place] not in kept_places and origins[place] >= 0:
            origins[place] = origins[origins[place]]
    return [texts[place] for place in kept_places], [
        kept_places.index(origins[place]) if place else -1 for place in kept_places
    ]


def count_recovered(
    texts: list[Text], origins: list[int], dated: bool
) -> tuple[int, int, int, int]:
    """Return the steps, those between the right two versions, those from the right origin, and
    those that a star has right.
    """
    sets = [feature_set(" ".join(text), DEFAULT) for text in texts]
    distances = np.array([[len(a) + len(b) - 2 * common(a, b) for b in sets] for a in sets])
    likely = (
        list(range(len(texts)))
        if dated
        else sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
    )
    lineage_origins = lineage(
        distances, [place if dated else None for place in range(len(texts))], likely
    )
    right = {(origin, place) for place, origin in enumerate(origins) if origin >= 0}
    edges = {(origin, place) for place, origin in enumerate(lineage_origins) if origin is not None}
    either = {frozenset(step) for step in right} & {frozenset(step) for step in edges}
    return len(right), len(either), len(right & edges), sum(origin == 0 for origin in origins)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--versions", type=int, default=12)
    parser.add_argument("--words", type=int, default=400)
    options = parser.parse_args()
    print(
        f"{'history':18} {'steps':>6}  {'without dates':>13}  {'directed':>8}  {'with dates':>10} "
        f" {'star':>5}"
    )
    for name, branching, gaps in KINDS:
        random = np.random.default_rng(7)
        counted = np.zeros(5, dtype=np.int64)
        for _ in range(options.histories):
            texts, origins = history(options.versions, options.words, branching, gaps, random)
            steps, either, directed, star = count_recovered(texts, origins, dated=False)
            counted += steps, either, directed, count_recovered(texts, origins, dated=True)[2], star
        steps, *shares = counted.tolist()
        line = "  ".join(
            f"{share / steps:>{width}.1%}"
            for share, width in zip(shares, (13, 8, 10, 5), strict=True)
        )
        print(f"{name:18} {steps:>6}  {line}")


if __name__ == "__main__":
    main()
