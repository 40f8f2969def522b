"""All near-duplicate pairs of a collection: seconds, memory, precision and recall, beside other
ways to find them.

    python benchmarks/matching.py [--documents 10000] [--threshold 0.5] [--template 0.0]
        [--alike 0.0] [--recall 0.99] [--with nearfold,datasketch]
    python benchmarks/matching.py --growth 10000,100000,1000000 [--with nearfold]
    python benchmarks/matching.py --texts [--words 300] [--memory 512] [--jobs match,group]

Slots are synthetic, so that the similarity of every pair is known. Every way gets the same slots,
bands and rows (its own where it has defaults of its own), and runs in a process of its own on one
core. Memory is the peak of that process less what it held before the start; of mapped temporary
files what is resident counts too, and `own` is the memory without them. Of a way that is not
installed nothing is shown but that.

With `--texts`, texts of made-up words, half of them in families of edited copies, are signed into
an SQLite file; then the jobs run over it.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import sqlite3
import tempfile
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from corpora import (
    SLOTS,
    Codes,
    KnownPairs,
    fill_store,
    pair_codes,
    pairs_within,
    random_slots,
    random_texts,
)
from harness import Watch, arguments, sizes
from numpy.typing import NDArray

from indexer.comparing.band_plan import Plan, plan_by_weight, plan_for_recall
from indexer.fingerprinting.keys import band_hashes
from indexer.fingerprinting.minhash import wilson
from indexer.grouping.candidates import Join, SlotCounter
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.stores.base import Store
from indexer.system.external_memory import Sorter, SpillFiles

CAP, MEGABYTES = 1000, 512
Slots = NDArray[np.uint32]

# Ways to find the pairs: slots, the layout of bands, and how many slots must be equal


def nearfold(slots: Slots, layout: Plan, min_equal: int) -> tuple[Codes, str]:
    """Match as `nearfold match` does with its default settings, by slots alone."""
    budget = SpillFiles(MEGABYTES)
    join = Join(slots, layout.bands, layout.rows, np.arange(len(slots)), CAP, budget)
    counter, pairs = SlotCounter(slots, budget), Sorter(budget)
    candidates = 0
    for left, right in join.blocks():
        candidates += len(left)
        a, b, _ = counter.at_least(left, right, min_equal)
        pairs.add(pair_codes(a, b))
    note = f"{candidates:,} candidates, {join.capped.keys} capped bands"
    return np.array(pairs.sorted()), note


def datasketch(slots: Slots, layout: Plan, min_equal: int) -> tuple[Codes, str]:
    """Match by its LSH index, searched for each document before that is inserted; candidates are
    verified by equal slots.
    """
    from datasketch import MinHashLSH

    index = MinHashLSH(num_perm=SLOTS, params=(layout.bands, layout.rows))
    signed = [_lean(row) for row in slots]
    pairs: list[tuple[int, int]] = []
    for number, sketch in enumerate(signed):
        found = ((near, signed[near].hashvalues) for near in index.query(sketch))
        equal = ((near, np.count_nonzero(sketch.hashvalues == other)) for near, other in found)
        pairs += [(near, number) for near, count in equal if count >= min_equal]
        index.insert(number, sketch, check_duplication=False)
    return _codes(pairs), ""


def copietje(slots: Slots, layout: Plan, min_equal: int) -> tuple[Codes, str]:
    """Match as copietje does: sketches in an SQLite file, all inserted, each looked up; 26 x 4 and
    the estimate, its defaults.
    """
    from datasketch import LeanMinHash, MinHashLSH

    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(Path(folder) / "case.db")
        db.execute("CREATE TABLE document (id INTEGER PRIMARY KEY, minhash BLOB)")
        for number, row in enumerate(slots):
            sketch = _lean(row)
            packed = bytearray(sketch.bytesize("!"))
            sketch.serialize(packed, "!")
            db.execute("INSERT INTO document VALUES (?, ?)", (number, bytes(packed)))
        rows = db.execute("SELECT id, minhash FROM document")
        signed = {number: LeanMinHash.deserialize(packed, "!") for number, packed in rows}
        db.close()
    index = MinHashLSH(threshold=layout.threshold, num_perm=SLOTS, weights=(0.25, 0.75))
    for number, sketch in signed.items():
        index.insert(number, sketch)
    pairs = [
        (number, near)
        for number, sketch in signed.items()
        for near in index.query(sketch)
        if number < near and sketch.jaccard(signed[near]) >= layout.threshold
    ]
    default_layout = plan_by_weight(layout.threshold, SLOTS, 0.75)
    return _codes(pairs), f"{default_layout.bands} x {default_layout.rows}"


def text_dedup(slots: Slots, layout: Plan, min_equal: int) -> tuple[Codes, str]:
    """Match as text-dedup does: a dictionary for each band, buckets joined to their first document,
    clusters by union-find.

    Nothing is verified and clusters chain; the pairs are those inside the clusters.
    """
    tables: list[dict[bytes, list[int]]] = [defaultdict(list) for _ in range(layout.bands)]
    width = 4 * layout.rows
    for number, row in enumerate(slots):
        packed = row.tobytes()
        for band, table in enumerate(tables):
            table[packed[band * width : (band + 1) * width]].append(number)
    parents = list(range(len(slots)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for bucket in (bucket for table in tables for bucket in table.values()):
        for number in bucket[1:]:
            a, b = root(bucket[0]), root(number)
            parents[max(a, b)] = min(a, b)
    roots = np.array([root(number) for number in range(len(slots))])
    order = np.argsort(roots, kind="stable")
    _, counts = np.unique(roots, return_counts=True)
    a, b = pairs_within(np.cumsum(counts) - counts, counts)
    return np.sort(pair_codes(order[a], order[b])), "pairs inside clusters"


def duckdb(slots: Slots, layout: Plan, min_equal: int) -> tuple[Codes, str]:
    """Join band keys in SQL on one thread; candidates are verified by equal slots with numpy."""
    import duckdb as engine

    document = np.repeat(np.arange(len(slots), dtype=np.int32), layout.bands)
    band = np.tile(np.arange(layout.bands, dtype=np.int32), len(slots))
    hashes = band_hashes(slots, layout.bands, layout.rows).ravel()
    with tempfile.TemporaryDirectory() as folder:
        config = {"threads": 1, "temp_directory": folder}
        db = engine.connect(str(Path(folder) / "bands.db"), config=config)
        db.register("given", {"document": document, "band": band, "hash": hashes})
        db.execute("CREATE TABLE keys AS SELECT * FROM given")
        rows = db.execute(
            "SELECT DISTINCT a.document AS a, b.document AS b FROM keys a JOIN keys b "
            "ON a.hash = b.hash AND a.band = b.band AND a.document < b.document"
        ).fetchnumpy()
        db.close()
    left, right = (np.asarray(rows[name]).astype(np.int32) for name in "ab")
    a, b, _ = SlotCounter(slots).at_least(left, right, min_equal)
    return np.sort(pair_codes(a, b)), ""


def _lean(row: Slots) -> object:
    from datasketch import LeanMinHash

    return LeanMinHash(seed=1, hashvalues=row.astype(np.uint64), scheme="legacy")


def _codes(pairs: list[tuple[int, int]]) -> Codes:
    columns = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return np.sort(pair_codes(columns[:, 0], columns[:, 1]))


WAYS: dict[str, Callable[[Slots, Plan, int], tuple[Codes, str]]] = {
    "nearfold": nearfold,
    "datasketch": datasketch,
    "copietje": copietje,
    "text-dedup": text_dedup,
    "duckdb": duckdb,
}
LIBRARIES = {"datasketch": "datasketch", "copietje": "datasketch", "duckdb": "duckdb"}


@dataclass(frozen=True)
class Run:
    """Resources of one way, and the pairs it found, ascending."""

    seconds: float
    busy: float
    own: float
    resident: float
    pairs: Codes
    note: str


def run_in_process(name: str, file: str, layout: Plan, min_equal: int, answer: Connection) -> None:
    """Load, note the memory and find the pairs, in a fresh process."""
    slots = np.load(file)
    if name in LIBRARIES:
        importlib.import_module(LIBRARIES[name])
    with Watch() as watch:
        pairs, note = WAYS[name](slots, layout, min_equal)
    answer.send(Run(watch.seconds, watch.busy, watch.own, watch.resident, pairs, note))


def measure_run(name: str, file: str, layout: Plan, min_equal: int) -> Run | None:
    """Return one run; None when the process died, such as for lack of memory."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=run_in_process, args=(name, file, layout, min_equal, theirs)
    )
    process.start()
    theirs.close()
    try:
        run: Run | None = mine.recv()
    except EOFError:
        run = None
    process.join()
    return run


