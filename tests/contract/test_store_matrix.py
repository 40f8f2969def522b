"""`index`, `match`, `group` and `search` with six recipes: the same answers in every store.

`python benchmarks/store_matrix.py URL ...` prints the table of docs/schemes.md.
"""

import sys
from functools import cache
from pathlib import Path

import pytest

from indexer.stores import open_store

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))
from store_matrix import RECIPES, Answers, answers, differences

sys.path.pop(0)
PAGE = Path(__file__).parent.parent.parent / "docs" / "schemes.md"
pytestmark = pytest.mark.slow


@cache
def expected(name: str) -> Answers:
    store = open_store("sqlite://:memory:")
    try:
        return answers(store, name)
    finally:
        store.close()


@pytest.mark.parametrize("name", RECIPES)
def test_every_store_gives_the_answers_of_the_table(name, kind, unprepared, tmp_path, monkeypatch):
    if kind.endswith("reopened"):
        pytest.skip("the commands open a store once")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = answers(unprepared, name)
    assert differences(expected(name), found) == []
    folded = sum(len(hit) - 1 for hit in found.hits)
    assert (
        f"| `{name}` | {found.measure} | {found.documents} | {len(found.pairs)} "
        f"| {len(found.families)} | {len(found.hits)}, {folded} |"
    ) in PAGE.read_text(encoding="utf-8").splitlines()
