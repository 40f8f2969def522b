"""Every named step of a job, killed, failing and slow, on the embedded store; run again, nothing is
lost, twice or wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from drill import chosen
from oracle import conserved, economical, kept, sound, standing
from scene import Scene

from indexer.system.failpoints import POINTS

ENGINES_ALONE = {"before_send", "after_send"}
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
STEPS = [name for name in POINTS if name not in ENGINES_ALONE]
OFTEN = [
    "before_read", "before_extract", "in_worker", "after_fingerprint", "after_repair", "before_commit", "after_commit",
    "before_journal", "after_acknowledge", "before_checkpoint",
]  # fmt: skip
CODES = {"before_read": 1, "after_read": 1, "before_extract": 1, "in_worker": 1}
DISK = {
    "before_commit",
    "after_commit",
    "before_journal",
    "after_journal",
    "before_checkpoint",
    "after_checkpoint",
}


def hit(name: str) -> int:
    """Return the hit that acts: late enough that a part of the job is done."""
    return 1 if name in ONCE else 9 if name in EACH_FILE else 3


@pytest.mark.parametrize("name", STEPS)
def test_killed(name: str, scene: Scene) -> None:
    store = scene.begun()
    job = scene.index(
        store,
        NEARFOLD_FAILPOINTS=f"{name}:{hit(name)}=kill",
        DRILL_LOG=str(store.with_suffix(".log")),
    )
    if name == "in_worker":
        assert job.code == 1 and "the extraction process died" in job.out
        scene.mended(store, "--retry")
    else:
        assert job.code == -9, job.err
        scene.mended(store)


@pytest.mark.parametrize("name", chosen(STEPS, OFTEN))
def test_failing(name: str, scene: Scene) -> None:
    store = scene.begun()
    job = scene.index(
        store,
        NEARFOLD_FAILPOINTS=f"{name}:{hit(name)}=error",
        DRILL_LOG=str(store.with_suffix(".log")),
    )
    assert job.code == CODES.get(name, 4 if name in DISK else 70), job.err
    assert (
        "disk that holds" if job.code == 4 and "journal" not in name else name
    ) in job.out + job.err
    scene.mended(store, *(["--retry"] if name in ("before_extract", "in_worker") else []))


def test_slow_at_every_step(scene: Scene, record_property: Callable[[str, object], None]) -> None:
    record_property("faults", len(STEPS))
    store = scene.begun()
    slow = ",".join(f"{name}:{hit(name)}=delay:0.05" for name in STEPS)
    assert (
        scene.index(store, NEARFOLD_FAILPOINTS=slow, DRILL_LOG=str(store.with_suffix(".log"))).code
        == 1
    )
    assert standing(f"sqlite:///{store}") == scene.after
    scene.mended(store)


def test_killed_at_every_step_in_turn(
    scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    """One job after the other on the same store, each killed a step later than the one before."""
    record_property("faults", len(STEPS))
    store, log = scene.begun(), scene.home / "turns.log"
    for name in STEPS:
        scene.index(store, NEARFOLD_FAILPOINTS=f"{name}=kill", DRILL_LOG=str(log))
        now = standing(f"sqlite:///{store}")
        sound(now)
        kept(now, log)
    scene.mended(store, "--retry")


def test_the_oracle_sees_what_is_wrong(scene: Scene) -> None:
    """The checks object to missing and changed rows, and to forgotten failures."""
    rows = scene.after.rows
    first = next(row for row in rows.values() if row.bands)
    with pytest.raises(AssertionError, match="I3"):
        sound(replace(scene.after, rows={**rows, first.id: replace(first, bands=first.bands[1:])}))
    cut = next(row for row in rows.values() if row.status == "truncated")
    with pytest.raises(AssertionError, match="I4"):
        sound(replace(scene.after, rows={cut.id: replace(cut, family=cut.id, principal=True)}))
    log = scene.home / "oracle.log"
    log.write_text(f"extracted {first.path}\nindexed {first.path}\n", encoding="utf-8")
    kept(scene.after, log)
    with pytest.raises(AssertionError, match="I2"):
        kept(replace(scene.after, rows={}), log)
    with pytest.raises(AssertionError, match="I5"):
        economical(scene.after, scene.after, log)
    job = scene.index(scene.begun())
    with pytest.raises(AssertionError, match="I1"):
        conserved(job, replace(scene.after, failed={}), scene.folder)
