"""Indexing into an engine that is slow, overloaded or broken: bounded memory, several requests at
once, nothing lost.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sample_rows import row
from servers.faulty import Behaviour, Exchange, FaultyEngine, item, well

from indexer.errors import StoreStopped
from indexer.jobs import stages
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.stages import Writer, row_bytes
from indexer.model import Outcome, Row
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.engine.bulk import Sender
from indexer.stores.engine.requests import RetryPolicy
from indexer.stores.journal import journal_path, stored_failures

QUICK = RetryPolicy(first=0.01, longest=0.05, attempts=8)
FILES = 300


@pytest.fixture
def engine() -> Iterator[FaultyEngine]:
    faulty = FaultyEngine()
    yield faulty
    faulty.close()


@pytest.fixture
def open_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[FaultyEngine, str], Any]]:
    """Return a function that opens a prepared store with few retries and small batches."""
    monkeypatch.setattr(
        "indexer.stores.engine.index.Sender",
        partial(Sender, retry_policy=QUICK, max_operations=50),
    )
    monkeypatch.setattr("indexer.stores.engine.index.BULK_SECONDS", 5.0)
    monkeypatch.setattr("indexer.jobs.stages.WRITE_DOCUMENTS", 40)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    stores: list[Any] = []

    def open_store_on(engine: FaultyEngine, name: str) -> Any:
        stores.append(open_store(f"{engine.url.replace('http', 'opensearch')}/{name}?replicas=0"))
        stores[-1].prepare(DEFAULT)
        return stores[-1]

    yield open_store_on
    for store in stores:
        store.close()


@pytest.fixture
def store(engine: FaultyEngine, open_on: Callable[[FaultyEngine, str], Any]) -> Any:
    """Open a store on an engine in memory that can only write."""
    return open_on(engine, "x")


@pytest.fixture
def gate(opensearch_url: str) -> Iterator[FaultyEngine]:
    """Yield a faulty engine that forwards to a real OpenSearch."""
    faulty = FaultyEngine(upstream=opensearch_url)
    yield faulty
    faulty.close()


@pytest.fixture
def real_store(gate: FaultyEngine, open_on: Callable[[FaultyEngine, str], Any]) -> Iterator[Any]:
    """Yield a store on the real OpenSearch, behind the gate."""
    name = f"nearfold-sender-{secrets.token_hex(6)}"
    yield open_on(gate, name)
    gate.forward("DELETE", f"/{name}", b"")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(FILES):
        (docs / f"{number:03}.txt").write_text(
            f"Document {number} says {' '.join(str(number * n) for n in range(1, 40))}",
            encoding="utf-8",
        )
    return docs


def batches(count: int, characters: int = 10_000, size: int = 5) -> list[list[Row]]:
    return [
        [row(f"{batch}-{place}", text="x" * characters) for place in range(size)]
        for batch in range(count)
    ]


def writer_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "nearfold-writer"}


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for a condition; fail after ten seconds."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.005)


def test_rows_in_memory_are_bounded_and_the_caller_waits(engine: FaultyEngine, store: Any) -> None:
    rows_by_batch = batches(40)
    may_answer = threading.Event()
    budget = 6 * sum(map(row_bytes, rows_by_batch[0]))
    accepted_bytes: list[int] = []
    decided: list[int] = []
    peak = 0

    def wait_then_answer(exchange: Exchange) -> None:
        may_answer.wait(10)
        well(exchange)

    def produce() -> None:
        nonlocal peak
        with Writer(store, budget) as writer:
            for batch in rows_by_batch:
                decided.extend(
                    sum(map(row_bytes, batch_outcome.rows)) for batch_outcome in writer.write(batch)
                )
                accepted_bytes.append(sum(map(row_bytes, batch)))
                peak = max(peak, sum(accepted_bytes) - sum(decided))
            decided.extend(
                sum(map(row_bytes, batch_outcome.rows)) for batch_outcome in writer.finish()
            )

    engine.last_word = wait_then_answer
    producer = threading.Thread(target=produce)
    producer.start()
    wait_for(lambda: engine.under_way == store.writers)
    time.sleep(0.1)
    assert len(accepted_bytes) == 6, "the accepted rows do not fill the memory budget exactly"
    may_answer.set()
    producer.join(20)
    assert sum(accepted_bytes) == sum(decided)
    assert peak == budget
    assert engine.largest == store.writers > 1
    assert set(engine.applied.values()) == {1}
    assert len(engine.documents) == 200


def test_a_batch_larger_than_the_memory_budget_is_sent_alone(
    engine: FaultyEngine, store: Any
) -> None:
    with Writer(store, max_bytes=1000) as writer:
        decided = [
            batch_outcome for batch in batches(5) for batch_outcome in writer.write(batch)
        ] + list(writer.finish())
    assert sum(len(batch_outcome.rows) for batch_outcome in decided) == len(engine.documents) == 25
    assert engine.largest == 1


def test_the_later_of_two_rows_with_one_id_wins_however_slow_the_earlier(
    engine: FaultyEngine, store: Any
) -> None:
    def answer_late(exchange: Exchange) -> None:
        time.sleep(0.1)
        well(exchange)

    engine.script = [answer_late]
    with Writer(store) as writer:
        decided = [
            batch_outcome
            for text in ("first", "second")
            for batch_outcome in writer.write([row("a", text=text)])
        ]
        decided += writer.finish()
    assert [batch_outcome.refusals for batch_outcome in decided] == [[None], [None]]
    assert engine.documents["a"]["text"] == "second"


def test_concurrency_falls_for_an_overloaded_engine_and_rises_later(
    engine: FaultyEngine, store: Any
) -> None:
    """The engine takes one request at a time until a third is done, then all that come."""
    turned_away: list[int] = []
    concurrencies: list[int] = []

    def answer_one_at_a_time(exchange: Exchange) -> None:
        if engine.under_way > 1 and len(engine.documents) < 100:
            turned_away.append(len(engine.requests))
            exchange.answer(
                429,
                {
                    "error": {"type": "rejected_execution_exception", "reason": "full"},
                    "status": 429,
                },
            )
            return
        concurrencies.append(engine.under_way if len(engine.documents) > 200 else 0)
        time.sleep(0.02)
        well(exchange)

    engine.last_word = answer_one_at_a_time
    with Writer(store) as writer:
        for batch in batches(100, characters=10, size=3):
            list(writer.write(batch))
        list(writer.finish())
    assert len(engine.documents) == 300
    assert set(engine.applied.values()) == {1}
    # at most one for each of 34 that are taken singly; 56 when the concurrency stays high
    assert 0 < len(turned_away) < 40
    assert max(concurrencies) >= 3


def test_one_writer_that_stops_stops_the_job_and_leaves_no_thread(
    engine: FaultyEngine, store: Any
) -> None:
    engine.script = [
        well,
        well,
        lambda exchange: exchange.answer(403, {"error": {"type": "cluster_block_exception"}}),
    ]
    before = writer_threads()
    with pytest.raises(StoreStopped), Writer(store) as writer:
        for batch in batches(20):
            list(writer.write(batch))
        list(writer.finish())
    assert writer_threads() <= before


def test_a_job_that_gets_no_answer_ends(
    engine: FaultyEngine, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer trickles even longer than its deadline."""

    def trickle(exchange: Exchange) -> None:
        exchange.head(200, Content_Length="100")
        for _ in range(20):
            exchange.raw(b" ")
            time.sleep(0.1)

    monkeypatch.setattr(stages, "STALLED_SECONDS", 0.5)
    monkeypatch.setattr(stages, "_CLOSING_SECONDS", 0.1)
    engine.script = [trickle]
    started = time.monotonic()
    with pytest.raises(StoreStopped, match="no response was complete"), Writer(store) as writer:
        list(writer.write([row("a")]))
        list(writer.finish())
    assert time.monotonic() - started < 2


