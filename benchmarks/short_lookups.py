"""Recall and cost of `similar` for texts of fewer than twenty words: tables of
docs/decisions/020-short-texts.md.

    python benchmarks/short_lookups.py [--texts 2500] [--thresholds 0.6,0.7,0.8,0.9]
    python benchmarks/short_lookups.py --rows 100000 [--store URL] [--lookups 300]

Texts are those of `short_texts.py`, from five words on. Without `--rows` each corpus is a store of
its own, every text is looked up, and every pair is measured: printed are the pairs at a threshold
of `lcs` of which one text is short, each looked up from both sides, how many are found by stored
keys alone and by words too, and processor milliseconds of a look-up in either way.

With `--rows` one store, an empty one, is filled with the texts of all corpora, and with copies of
them in which one to four words are others. Printed are milliseconds of a look-up, in either way by
turns, each in a store that is opened anew: processor time in SQLite, elapsed time in a search
engine.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

from quality_tables import head, row
from short_pairs import fill_store, true_pairs
from short_texts import CORPORA, sample

from indexer.searching import similar as lookup
from indexer.searching.similar import SimilarOptions, similar, similar_many
from indexer.stores import open_store
from indexer.stores.base import Store

WAYS = ("by keys", "by words")
COLUMNS = ["corpus", "texts", "lcs", "pairs", "by keys", "by words", "ms by keys", "ms by words"]
MOST = 1_000_000  # matches of a look-up
AT_ONCE = 20_000
SEED = 5


def in_way(way: str):
    """Return the context in which short texts are looked up in one way."""
    if way == "by words":
        return nullcontext()
    return patch.object(lookup, "looks_up_words", lambda *settings: False)


def recall(texts: list[str], thresholds: list[float], name: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder)}/x.db")
        fill_store(store, texts)
        ids = [f"{place:09}" for place in range(len(texts))]
        for threshold in thresholds:
            pairs = true_pairs(texts, threshold)
            directed = pairs | {(b, a) for a, b in pairs}
            found, costs = [], []
            for way in WAYS:
                with in_way(way):
                    started = time.process_time()
                    options = SimilarOptions(threshold, limit=MOST)
                    matches = {
                        (int(result.query), int(match.id))
                        for result in similar_many(store, ids=ids, options=options)
                        for match in result.matches
                    }
                    seconds = time.process_time() - started
                found.append(f"{len(matches & directed):,}")
                costs.append(f"{1000 * seconds / len(ids):.2f}")
            yield row(
                [name, f"{len(ids):,}", f"{threshold:g}", f"{len(directed):,}", *found, *costs]
            )
        store.close()


def many_texts(count: int) -> list[str]:
    """Return texts of all corpora, and of these with some words changed."""
    readers = [read for group in CORPORA.values() for read in group.values()]
    originals = list(dict.fromkeys(text for read in readers for text in read() if text.split()))
    chance = random.Random(SEED)
    chance.shuffle(originals)
    texts = originals[:count]
    words = [word for text in originals[:5_000] for word in text.split()]
    while len(texts) < count:
        changed = chance.choice(originals).split()
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.choice(words)
        texts.append(" ".join(changed))
    return texts


def cost(url: str, ids: list[str], thresholds: list[float]) -> Iterator[str]:
    clock = time.process_time if url.startswith("sqlite") else time.perf_counter
    for threshold in thresholds:
        times: dict[str, list[float]] = {way: [] for way in WAYS}
        matches = dict.fromkeys(WAYS, 0)
        for id in ids:
            for way in WAYS:
                store = open_store(url)
                store.counts()  # connects
                with in_way(way):
                    started = clock()
                    result = similar(store, id=id, options=SimilarOptions(threshold))
                    times[way].append(1000 * (clock() - started))
                matches[way] += len(result.matches)
                store.close()
        for way in WAYS:
            ordered = sorted(times[way])
            percentiles = [ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.95, 1)]
            milliseconds = [f"{value:.1f}" for value in percentiles]
            yield row([f"{threshold:g}", way, f"{matches[way]:,}", *milliseconds])


def fill(store: Store, texts: list[str]) -> None:
    for start in range(0, len(texts), AT_ONCE):
        fill_store(store, texts[start : start + AT_ONCE], start)
    store.refresh()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=2500, help="of a corpus")
    parser.add_argument("--thresholds", default="0.6,0.7,0.8,0.9")
    parser.add_argument("--rows", type=int, help="of one store, to measure time")
    parser.add_argument("--store", help="an empty one; default: a file in SQLite")
    parser.add_argument("--lookups", type=int, default=300)
    options = parser.parse_args()
    thresholds = list(map(float, options.thresholds.split(",")))
    if options.rows is None:
        print("\n".join(head(COLUMNS)))
        for name, read in {**CORPORA["seen"], **CORPORA["unseen"]}.items():
            texts = sample(read(), options.texts)
            if len(texts) >= 100:
                for line in recall(texts, thresholds, name):
                    print(line, flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        url = options.store or f"sqlite:///{Path(folder)}/x.db"
        store = open_store(url)
        fill(store, many_texts(options.rows))
        store.close()
        print("\n".join(head(["lcs", "look-up", "matches", "p50 ms", "p95 ms", "most ms"])))
        places = random.Random(SEED).sample(range(options.rows), options.lookups)
        for line in cost(url, [f"{place:09}" for place in places], thresholds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
