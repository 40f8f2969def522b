"""Cost of queries inside an engine, each beside the other way of doing it.

    python benchmarks/queries.py opensearch://127.0.0.1:9200 [--documents 5000] [--runs 15]

rescore   the best hits scored by sketch, by the installed scripts, beside the same search without;
          `floor` is the same request with a script that reads nothing (engines with painless)
lookup    candidates and their sketches for a look-up with 1,000 candidates: from doc values, as
          nearfold does, beside `_source`
batch     100 look-ups by `candidates_of`, beside one after the other
hamming   the documents within 3 bits of a SimHash, 20 times: block keys and a check in the client,
          beside k-NN on a `dense_vector` of bits with `similarity` (Elasticsearch; `flat` compares
          with all, `hnsw` is a graph)

Medians in milliseconds, runs interleaved after a warm-up. Texts are of 10,000 characters. What it
makes, it deletes.
"""

from __future__ import annotations

import argparse
import base64
import random
import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from indexer.model import Row
from indexer.operations.install import install
from indexer.operations.uninstall import uninstall
from indexer.recipe import DEFAULT
from indexer.sketch.codec import signed64
from indexer.stores import open_store
from indexer.stores.engine import bodies
from indexer.stores.engine.installation import MINHASH8_SCORE, SIMHASH_SCORE

