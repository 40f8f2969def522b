"""Loss of power: whichever unsynced writes reached the disk, a store opens, holds every reported
document, and goes on.

Needs strace, so it is no part of every run: `python -m faults --tests test_power_loss.py`.
"""

import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from disk import CALLS, STRACE, Disk, Event, read_trace, run_traced
from jobs import copy_store
from oracle import check_acknowledged, check_soundness, read_state
from scene import BATCH, Scene

Property = Callable[[str, object], None]
IMAGES, RESUMED = 400, 12
SHARES = (0.0, 1.0, 0.5, 0.1, 0.9)

pytestmark = pytest.mark.skipif(
    not STRACE or os.environ.get("NEARFOLD_FAULT_TESTS") != "all",
    reason="run by `python -m faults --tests`, with strace",
)


@pytest.fixture(scope="module", params=["new", "revised"])
def job(request: pytest.FixtureRequest, scene: Scene) -> tuple[Path, list[Event]]:
    """Return the folder of a store before a job, and the changes by the job."""
    place = scene.home / f"power-{request.param}"
    before = scene.home / f"power-{request.param}-before"
    place.mkdir()
    if request.param == "revised":
        copy_store(scene.base, place / "x.db")
    shutil.copytree(place, before)
    log = scene.home / "power.log"
    log.unlink(missing_ok=True)
    return before, trace_command(1, scene.command(place / "x.db"), place, log)


def trace_command(code: int, words: Sequence[str | Path], place: Path, log: Path) -> list[Event]:
    """Return the changes in a folder by a command that ends with this code."""
    options = ["-xx", "-s", "10000000", "-e", f"trace={CALLS}", "-o", f"{log}.trace"]
    result = run_traced(words, options, {**BATCH, "JOB_LOG": str(log)})
    assert result.code == code, result.err
    return read_trace(Path(f"{log}.trace"), place, log)


def losses(job: tuple[Path, list[Event]], into: Path, count: int, seed: int) -> Iterator[Path]:
    """Yield stores after so many losses of power, at times all over the job, each with the log so
    far.
    """
    before, events = job
    chance, disk = random.Random(seed), Disk(before)
    moments = [*sorted(chance.randrange(len(events)) for _ in range(count - 1)), len(events)]
    passed = 0
    for number, event_count in enumerate(moments):
        for event in events[passed:event_count]:
            disk.apply(event)
        passed = event_count
        disk.lose_power(into / f"loss{number}", chance, SHARES[(count - 1 - number) % len(SHARES)])
        (into / f"loss{number}.log").write_bytes(disk.reported)
        yield into / f"loss{number}" / "x.db"
        shutil.rmtree(into / f"loss{number}")


def test_whatever_reached_the_disk_holds_every_reported_document(
    job: tuple[Path, list[Event]], tmp_path: Path, record_property: Property
) -> None:
    events = 0
    for store in losses(job, tmp_path, IMAGES, 1):
        state, log = read_state(f"sqlite:///{store}"), tmp_path / f"{store.parent.name}.log"
        check_soundness(state)
        check_acknowledged(state, log)
        events += bool(log.stat().st_size)
    assert events > IMAGES / 2
    record_property("faults", IMAGES)


def test_a_job_resumes_after_a_loss_of_power(
    job: tuple[Path, list[Event]], tmp_path: Path, scene: Scene, record_property: Property
) -> None:
    for number, store in enumerate(losses(job, tmp_path, RESUMED, 2)):
        copy = copy_store(store, scene.home / f"{job[0].name}{number}.db")
        shutil.copy(tmp_path / f"{store.parent.name}.log", scene.home / f"{copy.stem}.log")
        scene.check_recovery(copy)
    record_property("faults", RESUMED)


def test_a_backup_is_the_earlier_one_until_the_new_one_is_complete(
    tmp_path: Path, scene: Scene, record_property: Property
) -> None:
    place, before = tmp_path / "place", tmp_path / "before"
    place.mkdir()
    for name in ("x.db", "backup.db"):
        copy_store(scene.base, place / name)
    assert scene.index(place / "x.db").code == 1
    for journal in place.glob("*.jobs"):
        journal.unlink()  # copying it syncs the folder as well
    shutil.copytree(place, before)
    words = ["backup", place / "backup.db", "--replace", "--store", f"sqlite:///{place}/x.db"]
    earlier, later = (
        len(read_state(f"sqlite:///{store}").rows) for store in (scene.base, place / "x.db")
    )
    texts = []
    for store in losses(
        (before, trace_command(0, words, place, tmp_path / "log")), tmp_path, 100, 3
    ):
        state = read_state(f"sqlite:///{store.with_name('backup.db')}")
        check_soundness(state)
        texts.append(len(state.rows))
    assert texts[-1] == later > earlier and set(texts) == {earlier, later}
    record_property("faults", 100)


def test_the_disk_simulation_loses_unsynced_writes(tmp_path: Path) -> None:
    """The simulated disk loses unsynced writes."""
    (tmp_path / "before").mkdir()
    disk = Disk(tmp_path / "before")
    for event in (
        Event("create", "x"),
        Event("write", "x", 0, b"a" * 600),
        Event("sync", "x"),
        Event("sync folder", ""),
    ):
        disk.apply(event)
    disk.apply(Event("write", "x", 600, b"b" * 600))
    disk.apply(Event("create", "y"))
    disk.lose_power(tmp_path / "least", random.Random(1), 0.0)
    disk.lose_power(tmp_path / "most", random.Random(1), 1.0)
    assert {path.name: path.stat().st_size for path in (tmp_path / "least").iterdir()} == {"x": 600}
    assert {path.name: path.stat().st_size for path in (tmp_path / "most").iterdir()} == {
        "x": 1200,
        "y": 0,
    }
