"""Clients that leave in the middle of a request, or send too slowly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
import uvicorn
from sample_library import library, rows
from uvicorn.server import ServerState

from indexer.web import request_body as bodies
from indexer.web import serve as serving
from indexer.web.app import application

Given = TypeVar("Given")


def ran(asked: Coroutine[Any, Any, Given]) -> Given:
    """What a coroutine gives, in a thread of its own: a browser of other tests keeps a loop in this
    one.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asked).result()


@pytest.mark.parametrize(
    ("then", "status"), [({"type": "http.disconnect"}, 400), (asyncio.CancelledError(), 503)]
)
def test_a_client_that_leaves_is_no_fault_of_ours(
    then: dict[str, str] | BaseException, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[dict[str, object]] = []
    begun = iter([{"type": "http.request", "body": b"{", "more_body": True}, then])

    async def receive() -> dict[str, object]:
        following = next(begun)
        if isinstance(following, BaseException):
            raise following
        return following

    async def send(message: dict[str, object]) -> None:
        told.append(message)

    app = application(library(rows({"one": "A text."})), frozenset({"here"}))
    headers = [(b"host", b"here"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/label",
        "query_string": b"",
        "headers": headers,
    }
    ran(app(scope, receive, send))
    assert [message["status"] for message in told if message["type"] == "http.response.start"] == [
        status
    ]
    assert caplog.records == []


def test_who_sends_too_slowly_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(bodies, "PATIENCE_SECONDS", 0.2)
    config = uvicorn.Config(
        application(library(rows({"one": "A text."})), frozenset({"here"})),
        lifespan="off",
        log_config=None,
    )
    config.load()

    async def answered(sent: bytes) -> bytes:
        made = lambda: serving.FirstRequestTimeout(config, ServerState(), {})  # noqa: E731
        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(sent)
        got = await asyncio.wait_for(reader.read(100), 10)
        writer.close()
        server.close()
        return got

    assert ran(answered(b"GET / HTTP/1.1\r\nHo")) == b""
    slow = b"POST /api/label HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n{"
    assert b" 408 " in ran(answered(slow))