def print_ways(documents: int, layout: Plan, options: Namespace) -> dict[str, Run]:
    """Print a line for each way, and the recall of nearfold; return the runs."""
    known = random_slots(documents, options.template, np.random.default_rng(7), options.alike)
    print(f"\n{documents:,} documents, {len(known.pairs):,} known pairs,", end=" ")
    print(f"{layout.bands} bands x {layout.rows} rows, at {layout.threshold:g}")
    if options.template:
        print(f"{options.template:.0%} of the documents carry one template")
    if options.alike:
        print(f"two documents of different groups are {options.alike:.0%} alike")
    print(f"\n{'':12}{'seconds':>9}{'CPU s':>9}{'MB':>8}{'own MB':>8}{'pairs':>12}", end="")
    print(f"{'precision':>11}{'recall':>9}", flush=True)
    runs: dict[str, Run] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "slots.npy")
        np.save(file, known.slots)
        known = replace(known, slots=np.empty((0, SLOTS), dtype=np.uint32))
        for name in options.names.split(","):
            if name in LIBRARIES and importlib.util.find_spec(LIBRARIES[name]) is None:
                print(f"{name:12}is not installed")
                continue
            run = measure_run(name, file, layout, int(np.ceil(layout.threshold * SLOTS)))
            if run is None:
                print(f"{name:12}died", flush=True)
                continue
            runs[name] = run
            print_run(name, run, known, layout.threshold)
    if ours := runs.get("nearfold"):
        print_ratios(ours, runs)
        print_recall(ours.pairs, known, layout)
    return runs


