"""The SQLite file under ill treatment: killed writers, foreign and damaged files, locks, full
disks.
"""

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sample_library
from sample_rows import band, row

from indexer.errors import (
    MappingMismatch,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreStopped,
    UsageError,
)
from indexer.jobs.doctor import doctor
from indexer.jobs.repair import repair
from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.fields import FIELDS
from indexer.stores.sqlite import file as _sqlite_file
from indexer.stores.sqlite.connections import Readers
from indexer.stores.sqlite.file_format import check_format

ROOT = Path(__file__).parent.parent
WRITER = """
import sys
from sample_rows import band, row
from indexer.stores import open_store
store = open_store(sys.argv[1])
first = int(sys.argv[2])
for batch in range(first, first + 10_000):
    names = [f"{batch}-{place}" for place in range(50)]
    rows = [row(name, text=f"word{batch} " * 400, bands=(band(0, batch),)) for name in names]
    rows.append(row("same", text=f"word{batch}", bands=(band(0, batch),)))
    assert store.write(rows) == [None] * 51
    print(batch, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    opened = open_store(f"sqlite:///{path}")
    opened.prepare(DEFAULT)
    yield opened
    opened.close()


def run(script, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT.parent), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )


@pytest.mark.long
def test_every_acknowledged_batch_survives_kill_9(store, path):
    chance, acknowledged = random.Random(9), -1
    for round_ in range(4):
        with run(WRITER, store.url, acknowledged + 1) as writer:
            first = int(writer.stdout.readline())
            assert first == acknowledged + 1
            time.sleep(chance.uniform(0, 0.15))
            writer.send_signal(signal.SIGKILL)
            rest = writer.stdout.read().split()
        acknowledged = int(rest[-1]) if rest else first
        batches = list(range(acknowledged + 1))
        batches += (
            [acknowledged + 1] if store.get([f"{acknowledged + 1}-0"]) else []
        )  # committed, but killed before it said so
        for batch in batches:
            assert len(store.get([f"{batch}-{place}" for place in range(50)])) == 50, (
                round_,
                batch,
            )
        for batch in batches[-3:]:
            last = batch == batches[-1]
            assert store.search(Query(f"word{batch}")).total == 50 + last
            assert len(store.candidates([([band(0, batch)], [])], 100)[0].found) == 50 + last
        assert store.counts().documents == 50 * len(batches) + 1
        acknowledged = batches[-1]
    check_indexes(path)


def check_indexes(path):
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        db.execute("INSERT INTO fulltext (fulltext) VALUES ('integrity-check')")
    db.close()


@pytest.mark.long
def test_a_full_disk_stops_and_keeps_what_was_acknowledged(store):
    script = """
import resource, sys
from sample_rows import row
from indexer.errors import StoreStopped
from indexer.stores import open_store
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, resource.RLIM_INFINITY))
store = open_store(sys.argv[1])
try:
    for place in range(1_000):
        numbers = [f"{place} {part}" for part in range(20)]
        store.write([row(n.replace(" ", "-"), text=f"{n} word " * 300) for n in numbers])
        print(place, flush=True)
except StoreStopped as stopped:
    print(stopped)
