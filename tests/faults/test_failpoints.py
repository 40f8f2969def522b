"""Every named step of a job, killed, failing and slow, on the embedded store; run again, nothing is
lost, twice or wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from jobs import select_cases
from oracle import check_account, check_acknowledged, check_no_repeats, check_soundness, read_state
from scene import Scene

from indexer.system.failpoints import POINTS

ENGINE_STEPS = {"before_send", "after_send"}
ONCE = {
    "before_repair",
    "after_repair",
    "before_journal",
    "after_journal",
    "before_checkpoint",
    "after_checkpoint",
    "in_worker",
}
EACH_FILE = {"before_read", "after_read", "before_extract", "after_extract", "after_acknowledge"}
STEPS = [name for name in POINTS if name not in ENGINE_STEPS]
GATE_STEPS = [
    "before_read",
    "before_extract",
    "in_worker",
    "after_fingerprint",
    "after_repair",
    "before_commit",
    "after_commit",
    "before_journal",
    "after_acknowledge",
    "before_checkpoint",
]
CODES = {"before_read": 1, "after_read": 1, "before_extract": 1, "in_worker": 1}
DISK_STEPS = {
    "before_commit",
    "after_commit",
    "before_journal",
    "after_journal",
    "before_checkpoint",
    "after_checkpoint",
}


def acting_hit(name: str) -> int:
    """Return the hit that acts: late enough that a part of the job is done."""
    if name in ONCE:
        return 1
    return 9 if name in EACH_FILE else 3


@pytest.mark.parametrize("name", select_cases(STEPS, GATE_STEPS))
def test_killed_at_a_step_the_job_recovers(name: str, scene: Scene) -> None:
    store = scene.new_store()
    job = scene.index(
        store,
        NEARFOLD_FAILPOINTS=f"{name}:{acting_hit(name)}=kill",
        JOB_LOG=str(store.with_suffix(".log")),
    )
    if name == "in_worker":
        assert job.code == 1 and "the extraction process died" in job.out
        scene.check_recovery(store, "--retry")
    else:
        assert job.code == -9, job.err
        scene.check_recovery(store)


@pytest.mark.parametrize("name", select_cases(STEPS, GATE_STEPS))
def test_failing_at_a_step_the_job_recovers(name: str, scene: Scene) -> None:
    store = scene.new_store()
    job = scene.index(
        store,
        NEARFOLD_FAILPOINTS=f"{name}:{acting_hit(name)}=error",
        JOB_LOG=str(store.with_suffix(".log")),
    )
    code = 4 if name in DISK_STEPS else 70
    assert job.code == CODES.get(name, code), job.err
    message = "disk that holds" if job.code == 4 and "journal" not in name else name
    assert message in job.out + job.err
    options = ["--retry"] if name in ("before_extract", "in_worker") else []
    scene.check_recovery(store, *options)


def test_slow_steps_do_not_change_the_result(
    scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    record_property("faults", len(STEPS))
    store = scene.new_store()
    delays = ",".join(f"{name}:{acting_hit(name)}=delay:0.05" for name in STEPS)
    assert (
        scene.index(store, NEARFOLD_FAILPOINTS=delays, JOB_LOG=str(store.with_suffix(".log"))).code
        == 1
    )
    assert read_state(f"sqlite:///{store}") == scene.after
    scene.check_recovery(store)


def test_killed_at_every_step_in_turn(
    scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    """One job after the other on the same store, each killed a step later than the one before."""
    record_property("faults", len(STEPS))
    store, log = scene.new_store(), scene.home / "turns.log"
    for name in STEPS:
        scene.index(store, NEARFOLD_FAILPOINTS=f"{name}=kill", JOB_LOG=str(log))
        state = read_state(f"sqlite:///{store}")
        check_soundness(state)
        check_acknowledged(state, log)
    scene.check_recovery(store, "--retry")


def test_the_oracle_detects_wrong_results(scene: Scene) -> None:
    """The checks object to missing and changed rows, and to forgotten failures."""
    rows = scene.after.rows
    first = next(row for row in rows.values() if row.bands)
    with pytest.raises(AssertionError, match="I3"):
        check_soundness(
            replace(scene.after, rows={**rows, first.id: replace(first, bands=first.bands[1:])})
        )
    cut = next(row for row in rows.values() if row.status == "truncated")
    with pytest.raises(AssertionError, match="I4"):
        check_soundness(
            replace(scene.after, rows={cut.id: replace(cut, family=cut.id, principal=True)})
        )
    log = scene.home / "oracle.log"
    log.write_text(f"extracted {first.path}\nindexed {first.path}\n", encoding="utf-8")
    check_acknowledged(scene.after, log)
    with pytest.raises(AssertionError, match="I2"):
        check_acknowledged(replace(scene.after, rows={}), log)
    with pytest.raises(AssertionError, match="I5"):
        check_no_repeats(scene.after, scene.after, log)
    job = scene.index(scene.new_store())
    with pytest.raises(AssertionError, match="I1"):
        check_account(job, replace(scene.after, failed={}), scene.folder)
