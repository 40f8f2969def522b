"""The defaults of release 0.2.0 beside those of today: the tables of docs/quality.md.

    python benchmarks/defaults.py --work FOLDER [--documents 800] [--originals 30]
        [--docs /usr/share/doc] [--manuals /usr/share/man]

Synthetic corpora are made from documentation, English manual pages, and manual pages in many
languages; real ones are samples of the same files, the pages of the largest product apart. Each is
indexed, matched, grouped and searched with the recipe, measure and thresholds of either side.
Names of what was wrongly paired, put into a family or hidden go to wrong.txt in FOLDER.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from defaults_corpora import Corpus, Pair, pair_of, real_corpora, synthetic_corpora
from quality_tables import head, row, thousandths

from indexer import (
    GroupOptions,
    IndexOptions,
    MatchOptions,
    SearchOptions,
    fingerprints,
    group,
    index,
    match,
    recipe_named,
    search,
)
from indexer.defaults import FOLD, MEASURE, REVIEW
from indexer.lab.evaluation.judgements import DUPLICATES
from indexer.lab.synthesis.kinds import KINDS
from indexer.sketch.keys import band_hashes
from indexer.stores.abilities import FullStore
from indexer.text.words import words

QUERIES = 10
QUERY_SHARE = 0.1  # of the documents have a word that is searched for
RUNS = 5
KIND_NAMES = [name for name, kind in KINDS.items() if kind.type in DUPLICATES]


@dataclass(frozen=True)
class Defaults:
    """Recipe, measure and thresholds of one side; `reviews`: those of `match`."""

    recipe: str
    measure: str
    fold: float
    reviews: tuple[float, ...]


SIDES = {
    "v1": Defaults("default_v1", "jaccard", 0.8, (0.8, 0.5)),
    "v2": Defaults("default_v2", MEASURE, FOLD, (REVIEW,)),
}


@dataclass
class Measured:
    """What one side did with one corpus; pairs of `match` by threshold."""

    corpus: Corpus
    defaults: Defaults
    pairs: dict[float, set[Pair]] = field(default_factory=dict)
    match_seconds: float = 0.0
    group_seconds: float = 0.0
    families: list[int] = field(default_factory=list)
    largest: str = ""
    strangers: list[Pair] = field(default_factory=list)  # members of another document's family
    hits: int = 0
    shown: int = 0
    hidden: dict[str, str] = field(default_factory=dict)  # wrongly, with the hit shown
    bytes_a_row: float = 0.0
    sketch_bytes: float = 0.0
    key_pairs: float = 0.0
    match_candidates: dict[float, float] = field(default_factory=dict)


def measure(corpus: Corpus, side: str) -> Measured:
    defaults = SIDES[side]
    store = corpus.store(side)
    options = IndexOptions(recipe_named(defaults.recipe), family_threshold=None)
    index(str(corpus.folder), store, options, workers=2)
    measured = Measured(corpus, defaults)
    run_match(measured, store)
    run_group(measured, store)
    run_searches(measured, store)
    measure_rows(measured, corpus.place(side))
    measure_candidates(measured)
    return measured


def run_match(measured: Measured, store: FullStore) -> None:
    for threshold in measured.defaults.reviews:
        start = time.process_time()
        result = match(store, MatchOptions(threshold, measure=measured.defaults.measure))
        seconds = time.process_time() - start
        if threshold == measured.defaults.reviews[0]:
            measured.match_seconds = seconds
        names = [measured.corpus.relative(path) for path in result.paths]
        left, right = list(result.left), list(result.right)
        pairs = zip(left, right, strict=True)
        measured.pairs[threshold] = {pair_of(names[a], names[b]) for a, b in pairs}


def run_group(measured: Measured, store: FullStore) -> None:
    corpus, defaults = measured.corpus, measured.defaults
    start = time.process_time()
    group(store, GroupOptions(defaults.fold, defaults.measure))
    measured.group_seconds = time.process_time() - start
    names: dict[str, str] = {}
    members: dict[str, list[str]] = defaultdict(list)
    for stored in store.scan():
        names[stored.id] = corpus.relative(stored.path)
        members[stored.family].append(stored.id)
    families = {family: ids for family, ids in members.items() if len(ids) > 1}
    measured.families = sorted((len(ids) for ids in families.values()), reverse=True)
    if families:
        measured.largest = names[max(families, key=lambda family: len(families[family]))]
    if corpus.is_different:
        measured.strangers = [
            (names[family], names[member])
            for family, ids in families.items()
            for member in ids
            if corpus.is_wrong(names[family], names[member])
        ]


def run_searches(measured: Measured, store: FullStore) -> None:
    corpus, defaults = measured.corpus, measured.defaults
    options = SearchOptions(threshold=defaults.fold, measure=defaults.measure, limit=10_000)
    for query in queries(corpus):
        page = search(store, query, options)
        measured.hits += page.total
        measured.shown += len(page.hits)
        if corpus.is_different:
            for hit in page.hits:
                shown = corpus.relative(hit.path)
                for folded in hit.folded:
                    name = corpus.relative(folded.path)
                    if corpus.is_wrong(shown, name):
                        measured.hidden.setdefault(name, shown)


def queries(corpus: Corpus) -> list[str]:
    """Return the words of six letters or more that are nearest to a share of the documents."""
    counts = Counter[str]()
    for text in corpus.texts.values():
        counts.update({word for word in words(text).vocabulary if len(word) >= 6})
    wanted = QUERY_SHARE * len(corpus.texts)
    letters = (word for word in counts if word.isalpha())
    return sorted(letters, key=lambda word: (abs(counts[word] - wanted), word))[:QUERIES]


def measure_rows(measured: Measured, place: Path) -> None:
    """Measure the store's file without free pages."""
    with sqlite3.connect(place) as connection:
        everything = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
    measured.bytes_a_row = (pages - free) * size / everything


