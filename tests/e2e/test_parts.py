"""The commands of docs/clauses.md, in order, in a folder with the examples."""

import re
import shutil
from pathlib import Path

import pytest
from command import ROOT, run, run_json

CLAUSE = (
    "7.1 Confidentiality. Each party shall keep the other's confidential information secret, "
    "use it for the purposes of this Agreement alone, and return or destroy it within thirty days "
    "of a written request. This clause survives termination for five years."
)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "clause.txt").write_text(CLAUSE)
    return f"sqlite:///{tmp_path}/store.db"


def without_ids(text: str) -> str:
    return re.sub(r"[0-9a-f]{32}", "ID", re.sub(r"\S+/(?=[\w-]+\.\w+ )", "", text)).strip()


def test_documents_and_parts_are_told_apart(store: str) -> None:
    run("index", "examples", "--parts", "clauses", store=store)
    counts = run_json("status", store=store)
    assert (counts["documents"], counts["parts"]) == (12, 63)
    assert run_json("search", "confidential", store=store)["total"] == 4
    assert run_json("search", "confidential", "--of", "both", store=store)["total"] == 8
    part = run_json("search", "confidential", "--of", "parts", store=store)["hits"][0]["id"]
    matches = run_json("similar", "--id", part, store=store)["matches"]
    assert [match["similarity"] for match in matches] == [1.0] * 3
    assert run_json("compare", part, matches[0]["id"], store=store)["measures"]["jaccard"] == 1.0
    assert run_json("delete", part.partition("#")[0], store=store)["deleted"] == [
        part.partition("#")[0]
    ]
    assert run_json("search", "confidential", "--of", "parts", store=store)["total"] == 3


def test_a_store_without_parts_is_told_what_to_do(store: str) -> None:
    run("index", "examples", store=store)
    run("search", "confidential", "--of", "parts", store=store, code=2)
