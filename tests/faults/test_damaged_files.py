"""Torn, emptied and damaged files of a store and its journal: intact data are kept, and damage is
reported with a remedy.

A copy of a store's files that is taken while a job runs is what a loss of power leaves, at that
moment.
"""

import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from drill import chosen
from oracle import sound, standing
from scene import BATCH, Scene

from indexer.errors import StoreDamaged
from indexer.jobs.journal import Failure, Journal, stored_failures

RECORDS = [
    Failure(f"{number:032x}", f"/papers/{number}.pdf", "digest", "extractor", "encrypted")
    for number in range(40)
]
Property = Callable[[str, object], None]
HEADER, FRAME = (
    32,
    24,
)  # bytes before the first frame of a write-ahead log, and before each page in it


@pytest.fixture(scope="module")
def torn(scene: Scene) -> Path:
    """Return a store whose job was killed with work in its log that is not checkpointed."""
    store = scene.begun()
    log = scene.home / "torn.log"
    job = scene.jobs.begin(
        *scene.words(store), **BATCH, NEARFOLD_FAILPOINTS="before_commit:4=kill", DRILL_LOG=str(log)
    )
    assert scene.jobs.ended(job).code == -signal.SIGKILL
    assert Path(f"{store}-wal").stat().st_size > HEADER
    return store


def again(store: Path, folder: Path, change: Callable[[bytes], bytes], suffix: str) -> Path:
    """Return a copy of a store in which one of its files was changed."""
    folder.mkdir(exist_ok=True)
    for file in store.parent.glob(f"{store.name}*"):
        shutil.copy(file, folder / file.name)
    victim = folder / f"{store.name}{suffix}"
    victim.write_bytes(change(victim.read_bytes()))
    return folder / store.name


def frames(wal: bytes) -> int:
    """Return the size of a frame of this log."""
    return FRAME + int.from_bytes(wal[8:12], "big")


def test_a_log_torn_anywhere_in_its_last_two_frames_keeps_what_came_before(
    torn: Path, tmp_path: Path, record_property: Property
) -> None:
    wal = Path(f"{torn}-wal").read_bytes()
    size = frames(wal)
    least = len(standing(f"sqlite:///{again(torn, tmp_path / 'whole', bytes, '-wal')}").rows)
    last = HEADER + (len(wal) - HEADER) // size * size
    cuts = [*range(last - 2 * size, last, 97), last - 1]
    record_property("faults", len(cuts))
    for cut in cuts:
        store = again(torn, tmp_path / "cut", lambda data, cut=cut: data[:cut], "-wal")
        now = standing(f"sqlite:///{store}")
        sound(now)
        assert len(now.rows) <= least
        shutil.rmtree(tmp_path / "cut")
    assert least > 0


@pytest.mark.parametrize("kept", chosen([0, 1, 31, 32, 1000, 0.5, 0.9], [0, 1000, 0.9]))
def test_a_job_goes_on_after_its_log_was_torn(
    kept: float, torn: Path, tmp_path: Path, scene: Scene
) -> None:
    store = again(
        torn,
        tmp_path / "cut",
        lambda data: data[: int(kept * len(data)) if kept in (0.5, 0.9) else int(kept)],
        "-wal",
    )
    scene.mended(store)


@pytest.mark.parametrize("seed", chosen(range(4), range(2)))
def test_a_bit_that_flips_in_the_log_costs_at_most_what_came_after_it(
    seed: int, torn: Path, tmp_path: Path, scene: Scene
) -> None:
    def flipped(data: bytes) -> bytes:
        place = random.Random(seed).randrange(HEADER, len(data))
        return data[:place] + bytes([data[place] ^ 1 << seed]) + data[place + 1 :]

    scene.mended(again(torn, tmp_path / "flipped", flipped, "-wal"))


def test_a_journal_is_whole_or_named_wherever_it_is_cut(
    tmp_path: Path, record_property: Property
) -> None:
    """Each byte of its last two pages, and some of the others; an empty one is a new one."""
    path = tmp_path / "x.jobs"
    with Journal(path) as journal:
        journal.record(RECORDS)
    whole = path.read_bytes()
    lengths = [0, *range(1, len(whole) - 8192, 499), *range(max(1, len(whole) - 8192), len(whole))]
    record_property("faults", len(lengths))
    for length in lengths:
        cut = tmp_path / "cut.jobs"
        cut.write_bytes(whole[:length])
        try:
            with Journal(cut) as journal:
                found = journal.failures([one.id for one in RECORDS])
                assert len(found) == (0 if length == 0 else len(RECORDS)), f"{length} bytes"
        except StoreDamaged as error:
            assert str(cut) in str(error) and "move it away" in str(error)
        cut.unlink()


def test_a_torn_change_of_a_journal_is_taken_back(
    tmp_path: Path, record_property: Property
) -> None:
    """The process dies between the change and its commit, and the file that tells how to take it
    back is torn anywhere.
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
    back = Path(f"{path}-journal").read_bytes()
    middle = path.read_bytes()
    db.close()
    assert len(back) > 512
    lengths = [*range(0, 40), *range(40, len(back), 37), len(back)]
    record_property("faults", len(lengths))
    for length in lengths:
        copy.write_bytes(middle)
        Path(f"{copy}-journal").write_bytes(back[:length])
        try:
            if length == len(back):  # whoever reads first takes the change back
                assert {one.id for one in stored_failures(copy) or ()} == {
                    one.id for one in RECORDS[:20]
                }
            with Journal(copy) as journal:
                kept = {one.id for one in journal}
            assert kept >= {one.id for one in RECORDS[:20]} or length < len(back), f"{length} bytes"
        except StoreDamaged as error:
            assert length < len(back) and "move it away" in str(error)
        for file in tmp_path.glob("copy.jobs*"):
            file.unlink()


def test_an_emptied_journal_forgets_failures_and_nothing_else(scene: Scene) -> None:
    store = scene.begun()
    Path(f"{store}.jobs").write_bytes(b"")
    assert stored_failures(Path(f"{store}.jobs")) == ()
    scene.mended(store)


def test_a_damaged_journal_stops_a_job_before_it_begins_and_can_be_moved_away(scene: Scene) -> None:
    store = scene.begun()
    journal = Path(f"{store}.jobs")
    journal.write_bytes(os.urandom(100) + journal.read_bytes()[100:])
    job = scene.index(store)
    assert job.code == 3 and "move it away" in job.err and str(journal) in job.err
    journal.unlink()
    scene.mended(store)


@pytest.mark.parametrize("missing", [1, 100, 4095, 4096, 9000, 100_000])
def test_a_store_whose_end_is_missing_says_so(missing: int, tmp_path: Path, scene: Scene) -> None:
    store = again(scene.base, tmp_path / "cut", lambda data: data[:-missing], "")
    with pytest.raises(StoreDamaged, match="restore a backup"):
        standing(f"sqlite:///{store}")
    job = scene.index(store)
    assert job.code == 3 and "restore a backup" in job.err