def print_run(name: str, run: Run, known: KnownPairs, threshold: float) -> None:
    true = np.isin(run.pairs, known.pairs, assume_unique=True).sum()
    similar = known.pairs[known.similarity >= threshold]
    recall = np.isin(similar, run.pairs, assume_unique=True).mean() if len(similar) else 1.0
    print(f"{name:12}{run.seconds:9.2f}{run.busy:9.2f}{run.resident:8.0f}{run.own:8.0f}", end="")
    precision = true / max(1, len(run.pairs))
    print(f"{len(run.pairs):12,}{precision:11.2%}{recall:9.2%}  {run.note}", flush=True)


def print_ratios(ours: Run, runs: dict[str, Run]) -> None:
    """Print how many times as much the others take, and whether the pairs are the same."""
    print()
    for name, run in runs.items():
        if name != "nearfold":
            memory = run.resident / max(ours.resident, 1e-9)
            other = len(np.setxor1d(ours.pairs, run.pairs, assume_unique=True))
            print(f"{name:12}{run.busy / ours.busy:8.1f} x CPU{memory:8.1f} x MB", end="")
            print(f"{other:14,} pairs found by one of both only")


def print_recall(pairs: Codes, known: KnownPairs, layout: Plan) -> None:
    """Print the recall by true similarity; a pair is listed when enough of its slots are equal."""
    print(f"\n{'similarity':>12}{'pairs':>11}{'listed':>11}{'recall':>9}", end="  ")
    print(f"{'95 % interval':16}{'share a band (plan)':>20}")
    is_found = np.isin(known.pairs, pairs, assume_unique=True)
    for tenth in range(3, 10):
        low, high = tenth / 10, (tenth + 1) / 10 if tenth < 9 else 1.1
        chosen = (known.similarity >= low) & (known.similarity < high)
        count, hits = int(chosen.sum()), int(is_found[chosen].sum())
        if count:
            ends = wilson(hits, count)
            similarities = known.similarity[chosen][:10_000]
            planned = float(np.mean([layout.recall(value) for value in similarities]))
            span = f"{ends[0]:.1%} - {ends[1]:.1%}"
            print(f"{low:6.1f}-{low + 0.1:.1f}  {count:11,}{hits:11,}{hits / count:9.1%}", end="  ")
            print(f"{span:16}{planned:20.1%}", flush=True)


