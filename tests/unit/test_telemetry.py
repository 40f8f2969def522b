"""Records of a job: events in the log, a summary in the journal, spans where OpenTelemetry
is.
"""

import ast
import io
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sample_rows import row

from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.jobs.index import index
from indexer.jobs.stages import Writer
from indexer.stores import open_store
from indexer.stores.address import parse_address
from indexer.stores.journal import KEPT, Journal, job_history, journal_path, record_job
from indexer.system import logs
from indexer.system.logs import crash_report

QUOTED = "quoted" + " text"
PACKAGE = Path(logs.__file__).parent


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Capture the log, written as JSON Lines."""
    stream = io.StringIO()
    logs.configure("json:debug", stream)
    yield stream
    logs.configure("", io.StringIO())


def events(log: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def indexed(tmp_path: Path) -> str:
    """Index two documents and a file that cannot be read."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(
            f"The {name} harbour office closes the gates at eight, and opens them at six."
        )
    (folder / "broken.docx").write_bytes(b"PK\3\4 this is no document")
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    index([str(folder)], store, workers=1)
    group(store)
    store.close()
    return url


def test_a_job_logs_its_start_its_failures_and_its_end(tmp_path: Path, log: io.StringIO) -> None:
    url = indexed(tmp_path)
    of_index = [event for event in events(log) if event.get("command", "index") == "index"]
    assert [event["event"] for event in of_index] == ["job_began", "document_failed", "job_ended"]
    assert len({event["job"] for event in of_index}) == 1
    assert of_index[1]["kind"] == "Unreadable" or str(of_index[1]["kind"]).startswith("Extraction")
    assert of_index[2]["counts"] == {"indexed": 2, "failed": 1}
    assert [
        (event.command, event.outcome) for event in job_history(journal_path(parse_address(url)))
    ] == [
        ("group", "done"),
        ("index", "done"),
    ]
    assert job_history(journal_path(parse_address(url)))[1].id == of_index[0]["job"]


def test_a_killed_job_is_recorded_as_cut_short_and_a_failed_one_with_its_error(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db.jobs"
    with Journal(path) as journal:
        killed_job = record_job(journal, "index")
        killed_job.__enter__()
        with pytest.raises(ZeroDivisionError), record_job(journal, "group"):
            print(1 // 0)
        with pytest.raises(KeyboardInterrupt), record_job(journal, "match"):
            raise KeyboardInterrupt
    outcomes = [(job.command, job.outcome, job.seconds is None) for job in job_history(path)]
    assert outcomes == [
        ("match", "stopped", False),
        ("group", "failed: ZeroDivisionError", False),
        ("index", "cut short", True),
    ]
    killed_job.gen.close()  # type: ignore[attr-defined]


def test_only_the_last_summaries_are_kept(tmp_path: Path) -> None:
    with Journal(None) as journal:
        for _ in range(KEPT + 3):
            with record_job(journal, "group"):
                pass
        with journal._query() as db:
            assert db.execute("SELECT count(*), min(number) FROM job").fetchone() == (KEPT, 4)


def test_a_summary_that_cannot_be_kept_stops_no_job(log: io.StringIO) -> None:
    journal = Journal(None)
    with journal._query() as db:
        db.execute("PRAGMA query_only = ON")
    with record_job(journal, "group") as job:
        job.counts["documents"] = 1
    assert {event["event"] for event in events(log)} == {"job_began", "summary_lost", "job_ended"}
    journal.close()


def test_threads_that_write_know_their_job(log: io.StringIO) -> None:
    class Telling:
        writers = 2

        def write(self, rows: object) -> list[str | None]:
            logs.event("document_refused", id=threading.current_thread().name)
            return [None]

    with logs.job_context("a job"), Writer(Telling()) as writer:
        list(writer.write([row("1")]))
        list(writer.finish())
    assert [event["job"] for event in events(log)] == ["a job"]


def test_every_event_in_the_program_has_known_fields() -> None:
    used = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "event":
                used |= {word.arg for word in node.keywords}
                assert isinstance(node.args[0], ast.Constant), path
    assert used - {"level", "fault"} <= set(logs.FIELDS)


def test_text_logs_nothing_by_default(log: io.StringIO) -> None:
    stream = io.StringIO()
    logs.configure("", stream)
    logs.event("job_began", command="index")
    assert stream.getvalue() == ""
    logs.configure("text", stream)
    logs.event("job_ended", seconds=0.5, counts={"indexed": 2, "failed": 1})
    assert stream.getvalue().endswith(" info job_ended seconds=0.5 counts=indexed:2,failed:1\n")
    with pytest.raises(UsageError, match="text or json"):
        logs.configure("xml")
    with pytest.raises(KeyError):
        logs.event("job_began", "warning", path="/secret")


def test_an_event_is_one_line_whatever_it_contains() -> None:
    stream = io.StringIO()
    logs.configure("text", stream)
    forged = "7\n2026-11-21T10:00:00.000+00:00 info job_ended outcome=done\x1b[2K\u202e"
    logs.event("document_failed", "warning", id=forged, kind="Unreadable", fault=ValueError(QUOTED))
    [line] = stream.getvalue().splitlines()
    assert line.isascii() and line.isprintable()
    assert "kind=Unreadable" in line and "outcome=done" not in line.partition('"')[0]
    logs.configure("", io.StringIO())


def test_words_of_other_programs_are_left_out(log: io.StringIO) -> None:
    try:
        raise ValueError(QUOTED)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("quoted %s", QUOTED)
    assert QUOTED not in log.getvalue()
    assert events(log)[0]["event"] == "uvicorn.error"
    assert "ValueError" in str(events(log)[0]["fault"])


def test_a_flood_of_foreign_log_records_is_limited(log: io.StringIO) -> None:
    for _ in range(1000):
        logging.getLogger("asyncio").error("socket.accept() out of system resource")
    logs.event("job_began", command="index")
    logs.event("job_began", command="group")
    assert [event["event"] for event in events(log)].count("asyncio") <= 2
    assert [event["command"] for event in events(log) if event["event"] == "job_began"] == [
        "index",
        "group",
    ]


def test_a_crash_report_has_places_and_kinds_and_no_message() -> None:
    try:
        try:
            {}[QUOTED]
        except KeyError as error:
            raise OSError(28, QUOTED) from error
    except OSError as error:
        report = crash_report(error)
    assert "KeyError" in report
    assert "OSError [errno 28]" in report
    assert "test_telemetry.py" in report
    assert QUOTED not in report


def test_a_job_is_a_span_without_messages(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    with Journal(None) as journal:
        with record_job(journal, "group") as job:
            pass
        with pytest.raises(ValueError, match="quoted"), record_job(journal, "index"):
            raise ValueError("quoted text")
    succeeded, failed = exporter.get_finished_spans()
    assert (succeeded.name, dict(succeeded.attributes or {})) == (
        "nearfold.group",
        {"nearfold.job": job.id},
    )
    assert (failed.status.description, failed.events) == ("ValueError", ())
