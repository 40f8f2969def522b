"""Six recipes, `index`, `match`, `group` and `search` with each, in every store: one table.

    python benchmarks/store_matrix.py                                     # SQLite alone
    python benchmarks/store_matrix.py opensearch://localhost:9200 elasticsearch://localhost:9201

Each URL is a server; indices of random names are made there and deleted again. The documents are
those of `examples/`. A store that gives another pair, family or hit than SQLite is named, and the
exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

from indexer import (
    IndexOptions,
    SearchOptions,
    group,
    index,
    match,
    open_store,
    recipe_named,
    search,
)
from indexer.grouping.group_options import GroupOptions
from indexer.matching.match import MatchOptions
from indexer.stores.abilities import FullStore
from indexer.stores.engine.store import EngineStore

EXAMPLES = Path(__file__).parent.parent / "examples"
RECIPES = {  # with the threshold of all three, None for the usual ones
    "default_v2": None,
    "simhash-doc": None,
    "clauses": None,
    "signature-study:weighted-topsig:256": 0.875,
    "signature-study:online-topsig:256": 0.875,
    "ws:none:sha1:128": None,
}
QUERY = "agreement"
Sets: TypeAlias = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Answers:
    """Answers of a store of one recipe; documents by the names of their files.

    `pairs`: those of `match`. `families`: those of `group` of two documents or more. `hits`: of a
    search, each with what is folded under it. `measure`: that of the pairs by default.
    """

    measure: str
    documents: int
    pairs: Sets
    families: Sets
    hits: Sets


def answers(store: FullStore, name: str, folder: Path = EXAMPLES) -> Answers:
    """Index a folder with a recipe, and return what the store answers; it is empty before."""
    account = index(folder, store, IndexOptions(recipe_named(name)))
    names = {row.id: Path(row.path).name for row in store.scan()}
    threshold = RECIPES[name]
    given = {} if threshold is None else {"threshold": threshold}
    matched = match(store, MatchOptions(**given))
    pairs = {tuple(sorted((names[pair.a], names[pair.b]))) for pair in matched}
    group(store, GroupOptions(**given))
    store.refresh()
    members: dict[str, list[str]] = {}
    for row in store.scan():
        members.setdefault(row.family, []).append(names[row.id])
    page = search(store, QUERY, SearchOptions(fold="live", threshold=threshold))
    return Answers(
        matched.measure,
        account.indexed,
        frozenset(pairs),
        frozenset(tuple(sorted(ids)) for ids in members.values() if len(ids) > 1),
        frozenset((names[hit.id], *sorted(names[f.id] for f in hit.folded)) for hit in page.hits),
    )


def differences(expected: Answers, found: Answers) -> list[str]:
    """Return the names of what two stores answer differently; the best hit of a group may vary."""
    names = [field.name for field in fields(Answers) if field.name != "hits"]
    unequal = [name for name in names if getattr(expected, name) != getattr(found, name)]
    if {frozenset(hit) for hit in expected.hits} != {frozenset(hit) for hit in found.hits}:
        unequal.append("hits")
    return unequal


def table(servers: Sequence[str], folder: Path = EXAMPLES) -> tuple[list[str], list[str]]:
    """Return the lines of the table, and a sentence for each difference between stores."""
    lines = ["| recipe | compared by | documents | pairs | families | hits, folded |"]
    lines.append("|---|---|---|---|---|---|")
    wrong = []
    for name in RECIPES:
        with tempfile.TemporaryDirectory() as place:
            expected = _answers_at(f"sqlite:///{place}/x.db", name, folder)
        for server in servers:
            url = f"{server.rstrip('/')}/nearfold-matrix-{secrets.token_hex(4)}"
            found = _answers_at(url, name, folder)
            wrong += [f"{server}: {name}: other {what}" for what in differences(expected, found)]
        folded = sum(len(hit) - 1 for hit in expected.hits)
        lines.append(
            f"| `{name}` | {expected.measure} | {expected.documents} | {len(expected.pairs)} "
            f"| {len(expected.families)} | {len(expected.hits)}, {folded} |"
        )
    return lines, wrong


def _answers_at(url: str, name: str, folder: Path) -> Answers:
    """Return the answers of a new store at a URL, which is deleted."""
    with closing(open_store(url)) as store:
        try:
            return answers(store, name, folder)
        finally:
            if isinstance(store, EngineStore):
                store.index.requests.send("DELETE", f"{url.rpartition('/')[2]}-*")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("servers", nargs="*", metavar="URL")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        lines, wrong = table(arguments.servers)
    print("\n".join([*lines, *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