def print_growth(runs: dict[int, dict[str, Run]]) -> None:
    print(f"\n{'growth':12}" + "".join(f"{size:>22,}" for size in runs))
    for name in dict.fromkeys(name for of_size in runs.values() for name in of_size):
        cells = [of_size.get(name) for of_size in runs.values()]
        texts = [f"{run.busy:.1f} s{run.resident:7.0f} MB" if run else "-" for run in cells]
        print(f"{name:12}" + "".join(f"{text:>22}" for text in texts))


def named_texts(documents: int, words: int) -> Iterator[tuple[str, str]]:
    """Yield texts by name, made some thousands at a time."""
    rng = np.random.default_rng(9)
    for start in range(0, documents, 5000):
        for number, text in enumerate(random_texts(min(5000, documents - start), words, rng)):
            yield f"{start + number:09}", text


def measure_texts(options: Namespace) -> None:
    """Print what jobs over texts in a store's file take."""
    threshold, memory = options.threshold, options.memory
    grouping = GroupOptions(threshold=max(threshold, 0.8))
    exact, complete = (MatchOptions(threshold, **{mode: True}) for mode in ("exact", "all_pairs"))
    jobs: dict[str, Callable[[Store], object]] = {
        "match": lambda store: match(store, MatchOptions(threshold), memory=memory),
        "exact": lambda store: match(store, exact, memory=memory),
        "complete": lambda store: match(store, complete, memory=memory),
        "group": lambda store: group(store, grouping, memory=memory),
    }
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        file = Path(folder, "x.db")
        store = fill_store(f"sqlite:///{file}", named_texts(options.documents, options.words))
        print(f"{options.documents:,} documents of {options.words} words, signed in", end=" ")
        print(f"{time.perf_counter() - started:,.0f} s, a file of", end=" ")
        print(f"{file.stat().st_size / 1e6:,.0f} MB; at {threshold:g}, --memory {memory}\n")
        print(f"{'':10}{'seconds':>9}{'CPU s':>9}{'own MB':>9}{'resident MB':>13}", flush=True)
        pairs: dict[str, set[tuple[str, str]]] = {}
        for name in options.jobs.split(","):
            with Watch() as watch:
                done = jobs[name](store)
            outcome = f"{done.families:,} groups" if name == "group" else f"{len(done):,} pairs"
            print(f"{name:10}{watch.seconds:9.1f}{watch.busy:9.1f}{watch.own:9.0f}", end="")
            print(f"{watch.resident:13.0f}  {outcome}", flush=True)
            if name in ("exact", "complete"):
                pairs[name] = {(pair.a, pair.b) for pair in done}
        if len(pairs) == 2:
            found = len(pairs["exact"] & pairs["complete"]) / max(1, len(pairs["complete"]))
            print(f"\nof the pairs of the complete mode the bands find {found:.2%}")
        store.close()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--growth", type=sizes, help="sizes to run, instead of --documents")
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--template", type=float, default=0.0, help="fraction that carries one")
    parser.add_argument("--alike", type=float, default=0.0, help="similarity of other documents")
    parser.add_argument("--recall", type=float, help="of the bands; planned as datasketch without")
    parser.add_argument("--with", dest="names", default=",".join(WAYS))
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--memory", type=int, default=512)
    parser.add_argument("--jobs", default="match,exact,complete,group")
    options = parser.parse_args()
    if options.texts:
        measure_texts(options)
        return
    layout = plan_by_weight(options.threshold, SLOTS)
    if options.recall:
        layout = plan_for_recall(options.threshold, options.recall, SLOTS)
    documents = options.growth or [options.documents]
    runs = {size: print_ways(size, layout, options) for size in documents}
    if len(runs) > 1:
        print_growth(runs)


if __name__ == "__main__":
    main()
