"""The programs of docs/look-up.md, on both engines, and on an index that `nearfold index` made."""

import re
import secrets
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import shell
from page_blocks import blocks, run_python
from playwright._impl._driver import compute_driver_executable

pytestmark = pytest.mark.engines
PAGE = "docs/look-up.md"


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
    install, curl = map(here, blocks(PAGE))
    shell(install, tmp_path)
    scores = re.findall(r'"_id":"(\w+)","_score":(0\.\d\d)', shell(curl, tmp_path))
    assert [id for id, _ in scores] == ["wire", "evening"]
    client = "opensearch" if "opensearch://" in install else "elasticsearch"
    [python] = blocks(PAGE, f'python title="{client}"')
    [javascript] = blocks(PAGE, "js")
    node, _ = compute_driver_executable()
    (tmp_path / "look_up.mjs").write_text(here(javascript))
    in_javascript = shell(f"'{node}' look_up.mjs", tmp_path)
    for printed in (run_python(here(python), tmp_path), in_javascript):
        lines = printed.splitlines()
        assert [line.split()[0] for line in lines] == ["wire", "evening"]
        assert float(lines[0].split()[1]) == pytest.approx(float(scores[0][1]), abs=0.011)


def test_an_index_of_nearfold_gets_the_scripts(here: Block, tmp_path: Path) -> None:
    install, curl = map(here, blocks(PAGE))
    (tmp_path / "mine.txt").write_text(
        "The harbour ferry leaves at nine in the morning and returns at six in the evening. "
        "Dogs travel free."
    )
    store = install.splitlines()[0].partition("--store ")[2]
    shell(f"nearfold index mine.txt --store {store}", tmp_path)
    shell(install, tmp_path)
    found = shell(curl, tmp_path)
    assert found.count('"_id"') == 3 and '"_score":1.0' in found and "river" not in found
