"""Failpoints: named places in a job where, on request, the process is killed, an error strikes or
time passes.

They are for drills: to see on one's own store and machine that a job that was cut short goes on and
loses nothing. A program asks for them by `arm`; the command line does with what
`NEARFOLD_FAILPOINTS` says. Nothing happens, and next to nothing is spent, where none is armed.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
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
    "before_mend": "families of changed documents are about to be mended",
    "after_mend": "they are mended, and the changed documents not yet written",
    "before_write": "a batch of rows is about to be handed to the store",
    "before_commit": "a transaction of the embedded store is complete but not committed",
    "after_commit": "it is committed, and on the disk",
    "before_send": "a bulk request is about to be sent to a search engine",
    "after_send": "its answer is there, and not yet read",
    "after_write": "the store has decided on a batch",
    "before_journal": "a change of the journal is complete but not committed",
    "after_journal": "it is committed, and on the disk",
    "before_acknowledge": "what the store decided is about to be told",
    "after_acknowledge": "the first document of a batch was told",
    "before_checkpoint": "the embedded store's log is about to be folded into its file, at the end of a job",
    "after_checkpoint": "it is folded in, and the file is closed",
}
_SPELLED = re.compile(
    r"(?P<name>\w+)(?::(?P<hit>[1-9]\d*))?=(?P<action>kill|error|delay:(?P<seconds>\d+(\.\d+)?))"
)


@dataclass(slots=True)
class _Trap:
    """What happens at a point, and how many more times it has to be reached first."""

    left: int
    action: Literal["kill", "error", "delay"]
    seconds: float


_armed: dict[str, list[_Trap]] = {}


def arm(spelled: str) -> None:
    """Arm failpoints in place of those that were: `NAME:HIT=ACTION`, several with commas between
    them, none when empty.

    HIT counts from 1, which is the default, in each process on its own; each strikes once. ACTION
    is `kill` (at once, as kill -9), `error`, or `delay:SECONDS`. Raises `UsageError`, for a drill
    that drills nothing is worse than none.

    >>> arm("after_extract:17=kill,before_commit=delay:0.5")
    >>> arm("")
    """
    armed: dict[str, list[_Trap]] = {}
    for part in filter(None, spelled.split(",")):
        found = _SPELLED.fullmatch(part.strip())
        if found is None or found["name"] not in POINTS:
            raise UsageError(
                f"{VARIABLE}: {part!r} is not NAME:HIT=ACTION; ACTION is kill, error or delay:SECONDS, "
                f"NAME one of: {', '.join(POINTS)}"
            )
        action: Literal["kill", "error", "delay"] = "kill" if found["action"] == "kill" else "error"
        if found["seconds"]:
            action = "delay"
        armed.setdefault(found["name"], []).append(
            _Trap(int(found["hit"] or 1), action, float(found["seconds"] or 0))
        )
    _armed.clear()
    _armed.update(armed)


def reached(name: str, error: Callable[[str], Exception] = OSError) -> None:
    """A job has come to this point. `error` makes what an `error` raises: what this place would
    meet in earnest.
    """
    if not _armed:
        return
    for trap in _armed.get(name, ()):
        trap.left -= 1
        if trap.left == 0:
            _strike(trap, name, error)


def _strike(trap: _Trap, name: str, error: Callable[[str], Exception]) -> None:
    if trap.action == "delay":
        time.sleep(trap.seconds)
    elif trap.action == "kill":
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    else:
        raise error(f"disk I/O error (made by the failpoint {name})")
