"""SIGINT and SIGTERM: the first lets a job write what it extracted, the second ends it at once;
SIGSTOP loses nothing.
"""

import os
import signal
import time
from pathlib import Path

import pytest
from jobs import JobResult
from oracle import count_events, read_state
from scene import BATCH, Scene

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
DELAYS = {f"after_extract:{hit}": "delay:0.1" for hit in range(1, 30)}
SLOWLY = {"NEARFOLD_FAILPOINTS": ",".join("=".join(pair) for pair in DELAYS.items())}


def start_slow_job(
    scene: Scene, store: Path, pauses: int = 5, **environment: str
) -> tuple[int, Path]:
    """Return a job that has begun so many of its pauses, and its log."""
    log = scene.home / f"{store.stem}.log"
    job = scene.jobs.start(*scene.command(store), **BATCH, **environment, JOB_LOG=str(log))
    deadline = time.monotonic() + 60
    while sum(count_events(log, "paused").values()) < pauses:
        assert time.monotonic() < deadline, "the job does not reach its failpoint"
        time.sleep(0.01)
    return job, log


@pytest.mark.parametrize("number", CODES)
def test_the_first_signal_lets_a_job_write_what_it_extracted(
    number: signal.Signals, scene: Scene
) -> None:
    store = scene.new_store()
    job, log = start_slow_job(scene, store, **SLOWLY)
    os.kill(job, number)
    result = scene.jobs.wait(job)
    assert result.code == CODES[number]
    assert "press again to stop at once" in result.err
    assert "Traceback" not in result.err
    account = result.account
    state = read_state(f"sqlite:///{store}")
    assert account is not None and account["seen"] < len(scene.after.rows) + len(scene.after.failed)
    extracted = set(count_events(log, "extracted"))
    decided = extracted & (state.paths | set(state.failed))
    assert decided == extracted, "an extracted text was discarded"
    assert account["indexed"] + len(account["failed"]) >= len(decided)
    scene.check_recovery(store)


@pytest.mark.parametrize("number", CODES)
def test_the_second_signal_ends_the_job_at_once(number: signal.Signals, scene: Scene) -> None:
    store = scene.new_store()
    job, _ = start_slow_job(scene, store, 1, NEARFOLD_FAILPOINTS="after_extract:12=delay:60")
    os.kill(job, number)
    time.sleep(0.3)
    started = time.monotonic()
    os.kill(job, number)
    result = scene.jobs.wait(job)
    assert time.monotonic() - started < 10
    assert result.code == CODES[number] and "stopped at once" in result.err
    scene.check_recovery(store)


def test_a_job_paused_by_sigstop_resumes(scene: Scene) -> None:
    store = scene.new_store()
    job, _ = start_slow_job(scene, store, **SLOWLY)
    os.kill(job, signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(job, signal.SIGCONT)
    result: JobResult = scene.jobs.wait(job)
    assert (
        result.code == 1 and read_state(f"sqlite:///{store}").rows.keys() == scene.after.rows.keys()
    )
    scene.check_recovery(store)