def measure_candidates(measured: Measured) -> None:
    """Measure the bytes of sketch and keys, and the share of all pairs of distinct texts that are
    candidates by the stored keys, and by the bands of `match`.
    """
    recipe = recipe_named(measured.defaults.recipe)
    distinct = {text: name for name, text in sorted(measured.corpus.same_words.items())}
    texts = [measured.corpus.texts[name] for name in distinct.values()]
    signed = fingerprints(texts, recipe)
    complete = [place for place in range(len(texts)) if signed.status[place] == "complete"]
    keys = [[*signed.bands[place], *signed.blocks[place]] for place in complete]
    measured.key_pairs = share_of_pairs(keys, recipe.shared or 1)
    measured.sketch_bytes = recipe.sketch_bytes + 8 * bool(recipe.simhash)
    measured.sketch_bytes += sum(map(len, keys[0])) if keys else 0
    slots = np.array(signed.minhash)[complete]
    for threshold in measured.defaults.reviews:
        layout = MatchOptions(threshold, measure=measured.defaults.measure).band_plan(recipe)
        hashes = band_hashes(slots, layout.bands, layout.rows)
        measured.match_candidates[threshold] = share_of_pairs(
            [list(enumerate(values)) for values in hashes.tolist()]
        )


def share_of_pairs(keys: Sequence[Sequence[object]], shared: int = 1) -> float:
    """Return the share of all pairs of documents that have so many keys in common."""
    holders: dict[object, list[int]] = defaultdict(list)
    for place, several in enumerate(keys):
        for key in several:
            holders[key].append(place)
    common = np.zeros((len(keys), len(keys)), dtype=np.uint8)
    for places in holders.values():
        if len(places) > 1:
            common[np.ix_(places, places)] += 1
    return float(np.triu(common >= shared, 1).sum() / max(1, len(keys) * (len(keys) - 1) / 2))


