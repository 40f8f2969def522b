"""The commands of the task guides in docs/guides, in order, each guide in a folder of its own."""

import secrets
import shutil
import urllib.request
from pathlib import Path

import pytest
from command import ROOT, shell
from page_blocks import Page, blocks, run_python

GUIDES = [
    Page(
        "docs/guides/clean-a-dataset.md",
        lines={"exact.jsonl": 4, "clean.jsonl": 3, "numbers.jsonl": 2, "all.jsonl": 3},
    ),
    Page(
        "docs/guides/review-a-matter.md",
        (
            "12 documents: 12 indexed",
            "3 documents",  # the largest group
            "1 amount differs: 42,000 / 45,500",
        ),
        files={"groups.dat": ("NearDupGroup",), "coding.csv": ("nonresponsive",)},
        skipped=("nearfold export --format html",),  # slow
    ),
    Page(
        "docs/guides/choose-a-threshold.md",
        ("precision",),
        files={"pairs.csv": ("names differ",), "corpus/gold.csv": ()},
        skipped=("nearfold tune",),  # slow
    ),
    Page(
        "docs/guides/run-in-production.md",
        ("12 unchanged", '"verdict": "new"'),
        files={"copy.db": ()},
    ),
]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_commands_of_a_guide(guide: Page, tmp_path: Path) -> None:
    guide.check(tmp_path)


def test_python_of_clean_a_dataset(tmp_path: Path) -> None:
    page = "docs/guides/clean-a-dataset.md"
    shell(blocks(page)[0], tmp_path)  # the file of the rows
    [python] = blocks(page, "python")
    assert run_python(python, tmp_path) == "3 kept, 1 copies, 1 near duplicates\n"


def test_first_ten_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(ROOT / "examples", tmp_path / "Documents")
    printed = shell("\n".join(blocks("docs/guides/first-ten-minutes.md")), tmp_path)
    assert "12 documents: 12 indexed" in printed and "6 documents in 3 groups" in printed
    assert "near-duplicate groups" in printed and "2 near duplicates by measure: lcs" in printed


@pytest.mark.engines
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_fold_an_index(opensearch_url: str, tmp_path: Path) -> None:
    name = f"nearfold-test-{secrets.token_hex(6)}"
    host = opensearch_url.partition("://")[2]
    script = "\n".join(blocks("docs/guides/fold-an-index.md")).replace(
        "localhost:9200/articles", f"{host}/{name}"
    )
    try:
        printed = shell(script, tmp_path)
    finally:
        request = urllib.request.Request(f"{opensearch_url}/{name}", method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()
    assert "3 documents" in printed  # the group
    assert '"groups":{"value":2}' in printed
