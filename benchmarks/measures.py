"""How well each measure tells near duplicates from documents that only share a template: the
tables of docs/measures.md, from which docs/decisions/013-default-measure.md chooses.

    python benchmarks/measures.py --work FOLDER [--unseen] [--worst 10]

The corpora (`measure_corpora.py`) are texts of this machine with truth known by construction. The
rule was chosen on those that are printed without `--unseen`, and then tried on the others.
Printed for each corpus and each length of the longer text: pairs, area under the ROC curve, best
F1, and F1, precision and recall at .7, .8 and .9; recall by kind; and what folding would wrongly
hide, by name. Pairs in which one text contains the other count for neither side.

`new` are the words of either text that the other lacks, each once; rare ones are in at most 2 % of
the texts of their corpus. `lcs - .05 ln new` is `lcs` - .05 ln(1 + new words), `rare` the same with
the summed inverse document frequencies of rare new words. `novelty` is what
`--require novelty<=N` limits, by the texts of the corpus. `lcs, same facts` is 0 for pairs with
any of the differences that `--numbers distinguish` refuses.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measure_corpora import LabelledPair, seen_corpora, unseen_corpora
from numpy.typing import NDArray

from indexer.model import WordFrequencies
from indexer.recipe import DEFAULT
from indexer.similarity.differences import has_differences
from indexer.similarity.measures import measure_pair
from indexer.similarity.new_words import RARE, Rarity, measure_new_words
from indexer.similarity.sides import Side
from indexer.text.words import words

LENGTHS = ((10, 50), (50, 200), (200, 10**9))
THRESHOLDS = (0.7, 0.8, 0.9)
FOLD_THRESHOLDS = (0.8, 0.85, 0.88, 0.9, 0.92, 0.95, 0.98)
NOVELTIES = (0, 2, 5, 10, 20, 40, 80, 160, math.inf)
Scores = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Scored:
    """The pairs of a corpus, their scores by measure, and the words of the longer text."""

    pairs: Sequence[LabelledPair]
    scores: Scores
    lengths: NDArray[np.int64]
    novelty: NDArray[np.float64]

    def only(self, is_kept: NDArray[np.bool_]) -> Scored:
        pairs = [pair for pair, kept in zip(self.pairs, is_kept, strict=True) if kept]
        scores = {name: values[is_kept] for name, values in self.scores.items()}
        return Scored(pairs, scores, self.lengths[is_kept], self.novelty[is_kept])

    @property
    def similar(self) -> NDArray[np.bool_]:
        return np.array([pair.similar is True for pair in self.pairs])


def score(pairs: Sequence[LabelledPair]) -> Scored:
    """Score all pairs of a corpus, whose texts tell which words are rare."""
    sides = {text: Side(text, DEFAULT) for pair in pairs for text in (pair.a, pair.b)}
    frequency = Counter(word for side in sides.values() for word in side.words.vocabulary)
    rows = [score_pair(sides[pair.a], sides[pair.b], frequency, len(sides)) for pair in pairs]
    scores = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    lengths = [max(len(sides[pair.a].words), len(sides[pair.b].words)) for pair in pairs]
    new = measure_new_words([(sides[pair.a], sides[pair.b]) for pair in pairs], rarity_in(sides))
    novelty = [one.novelty or 0.0 for one in new]
    return Scored(pairs, scores, np.array(lengths), np.array(novelty))


def rarity_in(sides: Mapping[str, Side]) -> Rarity:
    """Return how many of the texts have a word, as spelled but for case."""
    having = Counter(word for side in sides.values() for word in side.spelled.vocabulary)

    def frequencies(names: Sequence[str]) -> WordFrequencies:
        parts = {name: words(name).folded for name in names}
        counts = {name: min((having[p] for p in of), default=0) for name, of in parts.items()}
        return WordFrequencies(len(sides), counts)

    return Rarity(frequencies)


def score_pair(a: Side, b: Side, frequency: Mapping[str, int], texts: int) -> dict[str, float]:
    values = {
        name: measure_pair(name, a, b).similarity
        for name in ("jaccard", "resemblance", "overlap", "lcs")
    }
    in_order = values["lcs"]
    new = set(a.words.vocabulary) ^ set(b.words.vocabulary)
    rare = [word for word in new if frequency[word] <= max(1, RARE * texts)]
    amount = sum(math.log(texts / frequency[word]) for word in rare)
    for weight in (0.02, 0.05):
        values[f"lcs - {weight} ln new"] = in_order - weight * math.log1p(len(new))
        values[f"lcs - {weight} ln rare"] = in_order - weight * math.log1p(amount)
    is_same = in_order < 0.7 or not has_differences(a.facts, b.facts)
    values["lcs, same facts"] = in_order if is_same else 0.0
    return values


def area(scores: NDArray[np.float64], similar: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: the chance that a duplicate scores higher."""
    order = np.sort(scores[~similar])
    left = np.searchsorted(order, scores[similar], side="left")
    right = np.searchsorted(order, scores[similar], side="right")
    return float((left + right).mean() / 2 / max(1, len(order))) if similar.any() else math.nan


