"""Reindexing a SQLite file: in service throughout, safe when killed, the old file preserved."""

import dataclasses
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store

ROOT = Path(__file__).parent.parent.parent
OTHER = dataclasses.replace(DEFAULT, name="other_v1", bands=9, rows=13)
TEXT = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on all of them."
)
PROGRAM = """
import dataclasses, sys
from indexer.recipe import DEFAULT
from indexer.jobs.reindex import reindex
from indexer.stores import open_store
from indexer.stores.sqlite import reindex as row_replacement
row_replacement.BATCH = 10
other = dataclasses.replace(DEFAULT, name="other_v1", bands=9, rows=13)
reindex(open_store(sys.argv[1]), other, on_progress=lambda count: print(count, flush=True))
"""


@pytest.fixture
def filled(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    store.prepare(DEFAULT)
    store.write(
        fingerprint_rows(
            [
                row(f"d{number}", text=f"{TEXT} {number}", path=f"/n/{number}")
                for number in range(400)
            ],
            DEFAULT,
        )
    )
    yield store
    store.close()


@pytest.mark.long
def test_searches_go_on_all_along(filled):
    reader, wrong, searches, stop = open_store(filled.url), [], [0], threading.Event()

    def ask():
        while not stop.is_set():
            try:
                seen = (
                    search(reader, "ferries", SearchOptions(fold="none")).total,
                    len(similar(reader, TEXT, SimilarOptions(threshold=0.5)).matches),
                )
                if seen != (400, 20):
                    wrong.append(seen)
            except Exception as error:
                wrong.append(error)
            searches[0] += 1

    thread = threading.Thread(target=ask)
    thread.start()
    for recipe in (OTHER, DEFAULT) * 20:
        reindex(filled, recipe)
        if searches[0] > 3:
            break
    stop.set()
    thread.join()
    reader.close()
    assert wrong == []
    assert searches[0] > 3


@pytest.mark.long
@pytest.mark.parametrize("signed", [50, 400])
def test_kill_9_leaves_the_old_in_service_and_a_second_run_goes_on(filled, signed, tmp_path):
    """Killed among the signatures, or with all of them made and the transaction under way."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, filled.url],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as run:
        for line in run.stdout:
            if int(line) >= signed:
                run.send_signal(signal.SIGKILL)
                break
    assert filled.stored_recipe() == DEFAULT
    assert len(similar(filled, TEXT, SimilarOptions(threshold=0.5)).matches) == 20
    assert (tmp_path / "store.db.reindex").exists()
    assert reindex(filled, OTHER).copied <= 400 - signed
    assert {row.recipe for row in filled.scan()} == {OTHER.id}
    assert not (tmp_path / "store.db.reindex").exists()


def test_the_old_index_remains_as_a_separate_store(filled, tmp_path):
    done = reindex(filled, OTHER, keep=True)
    assert done.kept == f"{tmp_path}/store.db.default_v3"
    old = open_store(f"sqlite:///{done.kept}")
    assert old.stored_recipe() == DEFAULT
    assert len(similar(old, TEXT, SimilarOptions(threshold=0.5)).matches) == 20
    old.close()


def test_what_changed_meanwhile_is_signed_too(filled):
    meddled = []

    def meddle(_):
        if not meddled:
            meddled.append(True)
            second_store = open_store(filled.url)
            second_store.write(
                fingerprint_rows(
                    [row("d3", text=f"{TEXT} Nothing else."), row("new", text=TEXT)], DEFAULT
                )
            )
            second_store.delete(["d5"])
            second_store.close()

    reindex(filled, OTHER, on_progress=meddle)
    rows = {stored.id: stored for stored in filled.scan()}
    assert set(rows) == {f"d{number}" for number in range(400)} - {"d5"} | {"new"}
    assert {id: stored for id, stored in rows.items() if id in ("d3", "new")} == {
        stored.id: stored for stored in fingerprint_rows([rows["d3"], rows["new"]], OTHER)
    }
