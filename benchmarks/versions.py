"""Recovery of a synthetic history of revisions: the fraction of steps between the right two
versions; and the pairs of versions of real texts that each measure finds.

    python benchmarks/versions.py [--histories 200] [--versions 12] [--words 400]
    python benchmarks/versions.py --topics ~/.pyenv/versions/*/lib/python*/pydoc_data/topics.py
    python benchmarks/versions.py --topics copietje/tests/database/test_news_edits.db

A history begins with a text of English word frequencies. Each revision edits one before it in a few
positions: words replaced, inserted and deleted, sometimes a passage moved. In a chain it is the
last one, in a tree any; with gaps, a third of the versions is lost, and the right origin is the
nearest one that is left. `steps`: right two versions, whichever was first; `directed`: the right
origin too. Without dates the tree begins with the shortest text. "star" is what is right when every
version is said to come from the first one.

`--topics`: the help topics of several releases of Python, prose that grows from release to release,
or the articles of NewsEdits in a database as copietje makes them, whose topics are stories.
Two different texts of one topic are a pair; it has grown if one has a tenth more words. Printed are
the fraction that `match`, `group` and `similar` find by each measure, and the precision of `match`;
a topic that is a passage of another one makes no wrong pair. "copietje": its recipe and defaults.
"""

from __future__ import annotations

import ast
import re
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np
from harness import arguments, head, row, thousandths

from indexer import (
    GroupOptions,
    IndexOptions,
    MatchOptions,
    SimilarOptions,
    group,
    index,
    match,
    open_store,
    recipe_named,
    similar_many,
)
from indexer.comparing.measures import align, common, feature_set
from indexer.comparing.words import Words, normal_words
from indexer.jobs.versions import lineage
from indexer.recipe import DEFAULT
from indexer.stores.abilities import FullStore

Text = list[str]
Random = np.random.Generator
KINDS = {  # whether it branches, and whether it has gaps
    "chain": (False, False),
    "tree": (True, False),
    "chain with gaps": (False, True),
    "tree with gaps": (True, True),
}


def vocabulary(rng: Random, size: int = 5000) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwyp"))
    return ["".join(rng.choice(letters, length)) for length in rng.integers(2, 10, size)]


def random_text(words: list[str], size: int, rng: Random) -> Text:
    weights = 1 / np.arange(1, len(words) + 1)
    return [words[number] for number in rng.choice(len(words), size, p=weights / weights.sum())]


def revise(text: Text, words: list[str], rng: Random) -> Text:
    """Make one to five edits of one to eight words; one revision in ten moves a passage as well."""
    revised = list(text)
    for _ in range(rng.integers(1, 6)):
        start, size = int(rng.integers(0, len(revised))), int(rng.integers(1, 9))
        kind = rng.integers(0, 3)
        new = [] if kind == 1 else random_text(words, size, rng)
        revised[start : start + (0 if kind == 0 else size)] = new
    if rng.random() < 0.1:
        start, target = (int(rng.integers(0, len(revised) - 20)) for _ in range(2))
        moved = revised[start : start + 15]
        del revised[start : start + 15]
        revised[target:target] = moved
    return revised


def history(
    count: int, size: int, branches: bool, has_gaps: bool, rng: Random
) -> tuple[list[Text], list[int]]:
    """Return texts in order of time, and the origin of each among them; -1 for the first."""
    words = vocabulary(rng)
    texts, origins = [random_text(words, size, rng)], [-1]
    for number in range(1, count):
        origin = int(rng.integers(0, number)) if branches else number - 1
        texts.append(revise(texts[origin], words, rng))
        origins.append(origin)
    kept = [n for n in range(count) if not has_gaps or n == 0 or rng.random() < 2 / 3]
    for number in range(1, count):
        while origins[number] not in kept and origins[number] >= 0:
            origins[number] = origins[origins[number]]
    new_origins = [kept.index(origins[number]) if number else -1 for number in kept]
    return [texts[number] for number in kept], new_origins


def count_recovered(texts: list[Text], origins: list[int], dated: bool) -> tuple[int, int]:
    """Return the steps between the right two versions, and those from the right origin."""
    sets = [feature_set(" ".join(text), DEFAULT) for text in texts]
    distances = np.array([[len(a) + len(b) - 2 * common(a, b) for b in sets] for a in sets])
    order = list(range(len(texts)))
    dates = order if dated else [None] * len(texts)
    likely = order if dated else sorted(order, key=lambda number: (len(texts[number]), number))
    found = lineage(distances, dates, likely)
    right = {(origin, number) for number, origin in enumerate(origins) if origin >= 0}
    steps = {(origin, number) for number, origin in enumerate(found) if origin is not None}
    either = {frozenset(step) for step in right} & {frozenset(step) for step in steps}
    return len(either), len(right & steps)


Pairs = set[tuple[str, str]]
MEASURES = {"lcs": "default", "grown": "default", "copietje": "ws:norm-html:sha1:128"}


