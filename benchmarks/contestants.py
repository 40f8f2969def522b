"""Ways to find the near-duplicate pairs among documents of known slots; each gets the same slots,
bands, rows and threshold.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from synthetic_collections import SLOTS, Codes, pair_codes, pairs_within

from indexer.joins.bands import Join
from indexer.joins.external_sort import Sorter
from indexer.joins.slot_counter import SlotCounter
from indexer.sketch.keys import band_hashes
from indexer.sketch.plan import Plan, plan_by_weight
from indexer.system.spill_files import SpillFiles

CAP, MEGABYTES = 1000, 512
Slots = NDArray[np.uint32]


def nearfold(slots: Slots, layout: Plan, least: int) -> tuple[Codes, str]:
    """Match as `nearfold match` does with its default settings, by slots alone."""
    budget = SpillFiles(MEGABYTES)
    join, counter, pairs = (
        Join(slots, layout.bands, layout.rows, np.arange(len(slots)), CAP, budget),
        SlotCounter(slots, budget),
        Sorter(budget),
    )
    candidates = 0
    for left, right in join.blocks():
        candidates += len(left)
        a, b, _ = counter.at_least(left, right, least)
        pairs.add(pair_codes(a, b))
    note = f"{candidates:,} candidates, {join.capped.keys} capped bands"
    return np.array(pairs.sorted()), note


def datasketch(slots: Slots, layout: Plan, least: int) -> tuple[Codes, str]:
    """Match by its LSH index, asked for each document before that goes in, candidates by equal
    slots.
    """
    from datasketch import LeanMinHash, MinHashLSH

    index = MinHashLSH(num_perm=SLOTS, params=(layout.bands, layout.rows))
    signed = [
        LeanMinHash(seed=1, hashvalues=row.astype(np.uint64), scheme="legacy") for row in slots
    ]
    pairs: list[tuple[int, int]] = []
    for place, sketch in enumerate(signed):
        candidates = (
            near_place
            for near_place in index.query(sketch)
            if np.count_nonzero(sketch.hashvalues == signed[near_place].hashvalues) >= least
        )
        pairs += [(near_place, place) for near_place in candidates]
        index.insert(place, sketch, check_duplication=False)
    return _codes(pairs), ""


def copietje(slots: Slots, layout: Plan, least: int) -> tuple[Codes, str]:
    """Match as copietje does: sketches in an SQLite file, all inserted, each asked for; 26 x 4 and
    the estimate, its defaults.
    """
    from datasketch import LeanMinHash, MinHashLSH

    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(Path(folder) / "case.db")
        db.execute("CREATE TABLE document (id INTEGER PRIMARY KEY, minhash BLOB)")
        for place, row in enumerate(slots):
            sketch = LeanMinHash(seed=1, hashvalues=row.astype(np.uint64), scheme="legacy")
            packed = bytearray(sketch.bytesize("!"))
            sketch.serialize(packed, "!")
            db.execute("INSERT INTO document VALUES (?, ?)", (place, bytes(packed)))
        default_layout = plan_by_weight(layout.threshold, SLOTS, 0.75)
        index = MinHashLSH(threshold=layout.threshold, num_perm=SLOTS, weights=(0.25, 0.75))
        signed = {
            place: LeanMinHash.deserialize(packed, "!")
            for place, packed in db.execute("SELECT id, minhash FROM document")
        }
        db.close()
    for place, sketch in signed.items():
        index.insert(place, sketch)
    pairs = [
        (place, near_place)
        for place, sketch in signed.items()
        for near_place in index.query(sketch)
        if place < near_place and sketch.jaccard(signed[near_place]) >= layout.threshold
    ]
    return _codes(pairs), f"{default_layout.bands} x {default_layout.rows}"


def text_dedup(slots: Slots, layout: Plan, _least: int) -> tuple[Codes, str]:
    """Match as text-dedup does: a dictionary for each band, buckets joined to their first document,
    clusters by union-find.

    Nothing is verified and clusters chain; the pairs are those inside the clusters.
    """
    tables: list[dict[bytes, list[int]]] = [defaultdict(list) for _ in range(layout.bands)]
    for place, row in enumerate(slots):
        packed = row.tobytes()
        for band, table in enumerate(tables):
            table[packed[4 * band * layout.rows : 4 * (band + 1) * layout.rows]].append(place)
    parents = list(range(len(slots)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    for table in tables:
        for bucket in table.values():
            for place in bucket[1:]:
                a, b = root(bucket[0]), root(place)
                parents[max(a, b)] = min(a, b)
    roots = np.array([root(place) for place in range(len(slots))])
    order = np.argsort(roots, kind="stable")
    _, sizes = np.unique(roots, return_counts=True)
    a, b = pairs_within(np.cumsum(sizes) - sizes, sizes)
    return np.sort(pair_codes(order[a], order[b])), "pairs inside clusters"


def duckdb(slots: Slots, layout: Plan, least: int) -> tuple[Codes, str]:
    """A join of band keys in SQL on one thread; what it finds is judged by equal slots with
    numpy.
    """
    import duckdb as engine

    hashes = band_hashes(slots, layout.bands, layout.rows)
    document = np.repeat(np.arange(len(slots), dtype=np.int32), layout.bands)
    band = np.tile(np.arange(layout.bands, dtype=np.int32), len(slots))
    with tempfile.TemporaryDirectory() as folder:
        db = engine.connect(
            str(Path(folder) / "bands.db"), config={"threads": 1, "temp_directory": folder}
        )
        keys = {"document": document, "band": band, "hash": hashes.ravel()}
        db.register("given", keys)
        db.execute("CREATE TABLE keys AS SELECT * FROM given")
        rows = db.execute(
            "SELECT DISTINCT a.document AS a, b.document AS b FROM keys a JOIN keys b "
            "ON a.hash = b.hash AND a.band = b.band AND a.document < b.document"
        ).fetchnumpy()
        db.close()
    left, right = (np.asarray(rows[side]).astype(np.int32) for side in "ab")
    a, b, _ = SlotCounter(slots).at_least(left, right, least)
    return np.sort(pair_codes(a, b)), ""


def _codes(pairs: list[tuple[int, int]]) -> Codes:
    columns = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return np.sort(pair_codes(columns[:, 0], columns[:, 1]))


Contestant = Callable[[Slots, Plan, int], tuple[Codes, str]]
CONTESTANTS: dict[str, Contestant] = {
    "nearfold": nearfold,
    "datasketch": datasketch,
    "copietje": copietje,
    "text-dedup": text_dedup,
    "duckdb": duckdb,
}
