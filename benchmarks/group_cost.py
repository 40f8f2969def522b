"""Processor time of `group` by its conditions, of this checkout and of another one.

    python benchmarks/group_cost.py STORE [--before CHECKOUT] [--runs 5] [--only CONDITION]

STORE is the URL of a store; nothing is written to it. It should not have been grouped before: the
similarities that `group` keeps beside the journal (docs/families.md) would not be measured again.
`replaced<=2` is the default condition, `any` asks for none. Each run is a process of its own; the
conditions and the checkouts take turns, so that programs beside them slow all alike. Prints for
each condition the families of two or more, the documents in them, the median of the processor
seconds of `group` without imports, the most memory that one of these processes had resident,
imports included, and the medians of the ratios run by run: to `any`, and to the other checkout,
also of the elapsed time, of which a store in a search engine takes a part. Says whether the
families are the same in both checkouts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONDITIONS = {
    "any": {"require": ["replaced<=1000000"]},
    "replaced<=2": {},
    "novelty<=20": {"require": ["novelty<=20", "replaced<=1000000"]},
    "numbers distinguish": {"numbers": "distinguish", "require": ["replaced<=1000000"]},
}


def measure(url: str, condition: str) -> None:
    """Group in memory, and print seconds and what was found."""
    from indexer import GroupOptions, group, open_store
    from indexer.similarity.criteria import Criteria

    store = open_store(url)
    options = GroupOptions(criteria=Criteria.from_settings(CONDITIONS[condition]))
    start, began = time.process_time(), time.perf_counter()
    result = group(store, options, write=False)
    seconds, elapsed = time.process_time() - start, time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    members = result.documents - result.singletons
    print(json.dumps([seconds, elapsed, result.families, members, megabytes]))


def run(checkout: Path, url: str, condition: str) -> list[float]:
    """Return both times, families, their documents, and MB of memory, of a checkout's process."""
    command = [sys.executable, __file__, url, "--condition", condition]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    values: list[float] = json.loads(answer.stdout)
    return values


def median_ratio(runs: list[list[float]], others: list[list[float]], place: int) -> str:
    """Return the median of the ratios of one value of each run to that of its other run."""
    pairs = zip(runs, others, strict=True)
    return f"{statistics.median(run[place] / other[place] for run, other in pairs):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store")
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=CONDITIONS, help="one condition")
    parser.add_argument("--condition", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.condition:
        measure(options.store, options.condition)
        return
    conditions = [options.only] if options.only else list(CONDITIONS)
    checkouts = [ROOT, *([options.before.resolve()] if options.before else [])]
    runs = [
        {
            (checkout, condition): run(checkout, options.store, condition)
            for condition in conditions
            for checkout in checkouts
        }
        for _ in range(options.runs)
    ]
    print(
        "| condition | families | documents in them | seconds | MB | to `any` "
        "| to the other checkout | elapsed, to the other |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for condition in conditions:
        own = [run[ROOT, condition] for run in runs]
        first = [run[ROOT, conditions[0]] for run in runs]
        before = [run[checkouts[-1], condition] for run in runs]
        to_any = median_ratio(own, first, 0)
        other = [median_ratio(own, before, 0), median_ratio(own, before, 1)]
        seconds = statistics.median(values[0] for values in own)
        _, _, families, members, _ = own[0]
        megabytes = f"{max(values[4] for values in own):.0f}"
        cells = condition, f"{families:,}", f"{members:,}", f"{seconds:.1f}", megabytes, to_any
        print(f"| {' | '.join([*cells, *(other if options.before else ('', ''))])} |")
    same = all(
        run[ROOT, condition][2:4] == run[checkouts[-1], condition][2:4]
        for run in runs
        for condition in conditions
    )
    if options.before:
        print(
            f"\nThe same numbers of families and of documents in them: {'yes' if same else 'no'}."
        )


if __name__ == "__main__":
    main()
