"""The whole line beside its parts: what fingerprinting and storing add to extraction, and to a bare
full-text index.

    python benchmarks/ingest.py --rich FOLDER --plain FOLDER [--runs 5]
    python benchmarks/ingest.py --plain FOLDER --before CHECKOUT [--runs 5]

Three tables, each measured side by side in one run and printed as medians and ratios:

1. html, docx and pdf files: `index` beside extraction alone, with the same worker processes. 2.
plain text files: `index` beside inserting the same texts into a bare FTS5 table, both durable, both
from files. 3. `similar` from a cold start, as a person waits for it.

With `--before` instead: seconds and processor time of `nearfold index` by another checkout, which
has a kernel of its own, by this one and of a script with the bare table, each in a process of its
own and in turn, with the ratios to the script, and whether the rows of both are the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import bare_table

from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.extractors import extractor_named
from indexer.extraction.worker_pool import Pool, Task
from indexer.indexing.index import index
from indexer.model import Blob
from indexer.sketch.fingerprint import kernel_name
from indexer.sources.folder import walk
from indexer.sources.read_blob import read
from indexer.stores import open_store


def extract_alone(folder: Path) -> int:
    """Read and extract every rich file with the worker processes; nothing is kept."""
    done = 0
    with Pool(extractor_named("native"), None, DEFAULT_LIMITS) as pool:
        tasks = (
            Task(blob, read(blob, DEFAULT_LIMITS.bytes).data, Path(blob.path).name)
            for blob in blobs(folder)
        )
        for _ in pool.extract_all(tasks):
            done += 1
    return done


def index_folder(folder: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="nearfold-bench-") as place:
        store = open_store(f"sqlite:///{place}/bench.db")
        try:
            return index([str(folder)], store).seen
        finally:
            store.close()


def blobs(folder: Path) -> Iterable[Blob]:
    return (item for item in walk([str(folder)]) if isinstance(item, Blob))


def side_by_side(
    ours: Callable[[Path], int], theirs: Callable[[Path], int], folder: Path, runs: int
) -> tuple[float, float, float]:
    """Return the medians of both in seconds, and of the ratio ours / other, run in turn after one
    warm-up.
    """
    times: list[tuple[float, float]] = []
    for turn in range(runs + 1):
        pair = tuple(seconds(work, folder) for work in (ours, theirs))
        if turn:
            times.append((pair[0], pair[1]))
    return (
        statistics.median(ours_time for ours_time, _ in times),
        statistics.median(two for _, two in times),
        statistics.median(ours_time / two for ours_time, two in times),
    )


def seconds(work: Callable[[Path], int], folder: Path) -> float:
    started = time.perf_counter()
    if work(folder) == 0:
        sys.exit(f"{folder} holds nothing to measure")
    return time.perf_counter() - started


def cold_similar(folder: Path, runs: int) -> list[float]:
    """Seconds of `nearfold similar FILE` in a new process, index already there."""
    with tempfile.TemporaryDirectory(prefix="nearfold-bench-") as place:
        url = f"sqlite:///{place}/bench.db"
        store = open_store(url)
        index([str(folder)], store)
        store.close()
        path = next(iter(blobs(folder))).path
        took = []
        for _ in range(runs):
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "indexer", "similar", path, "--store", url, "--json"],
                check=True,
                capture_output=True,
            )
            took.append(time.perf_counter() - started)
    return took


def print_beside(folder: Path, before: Path, runs: int) -> None:
    """Print the times of `index` by two checkouts beside that of a bare table."""
    checkouts = {"before": before.resolve(), "now": Path(__file__).resolve().parent.parent}
    times: dict[str, list[tuple[float, float]]] = {"before": [], "now": [], "bare FTS5 table": []}
    rows: set[str] = set()
    for _ in range(runs + 1):
        for name, checkout in checkouts.items():
            taken, digest = index_by(checkout, folder)
            times[name].append(taken)
            rows.add(digest)
        script = [bare_table.__file__, str(folder)]
        times["bare FTS5 table"].append(run(script, checkouts["now"]))
    print(f"{describe(folder)}; seconds, least of {runs} runs")
    print(f"{'':16}{'wall':>8}{'of bare':>9}{'processor':>11}{'of bare':>9}")
    least = {
        name: [min(values) for values in zip(*taken[1:], strict=True)]
        for name, taken in times.items()
    }
    bare_wall, bare_processor = least["bare FTS5 table"]
    for name, (wall, processor) in least.items():
        print(
            f"{name:16}{wall:8.2f}{wall / bare_wall:9.2f}"
            f"{processor:11.2f}{processor / bare_processor:9.2f}"
        )
    print("the rows are the same" if len(rows) == 1 else "rows differ")


def index_by(checkout: Path, folder: Path) -> tuple[tuple[float, float], str]:
    """Return the times of `nearfold index` by a checkout, and a digest of the rows."""
    with tempfile.TemporaryDirectory(prefix="nearfold-bench-") as place:
        url = f"sqlite:///{place}/bench.db"
        taken = run(["-m", "indexer", "index", str(folder), "--store", url], checkout)
        store = open_store(url)
        digest = hashlib.sha256()
        for row in store.scan():
            digest.update(repr(row).encode())
        store.close()
    return taken, digest.hexdigest()


def run(arguments: list[str], checkout: Path) -> tuple[float, float]:
    """Return seconds and processor time of a Python process that runs in a checkout."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
    )
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def describe(folder: Path) -> str:
    sizes = [blob.size for blob in blobs(folder)]
    return f"{len(sizes):,} files, {sum(sizes) / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rich", type=Path, help="folder of html, docx and pdf files")
    parser.add_argument("--plain", type=Path, help="folder of UTF-8 text files")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout, beside which --plain is")
    options = parser.parse_args()
    if options.before:
        print_beside(options.plain, options.before, options.runs)
        return
    print(
        f"kernel: {kernel_name()}; medians of {options.runs} interleaved runs, wall-clock seconds\n"
    )
    print(f"{'':44}{'ours':>9}{'other':>9}{'ratio':>8}  other")
    if options.rich:
        ours, theirs, ratio = side_by_side(index_folder, extract_alone, options.rich, options.runs)
        print(
            f"{'html, docx, pdf: ' + describe(options.rich):44}{ours:9.2f}{theirs:9.2f}{ratio:8.2f}"
            "  extraction alone"
        )
    if options.plain:
        ours, theirs, ratio = side_by_side(
            index_folder, bare_table.insert_into_bare_table, options.plain, options.runs
        )
        print(
            f"{'plain text: ' + describe(options.plain):44}{ours:9.2f}{theirs:9.2f}{ratio:8.2f}  "
            "bare FTS5 table"
        )
        took = cold_similar(options.plain, options.runs)
        print(
            f"\nsimilar from a cold start: median {statistics.median(took):.2f} s, most "
            f"{max(took):.2f} s"
        )


if __name__ == "__main__":
    main()
