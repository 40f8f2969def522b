"""Interrupts of a long job: the first one ends it in order, the second one at once."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

import click

SECONDS = 20.0  # to finish what was begun after an interrupt
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CURSOR = "\x1b[?25h"  # a line of progress hides it


class Drain:
    """A request to end a job, made by a signal.

    `code` is the exit code, 128 and the number of the signal; 0 as long as there was none.
    """

    def __init__(self) -> None:
        self.code = 0
        self._deadline = threading.Timer(SECONDS, self._end)
        self._deadline.daemon = True

    def __call__(self) -> bool:
        """Return whether the job is to end."""
        return self.code != 0

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Begin nothing more after the first signal; end the process after the second.

        The second ends it as safely as kill -9 does.
        """
        if self.code:
            self._end()
        self.code = 128 + number
        self._deadline.start()
        click.echo(
            f"finishing what was begun, {SECONDS:g} s at most; once more to stop at once", err=True
        )

    def close(self) -> None:
        """Forget the deadline of the first signal: the job is over."""
        self._deadline.cancel()

    def _end(self) -> None:
        show = _CURSOR if sys.stderr.isatty() else ""
        os.write(2, f"{show}stopped at once; run the same command again to go on\n".encode())
        os._exit(self.code)


@contextlib.contextmanager
def drain_on_interrupt() -> Iterator[Drain]:
    """Handle interrupts and terminations while a job runs; outside the main thread do nothing."""
    drain = Drain()
    if threading.current_thread() is not threading.main_thread():
        yield drain
        return
    before = {number: signal.signal(number, drain.on_signal) for number in _SIGNALS}
    try:
        yield drain
    finally:
        drain.close()
        for number, handler in before.items():
            signal.signal(number, handler)
