"""All near-duplicate pairs of a collection: seconds, memory and recall, beside datasketch's MinHashLSH in the same run.

    python benchmarks/matching.py [--documents 10000] [--threshold 0.5] [--template 0.0]
    python benchmarks/matching.py --texts [--documents 10000]

Slots are planted: every document is drawn at random, or is a copy of another of which each slot was kept with chance s, so
that the similarity of every pair is known. Families have 2 to 40 documents (a few large ones), s runs from 0.3 to 1. With
--template a share of all documents carries 40 slots in common, as forms do: unrelated documents in hot bands. Each contestant
has the same slots, bands and rows, and judges candidates by equal slots; it runs in a process of its own, and memory is
the peak of that process less what it held before the start. `--texts` runs the whole line instead (texts, a store in a file,
match, the complete mode, group), ours alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting import fingerprints
from indexer.grouping import group
from indexer.joining import Join, SlotCounter
from indexer.model import Blob, Document
from indexer.pairs import match
from indexer.planning import Plan, plan
from indexer.recipe import DEFAULT
from indexer.sketch.statistics import wilson
from indexer.stages import Extracted, row_of
from indexer.stores import open_store

SLOTS, CAP = 128, 1000
Pairs = set[tuple[int, int]]


def planted(
    documents: int, template: float, random: np.random.Generator
) -> tuple[NDArray[np.uint32], dict[tuple[int, int], float]]:
    """Slots, and the similarity of every pair that was planted: the product of the shares that both kept of one original."""
    slots = random.integers(0, 2**32, (documents, SLOTS), dtype=np.uint32)
    truth: dict[tuple[int, int], float] = {}
    place = 0
    while place < documents // 2:
        size = int(min(40, 2 + random.pareto(1.5)))
        members = np.arange(place, place + size)
        kept = random.uniform(0.3, 1.0, size) ** 0.5
        kept[0] = 1.0
        mask = random.random((size, SLOTS)) < kept[:, None]
        slots[members] = np.where(mask, slots[place], slots[members])
        for i in range(size):
            for j in range(i):
                truth[place + j, place + i] = float(kept[i] * kept[j])
        place += size
    forms = random.permutation(np.arange(documents // 2, documents))[: int(template * documents)]
    slots[forms, :40] = slots[forms[:1], :40]
    order = random.permutation(documents)
    places = np.argsort(order).tolist()
    return slots[order], {tuple(sorted((places[a], places[b]))): value for (a, b), value in truth.items()}  # type: ignore[misc]


def ours(slots: NDArray[np.uint32], layout: Plan, least: int) -> tuple[Pairs, str]:
    join, counter = Join(slots, layout.bands, layout.rows, np.arange(len(slots)), CAP), SlotCounter(slots)
    found: list[NDArray[np.int32]] = []
    for left, right in join.blocks():
        a, b, _ = counter.at_least(left, right, least)
        found.append(np.stack([a, b]))
    pairs = np.concatenate(found, axis=1) if found else np.zeros((2, 0), np.int32)
    return set(map(tuple, pairs.T.tolist())), f"{join.capped.keys} capped bands"


def datasketch(slots: NDArray[np.uint32], layout: Plan, least: int) -> tuple[Pairs, str]:
    from datasketch import LeanMinHash, MinHashLSH

    index = MinHashLSH(num_perm=SLOTS, params=(layout.bands, layout.rows))
    signed = [LeanMinHash(seed=1, hashvalues=row.astype(np.uint64), scheme="legacy") for row in slots]
    found: Pairs = set()
    for place, one in enumerate(signed):
        for other in index.query(one):
            if np.count_nonzero(one.hashvalues == signed[other].hashvalues) >= least:
                found.add((other, place))
        index.insert(place, one, check_duplication=False)
    return found, ""


CONTESTANTS: dict[str, Callable[[NDArray[np.uint32], Plan, int], tuple[Pairs, str]]] = {
    "nearfold": ours,
    "datasketch": datasketch,
}


def memory(line: str = "VmHWM") -> float:
    """The most resident memory of this process since `forget_peak`, or with `VmRSS` what it holds now, in MB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{line}:")[2].split()[0]) / 1024


