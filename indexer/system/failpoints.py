"""Failpoints: named places in a job where, on request, the process is killed, an error strikes or
time passes.

They serve fault-injection tests, which show on a given store and machine that an interrupted job
resumes and loses nothing. A program sets them by `arm`, the command line by the environment
variable `NEARFOLD_FAILPOINTS`. Without an armed failpoint they cost next to nothing.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from time import sleep
from typing import Literal

from indexer.errors import UsageError

VARIABLE = "NEARFOLD_FAILPOINTS"
POINTS = {
    "before_read": "a file is about to be opened",
    "after_read": "its bytes are in memory",
    "before_extract": "its text is about to be extracted",
    "in_worker": "a worker process has begun with it; there `kill` ends the worker",
    "after_extract": "its text is there",
    "before_fingerprint": "a batch of texts is about to be fingerprinted",
    "after_fingerprint": "its fingerprints are there",
    "before_repair": "groups of changed documents are about to be repaired",
    "after_repair": "they are repaired, and the changed documents not yet written",
    "before_write": "a batch of rows is about to be handed to the store",
    "before_commit": "a transaction of the embedded store is complete but not committed",
    "after_commit": "it is committed, and on the disk",
    "before_send": "a bulk request is about to be sent to a search engine",
    "after_send": "the response has arrived, and is not yet read",
    "after_write": "the store has decided on a batch",
    "before_journal": "a change of the journal is complete but not committed",
    "after_journal": "it is committed, and on the disk",
    "before_acknowledge": "the store's decision is about to be reported",
    "after_acknowledge": "the first document of a batch was reported",
    "before_checkpoint": (
        "the embedded store's log is about to be folded into its file, at the end of a job"
    ),
    "after_checkpoint": "it is folded in, and the file is closed",
}
_FAILPOINT = re.compile(
    r"(?P<name>\w+)(?::(?P<hit>[1-9]\d*))?=(?P<action>kill|error|delay:(?P<seconds>\d+(\.\d+)?))"
)


@dataclass(slots=True)
class _Trap:
    """The action at a point, and after how many more hits it happens."""

    left: int
    action: Literal["kill", "error", "delay"]
    seconds: float


_armed: dict[str, list[_Trap]] = {}


def arm(failpoints: str) -> None:
    """Replace the armed failpoints: `NAME:HIT=ACTION`, several separated by commas, none when
    empty.

    HIT counts from 1, which is the default, in each process on its own; each acts once. ACTION is
    `kill` (at once, as kill -9), `error`, or `delay:SECONDS`. Raises `UsageError` for anything
    else, since a test without its fault would prove nothing.

    >>> arm("after_extract:17=kill,before_commit=delay:0.5")
    >>> arm("")
    """
    armed: dict[str, list[_Trap]] = {}
    for part in filter(None, failpoints.split(",")):
        match = _FAILPOINT.fullmatch(part.strip())
        if match is None or match["name"] not in POINTS:
            raise UsageError(
                f"{VARIABLE}: {part!r} is not NAME:HIT=ACTION; "
                f"ACTION is kill, error or delay:SECONDS, NAME one of: {', '.join(POINTS)}"
            )
        action: Literal["kill", "error", "delay"] = "kill" if match["action"] == "kill" else "error"
        if match["seconds"]:
            action = "delay"
        trap = _Trap(int(match["hit"] or 1), action, float(match["seconds"] or 0))
        armed.setdefault(match["name"], []).append(trap)
    _armed.clear()
    _armed.update(armed)


def reached(name: str, error: Callable[[str], Exception] = OSError) -> None:
    """Act if the failpoint of this name is armed and due.

    `error` makes the exception of the action `error`, of the kind that this place would meet in
    earnest.
    """
    if not _armed:
        return
    for trap in _armed.get(name, ()):
        trap.left -= 1
        if trap.left == 0:
            _act(trap, name, error)


def _act(trap: _Trap, name: str, error: Callable[[str], Exception]) -> None:
    if trap.action == "delay":
        sleep(trap.seconds)
    elif trap.action == "kill":
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    else:
        raise error(f"disk I/O error (made by the failpoint {name})")
