"""How well each measure tells near duplicates from documents that only share a template: the
tables of docs/measures.md, from which docs/lab/013-default-measure.md chooses.

    python benchmarks/measures.py --work FOLDER [--unseen] [--worst 10]

The corpora (`measure_corpora.py`) are texts of this machine with truth known by construction. The
rule was chosen on those that are printed without `--unseen`, and then tried on the others.
Printed for each corpus and each length of the longer text: pairs, area under the ROC curve, best
F1, and F1, precision and recall at .7, .8 and .9; recall by kind; and what folding would wrongly
hide, by name. Pairs in which one text contains the other are not judged.

`new` are the words of either text that the other lacks, each once; rare ones are in at most 2 % of
the texts of their corpus. `lcs - .05 ln new` is `lcs` - .05 ln(1 + new words), `rare` the same with
the summed inverse document frequencies of rare new words. `novelty` is what
`--require novelty<=N` limits, by the texts of the corpus. `lcs, same facts` is 0 for pairs with
any of the differences that `--numbers distinguish` refuses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import arguments, head, row
from measure_corpora import LabelledPair, seen_corpora, unseen_corpora
from numpy.typing import NDArray

from indexer.comparing.differences import has_differences
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.reasons import RARE, Rarity, measure_new_words
from indexer.comparing.words import words
from indexer.model import WordFrequencies
from indexer.recipe import DEFAULT

LENGTHS = ((10, 50), (50, 200), (200, 10**9))
THRESHOLDS = (0.7, 0.8, 0.9)
FOLD_THRESHOLDS = (0.8, 0.85, 0.88, 0.9, 0.92, 0.95, 0.98)
NOVELTIES = (0, 2, 5, 10, 20, 40, 80, 160, math.inf)
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scored:
    """Pairs, their scores by measure, the words of the longer text, and their novelty."""

    pairs: Sequence[LabelledPair]
    scores: dict[str, Values]
    lengths: NDArray[np.int64]
    novelty: Values

    def only(self, is_kept: Flags) -> Scored:
        pairs = [pair for pair, kept in zip(self.pairs, is_kept, strict=True) if kept]
        scores = {name: values[is_kept] for name, values in self.scores.items()}
        return Scored(pairs, scores, self.lengths[is_kept], self.novelty[is_kept])

    @property
    def similar(self) -> Flags:
        return np.array([pair.similar is True for pair in self.pairs])


def pool(corpora: Sequence[Scored]) -> Scored:
    pairs = [pair for of in corpora for pair in of.pairs]
    names = corpora[0].scores
    scores = {name: np.concatenate([of.scores[name] for of in corpora]) for name in names}
    lengths, novelty = ([getattr(of, name) for of in corpora] for name in ("lengths", "novelty"))
    return Scored(pairs, scores, np.concatenate(lengths), np.concatenate(novelty))


def score(pairs: Sequence[LabelledPair]) -> Scored:
    """Score all pairs of a corpus, whose texts tell which words are rare."""
    read = {text: ComparedText(text, DEFAULT) for pair in pairs for text in (pair.a, pair.b)}
    both = [(read[pair.a], read[pair.b]) for pair in pairs]
    frequency = Counter(word for text in read.values() for word in text.words.vocabulary)
    rows = [score_pair(a, b, frequency, len(read)) for a, b in both]
    scores = {name: np.array([values[name] for values in rows]) for name in rows[0]}
    lengths = np.array([max(len(a.words), len(b.words)) for a, b in both])
    new = measure_new_words(both, rarity_in(read.values()))
    return Scored(pairs, scores, lengths, np.array([one.novelty or 0.0 for one in new]))


def rarity_in(texts: Iterable[ComparedText]) -> Rarity:
    """Return how many of the texts have a word, as written but for case."""
    count = len(list(texts))
    having = Counter(word for text in texts for word in text.spelled.vocabulary)

    def frequencies(names: Sequence[str]) -> WordFrequencies:
        parts = {name: words(name).folded for name in names}
        counts = {name: min((having[p] for p in of), default=0) for name, of in parts.items()}
        return WordFrequencies(count, counts)

    return Rarity(frequencies)


def score_pair(
    a: ComparedText, b: ComparedText, frequency: Mapping[str, int], texts: int
) -> dict[str, float]:
    names = ("jaccard", "resemblance", "overlap", "lcs")
    values = {name: measure_pair(name, a, b).similarity for name in names}
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


def area(scores: Values, similar: Flags) -> float:
    """Return the area under the ROC curve: the chance that a duplicate scores higher."""
    order = np.sort(scores[~similar])
    left = np.searchsorted(order, scores[similar], side="left")
    right = np.searchsorted(order, scores[similar], side="right")
    return float((left + right).mean() / 2 / max(1, len(order))) if similar.any() else math.nan


def reaches(scores: Values, threshold: float) -> Flags:
    return scores >= threshold - 1e-9


def rates(scores: Values, similar: Flags, threshold: float) -> tuple[float, float, float]:
    """Return F1, precision and recall at a threshold."""
    listed = reaches(scores, threshold)
    right = int((listed & similar).sum())
    precision = right / max(1, int(listed.sum()))
    recall = right / max(1, int(similar.sum()))
    return 2 * precision * recall / max(1e-9, precision + recall), precision, recall


def print_table(title: str, heads: list[str], rows: Iterable[list[str]]) -> None:
    print(f"\n### {title}\n", *head(heads), *map(row, rows), sep="\n", flush=True)


def print_measures(title: str, scored: Scored) -> None:
    similar = scored.similar
    if not similar.any() or similar.all():
        return
    rows = []
    for name, values in scored.scores.items():
        best = max((rates(values, similar, at)[0], at) for at in np.arange(0.02, 1, 0.02))
        cells = [
            " / ".join(f"{value:.3f}" for value in rates(values, similar, at)) for at in THRESHOLDS
        ]
        area_under = f"{area(values, similar):.3f}"
        rows.append([name, area_under, f"{best[0]:.3f} ({best[1]:.2f})", *cells])
    title = f"{title}: {similar.sum():,} duplicates, {(~similar).sum():,} different"
    heads = [f"at {at:g}" for at in THRESHOLDS]
    print_table(title, ["measure", "AUC", "best F1 (at)", *heads], rows)


def folded_cell(is_folded: Flags, similar: Flags) -> str:
    """Return different pairs folded, and the recall of duplicates."""
    return f"{is_folded[~similar].sum():,} / {is_folded[similar].mean():.3f}"


def print_folding(scored: Scored) -> None:
    """Print the different pairs that folding would hide, and the duplicates it would fold: by
    measure, and by `lcs` and a limit of novelty.
    """
    similar, in_order = scored.similar, scored.scores["lcs"]
    rows = [
        [name, *(folded_cell(reaches(values, at), similar) for at in FOLD_THRESHOLDS)]
        for name, values in scored.scores.items()
    ]
    title = "Folding: different pairs at or above the threshold / recall of duplicates"
    print_table(title, ["measure", *(f"{at:g}" for at in FOLD_THRESHOLDS)], rows)
    rows = []
    for at in FOLD_THRESHOLDS:
        is_near = reaches(in_order, at)
        limited = (is_near & (scored.novelty <= limit) for limit in NOVELTIES)
        rows.append([f"{at:g}", *(folded_cell(is_folded, similar) for is_folded in limited)])
    title = "Folding by lcs and novelty: different pairs / recall of duplicates"
    print_table(title, ["lcs", *(f"novelty <= {limit:g}" for limit in NOVELTIES)], rows)


def print_kinds(scored: Scored) -> None:
    kinds = np.array([pair.kind for pair in scored.pairs])
    names = ("jaccard", "overlap", "lcs", "lcs, same facts")
    rows = []
    for kind in dict.fromkeys(kinds.tolist()):
        found = (reaches(scored.scores[name][kinds == kind], 0.8).mean() for name in names)
        rows.append([kind, f"{(kinds == kind).sum():,}", *(f"{value:.3f}" for value in found)])
    print_table("Fraction of pairs at .8 or more, by kind", ["kind", "pairs", *names], rows)


def print_worst(scored: Scored, count: int) -> None:
    wrong = np.flatnonzero(~scored.similar)
    values = scored.scores["lcs"]
    print("\n### Different pairs with the highest lcs\n")
    for number in wrong[np.argsort(-values[wrong], kind="stable")][:count]:
        pair, length = scored.pairs[number], scored.lengths[number]
        print(
            f"- {values[number]:.3f} of {length:,} words, {pair.corpus}: {' / '.join(pair.names)}"
        )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--worst", type=int, default=10)
    options = parser.parse_args()
    corpora = unseen_corpora() if options.unseen else seen_corpora(options.work)
    scored = {title: score(pairs) for title, pairs in corpora.items()}
    decided = {
        title: of.only(np.array([pair.similar is not None for pair in of.pairs]))
        for title, of in scored.items()
    }
    together = pool(list(decided.values()))
    for title, of in (*decided.items(), ("all", together)):
        print_measures(title, of)
    for low, high in LENGTHS:
        within = (together.lengths >= low) & (together.lengths < high)
        title = f"{low} to {high} words" if high < 10**9 else f"{low} words and more"
        print_measures(title, together.only(within))
    print_folding(together)
    print_kinds(pool(list(scored.values())))
    print_worst(together, options.worst)


if __name__ == "__main__":
    main()
