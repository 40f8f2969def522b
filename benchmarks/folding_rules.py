"""Which rule would keep documents apart that folding wrongly hides: the table of
docs/decisions/019-what-folding-hides.md.

    python benchmarks/folding_rules.py --work FOLDER [--pairs FOLDER]

FOLDER is that of `defaults.py`, whose corpora and searches these are; run that first. Each
document that a search folds under another one at `lcs` .9 is one pair: wrong if both are different
documents (of `defaults.py`: other commands or languages; other originals of a synthetic corpus),
right if not. Printed for each rule that folding could ask for beside `lcs` .9: the wrong pairs and
the right ones that it keeps apart, and the wrong pairs by name with what differs.

With `--pairs`, the pairs of `measures.py` (its FOLDER): different pairs that each rule folds, and
the share of duplicates, by kind, on the corpora that rules are chosen on and on the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from defaults import queries
from defaults_corpora import Corpus, Pair, pair_of, real_corpora, synthetic_corpora
from measure_corpora import LabelledPair, seen_corpora, unseen_corpora
from quality_tables import head, row

from indexer import SearchOptions, search
from indexer.recipe import DEFAULT
from indexer.similarity.criteria import Criteria
from indexer.similarity.differences import differences
from indexer.similarity.measures import measure_pair
from indexer.similarity.new_words import NewWords, Rarity, measure_new_words
from indexer.similarity.replacements import Replacement, most_replaced, replacements
from indexer.similarity.sides import Side
from indexer.text.word_numbers import Words

ANY = Criteria(replaced=10**6)  # the default asks for less


@dataclass(frozen=True)
class FoldedPair:
    """A shown document, and one that is hidden under it."""

    corpus: Corpus
    names: Pair
    rarity: Rarity

    @property
    def is_wrong(self) -> bool:
        return self.corpus.is_wrong(*self.names)

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        a, b = (Side(self.corpus.texts[name], DEFAULT) for name in self.names)
        return a, b

    def similarity(self, measure: str) -> float:
        return measure_pair(measure, *self.sides).similarity

    @cached_property
    def new_words(self) -> NewWords:
        return measure_new_words([self.sides], self.rarity)[0]

    @cached_property
    def different_facts(self) -> int:
        a, b = self.sides
        return len(differences(a.facts, b.facts))

    @property
    def words(self) -> tuple[Words, Words]:
        a, b = self.sides
        return a.words, b.words

    @cached_property
    def replaced(self) -> Replacement:
        return most_replaced(*self.words)


def is_consistent(a: Words, b: Words, share: float) -> bool:
    """Return whether words stand for others twice or more, at such a share of their places."""
    texts = [f" {'  '.join(words.folded)} " for words in (a, b)]
    for made in replacements(a, b, 1):
        sides = zip(texts, (made.a, made.b), strict=True)
        places = max(text.count(f" {side.replace(' ', '  ')} ") for text, side in sides)
        if made.times >= share * places:
            return True
    return False


RULES: dict[str, Callable[[FoldedPair], bool]] = {
    "`lcs` .92": lambda pair: pair.similarity("lcs") >= 0.92,
    "`lcs` .95": lambda pair: pair.similarity("lcs") >= 0.95,
    "`overlap` .88": lambda pair: pair.similarity("overlap") >= 0.88,
    "`resemblance` .8": lambda pair: pair.similarity("resemblance") >= 0.8,
    "`--numbers distinguish`": lambda pair: not pair.different_facts,
    **{
        f"`novelty<={most}`": lambda pair, most=most: (pair.new_words.novelty or 0) <= most
        for most in (80, 40, 20, 10, 2)
    },
    **{
        f"`replaced<={most}`": lambda pair, most=most: pair.replaced.times <= most
        for most in (1, 2, 3)
    },
    **{
        f"`replaced<=2`, nor twice at {share:g} of the places": lambda pair, share=share: (
            pair.replaced.times <= 2 and not is_consistent(*pair.words, share)
        )
        for share in (1, 0.5)
    },
}


def folded_pairs(corpus: Corpus) -> Iterator[FoldedPair]:
    """Yield each pair of a shown and a hidden document that the searches give, once."""
    store = corpus.store("v2")
    rarity = Rarity(store.vocabulary.frequencies)
    seen = set()
    for query in queries(corpus):
        for hit in search(store, query, SearchOptions(limit=10_000, criteria=ANY)).hits:
            for folded in hit.folded:
                names = corpus.relative(hit.path), corpus.relative(folded.path)
                texts = {corpus.same_words[name] for name in names}
                if len(texts) > 1 and pair_of(*names) not in seen:
                    seen.add(pair_of(*names))
                    yield FoldedPair(corpus, names, rarity)


@dataclass(frozen=True)
class Scores:
    """What rules see of a pair of `measures.py`; 0 facts and replacements below `lcs` .8."""

    lcs: float
    facts: int
    replaced: int
    consistent: tuple[bool, bool] = (False, False)


PAIR_RULES: dict[str, Callable[[Scores], bool]] = {
    **{
        f"`lcs` {least}": lambda scores, least=least: scores.lcs >= least - 1e-9
        for least in (0.9, 0.91, 0.92, 0.95)
    },
    "`lcs` .9, `--numbers distinguish`": lambda scores: scores.lcs >= 0.9 and not scores.facts,
    **{
        f"`lcs` {least}, `replaced<={most}`": lambda scores, least=least, most=most: (
            scores.lcs >= least - 1e-9 and scores.replaced <= most
        )
        for least in (0.9, 0.88, 0.85)
        for most in (1, 2, 3)
    },
    **{
        f"`lcs` .9, `replaced<=2`, nor twice at {share}": lambda scores, place=place: (
            scores.lcs >= 0.9 - 1e-9 and scores.replaced <= 2 and not scores.consistent[place]
        )
        for place, share in enumerate(("all places", "half of the places"))
    },
}


def score(pair: LabelledPair) -> Scores:
    a, b = Side(pair.a, DEFAULT), Side(pair.b, DEFAULT)
    in_order = measure_pair("lcs", a, b).similarity
    if in_order < 0.8:
        return Scores(in_order, 0, 0)
    facts = len(differences(a.facts, b.facts))
    consistent = is_consistent(a.words, b.words, 1), is_consistent(a.words, b.words, 0.5)
    return Scores(in_order, facts, most_replaced(a.words, b.words).times, consistent)


def print_pairs(corpora: dict[str, list[LabelledPair]]) -> None:
    decided = [pair for pairs in corpora.values() for pair in pairs if pair.similar is not None]
    scores = [score(pair) for pair in decided]
    kinds = list(dict.fromkeys(pair.kind for pair in decided if pair.similar))
    different = [place for place, pair in enumerate(decided) if not pair.similar]
    places = {kind: [n for n, pair in enumerate(decided) if pair.kind == kind] for kind in kinds}
    every = [place for several in places.values() for place in several]
    titles = [f"different, of {len(different):,}", f"duplicates, of {len(every):,}"]
    print("\n".join(head(["rule", *titles, *(f"{kind}, {len(places[kind])}" for kind in kinds)])))
    for name, rule in PAIR_RULES.items():

        def folded(several: Sequence[int], rule: Callable[[Scores], bool] = rule) -> int:
            return sum(rule(scores[place]) for place in several)

        shares = (folded(several) / len(several) for several in (every, *places.values()))
        print(row([name, f"{folded(different):,}", *(f"{share:.3f}" for share in shares)]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=800)
    parser.add_argument("--originals", type=int, default=30)
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    parser.add_argument("--pairs", type=Path)
    options = parser.parse_args()
    if options.pairs:
        for corpora in (seen_corpora, unseen_corpora):
            print(f"\n### {corpora.__name__}\n")
            print_pairs(corpora(options.pairs))
        print("\n### Searches\n")
    work = options.work.resolve()
    real = real_corpora(work, options.docs, options.manuals, options.documents)
    synthetic = synthetic_corpora(work, options.manuals, options.originals)
    pairs = [pair for corpus in real if corpus.is_different for pair in folded_pairs(corpus)]
    made = [pair for corpus in synthetic for pair in folded_pairs(corpus)]
    kinds = {
        "wrong": [pair for pair in pairs if pair.is_wrong],
        "right, real": [pair for pair in pairs if not pair.is_wrong],
        "right, synthetic": [pair for pair in made if not pair.is_wrong],
    }
    titles = [f"{kind}, of {len(several)}" for kind, several in kinds.items()]
    print("\n".join(head(["kept apart by", *titles])))
    for name, rule in RULES.items():
        counts = (sum(not rule(pair) for pair in several) for several in kinds.values())
        print(row([name, *map(str, counts)]), flush=True)
    for pair in kinds["wrong"]:
        a, b, times = pair.replaced
        print(
            f"\n{pair.similarity('lcs'):.3f} {pair.names[0]} <- {pair.names[1]}: {a} / {b} "
            f"x{times}, {pair.different_facts} facts, novelty {pair.new_words.novelty:.0f}"
        )


if __name__ == "__main__":
    main()
