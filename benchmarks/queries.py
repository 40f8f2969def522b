"""Cost of scoring hits by sketch inside an engine, beside the same search without.

    python benchmarks/queries.py opensearch://127.0.0.1:9200 [--documents 5000] [--runs 15]

The best hits are scored by the installed scripts; `floor` is the same request with a script that
reads nothing. Medians in milliseconds, runs interleaved after a warm-up. Texts are of 10,000
characters. What it makes, it deletes.
"""

from __future__ import annotations

import base64
import random
import secrets
import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from corpora import signed_rows
from harness import arguments, merge_segments, seconds_of

from indexer.fingerprinting.keys import signed64
from indexer.jobs.install import install, uninstall
from indexer.model import Row
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.engine.asset_bodies import MINHASH8_SCORE, SIMHASH_SCORE

WORDS = [f"word{number}" for number in range(3_000)]
SLOTS = 128  # of one byte


def made_up_rows(numbers: Sequence[int], chance: random.Random) -> list[Row]:
    """Return rows with random sketches of both kinds and without keys."""
    named = [(f"{number:08}", " ".join(chance.choices(WORDS, k=1_700))) for number in numbers]
    return [
        replace(
            row,
            minhash=chance.randbytes(SLOTS),
            simhash=chance.getrandbits(64),
            bands=(),
            blocks=(),
        )
        for row in signed_rows(named)
    ]


def search_body(window: int = 0, script: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a search for ten documents, of which a window is scored by a script."""
    body = {"size": 10, "_source": False, "track_total_hits": False, "query": {"match_all": {}}}
    if not window:
        return body
    scored = {"script_score": {"query": {"match_all": {}}, "script": script}}
    rescored = {"query_weight": 0, "rescore_query": scored}
    return {**body, "rescore": {"window_size": window, "query": rescored}}


def bodies(chance: random.Random) -> dict[str, dict[str, Any]]:
    minhash = base64.b64encode(chance.randbytes(SLOTS)).decode()
    slots = {"id": MINHASH8_SCORE, "params": {"minhash": minhash}}
    bits = {"id": SIMHASH_SCORE, "params": {"simhash": signed64(chance.getrandbits(64))}}
    return {
        "no window": search_body(),
        "100 by slots": search_body(100, slots),
        "1,000 by slots": search_body(1_000, slots),
        "1,000 by Hamming distance": search_body(1_000, bits),
        "1,000, floor": search_body(1_000, {"source": "return 0.5;"}),
    }


def print_times(search: Any, bodies: dict[str, dict[str, Any]], runs: int) -> None:
    """Print a line for each search, with its time as a multiple of the first's."""
    seen: dict[str, list[float]] = {name: [] for name in bodies}
    for run in range(runs + 2):
        for name, body in bodies.items():
            seconds = seconds_of(partial(search, body))
            seen[name] += [seconds] if run >= 2 else []
    medians = {name: 1000 * statistics.median(times) for name, times in seen.items()}
    print(f"{'':<34}{'ms':>8}{'ratio':>8}")
    for name, median in medians.items():
        print(f"{name:<34}{median:>8.1f}{median / medians['no window']:>8.2f}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("server", help="opensearch://HOST:PORT or elasticsearch://HOST:PORT")
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    name = f"nearfold-benchmark-{secrets.token_hex(4)}"
    store: Any = open_store(f"{options.server}/{name}?replicas=0")
    chance = random.Random(5)
    try:
        if not install(store).complete:
            raise SystemExit("this engine has no painless: nothing is scored there")
        store.prepare(DEFAULT)
        numbers = range(options.documents)
        for start in numbers[::250]:
            assert not any(store.write(made_up_rows(numbers[start : start + 250], chance)))
        merge_segments(store, store.index.location.index)
        print_times(store.index.queries("documents").search, bodies(chance), options.runs)
    finally:
        store.index.requests.send("DELETE", store.index.location.index)
        uninstall(store)
        store.close()


if __name__ == "__main__":
    main()
