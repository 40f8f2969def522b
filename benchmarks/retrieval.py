"""What folding chunks does to the first k of a retriever: docs/retrieval.md has the table.

    python benchmarks/retrieval.py FOLDER ... [--documents 600] [--queries 200] [-k 5]
        [--words 200] [--overlap 40]

Documents of 150 to 20,000 words are cut into chunks as splitters do. A query is four of the six
rarest words of a passage of 20 words, drawn with a fixed seed, and searched for in the full text of
SQLite (BM25). Printed for each rule:

found     the fraction of queries whose passage stands whole in one of the first k chunks
repeated  the fraction of the runs of ten words in these chunks that an earlier one of them has
new       different runs of ten words in these chunks
read      chunks that were read until there were k
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence

from corpora import drawn_texts
from harness import arguments, head, row

from indexer.comparing.words import normal_words
from indexer.searching.fold_chunks import ChunkOptions, fold_chunks

SEED, ANSWER, RUN = 7, 20, 10
RULES = {
    "not folded": None,
    "similarity .9": ChunkOptions(passage=0),
    "similarity .8": ChunkOptions(threshold=0.8, passage=0),
    "**a passage of 100 words**": ChunkOptions(passage=100),
    **{f"{words} words": ChunkOptions(passage=words) for words in (60, 50, 30, 20)},
}
SELECT = "SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk) LIMIT 100"


def chunks_of(text: str, words: int, overlap: int) -> list[str]:
    """Return the chunks of a text, each beginning with the last words of the one before it."""
    parts = text.split()
    starts = range(0, max(1, len(parts) - overlap), words - overlap)
    return [" ".join(parts[start : start + words]) for start in starts]


def draw_queries(
    texts: Sequence[str], chunks: Sequence[str], count: int
) -> Iterator[tuple[str, str]]:
    """Yield queries, each with the passage that answers it, in normalised words."""
    draw = random.Random(SEED)
    frequencies = Counter(word for chunk in chunks for word in set(normal_words(chunk).folded))
    while count:
        words = normal_words(draw.choice(texts)).folded
        start = draw.randrange(max(1, len(words) - ANSWER))
        answer = words[start : start + ANSWER]
        named = sorted({word for word in answer if word.isalpha() and len(word) > 2})
        rarest = sorted(named, key=frequencies.__getitem__)[:6]
        if len(rarest) >= 5:
            yield " OR ".join(f'"{word}"' for word in draw.sample(rarest, 4)), " ".join(answer)
            count -= 1


def count_runs(chunks: Sequence[str], answer: str) -> Counter[str]:
    """Count whether the answer is found, the runs of words, and the different ones."""
    words = [normal_words(chunk).folded for chunk in chunks]
    runs = [tuple(of[start : start + RUN]) for of in words for start in range(len(of) - RUN + 1)]
    found = any(f" {answer} " in f" {' '.join(of)} " for of in words)
    return Counter(found=int(found), runs=len(runs), distinct=len(set(runs)))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--overlap", type=int, default=40)
    parser.add_argument("-k", type=int, default=5)
    options = parser.parse_args()
    texts = drawn_texts(options.folder, options.documents, (150, 20_000), SEED)
    chunks = [part for text in texts for part in chunks_of(text, options.words, options.overlap)]
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE chunk USING fts5(text)")
    db.executemany("INSERT INTO chunk (rowid, text) VALUES (?, ?)", enumerate(chunks))
    sums = {name: Counter[str]() for name in RULES}
    for query, answer in draw_queries(texts, chunks, options.queries):
        ranked = [chunks[number] for (number,) in db.execute(SELECT, (query,))]
        for name, rule in RULES.items():
            ranks = list(range(min(options.k, len(ranked))))
            if rule is not None:
                ranks = [shown.place for shown in fold_chunks(ranked, rule, limit=options.k)]
            sums[name] += count_runs([ranked[rank] for rank in ranks], answer)
            sums[name]["read"] += max(ranks, default=-1) + 1
    print(f"{len(texts)} documents, {len(chunks)} chunks, {options.queries} queries")
    print(*head(["folded by", "found", "repeated", "new", "read"]), sep="\n")
    for name, of in sums.items():
        found, new, read = (of[key] / options.queries for key in ("found", "distinct", "read"))
        repeated = 1 - of["distinct"] / of["runs"]
        print(row([name, f"{found:.3f}", f"{repeated:.3f}", f"{new:.0f}", f"{read:.1f}"]))


if __name__ == "__main__":
    main()
