"""`index`, `match`, `group` and `search` with six recipes: the same results in every store.

Each row of the table of docs/schemes.md is checked; where figures change, the failed assertion has
the row that belongs there.
"""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

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
from indexer.defaults import RECIPE
from indexer.stores.abilities import FullStore

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "schemes.md"
RECIPES = {  # with the threshold of all three, None for the usual ones
    RECIPE: None,
    "simhash-doc": None,
    "clauses": None,
    "signature-study:weighted-topsig:256": 0.875,
    "signature-study:online-topsig:256": 0.875,
    "ws:none:sha1:128": None,
}
Sets: TypeAlias = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Results:
    """Results of a store with one recipe; documents by the names of their files.

    `pairs` are those of `match`, `measure` theirs; `families` those of `group` of two documents or
    more; `hits` those of a search, each with what is folded under it.
    """

    measure: str
    documents: int
    pairs: Sets
    families: Sets
    hits: Sets


def results(store: FullStore, name: str) -> Results:
    """Index the examples with a recipe in an empty store, and return what the store finds."""
    account = index(ROOT / "examples", store, IndexOptions(recipe_named(name)))
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
    return Results(
        matched.measure,
        account.indexed,
        frozenset(pairs),
        frozenset(tuple(sorted(ids)) for ids in members.values() if len(ids) > 1),
        frozenset((names[hit.id], *sorted(names[f.id] for f in hit.folded)) for hit in page.hits),
    )


def differences(expected: Results, found: Results) -> list[str]:
    """Return the names of what two stores find differently; the best hit of a group may vary."""
    names = [field.name for field in fields(Results) if field.name != "hits"]
    unequal = [name for name in names if getattr(expected, name) != getattr(found, name)]
    if {frozenset(hit) for hit in expected.hits} != {frozenset(hit) for hit in found.hits}:
        unequal.append("hits")
    return unequal


pytestmark = pytest.mark.slow


@cache
def expected(name: str) -> Results:
    store = open_store("sqlite://:memory:")
    try:
        return results(store, name)
    finally:
        store.close()


@pytest.mark.parametrize("name", RECIPES)
def test_every_store_gives_the_results_of_the_table(name, kind, unprepared):
    if kind.endswith("reopened"):
        pytest.skip("the commands open a store once")
    found = results(unprepared, name)
    assert differences(expected(name), found) == []
    folded = sum(len(hit) - 1 for hit in found.hits)
    assert (
        f"| `{name}` | {found.measure} | {found.documents} | {len(found.pairs)} "
        f"| {len(found.families)} | {len(found.hits)}, {folded} |"
    ) in PAGE.read_text(encoding="utf-8").splitlines()
