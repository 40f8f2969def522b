"""What the engine plugin costs beside the pipeline layout and the engine's `min_hash`.

    python benchmarks/engine_plugin.py FOLDER ... [--documents 5000] [--length 4700]
        [--engine opensearch] [--runs 3] [--lookups 300]

Texts of the folders (plain, .gz, or HTML without its tags) are cut into documents of `length`
characters, and sent by `_bulk` to an engine with the plugin that is started as the tests get
theirs. Printed for each way of signing:

* bytes a document: the size of the index of one shard, merged to one segment, less that of the same
  index without signing;
* milliseconds a document: processor time of the engine, less that without; medians of the runs.
  Ways with `group` have the groups of nearfold; its own time is not in.

Then p50 and p99 of look-ups by text, and of searches of three words of a document, plain and
folded, in turns: milliseconds at the client, and of processor time of the engine without its
compilers (on Linux), which other programs disturb less. Maven and a JDK 21 or later are needed.
"""

from __future__ import annotations

import html
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from corpora import files_under, read_text
from harness import ROOT, arguments, quantile
from servers.process import Server
from servers.with_plugin import engine

import indexer
from indexer.stores.abilities import FullStore
from indexer.stores.maintenance import Layout

sys.path.insert(0, str(ROOT / "tests/plugin"))
from rest import Rest

BATCH = 250
ENTRY = '{{"index":{{"_id":"{}"}}}}\n{}\n'
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MIN_HASH = {"type": "min_hash", "hash_count": 1, "bucket_count": 128, "hash_set_size": 1}
_PAIRS = {"type": "shingle", "output_unigrams": False}


@dataclass(frozen=True)
class Way:
    """A way of signing texts: the index with it, and the index without. `grouped`: by `group`."""

    name: str
    create: Callable[[Rest, str, bool], None]
    grouped: bool = False


def plugin_way(name: str, **near: Any) -> Way:
    """Return a field `text.near` of the plugin."""
    field = {"near": {"type": "near_duplicate", **near}}
    return Way(name, lambda rest, index, signs: _create(rest, index, field if signs else {}))


def min_hash_way(name: str, *filters: str) -> Way:
    """Return a sub-field with the engine's `min_hash` of word pairs."""
    field = {"near": {"type": "text", "analyzer": "near", "index_options": "docs", "norms": False}}
    analysis = {
        "filter": {
            "near_pairs": _PAIRS,
            "near_hashes": {**_MIN_HASH, "with_rotation": True},
            "near_short": {"type": "truncate", "length": 2},
        },
        "analyzer": {
            "near": {
                "tokenizer": "standard",
                "filter": ["lowercase", "near_pairs", "near_hashes", *filters],
            }
        },
    }

    return Way(
        name, lambda rest, index, signs: _create(rest, index, field if signs else {}, analysis)
    )


def installed_way(name: str, layout: Layout, grouped: bool = False) -> Way:
    """Return the fields that nearfold adds to an index of a client, by the plugin or a pipeline."""

    def create(rest: Rest, index: str, signs: bool) -> None:
        _create(rest, index, {})
        if signs:
            with closing(_store(rest, index)) as store:
                indexer.install(store, layout=layout)

    return Way(name, create, grouped)


WAYS = (
    plugin_way("plugin, default_v3"),
    plugin_way("plugin, default_v2", recipe="default_v2"),
    plugin_way("plugin, default_v1", recipe="default_v1"),
    installed_way("plugin, default_v3, group", "plugin", grouped=True),
    installed_way("pipeline, default_v3", "pipeline"),
    installed_way("pipeline, default_v3, group", "pipeline", grouped=True),
    min_hash_way("min_hash 128"),
    min_hash_way("min_hash 128, truncate", "near_short"),
)


def _create(
    rest: Rest, index: str, fields: dict[str, Any], analysis: dict[str, Any] | None = None
) -> None:
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "analysis": analysis or {}}
    mappings = {"properties": {"text": {"type": "text", "fields": fields}}}
    rest.request("PUT", index, {"settings": settings, "mappings": mappings})


def _store(rest: Rest, index: str) -> FullStore:
    nodes = rest.request("GET", "_nodes?filter_path=nodes.*.version")["nodes"]
    is_elasticsearch = next(iter(nodes.values()))["version"].startswith(("8.", "9."))
    kind = "elasticsearch" if is_elasticsearch else "opensearch"
    return indexer.open_store(f"{kind}://{rest.url.removeprefix('http://')}/{index}")


@dataclass(frozen=True)
class Cost:
    """Of one run: bytes and milliseconds of processor time, a document."""

    size: float
    cpu: float


def run(rest: Rest, way: Way, signs: bool, texts: Sequence[str], index: str) -> Cost:
    """Index all texts once, and leave the index there."""
    rest.request("DELETE", f"{index},{index}-copy?ignore_unavailable=true")
    way.create(rest, index, signs)
    started = _processor_time(rest)
    for start in range(0, len(texts), BATCH):
        part = enumerate(texts[start : start + BATCH], start)
        body = "".join(ENTRY.format(id, json.dumps({"text": text})) for id, text in part)
        if rest.request("POST", f"{index}/_bulk?filter_path=errors", body)["errors"]:
            raise SystemExit(f"{way.name}: a document was refused")
    if signs and way.grouped:
        with closing(_store(rest, index)) as store:
            indexer.group(store)
    rest.request("POST", f"{index}/_flush")
    spent = _processor_time(rest) - started
    if signs and way.grouped:  # in the index itself the versions before count for a while
        source, index = {"index": index}, f"{index}-copy"
        way.create(rest, index, signs)
        dest = {"index": index, "pipeline": "_none"}
        rest.request("POST", "_reindex", {"source": source, "dest": dest})
    rest.request("POST", f"{index}/_forcemerge?max_num_segments=1")
    rest.request("POST", f"{index}/_refresh")
    stats = rest.request("GET", f"{index}/_stats/store")["_all"]["primaries"]
    return Cost(stats["store"]["size_in_bytes"] / len(texts), spent / len(texts))