"""
    *acknowledged, message = run(script, store.url).communicate()[0].splitlines()
    assert "run the same command again" in message
    assert 0 < len(acknowledged) < 1_000
    assert store.counts().documents == 20 * len(acknowledged)
    assert store.write([row("after")]) == [None]


def test_a_full_disk_is_distinguished_from_other_errors(path):
    file = _sqlite_file.File(str(path))
    file.create(DEFAULT)
    with pytest.raises(StoreStopped, match="free some space"), file.writing() as db:
        db.execute("PRAGMA max_page_count = 1")
        db.execute("INSERT INTO texts VALUES (1, ?)", ("x" * 5_000_000,))
    file.close()


def test_a_transaction_that_raises_leaves_nothing(store, path):
    file = _sqlite_file.File(str(path))
    with pytest.raises(ZeroDivisionError), file.writing() as db:
        db.execute("INSERT INTO texts VALUES (1, 'x')")
        raise ZeroDivisionError
    with file.reader() as db:
        assert db.execute("SELECT count(*) FROM texts").fetchone() == (0,)
    file.close()


def test_another_writer_is_waited_for_and_then_named(store, path, monkeypatch):
    store.close()
    monkeypatch.setattr(_sqlite_file, "PATIENCE_SECONDS", 0.05)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="another process"):
            store.write([row("1")])
        assert store.get(["1"]) == {}, "readers go on"
        connection.execute("COMMIT")
    connection.close()
    assert store.write([row("1")]) == [None]


@pytest.mark.parametrize(
    "content", [b"not a database, but some text\n" * 100, b"SQLite format 3\0" + b"\xff" * 5_000]
)
def test_a_file_that_is_no_database(path, content):
    path.write_bytes(content)
    store = open_store(f"sqlite:///{path}")
    for call in (store.stored_recipe, lambda: store.prepare(DEFAULT), store.counts):
        with pytest.raises(StoreDamaged, match="backup"):
            call()
    assert path.read_bytes() == content
    store.close()


def test_pages_that_were_overwritten(store, path):
    store.write([row(f"{place}", text="word " * 2_000) for place in range(50)])
    store.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = b"\xa5" * (len(content) - 4096 * 3)
    path.write_bytes(content)
    with pytest.raises(StoreDamaged):
        list(store.scan())


def test_damage_is_named_without_the_document_that_it_hit(store, path):
    store.write([row("1", text="a clause that nobody else may read")])
    store.close()
    torn = path.read_bytes().replace(b"nobody else", b"nobody \xff\xffse")
    path.write_bytes(torn)
    with pytest.raises(StoreDamaged, match="UTF-8") as caught:
        open_store(f"sqlite:///{path}").get(["1"])
    assert "clause" not in str(caught.value)


def test_a_fifo_is_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(StoreError, match="not a regular file"):
        open_store(f"sqlite:///{path}").stored_recipe()


def test_the_database_of_another_program(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE documents (id TEXT)")
    db.close()
    store = open_store(f"sqlite:///{path}")
    for call in (store.stored_recipe, lambda: store.prepare(DEFAULT)):
        with pytest.raises(MappingMismatch, match="another program"):
            call()
    store.close()


def test_an_empty_file_is_a_store_to_be(path):
    path.touch()
    store = open_store(f"sqlite:///{path}")
    assert store.stored_recipe() is None
    store.prepare(DEFAULT)
    assert store.stored_recipe() == DEFAULT
    store.close()


def test_a_newer_file_is_refused(store, path):
    store.close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {_sqlite_file.FORMAT + 1}")
    db.close()
    for call in (store.stored_recipe, lambda: store.prepare(DEFAULT), store.counts):
        with pytest.raises(StoreError, match="upgrade nearfold"):
            call()


def test_a_folder_that_is_missing(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/absent/store.db")
    assert store.stored_recipe() is None
    with pytest.raises(StoreError, match="folder exists"):
        store.prepare(DEFAULT)
    assert not (tmp_path / "absent").exists()


def test_a_file_removed_in_mid_run_stops(store, path):
    store.write([row("1")])
    path.unlink()
    with pytest.raises(StoreStopped, match="removed or replaced"):
        store.write([row("2")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_file_stops(store, path):
    store.write([row("1")])
    store.close()
    path.chmod(0o400)
    with pytest.raises(StoreStopped, match="read-only"):
        store.write([row("2")])


@pytest.mark.long
def test_threads_share_a_store(store):
    failures = []

    def work(thread):
        try:
            for turn in range(20):
                store.write([row(f"{thread}-{turn}-{place}") for place in range(5)])
                assert store.search(Query("fox")).total >= 5
                assert len(list(store.scan(f"/library/{thread}-0-0.txt"))) == 1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for worker in threads:
        worker.start()
    for worker in threads:
        worker.join()
    assert failures == []
    assert store.counts().documents == 400


@pytest.mark.long
def test_two_processes_may_prepare_at_once(path):
    script = """
