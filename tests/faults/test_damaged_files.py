"""Torn, emptied and damaged files of a store and its journal: intact data are kept, and damage is
reported with a remedy.

A copy of a store's files taken while a job runs has the content that a loss of power would leave.
"""

import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from jobs import select_cases
from oracle import check_soundness, read_state
from scene import BATCH, Scene

from indexer.errors import StoreDamaged
from indexer.stores.journal import Failure, Journal, stored_failures

RECORDS = [
    Failure(f"{number:032x}", f"/papers/{number}.pdf", "digest", "extractor", "encrypted")
    for number in range(40)
]
Property = Callable[[str, object], None]
HEADER = 32  # bytes before the first frame of a write-ahead log
FRAME = 24  # bytes before the page of each frame


@pytest.fixture(scope="module")
def torn_store(scene: Scene) -> Path:
    """Return a store whose job was killed with work in its log that is not checkpointed."""
    store = scene.new_store()
    log = scene.home / "torn.log"
    job = scene.jobs.start(
        *scene.command(store), **BATCH, NEARFOLD_FAILPOINTS="before_commit:4=kill", JOB_LOG=str(log)
    )
    assert scene.jobs.wait(job).code == -signal.SIGKILL
    assert Path(f"{store}-wal").stat().st_size > HEADER
    return store


def damaged_copy(store: Path, folder: Path, change: Callable[[bytes], bytes], suffix: str) -> Path:
    """Return a copy of a store in which one of its files was changed."""
    folder.mkdir(exist_ok=True)
    for file in store.parent.glob(f"{store.name}*"):
        shutil.copy(file, folder / file.name)
    victim = folder / f"{store.name}{suffix}"
    victim.write_bytes(change(victim.read_bytes()))
    return folder / store.name


def frame_bytes(wal: bytes) -> int:
    """Return the size of a frame of this log."""
    return FRAME + int.from_bytes(wal[8:12], "big")


def test_a_log_torn_anywhere_in_its_last_two_frames_keeps_the_earlier_ones(
    torn_store: Path, tmp_path: Path, record_property: Property
) -> None:
    wal = Path(f"{torn_store}-wal").read_bytes()
    size = frame_bytes(wal)
    least = len(
        read_state(f"sqlite:///{damaged_copy(torn_store, tmp_path / 'whole', bytes, '-wal')}").rows
    )
    last = HEADER + (len(wal) - HEADER) // size * size
    cuts = [*range(last - 2 * size, last, 97), last - 1]
    record_property("faults", len(cuts))
    for cut in cuts:
        store = damaged_copy(torn_store, tmp_path / "cut", lambda data, cut=cut: data[:cut], "-wal")
        now = read_state(f"sqlite:///{store}")
        check_soundness(now)
        assert len(now.rows) <= least
        shutil.rmtree(tmp_path / "cut")
    assert least > 0


@pytest.mark.parametrize("length", select_cases([0, 1, 31, 32, 1000, 0.5, 0.9], [0, 1000, 0.9]))
def test_a_job_resumes_after_its_log_was_torn(
    length: float, torn_store: Path, tmp_path: Path, scene: Scene
) -> None:
    """`length`: bytes that are left of the log, or a share of them."""

    def cut(data: bytes) -> bytes:
        is_share = length in (0.5, 0.9)
        return data[: int(length * len(data)) if is_share else int(length)]

    scene.check_recovery(damaged_copy(torn_store, tmp_path / "cut", cut, "-wal"))


@pytest.mark.parametrize("seed", select_cases(range(4), range(2)))
def test_a_bit_flipped_in_the_log_loses_at_most_the_later_frames(
    seed: int, torn_store: Path, tmp_path: Path, scene: Scene
) -> None:
    def flip_bit(data: bytes) -> bytes:
        place = random.Random(seed).randrange(HEADER, len(data))
        return data[:place] + bytes([data[place] ^ 1 << seed]) + data[place + 1 :]

    scene.check_recovery(damaged_copy(torn_store, tmp_path / "flipped", flip_bit, "-wal"))


