"""The worker pool.

A document that hangs, crashes or takes too much memory fails alone; no process outlives the
program.
"""

import contextlib
import os
import pickle
import platform
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hostile_extractor import HostileExtractor, UnavailableExtractor
from samples import READERS, formats

from indexer import errors
from indexer.documents import workers
from indexer.documents.base import Limits, Task
from indexer.documents.native import NativeExtractor
from indexer.documents.workers import Pool
from indexer.errors import (
    ExtractionCrash,
    ExtractionError,
    ExtractionMemory,
    ExtractionTimeout,
    ExtractorUnavailable,
    MissingExtra,
    NearfoldError,
)
from indexer.model import Document

LIMITS = Limits(seconds=1, megabytes=200)
ROOT = Path(__file__).parents[2]
SCRIPT = f"""
import os, sys, time
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from hostile_extractor import HostileExtractor
from indexer.documents.base import Limits
from indexer.documents.native import NativeExtractor
from indexer.documents.workers import Pool, Task
"""


def extract_orders(
    orders: list[str], limits: Limits = LIMITS, workers: int = 2
) -> dict[int, Document | ExtractionError]:
    with Pool(HostileExtractor, workers, limits) as pool:
        return dict(
            pool.extract_all(Task(n, order.encode(), f"{n}.x") for n, order in enumerate(orders))
        )


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    return [child for child in process.children(recursive=True) if is_worker(child)]


def is_worker(process: psutil.Process) -> bool:
    """Return whether a process is a running worker; one that ends meanwhile is not."""
    try:
        return "indexer.documents.worker_main" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False


