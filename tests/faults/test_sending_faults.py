"""The sender with real clients and real HTTP, against a faulty engine.

Whatever fault occurs, each document ends either acknowledged and stored as it was sent, or refused
with a reason.
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
from indexer.stores.engine.bulk import Sender
from indexer.stores.engine.requests import RetryPolicy

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

    def faulty_engine(*script: Behaviour, **settings: Any) -> FaultyEngine:
        engines.append(FaultyEngine(list(script), **settings))
        return engines[-1]

    yield faulty_engine
    for server in engines:
        server.close()


@pytest.fixture(params=["opensearch", "elasticsearch"])
def open_on(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[FaultyEngine], Any]]:
    """Return a function that opens a prepared store on a faulty engine by either client, with few
    retries.
    """
    monkeypatch.setattr("indexer.stores.engine.index.BULK_SECONDS", SECONDS)
    monkeypatch.setattr("indexer.stores.engine.index.Sender", partial(Sender, retry_policy=QUICK))
    stores: list[Any] = []

    def open_store_on(engine: FaultyEngine) -> Any:
        stores.append(open_store(f"{engine.url.replace('http', request.param)}/x"))
        stores[-1].prepare(DEFAULT)
        return stores[-1]

    yield open_store_on
    for store in stores:
        store.close()


def write_all(
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


def refuse_items(code: int, kind: str, ids: set[str]) -> Behaviour:
    """Return a behaviour that refuses these documents one by one, and takes the others."""

    def behave(exchange: Exchange) -> None:
        refusals = [
            item(operation, code, kind, DISK_FULL)
            for operation in exchange.operations
            if operation.id in ids
        ]
        accepted = exchange.applied(set(DOCUMENTS) - ids)
        exchange.answer(200, {"errors": bool(refusals), "items": [*refusals, *accepted]})

    return behave


def answer_all(
    code: int, kind: str = "text/html", body: object = b"<html>not now</html>", **headers: str
) -> Behaviour:
    return lambda exchange: exchange.answer(code, body, kind, **headers)


def apply_then(after: Callable[[Exchange, list[dict[str, Any]]], None]) -> Behaviour:
    """Return a behaviour that takes the documents, then damages the answer."""
    return lambda exchange: after(exchange, exchange.applied())


def black_hole(exchange: Exchange) -> None:
    time.sleep(2 * SECONDS)
    exchange.cut()


def promise_more(exchange: Exchange, results: list[dict[str, Any]]) -> None:
    exchange.head(200, Content_Length="10000")
    exchange.raw(b'{"errors":false,"items":[')
    exchange.reset()


def cut_in_a_chunk(exchange: Exchange, results: list[dict[str, Any]]) -> None:
    exchange.head(200, Transfer_Encoding="chunked")
    exchange.raw(b'19\r\n{"errors":false,"items":[\r\n')
    exchange.cut()


def answer_half(exchange: Exchange, results: list[dict[str, Any]]) -> None:
    exchange.answer(200, {"errors": False, "items": results[: len(results) // 2]})


def reverse_with_strangers(exchange: Exchange, results: list[dict[str, Any]]) -> None:
    strangers = [
        {"index": {"_id": "stranger", "status": 201}},
        {"index": {"_id": "document-00", "status": "201"}},
    ]
    exchange.answer(200, {"errors": False, "items": [*strangers, *reversed(results)]})


def answer_slowly(exchange: Exchange, results: list[dict[str, Any]]) -> None:
    exchange.head(200, Transfer_Encoding="chunked")
    for part in (b'{"errors":false,', b'"items":', b"[]}"):
        exchange.raw(b"%x\r\n%s\r\n" % (len(part), part))
        time.sleep(SECONDS / 4)
    exchange.raw(b"0\r\n\r\n")


def trickle(exchange: Exchange, results: list[dict[str, Any]]) -> None:
    """Send each byte in time, but the whole too late; a client that waits for it reads that
    everything was refused.
    """
    late = [item(operation, 400, "late", "too late") for operation in exchange.operations]
    for drop in (b"HTTP/1.1 200 OK\r\nConnection:", *[b" "] * 5, b"close\r\n\r\n", *[b" "] * 25):
        exchange.raw(drop)
        time.sleep(SECONDS / 5)
    exchange.raw(json.dumps({"errors": True, "items": late}).encode())
    exchange.cut()


TRANSIENT = {
    "item 429": refuse_items(429, "rejected_execution_exception", SOME),
    "every item 429": refuse_items(429, "rejected_execution_exception", set(DOCUMENTS)),
    "item 502": refuse_items(502, "x", SOME),
    "item 503": refuse_items(503, "unavailable_shards_exception", SOME),
    "item 504": refuse_items(504, "process_cluster_event_timeout_exception", SOME),
    "request 429": answer_all(
        429,
        "application/json",
        {"error": {"type": "rejected_execution_exception"}},
        Retry_After="0",
    ),
    "request 429 and a date": answer_all(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"),
    "request 502": answer_all(502),
    "request 503": answer_all(503, "text/plain", b""),
    "request 504": answer_all(504),
    "request 500": answer_all(500),
    "a page of a proxy": answer_all(200),
    "fewer items": apply_then(answer_half),
    "no items": apply_then(
        lambda exchange, results: exchange.answer(200, {"errors": False, "items": []})
    ),
    "reordered items, and strangers": apply_then(reverse_with_strangers),
    "early close": apply_then(lambda exchange, results: exchange.cut()),
    "close before it is done": lambda exchange: exchange.cut(),
    "reset": lambda exchange: exchange.reset(),
    "reset after it is done": apply_then(lambda exchange, results: exchange.reset()),
    "black hole": black_hole,
    "black hole after it is done": apply_then(lambda exchange, results: black_hole(exchange)),
    "garbage": apply_then(lambda exchange, results: exchange.answer(200, b"{]")),
    "garbage that is no text": apply_then(
        lambda exchange, results: exchange.answer(200, bytes(range(256)))
    ),
    "truncated": apply_then(
        lambda exchange, results: exchange.answer(200, b'{"errors":false,"items":[{"index":{"_id":')
    ),
    "truncated in the middle of a chunk": apply_then(cut_in_a_chunk),
    "truncated and reset": apply_then(promise_more),
    "not the compression it says": apply_then(
        lambda exchange, results: exchange.answer(200, {"items": results}, Content_Encoding="gzip")
    ),
    "slow and empty": apply_then(answer_slowly),
    "trickling": apply_then(trickle),
    "JSON that is no answer": apply_then(
        lambda exchange, results: exchange.answer(200, [1, None, "items"])
    ),
}


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_transient_fault_loses_no_document(
    fault: str, engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(TRANSIENT[fault], TRANSIENT[fault])
    write_all(open_on(faulty), faulty)


@pytest.mark.parametrize("fault", ["item 429", "item 503"])
def test_only_unacknowledged_documents_are_sent_again(
    fault: str, engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(TRANSIENT[fault], TRANSIENT[fault])
    write_all(open_on(faulty), faulty)
    assert list(map(set, faulty.requests)) == [set(DOCUMENTS), SOME, SOME]
    assert set(faulty.applied.values()) == {1}


def test_a_request_that_is_too_large_is_halved(
    engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    """The server answers before it has read the request, and closes."""
    faulty = engine(max_bytes=10_000)
    write_all(open_on(faulty), faulty, text="word " * 100)
    assert set(faulty.applied.values()) == {1}


def test_a_document_that_is_too_large_is_refused_alone(
    engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    def refuse_some(exchange: Exchange) -> None:
        if any(operation.id in SOME for operation in exchange.operations):
            exchange.answer(413, b"", "text/html")
        else:
            well(exchange)

    faulty = engine(last_word=refuse_some)
    replies = write_all(open_on(faulty), faulty, refused=SOME)
    assert all("too large for the server" in str(replies[id]) for id in SOME)


def test_a_permanent_refusal_comes_with_its_reason(
    engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(refuse_items(400, "mapper_parsing_exception", SOME))
    replies = write_all(open_on(faulty), faulty, refused=SOME)
    assert {replies[id] for id in SOME} == {DISK_FULL}
    assert len(faulty.requests) == 1


@pytest.mark.parametrize("code", [403, 429])
@pytest.mark.parametrize("part", ["item", "request"])
def test_a_full_disk_stops_the_run_at_once_and_says_what_to_do(
    code: int, part: str, engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    error = {"type": "cluster_block_exception", "reason": DISK_FULL}
    behaviours = {
        "item": refuse_items(code, "cluster_block_exception", SOME),
        "request": answer_all(
            code, "application/json", {"error": {**error, "root_cause": [error]}, "status": code}
        ),
    }
    faulty = engine(last_word=behaviours[part])
    store = open_on(faulty)
    with pytest.raises(
        StoreStopped, match=r"flood-stage.*free disk space.*run the same command again"
    ):
        write_all(store, faulty)
    assert len(faulty.requests) == 1
    faulty.last_word = well
    write_all(store, faulty)


@pytest.mark.parametrize(
    "fault",
    ["request 429", "request 503", "reset", "garbage", "every item 429", "close before it is done"],
)
def test_a_lasting_fault_stops_the_run(
    fault: str, engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(last_word=TRANSIENT[fault])
    with pytest.raises(StoreStopped, match="run the same command again"):
        write_all(open_on(faulty), faulty)
    assert len(faulty.requests) == QUICK.attempts + 1


def test_lone_surrogates_are_replaced_and_the_rest_is_stored(
    engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine()
    store = open_on(faulty)
    rows = [
        row("a", text="half \ud83d of it"),
        row("b", metadata={"k\udc00": "\udfff"}),
        row("c"),
    ]
    assert store.write(rows) == [None] * 3
    assert faulty.documents["a"]["text"] == "half \ufffd of it"
    assert len(faulty.requests) == 1


def test_after_the_faults_a_new_document_is_stored_at_once(
    engine: Engines, open_on: Callable[[FaultyEngine], Any]
) -> None:
    faulty = engine(*[TRANSIENT["reset"]] * 20)
    store = open_on(faulty)
    with pytest.raises(StoreStopped):
        store.write([row("a")])
    faulty.script.clear()
    assert store.write([row("b")]) == [None]
