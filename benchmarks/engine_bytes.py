"""The bytes that nearfold's fields take in OpenSearch or Elasticsearch, field by field.

    python benchmarks/engine_bytes.py FOLDER ... [--documents 5000] [--length 5000]
        [--engine opensearch] [--server URL] [--codec best_compression]

Texts of the folders are cut into files of `length` characters, which `nearfold index` writes and
`nearfold group` puts into families. Everything is then copied, through `_bulk` as any client would,
into indices of one shard, merged to one segment: with all fields, without any `near_*` field, and
without one field each; texts are stored, but not indexed there. What a field takes is the
difference of two of them, by the engine's own sizes: `_source` are the stored fields, the columns
the doc values, the index terms, postings and points. Elasticsearch does not divide them (0.0), but
has an API for columns and index of a field (`_disk_usage`), an estimate that is printed beside.
`_source` is compressed in blocks, so differences of it vary by a few bytes a document.

Without --server an engine is started as the tests get theirs (tests/servers). What it makes on a
given server, it deletes.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora import write_files
from harness import arguments, engine

from indexer.grouping.group import group
from indexer.jobs.index import IndexOptions, index
from indexer.stores import open_store

BATCH = 500
KINDS = ("source", "columns", "index")
KIND_OF_FILE = {"fdt": "source", "dvd": "columns", "dvm": "columns"}
INDEX_FILES = ("tim", "tip", "tmd", "doc", "pos", "psm", "kdd", "kdi", "kdm")
KIND_OF_FILE |= dict.fromkeys(INDEX_FILES, "index")


def is_near(name: str) -> bool:
    return name.startswith("near_")


@dataclass(frozen=True)
class Lab:
    """An index that nearfold filled, its documents, and the codec of copies of it."""

    store: Any
    name: str
    documents: list[tuple[str, dict[str, Any]]]
    codec: str

    def call(self, method: str, path: str, body: Any = None, **params: str) -> dict[str, Any]:
        return self.store.index.requests.call(method, path, body, params, seconds=900)

    def measure(self, leave_out: Callable[[str], bool]) -> list[float]:
        """Return bytes a document of a copy without some fields: by kind, then all of it."""
        name = f"{self.name}-copy"
        (body,) = self.call("GET", self.name).values()
        settings = {"number_of_shards": 1, "number_of_replicas": 0, "compound_format": False}
        settings |= {"refresh_interval": -1, "codec": self.codec}
        settings["analysis"] = body["settings"]["index"]["analysis"]
        unsearched = {field: {"type": "text", "index": False} for field in ("title", "text")}
        mappings = {**body["mappings"]}
        mappings["properties"] = {**mappings["properties"], **unsearched}
        self.call("PUT", name, {"settings": {"index": settings}, "mappings": mappings})
        try:
            for start in range(0, len(self.documents), BATCH):
                lines: list[Any] = []
                for id, document in self.documents[start : start + BATCH]:
                    kept = {key: value for key, value in document.items() if not leave_out(key)}
                    lines += [{"index": {"_id": id}}, kept]
                if self.call("POST", f"{name}/_bulk", lines)["errors"]:
                    raise SystemExit("a document was refused")
            return self._sizes(name)
        finally:
            self.call("DELETE", name)

    def _sizes(self, name: str) -> list[float]:
        self.call("POST", f"{name}/_flush")
        self.call("POST", f"{name}/_forcemerge", max_num_segments="1")
        self.call("POST", f"{name}/_refresh")
        path = f"{name}/_stats/store,segments"
        stats = self.call("GET", path, include_segment_file_sizes="true")["_all"]["primaries"]
        kinds = dict.fromkeys(KINDS, 0.0)
        for ending, file in stats["segments"]["file_sizes"].items():
            if kind := KIND_OF_FILE.get(ending):
                kinds[kind] += file["size_in_bytes"]
        everything = [*kinds.values(), stats["store"]["size_in_bytes"]]
        return [size / len(self.documents) for size in everything]

    def disk_usage(self) -> dict[str, list[float]]:
        """Return columns and index of each field by the engine's API; empty where it has none."""
        self._sizes(self.name)
        params = {"run_expensive_tasks": "true"}
        path = f"{self.name}/_disk_usage"
        answer = self.store.index.requests.send("POST", path, params=params)
        if answer.status != 200:
            return {}
        usage = {}
        for name, of_field in answer.body[self.name]["fields"].items():
            indexed = of_field["inverted_index"]["total_in_bytes"] + of_field["points_in_bytes"]
            both = (of_field["doc_values_in_bytes"], indexed)
            usage[name] = [size / len(self.documents) for size in both]
        return usage


@contextmanager
def laboratory(options: Namespace, url: str, folder: Path) -> Iterator[Lab]:
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
        every = {"size": BATCH, "query": {"match_all": {}}, "sort": [{"near_id": "asc"}]}
        pages = store.index.queries("both").pages(every)
        hits = (hit for page in pages for hit in page["hits"]["hits"])
        yield Lab(store, name, [(hit["_id"], hit["_source"]) for hit in hits], options.codec)
    finally:
        store.index.requests.send("DELETE", name)
        store.close()


def print_fields(lab: Lab) -> None:
    usage = lab.disk_usage()
    everything = lab.measure(lambda name: False)
    plain = lab.measure(is_near)
    names = {name for _, document in lab.documents for name in document if is_near(name)}
    heads = ("_source", "columns", "index", "all", *(("columns", "index") if usage else ()))
    if usage:
        print(f"{'':<56}{'_disk_usage':>24}")
    print(f"{'bytes a document':<24}{''.join(f'{head:>10}' for head in heads)}")
    rows = {"all near_* fields": plain}
    rows |= {name: lab.measure(lambda other, name=name: other == name) for name in names}
    differences = {
        name: [size - less for size, less in zip(everything, rest, strict=True)]
        for name, rest in rows.items()
    }
    for name, values in sorted(differences.items(), key=lambda item: -item[1][3]):
        cells = [*values, *usage.get(name, [])]
        print(f"{name:<24}{''.join(f'{value:>10.1f}' for value in cells)}", flush=True)
    print(f"{'without them':<24}{'':>30}{plain[3]:>10.1f}", flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--length", type=int, default=5_000)
    parser.add_argument("--engine", choices=("opensearch", "elasticsearch"), default="opensearch")
    parser.add_argument("--server", help="an engine of yours")
    parser.add_argument("--codec", default="default", help="`index.codec` of the copies")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        engine(options.server, options.engine) as url,
        laboratory(options, url, Path(folder)) as lab,
    ):
        mean = sum(len(document["text"]) for _, document in lab.documents) / len(lab.documents)
        version = lab.call("GET", "_nodes")["nodes"].popitem()[1]["version"]
        print(f"{options.engine} {version};", end=" ")
        print(f"{len(lab.documents):,} documents of {mean:,.0f} characters")
        print_fields(lab)


if __name__ == "__main__":
    main()
