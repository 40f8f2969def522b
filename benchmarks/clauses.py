"""Precision and recall of duplicate types of clauses: synthetic types and hard negatives, fixed on
one half, reported on the other.

    python benchmarks/clauses.py                 # the half that nothing was fixed on
    python benchmarks/clauses.py --half train --examples 5
    python benchmarks/clauses.py --speed         # milliseconds for result sets of 20, 100 and 1,000
    python benchmarks/clauses.py --names 500     # so many pairs that differ in a name or a heading
    python benchmarks/clauses.py --languages     # 300 pairs in each of nine languages

A set is captured when each of its clauses is found a duplicate of the first, of whatever type.
Precision: of all pairs found, the true ones; two variants of one clause count neither
way, for the relation is not transitive.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import product

from harness import arguments, head, row
from synthetic_clauses import DUPLICATES, NEGATIVES, Group, Result, paragraphs, results
from synthetic_language_pairs import CLAUSES, SAME, language_pairs
from synthetic_names import (
    UNSEEN_FORMS,
    bare_name_pairs,
    firm_pairs,
    heading_pairs,
    name_pairs,
)

from indexer.comparing.clauses.clause_terms import read_clause
from indexer.comparing.clauses.duplicates import duplicate_pairs, duplicate_sets, read, verdict
from indexer.comparing.clauses.lexicon import default_lexicon
from indexer.fingerprinting.minhash import wilson

Key = tuple[str, str]  # duplicate type, and whose synonyms a set has
Pairs = list[tuple[str, str, str]]  # pattern and both texts


@dataclass
class Score:
    """Counts of one run; `captured`, `typed` and `sets` by type and synonyms, `wrong` by what the
    pair is.
    """

    sets: Counter[Key] = field(default_factory=Counter)
    captured: Counter[Key] = field(default_factory=Counter)
    typed: Counter[Key] = field(default_factory=Counter)
    negatives: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    right: int = 0
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def recall(self, kind: str) -> float:
        """Return the fraction of the sets of a type that are captured."""
        keys = [key for key in self.sets if key[0] == kind]
        sets, captured = (sum(of[key] for key in keys) for of in (self.sets, self.captured))
        return captured / max(1, sets)

    @property
    def precision(self) -> float:
        """Return the fraction of true pairs among those found."""
        return self.right / max(1, self.right + self.wrong.total())


def score_detector(corpus: list[Result], overlap: float = 0.8) -> Score:
    """Score the detector on result sets."""
    score = Score()
    for result in corpus:
        found = duplicate_pairs(result.clauses, overlap=overlap)
        types = {(int(pair.a), int(pair.b)): pair.type for pair in found}
        judged: set[tuple[int, int]] = set()
        for group, ranks in result.groups:
            ordered = [(min(ranks[0], rank), max(ranks[0], rank)) for rank in ranks[1:]]
            _score_group(score, group, [types.get(pair) for pair in ordered])
            judged |= {(a, b) for a in ranks for b in ranks}
        for a, b in types.keys() - judged:
            score.wrong["unrelated"] += 1
            score.examples["unrelated"].append((result.clauses[a][1], result.clauses[b][1]))
    return score


def _score_group(score: Score, group: Group, types: list[str | None]) -> None:
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
        missed = group.texts[types.index(None) + 1]
        score.examples[f"missed {group.kind}"].append((group.texts[0], missed))


def report(score: Score, examples: int) -> None:
    interval = f"{'95 % interval':>16}"
    print(f"{'type':<16}{'synonyms':<10}{'sets':>6}{'captured':>10}{interval}{'right type':>12}")
    for kind in DUPLICATES:
        rows = [key for key in sorted(score.sets) if key[0] == kind]
        for key in rows if len(rows) == 1 else [*rows, (kind, "all")]:
            keys = rows if key[1] == "all" else [key]
            counts = (score.sets, score.captured, score.typed)
            sets, captured, typed = (sum(of[k] for k in keys) for of in counts)
            low, high = wilson(captured, sets)
            cells = f"{captured / sets:>10.1%}{f'{low:.1%}-{high:.1%}':>16}{typed / sets:>12.1%}"
            print(f"{kind:<16}{key[1] or '-':<10}{sets:>6}{cells}")
    wrong = score.wrong.total()
    low, high = wilson(score.right, score.right + wrong)
    print(f"\nprecision {score.precision:.1%} ({low:.1%}-{high:.1%}):", end=" ")
    print(f"{score.right} true pairs found, {wrong} others")
    for kind in (*NEGATIVES, "unrelated"):
        print(f"  {kind:<12}{score.wrong[kind]:>4} of {score.negatives[kind] or 'all other pairs'}")
    for kind, pairs in score.examples.items():
        for a, b in pairs[:examples]:
            print(f"\n[{kind}]\n  A {a}\n  B {b}")


def pair_types(pairs: Pairs) -> list[str]:
    """Return the duplicate type of each pair, `none` for no duplicates."""
    words = default_lexicon()
    results = (verdict(read_clause(a, words), read_clause(b, words), words) for _, a, b in pairs)
    return [result.type if result else "none" for result in results]


def print_names(count: int, seed: int, examples: int) -> None:
    """Print how many pairs have which type, and some whose type is another than expected."""
    for title, pairs, expected in (
        ("another name", name_pairs(count, seed), "near_identical"),
        ("a name alone as the heading", bare_name_pairs(count, seed), "near_identical"),
        ("another heading, number or layout", heading_pairs(count, seed), "identical"),
        (
            "another number, of forms unseen",
            heading_pairs(count, seed, UNSEEN_FORMS),
            "identical",
        ),
        ("firms of many countries", firm_pairs(), "near_identical"),
        ("the same in capitals", firm_pairs(in_capitals=True), "near_identical"),
    ):
        types = pair_types(pairs)
        counts = ", ".join(f"{name} {count}" for name, count in sorted(Counter(types).items()))
        print(f"{title}, {len(pairs)} pairs: {counts}")
        wrong = defaultdict(list)
        for pair, type in zip(pairs, types, strict=True):
            wrong[type] += [pair] if type != expected else []
        for type, others in wrong.items():
            for pattern, a, b in others[:examples]:
                print(f"\n[{type}: {pattern}]\n  A {a!r}\n  B {b!r}")


def print_languages() -> None:
    """Print how many pairs of each kind are duplicates, and of how many the parties are known to be
    exchanged.
    """
    kinds = (*SAME, "exchanged", "denied", "opposite", "unrelated")
    print(*head(["language", "pairs", *kinds, "found exchanged"]), sep="\n")
    for language, unseen in product(CLAUSES, (False, True)):
        pairs = language_pairs(language, unseen=unseen)
        types = Counter(zip((kind for kind, *_ in pairs), pair_types(pairs), strict=True))
        of = Counter(kind for kind, *_ in pairs)
        found = Counter[str]()
        for (kind, type), count in types.items():
            found[kind] += count if type not in ("none", "parties_exchanged") else 0
        swapped = types["exchanged", "parties_exchanged"]
        cells = [f"{found[kind]} of {of[kind]}" for kind in kinds]
        name = f"{language}, unseen" if unseen else language
        print(row([name, str(len(pairs)), *cells, str(swapped)]), flush=True)


def print_speed() -> None:
    texts = paragraphs(1000)
    warming = [(str(number), text) for number, text in enumerate(texts[-150:])]
    duplicate_sets(warming)  # as in a process that has worked before
    print(f"{'clauses':>8}{'words each':>12}{'new clauses, ms':>17}{'seen before, ms':>17}")
    for size in (20, 100, 1000):
        clauses = [
            (str(number), f"{texts[number % len(texts)]} {'again ' * (number // len(texts))}")
            for number in range(size)
        ]
        new, repeated = [], []
        for _ in range(5):
            read.cache_clear()
            new.append(milliseconds_of(clauses))
            repeated.append(milliseconds_of(clauses))
        words = sum(len(text.split()) for _, text in clauses) / size
        print(f"{size:>8}{words:>12.0f}{min(new):>17.1f}{min(repeated):>17.1f}")


def milliseconds_of(clauses: list[tuple[str, str]]) -> float:
    """Return milliseconds of one processor for the duplicate sets of clauses."""
    start = time.process_time()
    duplicate_sets(clauses)
    return 1000 * (time.process_time() - start)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--half", choices=["train", "test"], default="test")
    parser.add_argument("--sets", type=int, default=220, help="of each type, and of hard negatives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--overlap", type=float, default=0.8)
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--languages", action="store_true")
    parser.add_argument("--names", type=int, metavar="PAIRS")
    options = parser.parse_args()
    if options.names:
        print_names(options.names, options.seed, options.examples)
        return
    if options.languages:
        print_languages()
        return
    if options.speed:
        print_speed()
        return
    corpus = results(options.half, options.sets, options.seed)
    report(score_detector(corpus, options.overlap), options.examples)


if __name__ == "__main__":
    main()
