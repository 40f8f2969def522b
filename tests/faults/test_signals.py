"""SIGINT and SIGTERM: the first lets a job finish what it began, the second ends it at once;
SIGSTOP costs nothing.
"""

import os
import signal
import time
from pathlib import Path

import pytest
from drill import Ended
from oracle import standing, told
from scene import BATCH, Scene

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
SLOW = {f"after_extract:{hit}": "delay:0.1" for hit in range(1, 30)}
SLOWLY = {"NEARFOLD_FAILPOINTS": ",".join("=".join(pair) for pair in SLOW.items())}


def begun(scene: Scene, store: Path, **environment: str) -> tuple[int, Path]:
    """Return a slow job in the middle of its work, and its log."""
    log = scene.home / f"{store.stem}.log"
    job = scene.jobs.begin(*scene.words(store), **BATCH, **environment, DRILL_LOG=str(log))
    deadline = time.monotonic() + 60
    while sum(told(log, "extracted").values()) < 10:
        assert time.monotonic() < deadline, "the job extracts nothing"
        time.sleep(0.01)
    return job, log


@pytest.mark.parametrize("number", CODES)
def test_the_first_signal_lets_a_job_finish_what_it_began(
    number: signal.Signals, scene: Scene
) -> None:
    store = scene.begun()
    job, log = begun(scene, store, **SLOWLY)
    os.kill(job, number)
    ended = scene.jobs.ended(job)
    assert (
        ended.code == CODES[number]
        and "once more to stop at once" in ended.err
        and "Traceback" not in ended.err
    )
    account, rows = ended.account, standing(f"sqlite:///{store}")
    assert account is not None and account["seen"] < len(scene.after.rows) + len(scene.after.failed)
    done = {path for path in told(log, "extracted") if path in rows.paths | set(rows.failed)}
    assert done == set(told(log, "extracted")), "what was extracted was thrown away"
    assert account["indexed"] + len(account["failed"]) >= len(done)
    scene.mended(store)


@pytest.mark.parametrize("number", CODES)
def test_the_second_signal_ends_it_at_once(number: signal.Signals, scene: Scene) -> None:
    store = scene.begun()
    job, _ = begun(scene, store, NEARFOLD_FAILPOINTS="after_extract:12=delay:60")
    os.kill(job, number)
    time.sleep(0.3)
    started = time.monotonic()
    os.kill(job, number)
    ended = scene.jobs.ended(job)
    assert time.monotonic() - started < 10
    assert ended.code == CODES[number] and "stopped at once" in ended.err
    scene.mended(store)


def test_a_job_that_was_stopped_for_a_while_goes_on(scene: Scene) -> None:
    store = scene.begun()
    job, _ = begun(scene, store, **SLOWLY)
    os.kill(job, signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(job, signal.SIGCONT)
    ended: Ended = scene.jobs.ended(job)
    assert ended.code == 1 and standing(f"sqlite:///{store}").rows.keys() == scene.after.rows.keys()
    scene.mended(store)
