"""Tables 1 and 2 of the signature study (Roegiest & Lee, SIGIR 2019) for the documents of any folder.

    python benchmarks/signatures.py FOLDER [--bits 16,32,64] [--most 2000]

Table 1: mean seconds and standard deviation a document for a signature, extraction and corpus statistics not counted.
Table 2: mean and standard deviation of the documents a signature has (documents / unique signatures, itself included).
Empty texts and copies of the same text are left out of both and counted apart.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from pathlib import Path

from indexer import fingerprint, recipe_named
from indexer.documents import documents_under
from indexer.model import Document
from indexer.schemes import counted_features
from indexer.sketch.corpus import CorpusStatistics

METHODS = ("simhash", "topsig", "weighted-topsig", "minhash")


def distinct_texts(folder: Path, most: int) -> tuple[list[str], int, int]:
    """Texts that are not empty, each once; how many were empty, and how many were copies."""
    texts = [result.text for _, result in documents_under(str(folder)) if isinstance(result, Document)]
    full = [text for text in texts if text.strip()]
    kept = sorted(set(full))[:most]
    return kept, len(texts) - len(full), len(full) - len(set(full))


def measured(texts: list[str], method: str, bits: int, corpus: CorpusStatistics) -> tuple[list[float], list[int]]:
    """Seconds of every document, and the number of documents of every signature."""
    recipe = recipe_named(f"signature-study:{method}:{bits}")
    seconds, signatures = [], []
    for text in texts:
        started = time.perf_counter()
        made = fingerprint(text, recipe, corpus)
        seconds.append(time.perf_counter() - started)
        if made.simhash is not None:
            signatures.append(made.simhash)
    return seconds, list(Counter(signatures).values())


def spelled(values: list[float] | list[int]) -> str:
    return f"{statistics.mean(values):9.4f} ({statistics.pstdev(values):.4f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bits", default="16,32,64,128,256,512,1024")
    parser.add_argument("--most", type=int, default=2000, help="documents at most")
    asked = parser.parse_args()
    texts, empty, copies = distinct_texts(asked.folder, asked.most)
    corpus = counted_features(texts, recipe_named("signature-study:weighted-topsig:64"))
    print(f"{len(texts):,} documents; left out: {empty:,} empty, {copies:,} copies\n")
    head = f"{'bits':>5}" + "".join(f"{method:>24}" for method in METHODS)
    tables = {"Table 1: seconds a document": head, "Table 2: documents a signature": head}
    for bits in map(int, asked.bits.split(",")):
        rows = [measured(texts, method, bits, corpus) for method in METHODS]
        for place, title in enumerate(tables):
            tables[title] += f"\n{bits:>5}" + "".join(f"{spelled(row[place]):>24}" for row in rows)
    for title, table in tables.items():
        print(f"{title}, mean (standard deviation)\n{table}\n")


if __name__ == "__main__":
    main()
