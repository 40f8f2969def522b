"""Labellings of pages and the API, one after the other.

Reviewers label at the same time, and while a job such as `group` holds the store. So each request
is kept durably, and written as soon as the store is free: none is refused, and none is lost when
the server ends. Several servers of one store write each their own requests.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from indexer.errors import NearfoldError, StoreBusy, StoreStopped, StoreUnreachable, UnknownNumber
from indexer.jobs.label import LabelOptions, LabelResult, UndoResult, label, undo_labels
from indexer.jobs.review_file import WaitingRequests, waiting_path
from indexer.stores.abilities import FullStore
from indexer.stores.journal import journal_path, last_job
from indexer.system.logs import event
from indexer.wording import count_of

PATIENCE_SECONDS = 2.0  # for which a request waits until it is written
_RETRY_SECONDS = 0.1  # while a job holds the store, or it does not respond
_REMEMBERED = 5000  # outcomes
Outcome: TypeAlias = "LabelResult | UndoResult | NearfoldError"


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A request of a reviewer to change labels, or to undo a labelling.

    `seen` is that of `label`. `undo`: the number of the labelling to undo; None to label.
    """

    reviewer: str
    ids: tuple[str, ...] = ()
    options: LabelOptions | None = None
    seen: str = ""
    undo: int | None = None


class LabelQueue:
    """Writes requests in their order, in one thread, and remembers what became of the last
    5,000.

    What a reviewer has to hear of stays in the file until it was shown. `on_change` is called
    with the result of each write.
    """

    def __init__(
        self, store: FullStore, on_change: Callable[[LabelResult | UndoResult], None]
    ) -> None:
        self._store = store
        self._on_change = on_change
        self._waiting = WaitingRequests(waiting_path(journal_path(store.address)))
        self._changed = threading.Condition()
        self._queue: deque[int] = deque()
        self._requests: dict[int, LabelRequest] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._unseen: dict[int, LabelRequest] = {}
        self._thread: threading.Thread | None = None
        self._resume()

    def put(self, request: LabelRequest) -> int:
        """Keep a request, and return its number."""
        number = self._waiting.put(_packed(request))
        self._append(number, request)
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

    def unseen(self, reviewer: str) -> list[tuple[int, str]]:
        """Return a reviewer's requests that were not written as they wanted, and not shown yet:
        the number of each, and a sentence about it.
        """
        with self._changed:
            return [
                (number, format_outcome(request, self._outcomes[number]))
                for number, request in self._unseen.items()
                if request.reviewer == reviewer
            ]

    def mark_seen(self, number: int) -> None:
        """Note that the outcome of a request is shown to its reviewer."""
        with self._changed:
            was_unseen = self._unseen.pop(number, None) is not None
        if was_unseen:
            self._waiting.remove(number)

    def last(self, reviewer: str) -> tuple[int, LabelRequest, LabelResult] | None:
        """Return the last labelling of a reviewer that can be undone: its number, what was wanted
        and what changed. None without one.
        """
        with self._changed:
            outcomes = self._outcomes.values()
            undone = {outcome.job for outcome in outcomes if isinstance(outcome, UndoResult)}
            for number, outcome in reversed(self._outcomes.items()):
                request = self._requests[number]
                if request.reviewer != reviewer:
                    continue
                if isinstance(outcome, LabelResult) and outcome.job not in {None, *undone}:
                    return number, request, outcome
        return None

    def undone(self, reviewer: str) -> tuple[int, LabelRequest, LabelResult] | None:
        """Return the labelling that a reviewer's last request undid, with the number of that
        request. None after another request, or for a labelling that is not remembered.
        """
        with self._changed:
            own = (item for item in self._requests.items() if item[1].reviewer == reviewer)
            number, request = max(own, default=(0, None), key=lambda item: item[0])
            if request is None or not isinstance(self._outcomes.get(number), UndoResult):
                return None
            for labelling, outcome in reversed(self._outcomes.items()):
                if isinstance(outcome, LabelResult) and outcome.job == request.undo:
                    return number, self._requests[labelling], outcome
        return None

    @property
    def waiting(self) -> int:
        """Return how many requests wait here."""
        return len(self._queue)

    def close(self) -> None:
        """Let another process take up what waits here."""
        self._waiting.close()

    def _resume(self) -> None:
        """Take up the requests of servers that have ended. One that cannot be read is dropped."""
        for number, packed in self._waiting.stored():
            try:
                request = _unpacked(packed)
            except (KeyError, TypeError, ValueError, NearfoldError) as error:
                event("labelling_failed", "error", fault=error)
                self._waiting.remove(number)
                continue
            self._append(number, request)

    def _append(self, number: int, request: LabelRequest) -> None:
        """Add a request to the queue, and start to write unless that is being done."""
        with self._changed:
            self._requests[number] = request
            self._queue.append(number)
            if self._thread is None:
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
            if not self._queue:
                self._thread = None
                return False
            number = self._queue[0]
            request = self._requests[number]
        outcome = self._write(request)
        if outcome is None:
            time.sleep(_RETRY_SECONDS)
            return True
        if is_as_wanted(outcome):
            self._waiting.remove(number)
        with self._changed:
            self._queue.popleft()
            self._outcomes[number] = outcome
            if not is_as_wanted(outcome):
                self._unseen[number] = request
            if len(self._outcomes) > _REMEMBERED:
                oldest = next(iter(self._outcomes))
                del self._outcomes[oldest], self._requests[oldest]
                self._unseen.pop(oldest, None)
            self._changed.notify_all()
        return True

    def _write(self, request: LabelRequest) -> Outcome | None:
        """Return the result or error of a request, None while the store cannot be written."""
        try:
            # does not read the store several times a second while a job holds it
            if last_job(journal_path(self._store.address)) is None:
                return None
            result = perform(self._store, request)
        except (StoreBusy, StoreUnreachable, StoreStopped):
            return None
        except NearfoldError as error:
            return error
        except Exception as error:
            event("labelling_failed", "error", fault=error)
            return NearfoldError("internal error; see the terminal in which nearfold serve runs")
        self._on_change(result)
        return result


