"""Precision and recall of duplicate types of clauses: synthetic types and hard negatives, fixed on
one half, reported on the other.

    python benchmarks/clauses.py                 # the half that nothing was fixed on
    python benchmarks/clauses.py --half train --examples 5
    python benchmarks/clauses.py --speed         # milliseconds for result sets of 20, 100 and 1,000

A set is captured when each of its clauses is found a duplicate of the first, of whatever type.
Precision: of all pairs found, the true ones; two variants of one clause count neither
way, for the relation is not transitive.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from clausecorpus import DUPLICATES, NEGATIVES, Group, Result, paragraphs, results

from indexer.similarity.duplicate_sets import duplicate_pairs, duplicate_sets, read
from indexer.sketch.wilson import wilson


@dataclass
class Score:
    """Counts of one run. `captured`, `typed` and `sets` by duplicate type and whose synonyms;
    `wrong` by what the pair is.
    """

    sets: Counter[tuple[str, str]] = field(default_factory=Counter)
    captured: Counter[tuple[str, str]] = field(default_factory=Counter)
    typed: Counter[tuple[str, str]] = field(default_factory=Counter)
    negatives: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    right: int = 0
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def recall(self, kind: str) -> float:
        """The share of sets captured."""
        sets = sum(count for (set_kind, _), count in self.sets.items() if set_kind == kind)
        return sum(
            count for (set_kind, _), count in self.captured.items() if set_kind == kind
        ) / max(1, sets)

    @property
    def precision(self) -> float:
        """Return the share of true pairs among those found."""
        return self.right / max(1, self.right + sum(self.wrong.values()))


def score_detector(corpus: list[Result], overlap: float = 0.8) -> Score:
    """Score the detector on result sets."""
    score = Score()
    for result in corpus:
        types = {
            (int(clause_pair.a), int(clause_pair.b)): clause_pair.type
            for clause_pair in duplicate_pairs(result.clauses, overlap=overlap)
        }
        judged: set[tuple[int, int]] = set()
        for group, places in result.groups:
            _group(score, group, places, types, result)
            judged |= {(a, b) for a in places for b in places}
        for pair in types.keys() - judged:
            score.wrong["unrelated"] += 1
            score.examples["unrelated"].append(
                (result.clauses[pair[0]][1], result.clauses[pair[1]][1])
            )
    return score


def _group(
    score: Score,
    group: Group,
    places: tuple[int, ...],
    type_by_pair: dict[tuple[int, int], str],
    result: Result,
) -> None:
    types = [type_by_pair.get((min(places[0], type), max(places[0], type))) for type in places[1:]]
    if group.kind in NEGATIVES:
        score.negatives[group.kind] += 1
        if types[0]:
            score.wrong[group.kind] += 1
            score.examples[group.kind].append((group.texts[0], group.texts[1]))
        return
    key = (group.kind, group.words)
    score.sets[key] += 1
    score.captured[key] += all(types)
    score.typed[key] += all(type == group.kind for type in types)
    score.right += sum(type is not None for type in types)
    if not all(types):
        missed = types.index(None) + 1
        score.examples[f"missed {group.kind}"].append((group.texts[0], group.texts[missed]))


def report(score: Score, examples: int) -> None:
    print(
        f"{'type':<16}{'synonyms':<10}{'sets':>6}{'captured':>10}{'95 % interval':>16}"
        f"{'right type':>12}"
    )
    for kind in DUPLICATES:
        rows = [key for key in sorted(score.sets) if key[0] == kind]
        for key in rows if len(rows) == 1 else [*rows, (kind, "all")]:
            keys = rows if key[1] == "all" else [key]
            sets, captured, typed = (
                sum(counts[k] for k in keys) for counts in (score.sets, score.captured, score.typed)
            )
            low, high = wilson(captured, sets)
            interval = f"{low:.1%}-{high:.1%}"
            print(
                f"{kind:<16}{key[1] or '-':<10}{sets:>6}{captured / sets:>10.1%}{interval:>16}"
                f"{typed / sets:>12.1%}"
            )
    wrong = sum(score.wrong.values())
    low, high = wilson(score.right, score.right + wrong)
    print(
        f"\nprecision {score.precision:.1%} ({low:.1%}-{high:.1%}): {score.right} true pairs "
        f"found, {wrong} others"
    )
    for kind in (*NEGATIVES, "unrelated"):
        print(f"  {kind:<12}{score.wrong[kind]:>4} of {score.negatives[kind] or 'all other pairs'}")
    for kind, pairs in score.examples.items():
        for a, b in pairs[:examples]:
            print(f"\n[{kind}]\n  A {a}\n  B {b}")


def speed() -> None:
    texts = paragraphs(1000)
    duplicate_sets(
        [(str(place), text) for place, text in enumerate(texts[-150:])]
    )  # as in a process that has worked before
    print(f"{'clauses':>8}{'words each':>12}{'new clauses, ms':>17}{'seen before, ms':>17}")
    for size in (20, 100, 1000):
        clauses = [
            (str(place), f"{texts[place % len(texts)]} {'again ' * (place // len(texts))}")
            for place in range(size)
        ]
        new, repeated = [], []
        for _ in range(5):
            read.cache_clear()
            new.append(seconds_of(clauses))
            repeated.append(seconds_of(clauses))
        words = sum(len(text.split()) for _, text in clauses) / size
        print(f"{size:>8}{words:>12.0f}{min(new):>17.1f}{min(repeated):>17.1f}")


def seconds_of(clauses: list[tuple[str, str]]) -> float:
    """Milliseconds of one processor for the duplicate sets of clauses."""
    start = time.process_time()
    duplicate_sets(clauses)
    return 1000 * (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=["train", "test"], default="test")
    parser.add_argument("--sets", type=int, default=220, help="of each type, and of hard negatives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--overlap", type=float, default=0.8)
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        speed()
        return
    report(
        score_detector(results(options.half, options.sets, options.seed), options.overlap),
        options.examples,
    )


if __name__ == "__main__":
    main()
