"""All near-duplicate pairs of a collection: seconds, memory, precision and recall, beside other
ways to find them.

    python benchmarks/matching.py [--documents 10000] [--threshold 0.5] [--template 0.0]
        [--alike 0.0] [--recall 0.99] [--with nearfold,datasketch]
    python benchmarks/matching.py --growth 10000,100000,1000000 [--with nearfold]

Slots are synthetic, so that the similarity of every pair is known. Every contestant gets the same
slots, bands and rows (its own where it has defaults of its own), and runs in a process of its own
on one core. Memory is the peak of that process less what it held before the start; of mapped
temporary files what is resident counts too, and `own` is the memory without them. Of a contestant
that is not installed nothing is shown but that.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import tempfile
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from contestants import CONTESTANTS
from synthetic_collections import SLOTS, Codes, KnownPairs, random_slots
from watching import Watch

from indexer.sketch.plan import Plan, plan_by_weight, plan_for_recall
from indexer.sketch.wilson import wilson

LIBRARIES = {"datasketch": "datasketch", "copietje": "datasketch", "duckdb": "duckdb"}


@dataclass(frozen=True)
class Run:
    """Resources of one contestant, and the pairs it found, ascending."""

    seconds: float
    busy: float
    own: float
    resident: float
    pairs: Codes
    note: str


def contest(name: str, file: str, layout: Plan, least: int, answer: Connection) -> None:
    """Load, note the memory and find the pairs, in a fresh process."""
    slots = np.load(file)
    if name in LIBRARIES:
        importlib.import_module(LIBRARIES[name])
    with Watch() as watch:
        pairs, note = CONTESTANTS[name](slots, layout, least)
    answer.send(Run(watch.seconds, watch.busy, watch.own, watch.resident, pairs, note))


def measure_run(name: str, file: str, layout: Plan, least: int) -> Run | None:
    """Return one run; None when the process died, such as for lack of memory."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=contest, args=(name, file, layout, least, theirs)
    )
    process.start()
    theirs.close()
    try:
        run: Run | None = mine.recv()
    except EOFError:
        run = None
    process.join()
    return run


def print_contest(
    documents: int, layout: Plan, template: float, alike: float, names: list[str]
) -> dict[str, Run]:
    threshold = layout.threshold
    least = int(np.ceil(threshold * SLOTS))
    collection = random_slots(documents, template, np.random.default_rng(7), alike)
    print(
        f"\n{documents:,} documents, {len(collection.pairs):,} known pairs, {layout.bands} bands x "
        f"{layout.rows} rows, "
        f"at {threshold:g}"
    )
    if template:
        print(f"{template:.0%} of the documents carry one template")
    if alike:
        print(f"two documents of different families are {alike:.0%} alike")
    print(
        f"\n{'':12}{'seconds':>9}{'CPU s':>9}{'MB':>8}{'own MB':>8}{'pairs':>12}{'precision':>11}"
        f"{'recall':>9}",
        flush=True,
    )
    runs: dict[str, Run] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "slots.npy")
        np.save(file, collection.slots)
        collection = replace(collection, slots=np.empty((0, SLOTS), dtype=np.uint32))
        for name in names:
            if LIBRARIES.get(name) and importlib.util.find_spec(LIBRARIES[name]) is None:
                print(f"{name:12}is not installed")
            elif run := measure_run(name, file, layout, least):
                runs[name] = run
                print_run(name, run, collection, threshold)
            else:
                print(f"{name:12}died", flush=True)
    print_ratios(runs)
    if "nearfold" in runs:
        print_recall(runs["nearfold"].pairs, collection, layout)
    return runs


