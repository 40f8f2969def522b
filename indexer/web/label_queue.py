"""Labellings of pages and the API, one after the other.

Reviewers label at the same time, and while a job such as `group` holds the store. So each request
is kept durably, and written as soon as the store is free: none is refused, and none is lost when
the server ends.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, TypeAlias

from indexer.errors import (
    NearfoldError,
    StoreBusy,
    StoreStopped,
    StoreUnreachable,
    UnknownNumber,
)
from indexer.grouping.label import LabelOptions, LabelResult, label
from indexer.grouping.undo_labels import UndoResult, undo_labels
from indexer.jobs.journal import journal_path
from indexer.jobs.waiting import WaitingRequests, waiting_path
from indexer.stores.abilities import FullStore
from indexer.system.logs import event

PATIENCE_SECONDS = 2.0  # for which a request waits until it is written
_RETRY_SECONDS = 0.1  # while a job holds the store, or it does not answer
_REMEMBERED = 5000  # outcomes
Outcome: TypeAlias = "LabelResult | UndoResult | NearfoldError"


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A request of a reviewer to change labels, or to undo a labelling.

    `seen`: as for `label`. `undo`: the number of the labelling to undo; None to label.
    """

    reviewer: str
    ids: tuple[str, ...] = ()
    options: LabelOptions | None = None
    seen: str = ""
    undo: int | None = None


class LabelQueue:
    """Writes requests in their order, in one thread, and remembers what became of the last
    5,000.

    `on_change` is called after each write.
    """

    def __init__(self, store: FullStore, on_change: Any) -> None:
        self._store = store
        self._on_change = on_change
        self._waiting = WaitingRequests(waiting_path(journal_path(store.address)))
        self._changed = threading.Condition()
        self._outcomes: OrderedDict[int, Outcome] = OrderedDict()
        self._requests: OrderedDict[int, LabelRequest] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._resume()

    def put(self, request: LabelRequest) -> int:
        """Keep a request, and return its number."""
        number = self._waiting.put(_packed(request))
        with self._changed:
            self._requests[number] = request
            _trim(self._requests)
        self._resume()
        return number

    def outcome(self, number: int, patience: float = PATIENCE_SECONDS) -> Outcome | None:
        """Return the result or error of a request, None if it waits after `patience` seconds.

        Raises `UnknownNumber` for one that is not remembered.
        """
        with self._changed:
            if number not in self._requests:
                raise UnknownNumber(
                    what="labelling here",
                    number=number,
                    remedy="the page Jobs lists the last labellings",
                )
            self._changed.wait_for(lambda: number in self._outcomes, patience)
            return self._outcomes.get(number)

    def request(self, number: int) -> LabelRequest:
        """Return a request that was put here. Raises `UnknownNumber`."""
        self.outcome(number, 0)
        return self._requests[number]

    def last(self, reviewer: str) -> tuple[int, LabelRequest, LabelResult] | None:
        """Return the last labelling of a reviewer that can be undone: its number, what was wanted
        and what changed. None without one.
        """
        with self._changed:
            undone = {one.job for one in self._outcomes.values() if isinstance(one, UndoResult)}
            for number, outcome in reversed(self._outcomes.items()):
                request = self._requests.get(number)
                if request is None or request.reviewer != reviewer:
                    continue
                if isinstance(outcome, LabelResult) and outcome.job not in {None, *undone}:
                    return number, request, outcome
        return None

    @property
    def waiting(self) -> int:
        """Return how many requests of this process wait."""
        with self._changed:
            return len(self._requests.keys() - self._outcomes.keys())

    def _resume(self) -> None:
        """Start to write, unless that is being done or nothing waits."""
        with self._changed:
            if self._thread is None and self._waiting.first() is not None:
                self._thread = threading.Thread(target=self._run, name="labels", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        """Write requests until none waits. If their file fails, the next request starts again."""
        try:
            while self._write_first():
                pass
        except Exception as error:
            event("labels_wait", "error", fault=error)
            with self._changed:
                self._thread = None

    def _write_first(self) -> bool:
        """Write the request that waits longest; return whether one waited."""
        with self._changed:
            first = self._waiting.first()
            if first is None:
                self._thread = None
                return False
        number, packed = first
        outcome = self._write(packed)
        if outcome is None:
            time.sleep(_RETRY_SECONDS)
            return True
        self._waiting.remove(number)
        with self._changed:
            self._outcomes[number] = outcome
            _trim(self._outcomes)
            self._changed.notify_all()
        return True

    def _write(self, packed: dict[str, Any]) -> Outcome | None:
        """Return the result or error of a request, None while the store cannot be written."""
        try:
            result = perform(self._store, _unpacked(packed))
        except (StoreBusy, StoreUnreachable, StoreStopped):
            return None
        except NearfoldError as error:
            return error
        except Exception as error:
            event("labelling_failed", "error", fault=error)
            return NearfoldError("internal error; see the terminal in which nearfold serve runs")
        self._on_change()
        return result


def perform(store: FullStore, request: LabelRequest) -> LabelResult | UndoResult:
    """Label, or undo a labelling, as a request says."""
    if request.undo is not None:
        return undo_labels(store, request.undo)
    assert request.options is not None
    return label(store, request.ids, request.options, seen=request.seen, reviewer=request.reviewer)


def _packed(request: LabelRequest) -> dict[str, Any]:
    return dataclasses.asdict(request)


def _unpacked(packed: dict[str, Any]) -> LabelRequest:
    options = packed["options"] and LabelOptions(**packed["options"])
    return LabelRequest(**{**packed, "ids": tuple(packed["ids"]), "options": options})


def _trim(values: OrderedDict[int, Any]) -> None:
    while len(values) > _REMEMBERED:
        values.popitem(last=False)
