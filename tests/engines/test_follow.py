"""`nearfold group --follow`: what clients send joins its group within seconds, without nearfold at
the client.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from pipelines import bulk, change_before, good, shown, store_url

from indexer.errors import UnsupportedOperation
from indexer.grouping.group import group
from indexer.jobs import arrival
from indexer.jobs.arrival import FollowPass, SeenWrites, follow_once, seen_writes
from indexer.jobs.index import index as index_files
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.jobs.status import status
from indexer.recipe import DEFAULT
from indexer.stores import open_store

FERRY = "The harbour ferry leaves at eight in the morning and returns at six. Dogs travel free."
LATER = FERRY.replace("six", "seven")
BOAT = "A pilot boat brings pilots to large ships, and a tug boat helps them to turn in the port."


class Client:
    """A client of an engine that knows nothing of nearfold."""

    def __init__(self, server: str, index: str) -> None:
        self._server, self._index = server, index

    def put(self, id: str, text: str) -> None:
        bulk(self._server, self._index, [], {"index": {"_id": id}}, {"text": text})

    def change(self, id: str, text: str) -> None:
        """Change a text by a partial update, which no pipeline sees."""
        bulk(self._server, self._index, [], {"update": {"_id": id}}, {"doc": {"text": text}})

    def delete(self, id: str) -> None:
        bulk(self._server, self._index, [], {"delete": {"_id": id}})

    def post(self, text: str) -> str:
        return str(bulk(self._server, self._index, [{"text": text}])[0])

    def shown(self) -> int:
        return int(shown(self._server, self._index))

    def family(self, id: str) -> str:
        document = good("GET", f"{self._server}/{self._index}/_doc/{id}")
        return str(document["_source"]["near_family"])


@pytest.fixture
def install_at(open_at: Any) -> Iterator[Any]:
    """Open a store at an address and install there; it is uninstalled at the end."""
    with ExitStack() as stack:

        def installed(url: str) -> Any:
            opened = open_at(url)
            opened.prepare(DEFAULT)
            install(opened)
            stack.callback(uninstall, opened)
            return opened

        yield installed


@pytest.fixture
def store(installed: Any) -> tuple[Any, Client]:
    opened, server, name = installed
    return opened, Client(server, name)


def test_copies_and_near_copies_join_what_group_has_seen(store: Any) -> None:
    opened, client = store
    client.put("a", FERRY)
    client.put("b", BOAT)
    group(opened)
    client.put("copy", FERRY)
    engine_id = client.post(FERRY.upper())
    client.put("near", LATER)
    assert client.shown() > 2
    assert follow_once(opened) == FollowPass(placed=3, joined=3)
    opened.refresh()
    assert {client.family(id) for id in ("a", "copy", engine_id, "near")} == {"a"}
    assert client.shown() == 2
    assert follow_once(opened) == FollowPass()


def test_new_texts_form_groups_of_their_own(store: Any) -> None:
    opened, client = store
    for id, text in (("a", FERRY), ("b", LATER), ("c", BOAT)):
        client.put(id, text)
    assert follow_once(opened) == FollowPass(placed=3, joined=1)
    assert client.family("a") == client.family("b") != client.family("c") == "c"


def test_a_changed_text_leaves_its_group_and_its_members_choose_anew(store: Any) -> None:
    opened, client = store
    client.put("a", FERRY)
    client.put("b", LATER)
    follow_once(opened)
    principal = client.family("a")
    other = "b" if principal == "a" else "a"
    client.put(principal, BOAT)
    follow_once(opened)
    assert client.family(principal) == principal and client.family(other) == other


def test_a_follower_that_ends_between_two_writes_leaves_no_member_under_another_text(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, client = store
    client.put("a", FERRY)
    client.put("b", LATER)
    follow_once(opened)
    principal = client.family("a")
    client.put(principal, BOAT)
    write = type(opened.families).assign_versions

    def end(*arguments: Any) -> None:
        write(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(opened.families), "assign_versions", end)
    with pytest.raises(KeyboardInterrupt):
        follow_once(opened)
    assert client.family("a") != client.family("b")


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_text_changed_past_the_pipeline_leaves_its_group_at_the_next_poll(
    store: Any, changed: str
) -> None:
    opened, client = store
    kept = "b" if changed == "a" else "a"
    for id, text in (("a", FERRY), ("b", LATER), ("c", BOAT)):
        client.put(id, text)
    seen = SeenWrites()
    follow_once(opened, seen=seen)
    assert client.family("a") == client.family("b") == "a"
    follow_once(opened, seen=seen)
    client.change(changed, BOAT)
    assert follow_once(opened, seen=seen) == FollowPass(placed=1, joined=1, changed=1)
    assert (client.family(kept), client.family(changed)) == (kept, "c")
    assert follow_once(opened, seen=seen).changed == 0
    assert follow_once(opened, seen=seen) == FollowPass()


def test_a_text_changed_to_one_without_keys_leaves_its_members(store: Any) -> None:
    opened, client = store
    client.put("a", FERRY)
    client.put("b", LATER)
    seen = SeenWrites()
    follow_once(opened, seen=seen)
    client.change("a", "12 34")
    assert follow_once(opened, seen=seen) == FollowPass(changed=1)
    assert client.family("b") == "b"
    assert client.family("a").startswith("x:")


def test_members_of_a_deleted_principal_get_another_one(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, client = store
    monkeypatch.setattr(arrival, "_PAUSE", 0)
    for id, text in (("a", FERRY), ("b", LATER), ("c", LATER)):
        client.put(id, text)
    seen = SeenWrites()
    follow_once(opened, seen=seen)
    assert client.family("b") == client.family("c") == "a"
    client.delete("a")
    assert follow_once(opened, seen=seen) == FollowPass(repaired=1)
    assert client.family("b") == client.family("c") == "b"
    opened.refresh()
    assert status(opened).without_principal == 0


def test_a_follower_goes_on_where_another_one_ended(store: Any) -> None:
    opened, client = store
    client.put("a", FERRY)
    client.put("b", LATER)
    group(opened)
    assert follow_once(opened, seen=seen_writes(opened)).compared == 2
    assert follow_once(opened, seen=seen_writes(opened)).compared == 0
    client.change("b", BOAT)
    assert follow_once(opened, seen=seen_writes(opened)).compared == 1
    assert client.family("b") == "b"


def test_an_index_that_takes_over_the_name_is_compared_from_its_first_operation(
    stores: Any, engine: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    opened, name = stores(engine, server)
    (tmp_path / "files").mkdir()
    for number in range(3):
        (tmp_path / f"files/{number}.txt").write_text(f"{FERRY} {number}")
    index_files(tmp_path / "files", opened)
    install(opened)
    seen = SeenWrites()
    assert follow_once(opened, seen=seen).compared == 3
    reindex(opened, DEFAULT)
    client = Client(server, name)
    for row in list(opened.scan()):
        client.change(row.id, BOAT)
    assert follow_once(opened, seen=seen).changed == 3


def test_a_split_index_is_compared_anew(
    engine: str, server: str, index: str, install_at: Any, open_at: Any
) -> None:
    url = store_url(engine, server, index)
    opened = install_at(f"{url}?shards=1&replicas=0")
    client = Client(server, index)
    for number in range(3):
        client.put(f"{number}", f"{FERRY} {number}")
    seen = SeenWrites()
    follow_once(opened, seen=seen)
    assert follow_once(opened, seen=seen).compared == 3
    (old,) = good("GET", f"{server}/{index}")
    new = f"{index}-split"
    settings = {"index.number_of_shards": 2, "index.blocks.write": None}
    good("PUT", f"{server}/{old}/_settings", {"index.blocks.write": True})
    good("PUT", f"{server}/{old}/_split/{new}?wait_for_active_shards=1", {"settings": settings})
    good("DELETE", f"{server}/{old}")
    try:
        alias = {"add": {"index": new, "alias": index}}
        good("POST", f"{server}/_aliases", {"actions": [alias]})
        client.change("2", BOAT)
        assert follow_once(open_at(url), seen=seen) == FollowPass(placed=1, changed=1)
        assert client.family("2") == "2"
    finally:
        good("DELETE", f"{server}/{new}")


def test_every_shard_is_compared_in_passes(
    engine: str, server: str, index: str, install_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = install_at(f"{store_url(engine, server, index)}?shards=3&replicas=0")
    client = Client(server, index)
    for number in range(12):
        client.put(f"{number}", f"{FERRY} {number}")
    follow_once(opened)
    for number in range(12):
        client.change(f"{number}", BOAT)
    monkeypatch.setattr(arrival, "FOLLOWED_AT_ONCE", 5)
    seen = SeenWrites()
    passes = [follow_once(opened, seen=seen) for _ in range(7)]
    assert [done.compared for done in passes][:2] == [5, 5]
    assert sum(done.changed for done in passes) == 12
    assert len({client.family(f"{number}") for number in range(12)}) == 1


def test_a_copy_joins_the_group_of_its_text_and_no_more_similar_one(store: Any) -> None:
    opened, client = store
    words = [f"{letter}word" for letter in "abcdefghijklmnopqr"]
    first, second, third = (" ".join([*words, *end.split()]) for end in ("p q", "a b", "a c"))
    for id, text in (("p", first), ("a", second), ("b", third), ("a2", second)):
        client.put(id, text)
        follow_once(opened)
    assert client.family("a") == client.family("a2")


def test_followers_at_the_same_time_place_each_document_once(store: Any) -> None:
    opened, client = store
    for number in range(6):
        client.put(f"a{number}", f"{FERRY} {number}")
        client.put(f"b{number}", f"{BOAT} {number}")
    assert status(opened).waiting == 12
    together = threading.Barrier(3)

    def follow() -> int:
        with closing(open_store(opened.url)) as own:
            together.wait()
            return sum(follow_once(own).placed for _ in range(3))

    with ThreadPoolExecutor(3) as pool:
        followers = [pool.submit(follow) for _ in range(3)]
        assert sum(follower.result() for follower in followers) == 12
    families = {client.family(f"{letter}{number}") for letter in "ab" for number in range(6)}
    opened.refresh()
    assert len(families) == 2 and status(opened).waiting == 0


def test_similar_documents_that_two_followers_place_at_once_become_one_group(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, client = store
    client.put("a", FERRY)
    families = type(opened.families)

    def another_places_first() -> None:
        client.put("b", LATER)
        monkeypatch.setattr(families, "unplaced", lambda *_: (["b"], 1))
        with closing(open_store(opened.url)) as other:
            assert follow_once(other) == FollowPass(placed=1)

    with monkeypatch.context() as patches:
        change_before(patches, families, "assign_versions", another_places_first)
        assert follow_once(opened) == FollowPass(placed=1, joined=1)
    assert client.family("a") == client.family("b") == "a"


def test_a_document_that_changes_while_it_is_placed_waits(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, client = store
    client.put("a", FERRY)
    families = type(opened.families)
    with monkeypatch.context() as patches:
        change_before(patches, families, "assign_versions", lambda: client.put("a", BOAT))
        assert follow_once(opened) == FollowPass(waiting=1)
    assert follow_once(opened) == FollowPass(placed=1)


def test_a_text_without_keys_stays_in_the_group_of_its_copies(store: Any) -> None:
    opened, client = store
    client.put("a", "12 34")
    client.put("b", "12 34")
    assert follow_once(opened) == FollowPass()
    assert client.family("a") == client.family("b")


def test_the_command_follows_until_a_signal(store: Any) -> None:
    opened, client = store
    client.put("a", FERRY)
    command = ["group", "--follow", "--every", "0.2", "--json", "--store", opened.url]
    with subprocess.Popen(
        [sys.executable, "-m", "indexer", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as running:
        assert running.stdout is not None
        first = json.loads(running.stdout.readline())
        assert (first["placed"], first["joined"], first["waiting"]) == (1, 0, 0)
        assert first["processor_seconds"] > 0 and first["engine_processor_seconds"] >= 0
        client.put("b", LATER)
        assert json.loads(running.stdout.readline())["joined"] == 1
        assert client.family("b") == "a"
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    with pytest.raises(subprocess.CalledProcessError) as refused:
        subprocess.run(
            [sys.executable, "-m", "indexer", *command, "--dry-run"], check=True, timeout=60
        )
    assert refused.value.returncode == 2


def test_a_file_is_not_followed() -> None:
    with (
        closing(open_store("sqlite:///:memory:")) as opened,
        pytest.raises(UnsupportedOperation, match="follow"),
    ):
        follow_once(opened)
