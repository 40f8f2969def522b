"""The families of installed documentation that were read one by one.

    python benchmarks/families_read.py [--reading docs/families-read.csv]

Prints how many families of a reading are right, debatable and wrong, by size and product, with
95 % intervals; docs/families-read-before.csv is that of families without `replaced<=2`.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import ROOT, arguments, head, row

from indexer.fingerprinting.minhash import wilson

VERDICTS = ("right", "debatable", "wrong")


def verdict_rows(read: list[dict[str, str]]) -> Iterator[list[str]]:
    """Yield a row of counts for each size and product, for all, and the intervals."""
    kinds = [(group["size"], group["product"]) for group in read]
    for size, product in dict.fromkeys(kinds):
        chosen = [g for g, kind in zip(read, kinds, strict=True) if kind == (size, product)]
        yield [f"{size} documents, {product}", *counts(chosen)]
    yield ["all", *counts(read)]
    of = Counter(group["verdict"] for group in read)
    spans = (wilson(of[verdict], len(read)) for verdict in VERDICTS)
    yield ["95 % interval, %", "", *(f"{low * 100:.1f} to {high * 100:.1f}" for low, high in spans)]


def counts(read: Iterable[dict[str, str]]) -> list[str]:
    of = Counter(group["verdict"] for group in read)
    return [str(of.total()), *(str(of[verdict]) for verdict in VERDICTS)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--reading", type=Path, default=ROOT / "docs" / "families-read.csv")
    options = parser.parse_args()
    with options.reading.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    print(*head(["families of", "read", *VERDICTS]), *map(row, verdict_rows(read)), sep="\n")


if __name__ == "__main__":
    main()