CANDIDATES, WORDS, DISTANCE = 1_000, 1_700, 3
SLOTS = 128  # of one byte


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("server", help="opensearch://HOST:PORT or elasticsearch://HOST:PORT")
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    store: Any = open_store(
        f"{options.server}/nearfold-benchmark-{secrets.token_hex(4)}?replicas=0"
    )
    chance = random.Random(5)
    try:
        painless = install(store).complete
        store.prepare(DEFAULT)
        store.hot_key_floor = options.documents
        fill(store, chance, options.documents)
        print(f"{'':<10}{'':<34}{'ms':>8}{'ratio':>8}")
        if painless:
            table("rescore", rescores(store, chance), options.runs)
        table("lookup", look_ups(store), options.runs)
        table("batch", batches(store, chance), max(3, options.runs // 3))
        if options.server.startswith("elasticsearch"):
            for kind in ("flat", "hnsw"):
                balls(store, chance, kind, options.documents, options.runs)
    finally:
        store.index.requests.send("DELETE", store.index.place.index)
        uninstall(store)
        store.close()


def fill(store: Any, chance: random.Random, documents: int) -> None:
    """Of these, 1,000 share a band with the query, and every pair of neighbours shares several."""
    words = [f"word{number}" for number in range(3_000)]
    for start in range(0, documents, 250):
        rows = [
            document(place, chance, words) for place in range(start, min(documents, start + 250))
        ]
        assert not any(store.write(rows))
    store.refresh()
    store.index.requests.call(
        "POST",
        f"{store.index.place.index}/_forcemerge",
        params={"max_num_segments": "1"},
        seconds=600,
    )


def document(place: int, chance: random.Random, words: list[str]) -> Row:
    near = random.Random(place // 2)
    bands = [f"{band:02x}{near.getrandbits(64):016x}" for band in range(DEFAULT.bands or 0)]
    if place < CANDIDATES:
        bands[0] = key(0)
    return Row(
        id=f"{place:08}",
        recipe=DEFAULT.id,
        status="complete",
        title=f"document {place}",
        path=f"/library/{place}",
        text=" ".join(chance.choices(words, k=WORDS)),
        content_type="text/plain",
        modified=place,
        size=10_000,
        source=str(place),
        extractor="",
        raw="",
        exact=str(place),
        words=WORDS,
        chars=10_000,
        family=f"{place:08}",
        bands=tuple(bands),
        minhash=chance.randbytes(SLOTS),
        simhash=chance.getrandbits(64),
    )


def key(band: int) -> str:
    return f"{band:02x}{1:016x}"


def rescores(store: Any, chance: random.Random) -> dict[str, Callable[[], object]]:
    minhash = base64.b64encode(chance.randbytes(SLOTS)).decode()
    slots = {"id": MINHASH8_SCORE, "params": {"minhash": minhash}}
    bits = {"id": SIMHASH_SCORE, "params": {"simhash": signed64(chance.getrandbits(64))}}
    ways = {
        "no window": search_body(),
        "100 by slots": search_body(100, slots),
        "1,000 by slots": search_body(1_000, slots),
        "1,000 by Hamming distance": search_body(1_000, bits),
        "1,000, floor": search_body(1_000, {"source": "return 0.5;"}),
    }
    queries = store.index.queries("documents")
    return {name: lambda body=body: queries.search(body) for name, body in ways.items()}


def search_body(window: int = 0, script: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a search for ten documents, in a window by a script."""
    body = {"size": 10, "_source": False, "track_total_hits": False, "query": {"match_all": {}}}
    if not window:
        return body
    query = {"script_score": {"query": {"match_all": {}}, "script": script}}
    rescored = {"query_weight": 0, "rescore_query": query}
    return {**body, "rescore": {"window_size": window, "query": rescored}}


def look_ups(store: Any) -> dict[str, Callable[[], object]]:
    columns = bodies.candidates(bodies.keys([key(0)], []), [DEFAULT.id], CANDIDATES)
    source = {
        name: value
        for name, value in columns.items()
        if name not in ("stored_fields", "docvalue_fields")
    }
    source["_source"] = ["path", "near_minhash", "near_simhash"]
    return {
        "doc values": lambda: store.index.queries("documents").search(columns),
        "documents (_source)": lambda: store.index.queries("documents").search(source),
    }


def batches(store: Any, chance: random.Random) -> dict[str, Callable[[], object]]:
    rows = list(
        store.get(
            [f"{chance.randrange(CANDIDATES, CANDIDATES + 2_000):08}" for _ in range(100)]
        ).values()
    )
    queries = [(row.bands, row.blocks) for row in rows]
    return {
        "together": lambda: store.candidates(queries, 100),
        "one after the other": lambda: [store.candidates([lookup], 100) for lookup in queries],
    }


def table(name: str, ways: dict[str, Callable[[], object]], runs: int) -> None:
    """Print a line for each way, with its time as a multiple of the first's."""
    seen: dict[str, list[float]] = {way: [] for way in ways}
    for run in range(runs + 2):
        for way, work in ways.items():
            started = time.perf_counter()
            work()
            if run >= 2:
                seen[way].append(time.perf_counter() - started)
    first = statistics.median(next(iter(seen.values())))
    for way, times in seen.items():
        print(
            f"{name:<10}{way:<34}{statistics.median(times) * 1e3:>8.1f}"
            f"{statistics.median(times) / first:>8.2f}",
            flush=True,
        )
        name = ""


def balls(store: Any, chance: random.Random, kind: str, documents: int, runs: int) -> None:
    """An index of sketches with relatives 0 to 12 bits away."""
    requests, index = store.index.requests, f"{store.index.place.index}-{kind}"
    vector = {
        "type": "dense_vector",
        "dims": 64,
        "element_type": "bit",
        "index_options": {"type": kind},
        "similarity": "l2_norm",
    }
    properties = {
        "vector": vector,
        "near_blocks": {"type": "keyword", "doc_values": False},
        "near_simhash": {"type": "long"},
    }
    settings = {"number_of_replicas": 0, "refresh_interval": "-1"}
    requests.call("PUT", index, {"settings": settings, "mappings": {"properties": properties}})
    try:
        sketches = list(relatives(chance, documents))
        started = time.perf_counter()
        for start in range(0, documents, 1_000):
            lines = [
                line
                for bits in sketches[start : start + 1_000]
                for line in ({"index": {}}, sketch_fields(bits))
            ]
            assert not requests.call("POST", f"{index}/_bulk", lines, seconds=600)["errors"]
        requests.call("POST", f"{index}/_forcemerge", params={"max_num_segments": "1"}, seconds=600)
        requests.call("POST", f"{index}/_refresh")
        used = requests.call(
            "POST", f"{index}/_disk_usage", params={"run_expensive_tasks": "true"}
        )[index]["fields"]
        size = {name: used[name]["total_in_bytes"] / documents for name in properties}
        print(
            f"hamming   {kind}: {time.perf_counter() - started:.0f} s to index, bytes a document "
            f"{size}"
        )
        queries = [chance.choice(sketches) for _ in range(20)]
        near = [
            sum((bits ^ sketch).bit_count() <= DISTANCE for sketch in sketches) for bits in queries
        ]
        ways = {
            "block keys": lambda bits: by_blocks(requests, index, bits),
            f"k-NN, {kind}": lambda bits: nearest(requests, index, bits),
        }
        for way, ask in ways.items():
            answers = [ask(bits) for bits in queries]
            print(f"{'':<10}{way:<34}found {sum(answers)} of {sum(near)}")
        table(
            "",
            {way: lambda ask=ask: [ask(bits) for bits in queries] for way, ask in ways.items()},
            runs,
        )
    finally:
        requests.send("DELETE", index)


def relatives(chance: random.Random, documents: int) -> Iterator[int]:
    centres = [chance.getrandbits(64) for _ in range(documents // 10)]
    for place in range(documents):
        bits = centres[place % len(centres)]
        for bit in chance.sample(range(64), chance.choice([0, 1, 2, 3, 3, 4, 5, 6, 8, 12])):
            bits ^= 1 << bit
        yield bits


def sketch_fields(bits: int) -> dict[str, Any]:
    return {
        "vector": bits.to_bytes(8, "big").hex(),
        "near_blocks": parts(bits),
        "near_simhash": signed64(bits),
    }


def parts(bits: int) -> list[str]:
    return [f"{part:02x}{bits >> 48 - 16 * part & 0xFFFF:04x}" for part in range(4)]


def by_blocks(requests: Any, index: str, bits: int) -> int:
    should = [{"term": {"near_blocks": part}} for part in parts(bits)]
    body = {
        "size": 1_000,
        "_source": False,
        "docvalue_fields": ["near_simhash"],
        "query": {"bool": {"should": should}},
    }
    hits = requests.call("POST", f"{index}/_search", body)["hits"]["hits"]
    return sum(
        ((hit["fields"]["near_simhash"][0] ^ signed64(bits)) & 2**64 - 1).bit_count() <= DISTANCE
        for hit in hits
    )


def nearest(requests: Any, index: str, bits: int) -> int:
    vector = bits.to_bytes(8, "big").hex()
    queries = {
        "field": "vector",
        "query_vector": vector,
        "k": 1_000,
        "num_candidates": 1_000,
        "similarity": DISTANCE,
    }
    return len(
        requests.call(
            "POST", f"{index}/_search", {"size": 1_000, "_source": False, "knn": queries}
        )["hits"]["hits"]
    )


if __name__ == "__main__":
    main()
