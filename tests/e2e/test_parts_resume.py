"""Kill -9 while documents and parts are written: every document has its parts, and a second run
completes the index.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from command import ROOT, run_json
from e2e.test_resume import count_rows

from indexer.model import Row
from indexer.stores import open_store

CONTRACTS, CLAUSES = 400, 8


def rows(url: str) -> dict[str, Row]:
    store = open_store(url)
    try:
        return {row.id: row for row in store.parts.view("both").scan()}
    finally:
        store.close()


def contract(number: int) -> str:
    words = [
        " ".join(f"word{(number * place * 31 + word * 7) % 997}" for word in range(60))
        for place in range(CLAUSES)
    ]
    return "\n\n".join(f"{place}. Title. The {text}." for place, text in enumerate(words, start=1))


def test_killed_and_resumed_equals_undisturbed(tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    folder.mkdir()
    for number in range(CONTRACTS):
        (folder / f"{number}.txt").write_text(contract(number))
    undisturbed, killed = f"sqlite:///{tmp_path}/whole.db", f"sqlite:///{tmp_path}/killed.db"
    run_json("index", folder, "--parts", "clauses", store=undisturbed)
    command = [
        sys.executable,
        "-m",
        "indexer",
        "index",
        str(folder),
        "--parts",
        "clauses",
        "--store",
        killed,
    ]
    job = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while (
        count_rows(tmp_path / "killed.db") < 100 * CLAUSES
        and job.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(0.002)
    job.send_signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL, "the job ended before it could be killed"
    killed_rows = rows(killed)
    documents = [row for row in killed_rows.values() if row.parent is None]
    assert 0 < len(documents) < CONTRACTS
    parts = Counter(row.parent for row in killed_rows.values() if row.parent is not None)
    assert parts == dict.fromkeys((row.id for row in documents), CLAUSES)
    account = run_json("index", folder, store=killed)
    assert (account["unchanged"], account["indexed"]) == (
        len(documents),
        CONTRACTS - len(documents),
    )
    assert rows(killed) == rows(undisturbed)