import sys
from indexer.recipe import DEFAULT
from indexer.stores import open_store
store = open_store(sys.argv[1])
sys.stdin.readline()
store.prepare(DEFAULT)
print(store.counts().documents)
"""
    writers = [run(script, f"sqlite:///{path}") for _ in range(2)]
    assert [writer.communicate()[0].strip() for writer in writers] == ["0", "0"]


@pytest.mark.parametrize("statement", range(1, 4))
def test_a_file_that_another_process_creates_meanwhile_is_accepted(path, statement, monkeypatch):
    monkeypatch.setattr(_sqlite_file, "PATIENCE_SECONDS", 0.05)
    count = itertools.count(1)

    def create_before_statement(_):
        if next(count) == statement:
            open_store(f"sqlite:///{path}").prepare(DEFAULT)

    with closing(sqlite3.connect(path)) as db:
        db.set_trace_callback(create_before_statement)
        check_format(db, str(path))


def test_replacing_and_deleting_leave_no_trace_in_the_indexes(store, path):
    store.write(
        [
            row(f"{place}", title=f"模型 {place}", text="ที่นี่ secret", bands=(band(0, place),))
            for place in range(30)
        ]
    )
    store.write([row(f"{place}", title="", text="other", bands=()) for place in range(15)])
    store.delete([f"{place}" for place in range(15, 30)])
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE VIRTUAL TABLE temp.fulltext_terms USING fts5vocab(main, fulltext, 'row')"
        )
        assert db.execute("SELECT term FROM temp.fulltext_terms").fetchall() == [("other",)]
        assert db.execute("SELECT sum(entries) FROM key_runs").fetchone() in [(None,), (0,)]
    db.close()
    check_indexes(path)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///a b%20?cd.db", "a b%20?cd.db"),
        ("sqlite:////abs/x.db", "/abs/x.db"),
        ("x.db", "x.db"),
        ("sqlite://", ":memory:"),
        ("sqlite://:memory:", ":memory:"),
        ("sqlite:///:memory:", ":memory:"),
        ("sqlite:///~/x.db", str(Path.home() / "x.db")),
    ],
)
def test_urls(url, path):
    assert open_store(url).address.file == path


@pytest.mark.parametrize(
    "url", ["sqlite:///", "sqlite://host/x.db", "x", "", "postgres://x/y", "SQLITE:///x.db"]
)
def test_what_is_no_store(url):
    with pytest.raises(UsageError, match="sqlite:///"):
        open_store(url)


def test_odd_file_names(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/a b%20?cd 模.db")
    store.prepare(DEFAULT)
    store.write([row("1")])
    store.close()
    assert (tmp_path / "a b%20?cd 模.db").exists()
    assert set(store.get(["1"])) == {"1"}
    store.close()


def test_a_file_of_the_format_before_is_read_and_written(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/old.db")
    store.prepare(DEFAULT)
    metadata = {"created": "2020-01-06T08:00:00Z", "custodian": "Smith, Ann"}
    store.write([row("1", bands=(band(0, 1),), content_type="message/rfc822", metadata=metadata)])
    store.close()
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript("DROP INDEX documents_by_parent; DROP INDEX documents_by_ocr;")
        for added in (field.name for field in FIELDS if field.sqlite_format > 2):
            db.execute(f"ALTER TABLE documents DROP COLUMN {added}")
        db.executescript(
            "ALTER TABLE documents DROP COLUMN in_family; DROP INDEX documents_by_family; "
            "CREATE INDEX documents_by_family ON documents (family); "
            "UPDATE documents SET family = id; DROP TABLE key_runs; DROP TABLE key_pages; "
            "CREATE VIRTUAL TABLE postings USING fts5(carried, content='', detail=none); "
            "PRAGMA user_version = 2;"
        )
    assert [hit.id for hit in store.search(Query("fox")).hits] == ["1"]
    upgraded = store.get(["1"])["1"]
    assert (upgraded.date, upgraded.custodian) == (1_578_297_600_000, "Smith, Ann")
    part = row("1#1", parent="1", start=4, stop=9, bands=(band(0, 1),))
    assert store.write([row("1", parts=(part,))]) == [None]
    assert list(store.parts.view("parts").scan()) == [part]
    store.close()


def test_a_read_does_not_wait_for_a_longer_read(store, path):
    """While one thread reads on, others read too, and see what was written since; the longer
    reading does not.
    """
    store.write([row("1")])
    with store._file.reader() as longer, ThreadPoolExecutor(1) as pool:
        assert longer.execute("SELECT count(*) FROM documents").fetchone() == (1,)
        with closing(open_store(store.url)) as elsewhere:
            elsewhere.write([row("2")])
        assert pool.submit(store.stored_recipe).result(timeout=10) == DEFAULT
        assert set(pool.submit(store.get, ["1", "2"]).result(timeout=10)) == {"1", "2"}
        assert longer.execute("SELECT count(*) FROM documents").fetchone() == (1,)
    store.close()
    assert not path.with_name(f"{path.name}-wal").exists(), "every connection was closed"


def test_a_connection_in_use_is_closed_when_it_is_returned(path):
    readers = Readers(lambda: sqlite3.connect(path))
    with readers.connection() as connection:
        with readers.connection() as next_connection:
            assert next_connection is not connection
        readers.close()
    for closed in (connection, next_connection):
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            closed.execute("SELECT 1")
    with readers.connection() as fresh:
        fresh.execute("SELECT 1")
    with readers.connection() as again:
        assert again is fresh
    readers.close()


def test_rows_of_real_sketches_take_few_bytes_and_lose_nothing(tmp_path):
    """Keys that follow from the slots, digests as digits and own families are not stored again."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    store.prepare(DEFAULT)
    texts = {
        str(number): f"{number} tugs wait for the tide at the harbour, {number} barges with them"
        for number in range(9)
    }
    rows = sample_library.rows(texts)
    rows[1] = replace(rows[1], bands=())
    rows[2] = replace(rows[2], bands=rows[3].bands, family="3", raw="0" * 63, source="AB" * 32)
    assert store.write(rows) == [None] * 9
    assert list(store.scan()) == rows
    assert store.sources(["2", "4"]) == {"2": "AB" * 32, "4": "source"}
    assert list(store.families.members("family", ["3"])) == [("2", "3"), ("3", "3")]
    assert list(store.families.members("exact", [rows[4].exact])) == [("4", rows[4].exact)]
    (found,) = store.candidates([(rows[3].bands, ())], 9)
    assert {candidate.id for candidate in found.found} >= {"2", "3"} - {"1"}
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        stored = dict(db.execute("SELECT id, bands FROM documents"))
    assert stored == dict.fromkeys("045678", "") | {"1": " ", "2": " ".join(rows[3].bands), "3": ""}
    assert store.delete([entry.id for entry in rows]) == 9
    assert store.maintenance.inconsistencies() == ()
    store.close()


