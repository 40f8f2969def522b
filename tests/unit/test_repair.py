"""Damage made on purpose is reported and left by a dry run, repaired by a repair, and not found
afterwards.
"""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sample_rows import row

from indexer.cli.exit_codes import EXIT_STORE
from indexer.cli.main import run
from indexer.errors import StoreBusy
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.repair import Repair, repair
from indexer.model import Query, Row
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.base import Store
from indexer.stores.journal import Failure, Journal, journal_path, stored_failures

LEASE = (
    "The landlord lets the warehouse at the quay to the tenant for {} years. The tenant keeps the "
    "roof in repair, insures the "
    "goods, and lets the landlord inspect the building twice a year after written notice; the "
    "rent is due in advance."
)
Damage = Callable[[sqlite3.Connection], object]


@pytest.fixture(scope="module")
def sound_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a grouped store with families, clusters and parts."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "papers").mkdir()
    for years in ("five", "six", "nine"):
        (folder / "papers" / f"lease-{years}.txt").write_text(LEASE.format(years))
    (folder / "papers" / "ferry.txt").write_text(
        "The ferry sails at noon, and in storms the captain decides whether it does."
    )
    store = open_store(f"sqlite:///{folder}/store.db")
    index([str(folder / "papers")], store, IndexOptions(parts="clauses"), workers=1)
    group(store)
    store.close()
    return folder / "store.db"


@pytest.fixture
def store(sound_store: Path, tmp_path: Path) -> Iterator[Store]:
    for file in sound_store.parent.glob("store.db*"):
        shutil.copy(file, tmp_path / file.name)
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()


def damage(store: Store, how: Damage) -> None:
    store.close()
    with closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as db, db:
        how(db)


def rows(store: Store) -> dict[str, Row]:
    return {row.id: row for row in store.parts.view("both").scan()}


def repair_all(store: Store) -> tuple[Repair, ...]:
    """Repair a store, after a dry run that reported the same and changed nothing, and before a
    repair that finds nothing.
    """
    before = rows(store)
    would = repair(store, dry_run=True)
    assert not any(item.repaired for item in would)
    assert rows(store) == before
    repairs = repair(store)
    assert [(item.what, item.found) for item in repairs] == [
        (item.what, item.found) for item in would
    ]
    assert [item.what for item in repair(store) if item.what != "provisional"] == []
    return tuple(item for item in repairs if item.what != "provisional")


def hit_count(store: Store, word: str) -> int:
    return store.search(Query(word)).total


def test_a_sound_store_needs_nothing(store: Store) -> None:
    before = rows(store)
    assert repair(store) == ()
    assert rows(store) == before


LEADER = "(SELECT in_family FROM documents WHERE parent IS NULL GROUP BY 1 HAVING count(*) > 1)"
SHIFTED = "UPDATE texts SET text = 'Altogether ' || text || ' otherwise'"
OTHERS = "UPDATE documents SET bands = '0001 0002', minhash = zeroblob(512)"
LAST = "UPDATE documents SET parent = 'gone' WHERE number IN (SELECT max(number) FROM documents)"
DAMAGES = {
    "words that are gone": ("index", "INSERT INTO fulltext (fulltext) VALUES ('delete-all')"),
    "keys that are gone": ("index", "DELETE FROM key_pages"),
    "other keys": ("index", "UPDATE key_pages SET entries = zeroblob(length(entries))"),
    "a document too many": (
        "index",
        "INSERT INTO fulltext (rowid, title, text) VALUES (99, '', 'x')",
    ),
    "a text changed behind its index": ("index", SHIFTED),
    "a broken index": ("index", "UPDATE fulltext_data SET block = zeroblob(9) WHERE id > 10"),
    "keys of another text": ("keys", OTHERS),
    "another digest": ("keys", "UPDATE documents SET exact = 'no' WHERE parent IS NULL"),
    "a principal that is gone": (
        "families",
        "UPDATE documents SET family = 'gone' WHERE in_family != id",
    ),
    "a principal that follows": (
        "families",
        f"UPDATE documents SET family = 'x' WHERE id IN {LEADER}",
    ),
    "a cluster of nobody": (
        "clusters",
        "UPDATE documents SET cluster = 'gone' WHERE cluster IS NOT NULL",
    ),
    "parts of nobody": ("parts", LAST),
}


