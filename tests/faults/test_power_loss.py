"""Loss of power: whichever unsynced writes reached the disk, a store opens, holds every reported
document, and goes on.

Needs strace, so it is no part of every run: `python -m faults --drills test_power_loss.py`.
"""

import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from disk import CALLS, STRACE, Disk, Event, recorded, traced
from drill import copied
from oracle import kept, sound, standing
from scene import BATCH, Scene

Property = Callable[[str, object], None]
IMAGES, MENDED = 400, 12
SHARES = (0.0, 1.0, 0.5, 0.1, 0.9)

pytestmark = pytest.mark.skipif(
    not STRACE or os.environ.get("NEARFOLD_DRILLS") != "all",
    reason="run by `python -m faults --drills`, with strace",
)


@pytest.fixture(scope="module", params=["new", "revised"])
def job(request: pytest.FixtureRequest, scene: Scene) -> tuple[Path, list[Event]]:
    """Return the folder of a store before a job, and the changes by the job."""
    place, before = (
        scene.home / f"power-{request.param}",
        scene.home / f"power-{request.param}-before",
    )
    place.mkdir()
    if request.param == "revised":
        copied(scene.base, place / "x.db")
    shutil.copytree(place, before)
    log = scene.home / "power.log"
    log.unlink(missing_ok=True)
    return before, done(1, scene.words(place / "x.db"), place, log)


def done(code: int, words: Sequence[str | Path], place: Path, log: Path) -> list[Event]:
    """Return the changes in a folder by a command that ends with this code."""
    options = ["-xx", "-s", "10000000", "-e", f"trace={CALLS}", "-o", f"{log}.trace"]
    ended = traced(words, options, {**BATCH, "DRILL_LOG": str(log)})
    assert ended.code == code, ended.err
    return recorded(Path(f"{log}.trace"), place, log)


def losses(job: tuple[Path, list[Event]], into: Path, count: int, seed: int) -> Iterator[Path]:
    """Yield stores after so many losses of power, at times all over the job, each with the log so
    far.
    """
    before, events = job
    chance, disk = random.Random(seed), Disk(before)
    moments = [*sorted(chance.randrange(len(events)) for _ in range(count - 1)), len(events)]
    passed = 0
    for number, moment in enumerate(moments):
        for event in events[passed:moment]:
            disk.do(event)
        passed = moment
        disk.lose_power(into / f"loss{number}", chance, SHARES[(count - 1 - number) % len(SHARES)])
        (into / f"loss{number}.log").write_bytes(disk.told)
        yield into / f"loss{number}" / "x.db"
        shutil.rmtree(into / f"loss{number}")


def test_whatever_reached_the_disk_is_a_store_that_holds_what_was_told(
    job: tuple[Path, list[Event]], tmp_path: Path, record_property: Property
) -> None:
    events = 0
    for store in losses(job, tmp_path, IMAGES, 1):
        now, log = standing(f"sqlite:///{store}"), tmp_path / f"{store.parent.name}.log"
        sound(now)
        kept(now, log)
        events += bool(log.stat().st_size)
    assert events > IMAGES / 2
    record_property("faults", IMAGES)


def test_a_job_goes_on_after_a_loss_of_power(
    job: tuple[Path, list[Event]], tmp_path: Path, scene: Scene, record_property: Property
) -> None:
    for number, store in enumerate(losses(job, tmp_path, MENDED, 2)):
        own = copied(store, scene.home / f"{job[0].name}{number}.db")
        shutil.copy(tmp_path / f"{store.parent.name}.log", scene.home / f"{own.stem}.log")
        scene.mended(own)
    record_property("faults", MENDED)


def test_a_backup_that_was_made_is_there_and_until_then_the_earlier_one(
    tmp_path: Path, scene: Scene, record_property: Property
) -> None:
    place, before = tmp_path / "place", tmp_path / "before"
    place.mkdir()
    for name in ("x.db", "backup.db"):
        copied(scene.base, place / name)
    assert scene.index(place / "x.db").code == 1
    for journal in place.glob("*.jobs"):
        journal.unlink()  # copying it syncs the folder as well
    shutil.copytree(place, before)
    words = ["backup", place / "backup.db", "--store", f"sqlite:///{place}/x.db"]
    earlier, later = (
        len(standing(f"sqlite:///{store}").rows) for store in (scene.base, place / "x.db")
    )
    texts = []
    for store in losses((before, done(0, words, place, tmp_path / "log")), tmp_path, 100, 3):
        now = standing(f"sqlite:///{store.with_name('backup.db')}")
        sound(now)
        texts.append(len(now.rows))
    assert texts[-1] == later > earlier and set(texts) == {earlier, later}
    record_property("faults", 100)


def test_the_disk_that_is_played_loses_what_was_not_synced(tmp_path: Path) -> None:
    """The simulated disk loses unsynced writes."""
    (tmp_path / "before").mkdir()
    disk = Disk(tmp_path / "before")
    for event in (
        Event("create", "x"),
        Event("write", "x", 0, b"a" * 600),
        Event("sync", "x"),
        Event("sync folder", ""),
    ):
        disk.do(event)
    disk.do(Event("write", "x", 600, b"b" * 600))
    disk.do(Event("create", "y"))
    disk.lose_power(tmp_path / "least", random.Random(1), 0.0)
    disk.lose_power(tmp_path / "most", random.Random(1), 1.0)
    assert {path.name: path.stat().st_size for path in (tmp_path / "least").iterdir()} == {"x": 600}
    assert {path.name: path.stat().st_size for path in (tmp_path / "most").iterdir()} == {
        "x": 1200,
        "y": 0,
    }
