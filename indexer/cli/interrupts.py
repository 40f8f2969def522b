"""How a long job ends when it is asked to: in order at the first interrupt or termination, at once
at the second.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

import click

SECONDS = 20.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CURSOR = "\x1b[?25h"  # a line of progress hides it


class Drain:
    """Whether a job was asked to end. `code` is the exit code for it, 128 and the number of the
    signal; 0 while it was not.
    """

    def __init__(self) -> None:
        self.code = 0
        self._latest = threading.Timer(SECONDS, self._end)
        self._latest.daemon = True

    def __call__(self) -> bool:
        """Whether it was."""
        return self.code != 0

    def heard(self, number: int, _frame: FrameType | None) -> None:
        """The first signal: nothing more is begun. The second: the process ends, as safely as by
        kill -9.
        """
        if self.code:
            self._end()
        self.code = 128 + number
        self._latest.start()
        click.echo(
            f"finishing what was begun, {SECONDS:g} s at most; once more to stop at once", err=True
        )

    def close(self) -> None:
        """The job is over."""
        self._latest.cancel()

    def _end(self) -> None:
        show = _CURSOR if sys.stderr.isatty() else ""
        os.write(2, f"{show}stopped at once; run the same command again to go on\n".encode())
        os._exit(self.code)


@contextlib.contextmanager
def drain_on_interrupt() -> Iterator[Drain]:
    """Hear interrupts and terminations while a job runs; nothing is heard outside the main
    thread.
    """
    drain = Drain()
    if threading.current_thread() is not threading.main_thread():
        yield drain
        return
    before = {number: signal.signal(number, drain.heard) for number in _SIGNALS}
    try:
        yield drain
    finally:
        drain.close()
        for number, handler in before.items():
            signal.signal(number, handler)
