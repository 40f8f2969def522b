"""Bulk writes to a search engine, with a state of our own for every item.

An operation is done only when an answer names its id and says so. What is not done is sent again,
alone, after a pause that grows, with jitter, and for a bounded time. A request that is too large is
halved, and so is one that stays unanswered.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from indexer.errors import StoreStopped, StoreUnreachable
from indexer.stores.engine.concurrency import Window
from indexer.stores.engine.link import PASSING, Answer, block_error, lost_index_error
from indexer.system.failpoints import reached
from indexer.system.logs import event
from indexer.text.phrases import well_formed

_UNANSWERED = 3  # attempts at a request that tell nothing, after which it is sent in halves
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of a bulk request; `body` is what follows it. Ids are distinct within a call.

    `head`: what else the line says, such as the state that an update is for; an update without it
    is repeated by the engine when somebody else writes the document.
    """

    action: Literal["index", "update", "delete"]
    id: str
    body: Mapping[str, Any] | None = None
    head: Mapping[str, Any] | None = None

    def lines(self) -> bytes:
        """The operation as newline-delimited JSON; a lone surrogate in what others stored becomes
        U+FFFD.
        """
        plain = {"retry_on_conflict": 3} if self.action == "update" else {}
        head = {self.action: {"_id": self.id, **(plain if self.head is None else self.head)}}
        return well_formed(
            "".join(f"{_encode(part)}\n" for part in (head, self.body) if part is not None)
        ).encode()


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of an operation: a status that is final, and why it was refused, None when it was
    not.
    """

    status: int
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to go on without progress: at most `attempts` more times, and none begun after
    `seconds`.

    Pauses are of `first` seconds, doubled up to `longest`. The defaults outlast the restart of a
    node (between 40 and 80 seconds), and give up on a server that lets requests time out after a
    few of them.
    """

    first: float = 0.25
    longest: float = 16.0
    attempts: int = 10
    seconds: float = 300.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def pause(self, attempt: int, retry_after: str | None = None) -> None:
        """Wait between half of the time for this attempt, counted from 0, and all of it, or the
        seconds the server asks for.
        """
        seconds = self.first * 2**attempt * random.uniform(0.5, 1.0)
        if retry_after and retry_after.isdecimal():
            seconds = max(seconds, float(retry_after))
        self.sleep(min(self.longest, seconds))


