"""Bulk writes to a search engine, with a state for every operation.

An operation is done only when a response names its id and says so. The others are sent again
without those that are done, after a pause that grows, with jitter, and for a bounded time. A
request that is too large or stays unanswered is halved.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Condition
from typing import Any, Literal

from indexer.errors import StoreStopped, StoreUnreachable
from indexer.stores.engine.requests import (
    PASSING,
    Attempts,
    Response,
    RetryPolicy,
    block_error,
    has_lost_node,
    lost_index_error,
)
from indexer.system.failpoints import reached
from indexer.system.logs import event
from indexer.wording import well_formed

# Bounded concurrency of requests: halved when an engine is overloaded, else increased again.


class Window:
    """Slots for requests under way, from 1 to `limit`, at first `limit`.

    Their number is halved when a request fails, once for all requests that were under way then, and
    grows by one for each round of requests that succeed (additive increase, multiplicative
    decrease).
    """

    def __init__(self, limit: int) -> None:
        self.decreases = 0
        self.increases = 0
        self._limit = limit
        self._size = float(limit)
        self._taken = 0
        self._waiting: deque[object] = deque()
        self._changed = Condition()

    @property
    def size(self) -> int:
        """Return the current number of slots."""
        return int(self._size)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one slot; wait until one is free."""
        self._take()
        try:
            yield
        finally:
            self._leave()

    def yield_slot(self) -> None:
        """Give the held slot to a waiting request, and take one again in turn."""
        self._leave()
        self._take()

    def _take(self) -> None:
        turn = object()
        with self._changed:
            self._waiting.append(turn)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is turn and self._taken < self.size)
                self._taken += 1
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    def increase(self) -> None:
        """Allow more requests after one that succeeded."""
        with self._changed:
            self.increases += 1
            self._size = min(float(self._limit), self._size + 1 / self._size)
            self._changed.notify_all()

    def decrease(self, decreases: int) -> None:
        """Halve the slots after a failed request, unless that was done since it was sent.

        `decreases` is the count of decreases when the request was sent.
        """
        with self._changed:
            if decreases == self.decreases:
                self._size = max(1.0, self._size / 2)
                self.decreases += 1


_UNANSWERED = 3  # attempts without a reply to any operation, after which a request is halved
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a bulk request. Ids are distinct within a call.

    `body` is the line after its action. `metadata` has more fields of the action, such as the state
    that an update is conditional on; the engine repeats an update without it when another client
    writes the document.
    """

    action: Literal["create", "index", "update", "delete"]
    id: str
    body: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None

    def at(self, target: Mapping[str, str]) -> Operation:
        """Return the operation on a document of a given index or routing, in the engine's terms."""
        return replace(self, metadata={**(self.metadata or self._default_metadata()), **target})

    def _default_metadata(self) -> Mapping[str, Any]:
        return {"retry_on_conflict": 3} if self.action == "update" else {}

    def lines(self) -> bytes:
        """Return the operation as newline-delimited JSON; a lone surrogate becomes U+FFFD."""
        metadata = self._default_metadata() if self.metadata is None else self.metadata
        lines = _encode({self.action: {"_id": self.id, **metadata}}) + "\n"
        if self.body is not None:
            lines += _encode(self.body) + "\n"
        return well_formed(lines).encode()


@dataclass(frozen=True, slots=True)
class Reply:
    """The final status of an operation, and the reason of a refusal, else None."""

    status: int
    refused: str | None = None


def first_refusal(replies: Mapping[str, Reply]) -> str | None:
    """Return the first reason for which the engine refused an operation."""
    return next((reply.refused for reply in replies.values() if reply.refused), None)


