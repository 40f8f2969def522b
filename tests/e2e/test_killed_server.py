"""A server killed in the middle of a bulk request: nothing is lost, nothing is there twice."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from e2e.command import ROOT

from indexer.fingerprinting.fingerprint import fingerprints
from indexer.fingerprinting.keys import pack_slots
from indexer.recipe import DEFAULT
from indexer.stores import open_store

FILES, BEFORE = 4000, 800
CODE_STOPPED = 4


def library(folder: Path) -> Path:
    folder.mkdir()
    for number in range(FILES):
        words = " ".join(
            f"word{(number * 7919 + place * (place + number % 13)) % 5000}" for place in range(200)
        )
        (folder / f"{number:05}.txt").write_text(f"Document {number}. {words}")
    return folder


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.loads(answer.read())


def is_bulk_running(url: str) -> bool:
    """Return whether some documents are written and a bulk request is running."""
    try:
        indexed = ask(f"{url}/kept/_stats/indexing")["_all"]["primaries"]["indexing"]["index_total"]
        tasks = ask(f"{url}/_tasks?actions=*bulk*&group_by=none")["tasks"]
    except OSError:
        return False
    return indexed >= BEFORE and bool(tasks)


@pytest.mark.slow
def test_a_server_killed_in_the_middle_of_a_bulk_costs_nothing(
    opensearch_node: Any, tmp_path: Path
) -> None:
    folder, node = library(tmp_path / "docs"), opensearch_node()
    url = f"{node.url.replace('http', 'opensearch')}/kept"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-m", "indexer", "index", str(folder), "--store", url, "--json"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        deadline = time.monotonic() + 60
        while not is_bulk_running(node.url) and job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        node.kill()
        assert job.poll() is None, (
            f"the job ended before the server could be killed: {job.communicate()}"
        )
        node.start()
        out, err = job.communicate(timeout=180)
    assert job.returncode in (0, CODE_STOPPED), err
    assert "Traceback" not in err
    if job.returncode == CODE_STOPPED:
        assert "run the same command again to resume" in err
    else:
        account = json.loads(out)
        assert (account["indexed"], account["failed"]) == (FILES, [])
    last = json.loads(
        subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=180
        ).stdout
    )
    assert last["seen"] == FILES == last["unchanged"] + last["indexed"]
    if job.returncode == 0:
        assert last["unchanged"] == FILES
    store = open_store(url)
    rows = list(store.scan())
    store.close()
    assert len(rows) == len({row.path for row in rows}) == FILES
    assert {row.path for row in rows} == {str(path) for path in folder.iterdir()}
    signed = fingerprints([row.text for row in rows], DEFAULT)
    for place, row in enumerate(rows):
        signature = signed[place]
        assert signature.minhash is not None
        assert row.text == Path(row.path).read_text()
        assert (row.bands, row.blocks) == (signature.bands, signature.blocks)
        assert (row.minhash, row.simhash) == (pack_slots(signature.minhash), signature.simhash)
