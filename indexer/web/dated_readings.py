"""Readings of a whole store by its pages, each with the job of the store that it is of."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from indexer.web.survey_cache import SurveyReader

if TYPE_CHECKING:
    from indexer.grouping.store_figures import StoreFigures
    from indexer.grouping.survey import Survey
    from indexer.grouping.work_list import WorkList


class DatedReading(Protocol):
    """A reading of a store.

    `job`: the last job on the store before it was read, or whose labels it followed since; None if
    one was running.
    """

    job: str | None


D = TypeVar("D", bound=DatedReading)


@dataclass(eq=False, slots=True)
class DatedFigures:
    """Figures of a store, with the counts of documents and families before they were read."""

    figures: StoreFigures
    job: str | None
    counts: tuple[int, int]


@dataclass(eq=False, slots=True)
class DatedSurvey:
    """A survey, with the same counts. `state`: the store that was read, as a text."""

    survey: Survey
    job: str | None
    counts: tuple[int, int]
    state: str


@dataclass(eq=False, slots=True)
class DatedWorkList:
    """The work list."""

    work: WorkList
    job: str | None


def latest(reader: SurveyReader[D], last_job: Callable[[], str | None], timeout: float) -> D | None:
    """Return what was read of a store, and read it once more if a job has ended on it since.

    None if it is not ready within `timeout` seconds. `last_job` returns that of the store, None
    while one runs.
    """
    deadline = time.monotonic() + timeout
    dated = reader.get(timeout)
    job = last_job()
    if dated is None or job in (None, dated.job):
        return dated
    reader.discard()
    return reader.get(max(0.0, deadline - time.monotonic()))


def read_before(reader: SurveyReader[D], jobs: tuple[str, ...]) -> D | None:
    """Return what was read of a store just before its last job; None if there is no such thing.

    `jobs`: the last two of the store, the last one first.
    """
    dated = reader.result
    return dated if dated is not None and jobs[1:] == (dated.job,) else None
