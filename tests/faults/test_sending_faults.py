"""The sender with real clients and real HTTP, against a faulty engine.

Whatever happens on the way, each document ends acknowledged, and is then stored as it was sent, or
refused with a reason.
"""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from sample_rows import row
from servers.faulty import Behaviour, Exchange, FaultyEngine, item, well

from indexer.errors import StoreStopped
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.engine.sender import RetryPolicy, Sender

DOCUMENTS = [f"document-{place:02}" for place in range(20)]
SOME = set(DOCUMENTS[3:7])
QUICK = RetryPolicy(first=0.01, longest=0.05, attempts=5)
SECONDS = 0.5
DISK_FULL = "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]"

Engines = Callable[..., FaultyEngine]


@pytest.fixture
def engine() -> Iterator[Engines]:
    """Return a function that makes faulty engines: `engine(behaviour, ...)`."""
    engines: list[FaultyEngine] = []

    def made(*script: Behaviour, **settings: Any) -> FaultyEngine:
        engines.append(FaultyEngine(list(script), **settings))
        return engines[-1]

    yield made
    for server in engines:
        server.close()


@pytest.fixture(params=["opensearch", "elasticsearch"])
def opened(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[FaultyEngine], Any]]:
    """Return a function that opens a prepared store on a faulty engine by either client, with few
    retries.
    """
    monkeypatch.setattr("indexer.stores.engine.open_index.BULK_SECONDS", SECONDS)
    monkeypatch.setattr("indexer.stores.engine.open_index.Sender", partial(Sender, patience=QUICK))
    stores: list[Any] = []

    def store(engine: FaultyEngine) -> Any:
        stores.append(open_store(f"{engine.url.replace('http', request.param)}/x"))
        stores[-1].prepare(DEFAULT)
        return stores[-1]

    yield store
    for one in stores:
        one.close()


def sent(
    store: Any, engine: FaultyEngine, *, refused: set[str] = frozenset(), text: str = "text of"
) -> dict[str, str | None]:
    """Write all documents and compare the acknowledged ones with those of the engine; return the
    refusals by id.
    """
    rows = [row(id, text=f"{text} {id}") for id in DOCUMENTS]
    replies = dict(zip(DOCUMENTS, store.write(rows), strict=True))
    assert {id for id, refusal in replies.items() if refusal} == refused
    assert set(engine.documents) == set(DOCUMENTS) - refused
    assert all(body["text"] == f"{text} {id}" for id, body in engine.documents.items())
    return replies


def items(code: int, kind: str, ids: set[str]) -> Behaviour:
    """Refuse these documents one by one, and take the others."""

    def behave(exchange: Exchange) -> None:
        bad = [
            item(operation, code, kind, DISK_FULL)
            for operation in exchange.operations
            if operation.id in ids
        ]
        good = exchange.applied(set(DOCUMENTS) - ids)
        exchange.answer(200, {"errors": bool(bad), "items": [*bad, *good]})

    return behave


def whole(
    code: int, kind: str = "text/html", body: object = b"<html>not now</html>", **headers: str
) -> Behaviour:
    return lambda exchange: exchange.answer(code, body, kind, **headers)


def applied_then(after: Callable[[Exchange, list[dict[str, Any]]], None]) -> Behaviour:
    """Take the documents, then damage the answer."""
    return lambda exchange: after(exchange, exchange.applied())


def black_hole(exchange: Exchange) -> None:
    time.sleep(2 * SECONDS)
    exchange.cut()


def promises_more(exchange: Exchange, found: list[dict[str, Any]]) -> None:
    exchange.head(200, Content_Length="10000")
    exchange.raw(b'{"errors":false,"items":[')
    exchange.reset()


def chunked_and_cut(exchange: Exchange, found: list[dict[str, Any]]) -> None:
    exchange.head(200, Transfer_Encoding="chunked")
    exchange.raw(b'19\r\n{"errors":false,"items":[\r\n')
    exchange.cut()


