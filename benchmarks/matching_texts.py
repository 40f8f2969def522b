"""Matching and grouping from texts in a store's file, with the memory they take.

    python benchmarks/matching_texts.py [--documents 10000] [--words 300] [--threshold 0.5]
        [--memory 512] [--jobs match,group]

Texts of made-up words, half of them in families of edited copies, are signed into an SQLite file;
then the jobs run over it. Memory is the peak of what the process holds for itself less what it held
before, mapped temporary files apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from synthetic_collections import random_texts
from watching import Watch

from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.matching.match import MatchOptions, match
from indexer.model import Blob, Document
from indexer.recipe import DEFAULT
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store
from indexer.stores.base import Store

PART = 5000


def fill_store(folder: str, documents: int, words: int) -> Store:
    """A store of so many documents; texts are made and random_texts a part at a time."""
    random = np.random.default_rng(9)
    store = open_store(f"sqlite:///{folder}/x.db")
    store.prepare(DEFAULT)
    for start in range(0, documents, PART):
        texts = random_texts(min(PART, documents - start), words, random)
        signed = fingerprints(texts)
        rows = []
        for place, text in enumerate(texts):
            name = f"{start + place:09}"
            blob = Blob(name, name.encode(), f"/{name}", b"", len(text), 0)
            rows.append(
                row_of(ExtractedBlob(blob, name, "", Document(text)), signed[place], DEFAULT.id)
            )
        store.write(rows)
    return store


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--memory", type=int, default=512)
    parser.add_argument("--jobs", default="match,exact,complete,group")
    chosen = parser.parse_args()
    threshold, memory = chosen.threshold, chosen.memory
    jobs: dict[str, Callable[[Store], object]] = {
        "match": lambda store: match(store, MatchOptions(threshold), memory=memory),
        "exact": lambda store: match(store, MatchOptions(threshold, exact=True), memory=memory),
        "complete": lambda store: match(
            store, MatchOptions(threshold, all_pairs=True), memory=memory
        ),
        "group": lambda store: group(
            store, GroupOptions(threshold=max(chosen.threshold, 0.8)), memory=chosen.memory
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        start_time = time.perf_counter()
        store = fill_store(folder, chosen.documents, chosen.words)
        size = Path(folder, "x.db").stat().st_size / 1e6
        print(
            f"{chosen.documents:,} documents of {chosen.words} words, an SQLite file of "
            f"{size:,.0f} MB"
        )
        print(
            f"random_texts in {time.perf_counter() - start_time:,.0f} s; at {chosen.threshold:g}, "
            f"--memory {chosen.memory}\n"
        )
        print(f"{'':10}{'seconds':>9}{'CPU s':>9}{'own MB':>9}{'resident MB':>13}", flush=True)
        pairs: dict[str, set[tuple[str, str]]] = {}
        for name in chosen.jobs.split(","):
            with Watch() as watch:
                done = jobs[name](store)
            is_group = name == "group"
            outcome = f"{done.families:,} families" if is_group else f"{len(done):,} pairs"  # type: ignore
            print(
                f"{name:10}{watch.seconds:9.1f}{watch.busy:9.1f}{watch.own:9.0f}"
                f"{watch.resident:13.0f}  {outcome}",
                flush=True,
            )
            if name in ("exact", "complete"):
                pairs[name] = {(pair.a, pair.b) for pair in done}  # type: ignore
        if len(pairs) == 2:
            share = len(pairs["exact"] & pairs["complete"]) / max(1, len(pairs["complete"]))
            print(
                f"\nof the complete mode's {len(pairs['complete']):,} pairs the bands find "
                f"{share:.2%}"
            )
        store.close()


if __name__ == "__main__":
    main()
