"""The history of a store's jobs, kept in its journal, one row each: the last 200, and the last
`group`.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.errors import StoreBusy, StoreError
from indexer.jobs.journal import Journal, journal_path, read_journal
from indexer.model import Scope
from indexer.stores.address import StoreAddress
from indexer.system.logs import event, job_context
from indexer.system.traces import span

KEPT = 200  # jobs
_SETTINGS = "settings"  # their key beside the counts
INTERRUPTED = "cut short"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS job (number INTEGER PRIMARY KEY AUTOINCREMENT, "
    "id TEXT NOT NULL, command TEXT NOT NULL, "
    "began REAL NOT NULL, seconds REAL, outcome TEXT, counts TEXT NOT NULL)"
)
_BEGUN = "INSERT INTO job (id, command, began, counts) VALUES (?, ?, ?, '{}')"
_FINISHED = (
    "INSERT OR REPLACE INTO job (number, id, command, began, seconds, outcome, counts) "
    "VALUES ((SELECT number FROM job WHERE id = ?), ?, ?, ?, ?, ?, ?)"
)
_GROUPED = "command = 'group' AND outcome = 'done'"
# The last `group` of documents and of parts stay: families are kept to their options.
_FORGET = (
    "DELETE FROM job WHERE number <= (SELECT max(number) FROM job) - ? AND number NOT IN "
    f"(SELECT max(number) FROM job WHERE {_GROUPED} "
    f"GROUP BY json_extract(counts, '$.{_SETTINGS}.of'))"
)
_COLUMNS = "SELECT id, command, began, seconds, outcome, counts FROM job"
_SELECT = f"{_COLUMNS} ORDER BY number DESC"
_SELECT_GROUPED = f"{_COLUMNS} WHERE {_GROUPED} ORDER BY number DESC"


@dataclass(frozen=True, slots=True)
class JobSummary:
    """One job: its command, when it ran, how it ended, and what it counted.

    `began`: in seconds since 1970 UTC. `seconds`: how long it took. `outcome` is `done`, `stopped`
    (it was interrupted), `failed: KIND` with the class of the error, or `cut short`, without
    `seconds`, for a job whose process ended in the middle. `settings`: the options that decided its
    result, by their names on the command line, where the command records them.
    """

    id: str
    command: str
    began: float
    seconds: float | None
    outcome: str
    counts: dict[str, int]
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class JobRecorder:
    """The record of a running job, which adds to `counts` and may set `settings`.

    It sets `stopped` when it ends before its work is done.
    """

    id: str
    counts: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    stopped: bool = False


@contextlib.contextmanager
def record_job(journal: Journal, command: str) -> Iterator[JobRecorder]:
    """Record the job that runs inside: a row of the history, two events of the log, one span.

    Errors pass through. A row that cannot be written stops no job.
    """
    job = JobRecorder(secrets.token_hex(6))
    started = time.monotonic()
    with job_context(job.id), span(command, job=job.id):
        event("job_began", command=command)
        _change(journal, _TABLE, ())
        start_time = time.time()
        _change(journal, _BEGUN, (job.id, command, start_time))
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
            seconds = round(time.monotonic() - started, 3)
            summary = JobSummary(
                job.id, command, start_time, seconds, outcome, job.counts, job.settings
            )
            _finish(journal, summary)


def job_history(path: Path | None) -> tuple[JobSummary, ...]:
    """Return the jobs in a journal, the last one first, without holding it.

    Raises `StoreBusy` while a job holds it.
    """
    return read_journal(path, "job", _SELECT, _summary)


def group_settings(address: StoreAddress, of: Scope = "documents") -> dict[str, Any]:
    """Return the settings of the last complete `group` of documents, or of parts, of a store.

    Empty when none is known here. Raises `StoreBusy` while a job holds the journal.
    """
    for job in read_journal(journal_path(address), "job", _SELECT_GROUPED, _summary):
        if job.settings.get("of") == of:
            return job.settings
    return {}


def known_group_settings(address: StoreAddress, of: Scope = "documents") -> dict[str, Any]:
    """Return the settings as `group_settings` does; empty while a job holds the journal."""
    try:
        return group_settings(address, of)
    except StoreBusy:
        return {}


def last_job(path: Path | None) -> str | None:
    """Return the id of the last job in a journal, empty if there is none; None while one runs."""
    jobs = last_jobs(path, 1)
    return jobs if jobs is None else "".join(jobs)


def last_jobs(path: Path | None, most: int) -> tuple[str, ...] | None:
    """Return the ids of the last jobs in a journal, the last one first; None while one runs."""
    try:
        return tuple(job.id for job in job_history(path)[:most])
    except StoreBusy:
        return None


def spell_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as options of a command.

    >>> spell_settings({"threshold": 0.8, "require": ["lcs=0.9", "overlap=0.9"]})
    '--threshold 0.8 --require lcs=0.9 --require overlap=0.9'
    """
    options = []
    for name, value in settings.items():
        values = value if isinstance(value, list) else [value]
        options += [f"--{name.replace('_', '-')} {item}" for item in values]
    return " ".join(options)


def _summary(
    id: str,
    command: str,
    start_time: float,
    seconds: float | None,
    outcome: str | None,
    counts: str,
) -> JobSummary:
    numbers = json.loads(counts)
    settings = numbers.pop(_SETTINGS, {})
    return JobSummary(id, command, start_time, seconds, outcome or INTERRUPTED, numbers, settings)


def _finish(journal: Journal, summary: JobSummary) -> None:
    # A restored journal may have no table of jobs, and has no row of its own restoring.
    _change(journal, _TABLE, ())
    settings = {_SETTINGS: summary.settings} if summary.settings else {}
    counts = json.dumps({**summary.counts, **settings})
    row = (summary.id, summary.command, summary.began, summary.seconds, summary.outcome, counts)
    _change(journal, _FINISHED, (summary.id, *row))
    _change(journal, _FORGET, (KEPT,))
    event(
        "job_ended",
        command=summary.command,
        outcome=summary.outcome,
        seconds=summary.seconds or 0.0,
        counts=dict(summary.counts),
    )


def _change(journal: Journal, statement: str, values: tuple[object, ...]) -> None:
    try:
        journal.execute(statement, values)
    except StoreError as error:
        event("summary_lost", "warning", kind=type(error).__name__)
