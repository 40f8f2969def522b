"""The bytes that nearfold's fields take in OpenSearch or Elasticsearch, field by field.

    python benchmarks/engine_bytes.py FOLDER ... [--documents 5000] [--length 5000]
        [--engine opensearch] [--server URL] [--trials]

Texts of the folders are cut into files of `length` characters, which `nearfold index` writes and
`nearfold group` puts into families. Everything is then copied, through `_bulk` as any client would,
into indices of one shard, merged to one segment: with all fields, without any `near_*` field, and
without one field each; texts are stored, but not indexed there. What a field takes is the
difference of two of them, by the engine's own sizes: `_source` are the stored fields, the columns
the doc values, the index terms, postings and points. Elasticsearch does not say these apart (0.0),
but has an API for columns and index of a field (`_disk_usage`), an estimate by what it reads of
them, printed beside. `_source` is compressed in blocks, so differences of it vary by a few bytes a
document.

With --trials, instead: other mappings and settings of the index, each beside the same index without
`near_*` fields.

Without --server an engine is started as the tests get theirs (tests/servers). What it makes on a
given server, it deletes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine_byte_trials import TRIALS, Index, Trial
from key_layouts import read_text

from indexer.grouping.group import group
from indexer.indexing.index import IndexOptions, index
from indexer.stores import open_store

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers import elasticsearch, opensearch
from servers.process import Server

ENGINES = {"opensearch": opensearch.ENGINE, "elasticsearch": elasticsearch.ENGINE}
BATCH = 500
KINDS = {"fdt": "source", "dvd": "columns", "dvm": "columns"}
INDEX_FILES = ("tim", "tip", "tmd", "doc", "pos", "psm", "kdd", "kdi", "kdm")


@dataclass(frozen=True)
class Sizes:
    """Bytes a document: all of an index, and by kind (`source`, `columns`, `index`)."""

    total: float
    kinds: dict[str, float] = field(default_factory=dict)

    def without(self, other: Sizes) -> list[float]:
        """Return what this index has more than another: by kind, then all of it."""
        kinds = ("source", "columns", "index")
        return [self.kinds.get(kind, 0) - other.kinds.get(kind, 0) for kind in kinds] + [
            self.total - other.total
        ]


@dataclass(frozen=True)
class Lab:
    """An index that nearfold filled, its documents, and the names of copies of it."""

    store: Any
    name: str
    documents: list[tuple[str, dict[str, Any]]]

    def call(self, method: str, path: str, body: Any = None, **params: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.store.index.requests.call(
            method, path, body, params, seconds=900
        )
        return answer

    def described(self) -> Index:
        """Return settings and mapping of the index without the index of texts."""
        (answer,) = self.call("GET", self.name).values()
        analysis = answer["settings"]["index"]["analysis"]
        settings = {"number_of_shards": 1, "number_of_replicas": 0, "analysis": analysis}
        unsearched = {name: {"type": "text", "index": False} for name in ("title", "text")}
        properties = {**answer["mappings"]["properties"], **unsearched}
        return Index(settings, {**answer["mappings"], "properties": properties})

    def measure(self, made: Index, leave_out: Callable[[str], bool]) -> Sizes:
        """Return the sizes of a copy of the index without some fields; raises on a refusal."""
        name = f"{self.name}-copy"
        settings = {**made.settings, "compound_format": False, "refresh_interval": -1}
        self.call("PUT", name, {"settings": {"index": settings}, "mappings": made.mapping})
        try:
            for start in range(0, len(self.documents), BATCH):
                lines: list[Any] = []
                for id, document in self.documents[start : start + BATCH]:
                    kept = {key: value for key, value in document.items() if not leave_out(key)}
                    lines += [{"index": {"_id": id}}, made.change(kept)]
                if self.call("POST", f"{name}/_bulk", lines)["errors"]:
                    raise SystemExit("a document was refused")
            return self._sizes(name)
        finally:
            self.call("DELETE", name)

    def _sizes(self, name: str) -> Sizes:
        self.call("POST", f"{name}/_flush")
        self.call("POST", f"{name}/_forcemerge", max_num_segments="1")
        self.call("POST", f"{name}/_refresh")
        path = f"{name}/_stats/store,segments"
        stats = self.call("GET", path, include_segment_file_sizes="true")["_all"]["primaries"]
        count = len(self.documents)
        kinds: dict[str, float] = {}
        for ending, file in stats["segments"]["file_sizes"].items():
            kind = "index" if ending in INDEX_FILES else KINDS.get(ending, "rest")
            kinds[kind] = kinds.get(kind, 0) + file["size_in_bytes"] / count
        return Sizes(stats["store"]["size_in_bytes"] / count, kinds)

    def disk_usage(self) -> dict[str, tuple[float, float]]:
        """Return columns and index of each field by the engine's API; empty where it has none."""
        self._sizes(self.name)
        answer = self.store.index.requests.send(
            "POST", f"{self.name}/_disk_usage", params={"run_expensive_tasks": "true"}
        )
        if answer.status != 200:
            return {}
        count = len(self.documents)
        usage = {}
        for name, of_field in answer.body[self.name]["fields"].items():
            indexed = of_field["inverted_index"]["total_in_bytes"] + of_field["points_in_bytes"]
            usage[name] = (of_field["doc_values_in_bytes"] / count, indexed / count)
        return usage


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--length", type=int, default=5_000)
    parser.add_argument("--engine", choices=ENGINES, default="opensearch")
    parser.add_argument("--server", help="an engine of yours")
    parser.add_argument("--trials", action="store_true", help="trials instead of fields")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        _server(options.engine, options.server) as url,
        _laboratory(options, url, Path(folder)) as lab,
    ):
        lengths = sum(len(document["text"]) for _, document in lab.documents)
        version = lab.call("GET", "_nodes")["nodes"].popitem()[1]["version"]
        count = len(lab.documents)
        print(
            f"{options.engine} {version}; {count:,} documents of {lengths / count:,.0f} characters"
        )
        if options.trials:
            _print_trials(lab, options.engine)
        else:
            _print_fields(lab)


