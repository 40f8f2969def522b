"""Progress of a command: one line on stderr, nothing where stderr is not a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from indexer.cli.output import json_line
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.model import Outcome, Progress


HEARTBEAT = 10.0  # seconds between two lines where there is no terminal
_MIN_SECONDS = 0.1  # before it a speed is too uncertain to print


@contextlib.contextmanager
def show_documents(quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """Show the number of documents done on stderr; nothing if `quiet` or without a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,} documents"),
        TextColumn("{task.fields[last]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, last="")
        yield lambda outcome: bar.update(task, advance=1, last=visible(outcome.path[-60:]))


@contextlib.contextmanager
def show_stages(as_json: bool = False, result: Callable[[], str] = str) -> Iterator[Progress]:
    """Show the stage, how much of it is done and how long it will take, on stderr.

    Without a terminal that is a line every `HEARTBEAT` seconds, with `as_json` a JSON document.
    `result` describes what there is so far.
    """
    if not sys.stderr.isatty():
        yield _heartbeat(as_json, result)
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description} {task.fields[amount]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, amount="")
        starts: dict[str, float] = {}

        def advance(stage: str, done: int, total: int) -> None:
            now = time.monotonic()
            seconds = now - starts.setdefault(stage, now)
            bar.update(task, description=stage, amount=describe_progress(done, total, seconds))

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
