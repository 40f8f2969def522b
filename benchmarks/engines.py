"""What nearfold costs and finds inside OpenSearch, beside what the engine itself has for near duplicates.

    python benchmarks/engines.py [--documents 100000] [--lookups 240] [--server http://127.0.0.1:9200]

Without --server an OpenSearch with 2 GB of heap is started for the run, as the tests get theirs (tests/servers). Documents have
1.0 to 1.8 kB, near duplicates and look-alikes are planted, and the truth is exact: all documents with a Jaccard similarity of
4-grams of .8 or more, counted by brute force. One shard, merged to one segment.

index     bytes a document, all included (`_source` too), what that is above text alone, and seconds to send
lookup    the near duplicates of a document, at most 100, one after the other. `similar` judges candidates in the client by
          their texts, `rescore` in the engine by their sketches. Of the peers' settings the best on these lookups is shown
folding   a search of two words, ten hits, beside the same search unfolded
ingest    a bulk request of text with the pipeline, without, and of rows signed by nearfold, signing included
arrival   from sending one document to the first `similar` that finds it; the index refreshes as it does by default

What it makes on a given server, it deletes.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from engine_server import machine, server
from engine_texts import check, library, neighbours

from indexer.fingerprinting import fingerprint, fingerprints
from indexer.grouping import group
from indexer.installing import install, uninstall
from indexer.lookup import similar
from indexer.model import Blob, Document, Row
from indexer.recipe import DEFAULT
from indexer.results import search
from indexer.stages import Extracted, row_of
from indexer.stores import _engine_rows, bodies, open_store
from indexer.stores.installed import FOLD, MINHASH_SCORE, shared_name

THRESHOLD, LIMIT, BATCH = 0.8, 100, 500
BUCKETS = (512, 128)
TUNED = 60  # lookups on which the settings of the peers are chosen
Ask = Callable[[str], list[str]]


@dataclass(frozen=True)
class Lab:
    """One installed index and what was sent to it; `name` begins the names of all other indices."""

    store: Any
    name: str
    texts: list[str]

    def call(self, method: str, path: str, body: Any = None, **params: str) -> dict[str, Any]:
        return self.store._requests.get(method, path, body, params, seconds=900)

    def hits(self, index: str, body: dict[str, Any], **params: str) -> list[dict[str, Any]]:
        return self.call("POST", f"{index}/_search", body, **params)["hits"]["hits"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=240)
    parser.add_argument("--server", help="an OpenSearch of yours")
    given = parser.parse_args()
    random = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder, server(given.server) as url:
        os.environ["XDG_STATE_HOME"] = folder
        texts = library(given.documents, random)
        check(texts[:1000])
        print(f"{len(texts):,} documents of {statistics.mean(map(len, texts)):,.0f} characters; {machine()}", flush=True)
        with laboratory(url, texts) as lab:
            measure(lab, random.choice(len(texts), min(given.lookups, len(texts)), replace=False).tolist(), random)


@contextmanager
def laboratory(url: str, texts: list[str]) -> Iterator[Lab]:
    name = f"nearfold-benchmark-{secrets.token_hex(4)}"
    store: Any = open_store(f"opensearch://{url.partition('://')[2]}/{name}?replicas=0")
    lab = Lab(store, name, texts)
    print(f"OpenSearch {lab.call('GET', '/')['version']['number']}", flush=True)
    try:
        yield lab
    finally:
        for index in lab.call("GET", f"{name}*"):
            store._requests.ask("DELETE", index)
        uninstall(store)
        store.close()


def measure(lab: Lab, asked: Sequence[int], random: np.random.Generator) -> None:
    sizes = indexed(lab)
    truth = neighbours(lab.texts, asked, THRESHOLD)
    print(
        f"\nlookup    {len(asked)} lookups; {sum(map(len, truth))} true neighbours of {sum(map(bool, truth))} of them",
        flush=True,
    )
    looked_up(lab, sizes, asked, truth)
    folded(lab, random)
    ingested(lab)
    arrived(lab, random)
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"\nload of the machine over the last 1, 5 and 15 minutes: {loads}")


def row(lab: Lab, place: int, signed: Any) -> Row:
    name, text = f"{place:08}", lab.texts[place]
    blob = Blob(name, name.encode(), f"/library/{name}.txt", b"", len(text), 0)
    return row_of(Extracted(blob, name, "", Document(text)), signed, DEFAULT.id)


def indexed(lab: Lab) -> dict[str, float]:
    """Make every index, and print its size; bytes a document by name."""
    print(f"\n{'index':<10}{'':<34}{'bytes a document':>18}{'added':>8}{'seconds':>9}")
    install(lab.store)
    lab.store.prepare(DEFAULT)
    mapping = next(iter(lab.call("GET", f"{lab.name}/_mapping").values()))["mappings"]["properties"]
    plain = {name: field for name, field in mapping.items() if not name.startswith("near_")}
    sizes: dict[str, float] = {}
    began = time.perf_counter()
    for start in range(0, len(lab.texts), 1_000):
        part = fingerprints(lab.texts[start : start + 1_000])
        rows = [row(lab, start + place, part[place]) for place in range(len(part))]
        if any(lab.store.write(rows)):
            raise SystemExit("a document was refused")
    sizes["near"] = told(lab, lab.name, "text and near_* fields", None, began, len(lab.texts))
    settings = next(iter(lab.call("GET", f"{lab.name}/_settings").values()))["settings"]["index"]["analysis"]
    peers = [("text", "text alone", 0), *((f"min{n}", f"text and min_hash, {n} buckets", n) for n in BUCKETS)]
    for name, label, buckets in peers:
        began = time.perf_counter()
        lab.call("PUT", f"{lab.name}-{name}", plain_index(plain, settings, buckets))
        sent(lab, f"{lab.name}-{name}", range(len(lab.texts)), own=False)
        sizes[name] = told(lab, f"{lab.name}-{name}", label, sizes.get("text"), began, len(lab.texts))
    print(f"{'':<10}near_* fields add {sizes['near'] - sizes['text']:,.0f} bytes a document")
    return sizes


def plain_index(fields: dict[str, Any], analysis: dict[str, Any], buckets: int) -> dict[str, Any]:
    """The same index without near_* fields, its text once more through the engine's `min_hash` over the same 4-grams."""
    if buckets:
        sketch = {"type": "text", "analyzer": "sketch", "norms": False, "index_options": "docs"}
        fields = {**fields, "text": {**fields["text"], "fields": {"sketch": sketch}}}
        blanks = {"type": "pattern_replace", "pattern": r"\s+", "replacement": ""}
        analysis = {
            "char_filter": {**analysis.get("char_filter", {}), "blanks": blanks},
            "tokenizer": {"grams": {"type": "ngram", "min_gram": 4, "max_gram": 4}},
            "filter": {"slots": {"type": "min_hash", "hash_count": 1, "bucket_count": buckets, "hash_set_size": 1}},
            "analyzer": {
                **analysis["analyzer"],
                "sketch": {"type": "custom", "char_filter": ["blanks"], "tokenizer": "grams", "filter": ["lowercase", "slots"]},
            },
        }  # fmt: skip
    index = {"number_of_shards": 1, "number_of_replicas": 0}
    return {"settings": {"index": index, "analysis": analysis}, "mappings": {"dynamic": False, "properties": fields}}