def rates(
    scores: NDArray[np.float64], similar: NDArray[np.bool_], least: float
) -> tuple[float, float, float]:
    """Return F1, precision and recall at a threshold."""
    listed = scores >= least - 1e-9
    right = int((listed & similar).sum())
    precision = right / max(1, int(listed.sum()))
    recall = right / max(1, int(similar.sum()))
    return 2 * precision * recall / max(1e-9, precision + recall), precision, recall


def print_measures(title: str, scored: Scored) -> None:
    similar = scored.similar
    if not similar.any() or similar.all():
        return
    print(f"\n### {title}: {similar.sum():,} duplicates, {(~similar).sum():,} different\n")
    header = " | ".join(f"at {least:g}" for least in THRESHOLDS)
    print(f"| measure | AUC | best F1 (at) | {header} |")
    print("| --- | ---: | ---: |" + " ---: |" * len(THRESHOLDS))
    for name, values in scored.scores.items():
        best = max((rates(values, similar, least)[0], least) for least in np.arange(0.02, 1, 0.02))
        cells = " | ".join(
            " / ".join(f"{value:.3f}" for value in rates(values, similar, least))
            for least in THRESHOLDS
        )
        print(
            f"| {name} | {area(values, similar):.3f} | {best[0]:.3f} ({best[1]:.2f}) | {cells} |",
            flush=True,
        )


def print_folding(scored: Scored) -> None:
    """Print the different pairs that folding would hide, and the duplicates it would fold."""
    similar = scored.similar
    print("\n### Folding: different pairs at or above the threshold / recall of duplicates\n")
    print("| measure | " + " | ".join(f"{least:g}" for least in FOLD_THRESHOLDS) + " |")
    print("| --- |" + " ---: |" * len(FOLD_THRESHOLDS))
    for name, values in scored.scores.items():
        cells = " | ".join(
            f"{(values[~similar] >= least - 1e-9).sum():,} / "
            f"{(values[similar] >= least - 1e-9).mean():.3f}"
            for least in FOLD_THRESHOLDS
        )
        print(f"| {name} | {cells} |", flush=True)


def print_novelty(scored: Scored) -> None:
    """Print what a threshold of `lcs` and a limit of novelty fold together."""
    similar = scored.similar
    print("\n### Folding by lcs and novelty: different pairs / recall of duplicates\n")
    print("| lcs | " + " | ".join(f"novelty <= {most:g}" for most in NOVELTIES) + " |")
    print("| --- |" + " ---: |" * len(NOVELTIES))
    for least in FOLD_THRESHOLDS:
        is_near = scored.scores["lcs"] >= least - 1e-9
        cells = []
        for most in NOVELTIES:
            folded = is_near & (scored.novelty <= most)
            cells.append(f"{folded[~similar].sum():,} / {folded[similar].mean():.3f}")
        print(f"| {least:g} | " + " | ".join(cells) + " |", flush=True)


def print_kinds(scored: Scored) -> None:
    kinds = np.array([pair.kind for pair in scored.pairs])
    names = ("jaccard", "overlap", "lcs", "lcs, same facts")
    print("\n### Share of pairs at .8 or more, by kind\n")
    print("| kind | pairs | " + " | ".join(names) + " |\n| --- |" + " ---: |" * (len(names) + 1))
    for kind in dict.fromkeys(kinds.tolist()):
        is_kind = kinds == kind
        cells = " | ".join(
            f"{(scored.scores[name][is_kind] >= 0.8 - 1e-9).mean():.3f}" for name in names
        )
        print(f"| {kind} | {is_kind.sum():,} | {cells} |")


def print_worst(scored: Scored, count: int) -> None:
    wrong = np.flatnonzero(~scored.similar)
    values = scored.scores["lcs"]
    print("\n### Different pairs with the highest lcs\n")
    for place in wrong[np.argsort(-values[wrong], kind="stable")][:count]:
        pair = scored.pairs[place]
        print(
            f"- {values[place]:.3f} of {scored.lengths[place]:,} words, {pair.corpus}: "
            f"{pair.names[0]} / {pair.names[1]}"
        )


def pool(corpora: Sequence[Scored]) -> Scored:
    return Scored(
        [pair for part in corpora for pair in part.pairs],
        {
            name: np.concatenate([part.scores[name] for part in corpora])
            for name in corpora[0].scores
        },
        np.concatenate([part.lengths for part in corpora]),
        np.concatenate([part.novelty for part in corpora]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--worst", type=int, default=10)
    options = parser.parse_args()
    make: Callable[[Path], dict[str, list[LabelledPair]]]
    make = unseen_corpora if options.unseen else seen_corpora
    scored = {title: score(pairs) for title, pairs in make(options.work).items()}
    decided = {
        title: part.only(np.array([pair.similar is not None for pair in part.pairs]))
        for title, part in scored.items()
    }
    for title, part in decided.items():
        print_measures(title, part)
    together = pool(list(decided.values()))
    print_measures("all", together)
    for least, most in LENGTHS:
        within = (together.lengths >= least) & (together.lengths < most)
        title = f"{least} to {most} words" if most < 10**9 else f"{least} words and more"
        print_measures(title, together.only(within))
    print_folding(together)
    print_novelty(together)
    print_kinds(pool(list(scored.values())))
    print_worst(together, options.worst)


if __name__ == "__main__":
    main()
