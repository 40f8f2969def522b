"""Recall of `match` for pairs with a text of fewer than twenty words: a table of
docs/decisions/020-short-texts.md.

    python benchmarks/short_pairs.py [--texts 2500] [--thresholds 0.6,0.7,0.8,0.9]

Texts are those of `short_texts.py`, from five words on; every pair is measured. Printed for each
threshold of `lcs`: the pairs at or above it of which one text is short, those that share a band of
`match`, those that `match` lists, and candidates and processor seconds of `match`, without what
finds short texts and with it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
from quality_tables import head, row
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist
from short_texts import CORPORA, encode, sample

from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.joins.short_texts import FEW_WORDS
from indexer.matching import likely_pairs
from indexer.matching.match import MatchOptions, MatchResult, match
from indexer.model import Blob, Document
from indexer.recipe import DEFAULT
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store
from indexer.stores.base import Store

COLUMNS = [
    "corpus", "texts", "lcs", "pairs", "by bands", "listed",
    "candidates", "before", "seconds", "before",
]  # fmt: skip


def fill_store(store: Store, texts: list[str], start: int = 0) -> None:
    store.prepare(DEFAULT)
    rows = []
    for place, (text, signed) in enumerate(zip(texts, fingerprints(texts), strict=True), start):
        name = f"{place:09}"
        blob = Blob(name, name.encode(), f"/{name}", b"", len(text), 0)
        rows.append(row_of(ExtractedBlob(blob, name, "", Document(text)), signed, DEFAULT.id))
    store.write(rows)


def true_pairs(texts: list[str], threshold: float) -> set[tuple[int, int]]:
    """Return the pairs at a threshold of which one text is short."""
    strings, sizes = encode(texts)
    pairs: set[tuple[int, int]] = set()
    for place in np.flatnonzero(sizes < FEW_WORDS).tolist():
        common = cdist([strings[place]], strings, scorer=LCSseq.similarity, dtype=np.int32)[0]
        longer = np.maximum(sizes[place], sizes)
        near = np.flatnonzero(common >= threshold * longer - 1e-9)
        pairs |= {(min(place, other), max(place, other)) for other in near.tolist()}
    return {(a, b) for a, b in pairs if a != b}


def matched(store: Store, threshold: float) -> tuple[set[tuple[int, int]], MatchResult, float]:
    started = time.process_time()
    result = match(store, MatchOptions(threshold))
    seconds = time.process_time() - started
    return {(int(pair.a), int(pair.b)) for pair in result}, result, seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=2500, help="of a corpus")
    parser.add_argument("--thresholds", default="0.6,0.7,0.8,0.9")
    options = parser.parse_args()
    print("\n".join(head(COLUMNS)))
    corpora = {**CORPORA["seen"], **CORPORA["unseen"]}
    for name, read in corpora.items():
        texts = sample(read(), options.texts)
        if len(texts) < 100:
            continue
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(f"sqlite:///{Path(folder)}/x.db")
            fill_store(store, texts)
            for threshold in map(float, options.thresholds.split(",")):
                truth = true_pairs(texts, threshold)
                with patch.object(likely_pairs, "FEW_WORDS", 0):
                    bands, plain, plain_seconds = matched(store, threshold)
                listed, result, seconds = matched(store, threshold)
                numbers = [f"{len(pairs & truth):,}" for pairs in (truth, bands, listed)]
                counts = [f"{each.candidates:,}" for each in (result, plain)]
                times = [f"{value:.2f}" for value in (seconds, plain_seconds)]
                print(row([name, f"{len(texts):,}", f"{threshold:g}", *numbers, *counts, *times]))
            store.close()


if __name__ == "__main__":
    main()