@dataclass(frozen=True, slots=True)
class Sender:
    """A sender of operations in requests of bounded size, which threads may share.

    `post` sends one body and may raise `StoreUnreachable`. `window` bounds the requests under way
    at once. A request that has to be sent again lets others go first, and then keeps its position
    while it pauses, so that an overloaded server gets fewer requests. With `conflicts`, a conflict
    is a reply, not a reason to send again.
    """

    post: Callable[[bytes], Response]
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    max_bytes: int = 8_000_000
    max_operations: int = 1_000
    window: Window = field(default_factory=lambda: Window(1))
    conflicts: bool = False

    def send(self, operations: Sequence[Operation]) -> dict[str, Reply]:
        """Return the reply to every operation, by id.

        Raises `StoreStopped` when it cannot continue; operations that are done stay done.
        """
        replies: dict[str, Reply] = {}
        for batch in self._batches(operations):
            with self.window.slot():
                self._deliver(batch, replies, Attempts(self.retry_policy))
        return replies

    def _batches(self, operations: Sequence[Operation]) -> Iterator[dict[str, bytes]]:
        """Yield batches of operations as lines by id, none larger than a request may be."""
        batch: dict[str, bytes] = {}
        size = 0
        for operation in operations:
            lines = operation.lines()
            if batch and (size + len(lines) > self.max_bytes or len(batch) == self.max_operations):
                yield batch
                batch = {}
                size = 0
            batch[operation.id] = lines
            size += len(lines)
        if batch:
            yield batch

    def _deliver(
        self, batch: dict[str, bytes], replies: dict[str, Reply], attempts: Attempts
    ) -> None:
        """Send a batch until every operation has its reply."""
        increases = self.window.increases
        while batch:
            decreases = self.window.decreases
            response, problem = self._request(batch)
            if response.status in (400, 413):
                self._refuse(batch, response, replies, attempts)
                return
            items = {id: item for id, item in _items(response) if id in batch}
            replied = _final_replies(items, self.conflicts)
            replies.update(replied)
            batch = {id: lines for id, lines in batch.items() if id not in replied}
            if not batch:
                attempts.reset()
                self.window.increase()
                return
            self.window.decrease(decreases)
            failures = _server_failures(batch, items)
            elsewhere = not failures and self.window.increases > increases
            attempts.count_incomplete(progress=bool(replied), elsewhere=elsewhere)
            increases = self.window.increases
            is_ignored = len(batch) == 1 and not items and response.status not in PASSING
            if attempts.is_cluster_hopeless or (attempts.is_request_hopeless and is_ignored):
                replies.update(_give_up(batch, failures, problem, attempts))
                return
            self._pause(response, attempts, len(batch))
            if not items and attempts.of_request >= _UNANSWERED and len(batch) > 1:
                self._halve(batch, replies, attempts)
                return

    def _pause(self, response: Response, attempts: Attempts, operations: int) -> None:
        """Let other requests go first, then wait before the next attempt."""
        event(
            "request_again",
            "warning",
            status=response.status,
            attempt=attempts.of_request,
            operations=operations,
        )
        self.window.yield_slot()
        attempts.pause(response.retry_after)

    def _request(self, batch: dict[str, bytes]) -> tuple[Response, str]:
        """Send one request; return its response, status 0 when none came, and its problem."""
        try:
            reached("before_send", _unreachable)
            response = self.post(b"".join(batch.values()))
            reached("after_send", _unreachable)
        except StoreUnreachable as error:
            return Response(0, None), error.reason
        _raise_if_final(response)
        failure = next((item for _, item in _items(response) if item.status >= 400), response)
        if failure.status == 200:
            return response, "the response does not report the documents"
        return response, f"{failure.status} {failure.reason}"

    def _refuse(
        self,
        batch: dict[str, bytes],
        response: Response,
        replies: dict[str, Reply],
        attempts: Attempts,
    ) -> None:
        """Halve a refused request until the operation that causes the refusal is alone."""
        if len(batch) > 1:
            self._halve(batch, replies, attempts)
            return
        ((id, lines),) = batch.items()
        reason = response.reason
        if response.status == 413:
            reason = f"the document is too large for the server ({len(lines):,} bytes)"
        replies[id] = Reply(response.status, reason)

    def _halve(
        self, batch: dict[str, bytes], replies: dict[str, Reply], attempts: Attempts
    ) -> None:
        ids = list(batch)
        middle = len(ids) // 2
        for half in (ids[:middle], ids[middle:]):
            self._deliver({id: batch[id] for id in half}, replies, attempts)


def _unreachable(reason: str) -> StoreUnreachable:
    return StoreUnreachable(url="the cluster", reason=reason)


def _raise_if_final(response: Response) -> None:
    if stopped := block_error(response) or lost_index_error(response):
        raise stopped


def _final_replies(items: Mapping[str, Response], conflicts: bool) -> dict[str, Reply]:
    """Return the replies to the operations that need not be sent again."""
    replies = {}
    for id, item in items.items():
        reply = _reply(item, conflicts)
        if reply is not None:
            replies[id] = reply
    return replies


def _reply(item: Response, conflicts: bool) -> Reply | None:
    """Return the reply to an operation; None when it has to be sent again."""
    _raise_if_final(item)
    if has_lost_node(Response(item.status, {"error": item.body.get("error")})):
        return None
    is_absent = item.status == 404 and item.kind in ("", "document_missing_exception")
    if 200 <= item.status < 300 or is_absent:
        return Reply(item.status)
    if 400 <= item.status < 500 and item.status not in ((429,) if conflicts else (409, 429)):
        return Reply(item.status, item.reason)
    return None


def _server_failures(batch: Mapping[str, bytes], items: Mapping[str, Response]) -> dict[str, Reply]:
    """Return refusals of the operations on which the server itself fails."""
    return {
        id: Reply(item.status, item.reason)
        for id, item in items.items()
        if id in batch and item.status >= 500 and item.status not in PASSING
    }


def _give_up(
    batch: Mapping[str, bytes], failures: Mapping[str, Reply], problem: str, attempts: Attempts
) -> Mapping[str, Reply]:
    """Return refusals of operations that fail again and again.

    Raises `StoreStopped` when the cluster is hopeless and not every operation is a server failure.
    """
    if failures.keys() >= batch.keys():
        return failures
    if attempts.is_cluster_hopeless:
        raise StoreStopped(
            reason=f"the cluster accepts no more requests ({problem})",
            remedy="wait until it has recovered",
        )
    refusal = Reply(0, f"the cluster never responds to it, while others are stored ({problem})")
    return dict.fromkeys(batch, refusal)


def _items(response: Response) -> Iterator[tuple[str, Response]]:
    """Yield id and result of each well-formed item of a response."""
    if response.status != 200 or not isinstance(response.body, Mapping):
        return
    items = response.body.get("items")
    for item in items if isinstance(items, list) else ():
        result = next(iter(item.values()), None) if isinstance(item, Mapping) else None
        if not isinstance(result, Mapping):
            continue
        id = result.get("_id")
        status = result.get("status")
        if isinstance(id, str) and isinstance(status, int):
            yield id, Response(status, result)
