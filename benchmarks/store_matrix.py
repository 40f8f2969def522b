"""Six recipes, `index`, `match`, `group` and `search` with each, in every store: one table.

    python benchmarks/store_matrix.py                                     # SQLite alone
    python benchmarks/store_matrix.py opensearch://localhost:9200 elasticsearch://localhost:9201

Each URL is a server; indices of random names are made there and deleted again. The documents are
those of `examples/`. A store that gives another pair, family or hit than SQLite is named, and the
exit code is 1.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

from harness import ROOT, arguments, row

from indexer import (
    GroupOptions,
    IndexOptions,
    MatchOptions,
    SearchOptions,
    group,
    index,
    match,
    open_store,
    recipe_named,
    search,
)
from indexer.stores.abilities import FullStore
from indexer.stores.engine.store import EngineStore

EXAMPLES = ROOT / "examples"
RECIPES = {  # with the threshold of all three, None for the usual ones
    "default_v2": None,
    "simhash-doc": None,
    "clauses": None,
    "signature-study:weighted-topsig:256": 0.875,
    "signature-study:online-topsig:256": 0.875,
    "ws:none:sha1:128": None,
}
HEADS = ["recipe", "compared by", "documents", "pairs", "families", "hits, folded"]
Sets: TypeAlias = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Answers:
    """Results of a store with one recipe; documents by the names of their files.

    `pairs` are those of `match`, `measure` theirs; `families` those of `group` of two documents or
    more; `hits` those of a search, each with what is folded under it.
    """

    measure: str
    documents: int
    pairs: Sets
    families: Sets
    hits: Sets


def answers(store: FullStore, name: str, folder: Path = EXAMPLES) -> Answers:
    """Index a folder with a recipe in an empty store, and return what the store finds."""
    account = index(folder, store, IndexOptions(recipe_named(name)))
    names = {stored.id: Path(stored.path).name for stored in store.scan()}
    threshold = RECIPES[name]
    given = {} if threshold is None else {"threshold": threshold}
    matched = match(store, MatchOptions(**given))
    pairs = {tuple(sorted((names[pair.a], names[pair.b]))) for pair in matched}
    group(store, GroupOptions(**given))
    store.refresh()
    members: dict[str, list[str]] = {}
    for stored in store.scan():
        members.setdefault(stored.family, []).append(names[stored.id])
    page = search(store, "agreement", SearchOptions(fold="live", threshold=threshold))
    return Answers(
        matched.measure,
        account.indexed,
        frozenset(pairs),
        frozenset(tuple(sorted(ids)) for ids in members.values() if len(ids) > 1),
        frozenset((names[hit.id], *sorted(names[f.id] for f in hit.folded)) for hit in page.hits),
    )


def differences(expected: Answers, found: Answers) -> list[str]:
    """Return the names of what two stores find differently; the best hit of a group may vary."""
    names = [field.name for field in fields(Answers) if field.name != "hits"]
    unequal = [name for name in names if getattr(expected, name) != getattr(found, name)]
    if {frozenset(hit) for hit in expected.hits} != {frozenset(hit) for hit in found.hits}:
        unequal.append("hits")
    return unequal


def answers_at(url: str, name: str) -> Answers:
    """Return the results of a new store at a URL, which is deleted."""
    with closing(open_store(url)) as store:
        try:
            return answers(store, name)
        finally:
            if isinstance(store, EngineStore):
                store.index.requests.send("DELETE", f"{url.rpartition('/')[2]}-*")


def main() -> int:
    """Print the table, and a line for each difference between stores."""
    parser = arguments(__doc__)
    parser.add_argument("servers", nargs="*", metavar="URL")
    servers = parser.parse_args().servers
    wrong = []
    print(row(HEADS), "|---|---|---|---|---|---|", sep="\n")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_STATE_HOME"] = scratch
        for number, name in enumerate(RECIPES):
            expected = answers_at(f"sqlite:///{scratch}/{number}.db", name)
            for server in servers:
                url = f"{server.rstrip('/')}/nearfold-matrix-{secrets.token_hex(4)}"
                found = differences(expected, answers_at(url, name))
                wrong += [f"{server}: {name}: other {what}" for what in found]
            counts = [expected.documents, len(expected.pairs), len(expected.families)]
            folded = sum(len(hit) - 1 for hit in expected.hits)
            hits = f"{len(expected.hits)}, {folded}"
            print(row([f"`{name}`", expected.measure, *map(str, counts), hits]), flush=True)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