def print_run(name: str, run: Run, collection: KnownPairs, threshold: float) -> None:
    true = np.isin(run.pairs, collection.pairs, assume_unique=True).sum()
    similar = collection.pairs[collection.similarity >= threshold]
    recall = np.isin(similar, run.pairs, assume_unique=True).mean() if len(similar) else 1.0
    numbers = (
        f"{run.seconds:9.2f}{run.busy:9.2f}{run.resident:8.0f}{run.own:8.0f}{len(run.pairs):12,}"
    )
    print(
        f"{name:12}{numbers}{true / max(1, len(run.pairs)):11.2%}{recall:9.2%}  {run.note}",
        flush=True,
    )


def print_ratios(runs: dict[str, Run]) -> None:
    """Print how many times as much the others take, and whether the pairs are the same."""
    if "nearfold" not in runs:
        return
    ours = runs["nearfold"]
    print()
    for name, run in runs.items():
        if name != "nearfold":
            memory = run.resident / max(ours.resident, 1e-9)
            apart = len(np.setxor1d(ours.pairs, run.pairs, assume_unique=True))
            print(
                f"{name:12}{run.busy / ours.busy:8.1f} x CPU{memory:8.1f} x MB{apart:14,} pairs "
                "found by one of both only"
            )


def print_recall(pairs: Codes, collection: KnownPairs, layout: Plan) -> None:
    print(
        "\nrecall by true similarity; a pair is listed when enough of its slots are equal, half "
        "of them at the threshold\n"
    )
    print(
        f"{'similarity':>12}{'pairs':>11}{'listed':>11}{'recall':>9}  "
        f"{'95 % interval':16}{'share a band (plan)':>20}"
    )
    is_found = np.isin(collection.pairs, pairs, assume_unique=True)
    for tenth in range(3, 10):
        low, high = tenth / 10, (tenth + 1) / 10 if tenth < 9 else 1.1
        chosen = (collection.similarity >= low) & (collection.similarity < high)
        count, hits = int(chosen.sum()), int(is_found[chosen].sum())
        if count:
            ends = wilson(hits, count)
            expected = float(
                np.mean([layout.recall(value) for value in collection.similarity[chosen][:10_000]])
            )
            span = f"{ends[0]:.1%} - {ends[1]:.1%}"
            print(
                f"{low:6.1f}-{low + 0.1:.1f}  {count:11,}{hits:11,}{hits / count:9.1%}  "
                f"{span:16}{expected:20.1%}"
            )
    print(
        "precision: listed pairs that are true, at any similarity; recall: true pairs at the "
        "threshold or above",
        flush=True,
    )


def print_growth(sizes: list[int], runs: dict[int, dict[str, Run]]) -> None:
    print(f"\n{'growth':12}" + "".join(f"{size:>22,}" for size in sizes))
    for name in dict.fromkeys(name for size in sizes for name in runs[size]):
        cells = [runs[size].get(name) for size in sizes]
        print(
            f"{name:12}"
            + "".join(
                f"{cell.busy:10.1f} s{cell.resident:7.0f} MB" if cell else f"{'-':>22}"
                for cell in cells
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--growth", help="sizes to run one after the other, instead of --documents")
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument(
        "--template", type=float, default=0.0, help="share of documents that carry one template"
    )
    parser.add_argument(
        "--alike", type=float, default=0.0, help="similarity of documents of different families"
    )
    parser.add_argument(
        "--recall", type=float, help="of the bands at the threshold (default: as datasketch plans)"
    )
    parser.add_argument("--with", dest="names", default=",".join(CONTESTANTS))
    chosen = parser.parse_args()
    names = chosen.names.split(",")
    sizes = (
        [int(size) for size in chosen.growth.split(",")] if chosen.growth else [chosen.documents]
    )
    layout = plan_by_weight(chosen.threshold, SLOTS)
    if chosen.recall:
        layout = plan_for_recall(chosen.threshold, chosen.recall, SLOTS)
    runs = {
        size: print_contest(size, layout, chosen.template, chosen.alike, names) for size in sizes
    }
    if len(sizes) > 1:
        print_growth(sizes, runs)


if __name__ == "__main__":
    main()