def topics(files: Sequence[Path]) -> dict[str, str]:
    """Return the different texts of each topic, by topic and number of the file."""
    texts: dict[str, str] = {}
    for number, file in enumerate(files):
        tree = ast.parse(file.read_text())
        value = next(node.value for node in tree.body if isinstance(node, ast.Assign))
        for topic, text in ast.literal_eval(value).items():
            if text not in texts.values():
                texts[f"{topic}/{number}"] = text
    return texts


def articles(file: Path) -> dict[str, str]:
    """Return the different versions of each story in a database of copietje, without markup."""
    query = "SELECT original_db, entry_id, version, summary FROM article_versions ORDER BY 1, 2, 3"
    with closing(sqlite3.connect(file)) as database:
        names = {
            re.sub(r"<[^>]*>", " ", text): f"{source}_{story}/{version}"
            for source, story, version, text in database.execute(query)
        }
    return {name: text for text, name in names.items()}


def topic_of(name: str) -> str:
    return name.partition("/")[0]


def found_pairs(store: FullStore, measure: str, threshold: float) -> dict[str, Pairs]:
    """Return the pairs of names that each command finds; copietje has `match` alone."""
    names = {row.id: "/".join(Path(row.path).parts[-2:]) for row in store.scan()}
    if measure == "copietje":
        options = MatchOptions(threshold, measure="estimate", false_negative_weight=0.75)
        return {"match": matched(store, options)}
    found = {"match": matched(store, MatchOptions(threshold, measure=measure))}
    group(store, GroupOptions(threshold, measure))
    members = [(row.family, names[row.id]) for row in store.scan()]
    found["group"] = {_pair(a, b) for (f, a), (g, b) in combinations(members, 2) if f == g}
    results = similar_many(store, (), SimilarOptions(threshold, measure, 100), ids=list(names))
    hits = ((names[of.query], names[hit.id]) for of in results for hit in of.matches)
    return found | {"similar": {_pair(*pair) for pair in hits}}


def matched(store: FullStore, options: MatchOptions) -> Pairs:
    result = match(store, options)
    names = ["/".join(Path(path).parts[-2:]) for path in result.paths]
    pairs = zip(list(result.left), list(result.right), strict=True)
    return {_pair(names[a], names[b]) for a, b in pairs}


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def print_topics(files: Sequence[Path]) -> None:
    texts = articles(files[0]) if files[0].suffix == ".db" else topics(files)
    read = {name: normal_words(text) for name, text in texts.items()}
    pairs = list(combinations(sorted(texts), 2))
    true = {(a, b) for a, b in pairs if topic_of(a) == topic_of(b)}
    sizes = {pair: sorted(len(read[name]) for name in pair) for pair in true}
    grown = {pair for pair, (shorter, longer) in sizes.items() if longer >= 1.1 * shorter}
    print(f"{len(texts)} texts, {len(true)} pairs of one topic, {len(grown)} of which grew\n")
    print(*head(["", "match", "of grown", "group", "similar", "precision"]), sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            file = Path(folder, "texts", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for measure, recipe in MEASURES.items():
            with closing(open_store(f"sqlite:///{folder}/{measure}.db")) as store:
                index(f"{folder}/texts", store, IndexOptions(recipe_named(recipe)))
                for threshold in (0.5, 0.8):
                    found = found_pairs(store, measure, threshold)
                    listed = found["match"]
                    wrong = [(a, b) for a, b in listed - true if not is_passage(read[a], read[b])]
                    values = [len(listed & true) / len(true), len(listed & grown) / len(grown)]
                    values += [
                        len(found[by] & true) / len(true) if by in found else None
                        for by in ("group", "similar")
                    ]
                    values.append(1 - len(wrong) / len(listed))
                    print(row([f"{measure} {threshold}", *map(thousandths, values)]), flush=True)


def is_passage(a: Words, b: Words) -> bool:
    """Return whether nearly all words of one text are in passages of the other."""
    return max(align(a, b).containment) >= 0.9


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--topics", nargs="+", type=Path)
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--versions", type=int, default=12)
    parser.add_argument("--words", type=int, default=400)
    options = parser.parse_args()
    if options.topics:
        print_topics(options.topics)
        return
    heads = ("without dates", "directed", "with dates", "star")
    print(f"{'history':18} {'steps':>6}", *(f" {head:>13}" for head in heads))
    for name, (branches, has_gaps) in KINDS.items():
        rng = np.random.default_rng(7)
        counted = np.zeros(5, dtype=np.int64)
        for _ in range(options.histories):
            texts, origins = history(options.versions, options.words, branches, has_gaps, rng)
            undated, dated = (count_recovered(texts, origins, dated=of) for of in (False, True))
            counted += len(texts) - 1, *undated, dated[1], origins.count(0)
        steps, *counts = counted.tolist()
        print(f"{name:18} {steps:>6}", *(f" {count / steps:>13.1%}" for count in counts))


if __name__ == "__main__":
    main()
