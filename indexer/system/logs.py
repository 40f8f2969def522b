"""Events for whoever operates nearfold: a name and a few numbers and names of ours, on stderr, as
text or as JSON Lines.

An event carries only the fields named here, and none has room for a document's text or title, a
path, a query, an address or a credential. `job_context` says which job an event belongs to, in every
thread that the job starts.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone
from typing import IO, Literal, TypeAlias

from indexer.errors import UsageError
from indexer.system.crash_report import crash_report

VARIABLE = "NEARFOLD_LOG"
FIELDS = {
    "command": "what the job does",
    "outcome": "how it ended: done, stopped, or failed with the kind of error",
    "kind": "the class of an error",
    "id": "of a document, in the store",
    "route": "of the review pages and their API, without what was asked",
    "method": "of a request",
    "status": "of an answer, by number",
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
    """Tell that something happened; of a `fault` where it struck, without its message. Raises
    `KeyError` for other fields.
    """
    if not _LOG.isEnabledFor(_LEVELS[level]):
        return
    told = {field: value for field, value in fields.items() if FIELDS[field]}
    record = _LOG.makeRecord(_LOG.name, _LEVELS[level], "", 0, name, (), None)
    record.nearfold = {**({"job": _job.get()} if _job.get() else {}), **told, **_fault(fault)}
    _LOG.handle(record)


@contextmanager
def job_context(job: str) -> Iterator[None]:
    """Every event inside carries this id of a job."""
    before = _job.set(job)
    try:
        yield
    finally:
        _job.reset(before)


def configure(spelled: str, stream: IO[str] | None = None) -> None:
    """Write events to a stream (stderr): `text` or `json`, and from which level with `:debug`,
    `:info` (default) or `:warning`.

    Empty: warnings alone, as text. Raises `UsageError` for anything else. Events of uvicorn and
    asyncio go the same way.
    """
    form, _, level = spelled.partition(":")
    if form not in ("", "text", "json") or (level or "info") not in _LEVELS:
        raise UsageError(
            f"{spelled!r} is no way to log; use text or json, with :{', :'.join(_LEVELS)} where you like"
        )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Lines(as_json=form == "json"))
    handler.addFilter(_Seldom())
    for name in ("nearfold", "uvicorn", "asyncio"):
        log = logging.getLogger(name)
        log.handlers[:], log.propagate = [handler], False
        log.setLevel(_LEVELS[level or "info"] if form and name == "nearfold" else logging.WARNING)


class _Seldom(logging.Filter):
    """What other programs tell of one kind and level, once a second at most: a flood of it could
    fill a disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to tell it."""
        kind = (record.name, record.levelno)
        if record.name == _LOG.name or record.created - self._last.get(kind, -1.0) >= 1:
            self._last[kind] = record.created
            return True
        return False


class _Lines(logging.Formatter):
    """One event a line."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line. Of other programs' events it tells name, level and where a fault struck, for
        their words are not ours.
        """
        at = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        ours = record.name == _LOG.name
        told = getattr(record, "nearfold", None) or _fault(
            record.exc_info[1] if record.exc_info else None
        )
        name = record.getMessage() if ours else record.name
        if self._json:
            return json.dumps({"at": at, "level": record.levelname.lower(), "event": name, **told})
        return " ".join(
            [
                at,
                record.levelname.lower(),
                name,
                *(f"{key}={_plain(value)}" for key, value in told.items()),
            ]
        )


def _fault(error: BaseException | None) -> dict[str, Value]:
    return {} if error is None else {"fault": crash_report(error)}


def _plain(value: Value) -> str:
    """One word, or in quotes what is none: an id that a record brought with it may hold a line of
    its own.
    """
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{number}" for name, number in value.items())
    told = str(value)
    return (
        told
        if told.isascii() and told.isprintable() and not set(told) & set(' "=\\')
        else json.dumps(told)
    )