@contextmanager
def _server(engine: str, url: str | None) -> Iterator[str]:
    if url:
        yield url.rstrip("/")
        return
    started = Server(ENGINES[engine])
    try:
        started.start()
        yield started.url
    finally:
        started.close()


@contextmanager
def _laboratory(options: argparse.Namespace, url: str, folder: Path) -> Iterator[Lab]:
    """Yield the index of the files, which it writes."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    files = folder / "files"
    write_files(files, options.folders, options.documents, options.length)
    name = f"nearfold-bytes-{secrets.token_hex(4)}"
    store: Any = open_store(f"{options.engine}://{url.partition('://')[2]}/{name}?replicas=0")
    try:
        index(files, store, IndexOptions(extractor="plain"), workers=1)
        group(store)
        store.refresh()
        documents = [
            (hit["_id"], hit["_source"])
            for page in store.index.queries("both").pages(_all())
            for hit in page["hits"]["hits"]
        ]
        yield Lab(store, name, documents)
    finally:
        store.index.requests.send("DELETE", name)
        store.close()


def _all() -> dict[str, Any]:
    return {"size": BATCH, "query": {"match_all": {}}, "sort": [{"near_id": "asc"}]}


def write_files(folder: Path, folders: Sequence[Path], count: int, length: int) -> None:
    """Write files of `length` characters, cut from texts in an order without meaning."""
    paths = [path for source in folders for path in source.rglob("*") if path.is_file()]
    paths.sort(key=lambda path: hashlib.sha256(str(path).encode()).digest())
    folder.mkdir()
    number = 0
    for path in paths:
        text = read_text(path) or ""
        for start in range(0, len(text) - length + 1, length):
            (folder / f"{number:06}.txt").write_text(text[start : start + length], "utf-8")
            number += 1
            if number == count:
                return


def _print_fields(lab: Lab) -> None:
    made = lab.described()
    usage = lab.disk_usage()
    everything = lab.measure(made, lambda name: False)
    plain = lab.measure(made, _is_near)
    names = {name for _, document in lab.documents for name in document if _is_near(name)}
    heads = ("_source", "columns", "index", "all", *(("columns", "index") if usage else ()))
    if usage:
        print(f"{'':<56}{'_disk_usage':>24}")
    print(f"{'bytes a document':<24}{''.join(f'{head:>10}' for head in heads)}")
    rows = {"all near_* fields": everything.without(plain)}
    for name in names:
        rest = lab.measure(made, lambda other, name=name: other == name)
        rows[name] = [*everything.without(rest), *usage.get(name, (0, 0))[: 2 * bool(usage)]]
    for name, values in sorted(rows.items(), key=lambda row: -row[1][3]):
        print(f"{name:<24}{''.join(f'{value:>10.1f}' for value in values)}", flush=True)
    print(f"{'without them':<24}{'':>30}{plain.total:>10.1f}", flush=True)


def _print_trials(lab: Lab, engine: str) -> None:
    made = lab.described()
    print(f"\n{'trial':<54}{'near_*':>10}{'all':>10}")
    for name, change in TRIALS.items():
        added, total = _try(lab, change, made, engine)
        print(f"{name:<54}{added:>10} {total:>9}", flush=True)


def _try(lab: Lab, change: Trial, made: Index, engine: str) -> tuple[str, str]:
    """Return the bytes of the `near_*` fields and of whole documents, or why there are none."""
    try:
        changed = change(made, engine)
        if changed is None:
            return "not here", ""
        everything = lab.measure(changed, lambda name: False)
        plain = lab.measure(changed, _is_near)
    except Exception as error:  # what an engine refuses is a result
        return "refused", str(error).partition(" answered ")[2][:200]
    return f"{everything.total - plain.total:.0f}", f"{everything.total:.0f}"


def _is_near(name: str) -> bool:
    return name.startswith("near_")


if __name__ == "__main__":
    main()
