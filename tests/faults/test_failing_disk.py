"""A failing disk: the system answers a job's calls with EIO, ENOSPC or nothing written, once or
from then on.

Needs strace, so it is no part of every run: `python -m faults --tests test_failing_disk.py`.
Writes that end in the middle are those of `test_full_disk.py`.
"""

import os
from pathlib import Path

import pytest
from disk import STRACE, run_traced
from oracle import check_acknowledged, read_state
from scene import BATCH, Scene

LOG, FILE, JOURNAL, BACK = "-wal", "", ".jobs", ".jobs-journal"
FAULTS = [
    *[(LOG, "fdatasync", "error=EIO", when) for when in ("1", "3", "3+", "8+")],
    *[(LOG, "fdatasync", "error=ENOSPC", when) for when in ("3", "3+")],
    *[(LOG, "pwrite64", "error=EIO", when) for when in ("1", "40", "40+", "200+")],
    *[(LOG, "pwrite64", "retval=0", when) for when in ("41", "41+")],
    *[(LOG, "pread64", "error=EIO", when) for when in ("3", "20+")],
    *[(LOG, "openat", f"error={error}", "1+") for error in ("EIO", "EMFILE", "ENOSPC")],
    *[(LOG, "unlink", "error=EIO", "1+")],
    *[(FILE, "fdatasync", "error=EIO", "1+")],
    *[(FILE, "fdatasync", "error=ENOSPC", "1+")],
    *[(FILE, "pwrite64", "error=EIO", when) for when in ("1", "5", "5+")],
    *[(FILE, "pwrite64", "retval=0", "4+")],
    *[(FILE, "pread64", "error=EIO", when) for when in ("1", "9", "9+", "30+")],
    *[(JOURNAL, "fdatasync", "error=EIO", when) for when in ("1+", "2", "3+")],
    *[(JOURNAL, "pwrite64", f"error={error}", "2+") for error in ("EIO", "ENOSPC")],
    *[(BACK, "fdatasync", "error=EIO", when) for when in ("1+", "2", "3", "4+")],
    *[(BACK, "pwrite64", "error=EIO", when) for when in ("1", "5+")],
    *[(BACK, "unlink", "error=EIO", "1+")],
    *[("-shm", "ftruncate", "error=ENOSPC", "1+")],
]

pytestmark = pytest.mark.skipif(
    not STRACE or os.environ.get("NEARFOLD_FAULT_TESTS") != "all",
    reason="run by `python -m faults --tests`, with strace",
)


@pytest.mark.parametrize(("suffix", "call", "answer", "when"), FAULTS)
def test_a_disk_error_loses_no_acknowledged_document(
    suffix: str, call: str, answer: str, when: str, scene: Scene
) -> None:
    store = scene.new_store()
    log, trace = scene.home / f"{store.stem}.log", scene.home / "trace"
    options = [
        "-P",
        f"{store}{suffix}",
        "-e",
        f"trace={call}",
        "-e",
        f"inject={call}:{answer}:when={when}",
        "-o",
        trace,
    ]
    job = run_traced(scene.command(store), options, {**BATCH, "JOB_LOG": str(log)})
    assert "(INJECTED)" in trace.read_text(encoding="utf-8"), "no fault was injected"
    assert job.code in (1, 3, 4) and "Traceback" not in job.err, f"exit {job.code}: {job.err}"
    if job.code == 4:
        assert "run the same command again to resume" in job.err
        assert "check the disk" in job.err or answer != "error=EIO" or call == "openat", job.err
    check_acknowledged(read_state(f"sqlite:///{store}"), log)
    scene.check_recovery(store)


def test_the_disk_without_a_fault_completes_the_job(scene: Scene, tmp_path: Path) -> None:
    """Without a fault the same job, under strace, comes to its end."""
    job = run_traced(
        scene.command(scene.new_store()), ["-e", "trace=fsync", "-o", tmp_path / "trace"], BATCH
    )
    assert job.code == 1 and job.account is not None
