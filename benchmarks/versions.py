"""Recovery of a synthetic history of revisions: the fraction of steps between the right two
versions.

    python benchmarks/versions.py [--histories 200] [--versions 12] [--words 400]

A history begins with a text of English word frequencies. Each revision edits one before it in a few
positions: words replaced, inserted and deleted, sometimes a passage moved. In a chain it is the
last one, in a tree any; with gaps, a third of the versions is lost, and the right origin is the
nearest one that is left. `steps`: right two versions, whichever was first; `directed`: the right
origin too. Without dates the tree begins with the shortest text. "star" is what is right when every
version is said to come from the first one.
"""

from __future__ import annotations

import numpy as np
from harness import arguments

from indexer.comparing.measures import common, feature_set
from indexer.jobs.versions import lineage
from indexer.recipe import DEFAULT

Text = list[str]
Random = np.random.Generator
KINDS = {  # whether it branches, and whether it has gaps
    "chain": (False, False),
    "tree": (True, False),
    "chain with gaps": (False, True),
    "tree with gaps": (True, True),
}


def vocabulary(rng: Random, size: int = 5000) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwyp"))
    return ["".join(rng.choice(letters, length)) for length in rng.integers(2, 10, size)]


def random_text(words: list[str], size: int, rng: Random) -> Text:
    weights = 1 / np.arange(1, len(words) + 1)
    return [words[number] for number in rng.choice(len(words), size, p=weights / weights.sum())]


def revise(text: Text, words: list[str], rng: Random) -> Text:
    """Make one to five edits of one to eight words; one revision in ten moves a passage as well."""
    revised = list(text)
    for _ in range(rng.integers(1, 6)):
        start, size = int(rng.integers(0, len(revised))), int(rng.integers(1, 9))
        kind = rng.integers(0, 3)
        new = [] if kind == 1 else random_text(words, size, rng)
        revised[start : start + (0 if kind == 0 else size)] = new
    if rng.random() < 0.1:
        start, target = (int(rng.integers(0, len(revised) - 20)) for _ in range(2))
        moved = revised[start : start + 15]
        del revised[start : start + 15]
        revised[target:target] = moved
    return revised


def history(
    count: int, size: int, branches: bool, has_gaps: bool, rng: Random
) -> tuple[list[Text], list[int]]:
    """Return texts in order of time, and the origin of each among them; -1 for the first."""
    words = vocabulary(rng)
    texts, origins = [random_text(words, size, rng)], [-1]
    for number in range(1, count):
        origin = int(rng.integers(0, number)) if branches else number - 1
        texts.append(revise(texts[origin], words, rng))
        origins.append(origin)
    kept = [n for n in range(count) if not has_gaps or n == 0 or rng.random() < 2 / 3]
    for number in range(1, count):
        while origins[number] not in kept and origins[number] >= 0:
            origins[number] = origins[origins[number]]
    new_origins = [kept.index(origins[number]) if number else -1 for number in kept]
    return [texts[number] for number in kept], new_origins


def count_recovered(texts: list[Text], origins: list[int], dated: bool) -> tuple[int, int]:
    """Return the steps between the right two versions, and those from the right origin."""
    sets = [feature_set(" ".join(text), DEFAULT) for text in texts]
    distances = np.array([[len(a) + len(b) - 2 * common(a, b) for b in sets] for a in sets])
    order = list(range(len(texts)))
    dates = order if dated else [None] * len(texts)
    likely = order if dated else sorted(order, key=lambda number: (len(texts[number]), number))
    found = lineage(distances, dates, likely)
    right = {(origin, number) for number, origin in enumerate(origins) if origin >= 0}
    steps = {(origin, number) for number, origin in enumerate(found) if origin is not None}
    either = {frozenset(step) for step in right} & {frozenset(step) for step in steps}
    return len(either), len(right & steps)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--versions", type=int, default=12)
    parser.add_argument("--words", type=int, default=400)
    options = parser.parse_args()
    heads = ("without dates", "directed", "with dates", "star")
    print(f"{'history':18} {'steps':>6}", *(f" {head:>13}" for head in heads))
    for name, (branches, has_gaps) in KINDS.items():
        rng = np.random.default_rng(7)
        counted = np.zeros(5, dtype=np.int64)
        for _ in range(options.histories):
            texts, origins = history(options.versions, options.words, branches, has_gaps, rng)
            undated, dated = (count_recovered(texts, origins, dated=of) for of in (False, True))
            counted += len(texts) - 1, *undated, dated[1], origins.count(0)
        steps, *counts = counted.tolist()
        print(f"{name:18} {steps:>6}", *(f" {count / steps:>13.1%}" for count in counts))


if __name__ == "__main__":
    main()
