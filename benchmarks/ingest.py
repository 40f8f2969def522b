"""`index` beside the least that a full-text index can do, and with families on arrival beside
without.

    python benchmarks/ingest.py --plain FOLDER [--before CHECKOUT] [--runs 5]
    python benchmarks/ingest.py --families [--documents 4000] [--runs 4] [--store URL]...
    python benchmarks/ingest.py --records 10000,120000 [--words 36] [--before CHECKOUT]

The first prints seconds and processor time of `nearfold index` of text files by another checkout,
which has a kernel of its own, by this one, and of a plain script that reads the files and inserts
their texts into an FTS5 table, one durable transaction every 1,000 rows; each in a process of its
own and in turn, with the ratios to the script, and whether the rows of both are the same.

The second indexes plain text files of which a quarter are near duplicates of others, with families
on arrival and without, the best seconds of the runs side by side. Each store is filled twice, the
second time into an index that holds the first documents already. An index of a search engine that
is named is emptied first: give one of your own.

The third indexes so many short records into an empty store, then 2,000 more by another process,
with families on arrival, and prints milliseconds a record, without those of a run that finds
nothing, and the peak memory.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
from corpora import random_texts, short_records, write_lines
from harness import ROOT, Usage, arguments, head, row, run_python, sizes

from indexer import IndexOptions, index, open_store

BARE = """
import pathlib, sqlite3, sys, tempfile
with tempfile.TemporaryDirectory() as scratch:
    db = sqlite3.connect(f"{scratch}/bare.db")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE VIRTUAL TABLE bare USING fts5(path, text)")
    paths = [path for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if path.is_file()]
    for start in range(0, len(paths), 1000):
        batch = [(str(p), p.read_text(encoding="utf-8")) for p in paths[start : start + 1000]]
        with db:
            db.executemany("INSERT INTO bare VALUES (?, ?)", batch)
    db.close()
"""


def index_by(checkout: Path, folder: Path) -> tuple[Usage, str]:
    """Return what `nearfold index` by a checkout takes, and a digest of the rows."""
    with tempfile.TemporaryDirectory() as scratch:
        url = f"sqlite:///{scratch}/x.db"
        usage = run_python(["-m", "indexer", "index", str(folder), "--store", url], checkout)
        digest = hashlib.sha256()
        with closing(open_store(url)) as store:
            for stored in store.scan():
                digest.update(repr(stored).encode())
    return usage, digest.hexdigest()


def print_beside_bare(folder: Path, before: Path | None, runs: int) -> None:
    """Print the times of `index` beside that of a bare table."""
    checkouts = {"before": before.resolve()} if before else {}
    checkouts["now"] = ROOT
    bare = "bare FTS5 table"
    usages: dict[str, list[Usage]] = {name: [] for name in (*checkouts, bare)}
    digests: set[str] = set()
    for _ in range(runs + 1):
        for name, checkout in checkouts.items():
            usage, digest = index_by(checkout, folder)
            usages[name].append(usage)
            digests.add(digest)
        usages[bare].append(run_python(["-c", BARE, str(folder)]))
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(files):,} files, {size:.1f} MB; seconds, least of {runs} runs after one more")
    print(f"{'':16}{'wall':>8}{'of bare':>9}{'processor':>11}{'of bare':>9}")
    least = {
        name: (min(usage.seconds for usage in of[1:]), min(usage.busy for usage in of[1:]))
        for name, of in usages.items()
    }
    for name, (wall, busy) in least.items():
        ratios = wall / least[bare][0], busy / least[bare][1]
        print(f"{name:16}{wall:8.2f}{ratios[0]:9.2f}{busy:11.2f}{ratios[1]:9.2f}")
    print("the rows are the same" if len(digests) == 1 else "rows differ")


def seconds_of_index(url: str, folders: list[Path], threshold: float | None) -> list[float]:
    """Return the seconds for each folder, one after the other, in a store that starts empty."""
    options = IndexOptions(family_threshold=threshold)
    with closing(open_store(url)) as store:
        if store.stored_recipe() is not None:
            store.delete([stored.id for stored in store.scan()])
            store.refresh()
        return [index([str(folder)], store, options).seconds for folder in folders]


def print_families(documents: int, runs: int, urls: list[str]) -> None:
    """Print one line a store and half of the documents."""
    half = documents // 2
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch, name) for name in ("first", "second")]
        for seed, folder in enumerate(folders):
            folder.mkdir()
            texts = random_texts(half, 325, np.random.default_rng(seed), alone=0.87)
            for number, text in enumerate(texts):
                (folder / f"{number:06}.txt").write_text(text, encoding="utf-8")
        print(*head(["store", "documents", "without", "with groups", "ratio"]), sep="\n")
        for url in ["sqlite", *urls]:
            times: dict[float | None, list[list[float]]] = {None: [], 0.8: []}
            for number in range(runs):
                for threshold, seen in times.items():
                    new = f"sqlite:///{scratch}/{number}{threshold}.db"
                    store = new if url == "sqlite" else url
                    seen.append(seconds_of_index(store, folders, threshold))
            without, joined = (
                [min(of) for of in zip(*seen, strict=True)] for seen in times.values()
            )
            for name, a, b in zip(("empty index", "half full"), without, joined, strict=True):
                cells = [f"{half:,}", f"{a:.2f} s", f"{b:.2f} s", f"{b / a:.1f}"]
                print(row([f"{url.split(':')[0]}, {name}", *cells]))


def print_records(counts: list[int], words: int, before: Path | None) -> None:
    """Print one line a number of records and checkout: the first ones, then 2,000 more."""
    checkouts = {"before": before.resolve()} if before else {}
    checkouts["now"] = ROOT
    print(*head(["records", "checkout", "processor", "wall", "memory", "2,000 more"]), sep="\n")
    for count in counts:
        with tempfile.TemporaryDirectory() as scratch:
            texts = short_records(count + 2_000, words)
            first = write_lines(Path(scratch, "first.jsonl"), islice(texts, count))
            more = write_lines(Path(scratch, "more.jsonl"), texts)
            nothing = write_lines(Path(scratch, "nothing.jsonl"), [])
            for name, checkout in checkouts.items():
                options = ["--store", f"sqlite:///{scratch}/{name}.db", "--workers", "1"]
                filled, start, added = (
                    run_python(["-m", "indexer", "index", str(path), *options], checkout)
                    for path in (first, nothing, more)
                )
                cells = [f"{1000 * (filled.busy - start.busy) / count:.2f} ms"]
                cells += [f"{1000 * (filled.seconds - start.seconds) / count:.2f} ms"]
                cells += [f"{max(filled.megabytes, added.megabytes):.0f} MB"]
                cells += [f"{(added.busy - start.busy) / 2:.2f} ms"]
                print(row([f"{count:,}", name, *cells]), flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--plain", type=Path, help="folder of UTF-8 text files")
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--documents", type=int, default=4_000)
    parser.add_argument("--store", action="append", default=[], help="beside SQLite")
    parser.add_argument("--records", type=sizes, help="short records")
    parser.add_argument("--words", type=int, default=36, help="of a record, 36 by default")
    options = parser.parse_args()
    if options.records:
        print_records(options.records, options.words, options.before)
    elif options.families:
        print_families(options.documents, options.runs, options.store)
    elif options.plain:
        print_beside_bare(options.plain.resolve(), options.before, options.runs)
    else:
        sys.exit("give --plain FOLDER, --families or --records N")


if __name__ == "__main__":
    main()
