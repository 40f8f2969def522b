"""How far a command is: one line on stderr, and none where that is no terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from indexer.model import Outcome
from indexer.system.progress_callback import Progress
from indexer.text.visible import visible

_OFTEN = 0.1


@contextlib.contextmanager
def of_documents(quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """A line on stderr with the documents done; nothing when stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
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
def of_stages() -> Iterator[Progress]:
    """A line on stderr with the stage, how much of it is done and how long it will take; nothing
    without a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda _stage, _done, _total: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description} {task.fields[told]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, told="")
        began: dict[str, float] = {}

        def advance(stage: str, done: int, total: int) -> None:
            seconds = time.monotonic() - began.setdefault(stage, time.monotonic())
            bar.update(task, description=stage, told=told(done, total, seconds))

        yield advance


def told(done: int, total: int, seconds: float) -> str:
    """How far a stage is; the time it will take from the speed so far, once there is one. A total
    of 0 is not known.

    >>> told(250, 1000, 3.0), told(7, 0, 3.0)
    ('250 of 1,000, about 9 s left', '7')
    """
    if not total:
        return f"{done:,}"
    left = (
        f", about {seconds * (total - done) / done:.0f} s left" if done and seconds > _OFTEN else ""
    )
    return f"{done:,} of {total:,}{left}"