def test_a_journal_cut_anywhere_is_complete_or_reported(
    tmp_path: Path, record_property: Property
) -> None:
    """Each byte of its last two pages, and some of the others; an empty one is a new one."""
    path = tmp_path / "x.jobs"
    with Journal(path) as journal:
        journal.record(RECORDS)
    content = path.read_bytes()
    lengths = [
        0,
        *range(1, len(content) - 8192, 499),
        *range(max(1, len(content) - 8192), len(content)),
    ]
    record_property("faults", len(lengths))
    for length in lengths:
        cut = tmp_path / "cut.jobs"
        cut.write_bytes(content[:length])
        try:
            with Journal(cut) as journal:
                failures = journal.failures([failure.id for failure in RECORDS])
                assert len(failures) == (0 if length == 0 else len(RECORDS)), f"{length} bytes"
        except StoreDamaged as error:
            assert str(cut) in str(error) and "move it away" in str(error)
        cut.unlink()


def test_a_torn_change_of_a_journal_is_rolled_back(
    tmp_path: Path, record_property: Property
) -> None:
    """The process dies between the change and its commit, and the rollback journal is torn
    anywhere.
    """
    path, copy = tmp_path / "x.jobs", tmp_path / "copy.jobs"
    with Journal(path) as journal:
        journal.record(RECORDS[:20])
    db = sqlite3.connect(path)
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN EXCLUSIVE")
    db.executemany(
        "INSERT INTO failure VALUES (?, ?, ?, ?, ?, 0)",
        [(f"z{n}", "p" * 500, "", "", "") for n in range(200)],
    )
    rollback = Path(f"{path}-journal").read_bytes()
    middle = path.read_bytes()
    db.close()
    assert len(rollback) > 512
    lengths = [*range(0, 40), *range(40, len(rollback), 37), len(rollback)]
    record_property("faults", len(lengths))
    for length in lengths:
        copy.write_bytes(middle)
        Path(f"{copy}-journal").write_bytes(rollback[:length])
        try:
            if length == len(rollback):  # the first reader rolls the change back
                assert {failure.id for failure in stored_failures(copy) or ()} == {
                    failure.id for failure in RECORDS[:20]
                }
            with Journal(copy) as journal:
                ids = {failure.id for failure in journal}
            assert ids >= {failure.id for failure in RECORDS[:20]} or length < len(rollback), (
                f"{length} bytes"
            )
        except StoreDamaged as error:
            assert length < len(rollback) and "move it away" in str(error)
        for file in tmp_path.glob("copy.jobs*"):
            file.unlink()


def test_an_emptied_journal_loses_failures_and_nothing_else(scene: Scene) -> None:
    store = scene.new_store()
    Path(f"{store}.jobs").write_bytes(b"")
    assert stored_failures(Path(f"{store}.jobs")) == ()
    scene.check_recovery(store)


def test_a_damaged_journal_stops_a_job_before_it_begins_and_can_be_moved_away(scene: Scene) -> None:
    store = scene.new_store()
    journal = Path(f"{store}.jobs")
    journal.write_bytes(os.urandom(100) + journal.read_bytes()[100:])
    job = scene.index(store)
    assert job.code == 3 and "move it away" in job.err and str(journal) in job.err
    journal.unlink()
    scene.check_recovery(store)


@pytest.mark.parametrize("missing", [1, 100, 4095, 4096, 9000, 100_000])
def test_a_store_whose_end_is_missing_is_reported(
    missing: int, tmp_path: Path, scene: Scene
) -> None:
    store = damaged_copy(scene.base, tmp_path / "cut", lambda data: data[:-missing], "")
    with pytest.raises(StoreDamaged, match="restore a backup"):
        read_state(f"sqlite:///{store}")
    job = scene.index(store)
    assert job.code == 3 and "restore a backup" in job.err
