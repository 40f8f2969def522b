"""The defaults of release 0.2.0 beside those of today: the tables of docs/quality.md.

    python benchmarks/defaults.py --work FOLDER [--documents 800] [--originals 30]
        [--docs /usr/share/doc] [--manuals /usr/share/man]

Synthetic corpora are made from documentation, English manual pages, and manual pages in many
languages; real ones are samples of the same files, the pages of the largest product apart. Each is
indexed, matched, grouped and searched with the recipe, measure and thresholds of either release.
Names of what was wrongly paired, put into a group or hidden go to wrong.txt in FOLDER.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from defaults_corpora import Corpus, Pair, pair_of, real_corpora, synthetic_corpora
from harness import arguments, head, row, thousandths

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
from indexer.comparing.words import words
from indexer.defaults import FOLD, MEASURE, REVIEW
from indexer.fingerprinting.keys import band_hashes
from indexer.lab.evaluation.judgements import DUPLICATES
from indexer.lab.synthesis.kinds import KINDS
from indexer.stores.abilities import FullStore

QUERIES = 10
QUERY_SHARE = 0.1  # of the documents have a word that is searched for
RUNS = 5


@dataclass(frozen=True)
class Defaults:
    """Recipe, measure and thresholds of one release; `reviews` are those of `match`."""

    recipe: str
    measure: str
    fold: float
    reviews: tuple[float, ...]


VERSIONS = {
    "v1": Defaults("default_v1", "jaccard", 0.8, (0.8, 0.5)),
    "v2": Defaults("default_v2", MEASURE, FOLD, (REVIEW,)),
}
COLUMNS = (("v1", 0.8), ("v1", 0.5), ("v2", REVIEW))  # version, and threshold of `match`
TITLES = ("v1: `default_v1`, `jaccard` .8", "`match` at .5", "v2: `default_v2`, `lcs` .8 / .9")


@dataclass
class Measured:
    """What one version did with one corpus; pairs of `match` by threshold."""

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

    def counts(self, threshold: float) -> tuple[int, int, int]:
        """Return duplicates found, pairs listed that are different, and duplicates missed."""
        found, duplicates = self.pairs[threshold], self.corpus.duplicates
        right = len(found & duplicates.keys())
        wrong = sum(self.corpus.is_wrong(*pair) for pair in found)
        return right, wrong, len(duplicates) - right


Results = dict[str, dict[str, Measured]]  # by corpus and version
Rows = list[list[str]]


def measure(corpus: Corpus, version: str) -> Measured:
    defaults = VERSIONS[version]
    measured = Measured(corpus, defaults)
    with closing(corpus.store(version)) as store:
        options = IndexOptions(recipe_named(defaults.recipe), family_threshold=None)
        index(str(corpus.folder), store, options, workers=2)
        run_match(measured, store)
        run_group(measured, store)
        run_searches(measured, store)
    with closing(sqlite3.connect(corpus.file(version))) as db:
        documents = db.execute("SELECT count(*) FROM documents").fetchone()[0]
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    measured.bytes_a_row = (pages - free) * size / documents
    measure_candidates(measured)
    return measured


def run_match(measured: Measured, store: FullStore) -> None:
    for threshold in measured.defaults.reviews:
        start = time.process_time()
        result = match(store, MatchOptions(threshold, measure=measured.defaults.measure))
        seconds = time.process_time() - start
        measured.match_seconds = measured.match_seconds or seconds  # of the first threshold
        names = [measured.corpus.relative(path) for path in result.paths]
        pairs = zip(list(result.left), list(result.right), strict=True)
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
        pairs = ((names[family], names[id]) for family, ids in families.items() for id in ids)
        measured.strangers = [pair for pair in pairs if corpus.is_wrong(*pair)]


def run_searches(measured: Measured, store: FullStore) -> None:
    corpus, defaults = measured.corpus, measured.defaults
    options = SearchOptions(threshold=defaults.fold, measure=defaults.measure, limit=10_000)
    for query in queries(corpus):
        page = search(store, query, options)
        measured.hits += page.total
        measured.shown += len(page.hits)
        if corpus.is_different:
            pairs = [(hit.path, folded.path) for hit in page.hits for folded in hit.folded]
            for shown, name in (map(corpus.relative, pair) for pair in pairs):
                if corpus.is_wrong(shown, name):
                    measured.hidden.setdefault(name, shown)


def queries(corpus: Corpus) -> list[str]:
    """Return the words of six letters or more that are nearest to a fraction of the documents."""
    counts = Counter[str]()
    for text in corpus.texts.values():
        counts.update({word for word in words(text).vocabulary if len(word) >= 6})
    wanted = QUERY_SHARE * len(corpus.texts)
    letters = (word for word in counts if word.isalpha())
    return sorted(letters, key=lambda word: (abs(counts[word] - wanted), word))[:QUERIES]


def measure_candidates(measured: Measured) -> None:
    """Measure the bytes of sketch and keys, and which fraction of all pairs of distinct texts are
    candidates by the stored keys, and by the bands of `match`.
    """
    recipe = recipe_named(measured.defaults.recipe)
    distinct = {text: name for name, text in sorted(measured.corpus.same_words.items())}
    signed = fingerprints([measured.corpus.texts[name] for name in distinct.values()], recipe)
    complete = [number for number in range(len(distinct)) if signed.status[number] == "complete"]
    keys = [[*signed.bands[number], *signed.blocks[number]] for number in complete]
    measured.key_pairs = candidate_fraction(keys, recipe.shared or 1)
    measured.sketch_bytes = recipe.sketch_bytes + 8 * bool(recipe.simhash)
    measured.sketch_bytes += sum(map(len, keys[0])) if keys else 0
    slots = np.array(signed.minhash)[complete]
    for threshold in measured.defaults.reviews:
        layout = MatchOptions(threshold, measure=measured.defaults.measure).band_plan(recipe)
        hashes = band_hashes(slots, layout.bands, layout.rows).tolist()
        bands = [list(enumerate(values)) for values in hashes]
        measured.match_candidates[threshold] = candidate_fraction(bands)


def candidate_fraction(keys: Sequence[Sequence[object]], shared: int = 1) -> float:
    """Return the fraction of all pairs of documents that have so many keys in common."""
    holders: dict[object, list[int]] = defaultdict(list)
    for number, several in enumerate(keys):
        for key in several:
            holders[key].append(number)
    common = np.zeros((len(keys), len(keys)), dtype=np.uint8)
    for numbers in holders.values():
        if len(numbers) > 1:
            common[np.ix_(numbers, numbers)] += 1
    return float(np.triu(common >= shared, 1).sum() / max(1, len(keys) * (len(keys) - 1) / 2))


def signing_speed(texts: Sequence[str]) -> dict[str, float]:
    """Return documents a second by version, the best of several runs that take turns."""
    best = dict.fromkeys(VERSIONS, 0.0)
    for _ in range(RUNS):
        for version, defaults in VERSIONS.items():
            start = time.process_time()
            fingerprints(texts, recipe_named(defaults.recipe))
            speed = len(texts) / (time.process_time() - start)
            best[version] = max(best[version], speed)
    return best


# Tables


def tables(results: Results) -> Iterator[tuple[str, Rows]]:
    """Yield title and rows of each table; rows of two values leave out `match` at .5."""
    synthetic = [name for name in results if name.startswith("synthetic")]
    real = [name for name in results if name not in synthetic]
    judged = [name for name in results if results[name]["v1"].corpus.is_different]

    def f1_rows() -> Rows:
        rows = of_match(synthetic, f1_cell)
        counts = (len(results[name]["v1"].corpus.duplicates) for name in synthetic)
        return [
            [f"{row[0]}, {n:,} duplicates", *row[1:]] for row, n in zip(rows, counts, strict=True)
        ]

    def of_match(names: list[str], show: Callable[[Measured, float], str]) -> Rows:
        return [[name, *(show(results[name][of], at) for of, at in COLUMNS)] for name in names]

    def of_versions(names: list[str], show: Callable[[Measured], str]) -> Rows:
        return [[name, *(show(results[name][version]) for version in VERSIONS)] for name in names]

    yield "`match`, synthetic corpora: F1 (recall)", f1_rows()
    title = "`match`, synthetic corpora: different pairs listed"
    yield title, of_match(synthetic, lambda measured, at: str(measured.counts(at)[1]))
    title = "`match`, real corpora: pairs listed / of other documents"
    yield title, of_match([name for name in judged if name in real], listed_cell)
    yield "Recall by kind", recall_rows(results, synthetic, 0)
    yield "Recall by language", recall_rows(results, synthetic[-1:], 1)
    yield "Groups / members / largest", of_versions(list(results), families_cell)
    title = "Members that are another document"
    yield title, of_versions(judged, lambda measured: f"{len(measured.strangers):,}")
    title = f"Hits of {QUERIES} searches / after folding"
    yield title, of_versions(list(results), lambda m: f"{m.hits:,} / {m.shown:,}")
    title = "Distinct documents wrongly hidden"
    yield title, of_versions(judged, lambda measured: f"{len(measured.hidden):,}")
    title = "Pairs that share as many stored keys as a look-up asks for"
    yield title, of_versions(real, lambda measured: f"{measured.key_pairs:.3%}")
    title = "Pairs that share a band of `match`"
    yield title, of_match(real, lambda measured, at: f"{measured.match_candidates[at]:.2%}")
    yield f"Bytes and signing, {real[0]}", size_rows(results[real[0]])
    for command in ("match", "group"):
        rows = []
        for name, versions in results.items():
            one, two = (getattr(of, f"{command}_seconds") for of in versions.values())
            rows.append([name, f"1 ({one:.2f} s)", f"{two / one:.2f}"])
        yield f"Processor seconds of `{command}`, as a ratio", rows


def f1_cell(measured: Measured, threshold: float) -> str:
    right, wrong, missed = measured.counts(threshold)
    f1 = thousandths(2 * right / (2 * right + wrong + missed))
    return f"{f1} ({thousandths(right / (right + missed))})"


def listed_cell(measured: Measured, threshold: float) -> str:
    return f"{len(measured.pairs[threshold]):,} / {measured.counts(threshold)[1]:,}"


def families_cell(measured: Measured) -> str:
    sizes = measured.families
    return f"{len(sizes):,} / {sum(sizes):,} / {max(sizes, default=0)}"


def recall_rows(results: Results, names: list[str], column: int) -> Rows:
    """Return the recall of each kind (column 0) or language (column 1) in these corpora."""
    totals = Counter[str]()
    for name in names:
        totals.update(of[column] for of in results[name]["v1"].corpus.duplicates.values())
    kinds = [name for name, kind in KINDS.items() if kind.type in DUPLICATES and totals[name]]
    rows = []
    for value in sorted(totals) if column else kinds:
        cells = []
        for version, threshold in COLUMNS:
            found = 0
            for measured in (results[name][version] for name in names):
                duplicates = measured.corpus.duplicates
                listed = duplicates.keys() & measured.pairs[threshold]
                found += sum(duplicates[pair][column] == value for pair in listed)
            cells.append(thousandths(found / totals[value]))
        rows.append([f"`{value}` ({totals[value]})", *cells])
    return rows


def size_rows(versions: dict[str, Measured]) -> Rows:
    rows = [
        ["sketch and keys, bytes a row", *(f"{of.sketch_bytes:,.0f}" for of in versions.values())],
        ["SQLite file, bytes a row", *(f"{of.bytes_a_row:,.0f}" for of in versions.values())],
    ]
    speed = signing_speed(list(versions["v1"].corpus.texts.values()))
    ratio = f"{speed['v2'] / speed['v1']:.2f}"
    return [*rows, ["documents signed, as a ratio", f"1 ({speed['v1']:,.0f} a second)", ratio]]


def names_of_wrong(results: Results) -> Iterator[str]:
    for name, versions in results.items():
        for version, measured in versions.items():
            corpus = measured.corpus
            yield f"# {name}, {version}: largest group {measured.largest}"
            yield f"queries: {' '.join(queries(corpus))}"
            yield from (f"family\t{a}\t{b}" for a, b in sorted(measured.strangers))
            yield from (f"hidden\t{by}\t{name}" for name, by in sorted(measured.hidden.items()))
            for threshold, found in measured.pairs.items() if corpus.duplicates else ():
                wrong = (pair for pair in sorted(found) if corpus.is_wrong(*pair))
                yield from (f"listed at {threshold}\t{a}\t{b}" for a, b in wrong)
                for pair in sorted(corpus.duplicates.keys() - found):
                    yield f"missed at {threshold}\t{corpus.duplicates[pair]}\t{pair}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=800, help="of a real corpus, at most")
    parser.add_argument("--originals", type=int, default=30, help="of a synthetic corpus, at most")
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    options = parser.parse_args()
    work = options.work.resolve()
    real = real_corpora(work, options.docs, options.manuals, options.documents)
    results: Results = {}
    for corpus in synthetic_corpora(work, options.manuals, options.originals) + real:
        print(corpus.name, file=sys.stderr, flush=True)
        results[corpus.name] = {version: measure(corpus, version) for version in VERSIONS}
    for title, rows in tables(results):
        titles = TITLES if len(rows[0]) > len(TITLES) else TITLES[::2]
        print(f"### {title}", "", *head(["", *titles]), *map(row, rows), "", sep="\n", flush=True)
    names = "\n".join(names_of_wrong(results))
    (work / "wrong.txt").write_text(names + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
