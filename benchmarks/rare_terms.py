"""Recall of rare-term signatures and of I-Match for edited texts, and the time of I-Match.

    python benchmarks/rare_terms.py FOLDER [--most N] [--rounds N]

Half of the texts of FOLDER are edited, and the statistics are those of all. Printed by the share
of words that are edited, a third of them each replaced, deleted and inserted: the share of copies
that are found by an `overlap` of .9, by prefix keys, by equality of the published hash of the 1, 3
or 5 rarest terms, by I-Match, and by I-Match with ten random lexicons. Then I-Match beside
super-shingles of five words: the median of the ratio of their times, of texts that are tokens.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from candidates import texts_under
from edited_copies import SEED, scattered

from indexer.sketch.corpus_statistics import CorpusStatistics, count_features
from indexer.sketch.imatch import LEXICONS, imatch, signatures_match
from indexer.sketch.minhash import fast_similarity_sketch
from indexer.sketch.rare_term_keys import prefix_keys
from indexer.sketch.rare_terms import CLAUSE_TERMS, DOCUMENT_TERMS, hash_key, overlap, rare_terms
from indexer.sketch.string_hashes import string_hashes
from indexer.sketch.supershingles import GROUPS, ROWS, super_shingles
from indexer.text.shingles import shingles
from indexer.text.tokens import tokens

SHARES = (0.005, 0.01, 0.02, 0.05)
OVERLAP = 0.9
CLAUSE = 120
HEAD = ("overlap", "prefix", "hash 1", "hash 3", "hash 5", "I-Match", "+ lexicons")


def recalls(
    texts: list[list[str]], corpus: CorpusStatistics, size: int, share: float
) -> list[float]:
    """Return the share of edited copies that each way finds, in the order of `HEAD`."""
    random = np.random.default_rng(SEED)
    hits = [
        list(ways(text, scattered(text, texts[-place - 1], share, random), corpus, size))
        for place, text in enumerate(texts[: len(texts) // 2])
    ]
    return np.array(hits).mean(axis=0).tolist()


def ways(text: list[str], copy: list[str], corpus: CorpusStatistics, size: int) -> Iterator[bool]:
    """Yield whether each way finds the copy of a text, in the order of `HEAD`."""
    left, right = (rare_terms(side, corpus, size) for side in (text, copy))
    yield overlap(left, right) >= OVERLAP
    yield not set(prefix_keys(left)).isdisjoint(prefix_keys(right))
    for terms in (1, 3, 5):
        yield hash_key(text, corpus, terms) == hash_key(copy, corpus, terms)
    for lexicons in (0, LEXICONS):
        yield signatures_match(imatch(text, corpus, lexicons), imatch(copy, corpus, lexicons))


def shingled(text: list[str]) -> tuple[int, ...]:
    """Return the super-shingles of five words of a text."""
    hashes = string_hashes(list(shingles(text, 5)))
    return super_shingles(fast_similarity_sketch(np.unique(hashes), GROUPS * ROWS))


def seconds(sign: Callable[[list[str]], object], texts: list[list[str]]) -> float:
    start = time.perf_counter()
    for text in texts:
        sign(text)
    return time.perf_counter() - start


def ratio(texts: list[list[str]], corpus: CorpusStatistics, rounds: int) -> float:
    """Return the median time of super-shingles by that of one signature of I-Match."""
    return statistics.median(
        seconds(shingled, texts) / seconds(lambda text: imatch(text, corpus, 0), texts)
        for _ in range(rounds)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--most", type=int, default=1000, help="texts at most")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    signed = (tokens(text, "v4") for text in texts_under(options.folder, options.most))
    documents = [words for words in signed if words]
    clauses = [text[place : place + CLAUSE] for text in documents for place in (0, CLAUSE)]
    clauses = [clause for clause in clauses if len(clause) == CLAUSE]
    for name, texts, size in (
        ("documents", documents, DOCUMENT_TERMS),
        ("clauses", clauses, CLAUSE_TERMS),
    ):
        corpus = count_features(map(string_hashes, texts), "tokens_v4")
        print(f"{len(texts)} {name}, {size} terms")
        print("  edited" + "".join(f"{head:>12}" for head in HEAD))
        for share in SHARES:
            values = "".join(f"{value:>12.3f}" for value in recalls(texts, corpus, size, share))
            print(f"{share:>8.1%}{values}")
        print(f"  I-Match is {ratio(texts, corpus, options.rounds):.1f} times as fast as shingling")


if __name__ == "__main__":
    main()
