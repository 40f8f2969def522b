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
folding   a search of two words, ten hits, beside the same search unfolded; and all documents,
          re-scored by the installed scripts, which read the sketch of each one in the window
ingest    a bulk request of text with the pipeline, without, and of rows signed by nearfold, signing
          included
arrival   from sending one document to the first `similar` that finds it; the index refreshes as it
          does by default

What it makes on a given server, it deletes.
"""

from __future__ import annotations

import base64
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from corpora import library, neighbours, signed_rows
from harness import arguments, engine, machine, merge_segments, seconds_of

from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import pack_slots, signed64
from indexer.grouping.group import group
from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.engine import search_bodies
from indexer.stores.engine.asset_bodies import FOLD, MINHASH8_SCORE, SIMHASH_SCORE, shared_name
from indexer.stores.engine.rows import source

BATCH = 500
THRESHOLD, LIMIT = 0.8, 100
BUCKETS = (512, 128)  # of `min_hash`
TUNED = 60  # lookups on which the settings of the peers are chosen
ALL: dict[str, Any] = {"match_all": {}}
WARMING = 300  # lookups and searches of other texts before those that are timed
Lookup = Callable[[str], list[str]]
Truth = Sequence[set[int]]


@dataclass(frozen=True)
class Lab:
    """One installed index and what was sent to it; `name` begins the names of all other indices."""

    store: Any
    name: str
    texts: list[str]

    def call(self, method: str, path: str, body: Any = None, **params: str) -> dict[str, Any]:
        return self.store.index.requests.call(method, path, body, params, seconds=900)

    def hits(self, index: str, body: dict[str, Any], **params: str) -> list[dict[str, Any]]:
        return self.call("POST", f"{index}/_search", body, **params)["hits"]["hits"]

    def described(self) -> dict[str, Any]:
        """Return settings and mappings of the installed index."""
        (body,) = self.call("GET", self.name).values()
        return body

    def named(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        return [(f"{number:08}", self.texts[number]) for number in numbers]

    def send(
        self, index: str, numbers: Sequence[int], is_signed: bool, pipeline: str = "_none"
    ) -> None:
        """Send documents by bulk requests: rows that nearfold signed, or fields as any client."""
        for start in range(0, len(numbers), BATCH):
            named = self.named(numbers[start : start + BATCH])
            if is_signed:
                fields = [source(row) for row in signed_rows(named)]
            else:
                fields = [plain_fields(name, text) for name, text in named]
            lines: list[Any] = []
            for (name, _), document in zip(named, fields, strict=True):
                lines += [{"index": {"_id": name}}, document]
            if self.call("POST", f"{index}/_bulk", lines, pipeline=pipeline)["errors"]:
                raise SystemExit("a document was refused")


def plain_fields(name: str, text: str) -> dict[str, Any]:
    """Return a document as any client sends it, with the fields that a row has beside `near_*`."""
    return {"title": name, "path": f"/synthetic/{name}.txt", "text": text, "size": len(text)}


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
            store.index.requests.send("DELETE", index)
        uninstall(store)
        store.close()


# index


def make_indices(lab: Lab) -> dict[str, float]:
    """Make every index, and print its size; return the bytes a document by name."""
    print(f"\n{'index':<10}{'':<34}{'bytes a document':>18}{'added':>8}{'seconds':>9}")
    install(lab.store)
    lab.store.prepare(DEFAULT)
    body, everything = lab.described(), range(len(lab.texts))
    kinds = [("text", "text alone", 0), ("near", "text and near_* fields", 0)]
    kinds += [(f"min{count}", f"text and min_hash, {count} buckets", count) for count in BUCKETS]
    bytes_by_name: dict[str, float] = {}
    for name, label, buckets in kinds:
        started = time.perf_counter()
        index = lab.name
        if name == "near":
            for start in everything[::1000]:
                if any(lab.store.write(signed_rows(lab.named(everything[start : start + 1000])))):
                    raise SystemExit("a document was refused")
        else:
            index = f"{lab.name}-{name}"
            lab.call("PUT", index, plain_index(body, buckets))
            lab.send(index, everything, is_signed=False)
        took = time.perf_counter() - started
        size = bytes_by_name[name] = merge_segments(lab.store, index) / len(lab.texts)
        added = size - bytes_by_name["text"]
        print(f"{'':<10}{label:<34}{size:>18,.0f}{added:>8,.0f}{took:>9.0f}", flush=True)
    return bytes_by_name


def plain_index(body: dict[str, Any], buckets: int) -> dict[str, Any]:
    """Return the same index without `near_*` fields, its text once more through the engine's
    `min_hash` over the same 4-grams.
    """
    properties = body["mappings"]["properties"]
    fields = {name: field for name, field in properties.items() if name[:5] != "near_"}
    analysis = body["settings"]["index"]["analysis"]
    if buckets:
        sketch = {"type": "text", "analyzer": "sketch", "norms": False, "index_options": "docs"}
        fields["text"] = {**fields["text"], "fields": {"sketch": sketch}}
        blanks = {"type": "pattern_replace", "pattern": r"\s+", "replacement": ""}
        slots = {"type": "min_hash", "hash_count": 1, "bucket_count": buckets, "hash_set_size": 1}
        steps = {"char_filter": ["blanks"], "tokenizer": "grams", "filter": ["lowercase", "slots"]}
        analysis = {
            "char_filter": {**analysis.get("char_filter", {}), "blanks": blanks},
            "tokenizer": {"grams": {"type": "ngram", "min_gram": 4, "max_gram": 4}},
            "filter": {"slots": slots},
            "analyzer": {**analysis["analyzer"], "sketch": {"type": "custom", **steps}},
        }
    index = {"number_of_shards": 1, "number_of_replicas": 0}
    return {
        "settings": {"index": index, "analysis": analysis},
        "mappings": {"dynamic": False, "properties": fields},
    }


# lookup


def measure_lookups(
    lab: Lab, bytes_by_name: dict[str, float], queries: Sequence[int], truth: Truth
) -> None:
    """Print a line for each way of looking up; of several settings for the best one."""
    print(f"{'':<44}{'p50 ms':>8}{'p99 ms':>8}{'recall':>8}{'precision':>11}{'added bytes':>13}")
    text = f"{lab.name}-text"
    added = {name: size - bytes_by_name["text"] for name, size in bytes_by_name.items()}
    ways: list[tuple[float, dict[str, Lookup]]] = [
        (added["near"], {"nearfold, similar": partial(in_client, lab)}),
        (
            added["near"],
            {
                f"equal slots in the engine, {percent} %": partial(in_engine, lab, percent)
                for percent in (10, 20, 30, 40, 50, 60)
            },
        ),
    ]
    for count in BUCKETS:
        index = f"{lab.name}-min{count}"
        settings = {
            f"min_hash {count}, {percent} %": partial(
                alike, lab, index, "text.sketch", count, percent
            )
            for percent in (60, 70, 75, 80, 85, 90)
        }
        ways.append((added[f"min{count}"], settings))
    ways.append((0, {"more_like_this, defaults": partial(alike, lab, text, "text", None, None)}))
    settings = {
        f"more_like_this, {terms} terms, {percent} %": partial(
            alike, lab, text, "text", terms, percent
        )
        for terms in (25, 100)
        for percent in (70, 80, 90, 95)
    }
    ways.append((0, settings))
    for bytes_added, settings in ways:
        label = best(lab, settings, queries, truth)
        print_lookups(lab, label, settings[label], queries, truth, bytes_added)


def in_client(lab: Lab, text: str) -> list[str]:
    options = SimilarOptions(threshold=THRESHOLD, limit=LIMIT)
    return [match.id for match in similar(lab.store, text, options).matches]


def in_engine(lab: Lab, percent: int, text: str) -> list[str]:
    """Return candidates with such a fraction of equal slots, by one request (docs/cluster.md)."""
    signed = fingerprint(text)
    keys = search_bodies.keys(signed.bands, signed.blocks)
    body = {
        "size": LIMIT,
        "_source": False,
        "query": search_bodies.candidates(keys, [DEFAULT.id], LIMIT)["query"],
        "rescore": rescore(1_000, slots_script(signed)),
    }
    return [hit["_id"] for hit in lab.hits(lab.name, body) if hit["_score"] >= percent / 100]


def slots_script(signed: Any) -> dict[str, Any]:
    minhash = base64.b64encode(pack_slots(signed.minhash)).decode()
    return {"id": MINHASH8_SCORE, "params": {"minhash": minhash}}


def rescore(window: int, script: dict[str, Any]) -> dict[str, Any]:
    scored = {"script_score": {"query": ALL, "script": script}}
    return {"window_size": window, "query": {"query_weight": 0, "rescore_query": scored}}


def alike(
    lab: Lab, index: str, field: str, terms: int | None, percent: int | None, text: str
) -> list[str]:
    """Return the hits of `more_like_this`, by its defaults or with so many terms, so many of which
    must match.
    """
    chosen: dict[str, Any] = {"fields": [field], "like": text}
    if terms is not None:
        chosen |= {"max_query_terms": terms, "min_term_freq": 1, "min_doc_freq": 1}
        chosen["minimum_should_match"] = f"{percent}%"
    body = {"size": LIMIT + 1, "_source": False, "query": {"more_like_this": chosen}}
    return [hit["_id"] for hit in lab.hits(index, body)]


def best(lab: Lab, ways: dict[str, Lookup], queries: Sequence[int], truth: Truth) -> str:
    """Return the way with the highest F1 on the first lookups."""

    def f1(label: str) -> float:
        recall, precision, _ = judge_lookups(lab, ways[label], queries[:TUNED], truth)
        return 2 * recall * precision / max(recall + precision, 1e-9)

    return max(ways, key=f1) if len(ways) > 1 else next(iter(ways))


def print_lookups(
    lab: Lab, label: str, look_up: Lookup, queries: Sequence[int], truth: Truth, added: float
) -> None:
    others = np.setdiff1d(np.arange(len(lab.texts)), queries)
    for number in others[:: max(1, len(others) // WARMING)][:WARMING].tolist():
        look_up(lab.texts[number])  # so that the engine has compiled what it runs
    recall, precision, times = judge_lookups(lab, look_up, queries, truth)
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    print(f"{'':<10}{label:<34}{p50:>8.1f}{p99:>8.1f}{recall:>8.3f}{precision:>11.3f}", end="")
    print(f"{added:>13,.0f}", flush=True)


def judge_lookups(
    lab: Lab, look_up: Lookup, queries: Sequence[int], truth: Truth
) -> tuple[float, float, list[float]]:
    """Return recall and precision over all pairs, and the seconds of each lookup."""
    right = answered = true = 0
    times = []
    for query, near in zip(queries, truth, strict=False):
        started = time.perf_counter()
        ids = look_up(lab.texts[query])
        times.append(time.perf_counter() - started)
        found = {int(id) for id in ids} - {query}
        right, answered = right + len(found & near), answered + len(found)
        true += min(len(near), LIMIT)
    return right / max(true, 1), right / max(answered, 1), times


# folding, ingest, arrival


def time_folding(lab: Lab, rng: np.random.Generator, searches: int) -> None:
    """Print a line for each way of folding, after families are made."""
    started = time.perf_counter()
    result = group(lab.store)
    took = time.perf_counter() - started
    size = merge_segments(lab.store, lab.name) / len(lab.texts)
    started = time.perf_counter()
    changed = group(lab.store).changed
    again = time.perf_counter() - started
    print(f"\nfolding   {result.families:,} groups made and written in {took:.0f} s;", end=" ")
    print(f"then {size:,.0f} bytes a document")
    print(f"{'':<10}group again: {again:.0f} s, {changed:,} changed")
    chosen = rng.integers(0, len(lab.texts), searches + WARMING)
    texts = [lab.texts[number].lower().replace(".", "").split() for number in chosen]
    queries = [" ".join(rng.choice(text, 2)) for text in texts]
    inner = {"name": "folded", "size": 3, "_source": ["path"]}
    by_family = {"field": "near_family"}

    def plain(words: str, params: dict[str, str], **more: Any) -> object:
        query = {"match": {"text": words}}
        body = {"size": 10, "query": query, "_source": ["path", "near_family"], **more}
        return lab.hits(lab.name, body, **params)

    def every(_words: str, **more: Any) -> object:
        return lab.hits(lab.name, {"size": 10, "_source": False, "query": ALL, **more})

    def ours(fold: str, words: str) -> object:
        return search(lab.store, words, SearchOptions(fold=fold))

    signed = fingerprint(lab.texts[0])
    slots = slots_script(signed)
    bits = {"id": SIMHASH_SCORE, "params": {"simhash": signed64(signed.simhash or 0)}}
    ways: dict[str, Callable[[str], object]] = {
        "unfolded": lambda words: plain(words, {}),
        "collapse": lambda words: plain(words, {}, collapse=by_family),
        "collapse with inner_hits": lambda words: plain(
            words, {}, collapse={**by_family, "inner_hits": inner}
        ),
        "search pipeline": lambda words: plain(words, {"search_pipeline": FOLD}),
        "every document": every,
        "every document, 100 by slots": partial(every, rescore=rescore(100, slots)),
        "every document, 1,000 by slots": partial(every, rescore=rescore(1_000, slots)),
        "every document, 1,000 by Hamming": partial(every, rescore=rescore(1_000, bits)),
        "nearfold search, none": partial(ours, "none"),
        "nearfold search, family": partial(ours, "family"),
        "nearfold search, live": partial(ours, "live"),
    }
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for number, words in enumerate(queries):
        ways["unfolded"](words)  # so that none of them pays for reading what the others find read
        first = number % len(ways)
        for way in [*list(ways)[first:], *list(ways)[:first]]:
            seconds = seconds_of(partial(ways[way], words))
            seen[way] += [seconds] if number >= WARMING else []
    print(f"{'':<10}{'':<34}{'p50 ms':>8}{'p99 ms':>8}{'ratio':>8}")
    bases = {"nearfold": "nearfold search, none", "every": "every document"}
    for way, times in seen.items():
        base = seen[bases.get(way.split()[0], "unfolded")]
        p50, p99 = np.percentile(times, [50, 99]) * 1e3
        ratio = p50 / 1e3 / statistics.median(base)
        print(f"{'':<10}{way:<34}{p50:>8.1f}{p99:>8.1f}{ratio:>8.2f}", flush=True)


def time_ingesting(lab: Lab, documents: int = 5_000) -> None:
    """Print milliseconds a document, the ways taking turns batch by batch."""
    print(f"\n{'ingest':<10}{'':<34}{'ms a document':>15}")
    body = lab.described()
    settings = {"analysis": body["settings"]["index"]["analysis"]}
    settings |= {"number_of_shards": 1, "number_of_replicas": 0}
    pipeline = shared_name(DEFAULT)
    ways = {
        "text alone": (False, "_none"),
        "text, signed by the pipeline": (False, pipeline),
        "rows signed by nearfold": (True, "_none"),
    }
    seconds = dict.fromkeys(ways, 0.0)
    indices = {way: f"{lab.name}-cost{number}" for number, way in enumerate(ways)}
    for index in indices.values():
        lab.call("PUT", index, {"settings": settings, "mappings": body["mappings"]})
    numbers = range(min(documents, len(lab.texts)))
    for start in numbers[::BATCH]:
        for way, (is_signed, name) in ways.items():
            batch = numbers[start : start + BATCH]
            took = seconds_of(partial(lab.send, indices[way], batch, is_signed, name))
            seconds[way] += took * (start > 0)  # the first warms up
    for way, took in seconds.items():
        print(f"{'':<10}{way:<34}{took / (len(numbers) - BATCH) * 1e3:>15.2f}", flush=True)


def time_arrivals(lab: Lab, rng: np.random.Generator, trials: int) -> None:
    """Print seconds from a plain PUT through the pipeline to the first look-up that finds it."""
    seconds = []
    for number, text in enumerate(library(trials, rng)):
        time.sleep(rng.uniform(0, 1))
        started = time.perf_counter()
        path = f"{lab.name}-write/_doc/new-{number}"
        lab.call("PUT", path, {"text": text}, pipeline=shared_name(DEFAULT))
        while f"new-{number}" not in in_client(lab, text):
            time.sleep(0.01)
        seconds.append(time.perf_counter() - started)
    median, longest = statistics.median(seconds), max(seconds)
    print(f"\narrival   seconds until found, {trials} documents:", end=" ")
    print(f"median {median:.2f}, longest {longest:.2f}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=240)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--arrivals", type=int, default=20)
    parser.add_argument("--server", help="an OpenSearch of yours")
    options = parser.parse_args()
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder, engine(options.server, heap="2g") as url:
        os.environ["XDG_STATE_HOME"] = folder
        texts = library(options.documents, rng)
        mean = statistics.mean(map(len, texts))
        print(f"{len(texts):,} documents of {mean:,.0f} characters; {machine()}", flush=True)
        with laboratory(url, texts) as lab:
            count = min(options.lookups, len(texts))
            queries = rng.choice(len(texts), count, replace=False).tolist()
            bytes_by_name = make_indices(lab)
            truth = neighbours(texts, queries, THRESHOLD)
            pairs, with_some = sum(map(len, truth)), sum(map(bool, truth))
            print(f"\nlookup    {count} lookups; {pairs} true neighbours of {with_some} of them")
            measure_lookups(lab, bytes_by_name, queries, truth)
            time_folding(lab, rng, options.searches)
            time_ingesting(lab)
            time_arrivals(lab, rng, options.arrivals)
        loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
        print(f"\nload of the machine over the last 1, 5 and 15 minutes: {loads}")


if __name__ == "__main__":
    main()
