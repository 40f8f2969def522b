"""The commands of docs/duplicate-types.md on the published pairs, and folding by type."""

from pathlib import Path

import pytest
from command import outcome, run, run_json
from page_blocks import blocks

CLAUSES = {
    "indenture-sponsor": "Section 14.06 Successors and Assignors. "
    "All covenants and agreements in this Agreement by the Sponsor shall bind its "
    "successors and assigns, whether so expressed or not.",
    "indenture-issuer": "Section 11.09. Successors and Assignors. "
    "All covenants and agreements in this Indenture by the Issuer shall bind its "
    "successors and assigns, whether so expressed or not.",
    "plain-old": "3.1 Successors and Assigns. This agreement enures to the benefit of and "
    "is binding on the parties hereto and their respective successors and assigns.",
    "plain-new": "32. Successors and Assigns. This agreement shall be binding upon, and enure "
    "to the benefit of, the parties, their legal representatives, successors and assigns.",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clauses").mkdir()
    for name, text in CLAUSES.items():
        (tmp_path / "clauses" / f"{name}.txt").write_text(text)
    (tmp_path / "our-words.txt").write_text(blocks("docs/duplicate-types.md", "text")[0])
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
