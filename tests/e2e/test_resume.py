"""Kill -9 and a second run give the same index; acknowledged files are not extracted again."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from e2e.command import ROOT, run_json

from indexer.grouping.group import group
from indexer.stores import open_store

FILES = 1500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    for number in range(FILES):
        words = " ".join(
            f"word{(number * 7919 + place * (place + number % 13)) % 5000}" for place in range(400)
        )
        (root / f"{number:05}.txt").write_text(f"Document {number}. {words}")
    for number in range(20):
        (root / f"page{number}.html").write_text(
            f"<html><body><p>Page {number} of many. {'text and more text ' * 50}{number}</p>"
            "</body></html>"
        )
    return root


def keys(url: str) -> dict[str, tuple[object, ...]]:
    """Return the keys of each row, and its family as `group` makes it: before that, families
    depend on the order in which the extraction workers finish.
    """
    store = open_store(url)
    try:
        group(store)
        return {
            row.id: (row.bands, row.blocks, row.minhash, row.simhash, row.family)
            for row in store.scan()
        }
    finally:
        store.close()


def count_rows(database: Path) -> int:
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_killed_and_resumed_equals_undisturbed(folder: Path, tmp_path: Path) -> None:
    run_json("index", folder, store=f"sqlite:///{tmp_path}/whole.db")
    database, url = tmp_path / "killed.db", f"sqlite:///{tmp_path}/killed.db"
    command = [sys.executable, "-m", "indexer", "index", str(folder), "--store", url]
    job = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while count_rows(database) < 400 and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    job.send_signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL, "the job ended before it could be killed"
    acknowledged = count_rows(database)
    assert 400 <= acknowledged < FILES
    resumed = run_json("index", folder, store=url)
    assert resumed["unchanged"] == acknowledged
    assert resumed["indexed"] == FILES + 20 - acknowledged
    assert keys(url) == keys(f"sqlite:///{tmp_path}/whole.db")
