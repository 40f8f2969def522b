"""Beyond the memory limit a server discards what it keeps, and answers as before."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_library import edited, rows, sentence
from starlette.testclient import TestClient

from indexer.recipe import DEFAULT
from indexer.review.middleware import LimitMemory
from indexer.review.serve import review_application
from indexer.searching.stored_texts import text_cache
from indexer.stores import open_store

HOSTS = frozenset(["testserver"])
PAGES = ("/?q=word", "/compare?a=a&b=b", "/document?id=a", "/family?id=a", "/jobs")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    store.prepare(DEFAULT)
    text = f"word {sentence(1, 80)}"
    store.write(rows({"a": text, "b": edited(text, 2), "c": "word"}))
    yield store
    store.close()


def answers(store: Any, megabytes: int) -> list[list[str]]:
    client = TestClient(review_application(store, HOSTS, megabytes=megabytes))
    texts = []
    for page in PAGES * 2:
        answer = client.get(page)
        assert answer.status_code == 200
        texts.append([line for line in answer.text.splitlines() if "token" not in line])
    return texts


@pytest.mark.long
def test_pages_are_the_same_below_and_beyond_the_limit(store: Any) -> None:
    kept = answers(store, 1 << 20)
    assert text_cache._texts.weight
    assert answers(store, 0) == kept
    assert text_cache._texts.weight == 0


def test_memory_is_looked_at_after_each_request_and_discarded_once_it_has_grown() -> None:
    times = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    for most, expected in ((1 << 50, 0), (1 << 20, 1)):
        times.clear()
        limited = LimitMemory(app, most, lambda: times.append(1))
        limited._growth = 1 << 40  # nothing that this test does grows so much
        client = TestClient(limited)
        for _ in range(3):
            assert client.get("/").text == "x"
        assert len(times) == expected


@pytest.mark.long
def test_a_store_forgets_what_it_read(store: Any) -> None:
    before = answers(store, 1 << 20)
    assert cached_by_connections(store)
    store.forget_reads()
    assert not cached_by_connections(store)
    assert answers(store, 1 << 20) == before


def cached_by_connections(store: Any) -> list[Any]:
    connections = (store._file._connection, *store._file._readers._idle)
    return [connection.cached for connection in connections if connection.cached]