def sent(lab: Lab, index: str, places: Sequence[int], own: bool, pipeline: str = "_none") -> None:
    """Documents by bulk requests: `own` rows signed by nearfold, or the fields any client sends."""
    for start in range(0, len(places), BATCH):
        part = places[start : start + BATCH]
        if own:
            signed = fingerprints([lab.texts[place] for place in part])
            documents = [_engine_rows.source(row(lab, place, one)) for place, one in zip(part, signed, strict=True)]
        else:
            documents = [{"path": f"/library/{place:08}.txt", "text": lab.texts[place]} for place in part]
        lines: list[Any] = []
        for place, document in zip(part, documents, strict=True):
            lines += [{"index": {"_id": f"{place:08}"}}, document]
        if lab.call("POST", f"{index}/_bulk", lines, pipeline=pipeline)["errors"]:
            raise SystemExit("a document was refused")


def told(lab: Lab, index: str, label: str, base: float | None, began: float, documents: int) -> float:
    """Merge, and print a line about the index."""
    seconds = time.perf_counter() - began
    lab.call("POST", f"{index}/_forcemerge", max_num_segments="1")
    lab.call("POST", f"{index}/_refresh")
    size = lab.call("GET", f"{index}/_stats/store")["_all"]["primaries"]["store"]["size_in_bytes"] / documents
    added = "" if base is None else f"{size - base:,.0f}"
    print(f"{'':<10}{label:<34}{size:>18,.0f}{added:>8}{seconds:>9.0f}", flush=True)
    return size


