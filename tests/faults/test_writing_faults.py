"""Indexing into an engine that is slow, overloaded or broken: in bounded memory, several requests
at once, nothing lost.
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
from indexer.indexing import writer as writing
from indexer.indexing.index import IndexOptions, index
from indexer.indexing.writer import Writer, row_bytes
from indexer.jobs.journal import journal_path, stored_failures
from indexer.model import Outcome, Row
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.engine.sender import RetryPolicy, Sender

QUICK = RetryPolicy(first=0.01, longest=0.05, attempts=8)
FILES = 300


@pytest.fixture
def engine() -> Iterator[FaultyEngine]:
    faulty = FaultyEngine()
    yield faulty
    faulty.close()


@pytest.fixture
def opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[FaultyEngine, str], Any]]:
    """Open a prepared store with few retries and small batches."""
    monkeypatch.setattr(
        "indexer.stores.engine.open_index.Sender",
        partial(Sender, patience=QUICK, max_operations=50),
    )
    monkeypatch.setattr("indexer.stores.engine.open_index.BULK_SECONDS", 5.0)
    monkeypatch.setattr("indexer.indexing.stages.WRITE_DOCUMENTS", 40)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    stores: list[Any] = []

    def store(engine: FaultyEngine, name: str) -> Any:
        stores.append(open_store(f"{engine.url.replace('http', 'opensearch')}/{name}?replicas=0"))
        stores[-1].prepare(DEFAULT)
        return stores[-1]

    yield store
    for one in stores:
        one.close()


@pytest.fixture
def store(engine: FaultyEngine, opened: Callable[[FaultyEngine, str], Any]) -> Any:
    """Open a store on an engine in memory that can only write."""
    return opened(engine, "x")


@pytest.fixture
def gate(opensearch_url: str) -> Iterator[FaultyEngine]:
    """Return faults on the way to a real OpenSearch."""
    faulty = FaultyEngine(upstream=opensearch_url)
    yield faulty
    faulty.close()


@pytest.fixture
def real(gate: FaultyEngine, opened: Callable[[FaultyEngine, str], Any]) -> Iterator[Any]:
    """Open a store behind that gate."""
    name = f"nearfold-sender-{secrets.token_hex(6)}"
    yield opened(gate, name)
    gate.forward("DELETE", f"/{name}", b"")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for number in range(FILES):
        (made / f"{number:03}.txt").write_text(
            f"Document {number} says {' '.join(str(number * n) for n in range(1, 40))}",
            encoding="utf-8",
        )
    return made


def batches(count: int, characters: int = 10_000, size: int = 5) -> list[list[Row]]:
    return [
        [row(f"{batch}-{place}", text="x" * characters) for place in range(size)]
        for batch in range(count)
    ]


def writers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "nearfold-writer"}


def until(happened: Callable[[], bool]) -> None:
    """Wait for a condition; fail after ten seconds."""
    deadline = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def test_rows_in_memory_are_bounded_and_the_caller_waits(engine: FaultyEngine, store: Any) -> None:
    made, answering = batches(40), threading.Event()
    room = 6 * sum(map(row_bytes, made[0]))
    handed: list[int] = []
    decided: list[int] = []
    peak = 0

    def patiently(exchange: Exchange) -> None:
        answering.wait(10)
        well(exchange)

    def produce() -> None:
        nonlocal peak
        with Writer(store, room) as writer:
            for batch in made:
                decided.extend(sum(map(row_bytes, written.rows)) for written in writer.write(batch))
                handed.append(sum(map(row_bytes, batch)))
                peak = max(peak, sum(handed) - sum(decided))
            decided.extend(sum(map(row_bytes, written.rows)) for written in writer.finish())

    engine.last_word = patiently
    producer = threading.Thread(target=produce)
    producer.start()
    until(lambda: engine.under_way == store.writers)
    time.sleep(0.1)
    assert len(handed) == 6, "more was taken than there is room for, or less"
    answering.set()
    producer.join(20)
    assert sum(handed) == sum(decided)
    assert peak == room
    assert engine.largest == store.writers > 1
    assert set(engine.applied.values()) == {1}
    assert len(engine.documents) == 200


def test_a_batch_that_is_larger_than_all_room_goes_alone(engine: FaultyEngine, store: Any) -> None:
    with Writer(store, most_bytes=1000) as writer:
        decided = [written for batch in batches(5) for written in writer.write(batch)] + list(
            writer.finish()
        )
    assert sum(len(written.rows) for written in decided) == len(engine.documents) == 25
    assert engine.largest == 1


def test_the_later_of_two_rows_with_one_id_wins_however_slow_the_earlier(
    engine: FaultyEngine, store: Any
) -> None:
    def slowly(exchange: Exchange) -> None:
        time.sleep(0.1)
        well(exchange)

    engine.script = [slowly]
    with Writer(store) as writer:
        decided = [
            written
            for text in ("first", "second")
            for written in writer.write([row("a", text=text)])
        ]
        decided += writer.finish()
    assert [written.refusals for written in decided] == [[None], [None]]
    assert engine.documents["a"]["text"] == "second"


def test_an_overloaded_engine_is_sent_less_at_once_and_more_again_later(
    engine: FaultyEngine, store: Any
) -> None:
    """The engine takes one request at a time until a third is done, then all that come."""
    turned_away: list[int] = []
    widths: list[int] = []

    def small(exchange: Exchange) -> None:
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
        widths.append(engine.under_way if len(engine.documents) > 200 else 0)
        time.sleep(0.02)
        well(exchange)

    engine.last_word = small
    with Writer(store) as writer:
        for batch in batches(100, characters=10, size=3):
            list(writer.write(batch))
        list(writer.finish())
    assert len(engine.documents) == 300
    assert set(engine.applied.values()) == {1}
    assert (
        0 < len(turned_away) < 40
    )  # one at most for each of 34 that get through singly; 56 when the window stays wide
    assert max(widths) >= 3


def test_one_writer_that_stops_stops_the_job_and_leaves_no_thread(
    engine: FaultyEngine, store: Any
) -> None:
    engine.script = [
        well,
        well,
        lambda exchange: exchange.answer(403, {"error": {"type": "cluster_block_exception"}}),
    ]
    before = writers()
    with pytest.raises(StoreStopped), Writer(store) as writer:
        for batch in batches(20):
            list(writer.write(batch))
        list(writer.finish())
    assert writers() <= before


def test_a_job_that_nothing_comes_back_to_ends(
    engine: FaultyEngine, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer trickles even longer than its deadline."""

    def trickle(exchange: Exchange) -> None:
        exchange.head(200, Content_Length="100")
        for _ in range(20):
            exchange.raw(b" ")
            time.sleep(0.1)

    monkeypatch.setattr(writing, "STALLED_SECONDS", 0.5)
    monkeypatch.setattr(writing, "_CLOSING_SECONDS", 0.1)
    engine.script = [trickle]
    started = time.monotonic()
    with pytest.raises(StoreStopped, match="no answer was complete"), Writer(store) as writer:
        list(writer.write([row("a")]))
        list(writer.finish())
    assert time.monotonic() - started < 2


