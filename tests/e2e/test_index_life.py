"""The commands of docs/index-life.md, in order, print what the page says."""

import json
import re
import secrets
import shutil
import urllib.error
import urllib.request

import pytest
from command import run, run_json, shell
from page_blocks import blocks


@pytest.fixture
def name(opensearch_url):
    """A new index name; all indices that begin with it are removed afterwards."""
    index = f"nearfold-test-{secrets.token_hex(6)}"
    yield index
    for path in (
        f"_data_stream/{index}*",
        f"{index}*",
        f"_index_template/{index}*",
        f"_index_template/nearfold-{index}*",
    ):
        request = urllib.request.Request(f"{opensearch_url}/{path}", method="DELETE")
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            error.close()


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_command_of_the_page_runs(opensearch_url, name, tmp_path):
    place = opensearch_url.partition("://")[2]
    printed = [
        shell(re.sub(r"\bpapers\b", name, block.replace("localhost:9200", place)), tmp_path)
        for block in blocks("docs/index-life.md")
    ]
    indexed, renewed, aliases, back, updated, deleted, stream, folded, changed, *rest = printed
    assert "2 indexed" in indexed
    assert "2 documents fingerprinted by simhash-doc" in renewed
    assert f"{name}-000003 is in service; the old one is kept as {name}-000002" in renewed
    assert re.search(rf"^{name} +{name}-000003$", aliases, re.MULTILINE)
    assert f"{name}-000004 is in service" in back
    assert re.search(r"recipe +default_v3", back)
    assert re.search(r"keys +equal to recomputed keys in 3 rows", updated)
    assert '"deleted":1' in deleted
    assert stream.count('"errors":false') == 2
    assert '"rolled_over":true' in stream
    collapsed = json.loads(folded)
    assert (
        collapsed["hits"]["total"]["value"],
        collapsed["aggregations"]["families"]["value"],
    ) == (3, 1)
    assert len(collapsed["hits"]["hits"]) == 1
    assert '"updated":3' in changed
    assert '"deleted":1' in changed
    assert "2 documents in 1 group" in rest[0]


def test_the_command_on_a_sqlite_file(tmp_path):
    store = f"sqlite:///{tmp_path}/s.db"
    (tmp_path / "a.txt").write_text(
        "Ferries leave the harbour at eight in the morning.", encoding="utf-8"
    )
    run("index", tmp_path / "a.txt", "--extractor", "plain", store=store)
    answer = run_json("reindex", "--recipe", "simhash-doc", "--keep", store=store)
    assert (answer["signed"], answer["kept"]) == (1, f"{tmp_path}/s.db.default_v3")
    assert run_json("status", store=store)["recipe"]["name"] == answer["recipe"]
    assert "nothing was changed" in run("reindex", "--recipe", "simhash-doc", store=store)
    run("reindex", "--recipe", "unheard-of", store=store, code=2)
    run("reindex", "--recipe", "default", store=f"sqlite:///{tmp_path}/none.db", code=3)
