"""The commands of pages on a real OpenSearch: dashboards.md, commands.md and README.md."""

import secrets
import shlex
import shutil
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from command import ROOT, run, shell
from page_blocks import PROVIDED, blocks, without_lines
from saved_object_queries import running


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