def _processor_time(rest: Rest) -> float:
    nodes = rest.request("GET", "_nodes/stats/process")["nodes"]
    return sum(node["process"]["cpu"]["total_in_millis"] for node in nodes.values())


def indexing(rest: Rest, texts: Sequence[str], runs: int) -> None:
    """Print bytes and milliseconds of every way."""
    costs: dict[tuple[str, bool], list[Cost]] = {}
    for number in range(runs + 1):
        for way in WAYS:
            for signs in (False, True):
                cost = run(rest, way, signs, texts, f"bench-{WAYS.index(way)}-{signs}".lower())
                if number:  # the first round warms up
                    costs.setdefault((way.name, signs), []).append(cost)
    print(f"{'way':<30}{'bytes':>8}{'ms':>8}   a document, beyond the index without it")
    for way in WAYS:
        without, with_it = costs[way.name, False], costs[way.name, True]
        size = with_it[-1].size - without[-1].size
        cpu = median(cost.cpu for cost in with_it) - median(cost.cpu for cost in without)
        print(f"{way.name:<30}{size:>8.0f}{cpu:>8.2f}")


def _threads_time(pid: int) -> float:
    """Return the milliseconds of all threads of a process and its children but compilers."""
    total = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread may end
            total += sum(map(_threads_time, map(int, (task / "children").read_text().split())))
            if not (task / "comm").read_text().startswith(("C1 ", "C2 ")):
                total += int((task / "schedstat").read_text().split()[0]) / 1e6
    return total


def searching(rest: Rest, texts: Sequence[str], count: int, pid: int) -> None:
    """Print the latencies of look-ups and of folded searches."""
    likes = random.Random(5).sample(texts, min(count, len(texts)))
    near_query = {"field": "text.near", "minimum_similarity": 0.8}
    similar = {"fields": ["text"], "max_query_terms": 100, "minimum_should_match": "80%"}
    kinds: dict[str, Callable[[str], dict[str, Any]]] = {
        "look-up, words in order": lambda text: {
            "query": {"near_duplicate": {**near_query, "like": text}}
        },
        "look-up, slots": lambda text: {
            "query": {"near_duplicate": {**near_query, "like": text, "measure": "slots"}}
        },
        "more_like_this, 100 terms": lambda text: {
            "query": {"more_like_this": {**similar, "like": text}}
        },
        "search": _search,
        "search, window 100 by match_all": lambda text: {
            **_search(text),
            "rescore": {"window_size": 100, "query": {"rescore_query": {"match_all": {}}}},
        },
    }
    for window in (100, 300, 1000):
        for measure in ("slots", "lcs"):
            kinds[f"folded, {measure}, window {window}"] = _folded(window, measure)
    print(f"\n{'request':<34}{'p50 ms':>8}{'p99':>8}{'processor':>12}{'p99':>8}   of {len(likes)}")
    taken: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for number, like in enumerate([*likes[:50], *likes]):
        for kind, body in kinds.items():
            request = {**body(like), "size": 10, "_source": False}
            before, started = _threads_time(pid), time.perf_counter()
            rest.request("POST", "bench-0-true/_search", request)
            wall = 1000 * (time.perf_counter() - started)
            if number >= min(50, len(likes)):
                taken[kind].append((wall, _threads_time(pid) - before))
    for kind, times in taken.items():
        wall, spent = zip(*times, strict=True)
        print(f"{kind:<34}{quantile(wall, 0.5):>8.1f}{quantile(wall, 0.99):>8.1f}", end="")
        print(f"{quantile(spent, 0.5):>12.1f}{quantile(spent, 0.99):>8.1f}")


def _search(text: str) -> dict[str, Any]:
    words = sorted(set(re.findall(r"[a-z]{5,}", text.lower())))
    chosen = random.Random(text).sample(words, min(3, len(words)))
    return {"query": {"match": {"text": " ".join(chosen)}}}


def _folded(window: int, measure: str) -> Callable[[str], dict[str, Any]]:
    fold = {"window_size": window, "near_fold": {"field": "text.near", "measure": measure}}
    return lambda text: {**_search(text), "rescore": fold}


def documents(folders: Sequence[Path], length: int) -> Iterator[str]:
    """Yield the texts of the folders in documents of `length` characters."""
    for path in (path for folder in folders for path in files_under(folder)):
        text = read_text(path) or ""
        text = html.unescape(_MARKUP.sub(" ", text)) if path.suffix == ".html" else text
        for start in range(0, len(text) - length + 1, length):
            yield text[start : start + length]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--length", type=int, default=4_700)
    parser.add_argument("--engine", choices=("opensearch", "elasticsearch"), default="opensearch")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lookups", type=int, default=300)
    options = parser.parse_args()
    every = list(documents(options.folders, options.length))
    texts = random.Random(1).sample(every, min(options.documents, len(every)))
    print(f"{len(texts)} of {len(every)} documents of {options.length} characters")
    with closing(Server(engine(options.engine).for_long_runs())) as server:
        server.start()
        rest = Rest(server.url)
        indexing(rest, texts, options.runs)
        searching(rest, texts, options.lookups, server.pid)


if __name__ == "__main__":
    main()