class _Tries:
    """The attempts of one request, and of the parts it is sent in.

    `number` counts those since something of it was settled, `alone` those since anything was, of
    any request.
    """

    def __init__(self, patience: RetryPolicy) -> None:
        self._patience = patience
        self.renew()

    def renew(self) -> None:
        """Everything that was sent is settled."""
        self.number = self.alone = 0
        self._since = self._patience.clock()

    def missed(self, progress: bool, elsewhere: bool) -> None:
        """Something is not settled; `progress` when something else of the request was, `elsewhere`
        when another request was.
        """
        if progress:
            self.number = 0
        if progress or elsewhere:
            self.alone, self._since = 0, self._patience.clock()
        self.number += 1
        self.alone += 1

    @property
    def spent(self) -> bool:
        """Whether to give up on the cluster."""
        return (
            self.alone > self._patience.attempts
            or self._patience.clock() - self._since > self._patience.seconds
        )

    @property
    def hopeless(self) -> bool:
        """Whether to give up on what is left of the request, though the cluster takes others."""
        return self.number > self._patience.attempts

    def pause(self, retry_after: str | None) -> None:
        """Wait before the next attempt."""
        self._patience.pause(self.number - 1, retry_after)


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends operations in requests of bounded size. `post` sends one body and may raise
    `StoreUnreachable`.

    It may be shared by threads: `window` says how many requests are under way at once. A request
    that has to be sent again lets others go first, and then keeps its place while it pauses, so
    that a server in trouble is left in peace. `conflicts`: whether a conflict is an answer, not a
    reason to send again.
    """

    post: Callable[[bytes], Answer]
    patience: RetryPolicy = RetryPolicy()
    max_bytes: int = 8_000_000
    max_operations: int = 1_000
    window: Window = field(default_factory=lambda: Window(1))
    conflicts: bool = False

    def send(self, operations: Sequence[Operation]) -> dict[str, Reply]:
        """The reply to every operation, by id. Raises `StoreStopped` when it cannot go on; what was
        done stays done.
        """
        replies: dict[str, Reply] = {}
        for batch in self._batches(operations):
            with self.window.place():
                self._deliver(batch, replies, _Tries(self.patience))
        return replies

    def _batches(self, operations: Sequence[Operation]) -> Iterator[dict[str, bytes]]:
        """Operations as lines by id, cut where a request would become too large."""
        batch: dict[str, bytes] = {}
        size = 0
        for operation in operations:
            lines = operation.lines()
            if batch and (size + len(lines) > self.max_bytes or len(batch) == self.max_operations):
                yield batch
                batch, size = {}, 0
            batch[operation.id] = lines
            size += len(lines)
        if batch:
            yield batch

    def _deliver(self, batch: dict[str, bytes], replies: dict[str, Reply], tries: _Tries) -> None:
        """Send until every operation of the batch has its reply."""
        widenings = self.window.widenings
        while batch:
            narrowings = self.window.narrowings
            answer, trouble = self._ask(batch)
            if answer.status in (400, 413):
                self._refused(batch, answer, replies, tries)
                return
            items = {name: item for name, item in _items(answer) if name in batch}
            done = {
                name: reply
                for name, item in items.items()
                if (reply := _settled(item, self.conflicts))
            }
            replies.update(done)
            batch = {name: lines for name, lines in batch.items() if name not in done}
            if not batch:
                tries.renew()
                self.window.widen()
                return
            self.window.narrow(narrowings)
            broken = _broken(batch, items)
            tries.missed(
                progress=bool(done), elsewhere=not broken and self.window.widenings > widenings
            )
            widenings = self.window.widenings
            if tries.spent or (
                tries.hopeless and len(batch) == 1 and not items and answer.status not in PASSING
            ):
                replies.update(_abandoned(batch, broken, trouble, tries))
                return
            event(
                "request_again",
                "warning",
                status=answer.status,
                attempt=tries.number,
                operations=len(batch),
            )
            self.window.give_way()
            tries.pause(answer.retry_after)
            if not items and tries.number >= _UNANSWERED and len(batch) > 1:
                self._halve(batch, replies, tries)
                return

    def _ask(self, batch: dict[str, bytes]) -> tuple[Answer, str]:
        """One request: its answer, status 0 when none came, and what is wrong with it in a few
        words.
        """
        try:
            reached("before_send", _lost)
            answer = self.post(b"".join(batch.values()))
            reached("after_send", _lost)
        except StoreUnreachable as error:
            return Answer(0, None), error.reason
        _raise_if_final(answer)
        left = next((item for _, item in _items(answer) if item.status >= 400), answer)
        return (
            answer,
            f"{left.status} {left.reason}"
            if left.status != 200
            else "it does not say what became of the documents",
        )

    def _refused(
        self, batch: dict[str, bytes], answer: Answer, replies: dict[str, Reply], tries: _Tries
    ) -> None:
        """Find the operations for which a whole request was refused."""
        if len(batch) > 1:
            self._halve(batch, replies, tries)
            return
        ((name, lines),) = batch.items()
        large = f"the document is too large for the server ({len(lines):,} bytes)"
        replies[name] = Reply(answer.status, large if answer.status == 413 else answer.reason)

    def _halve(self, batch: dict[str, bytes], replies: dict[str, Reply], tries: _Tries) -> None:
        names = list(batch)
        for half in (names[: len(names) // 2], names[len(names) // 2 :]):
            self._deliver({name: batch[name] for name in half}, replies, tries)


def _lost(reason: str) -> StoreUnreachable:
    return StoreUnreachable(url="the cluster", reason=reason)


def _raise_if_final(answer: Answer) -> None:
    if stopped := block_error(answer) or lost_index_error(answer):
        raise stopped


def _settled(item: Answer, conflicts: bool) -> Reply | None:
    """The reply that an item of an answer stands for; None when it has to be sent again."""
    _raise_if_final(item)
    absent = item.status == 404 and item.kind in ("", "document_missing_exception")
    if 200 <= item.status < 300 or absent:
        return Reply(item.status)
    if 400 <= item.status < 500 and item.status not in ((429,) if conflicts else (409, 429)):
        return Reply(item.status, item.reason)
    return None


def _broken(batch: Mapping[str, bytes], items: Mapping[str, Answer]) -> dict[str, Reply]:
    """Refusals of the operations on which the server itself fails."""
    failing = {
        name: item
        for name, item in items.items()
        if name in batch and item.status >= 500 and item.status not in PASSING
    }
    return {name: Reply(item.status, item.reason) for name, item in failing.items()}


def _abandoned(
    batch: Mapping[str, bytes], broken: Mapping[str, Reply], trouble: str, tries: _Tries
) -> Mapping[str, Reply]:
    """Give up: what the server fails on time and again is refused, a single document alone too, and
    all else stops the run.
    """
    if broken.keys() >= batch.keys():
        return broken
    if tries.spent:
        raise StoreStopped(
            reason=f"the cluster takes nothing any more ({trouble})",
            remedy="wait until it has recovered",
        )
    return {
        name: Reply(0, f"no answer ever comes to it, while others are stored ({trouble})")
        for name in batch
    }


def _items(answer: Answer) -> Iterator[tuple[str, Answer]]:
    """The well-formed items of an answer: id, and status and error as an answer of their own."""
    items = (
        answer.body.get("items")
        if answer.status == 200 and isinstance(answer.body, Mapping)
        else None
    )
    for item in items if isinstance(items, list) else ():
        result = next(iter(item.values()), None) if isinstance(item, Mapping) else None
        if (
            isinstance(result, Mapping)
            and isinstance(result.get("status"), int)
            and isinstance(result.get("_id"), str)
        ):
            yield result["_id"], Answer(result["status"], result)
