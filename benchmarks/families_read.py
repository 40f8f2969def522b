"""The families of installed documentation that were read one by one, and what would separate them.

    python benchmarks/families_read.py [--reading docs/families-read.csv]
        [--store sqlite:///nearfold.db] [--root /usr/share]

Prints how many families of a reading are right, debatable and wrong, by size and product, with
95 % intervals; docs/families-read-before.csv is that of families without `replaced<=2`. With a
store of the same documents (docs/families-read.md says how it is made) also how many of the pairs
that decided the verdicts other conditions would separate: the principal and the page that it hides.
Pairs of which a page is not in the store, or has more than two million letters, are left out.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from harness import ROOT, arguments, head, row

from indexer import open_store
from indexer.comparing.criteria import Criteria
from indexer.comparing.differences import Rarity, has_differences, measure_new_words
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.defaults import MAX_REPLACED
from indexer.fingerprinting.minhash import wilson
from indexer.recipe import DEFAULT
from indexer.stores.abilities import FullStore

VERDICTS = ("right", "debatable", "wrong")
MAX_LETTERS = 2_000_000  # of a text that is aligned
Condition = Callable[[ComparedText, ComparedText], bool]


@dataclass(frozen=True)
class Family:
    """A family that was read: its size, the product, the verdict, and the pair that decided it."""

    size: str
    product: str
    verdict: str
    principal: str
    hidden: str


def verdict_rows(read: list[Family]) -> Iterator[list[str]]:
    """Yield a row of counts for each size and product, for all, and the intervals."""
    for size, product in dict.fromkeys((family.size, family.product) for family in read):
        chosen = [f for f in read if (f.size, f.product) == (size, product)]
        yield [f"{size} documents, {product}", *counts(chosen)]
    yield ["all", *counts(read)]
    of = Counter(family.verdict for family in read)
    spans = (wilson(of[verdict], len(read)) for verdict in VERDICTS)
    yield ["95 % interval, %", "", *(f"{low * 100:.1f} to {high * 100:.1f}" for low, high in spans)]


def counts(read: Iterable[Family]) -> list[str]:
    of = Counter(family.verdict for family in read)
    return [str(of.total()), *(str(of[verdict]) for verdict in VERDICTS)]


def conditions(store: FullStore) -> Mapping[str, Condition]:
    """Return what separates a pair, by the option that asks for it."""
    rarity = Rarity(store.vocabulary.frequencies)
    once = Criteria(replaced=MAX_REPLACED)

    def is_new(a: ComparedText, b: ComparedText) -> bool:
        return (measure_new_words([(a, b)], rarity)[0].novelty or 0) > 2

    return {
        "--threshold 0.95": lambda a, b: measure_pair("lcs", a, b).similarity < 0.95,
        "--numbers distinguish": lambda a, b: has_differences(a.facts, b.facts),
        "--require 'novelty<=2'": is_new,
        "--require 'replaced<=2'": lambda a, b: not once.accepts_replacements(a, b),
    }


def separated_rows(read: list[Family], store: FullStore, root: Path) -> Iterator[list[str]]:
    """Yield for each condition how many pairs of each verdict it separates, of how many."""
    ids = {stored.path: stored.id for stored in store.scan()}

    def text_of(name: str) -> ComparedText | None:
        id = ids.get(str(root / name), "")
        text = store.get([id])[id].text if id else ""
        return ComparedText(text, DEFAULT) if 0 < len(text) <= MAX_LETTERS else None

    pairs = [
        (family.verdict, a, b)
        for family in read
        if (a := text_of(family.principal)) and (b := text_of(family.hidden))
    ]
    of = Counter(verdict for verdict, _, _ in pairs)
    for name, is_separate in conditions(store).items():
        separated = Counter(verdict for verdict, a, b in pairs if is_separate(a, b))
        yield [f"`{name}`", *(f"{separated[verdict]} of {of[verdict]}" for verdict in VERDICTS)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--reading", type=Path, default=ROOT / "docs" / "families-read.csv")
    parser.add_argument("--store")
    parser.add_argument("--root", type=Path, default=Path("/usr/share"))
    options = parser.parse_args()
    with options.reading.open(encoding="utf-8", newline="") as file:
        read = [Family(**record) for record in csv.DictReader(file)]
    print(*head(["families of", "read", *VERDICTS]), *map(row, verdict_rows(read)), sep="\n")
    if options.store:
        with closing(open_store(options.store)) as store:
            rows = map(row, separated_rows(read, store, options.root))
            print("", *head(["separated by", *VERDICTS]), *rows, sep="\n")


if __name__ == "__main__":
    main()
