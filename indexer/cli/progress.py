"""Progress of a command: one line on stderr, nothing where stderr is not a terminal; and its end
by a signal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING

from indexer.cli.output import json_line, note, short_path
from indexer.errors import NearfoldError

if TYPE_CHECKING:
    from rich.progress import Task

    from indexer.model import Outcome, Progress


HEARTBEAT = 10.0  # seconds between two lines where there is no terminal
_MIN_SECONDS = 0.1  # before it a speed is too uncertain to print


@contextlib.contextmanager
def show_documents(quiet: bool, count: Callable[[], int]) -> Iterator[Callable[[Outcome], None]]:
    """Show on stderr how many documents are done, how long the others will take, and the last one.

    `count` counts the documents while the job runs. Nothing is shown if `quiet` or without a
    terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    total = 0

    def count_all() -> None:
        nonlocal total
        with contextlib.suppress(NearfoldError, OSError):  # the job itself reports it
            total = count()

    threading.Thread(target=count_all, daemon=True).start()
    start = time.monotonic()
    done = 0
    with _open_line() as show:

        def advance(outcome: Outcome) -> None:
            nonlocal done
            done += 1
            known = total if total >= done else 0  # archives hold more documents than were counted
            amount = describe_progress(done, known, time.monotonic() - start)
            show(f"{amount}  {short_path(outcome.path)}")

        yield advance


@contextlib.contextmanager
def _open_line() -> Iterator[Callable[[str], None]]:
    """Show a line that begins with a spinner and fits the terminal; it is cleared at the end."""
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn
    from rich.table import Column
    from rich.text import Text

    class Line(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(task.description, no_wrap=True, overflow="ellipsis")

    line = Line("", table_column=Column(no_wrap=True, overflow="ellipsis"))
    with Bar(SpinnerColumn(), line, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda text: bar.update(task, description=text)


@contextlib.contextmanager
def show_stages(as_json: bool = False, result: Callable[[], str] = str) -> Iterator[Progress]:
    """Show the stage, how much of it is done and how long it will take, on stderr.

    Without a terminal that is a line every `HEARTBEAT` seconds, with `as_json` a JSON document.
    `result` describes what there is so far.
    """
    if not sys.stderr.isatty():
        yield _heartbeat(as_json, result)
        return
    with _open_line() as show:
        starts: dict[str, float] = {}

        def advance(stage: str, done: int, total: int) -> None:
            now = time.monotonic()
            seconds = now - starts.setdefault(stage, now)
            amount = describe_progress(done, total, seconds)
            show("; ".join(filter(None, [f"{stage}: {amount}", result()])))

        yield advance


def _heartbeat(as_json: bool, result: Callable[[], str]) -> Progress:
    """Return a callback that writes a line on stderr from time to time."""
    starts: dict[str, float] = {}
    last = time.monotonic()

    def advance(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        seconds = now - starts.setdefault(stage, now)
        if now - last < HEARTBEAT:
            return
        last = now
        if as_json:
            fields = {"stage": stage, "done": done, "total": total, "result": result()}
            sys.stderr.write(json_line(fields))
        else:
            amount = "; ".join(filter(None, [describe_progress(done, total, seconds), result()]))
            sys.stderr.write(f"{stage}: {amount}\n")
        sys.stderr.flush()

    return advance


def describe_progress(done: int, total: int, seconds: float) -> str:
    """Return how far a stage is, and the time it will take by its speed so far.

    A total of 0 is unknown.

    >>> describe_progress(250, 1000, 3.0), describe_progress(7, 0, 3.0)
    ('250 of 1,000, about 9 s left', '7')
    """
    if not total:
        return f"{done:,}"
    if not done or seconds <= _MIN_SECONDS:
        return f"{done:,} of {total:,}"
    left = seconds * (total - done) / done
    return f"{done:,} of {total:,}, about {left:.0f} s left"


# The end of a long job by a signal: what was begun is finished first.

SECONDS = 20.0  # to finish what was begun after an interrupt
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CURSOR = "\x1b[?25h"  # a line of progress hides it


class Drain:
    """A request to end a job, made by a signal.

    `code` is the exit code, 128 and the number of the signal; 0 as long as there was none.
    """

    def __init__(self, as_json: bool) -> None:
        self.code = 0
        self._as_json = as_json
        self._signalled = threading.Event()
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
        self._signalled.set()
        self._deadline.start()
        note(
            f"finishing current work, {SECONDS:g} s at most; press again to stop at once",
            self._as_json,
        )

    def wait(self, seconds: float) -> None:
        """Wait so long, or until a signal comes."""
        self._signalled.wait(seconds)

    def close(self) -> None:
        """Forget the deadline of the first signal: the job is over."""
        self._deadline.cancel()

    def _end(self) -> None:
        show = _CURSOR if sys.stderr.isatty() else ""
        os.write(2, f"{show}stopped at once; run the same command again to go on\n".encode())
        os._exit(self.code)


@contextlib.contextmanager
def drain_on_interrupt(as_json: bool) -> Iterator[Drain]:
    """Handle interrupts and terminations while a job runs; outside the main thread do nothing."""
    drain = Drain(as_json)
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