def wait_for(condition: object, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    for reader in READERS.values():
        reader.close()
    yield
    wait_for(lambda: not workers_of(psutil.Process()), 5)


@pytest.fixture
def zombie() -> Iterator[psutil.Process]:
    """Start a child of this process that has ended and is not waited for."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    process = psutil.Process(child.pid)
    try:
        wait_for(lambda: process.status() == psutil.STATUS_ZOMBIE)
        yield process
    finally:
        child.wait()


def test_every_document_comes_back_once_under_its_key() -> None:
    results = extract_orders(["sleep 0.01"] * 40)
    assert sorted(results) == list(range(40))
    assert all(result.text.startswith(f"{key}.x 10 ") for key, result in results.items())
    assert len({result.text.split()[-1] for result in results.values()}) == 2


def test_a_zombie_among_the_children_is_no_worker_and_disturbs_none(zombie: psutil.Process) -> None:
    with Pool(HostileExtractor, 1, LIMITS) as pool:
        results = dict(pool.extract_all(Task(n, b"ok", "a") for n in range(3)))
        assert all(isinstance(result, Document) for result in results.values())
        [worker] = workers_of(psutil.Process())
        assert worker != zombie
    wait_for(lambda: workers_of(psutil.Process()) == [])
    assert zombie.status() == psutil.STATUS_ZOMBIE


def test_bytes_and_texts_of_some_size_pass_whole() -> None:
    data = b"sleep 0" + b" " * 20_000_000
    with Pool(HostileExtractor, 1, LIMITS) as pool:
        [(_, result)] = pool.extract_all([Task("key", data, "a")])
    assert result.text.split()[1] == str(len(data))


def test_a_worker_starts_threads_and_no_program() -> None:
    with Pool(HostileExtractor, 1, LIMITS) as pool:
        [(_, result)] = pool.extract_all([Task("key", b"start true", "a")])
    has_filter = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    assert ("BlockingIOError" if has_filter else "FileNotFoundError") in str(result)


@pytest.mark.long
@pytest.mark.parametrize("word", ["hang", "spin"])
def test_document_that_takes_too_long_is_the_only_one_lost(word: str) -> None:
    before = time.monotonic()
    results = extract_orders(["ok", word, "ok", "ok", "ok"])
    assert isinstance(results.pop(1), ExtractionTimeout)
    assert all(isinstance(result, Document) for result in results.values())
    assert time.monotonic() - before < 10


@pytest.mark.parametrize(
    ("order", "code"), [("crash", -signal.SIGSEGV), ("exit 3", 3), ("exit 0", 0)]
)
def test_document_that_ends_the_process_is_the_only_one_lost(order: str, code: int) -> None:
    results = extract_orders(["ok", order, "ok", order, "ok"])
    crashes = [results.pop(1), results.pop(3)]
    assert [crash.code for crash in crashes if isinstance(crash, ExtractionCrash)] == [code, code]
    assert all(isinstance(result, Document) for result in results.values())


@pytest.mark.long
def test_document_that_eats_memory_is_stopped_near_the_limit() -> None:
    most = 0
    stop = threading.Event()

    def watch() -> None:
        nonlocal most
        while not stop.wait(0.01):
            for worker in workers_of(psutil.Process()):
                with contextlib.suppress(psutil.Error):
                    most = max(most, worker.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        results = extract_orders(["eat 100", "eat 5000", "ok"], Limits(seconds=30, megabytes=200))
    finally:
        stop.set()
        watcher.join()
    assert isinstance(results[1], ExtractionMemory)
    assert isinstance(results[0], Document)
    assert isinstance(results[2], Document)
    assert 200 << 20 < most < 600 << 20


def test_worker_that_kept_memory_is_replaced_before_the_next_document() -> None:
    results = extract_orders(
        ["eat 20", "ok", "eat 100", "ok"], Limits(seconds=30, megabytes=200), workers=1
    )
    processes = [results[n].text.split()[-1] for n in range(4)]
    assert processes[0] == processes[1] == processes[2] != processes[3]


def test_refusals_and_blunders_of_the_extractor_are_errors_of_the_document() -> None:
    results = extract_orders(["refuse it is encrypted", "blunder by nought", "ok"], workers=1)
    assert str(results[0]) == "it is encrypted"
    assert "ZeroDivisionError: by nought" in str(results[1])
    assert isinstance(results[2], Document)


def test_libraries_may_print_and_read() -> None:
    assert all(
        isinstance(result, Document)
        for result in extract_orders(["print hello", "read", "ok"], workers=1).values()
    )


def test_what_is_no_task_passes_through_in_its_place() -> None:
    with Pool(HostileExtractor, 1, LIMITS) as pool:
        items = ["first", Task(1, b"ok", "a"), "last"]
        results = list(pool.extract_all(items))
    assert results[0] == "first"
    assert "last" in results
    assert len(results) == 3


def test_items_are_pulled_as_they_are_needed() -> None:
    pulled = 0

    def tasks() -> Iterator[Task[int]]:
        nonlocal pulled
        for n in range(200):
            pulled += 1
            yield Task(n, b"ok", "a")

    with Pool(HostileExtractor, 2, LIMITS) as pool:
        for done, _ in enumerate(pool.extract_all(tasks()), 1):
            assert pulled - done <= 2 * 2


def test_bytes_under_way_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MAX_BYTES", 1000)
    pulled = 0

    def tasks() -> Iterator[Task[int]]:
        nonlocal pulled
        for n in range(20):
            pulled += 1
            yield Task(n, b"ok" + b" " * 2000, "a")

    with Pool(HostileExtractor, 2, LIMITS) as pool:
        for done, _ in enumerate(pool.extract_all(tasks()), 1):
            assert pulled - done <= 1


def test_error_in_the_source_comes_through_and_the_pool_can_go_on() -> None:
    def tasks() -> Iterator[Task[int]]:
        yield Task(1, b"sleep 0.5", "a")
        raise KeyError("source")

    with Pool(HostileExtractor, 1, LIMITS) as pool:
        with pytest.raises(KeyError, match="source"):
            list(pool.extract_all(tasks()))
        [(key, _)] = pool.extract_all([Task(2, b"ok", "a")])
    assert key == 2


def test_abandoned_run_leaves_the_pool_usable() -> None:
    with Pool(HostileExtractor, 2, LIMITS) as pool:
        for _ in pool.extract_all(Task(n, b"ok", "a") for n in range(100)):
            break
        assert {
            key for key, _ in pool.extract_all(Task(-n, b"ok", "a") for n in range(1, 9))
        } == set(range(-8, 0))


def test_interrupted_document_is_tried_again_alone(tmp_path: Path) -> None:
    orders = [f"busy {tmp_path}"] * 3 + [f"alone {tmp_path}"] + [f"busy {tmp_path}"] * 6
    results = extract_orders(orders, Limits(seconds=20), workers=3)
    assert all(isinstance(result, Document) for result in results.values()), results


def test_document_that_is_interrupted_twice_is_to_blame() -> None:
    results = extract_orders(["ok", "broken", "ok", "broken", "ok"])
    for place in (1, 3):
        assert isinstance(results[place], ExtractionCrash)
        assert "server" in str(results[place])
    assert sum(isinstance(result, Document) for result in results.values()) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("maker", "kind", "words"),
    [
        ("missing", MissingExtra, "pip install"),
        ("unavailable", ExtractorUnavailable, "no server"),
        ("blunder", ExtractorUnavailable, "ZeroDivisionError: by nought"),
        ("exit", ExtractorUnavailable, "exit code 7"),
    ],
)
def test_extractor_that_cannot_be_had_stops_the_run(
    maker: str, kind: type[NearfoldError], words: str
) -> None:
    with Pool(UnavailableExtractor(maker), 2, LIMITS) as pool, pytest.raises(kind, match=words):
        list(pool.extract_all(Task(n, b"ok", "a") for n in range(1000)))


def test_extractor_that_is_lost_on_the_way_stops_the_run() -> None:
    with (
        Pool(HostileExtractor, 2, LIMITS) as pool,
        pytest.raises(ExtractorUnavailable, match="no more"),
    ):
        list(
            pool.extract_all(
                Task(n, b"gone no more" if n == 5 else b"ok", "a") for n in range(1000)
            )
        )


def test_closing_in_the_middle_does_not_wait() -> None:
    with Pool(HostileExtractor, 2, Limits(seconds=1000)) as pool:
        run = pool.extract_all(Task(n, b"ok" if n == 0 else b"hang", "a") for n in range(10))
        next(run)
        before = time.monotonic()
        pool.close()
        assert time.monotonic() - before < 3


def test_a_pool_without_tasks_starts_no_worker() -> None:
    with Pool(HostileExtractor, 2, LIMITS) as pool:
        assert list(pool.extract_all([])) == []
        assert workers_of(psutil.Process()) == []


def script(tmp_path: Path, body: str) -> list[str]:
    place = tmp_path / "program.py"
    place.write_text(SCRIPT + textwrap.dedent(body), encoding="utf-8")
    return [sys.executable, str(place)]


@pytest.mark.long
def test_program_needs_no_main_guard(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(formats()["a.html"])
    body = f"""
    with Pool(NativeExtractor, 1) as pool:
        data = open({str(tmp_path / "a.html")!r}, "rb").read()
        [(key, result)] = pool.extract_all([Task(1, data, "a.html")])
    print(result.title)
    """
    done = subprocess.run(
        script(tmp_path, body), capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("Of rivers", "")


HANGING = """
    with Pool(HostileExtractor, 2, Limits(seconds=1000)) as pool:
        try:
            list(pool.extract_all(Task(n, b"spin", "a") for n in range(4)))
        except KeyboardInterrupt:
            print("interrupted")
    """


@contextlib.contextmanager
def hanging_program(
    tmp_path: Path,
) -> Iterator[tuple["subprocess.Popen[str]", list[psutil.Process]]]:
    """Run a program whose two workers spin for ever; it is killed at the end."""
    with subprocess.Popen(
        script(tmp_path, HANGING), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        try:
            watched = psutil.Process(program.pid)
            wait_for(
                lambda: (
                    len(workers_of(watched)) == 2
                    and all(worker.cpu_times().user > 0.6 for worker in workers_of(watched))
                )
            )
            yield program, workers_of(watched)
        finally:
            program.kill()


@pytest.mark.long
def test_program_killed_outright_leaves_no_worker(tmp_path: Path) -> None:
    with hanging_program(tmp_path) as (program, workers):
        program.kill()
    wait_for(lambda: not any(worker.is_running() for worker in workers), 5)


@pytest.mark.long
def test_interrupt_reaches_the_program_and_not_the_workers(tmp_path: Path) -> None:
    with hanging_program(tmp_path) as (program, workers):
        for worker in workers:
            worker.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert all(worker.is_running() for worker in workers)
        os.killpg(program.pid, signal.SIGINT)
        assert program.wait(10) == 0
        assert program.stdout is not None
        assert program.stdout.read() == "interrupted\n"
    wait_for(lambda: not any(worker.is_running() for worker in workers), 5)


@pytest.mark.long
def test_time_in_which_the_program_is_stopped_does_not_count(tmp_path: Path) -> None:
    body = """
    with Pool(HostileExtractor, 1, Limits(seconds=1)) as pool:
        run = pool.extract_all([Task(0, b"ok", "a"), Task(1, b"sleep 0.6", "a")])
        next(run)
        print("ready", flush=True)
        print(type(next(run)[1]).__name__)
    """
    with subprocess.Popen(script(tmp_path, body), stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        program.send_signal(signal.SIGCONT)
        assert program.stdout.readline() == "Document\n"


@pytest.mark.long
def test_native_extractor_reads_every_format_in_a_pool() -> None:
    with Pool(NativeExtractor, 2) as pool:
        results = dict(pool.extract_all(Task(name, data, name) for name, data in formats().items()))
    assert all("nothing was left out" in result.text for result in results.values())


@pytest.mark.parametrize(
    "error",
    [
        errors.ExtractionTimeout(seconds=2.5),
        errors.RecipeMismatch(stored="a", requested="b", difference=("c",)),
        errors.MissingExtra(package="p", extra="e"),
        errors.ExtractionError("plain words"),
    ],
)
def test_errors_survive_the_way_between_processes(error: NearfoldError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
