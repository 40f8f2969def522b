"""Events for operators: a name, numbers and names of nearfold's own, on stderr, as text or as JSON
Lines.

An event carries only the fields named here, and none of them holds a document's text or title, a
path, a query, an address or a credential. `job_context` adds the id of the job to its events, in
every thread that the job starts.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone
from functools import cache
from typing import IO, Any, Literal, TypeAlias

from indexer.errors import UsageError

# Reports of internal errors: the calls and the kinds of exceptions, without their messages.


def crash_report(error: BaseException) -> str:
    """Return the calls that led to an error and to its causes, the error last, with their kinds and
    without their messages.

    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     report = crash_report(error)
    >>> report.splitlines()[-1], "a secret" in report.splitlines()[-1]
    ('ValueError (what it says is left out: it may quote a document)', False)
    """
    calls = [_calls(link) for link in reversed(_chain(error))]
    report = "\n\nwhich led to:\n\n".join(calls)
    return f"{report} (what it says is left out: it may quote a document)"


def _calls(error: BaseException) -> str:
    """Return the calls of one error, and its kind."""
    return "".join(traceback.format_tb(error.__traceback__)) + _kind(error)


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and its causes, the error first."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        context = None if link.__suppress_context__ else link.__context__
        link = link.__cause__ or context
    return chain


def _kind(error: BaseException) -> str:
    """Return the class, with the error number of the operating system."""
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"{name} [errno {error.errno}]" if isinstance(error, OSError) and error.errno else name


# Spans of OpenTelemetry where its API is installed (extra `otel`), none elsewhere.


@contextmanager
def span(name: str, **numbers: int | str) -> Iterator[None]:
    """Make the body a span of the trace, a child of the span around it."""
    tracing = _tracing()
    if tracing is None:
        yield
        return
    attributes = {f"nearfold.{field}": value for field, value in numbers.items()}
    tracer = tracing.get_tracer("nearfold")
    with tracer.start_as_current_span(
        f"nearfold.{name}",
        attributes=attributes,
        record_exception=False,  # its message may quote a document
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_status(tracing.StatusCode.ERROR, type(error).__name__)
            raise


@cache
def _tracing() -> Any:
    """Return the API, None where it is not installed."""
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    return trace


LOG_VARIABLE = "NEARFOLD_LOG"
FIELDS = {
    "command": "what the job does",
    "outcome": "how it ended: done, stopped, or failed with the kind of error",
    "kind": "the class of an error",
    "id": "of a document, in the store",
    "route": "of the review pages and their API, without what was asked",
    "method": "of a request",
    "status": "of a response, by number",
    "attempt": "how many times a request was sent",
    "operations": "writes in a request that the store did not acknowledge",
    "seconds": "wall-clock time",
    "counts": "numbers by name, such as documents by what became of them",
}
Value: TypeAlias = str | int | float | Mapping[str, int]
Level: TypeAlias = Literal["debug", "info", "warning", "error"]
_LEVELS: dict[str, int] = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_LOG = logging.getLogger("nearfold")
_LOG.addHandler(logging.NullHandler())
_job: ContextVar[str] = ContextVar("job", default="")


def event(
    name: str, level: Level = "info", fault: BaseException | None = None, **fields: Value
) -> None:
    """Log an event; of a `fault` only the crash report, without its message.

    Raises `KeyError` for a field that is not in `FIELDS`.
    """
    if not _LOG.isEnabledFor(_LEVELS[level]):
        return
    set_fields = {field: value for field, value in fields.items() if FIELDS[field]}
    job = {"job": _job.get()} if _job.get() else {}
    record = _LOG.makeRecord(_LOG.name, _LEVELS[level], "", 0, name, (), None)
    record.nearfold = {**job, **set_fields, **_fault_field(fault)}
    _LOG.handle(record)


@contextmanager
def job_context(job: str) -> Iterator[None]:
    """Add this id of a job to every event inside."""
    before = _job.set(job)
    try:
        yield
    finally:
        _job.reset(before)


def configure(setting: str, stream: IO[str] | None = None) -> None:
    """Write events to a stream (stderr) as `text` or `json`, from the level `:debug`, `:info`
    (default), `:warning` or `:error` on.

    Empty: warnings alone, as text. Raises `UsageError` for anything else. Events of uvicorn and
    asyncio are written to the same stream.
    """
    form, _, level = setting.partition(":")
    if form not in ("", "text", "json") or (level or "info") not in _LEVELS:
        raise UsageError(
            f"{setting!r} is not a log format; use text or json, optionally with one of "
            f":{', :'.join(_LEVELS)}"
        )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_LineFormatter(as_json=form == "json"))
    handler.addFilter(_RateLimit())
    for name in ("nearfold", "uvicorn", "asyncio"):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.propagate = False
        log.setLevel(_LEVELS[level or "info"] if form and name == "nearfold" else logging.WARNING)


class _RateLimit(logging.Filter):
    """A limit of one event a second of each logger and level of other programs: a flood of them
    could fill a disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record."""
        kind = (record.name, record.levelno)
        if record.name == _LOG.name or record.created - self._last.get(kind, -1.0) >= 1:
            self._last[kind] = record.created
            return True
        return False


class _LineFormatter(logging.Formatter):
    """Formats an event as one line."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line.

        An event of another program has only its name, level and crash report, for its message may
        hold anything.
        """
        at = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        level = record.levelname.lower()
        name = record.getMessage() if record.name == _LOG.name else record.name
        error = record.exc_info[1] if record.exc_info else None
        fields = getattr(record, "nearfold", None) or _fault_field(error)
        if self._json:
            return json.dumps({"at": at, "level": level, "event": name, **fields})
        texts = [f"{key}={_plain(value)}" for key, value in fields.items()]
        return " ".join([at, level, name, *texts])


def _fault_field(error: BaseException | None) -> dict[str, Value]:
    return {} if error is None else {"fault": crash_report(error)}


def _plain(value: Value) -> str:
    """Return a value as one word, or in quotes: the id of a record may hold spaces and newlines."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{number}" for name, number in value.items())
    text = str(value)
    is_word = text.isascii() and text.isprintable() and not set(text) & set(' "=\\')
    return text if is_word else json.dumps(text)
