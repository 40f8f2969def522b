"""Families and random pairs of manual pages, as source text and as nearfold reads them.

    python benchmarks/manual_page_pairs.py --work FOLDER [--pages 800] [--manuals /usr/share/man]

Takes the manual pages of benchmarks/defaults.py. Prints for English pages, for those of the product
with the most pages, and for translated ones: the share of all pairs of distinct texts that share a
stored key, by recipe; families, their members, and the members that are pages of other commands
or languages, by the defaults of `group`. Then the pairs of pages of the latter, by their names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from defaults import SIDES, Measured, measure_candidates, run_group
from defaults_corpora import Corpus, real_corpora

from indexer import IndexOptions, index, recipe_named
from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.gzip_files import unpack


def as_source(corpus: Corpus) -> Corpus:
    """Return the corpus with its files unpacked and named as plain text, which is not rendered."""
    folder = corpus.folder.parent / f"{corpus.folder.name}-source"
    for path in corpus.folder.rglob("*"):
        if path.is_file():
            data, _ = unpack(path.read_bytes(), path.name, DEFAULT_LIMITS)
            place = folder / f"{path.relative_to(corpus.folder)}.txt"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    is_different = corpus.is_different
    assert is_different is not None
    return Corpus(
        corpus.name,
        folder,
        is_different=lambda a, b: is_different(a.removesuffix(".txt"), b.removesuffix(".txt")),
    )


def sides(corpus: Corpus) -> Iterator[Measured]:
    """Index, group and measure a corpus by each recipe."""
    for side, defaults in SIDES.items():
        store = corpus.store(side)
        recipe = recipe_named(defaults.recipe)
        index(str(corpus.folder), store, IndexOptions(recipe, family_threshold=None), workers=2)
        measured = Measured(corpus, defaults)
        run_group(measured, store)
        measure_candidates(measured)
        yield measured


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    parser.add_argument("--pages", type=int, default=800)
    options = parser.parse_args()
    (options.work / "none").mkdir(parents=True, exist_ok=True)
    corpora = real_corpora(options.work, options.work / "none", options.manuals, options.pages)
    strangers: list[str] = []
    for corpus in corpora[:3]:
        for name, form in (("source", as_source(corpus)), ("read", corpus)):
            for side, measured in zip(SIDES, sides(form), strict=True):
                sizes = measured.families
                print(
                    f"{corpus.name}, {name}, {side}: {measured.key_pairs:.3%} share a key;"
                    f" {len(sizes)} families, {sum(sizes)} members, largest {max(sizes)},"
                    f" {len(measured.strangers)} of another page",
                    flush=True,
                )
                if side == "v2":
                    pairs = sorted(measured.strangers)
                    strangers += [f"{corpus.name}, {name}: {a} <- {b}" for a, b in pairs]
    print("\n".join(strangers))


if __name__ == "__main__":
    main()