@pytest.mark.long
@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_reported_and_repaired(name: str, store: Store) -> None:
    what, how = DAMAGES[name]
    damage(store, lambda db: db.execute(how))
    assert what in {item.what for item in repair_all(store)}
    assert hit_count(store, "captain") == 1
    assert hit_count(store, "warehouse") == 3
    before = rows(store)
    assert all(before[row.family].family == row.family for row in before.values())
    assert all(row.cluster is None or row.cluster in before for row in before.values())
    group(store)
    assert len({row.family for row in store.scan() if "warehouse" in row.text}) == 1


def test_a_document_without_its_text_goes_and_is_read_again(
    store: Store, sound_store: Path
) -> None:
    damage(store, lambda db: db.execute("DELETE FROM texts WHERE text LIKE 'The ferry%'"))
    assert "index" in {item.what for item in repair_all(store)}
    assert index([str(sound_store.parent / "papers")], store, workers=1).indexed == 1
    assert hit_count(store, "captain") == 1


def test_documents_that_wait_for_group_are_reported_and_left(store: Store) -> None:
    damage(
        store, lambda db: db.execute("UPDATE documents SET provisional = 1 WHERE parent IS NULL")
    )
    assert [(item.what, item.repaired) for item in repair(store)] == [("provisional", False)]
    group(store)
    assert repair(store) == ()


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8, 0.999])
def test_a_torn_journal_keeps_what_can_be_read(share: float, store: Store) -> None:
    path = journal_path(store.address)
    assert path is not None
    with Journal(path) as journal:
        journal.record(
            Failure(f"{number:032x}", f"/papers/{number}.pdf", "digest", "tika", "encrypted")
            for number in range(300)
        )
    torn = path.read_bytes()[: int(share * path.stat().st_size) // 4096 * 4096 + 100]
    path.write_bytes(torn)
    assert [item.what for item in repair(store, dry_run=True)] == ["journal"]
    assert path.read_bytes() == torn
    assert [item.what for item in repair(store)] == ["journal"]
    assert Path(f"{path}.damaged").read_bytes() == torn
    failures = stored_failures(path) or ()
    assert {item.error for item in failures} <= {"encrypted"}
    assert bool(failures) == (share >= 0.8)
    assert repair(store) == ()
    assert {file.name for file in path.parent.iterdir()} - {"store.db-wal", "store.db-shm"} == {
        "store.db", "store.db.jobs", "store.db.jobs.damaged", "store.db.jobs.pairs",
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_a_journal_with_noise_in_it_is_replaced(seed: int, store: Store) -> None:
    path = journal_path(store.address)
    assert path is not None
    noise = bytearray(path.read_bytes())
    place = random.Random(seed).randrange(0, len(noise) - 200)
    noise[place : place + 200] = random.Random(seed).randbytes(200)
    path.write_bytes(bytes(noise) + b"torn")
    assert "journal" in {item.what for item in repair(store)}
    assert repair(store) == ()


def test_a_job_at_work_is_not_disturbed(store: Store) -> None:
    with Journal(journal_path(store.address)), pytest.raises(StoreBusy):
        repair(store)


def test_a_repair_that_is_killed_has_changed_nothing_or_goes_on(store: Store) -> None:
    damage(store, lambda db: db.execute("DELETE FROM key_pages"))
    if (child := os.fork()) == 0:
        from indexer.system.failpoints import arm

        arm("before_commit:2=kill")
        repair(open_store(store.url))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
    assert "index" in {item.what for item in repair_all(store)}


def test_doctor_names_a_torn_journal(store: Store) -> None:
    path = journal_path(store.address)
    assert path is not None
    assert [check.verdict for check in doctor(store.url) if check.name == "journal"] == ["good"]
    path.write_bytes(b"torn" * 100)
    (journal_check,) = [check for check in doctor(store.url) if check.name == "journal"]
    assert journal_check.verdict == "bad"
    assert f"`nearfold doctor --repair --store {store.url}`" in journal_check.detail


def test_an_error_over_a_damaged_file_is_reported_as_the_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    store.prepare(DEFAULT)
    store.write([row("1")])
    store.close()
    schema = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'documents'"
    steps = (
        (schema, ("status TEXT NOT NULL", "status TEXT          ")),
        ("UPDATE documents SET status = NULL", ()),
        (schema, ("status TEXT          ", "status TEXT NOT NULL")),
    )
    for step, values in steps:  # as a page does that was overwritten
        with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
            db.execute("PRAGMA writable_schema = ON")
            assert db.execute(step, values).rowcount == 1
    for words in (["status"], ["status", "--prometheus"]):
        assert run([*words, "--store", url]) == EXIT_STORE
        printed = capsys.readouterr()
        assert "restore a backup" in printed.err, words
        assert "internal error" not in printed.err
