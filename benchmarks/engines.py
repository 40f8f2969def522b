"""Cost and recall of nearfold inside OpenSearch, beside what the engine itself has for near
duplicates.

    python benchmarks/engines.py [--documents 100000] [--lookups 240] [--searches 60]
        [--arrivals 20] [--server URL]

Without --server an OpenSearch with 2 GB of heap is started for the run, as the tests get theirs
(tests/servers). Documents have 0.9 to 2.4 kB, near duplicates and look-alikes are synthetic, and
the truth is exact: all documents that share .8 or more of the longer one's words in the same order
(the measure `lcs`), by comparing each with all. One shard, merged to one segment.

index     bytes a document, all included (`_source` too), what that is above text alone, and seconds
          to send
lookup    the near duplicates of a document, at most 100, one after the other. `similar` judges
          candidates in the client by their texts, `equal slots` in the engine by their sketches.
          Of the settings of all but `similar` the best on these lookups is shown
folding   a search of two words, ten hits, beside the same search unfolded
ingest    a bulk request of text with the pipeline, without, and of rows signed by nearfold, signing
          included
arrival   from sending one document to the first `similar` that finds it; the index refreshes as it
          does by default

What it makes on a given server, it deletes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from engine_lab import BATCH, Lab, laboratory, machine, merge_segments, row, send, server
from engine_lookups import BUCKETS, THRESHOLD, WARMING, in_client, measure_lookups
from engine_texts import check, library, neighbours

from indexer.grouping.group import group
from indexer.operations.install import install
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.sketch.fingerprint import fingerprints
from indexer.stores.engine.installation import FOLD, shared_name


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=240)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--arrivals", type=int, default=20)
    parser.add_argument("--server", help="an OpenSearch of yours")
    options = parser.parse_args()
    random = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder, server(options.server) as url:
        os.environ["XDG_STATE_HOME"] = folder
        texts = library(options.documents, random)
        check(texts[:1000])
        print(
            f"{len(texts):,} documents of {statistics.mean(map(len, texts)):,.0f} characters; "
            f"{machine()}",
            flush=True,
        )
        with laboratory(url, texts) as lab:
            queries = random.choice(
                len(texts), min(options.lookups, len(texts)), replace=False
            ).tolist()
            measure(lab, queries)
            time_folding(lab, random, options.searches)
            time_ingesting(lab)
            time_arrivals(lab, random, options.arrivals)
        loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
        print(f"\nload of the machine over the last 1, 5 and 15 minutes: {loads}")


def measure(lab: Lab, queries: Sequence[int]) -> None:
    """Measure every index and its size, and look-ups beside the truth."""
    sizes = make_indexes(lab)
    truth = neighbours(lab.texts, queries, THRESHOLD)
    pairs, with_some = sum(map(len, truth)), sum(map(bool, truth))
    print(
        f"\nlookup    {len(queries)} lookups; {pairs} true neighbours of {with_some} of them",
        flush=True,
    )
    measure_lookups(lab, sizes, queries, truth)


def make_indexes(lab: Lab) -> dict[str, float]:
    """Make every index, and print its size; bytes a document by name."""
    print(f"\n{'index':<10}{'':<34}{'bytes a document':>18}{'added':>8}{'seconds':>9}")
    install(lab.store)
    lab.store.prepare(DEFAULT)
    (index_body,) = lab.call("GET", lab.name).values()
    fields = {
        name: field
        for name, field in index_body["mappings"]["properties"].items()
        if not name.startswith("near_")
    }
    sizes: dict[str, float] = {}
    for name, label, buckets in (
        ("text", "text alone", 0),
        ("near", "text and near_* fields", 0),
        *((f"min{n}", f"text and min_hash, {n} buckets", n) for n in BUCKETS),
    ):
        index = lab.name if name == "near" else f"{lab.name}-{name}"
        start_time = time.perf_counter()
        if name == "near":
            write_rows(lab)
        else:
            lab.call(
                "PUT",
                index,
                plain_index(fields, index_body["settings"]["index"]["analysis"], buckets),
            )
            send(lab, index, range(len(lab.texts)), is_signed=False)
        took = time.perf_counter() - start_time
        sizes[name] = bytes_a_document(lab, index)
        added = sizes[name] - sizes["text"]
        print(f"{'':<10}{label:<34}{sizes[name]:>18,.0f}{added:>8,.0f}{took:>9.0f}", flush=True)
    return sizes


def write_rows(lab: Lab) -> None:
    """Write all documents as nearfold does."""
    for start in range(0, len(lab.texts), 1_000):
        part = fingerprints(lab.texts[start : start + 1_000])
        if any(
            lab.store.write([row(lab, start + place, part[place]) for place in range(len(part))])
        ):
            raise SystemExit("a document was refused")


def plain_index(fields: dict[str, Any], analysis: dict[str, Any], buckets: int) -> dict[str, Any]:
    """The same index without near_* fields, its text once more through the engine's `min_hash` over
    the same 4-grams.
    """
    if buckets:
        sketch = {"type": "text", "analyzer": "sketch", "norms": False, "index_options": "docs"}
        fields = {**fields, "text": {**fields["text"], "fields": {"sketch": sketch}}}
        blanks = {"type": "pattern_replace", "pattern": r"\s+", "replacement": ""}
        analysis = {
            "char_filter": {**analysis.get("char_filter", {}), "blanks": blanks},
            "tokenizer": {"grams": {"type": "ngram", "min_gram": 4, "max_gram": 4}},
            "filter": {
                "slots": {
                    "type": "min_hash",
                    "hash_count": 1,
                    "bucket_count": buckets,
                    "hash_set_size": 1,
                }
            },
            "analyzer": {
                **analysis["analyzer"],
                "sketch": {
                    "type": "custom",
                    "char_filter": ["blanks"],
                    "tokenizer": "grams",
                    "filter": ["lowercase", "slots"],
                },
            },
        }
    index = {"number_of_shards": 1, "number_of_replicas": 0}
    return {
        "settings": {"index": index, "analysis": analysis},
        "mappings": {"dynamic": False, "properties": fields},
    }


def bytes_a_document(lab: Lab, index: str) -> float:
    """Bytes a document, in one segment."""
    return merge_segments(lab.store, index) / len(lab.texts)


def time_folding(lab: Lab, random: np.random.Generator, queries: int) -> None:
    """A line for each way of folding, after families are made."""
    start_time = time.perf_counter()
    result = group(lab.store)
    took = time.perf_counter() - start_time
    size = bytes_a_document(lab, lab.name)
    start_time = time.perf_counter()
    changed = group(lab.store).changed
    again = time.perf_counter() - start_time
    print(
        f"\nfolding   {result.families:,} families made and written by group in {took:.0f} s; "
        f"then {size:,.0f} bytes a document\n"
        f"{'':<10}group again: {again:.0f} s, {changed:,} changed"
    )
    chosen = [
        lab.texts[place].lower().replace(".", "").split()
        for place in random.integers(0, len(lab.texts), queries + WARMING)
    ]
    words = [" ".join(random.choice(text, 2)) for text in chosen]
    collapse = {"collapse": {"field": "near_family"}}
    inner = {
        "collapse": {
            "field": "near_family",
            "inner_hits": {"name": "folded", "size": 3, "_source": ["path"]},
        }
    }
    fields = ["path", "near_family"]
    ways: dict[str, Callable[[str], object]] = {
        "unfolded": lambda two: lab.hits(lab.name, asking(two, fields)),
        "collapse": lambda two: lab.hits(lab.name, {**asking(two, fields), **collapse}),
        "collapse with inner_hits": lambda two: lab.hits(
            lab.name, {**asking(two, fields), **inner}
        ),
        "search pipeline": lambda two: lab.hits(
            lab.name, asking(two, fields), search_pipeline=FOLD
        ),
        "nearfold search, none": lambda two: search(lab.store, two, SearchOptions(fold="none")),
        "nearfold search, family": lambda two: search(lab.store, two, SearchOptions(fold="family")),
        "nearfold search, live": lambda two: search(lab.store, two, SearchOptions(fold="live")),
    }
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for place, two in enumerate(words):
        ways["unfolded"](two)  # so that none of them pays for reading what the others find read
        turned = list(ways)[place % len(ways) :] + list(ways)[: place % len(ways)]
        for way in turned:
            start_time = time.perf_counter()
            ways[way](two)
            if place >= WARMING:
                seen[way].append(time.perf_counter() - start_time)
    print(f"{'':<10}{'':<34}{'p50 ms':>8}{'p99 ms':>8}{'ratio':>8}")
    for way, times in seen.items():
        base = seen["nearfold search, none" if way.startswith("nearfold") else "unfolded"]
        p50, p99 = np.percentile(times, [50, 99]) * 1e3
        print(
            f"{'':<10}{way:<34}{p50:>8.1f}{p99:>8.1f}{p50 / 1e3 / statistics.median(base):>8.2f}",
            flush=True,
        )


def asking(words: str, fields: list[str]) -> dict[str, Any]:
    return {"size": 10, "query": {"match": {"text": words}}, "_source": fields}


def time_ingesting(lab: Lab, documents: int = 5_000) -> None:
    """Milliseconds a document, the ways taking turns batch by batch."""
    print(f"\n{'ingest':<10}{'':<34}{'ms a document':>15}")
    index_body = next(iter(lab.call("GET", lab.name).values()))
    settings = {
        "analysis": index_body["settings"]["index"]["analysis"],
        "number_of_shards": 1,
        "number_of_replicas": 0,
    }
    ways = {
        "text alone": (False, "_none"),
        "text, signed by the pipeline": (False, shared_name(DEFAULT)),
        "rows signed by nearfold": (True, "_none"),
    }
    seconds = dict.fromkeys(ways, 0.0)
    for number in range(len(ways)):
        lab.call(
            "PUT",
            f"{lab.name}-cost{number}",
            {"settings": settings, "mappings": index_body["mappings"]},
        )
    places = range(min(documents, len(lab.texts)))
    for start in range(0, len(places), BATCH):
        for number, (way, (is_signed, pipeline)) in enumerate(ways.items()):
            start_time = time.perf_counter()
            send(
                lab, f"{lab.name}-cost{number}", places[start : start + BATCH], is_signed, pipeline
            )
            seconds[way] += (time.perf_counter() - start_time) * (start > 0)  # the first warms up
    for way, took in seconds.items():
        print(f"{'':<10}{way:<34}{took / (len(places) - BATCH) * 1e3:>15.2f}", flush=True)


def time_arrivals(lab: Lab, random: np.random.Generator, trials: int) -> None:
    """Seconds from a plain PUT through the pipeline to the first look-up that finds it."""
    seconds = []
    for number, text in enumerate(library(trials, random)):
        time.sleep(random.uniform(0, 1))
        start_time = time.perf_counter()
        lab.call(
            "PUT",
            f"{lab.name}-write/_doc/new-{number}",
            {"text": text},
            pipeline=shared_name(DEFAULT),
        )
        while f"new-{number}" not in in_client(lab, text):
            time.sleep(0.01)
        seconds.append(time.perf_counter() - start_time)
    median, longest = statistics.median(seconds), max(seconds)
    print(
        f"\narrival   seconds until found, {trials} documents: median {median:.2f}, longest "
        f"{longest:.2f}"
    )


if __name__ == "__main__":
    main()
