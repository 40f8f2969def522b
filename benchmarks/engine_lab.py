"""Where the benchmark of engines works: an OpenSearch as large and as compiled as in production,
and its indices there.
"""

from __future__ import annotations

import os
import platform
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document, Fingerprint, Row
from indexer.operations.uninstall import uninstall
from indexer.recipe import DEFAULT
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store
from indexer.stores.engine import rows as _engine_rows

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers.engine import Launch
from servers.opensearch import ENGINE
from servers.process import Server

BATCH = 500
MERGES, SECONDS_BETWEEN = 12, 10
HEAP = "2g"
_TESTS_ONLY = ("-Xms", "-Xmx", "-XX:SharedArchiveFile")


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """The URL of a server; one that is started here ends with the block."""
    if url:
        yield url.rstrip("/")
        return
    started = Server(replace(ENGINE, launch=launch).for_long_runs())
    try:
        started.start()
        yield started.url
    finally:
        started.close()


def launch(home: Path, folder: Path, port: int) -> Launch:
    """Start a server as for tests, with a larger heap."""
    quick = ENGINE.launch(home, folder, port)
    java, *rest = quick.argv
    options = [word for word in rest if not word.startswith(_TESTS_ONLY)]
    return replace(quick, argv=(java, f"-Xms{HEAP}", f"-Xmx{HEAP}", *options))


def machine() -> str:
    """Return the processors and memory that the system reports."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processors = f"{os.cpu_count()} processors ({platform.machine()})"
    return f"{processors}, {gigabytes:.0f} GB, Python {platform.python_version()}"


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


def merge_segments(store: Any, index: str) -> int:
    """Return the bytes of an index in one segment, of which versions that were replaced are gone.

    The engine keeps these until it has told its copies, which takes it half a minute.
    """
    call = partial(store.index.requests.call, seconds=900)
    size = before = 0
    for _ in range(MERGES):
        call("POST", f"{index}/_forcemerge", None, {"max_num_segments": "1"})
        call("POST", f"{index}/_flush")
        call("POST", f"{index}/_refresh")
        stats = call("GET", f"{index}/_stats/docs,store")["_all"]["primaries"]
        size = stats["store"]["size_in_bytes"]
        if size == before and not stats["docs"]["deleted"]:
            break
        before = size
        time.sleep(SECONDS_BETWEEN)
    return size


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


def row(lab: Lab, place: int, signed: Fingerprint) -> Row:
    name, text = f"{place:08}", lab.texts[place]
    blob = Blob(name, name.encode(), f"/library/{name}.txt", b"", len(text), 0)
    return row_of(ExtractedBlob(blob, name, "", Document(text)), signed, DEFAULT.id)


def plain(lab: Lab, place: int) -> dict[str, Any]:
    """The document as any client sends it, with the fields that a row has beside its near_*
    fields.
    """
    text = lab.texts[place]
    return {
        "title": f"{place:08}.txt",
        "path": f"/library/{place:08}.txt",
        "text": text,
        "size": len(text),
    }


def send(
    lab: Lab, index: str, places: Sequence[int], is_signed: bool, pipeline: str = "_none"
) -> None:
    """Send documents by bulk requests: rows that nearfold signed, or fields as any client sends."""
    for start in range(0, len(places), BATCH):
        part = places[start : start + BATCH]
        if is_signed:
            signed = fingerprints([lab.texts[place] for place in part])
            documents = [
                _engine_rows.source(row(lab, place, sketch))
                for place, sketch in zip(part, signed, strict=True)
            ]
        else:
            documents = [plain(lab, place) for place in part]
        lines: list[Any] = []
        for place, document in zip(part, documents, strict=True):
            lines += [{"index": {"_id": f"{place:08}"}}, document]
        if lab.call("POST", f"{index}/_bulk", lines, pipeline=pipeline)["errors"]:
            raise SystemExit("a document was refused")
