"""Processor time of `group` by its conditions, of this checkout and of another one.

    python benchmarks/group_cost.py STORE [--before CHECKOUT] [--runs 5]

STORE is the URL of a store; nothing is written to it. `replaced<=2` is the default condition, `any`
asks for none. Each run is a process of its own; the conditions and the checkouts take turns, so
that programs beside them slow all alike. Prints for each condition the families of two or more,
the documents in them, the median of the processor seconds of `group` without imports, and the
median of the ratios run by run: to `any`, and to the other checkout. Says whether the families are
the same in both checkouts.
"""

from __future__ import annotations

import argparse
import json
import os
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
    start = time.process_time()
    result = group(store, options, write=False)
    seconds = time.process_time() - start
    print(json.dumps([seconds, result.families, result.documents - result.singletons]))


def run(checkout: Path, url: str, condition: str) -> list[float]:
    """Return seconds, families and their documents, of a process of a checkout."""
    command = [sys.executable, __file__, url, "--condition", condition]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    values: list[float] = json.loads(answer.stdout)
    return values


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store")
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--condition", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.condition:
        measure(options.store, options.condition)
        return
    checkouts = [ROOT, *([options.before.resolve()] if options.before else [])]
    runs = [
        {
            (checkout, condition): run(checkout, options.store, condition)
            for condition in CONDITIONS
            for checkout in checkouts
        }
        for _ in range(options.runs)
    ]
    print(
        "| condition | families | documents in them | seconds | to `any` | to the other checkout |"
    )
    print("|---|---|---|---|---|---|")
    for condition in CONDITIONS:
        own = [run[ROOT, condition] for run in runs]
        to_any = statistics.median(run[ROOT, condition][0] / run[ROOT, "any"][0] for run in runs)
        ratios = [run[ROOT, condition][0] / run[checkouts[-1], condition][0] for run in runs]
        other = f"{statistics.median(ratios):.2f}" if options.before else ""
        seconds = statistics.median(values[0] for values in own)
        _, families, members = own[0]
        cells = condition, f"{families:,}", f"{members:,}", f"{seconds:.1f}", f"{to_any:.2f}"
        print(f"| {' | '.join(cells)} | {other} |")
    same = all(
        run[ROOT, condition][1:] == run[checkouts[-1], condition][1:]
        for run in runs
        for condition in CONDITIONS
    )
    if options.before:
        print(
            f"\nThe same numbers of families and of documents in them: {'yes' if same else 'no'}."
        )


if __name__ == "__main__":
    main()
