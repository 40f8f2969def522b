"""The commands of docs/duplicate-types.md on the published pairs, and folding by type."""

from pathlib import Path

import pytest
from command import outcome, run, run_json
from page_blocks import clauses_of_types


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    clauses_of_types(tmp_path)
    return tmp_path


def test_types_in_json_and_nothing_dropped(folder: Path) -> None:
    store = f"sqlite:///{folder}/store.db"
    run("index", "clauses", store=store)
    answer = run_json("search", "successors", "--fold", "types", "--threshold", "0.9", store=store)
    types = [[duplicate["type"] for duplicate in hit["folded"]] for hit in answer["hits"]]
    assert sorted(types) == [[], [], ["near_identical"]]
    assert sum(1 + len(hit["folded"]) for hit in answer["hits"]) == answer["total"] == 4


def test_pages_continue_and_hits_beyond_the_top_are_noted(folder: Path) -> None:
    store = f"sqlite:///{folder}/store.db"
    run("index", "clauses", store=store)
    first = run_json("search", "successors", "--fold", "types", "--limit", "1", store=store)
    second = run_json(
        "search",
        "successors",
        "--fold",
        "types",
        "--limit",
        "1",
        "--after",
        first["next"],
        store=store,
    )
    ids = [hit["id"] for page in (first, second) for hit in page["hits"]]
    folded_ids = [
        duplicate["id"]
        for page in (first, second)
        for hit in page["hits"]
        for duplicate in hit["folded"]
    ]
    assert second["next"] is None
    assert len({*ids, *folded_ids}) == 4
    few = run_json("search", "successors", "--fold", "types", "--top", "1", store=store)
    assert len(few["hits"]) == 4
    assert "compares only the best 1 hit" in few["notes"][0]


def test_a_file_that_is_no_list_of_words(folder: Path) -> None:
    store = f"sqlite:///{folder}/store.db"
    run("index", "clauses", store=store)
    Path("bad.txt").write_text("one word alone\n")
    run("search", "successors", "--fold", "types", "--synonyms", "bad.txt", store=store, code=2)
    Path("latin.txt").write_bytes("café = bar\n".encode("cp1252"))
    refused = outcome(
        "search", "successors", "--fold", "types", "--synonyms", "latin.txt", store=store
    )
    assert refused.returncode == 2
    assert "save it as UTF-8" in refused.stderr
