"""What the jobs of a store did, kept in its journal: the last 200, one line each, in numbers
alone.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from indexer.errors import StoreError
from indexer.jobs.journal import Journal, read_journal
from indexer.system.logs import Level, event, job_context
from indexer.system.traces import span

KEPT = 200
CUT_SHORT = "cut short"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS job (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, command TEXT NOT NULL, "
    "began REAL NOT NULL, seconds REAL, outcome TEXT, counts TEXT NOT NULL)"
)
_ENDED = (
    "INSERT OR REPLACE INTO job (number, id, command, began, seconds, outcome, counts) "
    "VALUES ((SELECT number FROM job WHERE id = ?), ?, ?, ?, ?, ?, ?)"
)
_SELECT = "SELECT id, command, began, seconds, outcome, counts FROM job ORDER BY number DESC"


@dataclass(frozen=True, slots=True)
class JobSummary:
    """One job: when it began (seconds since 1970 UTC), how long it took, how it ended, and what it
    counted.

    `outcome` is `done`, `stopped` (it was asked to end), `failed: KIND` with the class of the
    error, or `cut short`, without `seconds`, for a job whose process ended in the middle.
    """

    id: str
    command: str
    began: float
    seconds: float | None
    outcome: str
    counts: dict[str, int]


@dataclass(slots=True)
class JobRecorder:
    """A job under way: whoever does it counts here, and says when it was `stopped` before its
    end.
    """

    id: str
    counts: dict[str, int] = field(default_factory=dict)
    stopped: bool = False


@contextlib.contextmanager
def record_job(journal: Journal, command: str) -> Iterator[JobRecorder]:
    """Keep a summary of what happens inside, tell of it in the log, and make it one span; errors
    pass through.

    A summary that cannot be kept stops no job.
    """
    job, started = JobRecorder(secrets.token_hex(6)), time.monotonic()
    with job_context(job.id), span(command, job=job.id):
        event("job_began", command=command)
        _change(journal, _TABLE, ())
        row = (job.id, command, began := time.time())
        _change(journal, "INSERT INTO job (id, command, began, counts) VALUES (?, ?, ?, '{}')", row)
        outcome = "done"
        try:
            yield job
            outcome = "stopped" if job.stopped else outcome
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            outcome = "stopped"
            raise
        except BaseException as error:
            outcome = f"failed: {type(error).__name__}"
            raise
        finally:
            _end(journal, job, command, began, outcome, time.monotonic() - started)


def job_history(path: Path | None) -> tuple[JobSummary, ...]:
    """The jobs in a journal, the last one first, read without holding it. Raises `StoreBusy` while
    a job holds it.
    """
    return read_journal(path, "job", _SELECT, _summary)


def _summary(
    id: str, command: str, began: float, seconds: float | None, outcome: str | None, counts: str
) -> JobSummary:
    return JobSummary(id, command, began, seconds, outcome or CUT_SHORT, json.loads(counts))


def _end(
    journal: Journal, job: JobRecorder, command: str, began: float, outcome: str, seconds: float
) -> None:
    _change(
        journal, _TABLE, ()
    )  # a restored journal may have no summaries, and has none of its own restoring
    _change(
        journal,
        _ENDED,
        (job.id, job.id, command, began, round(seconds, 3), outcome, json.dumps(job.counts)),
    )
    _change(journal, "DELETE FROM job WHERE number <= (SELECT max(number) FROM job) - ?", (KEPT,))
    level: Level = "warning" if outcome.startswith("failed") else "info"
    event(
        "job_ended",
        level,
        command=command,
        outcome=outcome,
        seconds=round(seconds, 3),
        counts=dict(job.counts),
    )


def _change(journal: Journal, statement: str, values: tuple[object, ...]) -> None:
    try:
        journal.keep(statement, values)
    except StoreError as error:
        event("summary_lost", "warning", kind=type(error).__name__)