def is_as_wanted(outcome: Outcome) -> bool:
    """Return whether a request did all that it was to do, so that there is nothing to say."""
    if isinstance(outcome, UndoResult):
        return not (outcome.changed_since or outcome.absent)
    return isinstance(outcome, LabelResult) and not outcome.conflict


def format_outcome(request: LabelRequest, outcome: Outcome) -> str:
    """Return the message of an outcome that is not as wanted."""
    names = ", ".join([*request.options.add, *request.options.remove]) if request.options else ""
    what = f"The label {names}" if names else f"The undo of labelling {request.undo}"
    if isinstance(outcome, UndoResult):
        kept = len(outcome.changed_since) + len(outcome.absent)
        return f"{what} left out {count_of(kept, 'document')}, labelled again since or gone."
    if isinstance(outcome, LabelResult):
        documents = count_of(len(outcome.changes), "document")
        return f"{what} was not written: {documents} had other labels by then."
    return f"{what} was not written: {outcome}."


def perform(store: FullStore, request: LabelRequest) -> LabelResult | UndoResult:
    """Label, or undo a labelling, as a request says."""
    if request.undo is not None:
        return undo_labels(store, request.undo, reviewer=request.reviewer)
    assert request.options is not None
    return label(store, request.ids, request.options, seen=request.seen, reviewer=request.reviewer)


def _packed(request: LabelRequest) -> dict[str, Any]:
    return dataclasses.asdict(request)


def _unpacked(packed: dict[str, Any]) -> LabelRequest:
    options = packed["options"] and LabelOptions(**packed["options"])
    return LabelRequest(**{**packed, "ids": tuple(packed["ids"]), "options": options})