def half_of_it(exchange: Exchange, found: list[dict[str, Any]]) -> None:
    exchange.answer(200, {"errors": False, "items": found[: len(found) // 2]})


def backwards_with_strangers(exchange: Exchange, found: list[dict[str, Any]]) -> None:
    strangers = [
        {"index": {"_id": "stranger", "status": 201}},
        {"index": {"_id": "document-00", "status": "201"}},
    ]
    exchange.answer(200, {"errors": False, "items": [*strangers, *reversed(found)]})


def slowly(exchange: Exchange, found: list[dict[str, Any]]) -> None:
    exchange.head(200, Transfer_Encoding="chunked")
    for part in (b'{"errors":false,', b'"items":', b"[]}"):
        exchange.raw(b"%x\r\n%s\r\n" % (len(part), part))
        time.sleep(SECONDS / 4)
    exchange.raw(b"0\r\n\r\n")


def trickling(exchange: Exchange, found: list[dict[str, Any]]) -> None:
    """Send each byte in time, but all of them too late; a client that waits for them learns that
    everything was refused.
    """
    late = [item(operation, 400, "late", "too late") for operation in exchange.operations]
    for drop in (b"HTTP/1.1 200 OK\r\nConnection:", *[b" "] * 5, b"close\r\n\r\n", *[b" "] * 25):
        exchange.raw(drop)
        time.sleep(SECONDS / 5)
    exchange.raw(json.dumps({"errors": True, "items": late}).encode())
    exchange.cut()


PASSING = {
    "item 429": items(429, "rejected_execution_exception", SOME),
    "every item 429": items(429, "rejected_execution_exception", set(DOCUMENTS)),
    "item 502": items(502, "x", SOME),
    "item 503": items(503, "unavailable_shards_exception", SOME),
    "item 504": items(504, "process_cluster_event_timeout_exception", SOME),
    "request 429": whole(
        429,
        "application/json",
        {"error": {"type": "rejected_execution_exception"}},
        Retry_After="0",
    ),
    "request 429 and a date": whole(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"),
    "request 502": whole(502),
    "request 503": whole(503, "text/plain", b""),
    "request 504": whole(504),
    "request 500": whole(500),
    "a page of a proxy": whole(200),
    "fewer items": applied_then(half_of_it),
    "no items": applied_then(
        lambda exchange, found: exchange.answer(200, {"errors": False, "items": []})
    ),
    "reordered items, and strangers": applied_then(backwards_with_strangers),
    "early close": applied_then(lambda exchange, found: exchange.cut()),
    "close before it is done": lambda exchange: exchange.cut(),
    "reset": lambda exchange: exchange.reset(),
    "reset after it is done": applied_then(lambda exchange, found: exchange.reset()),
    "black hole": black_hole,
    "black hole after it is done": applied_then(lambda exchange, found: black_hole(exchange)),
    "garbage": applied_then(lambda exchange, found: exchange.answer(200, b"{]")),
    "garbage that is no text": applied_then(
        lambda exchange, found: exchange.answer(200, bytes(range(256)))
    ),
    "truncated": applied_then(
        lambda exchange, found: exchange.answer(200, b'{"errors":false,"items":[{"index":{"_id":')
    ),
    "truncated in the middle of a chunk": applied_then(chunked_and_cut),
    "truncated and reset": applied_then(promises_more),
    "not the compression it says": applied_then(
        lambda exchange, found: exchange.answer(200, {"items": found}, Content_Encoding="gzip")
    ),
    "slow and empty": applied_then(slowly),
    "trickling": applied_then(trickling),
    "JSON that is no answer": applied_then(
        lambda exchange, found: exchange.answer(200, [1, None, "items"])
    ),
}


@pytest.mark.parametrize("trap", PASSING)
def test_a_passing_fault_costs_no_document(
    trap: str, engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(PASSING[trap], PASSING[trap])
    sent(opened(faulty), faulty)


@pytest.mark.parametrize("trap", ["item 429", "item 503"])
def test_only_what_is_not_acknowledged_is_sent_again(
    trap: str, engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(PASSING[trap], PASSING[trap])
    sent(opened(faulty), faulty)
    assert list(map(set, faulty.requests)) == [set(DOCUMENTS), SOME, SOME]
    assert set(faulty.applied.values()) == {1}


def test_a_request_that_is_too_large_is_halved(
    engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    """The server answers before it has read the request, and closes."""
    faulty = engine(max_bytes=10_000)
    sent(opened(faulty), faulty, text="word " * 100)
    assert set(faulty.applied.values()) == {1}


def test_a_document_that_is_too_large_is_refused_alone(
    engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    def small_ones(exchange: Exchange) -> None:
        if any(operation.id in SOME for operation in exchange.operations):
            exchange.answer(413, b"", "text/html")
        else:
            well(exchange)

    faulty = engine(last_word=small_ones)
    replies = sent(opened(faulty), faulty, refused=SOME)
    assert all("too large for the server" in str(replies[id]) for id in SOME)


def test_what_the_engine_refuses_for_good_comes_with_its_reason(
    engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(items(400, "mapper_parsing_exception", SOME))
    replies = sent(opened(faulty), faulty, refused=SOME)
    assert {replies[id] for id in SOME} == {DISK_FULL}
    assert len(faulty.requests) == 1


@pytest.mark.parametrize("code", [403, 429])
@pytest.mark.parametrize("part", ["item", "request"])
def test_a_full_disk_stops_the_run_at_once_and_says_what_to_do(
    code: int, part: str, engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    error = {"type": "cluster_block_exception", "reason": DISK_FULL}
    behaviours = {
        "item": items(code, "cluster_block_exception", SOME),
        "request": whole(
            code, "application/json", {"error": {**error, "root_cause": [error]}, "status": code}
        ),
    }
    faulty = engine(last_word=behaviours[part])
    store = opened(faulty)
    with pytest.raises(
        StoreStopped, match=r"flood-stage.*free disk space.*run the same command again"
    ):
        sent(store, faulty)
    assert len(faulty.requests) == 1
    faulty.last_word = well
    sent(store, faulty)


@pytest.mark.parametrize(
    "trap",
    ["request 429", "request 503", "reset", "garbage", "every item 429", "close before it is done"],
)
def test_a_fault_that_does_not_pass_stops_the_run(
    trap: str, engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(last_word=PASSING[trap])
    with pytest.raises(StoreStopped, match="run the same command again"):
        sent(opened(faulty), faulty)
    assert len(faulty.requests) == QUICK.attempts + 1


def test_lone_surrogates_are_replaced_and_the_rest_is_stored(
    engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine()
    store = opened(faulty)
    assert (
        store.write(
            [row("a", text="half \ud83d of it"), row("b", metadata={"k\udc00": "\udfff"}), row("c")]
        )
        == [None] * 3
    )
    assert faulty.documents["a"]["text"] == "half \ufffd of it"
    assert len(faulty.requests) == 1


def test_after_the_faults_a_fresh_document_goes_through_at_once(
    engine: Engines, opened: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(*[PASSING["reset"]] * 20)
    store = opened(faulty)
    with pytest.raises(StoreStopped):
        store.write([row("a")])
    faulty.script.clear()
    assert store.write([row("b")]) == [None]