def looked_up(lab: Lab, sizes: dict[str, float], asked: Sequence[int], truth: Sequence[set[int]]) -> None:
    """A line for each way of looking up."""
    print(f"{'':<10}{'':<34}{'p50 ms':>8}{'p99 ms':>8}{'recall':>8}{'precision':>11}{'added bytes':>13}")
    near = sizes["near"] - sizes["text"]
    line(lab, "nearfold, similar", lambda text: in_client(lab, text), asked, truth, near)
    line(lab, "nearfold, rescore in the engine", lambda text: in_engine(lab, text), asked, truth, near)
    for buckets in BUCKETS:
        ways = {
            f"min_hash {buckets}, {share} %": alike(lab, f"{lab.name}-min{buckets}", "text.sketch", buckets, share)
            for share in (60, 70, 75, 80, 85, 90)
        }
        label = best(lab, ways, asked, truth)
        line(lab, label, ways[label], asked, truth, sizes[f"min{buckets}"] - sizes["text"])
    line(lab, "more_like_this, defaults", alike(lab, f"{lab.name}-text", "text"), asked, truth, 0)
    ways = {
        f"more_like_this, {terms} terms, {share} %": alike(lab, f"{lab.name}-text", "text", terms, share)
        for terms in (25, 100)
        for share in (70, 80, 90, 95)
    }
    label = best(lab, ways, asked, truth)
    line(lab, label, ways[label], asked, truth, 0)


def in_client(lab: Lab, text: str) -> list[str]:
    return [match.id for match in similar(lab.store, text, threshold=THRESHOLD, limit=LIMIT).matches]


def in_engine(lab: Lab, text: str) -> list[str]:
    """Candidates and scores by one request, as docs/cluster.md has it."""
    signed = fingerprint(text)
    found = bodies.candidates(bodies.keys(signed.bands, signed.blocks), DEFAULT.id, LIMIT)
    minhash = _engine_rows.source(row_of(Extracted(Blob("", b"", "", b"", 0, 0), "", "", Document(text)), signed, DEFAULT.id))
    script = {"id": MINHASH_SCORE, "params": {"minhash": minhash["near_minhash"]}}
    rescore = {"query_weight": 0, "rescore_query": {"script_score": {"query": {"match_all": {}}, "script": script}}}
    body = {"size": LIMIT, "_source": False, "query": found["query"], "rescore": {"window_size": 1_000, "query": rescore}}
    return [hit["_id"] for hit in lab.hits(lab.name, body) if hit["_score"] >= THRESHOLD]


def alike(lab: Lab, index: str, field: str, terms: int | None = None, share: int | None = None) -> Ask:
    """`more_like_this`, with its own defaults or so many terms and so large a share of them."""
    chosen = {} if terms is None else {
        "max_query_terms": terms, "min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": f"{share}%",
    }  # fmt: skip

    def ask(text: str) -> list[str]:
        body = {"size": LIMIT + 1, "_source": False, "query": {"more_like_this": {"fields": [field], "like": text, **chosen}}}
        return [hit["_id"] for hit in lab.hits(index, body)]

    return ask


def best(lab: Lab, ways: dict[str, Ask], asked: Sequence[int], truth: Sequence[set[int]]) -> str:
    """The way with the highest F1 on the first lookups."""

    def f1(ask: Ask) -> float:
        recall, precision, _ = judged(lab, ask, asked[:TUNED], truth)
        return 2 * recall * precision / max(recall + precision, 1e-9)

    return max(ways, key=lambda label: f1(ways[label]))


def line(lab: Lab, label: str, ask: Ask, asked: Sequence[int], truth: Sequence[set[int]], added: float) -> None:
    judged(lab, ask, asked[:20], truth)  # warms up
    recall, precision, times = judged(lab, ask, asked, truth)
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    print(f"{'':<10}{label:<34}{p50:>8.1f}{p99:>8.1f}{recall:>8.3f}{precision:>11.3f}{added:>13,.0f}", flush=True)


def judged(lab: Lab, ask: Ask, asked: Sequence[int], truth: Sequence[set[int]]) -> tuple[float, float, list[float]]:
    """Recall and precision over all pairs, and the seconds of each lookup."""
    right = found = true = 0
    times = []
    for place, near in zip(asked, truth, strict=False):
        began = time.perf_counter()
        answer = ask(lab.texts[place])
        times.append(time.perf_counter() - began)
        others = {int(one) for one in answer} - {place}
        right, found, true = right + len(others & near), found + len(others), true + min(len(near), LIMIT)
    return right / max(true, 1), right / max(found, 1), times


