"""What folding chunks does to the first k of a retriever: docs/retrieval.md has the table.

    python benchmarks/retrieval.py FOLDER ... [--documents 600] [--queries 200] [-k 5]
        [--words 200] [--overlap 40]

Documents of 150 to 20,000 words are cut into chunks as splitters do. A query is four of the six
rarest words of a passage of 20 words, drawn with a fixed seed, and asked of the full text search of
SQLite (BM25). Printed for each rule:

found     the share of queries whose passage stands whole in one of the first k chunks
repeated  the share of the runs of ten words in these chunks that an earlier one of them has
new       different runs of ten words in these chunks
read      chunks that were read until there were k
"""

from __future__ import annotations

import argparse
import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quality_tables import head, row

from indexer.indexing.documents import documents_at
from indexer.model import Document
from indexer.retrieval.fold_chunks import ChunkOptions, fold_chunks
from indexer.text.normal_words import normal_words

SEED, ANSWER, RUN, READ = 7, 20, 10, 100
RULES = {
    "not folded": None,
    "similarity .9": ChunkOptions(passage=0),
    "similarity .8": ChunkOptions(threshold=0.8, passage=0),
    "**a passage of 100 words**": ChunkOptions(passage=100),
    "60 words": ChunkOptions(passage=60),
    "50 words": ChunkOptions(passage=50),
    "30 words": ChunkOptions(passage=30),
    "20 words": ChunkOptions(passage=20),
}


@dataclass
class Sums:
    """What was counted for one rule."""

    found: int = 0
    runs: int = 0
    distinct: int = 0
    read: list[int] = field(default_factory=list)


def texts_of(folders: Sequence[str], number: int) -> list[str]:
    """Texts of so many files of the folders, drawn with a fixed seed."""
    paths = [str(path) for name in folders for path in Path(name).rglob("*") if path.is_file()]
    random.Random(SEED).shuffle(paths)
    texts: list[str] = []
    for start in range(0, len(paths), number):
        part = documents_at(paths[start : start + number])
        texts += [
            document.text
            for _, document in part
            if isinstance(document, Document) and 150 <= len(document.text.split()) <= 20_000
        ]
        if len(texts) >= number:
            break
    return texts[:number]


def chunks_of(text: str, words: int, overlap: int) -> list[str]:
    """The chunks of a text, each beginning with the last words of the one before it."""
    parts = text.split()
    starts = range(0, max(1, len(parts) - overlap), words - overlap)
    return [" ".join(parts[start : start + words]) for start in starts]


def draw_queries(texts: Sequence[str], chunks: Sequence[str], number: int) -> list[tuple[str, str]]:
    """Queries, each with the passage that answers it, in normalised words."""
    draw = random.Random(SEED)
    frequencies = Counter(word for chunk in chunks for word in set(normal_words(chunk).folded))
    queries: list[tuple[str, str]] = []
    while len(queries) < number:
        words = normal_words(draw.choice(texts)).folded
        start = draw.randrange(max(1, len(words) - ANSWER))
        answer = words[start : start + ANSWER]
        named = sorted({word for word in answer if word.isalpha() and len(word) > 2})
        rarest = sorted(named, key=frequencies.__getitem__)[:6]
        if len(rarest) >= 5:
            asked = " OR ".join(f'"{word}"' for word in draw.sample(rarest, 4))
            queries.append((asked, " ".join(answer)))
    return queries


def count(sums: Sums, chunks: Sequence[str], answer: str) -> None:
    """Add the first k chunks of one query."""
    words = [normal_words(chunk).folded for chunk in chunks]
    sums.found += any(f" {answer} " in f" {' '.join(each)} " for each in words)
    runs = [
        tuple(each[start : start + RUN]) for each in words for start in range(len(each) - RUN + 1)
    ]
    sums.runs += len(runs)
    sums.distinct += len(set(runs))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--overlap", type=int, default=40)
    parser.add_argument("-k", type=int, default=5)
    options = parser.parse_args()
    texts = texts_of(options.folder, options.documents)
    chunks = [part for text in texts for part in chunks_of(text, options.words, options.overlap)]
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE chunk USING fts5(text)")
    db.executemany("INSERT INTO chunk (rowid, text) VALUES (?, ?)", enumerate(chunks))
    select = f"SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk) LIMIT {READ}"
    sums = {name: Sums() for name in RULES}
    for asked, answer in draw_queries(texts, chunks, options.queries):
        ranked = [chunks[number] for (number,) in db.execute(select, (asked,))]
        for name, rule in RULES.items():
            places = list(range(min(options.k, len(ranked))))
            if rule is not None:
                places = [shown.place for shown in fold_chunks(ranked, rule, limit=options.k)]
            count(sums[name], [ranked[place] for place in places], answer)
            sums[name].read.append(max(places, default=-1) + 1)
    print(f"{len(texts)} documents, {len(chunks)} chunks, {options.queries} queries")
    print(*head(["folded by", "found", "repeated", "new", "read"]), sep="\n")
    for name, each in sums.items():
        repeated = 1 - each.distinct / each.runs
        new, read = each.distinct / options.queries, sum(each.read) / options.queries
        found = each.found / options.queries
        print(row([name, f"{found:.3f}", f"{repeated:.3f}", f"{new:.0f}", f"{read:.1f}"]))


if __name__ == "__main__":
    main()
