"""Clocks that are wrong, jump or run past 2038: indexing, resuming and timeouts do not depend on
the time of day.
"""

import os
import re
from pathlib import Path

import pytest
from drill import ROOT, chosen
from oracle import standing
from scene import Scene

LIBRARIES = [
    *Path("/usr/lib").glob("*/faketime/libfaketime.so.1"),
    *Path("/usr/local/lib").glob("faketime/libfaketime.so.1"),
]
CLOCKS = [
    "2001-09-09 01:46:40",
    "2038-01-19 03:14:05",
    "2106-02-07 06:28:10",
    "2026-03-29 01:59:59",
]
TELLING = {
    "indexer/jobs/history.py": "when a job began and ended",
    "indexer/jobs/journal.py": "when a failure was recorded",
    "indexer/grouping/label_journal.py": "when a labelling began",
    "indexer/lab/evaluation/sheets.py": "when a sheet was made",
    "indexer/exports/report.py": "the date of a report",
}


def test_the_time_of_day_is_only_told_never_reckoned_with() -> None:
    clocks = re.compile(
        r"\btime\.(time|time_ns|localtime|gmtime)\(|\bdatetime\.(now|utcnow|today)\(|\bdate\.today\("
    )
    files = [
        path
        for path in (ROOT / "indexer").rglob("*.py")
        if clocks.search(path.read_text(encoding="utf-8"))
    ]
    assert {str(path.relative_to(ROOT)) for path in files} <= set(TELLING)


@pytest.mark.skipif(
    not LIBRARIES, reason="libfaketime is not installed (apt-get install libfaketime)"
)
@pytest.mark.parametrize("clock", chosen(CLOCKS, CLOCKS[:2]))
def test_a_job_under_another_clock_that_is_killed_and_goes_on_under_ours(
    clock: str, scene: Scene
) -> None:
    store = scene.begun()
    log = scene.home / f"{store.stem}.log"
    wrong = {
        "LD_PRELOAD": str(LIBRARIES[0]),
        "FAKETIME": f"@{clock} x50",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    job = scene.fresh(
        store, **wrong, NEARFOLD_FAILPOINTS="after_extract:15=kill", DRILL_LOG=str(log)
    )
    assert job.code == -9, job.err
    scene.mended(store)


@pytest.mark.parametrize("seconds", [-86_400, 0, 2**31 - 1, 2**31 + 5, 2**32 + 5, 2**33])
def test_files_from_before_1970_and_after_2038(seconds: int, tmp_path: Path, scene: Scene) -> None:
    file = tmp_path / "paper.txt"
    file.write_text("a paper of another time, told by nothing but its date", encoding="utf-8")
    os.utime(file, (seconds, seconds))
    url = f"sqlite:///{tmp_path}/x.db"
    assert scene.jobs.run("index", file, "--store", url).code == 0
    (row,) = standing(url).rows.values()
    assert row.modified == seconds * 1000
    again = scene.jobs.run("index", file, "--store", url, "--json")
    assert again.account is not None and again.account["unchanged"] == 1
    os.utime(file, (seconds - 3600, seconds - 3600))
    back = scene.jobs.run("index", file, "--store", url, "--json")
    assert back.account is not None and back.account["indexed"] == 1, (
        "a file that went back an hour is another file"
    )
