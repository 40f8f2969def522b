"""The commands of pages on a real engine: commands.md, dashboards.md, engines.md, look-up.md,
security.md, a guide and README.md.
"""

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from command import ROOT, run, shell
from page_blocks import PROVIDED, blocks, run_python, without_lines
from playwright._impl._driver import compute_driver_executable
from saved_object_queries import running

from indexer.stores import open_store

pytestmark = pytest.mark.engines
LOOK_UP = "docs/look-up.md"
SMALL = ["--documents", "300", "--lookups", "4", "--searches", "3", "--arrivals", "2"]
TEXT = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on all of them."
)


def test_dashboards_are_made_in_a_stand_in_for_the_product(opensearch_url, tmp_path):
    name = f"nearfold-page-{secrets.token_hex(6)}"
    store = f"opensearch://{urlsplit(opensearch_url).netloc}/{name}"
    (block,) = blocks("docs/dashboards.md")
    file = tmp_path / "papers.ndjson"
    with running() as (kind, place):
        into_product, into_file, away = (
            shlex.split(
                line.replace("http://localhost:5601", place).replace("papers.ndjson", str(file))
            )[1:-1]
            for line in block.strip().splitlines()
        )
        assert "created  dashboard" in run(*into_product, store, NEARFOLD_PASSWORD="secret")
        assert "unchanged  dashboard" in run(*into_product, store, NEARFOLD_PASSWORD="secret")
        assert "created  dashboard" in run(*into_file, store) and len(
            file.read_text().splitlines()
        ) == len(kind.kept)
        assert (
            "removed  dashboard" in run(*away, store, NEARFOLD_PASSWORD="secret") and not kind.kept
        )


def test_the_same_questions_to_a_cluster(opensearch_url: str, tmp_path: Path) -> None:
    name = f"nearfold-test-{secrets.token_hex(6)}"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    place = f"{opensearch_url.partition('://')[2]}/{name}"
    scripts = [
        without_lines(block, PROVIDED).replace("localhost:9200/papers", place)
        for page in ("docs/commands.md", "README.md")
        for block in blocks(page)
        if "/papers" in block
    ]
    try:
        assert len(scripts) == 2
        for script in scripts:
            assert "6 documents in 2 groups" in shell(script, tmp_path)
    finally:
        shell(f"nearfold uninstall --store opensearch://{place}", tmp_path)
        urllib.request.urlopen(
            urllib.request.Request(f"{opensearch_url}/{name}*", method="DELETE"), timeout=60
        ).close()


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


# docs/look-up.md: on both engines, and on an index that `nearfold index` made.

Block = Callable[[str], str]


@pytest.fixture(params=["opensearch", "elasticsearch"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Block]:
    """Return a function that puts an engine and an index of the tests into a block."""
    url = request.getfixturevalue(f"{request.param}_url")
    host, index = url.partition("://")[2], f"nearfold-page-{secrets.token_hex(6)}"

    def replace(block: str) -> str:
        block = block.replace("opensearch://", f"{request.param}://")
        return block.replace("localhost:9200", host).replace("papers", index)

    yield replace
    store = f"{request.param}://{host}/{index}"
    shell(f"nearfold uninstall --store {store}", tmp_path)
    deletion = urllib.request.Request(f"{url}/{index}", method="DELETE")
    urllib.request.urlopen(deletion, timeout=60).close()


def test_programs_find_near_duplicates(here: Block, tmp_path: Path) -> None:
    install, curl = map(here, blocks(LOOK_UP))
    shell(install, tmp_path)
    scores = re.findall(r'"_id":"(\w+)","_score":(0\.\d\d)', shell(curl, tmp_path))
    assert [id for id, _ in scores] == ["wire", "evening"]
    client = "opensearch" if "opensearch://" in install else "elasticsearch"
    [python] = blocks(LOOK_UP, f'python title="{client}"')
    [javascript] = blocks(LOOK_UP, "js")
    node, _ = compute_driver_executable()
    (tmp_path / "look_up.mjs").write_text(here(javascript))
    in_javascript = shell(f"'{node}' look_up.mjs", tmp_path)
    for printed in (run_python(here(python), tmp_path), in_javascript):
        lines = printed.splitlines()
        assert [line.split()[0] for line in lines] == ["wire", "evening"]
        assert float(lines[0].split()[1]) == pytest.approx(float(scores[0][1]), abs=0.011)


def test_an_index_of_nearfold_gets_the_scripts(here: Block, tmp_path: Path) -> None:
    install, curl = map(here, blocks(LOOK_UP))
    (tmp_path / "mine.txt").write_text(
        "The harbour ferry leaves at nine in the morning and returns at six in the evening. "
        "Dogs travel free."
    )
    store = install.splitlines()[0].partition("--store ")[2]
    shell(f"nearfold index mine.txt --store {store}", tmp_path)
    shell(install, tmp_path)
    found = shell(curl, tmp_path)
    assert found.count('"_id"') == 3 and '"_score":1.0' in found and "river" not in found


# docs/security.md


@pytest.fixture
def place(opensearch_url):
    """The address of a store that is removed afterwards."""
    name = f"nearfold-test-{secrets.token_hex(6)}"
    yield f"{opensearch_url.partition('://')[2]}/{name}"
    subprocess.run(
        ["curl", "-s", "-X", "DELETE", f"{opensearch_url}/{name}"], capture_output=True, check=False
    )


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_command_of_the_page_of_security_runs(place, tmp_path):
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


# docs/engines.md


def labels(printed: str) -> list[str]:
    """Return the label of each line: its words before the first number in a column.

    Settings that are chosen may differ.
    """
    cells = [
        re.split(r"  +-?\d[\d,.]*(?=\s|$)|, \d+ [%t]|:? +\d", line.strip())[0].rstrip(",:")
        for line in printed.splitlines()
    ]
    return [re.sub(r"\s+", " ", cell) for cell in cells if cell and not cell[0].isdigit()]


@pytest.mark.slow
def test_the_benchmark_prints_what_the_page_of_engines_shows(opensearch_url: str) -> None:
    [command] = blocks("docs/engines.md")
    [expected] = blocks("docs/engines.md", "text")
    python, *words = shlex.split(command)
    assert python == "python"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, *words, *SMALL, "--server", opensearch_url],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert labels(process.stdout) == labels(expected)
    assert len(labels(expected)) > 25
