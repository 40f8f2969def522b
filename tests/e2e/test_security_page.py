"""The commands and claims of docs/security.md."""

import json
import re
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest
from command import shell
from page_blocks import blocks

from indexer.stores import open_store

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
TEXT = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on all of them."
)


def test_every_test_that_the_page_names_is_there():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    tests = {
        name
        for path in ROOT.glob("tests/**/test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
    assert named and named <= tests
    assert all((ROOT / path).is_file() for path in re.findall(r"`(tests/[\w/]+\.py)`", PAGE))


def test_every_claim_of_the_page_names_its_test():
    tables = [
        table
        for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)
        if table.splitlines()[0].endswith("| test |")
    ]
    assert len(tables) > 7
    unproven = [
        line
        for table in tables
        for line in table.splitlines()[2:]
        if "`test" not in line.split(" | ")[-1]
    ]
    assert unproven == []
    for section in ("Threat model", "Defaults", "Roles", "Reporting"):
        assert f"## {section}\n" in PAGE


@pytest.fixture
def place(opensearch_url):
    """The address of a store that is removed afterwards."""
    name = f"nearfold-test-{secrets.token_hex(6)}"
    yield f"{opensearch_url.partition('://')[2]}/{name}"
    subprocess.run(
        ["curl", "-s", "-X", "DELETE", f"{opensearch_url}/{name}"], capture_output=True, check=False
    )


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_command_of_the_page_runs(place, tmp_path):
    for name in ("one", "two"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / f"{name}.txt").write_text(f"{TEXT} {name}", encoding="utf-8")
    for block in blocks("docs/security.md"):
        line = block.replace("localhost:9200/papers", place).replace("FOLDER", f"{tmp_path}/folder")
        if "--roles" in block:
            # this engine keeps no roles, which `install` reports by its exit code
            line = f"set +e\n{line}"
        printed = shell(line, tmp_path)
        assert printed.count("impossible  role") == 3 * block.count(" install --roles"), printed
    assert json.loads((tmp_path / "searcher.json").read_text())["index_permissions"]
    store = open_store(f"opensearch://{place}")
    assert len({row.family for row in store.scan()}) == 1
    store.close()