@pytest.mark.long
def test_the_log_begins_anew_though_somebody_reads_all_the_time(store, path, monkeypatch):
    log = Path(f"{path}-wal")
    with closing(open_store(f"sqlite:///{path}")) as other, reading_all_the_time(path):
        most = 0
        monkeypatch.setattr(other._file, "_largest_log", 1 << 20)
        monkeypatch.setattr(_sqlite_file, "_LARGEST_LOG", 1 << 20)
        for batch in range(40):
            text = " ".join(f"word{batch}x{place}" for place in range(20_000))
            assert other.write([row(f"{batch}", text=text)]) == [None]
            most = max(most, log.stat().st_size)
        assert most < 4 << 20 < path.stat().st_size


@contextmanager
def reading_all_the_time(path):
    """Hold a transaction open that reads, at any moment, though none for long."""
    stop = threading.Event()

    def read():
        with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(path)) as two:
            for db in itertools.cycle([one, two]):
                db.execute("BEGIN")
                db.execute("SELECT count(*) FROM documents").fetchone()
                for reader in {one, two} - {db}:
                    reader.commit()
                if stop.wait(0.01):
                    return

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_letters_that_are_part_of_a_word_are_no_word_that_the_full_text_index_lacks(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    store.prepare(DEFAULT)
    texts = {
        "1": "quay0 and 4ferries",
        "2": "room_12 über caf\u0301etal \ue000gate",
        "3": "harbour\u200bmaster, crane\u0301s",
        "4": "(harbour) crane",
    }
    assert store.write(sample_library.rows(texts)) == [None] * 4
    assert store.maintenance.inconsistencies() == ()
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        db.execute("UPDATE texts SET text = 'other words' WHERE text LIKE '(harbour%'")
        db.commit()
    (problem,) = store.maintenance.inconsistencies()
    assert "other words for 1 document" in problem


def test_doctor_finds_a_document_that_another_program_deleted_and_repairs_it(tmp_path):
    url = f"sqlite:///{tmp_path}/store.db"
    with closing(open_store(url)) as store:
        store.prepare(DEFAULT)
        assert store.write(sample_library.rows({"1": "quay", "2": "ferry"})) == [None] * 2
        with closing(sqlite3.connect(tmp_path / "store.db")) as db:
            db.execute("DELETE FROM documents WHERE id = '1'")
            db.commit()
        assert store.maintenance.unmatched_rows() == (
            "1 text without a document",
            "1 entry of the full-text index without a document",
        )
        (check,) = [check for check in doctor(url) if check.name == "index"]
        assert check.verdict == "bad"
        repair(store)
        assert store.maintenance.unmatched_rows() == ()