def test_an_embedded_store_is_written_by_the_caller_alone() -> None:
    embedded = open_store("sqlite://:memory:")
    embedded.prepare(DEFAULT)
    before = threading.active_count()
    with Writer(embedded) as writer:
        [written] = writer.write([row("a")])
        assert threading.active_count() == before
        assert written.refusals == [None]
    embedded.close()


def test_what_the_engine_refuses_is_remembered_with_its_reason_and_tried_again_when_asked(
    gate: FaultyEngine, real: Any, folder: Path
) -> None:
    def picky(exchange: Exchange) -> None:
        bad = [one for one in exchange.operations if str(one.body.get("path")).endswith("7.txt")]
        good = exchange.applied({one.id for one in exchange.operations} - {one.id for one in bad})
        exchange.answer(
            200,
            {
                "items": [
                    *good,
                    *(item(one, 400, "mapper_parsing_exception", "no sevens") for one in bad),
                ]
            },
        )

    gate.last_word = picky
    first = index([str(folder)], real)
    assert (first.indexed, len(first.failed)) == (FILES * 9 // 10, FILES // 10)
    kept = stored_failures(journal_path(real.address))
    assert kept is not None and [(one.path, one.error) for one in kept] == sorted(
        (one.path, one.error) for one in first.failed
    )
    assert {one.error for one in kept} == {"the store refused it: no sevens"}
    gate.last_word, gate.requests = well, []
    again = index([str(folder)], real)
    assert (again.unchanged, len(again.failed)) == (FILES * 9 // 10, FILES // 10)
    assert gate.requests == []
    retried = index([str(folder)], real, IndexOptions(retry=True))
    assert (retried.indexed, retried.failed) == (FILES // 10, ())
    assert stored_failures(journal_path(real.address)) == ()


def test_a_changed_file_that_is_refused_leaves_no_row_of_what_it_said_before(
    gate: FaultyEngine, real: Any, folder: Path
) -> None:
    index([str(folder)], real)
    (folder / "007.txt").write_text(
        "something quite different from what was there before", encoding="utf-8"
    )

    def refusing(exchange: Exchange) -> None:
        new = [one for one in exchange.operations if one.action == "index"]
        good = exchange.applied({one.id for one in exchange.operations} - {one.id for one in new})
        exchange.answer(
            200, {"items": [*good, *(item(one, 400, "mapper_parsing_exception") for one in new)]}
        )

    gate.last_word = refusing
    assert [Path(failed.path).name for failed in index([str(folder)], real).failed] == ["007.txt"]
    assert {Path(row.path).name for row in real.scan()} == {
        path.name for path in folder.iterdir()
    } - {"007.txt"}


def drop(exchange: Exchange) -> None:
    exchange.reset()


def apply_and_drop(exchange: Exchange) -> None:
    exchange.applied()
    exchange.reset()


def overloaded(exchange: Exchange) -> None:
    exchange.answer(
        429, {"error": {"type": "circuit_breaking_exception", "reason": "memory"}}, Retry_After="0"
    )


def half(exchange: Exchange) -> None:
    found = exchange.applied({one.id for one in exchange.operations[::2]})
    exchange.answer(200, {"items": found[::-1]})


def large(exchange: Exchange) -> None:
    (
        overloaded
        if len(exchange.operations) < 10
        else partial(Exchange.answer, status=413, body=b"")
    )(exchange)


def garbage(exchange: Exchange) -> None:
    exchange.applied()
    exchange.answer(200, b'{"items":[{"index"')


@pytest.mark.parametrize("seed", range(3))
def test_faults_at_random_change_nothing_of_what_is_stored(
    seed: int, gate: FaultyEngine, real: Any, folder: Path
) -> None:
    chance = random.Random(seed)
    faults: list[Behaviour] = [drop, apply_and_drop, overloaded, half, large, garbage]

    def behave(exchange: Exchange) -> None:
        chance.choice([*faults, *[well] * len(faults)])(exchange)

    gate.last_word = behave
    account = index([str(folder)], real)
    assert (account.seen, account.indexed, account.failed) == (FILES, FILES, ())
    rows = list(real.scan())
    assert {row.path: row.text for row in rows} == {
        str(path): path.read_text(encoding="utf-8") for path in folder.iterdir()
    }
    assert len(rows) == FILES
    assert index([str(folder)], real).unchanged == FILES


def test_an_interrupted_job_is_gone_at_once_and_goes_on_later(
    gate: FaultyEngine, real: Any, folder: Path
) -> None:
    acknowledged = 0

    def interrupt(outcome: Outcome) -> None:
        nonlocal acknowledged
        acknowledged += 1
        if acknowledged == 100:
            raise KeyboardInterrupt

    before = writers()
    with pytest.raises(KeyboardInterrupt):
        index([str(folder)], real, progress=interrupt)
    assert writers() <= before
    real.refresh()
    written = real.counts().documents
    assert 100 <= written < FILES
    account = index([str(folder)], real)
    assert (account.unchanged, account.indexed) == (written, FILES - written)
