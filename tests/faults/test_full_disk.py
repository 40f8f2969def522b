"""A full disk: the job stops with a message, no acknowledged document is lost, and it resumes once
there is space again.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import copy_store, select_cases
from oracle import check_acknowledged, check_soundness, read_state
from scene import Scene


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 2 MB; skipped where that is not permitted."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path, free: int) -> Path:
    """Write a file that takes all the space but so many kilobytes."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            file.truncate(max(0, file.tell() - free * 1024))
    return filler


@pytest.mark.parametrize("free", [0, 60])
def test_a_new_store_on_a_full_disk_stops_the_job(
    free: int, small_disk: Path, scene: Scene
) -> None:
    store, filler = small_disk / f"new{free}.db", fill(small_disk, free)
    job = scene.index(store)
    assert job.code == 4 and "run the same command again" in job.err, job.err
    filler.unlink()
    scene.check_recovery(store)


@pytest.mark.parametrize("free", select_cases([0, 4, 16, 64, 200, 500], [0, 16, 200]))
def test_a_disk_that_fills_up_loses_no_acknowledged_document(
    free: int, small_disk: Path, scene: Scene
) -> None:
    """`free`: kilobytes that are left when the job begins."""
    store = scene.new_store(small_disk)
    filler = fill(small_disk, free)
    log = scene.home / f"{store.stem}.log"
    job = scene.index(store, JOB_LOG=str(log))
    assert job.code in (1, 4) and "Traceback" not in job.err, f"exit {job.code}: {job.err}"
    if job.code == 4:
        assert "run the same command again to resume" in job.err
    state = read_state(f"sqlite:///{copy_store(store, scene.home / store.name)}")
    check_soundness(state)
    check_acknowledged(state, log)
    filler.unlink()
    scene.check_recovery(store)


@pytest.mark.parametrize("kilobytes", select_cases([40, 120, 400, 700], [120, 400]))
def test_a_file_that_may_not_grow_loses_no_acknowledged_document(
    kilobytes: int, scene: Scene
) -> None:
    """The limit of a file's size, as of a quota."""
    store = scene.new_store()
    log = scene.home / f"{store.stem}.log"
    job = scene.index(store, JOB_LOG=str(log), JOB_FILE_BYTES=str(kilobytes << 10))
    assert job.code in (1, 3, 4) and "Traceback" not in job.err, f"exit {job.code}: {job.err}"
    check_acknowledged(read_state(f"sqlite:///{store}"), log)
    scene.check_recovery(store)
