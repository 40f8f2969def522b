"""The commands of the task guides in docs/guides, in order, each guide in a folder of its own."""

import re
import secrets
import shutil
import urllib.request
from pathlib import Path

import pytest
from command import ROOT, page_environment, shell

GUIDES = ROOT / "docs" / "guides"
EXAMPLES = 12  # documents in the example folder
OF_OTHER_PAGES = ("nearfold tune", "nearfold export --format html")  # slow, and run for their page


def commands(page: str) -> str:
    """Return the shell blocks of a guide as one script, without what tests of other pages run."""
    text = (GUIDES / page).read_text(encoding="utf-8")
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    return "\n".join(line for line in script.splitlines() if not line.startswith(OF_OTHER_PAGES))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_clean_a_dataset(folder: Path) -> None:
    shell(commands("clean-a-dataset.md"), folder)
    kept = {
        name: len((folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
        for name in ("exact", "clean", "numbers", "all")
    }
    assert kept == {"exact": 3, "clean": 2, "numbers": 3, "all": 2}


def test_python_of_clean_a_dataset(folder: Path) -> None:
    page = (GUIDES / "clean-a-dataset.md").read_text(encoding="utf-8")
    [python] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    news = page.partition("cat > news.jsonl")[2].partition("\n```")[0]
    script = f"cat > news.jsonl{news}\n\"$PYTHON\" - <<'END'\n{python}END\n"
    environment = page_environment(folder)
    printed = shell(script, folder, PYTHON=environment["PYTHON"])
    assert printed == "2 kept, 1 copies, 1 near duplicates\n"


def test_review_a_matter(folder: Path) -> None:
    printed = shell(commands("review-a-matter.md"), folder)
    assert f"{EXAMPLES} documents: {EXAMPLES} indexed" in printed
    assert "4 documents" in printed  # the largest group
    assert "1 amount differs: 42,000 / 45,500" in printed
    assert "NearDupGroup" in (folder / "groups.dat").read_text(encoding="utf-8-sig")
    assert "nonresponsive" in (folder / "coding.csv").read_text(encoding="utf-8-sig")


def test_choose_a_threshold(folder: Path) -> None:
    printed = shell(commands("choose-a-threshold.md"), folder)
    assert "names differ" in (folder / "pairs.csv").read_text(encoding="utf-8-sig")
    assert "precision" in printed
    assert (folder / "corpus" / "gold.csv").exists()


def test_run_in_production(folder: Path) -> None:
    printed = shell(commands("run-in-production.md"), folder)
    assert f"{EXAMPLES} unchanged" in printed
    assert '"verdict": "new"' in printed
    assert (folder / "copy.db").exists()


@pytest.mark.engines
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_fold_an_index(opensearch_url: str, folder: Path) -> None:
    name = f"nearfold-test-{secrets.token_hex(6)}"
    host = opensearch_url.partition("://")[2]
    script = commands("fold-an-index.md").replace("localhost:9200/articles", f"{host}/{name}")
    try:
        printed = shell(script, folder)
    finally:
        request = urllib.request.Request(f"{opensearch_url}/{name}", method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()
    assert "3 documents" in printed  # the group
    assert '"groups":{"value":2}' in printed