def signing_speed(texts: Sequence[str]) -> dict[str, float]:
    """Return documents a second by recipe, the best of several runs that take turns."""
    best: dict[str, float] = {}
    for _ in range(RUNS):
        for side, defaults in SIDES.items():
            start = time.process_time()
            fingerprints(texts, recipe_named(defaults.recipe))
            speed = len(texts) / (time.process_time() - start)
            best[side] = max(best.get(side, 0), speed)
    return best


Column = tuple[str, float]  # side and threshold of `match`
COLUMNS: tuple[Column, ...] = (("v1", 0.8), ("v1", 0.5), ("v2", REVIEW))
Results = dict[str, dict[str, Measured]]  # by corpus and side


def counts(measured: Measured, threshold: float) -> tuple[int, int, int]:
    """Return duplicates found, pairs listed that are different, and duplicates missed."""
    found, corpus = measured.pairs[threshold], measured.corpus
    right = len(found & corpus.duplicates.keys())
    wrong = sum(corpus.is_wrong(*pair) for pair in found)
    return right, wrong, len(corpus.duplicates) - right


TITLES = ("v1: `default_v1`, `jaccard` .8", "`match` at .5", "v2: `default_v2`, `lcs` .8 / .9")
Rows = list[list[str]]


def tables(results: Results) -> Iterator[tuple[str, Rows]]:
    """Yield title and rows of each table; rows of two values leave out `match` at .5."""
    synthetic = [name for name in results if name.startswith("synthetic")]
    real = [name for name in results if name not in synthetic]
    judged = [name for name in results if results[name]["v1"].corpus.is_different]
    yield "`match`, synthetic corpora: F1 (recall)", f1_rows(results, synthetic)
    yield "`match`, synthetic corpora: different pairs listed", wrong_rows(results, synthetic)
    judged_real = [name for name in judged if name in real]
    yield (
        "`match`, real corpora: pairs listed / of other documents",
        listed_rows(results, judged_real),
    )
    yield "Recall by kind", recall_rows(results, synthetic, 0)
    yield "Recall by language", recall_rows(results, synthetic[-1:], 1)
    yield "Families / members / largest", sides_rows(results, list(results), describe_families)
    yield (
        "Members that are another document",
        sides_rows(results, judged, lambda measured: f"{len(measured.strangers):,}"),
    )
    yield (
        f"Hits of {QUERIES} searches / shown when folded",
        sides_rows(
            results, list(results), lambda measured: f"{measured.hits:,} / {measured.shown:,}"
        ),
    )
    yield (
        "Distinct documents wrongly hidden",
        sides_rows(results, judged, lambda measured: f"{len(measured.hidden):,}"),
    )
    yield (
        "Pairs that share as many stored keys as a look-up asks for",
        sides_rows(results, real, lambda measured: f"{measured.key_pairs:.3%}"),
    )
    yield (
        "Pairs that share a band of `match`",
        [
            [name, *(f"{results[name][side].match_candidates[at]:.2%}" for side, at in COLUMNS)]
            for name in real
        ],
    )
    yield f"Bytes and signing, {real[0]}", size_rows(results[real[0]])
    for of in ("match", "group"):
        yield f"Processor seconds of `{of}`, as a ratio", time_rows(results, of)


def f1_rows(results: Results, names: list[str]) -> Rows:
    rows = []
    for name in names:
        cells = []
        for side, threshold in COLUMNS:
            right, wrong, missed = counts(results[name][side], threshold)
            f1 = thousandths(2 * right / (2 * right + wrong + missed))
            cells.append(f"{f1} ({thousandths(right / (right + missed))})")
        number = len(results[name]["v1"].corpus.duplicates)
        rows.append([f"{name}, {number:,} duplicates", *cells])
    return rows


def wrong_rows(results: Results, names: list[str]) -> Rows:
    return [
        [name, *(str(counts(results[name][side], at)[1]) for side, at in COLUMNS)] for name in names
    ]


def listed_rows(results: Results, names: list[str]) -> Rows:
    rows = []
    for name in names:
        cells = []
        for side, threshold in COLUMNS:
            _, wrong, _ = counts(results[name][side], threshold)
            cells.append(f"{len(results[name][side].pairs[threshold]):,} / {wrong:,}")
        rows.append([name, *cells])
    return rows