def test_an_embedded_store_is_written_by_the_caller_alone() -> None:
    embedded = open_store("sqlite://:memory:")
    embedded.prepare(DEFAULT)
    before = threading.active_count()
    with Writer(embedded) as writer:
        [batch_outcome] = writer.write([row("a")])
        assert threading.active_count() == before
        assert batch_outcome.refusals == [None]
    embedded.close()


def test_refusals_are_recorded_with_their_reason_and_retried_on_request(
    gate: FaultyEngine, real_store: Any, folder: Path
) -> None:
    def refuse_sevens(exchange: Exchange) -> None:
        refused = [
            operation
            for operation in exchange.operations
            if str(operation.body.get("path")).endswith("7.txt")
        ]
        accepted = exchange.applied(
            {operation.id for operation in exchange.operations}
            - {operation.id for operation in refused}
        )
        exchange.answer(
            200,
            {
                "items": [
                    *accepted,
                    *(
                        item(operation, 400, "mapper_parsing_exception", "no sevens")
                        for operation in refused
                    ),
                ]
            },
        )

    gate.last_word = refuse_sevens
    first = index([str(folder)], real_store)
    assert (first.indexed, len(first.failed)) == (FILES * 9 // 10, FILES // 10)
    recorded = stored_failures(journal_path(real_store.address))
    assert recorded is not None
    failures = [(failure.path, failure.error) for failure in recorded]
    assert failures == sorted((failure.path, failure.error) for failure in first.failed)
    assert {failure.error for failure in recorded} == {"the store refused it: no sevens"}
    gate.last_word, gate.requests = well, []
    again = index([str(folder)], real_store)
    assert (again.unchanged, len(again.failed)) == (FILES * 9 // 10, FILES // 10)
    assert [len(ids) for ids in gate.requests] == [1]  # asks whether this user sees everything
    retried = index([str(folder)], real_store, IndexOptions(retry=True))
    assert (retried.indexed, retried.failed) == (FILES // 10, ())
    assert stored_failures(journal_path(real_store.address)) == ()


def test_a_changed_file_that_is_refused_leaves_no_row_of_its_earlier_text(
    gate: FaultyEngine, real_store: Any, folder: Path
) -> None:
    index([str(folder)], real_store)
    (folder / "007.txt").write_text(
        "something quite different from what was there before", encoding="utf-8"
    )

    def refuse_new(exchange: Exchange) -> None:
        indexed = [operation for operation in exchange.operations if operation.action == "index"]
        accepted = exchange.applied(
            {operation.id for operation in exchange.operations}
            - {operation.id for operation in indexed}
        )
        exchange.answer(
            200,
            {
                "items": [
                    *accepted,
                    *(item(operation, 400, "mapper_parsing_exception") for operation in indexed),
                ]
            },
        )

    gate.last_word = refuse_new
    assert [Path(failed.path).name for failed in index([str(folder)], real_store).failed] == [
        "007.txt"
    ]
    assert {Path(row.path).name for row in real_store.scan()} == {
        path.name for path in folder.iterdir()
    } - {"007.txt"}


def drop(exchange: Exchange) -> None:
    exchange.reset()


def apply_and_drop(exchange: Exchange) -> None:
    exchange.applied()
    exchange.reset()


def answer_overloaded(exchange: Exchange) -> None:
    exchange.answer(
        429, {"error": {"type": "circuit_breaking_exception", "reason": "memory"}}, Retry_After="0"
    )


def answer_half(exchange: Exchange) -> None:
    results = exchange.applied({operation.id for operation in exchange.operations[::2]})
    exchange.answer(200, {"items": results[::-1]})


def refuse_large(exchange: Exchange) -> None:
    if len(exchange.operations) < 10:
        answer_overloaded(exchange)
    else:
        exchange.answer(413, b"")


def answer_garbage(exchange: Exchange) -> None:
    exchange.applied()
    exchange.answer(200, b'{"items":[{"index"')


@pytest.mark.parametrize("seed", range(3))
def test_random_faults_do_not_change_what_is_stored(
    seed: int, gate: FaultyEngine, real_store: Any, folder: Path
) -> None:
    chance = random.Random(seed)
    faults: list[Behaviour] = [
        drop,
        apply_and_drop,
        answer_overloaded,
        answer_half,
        refuse_large,
        answer_garbage,
    ]

    def behave(exchange: Exchange) -> None:
        chance.choice([*faults, *[well] * len(faults)])(exchange)

    gate.last_word = behave
    account = index([str(folder)], real_store)
    assert (account.seen, account.indexed, account.failed) == (FILES, FILES, ())
    rows = list(real_store.scan())
    assert {row.path: row.text for row in rows} == {
        str(path): path.read_text(encoding="utf-8") for path in folder.iterdir()
    }
    assert len(rows) == FILES
    assert index([str(folder)], real_store).unchanged == FILES


def test_an_interrupted_job_ends_at_once_and_resumes_later(
    gate: FaultyEngine, real_store: Any, folder: Path
) -> None:
    acknowledged = 0

    def interrupt(outcome: Outcome) -> None:
        nonlocal acknowledged
        acknowledged += 1
        if acknowledged == 100:
            raise KeyboardInterrupt

    before = writer_threads()
    with pytest.raises(KeyboardInterrupt):
        index([str(folder)], real_store, progress=interrupt)
    assert writer_threads() <= before
    real_store.refresh()
    documents_written = real_store.counts().documents
    assert 100 <= documents_written < FILES
    account = index([str(folder)], real_store)
    assert (account.unchanged, account.indexed) == (documents_written, FILES - documents_written)
