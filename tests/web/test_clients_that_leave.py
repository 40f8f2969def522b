"""Clients that disconnect in the middle of a request, or send too slowly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
import uvicorn
from sample_library import library, rows
from uvicorn.server import ServerState

from indexer.review import http
from indexer.review.safety import App
from indexer.review.serve import review_application

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that runs in a thread of its own.

    The browser of other tests keeps an event loop in this thread.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def small_site() -> App:
    return review_application(library(rows({"one": "A text."})), frozenset({"here"}))


@pytest.mark.parametrize(
    ("then", "status"), [({"type": "http.disconnect"}, 400), (asyncio.CancelledError(), 503)]
)
def test_a_client_that_leaves_is_no_server_error(
    then: dict[str, str] | BaseException, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    messages: list[dict[str, object]] = []
    events = iter([{"type": "http.request", "body": b"{", "more_body": True}, then])

    async def receive() -> dict[str, object]:
        event = next(events)
        if isinstance(event, BaseException):
            raise event
        return event

    async def send(message: dict[str, object]) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/label",
        "query_string": b"",
        "headers": [(b"host", b"here"), (b"content-type", b"application/json")],
    }
    run(small_site()(scope, receive, send))
    starts = [message for message in messages if message["type"] == "http.response.start"]
    assert [message["status"] for message in starts] == [status]
    ours = ("nearfold", "uvicorn")  # a client of an earlier test may still complain
    assert [record for record in caplog.records if record.name.startswith(ours)] == []


def test_a_client_that_sends_too_slowly_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT_SECONDS", 0.2)
    config = uvicorn.Config(small_site(), lifespan="off", log_config=None)
    config.load()

    def protocol() -> asyncio.Protocol:
        return http.FirstRequestTimeout(config, ServerState(), {})

    async def answer_to(request: bytes) -> bytes:
        server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(100), 10)
        writer.close()
        server.close()
        return answer

    assert run(answer_to(b"GET / HTTP/1.1\r\nHo")) == b""
    slow = b"POST /api/label HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n{"
    assert b" 408 " in run(answer_to(slow))
