"""The documentation of sources: every command runs, in order, with the documented effect."""

from __future__ import annotations

import re
import secrets
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from command import shell
from hansken_server import IMAGE, PROJECT, Gatekeeper, served
from page_blocks import blocks, page_text

ROOT = Path(__file__).parent.parent.parent
TEXT = (
    "the quick brown fox jumps over the lazy dog and then runs along the river to the old mill "
    "near the town of {}"
)


@pytest.fixture
def prefix(opensearch_url):
    prefix_name = f"nearfold-test-{secrets.token_hex(6)}"
    yield prefix_name
    for name in ("their-index", "papers"):
        request = urllib.request.Request(f"{opensearch_url}/{prefix_name}-{name}", method="DELETE")
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            error.close()


@pytest.fixture
def gatekeeper():
    project = Gatekeeper()
    project.add(1, "a.docx", {"privileged": "confirmed"}, text=TEXT.format("Delft").encode())
    project.add(2, "b.docx", None, text=TEXT.format("Leiden").encode())
    server = served(project)
    yield f"hansken+http://127.0.0.1:{server.server_port}/gatekeeper/{PROJECT}"
    server.shutdown()
    server.server_close()


@pytest.mark.engines
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_command_of_the_page_runs(opensearch_url, prefix, gatekeeper, tmp_path):
    work, store = tmp_path / "work", f"sqlite:///{tmp_path}/store.db"
    work.mkdir()
    address = opensearch_url.partition("://")[2]
    scripts = []
    for block in blocks("docs/sources.md"):
        script = block.replace("localhost:9200", address)
        script = re.sub(r"\b(their-index|papers)\b", rf"{prefix}-\1", script)
        scripts.append(re.sub(r"hansken://\S+", gatekeeper, script))
    places = {"NEARFOLD_STORE": store, "XDG_STATE_HOME": str(tmp_path / "state")}
    *others, last = scripts  # the database is no document of the folder
    printed = [shell(block, work, **places) for block in others]
    shutil.copy(ROOT / "tests/data/copietje/case-2.0.db", work / "casename.db")
    printed.append(shell(last, work, **places))
    archive, everything, records, rows, load_file, read, in_place, hansken, database = printed
    assert "2 documents: 2 indexed" in archive
    assert "2 documents: 0 indexed, 2 unchanged" in archive
    assert "4 documents: 4 indexed" in everything
    assert "2 documents: 2 indexed" in records
    assert "Re: Ferry" in records
    assert re.search("1 indexed.*\n.* 1 unchanged", rows)
    assert load_file.count("2 documents: 2 indexed") == 2
    assert "2 documents: 2 indexed" in read
    assert "2 documents: 2 indexed" in in_place
    assert re.search(r"100\.0%.* b$", in_place, re.MULTILINE)
    assert "2 documents in 1 group" in in_place
    assert re.fullmatch(
        rf"{IMAGE}:0-2  # max 0\.\d{{3}} matches {IMAGE}:0-1", hansken.splitlines()[-1]
    )
    assert hansken.splitlines()[-1] in page_text("docs/sources.md")
    assert "case-041  # max 1.000 matches case-042" in database
