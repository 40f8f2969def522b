"""Cost of families on arrival: `index` with and without them on the same plain text files,
seconds side by side.

    python benchmarks/arrival.py [--documents 4000] [--store URL]...

A quarter of the files are near duplicates of others. Each store is filled twice, the second time
into an index that holds the first documents already. An index of a search engine that is named is
emptied first: give one of your own.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from indexer import IndexOptions, index, open_store

SHARE, WORDS, VOCABULARY = 0.25, (150, 500), 20_000


def library(folder: Path, documents: int, seed: int) -> None:
    """Texts of random words; a share of them copies with up to a dozen words changed."""
    chance = random.Random(seed)
    texts: list[list[str]] = []
    folder.mkdir()
    for place in range(documents):
        if texts and chance.random() < SHARE:
            words = list(chance.choice(texts))
            for _ in range(chance.randint(0, 12)):
                words[chance.randrange(len(words))] = f"w{chance.randrange(VOCABULARY)}"
        else:
            words = [f"w{chance.randrange(VOCABULARY)}" for _ in range(chance.randint(*WORDS))]
            texts.append(words)
        (folder / f"{place:06}.txt").write_text(" ".join(words), encoding="utf-8")


def seconds(url: str, folders: list[Path], threshold: float | None) -> list[float]:
    """Return the seconds for each folder, one after the other, in a store that starts empty."""
    store = open_store(url)
    if store.stored_recipe() is not None:
        store.delete([row.id for row in store.scan()])
        store.refresh()
    times = [
        index([str(folder)], store, IndexOptions(family_threshold=threshold)).seconds
        for folder in folders
    ]
    store.close()
    return times


def main() -> None:
    """Print one line a store and half."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=4_000)
    parser.add_argument("--store", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("first", "second")]
        for seed, folder in enumerate(folders):
            library(folder, options.documents // 2, seed)
        print("| store | documents | without | with families | ratio |\n|---|---|---|---|---|")
        for url in ["sqlite", *options.store]:
            best: dict[bool, list[float]] = {}
            for turn in range(options.rounds):
                for families in (False, True):
                    where = f"sqlite:///{scratch}/{turn}{families}.db" if url == "sqlite" else url
                    times = seconds(where, folders, 0.8 if families else None)
                    best[families] = [
                        min(pair) for pair in zip(best.get(families, times), times, strict=True)
                    ]
            for name, plain, joined in zip(
                ("empty index", "half full"), best[False], best[True], strict=True
            ):
                kind = url.split(":")[0]
                half = options.documents // 2
                print(
                    f"| {kind}, {name} | {half:,} | {plain:.2f} s | {joined:.2f} s | "
                    f"{joined / plain:.1f} |"
                )


if __name__ == "__main__":
    main()