def recall_rows(results: Results, names: list[str], place: int) -> Rows:
    """Return the recall of each kind (place 0) or language (place 1) in these corpora."""
    values = Counter[str]()
    for name in names:
        values.update(of[place] for of in results[name]["v1"].corpus.duplicates.values())
    order = sorted(values) if place else [kind for kind in KIND_NAMES if values[kind]]
    rows = []
    for value in order:
        cells = []
        for side, threshold in COLUMNS:
            found = 0
            for name in names:
                measured = results[name][side]
                listed = measured.corpus.duplicates.keys() & measured.pairs[threshold]
                found += sum(measured.corpus.duplicates[pair][place] == value for pair in listed)
            cells.append(thousandths(found / values[value]))
        rows.append([f"`{value}` ({values[value]})", *cells])
    return rows


def sides_rows(results: Results, names: list[str], show: Callable[[Measured], str]) -> Rows:
    """Return a row for each of these corpora, with one value of either side."""
    return [[name, *(show(results[name][side]) for side in SIDES)] for name in names]


def describe_families(measured: Measured) -> str:
    sizes = measured.families
    return f"{len(sizes):,} / {sum(sizes):,} / {max(sizes, default=0)}"


def size_rows(sides: dict[str, Measured]) -> Rows:
    rows = [
        [label, *(f"{getattr(sides[side], value):,.0f}" for side in SIDES)]
        for label, value in (
            ("sketch and keys, bytes a row", "sketch_bytes"),
            ("SQLite file, bytes a row", "bytes_a_row"),
        )
    ]
    speed = signing_speed(list(sides["v1"].corpus.texts.values()))
    ratio = f"{speed['v2'] / speed['v1']:.2f}"
    return [*rows, ["documents signed, as a ratio", f"1 ({speed['v1']:,.0f} a second)", ratio]]


def time_rows(results: Results, of: str) -> Rows:
    rows = []
    for name, sides in results.items():
        one, two = (getattr(sides[side], f"{of}_seconds") for side in SIDES)
        rows.append([name, f"1 ({one:.2f} s)", f"{two / one:.2f}"])
    return rows


def names_of_wrong(results: Results) -> Iterator[str]:
    for name, sides in results.items():
        for side, measured in sides.items():
            corpus = measured.corpus
            yield f"# {name}, {side}: largest family {measured.largest}"
            yield f"queries: {' '.join(queries(corpus))}"
            for pair in sorted(measured.strangers):
                yield f"family\t{pair[0]}\t{pair[1]}"
            for hidden, shown in sorted(measured.hidden.items()):
                yield f"hidden\t{shown}\t{hidden}"
            for threshold, found in measured.pairs.items():
                if corpus.duplicates:
                    for pair in sorted(found):
                        if corpus.is_wrong(*pair):
                            yield f"listed at {threshold}\t{pair[0]}\t{pair[1]}"
                    for pair in sorted(corpus.duplicates.keys() - found):
                        yield f"missed at {threshold}\t{corpus.duplicates[pair]}\t{pair}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=800, help="of a real corpus, at most")
    parser.add_argument("--originals", type=int, default=30, help="of a synthetic corpus, at most")
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    options = parser.parse_args()
    work = options.work.resolve()
    real = real_corpora(work, options.docs, options.manuals, options.documents)
    corpora = synthetic_corpora(work, options.manuals, options.originals) + real
    results: Results = {}
    for corpus in corpora:
        print(corpus.name, file=sys.stderr, flush=True)
        results[corpus.name] = {side: measure(corpus, side) for side in SIDES}
    for title, rows in tables(results):
        titles = TITLES if len(rows[0]) > len(TITLES) else TITLES[::2]
        lines = [f"### {title}", "", *head(["", *titles]), *map(row, rows), ""]
        print("\n".join(lines), flush=True)
    names = "\n".join(names_of_wrong(results))
    (work / "wrong.txt").write_text(names + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
