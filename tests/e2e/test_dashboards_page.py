"""The commands of docs/dashboards.md, on a real OpenSearch and a stand-in for the product."""

import re
import secrets
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from command import run
from saved_object_queries import running

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "dashboards.md").read_text(encoding="utf-8")


def test_every_command_of_the_page_runs(opensearch_url, tmp_path):
    name = f"nearfold-page-{secrets.token_hex(6)}"
    store = f"opensearch://{urlsplit(opensearch_url).netloc}/{name}"
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
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
