"""Recall of rare-term signatures and of I-Match for edited texts, and the time of I-Match.

    python benchmarks/rare_terms.py FOLDER [--documents N] [--rounds N]

Half of the texts of FOLDER are edited, and the statistics are those of all. Printed by the fraction
of words that are edited, a third of them each replaced, deleted and inserted: the fraction of
copies that are found by an `overlap` of .9, by prefix keys, by equality of the published hash of
the 1, 3 or 5 rarest terms, by I-Match, and by I-Match with ten random lexicons. Then I-Match beside
super-shingles of five words: the median of the ratio of their times, of texts that are tokens.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from corpora import drawn_texts, scattered
from harness import arguments, seconds_of, thousandths

from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.minhash import fast_similarity_sketch
from indexer.fingerprinting.rare_terms import (
    CLAUSE_TERMS,
    DOCUMENT_TERMS,
    LEXICONS,
    CorpusStatistics,
    count_features,
    hash_key,
    imatch,
    overlap,
    prefix_keys,
    rare_terms,
    signatures_match,
)
from indexer.fingerprinting.schemes import GROUPS, ROWS, super_shingles
from indexer.fingerprinting.tokens import shingles, tokens

EDITED = (0.005, 0.01, 0.02, 0.05)
CLAUSE = 120
HEADS = ("overlap", "prefix", "hash 1", "hash 3", "hash 5", "I-Match", "+ lexicons")
Texts = list[list[str]]


def recalls(texts: Texts, corpus: CorpusStatistics, size: int, edited: float) -> list[float]:
    """Return the fraction of edited copies that each way finds, in the order of `HEADS`."""
    rng = np.random.default_rng(20)
    hits = [
        list(ways(text, scattered(text, texts[-number - 1], edited, rng), corpus, size))
        for number, text in enumerate(texts[: len(texts) // 2])
    ]
    return np.array(hits).mean(axis=0).tolist()


def ways(text: list[str], copy: list[str], corpus: CorpusStatistics, size: int) -> Iterator[bool]:
    """Yield whether each way finds the copy of a text, in the order of `HEADS`."""
    left, right = (rare_terms(words, corpus, size) for words in (text, copy))
    yield overlap(left, right) >= 0.9
    yield not set(prefix_keys(left)).isdisjoint(prefix_keys(right))
    for terms in (1, 3, 5):
        yield hash_key(text, corpus, terms) == hash_key(copy, corpus, terms)
    for lexicons in (0, LEXICONS):
        yield signatures_match(imatch(text, corpus, lexicons), imatch(copy, corpus, lexicons))


def shingle(texts: Texts) -> None:
    """Make the super-shingles of five words of texts."""
    for text in texts:
        hashes = np.unique(string_hashes(list(shingles(text, 5))))
        super_shingles(fast_similarity_sketch(hashes, GROUPS * ROWS))


def sign(texts: Texts, corpus: CorpusStatistics) -> None:
    for text in texts:
        imatch(text, corpus, 0)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--documents", type=int, default=1000, help="texts at most")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    texts = sorted(set(drawn_texts([options.folder], options.documents, (80, 10**6), seed=1)))
    documents = [words for text in texts if (words := tokens(text, "v4"))]
    clauses = [text[start : start + CLAUSE] for text in documents for start in (0, CLAUSE)]
    clauses = [clause for clause in clauses if len(clause) == CLAUSE]
    for name, of, size in (
        ("documents", documents, DOCUMENT_TERMS),
        ("clauses", clauses, CLAUSE_TERMS),
    ):
        corpus = count_features(map(string_hashes, of), "tokens_v4")
        print(f"{len(of)} {name}, {size} terms")
        print("  edited" + "".join(f"{head:>12}" for head in HEADS))
        for edited in EDITED:
            cells = [thousandths(value) for value in recalls(of, corpus, size, edited)]
            print(f"{edited:>8.1%}" + "".join(f"{cell:>12}" for cell in cells))
        ratio = statistics.median(
            seconds_of(partial(shingle, of)) / seconds_of(partial(sign, of, corpus))
            for _ in range(options.rounds)
        )
        print(f"  I-Match is {ratio:.1f} times as fast as shingling")


if __name__ == "__main__":
    main()
