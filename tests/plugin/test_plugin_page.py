"""The commands of docs/plugin.md run, and give what the page says."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from page_blocks import blocks

pytestmark = pytest.mark.engines

BLOCKS = blocks("docs/plugin.md")


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def responses(
    request: pytest.FixtureRequest, url_with_plugin: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Return what the page's blocks print, the last response of each."""
    address = url_with_plugin(request.param).removeprefix("http://")
    return [_run(block.replace("localhost:9200", address)) for block in BLOCKS]


def _run(block: str) -> dict[str, Any]:
    done = subprocess.run(
        ["bash", "-euc", block], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    decoder, text, last = json.JSONDecoder(), done.stdout.strip(), {}
    while text:
        last, end = decoder.raw_decode(text)
        text = text[end:].strip()
    return last


def _scores(response: dict[str, Any]) -> dict[str, float]:
    return {hit["_id"]: round(hit["_score"], 3) for hit in response["hits"]["hits"]}


def test_the_session(responses: list[dict[str, Any]]) -> None:
    _created, filled, looked_up, folded, changed, columns = responses
    assert filled["errors"] is False
    assert _scores(looked_up) == {"2": 0.955, "3": 0.88}
    shown = {
        hit["_id"]: hit["fields"]["near_fold"][0]
        for hit in folded["hits"]["hits"]
        if "folded" in hit["fields"]["near_fold"][0]
    }
    assert sorted(fold["folded"] for fold in shown.values()) == [0, 2]
    assert folded["hits"]["total"]["value"] == 4
    assert _scores(changed) == {"3": 0.88}
    assert columns["aggregations"]["distinct_texts"]["value"] == 4