def forget_peak() -> float:
    """Begin to measure the peak anew; the memory held now, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def contest(name: str, file: str, layout: Plan, least: int, answer: Connection) -> None:
    """Run in a fresh process: load, note the memory, find the pairs."""
    slots = np.load(file)
    if name == "datasketch":
        import datasketch as _  # noqa: F401
    before, began, busy = forget_peak(), time.perf_counter(), time.process_time()
    pairs, note = CONTESTANTS[name](slots, layout, least)
    answer.send((time.perf_counter() - began, time.process_time() - busy, memory() - before, pairs, note))


def measured(name: str, file: str, layout: Plan, least: int) -> tuple[float, float, float, Pairs, str]:
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=contest, args=(name, file, layout, least, theirs))
    process.start()
    theirs.close()
    result: tuple[float, float, float, Pairs, str] = mine.recv()
    process.join()
    return result


def print_recall(found: Pairs, truth: dict[tuple[int, int], float], layout: Plan) -> None:
    print(
        "\nrecall by planted similarity; pairs are listed when their slots are, so near the threshold half of them cannot be\n"
    )
    print(f"{'similarity':>12}{'planted':>9}{'listed':>9}{'recall':>9}  {'95 % interval':16}{'share a band (plan)':>20}")
    for tenth in range(3, 10):
        low = tenth / 10
        inside = [(pair, value) for pair, value in truth.items() if low <= value < low + 0.1 or (tenth == 9 and value == 1.0)]
        hits = sum(pair in found for pair, _ in inside)
        if inside:
            ends = wilson(hits, len(inside))
            expected = sum(layout.recall(value) for _, value in inside) / len(inside)
            span = f"{ends[0]:.1%} - {ends[1]:.1%}"
            print(f"{low:6.1f}-{low + 0.1:.1f}  {len(inside):9,}{hits:9,}{hits / len(inside):9.1%}  {span:16}{expected:20.1%}")


def print_contest(documents: int, threshold: float, template: float) -> None:
    layout = plan(threshold, SLOTS)
    least = int(np.ceil(threshold * SLOTS))
    slots, truth = planted(documents, template, np.random.default_rng(7))
    print(f"{documents:,} documents, {len(truth):,} planted pairs, {layout.bands} bands x {layout.rows} rows, at {threshold:g}")
    if template:
        print(f"{template:.0%} of the documents carry one template")
    print(f"\n{'':12}{'seconds':>9}{'CPU s':>9}{'MB':>9}{'pairs':>10}{'precision':>11}{'recall':>9}")
    made: dict[str, tuple[float, float, float, Pairs, str]] = {}
    similar = {pair for pair, value in truth.items() if value >= threshold}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "slots.npy")
        np.save(file, slots)
        for name in CONTESTANTS:
            made[name] = seconds, busy, megabytes, pairs, note = measured(name, file, layout, least)
            precision = len(pairs & truth.keys()) / len(pairs) if pairs else 1.0
            recall = len(pairs & similar) / len(similar)
            print(f"{name:12}{seconds:9.2f}{busy:9.2f}{megabytes:9.0f}{len(pairs):10,}{precision:11.2%}{recall:9.2%}  {note}")
    a, b = made["nearfold"], made["datasketch"]
    print(f"{'ratio':12}{b[0] / a[0]:8.1f}x{b[1] / a[1]:8.1f}x{b[2] / max(a[2], 1e-9):8.1f}x")
    print(f"same pairs: {a[3] == b[3]} ({len(a[3] - b[3]):,} only ours, {len(b[3] - a[3]):,} only datasketch)")
    print("precision: listed pairs that were planted, at any similarity; recall: pairs planted at the threshold or above")
    print_recall(a[3], truth, layout)


def written(documents: int, words: int, random: np.random.Generator) -> list[str]:
    """Texts of some `words` words; half of them in families, edited at random places."""
    vocabulary = np.array(["".join(random.choice(list("etaoinshrdlucm"), length)) for length in random.integers(2, 9, 20_000)])
    texts: list[str] = []
    while len(texts) < documents:
        original = random.choice(vocabulary, words)
        for _ in range(1 if random.random() < 0.5 else int(min(20, 2 + random.pareto(1.5)))):
            edited = original.copy()
            places = random.random(words) < random.uniform(0, 0.15)
            edited[places] = random.choice(vocabulary, places.sum())
            texts.append(" ".join(edited))
    return texts[:documents]


def print_texts(documents: int, threshold: float) -> None:
    texts = written(documents, 300, np.random.default_rng(9))
    print(f"{documents:,} documents of 300 words in an SQLite file, at {threshold:g}\n")
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/x.db")
        store.prepare(DEFAULT)
        for start in range(0, documents, 1000):
            part = texts[start : start + 1000]
            signed = fingerprints(part)
            blobs = (Blob(f"{start + i:08}", b"", f"/{start + i}", b"", len(text), 0) for i, text in enumerate(part))
            items = (Extracted(blob, "", "", Document(text)) for blob, text in zip(blobs, part, strict=True))
            store.write([row_of(item, signed[place], DEFAULT.id) for place, item in enumerate(items)])
        before = forget_peak()
        for name, run in (
            ("match", lambda: match(store, threshold=threshold)),
            ("match, exact", lambda: match(store, threshold=threshold, exact=True)),
            ("match, complete", lambda: match(store, threshold=threshold, all_pairs=True)),
            ("group", lambda: group(store, threshold=max(threshold, 0.8))),
        ):
            began = time.perf_counter()
            done = run()
            told = f"{len(done):,} pairs" if name != "group" else f"{done.families:,} families"  # type: ignore
            print(f"{name:18}{time.perf_counter() - began:8.1f} s   {told:20} peak so far {memory() - before:+,.0f} MB")
            if name == "match, exact":
                likely = {(pair.a, pair.b) for pair in done}  # type: ignore
            if name == "match, complete":
                every = {(pair.a, pair.b): pair.similarity for pair in done}  # type: ignore
                print(f"{'':18}of the complete mode's pairs the bands find {len(likely & every.keys()) / len(every):.2%}")
        store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--template", type=float, default=0.0, help="share of documents that carry one template")
    parser.add_argument("--texts", action="store_true", help="run the whole line on texts instead")
    chosen = parser.parse_args()
    if chosen.texts:
        print_texts(chosen.documents, chosen.threshold)
    else:
        print_contest(chosen.documents, chosen.threshold, chosen.template)


if __name__ == "__main__":
    main()