def folded(lab: Lab, random: np.random.Generator, queries: int = 60) -> None:
    """A line for each way of folding, after families are made."""
    began = time.perf_counter()
    made = group(lab.store)
    lab.store.refresh()
    print(f"\nfolding   {made.families:,} families made and written by group in {time.perf_counter() - began:.0f} s")
    chosen = [lab.texts[place].lower().replace(".", "").split() for place in random.integers(0, len(lab.texts), queries)]
    words = [" ".join(random.choice(text, 2)) for text in chosen]
    collapse = {"collapse": {"field": "near_family"}}
    inner = {"collapse": {"field": "near_family", "inner_hits": {"name": "folded", "size": 3, "_source": ["path"]}}}
    fields = ["path", "near_family"]
    ways: dict[str, Callable[[str], object]] = {
        "unfolded": lambda two: lab.hits(lab.name, asking(two, fields)),
        "collapse": lambda two: lab.hits(lab.name, {**asking(two, fields), **collapse}),
        "collapse with inner_hits": lambda two: lab.hits(lab.name, {**asking(two, fields), **inner}),
        "search pipeline": lambda two: lab.hits(lab.name, asking(two, fields), search_pipeline=FOLD),
        "nearfold search, none": lambda two: search(lab.store, two, fold="none"),
        "nearfold search, family": lambda two: search(lab.store, two, fold="family"),
        "nearfold search, live": lambda two: search(lab.store, two, fold="live"),
    }
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for place, two in enumerate([*words[:10], *words]):
        ways["unfolded"](two)  # so that none of them pays for reading what the others find read
        turned = list(ways)[place % len(ways) :] + list(ways)[: place % len(ways)]
        for way in turned:
            began = time.perf_counter()
            ways[way](two)
            if place >= 10:
                seen[way].append(time.perf_counter() - began)
    print(f"{'':<10}{'':<34}{'p50 ms':>8}{'p99 ms':>8}{'ratio':>8}")
    for way, times in seen.items():
        base = seen["nearfold search, none" if way.startswith("nearfold") else "unfolded"]
        p50, p99 = np.percentile(times, [50, 99]) * 1e3
        print(f"{'':<10}{way:<34}{p50:>8.1f}{p99:>8.1f}{p50 / 1e3 / statistics.median(base):>8.2f}", flush=True)


def asking(words: str, fields: list[str]) -> dict[str, Any]:
    return {"size": 10, "query": {"match": {"text": words}}, "_source": fields}


def ingested(lab: Lab, documents: int = 5_000) -> None:
    """Milliseconds a document, the ways taking turns batch by batch."""
    print(f"\n{'ingest':<10}{'':<34}{'ms a document':>15}")
    made = next(iter(lab.call("GET", lab.name).values()))
    settings = {"analysis": made["settings"]["index"]["analysis"], "number_of_shards": 1, "number_of_replicas": 0}
    ways = {
        "text alone": (False, "_none"),
        "text, signed by the pipeline": (False, shared_name(DEFAULT)),
        "rows signed by nearfold": (True, "_none"),
    }
    seconds = dict.fromkeys(ways, 0.0)
    for number in range(len(ways)):
        lab.call("PUT", f"{lab.name}-cost{number}", {"settings": settings, "mappings": made["mappings"]})
    places = range(min(documents, len(lab.texts)))
    for start in range(0, len(places), BATCH):
        for number, (way, (own, pipeline)) in enumerate(ways.items()):
            began = time.perf_counter()
            sent(lab, f"{lab.name}-cost{number}", places[start : start + BATCH], own, pipeline)
            seconds[way] += (time.perf_counter() - began) * (start > 0)  # the first warms up
    for way, took in seconds.items():
        print(f"{'':<10}{way:<34}{took / (len(places) - BATCH) * 1e3:>15.2f}", flush=True)


def arrived(lab: Lab, random: np.random.Generator, trials: int = 20) -> None:
    """Seconds from a plain PUT through the pipeline to the first look-up that finds it."""
    seconds = []
    for number, text in enumerate(library(trials, random)):
        time.sleep(random.uniform(0, 1))
        began = time.perf_counter()
        lab.call("PUT", f"{lab.name}-write/_doc/new-{number}", {"text": text}, pipeline=shared_name(DEFAULT))
        while f"new-{number}" not in in_client(lab, text):
            time.sleep(0.01)
        seconds.append(time.perf_counter() - began)
    median, longest = statistics.median(seconds), max(seconds)
    print(f"\narrival   seconds until found, {trials} documents: median {median:.2f}, longest {longest:.2f}")


if __name__ == "__main__":
    main()
