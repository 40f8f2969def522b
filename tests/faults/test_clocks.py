"""Clocks that are wrong, jump or run past 2038: indexing, resuming and timeouts do not depend on
the time of day.
"""

import os
import re
from pathlib import Path

import pytest
from jobs import ROOT, select_cases
from oracle import read_state
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
USES = {
    "indexer/stores/journal.py": "when a job began and ended, when a failure was recorded",
    "indexer/jobs/label.py": "when a labelling began",
    "indexer/lab/evaluation/sheets.py": "when a sheet was made",
    "indexer/review/exports/report.py": "the date of a report",
    "indexer/review/caches.py": "when a store was read",
    "indexer/jobs/review_file.py": "when a document was labelled or noted",
    "indexer/jobs/duplicates.py": "the names of journals and of files that are being replaced",
    "indexer/stores/engine/maintenance.py": "when a search was logged; the engine deletes old ones",
    "indexer/jobs/check.py": "how old a claim is, which any process may decide at any time",
}


def test_the_time_of_day_is_shown_and_never_computed_with() -> None:
    clocks = re.compile(
        r"\btime\.(time|time_ns|localtime|gmtime)\(|\bdatetime\.(now|utcnow|today)\(|\bdate\.today\("
    )
    files = [
        path
        for path in (ROOT / "indexer").rglob("*.py")
        if clocks.search(path.read_text(encoding="utf-8"))
    ]
    assert {str(path.relative_to(ROOT)) for path in files} <= set(USES)


@pytest.mark.skipif(
    not LIBRARIES, reason="libfaketime is not installed (apt-get install libfaketime)"
)
@pytest.mark.parametrize("clock", select_cases(CLOCKS, CLOCKS[:2]))
def test_a_job_killed_under_a_wrong_clock_resumes_under_the_right_one(
    clock: str, scene: Scene
) -> None:
    store = scene.new_store()
    log = scene.home / f"{store.stem}.log"
    wrong_clock = {
        "LD_PRELOAD": str(LIBRARIES[0]),
        "FAKETIME": f"@{clock} x50",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    job = scene.index_in_new_process(
        store, **wrong_clock, NEARFOLD_FAILPOINTS="after_extract:15=kill", JOB_LOG=str(log)
    )
    assert job.code == -9, job.err
    scene.check_recovery(store)


@pytest.mark.parametrize("seconds", [-86_400, 0, 2**31 - 1, 2**31 + 5, 2**32 + 5, 2**33])
def test_files_from_before_1970_and_after_2038(seconds: int, tmp_path: Path, scene: Scene) -> None:
    file = tmp_path / "paper.txt"
    file.write_text("a paper of another time, known by nothing but its date", encoding="utf-8")
    os.utime(file, (seconds, seconds))
    url = f"sqlite:///{tmp_path}/x.db"
    assert scene.jobs.run("index", file, "--store", url).code == 0
    (row,) = read_state(url).rows.values()
    assert row.modified == seconds * 1000
    again = scene.jobs.run("index", file, "--store", url, "--json")
    assert again.account is not None and again.account["unchanged"] == 1
    os.utime(file, (seconds - 3600, seconds - 3600))
    earlier = scene.jobs.run("index", file, "--store", url, "--json")
    assert earlier.account is not None and earlier.account["indexed"] == 1, (
        "a file whose time went back an hour is a changed file"
    )
