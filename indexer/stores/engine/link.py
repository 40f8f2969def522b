"""The interface of both engine clients: requests, answers, and the errors that answers mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from indexer.errors import StoreAccessDenied, StoreError, StoreNotReady, StoreStopped

PASSING = frozenset({429, 502, 503, 504})  # statuses of a request that is worth repeating
_NO_INDEX = frozenset({"index_not_found_exception", "alias_not_found_exception"})
_CLOSED = frozenset({"index_closed_exception"})
_RECOVERING = frozenset({"no_shard_available_action_exception"})
# What the other nodes answer while they have not noticed yet that one is gone, or its shards have
# not started elsewhere; with any status: 404 for a part of an answer, 500 or 503 for the whole.
_LOST_NODE = frozenset(
    {
        "node_not_connected_exception",
        "node_disconnected_exception",
        "node_closed_exception",
        "connect_transport_exception",
        "receive_timeout_transport_exception",
        "no_shard_available_action_exception",
        "unavailable_shards_exception",
        "illegal_index_shard_state_exception",
        "index_shard_closed_exception",
        "shard_not_found_exception",
    }
)
# A search in which no shard failed was refused because there is no copy of a shard to search.
_SEARCH_FAILED = "search_phase_execution_exception"
_EXPENSIVE = "search.allow_expensive_queries"  # a setting of a cluster
_LIMIT = re.compile(r"index\.(max_[a-z_]+|mapping\.[a-z_.]+limit)")  # a setting of an index
_BLOCKED = frozenset({"cluster_block_exception"})


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and the JSON of the body, None when it is not JSON.

    `retry_after` is the text of the server's header.
    """

    status: int
    body: Any
    retry_after: str | None = None

    @property
    def kind(self) -> str:
        """The engine's name of the error, empty without one."""
        return str(_error(self).get("type", ""))

    @property
    def reason(self) -> str:
        """The engine's message, preferably that of the root cause."""
        error = _error(self)
        causes = (*error.get("root_cause", ()), error, error.get("caused_by") or {})
        reasons = (cause.get("reason") for cause in causes)
        return str(next(filter(None, reasons), self.kind or "no reason given"))


def _error(answer: Answer) -> Mapping[str, Any]:
    """Return the error object of an answer.

    An error that is only a text, which security APIs call `message`, becomes the `reason`.
    """
    body = answer.body if isinstance(answer.body, Mapping) else {}
    error = body.get("error")
    return error if isinstance(error, Mapping) else {"reason": error or body.get("message")}


class IndexMissing(StoreError):
    """Raised when the store's index does not exist."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"there is no index at {url} yet; run `nearfold index PATH` first, or check --store"
        )
        self.url = url


class Link(Protocol):
    """A connection to one engine, by its own client library."""

    def request(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Answer:
        """Send one request, once.

        Every status is an answer; raises `StoreUnreachable` when none comes.
        """
        ...

    def close(self) -> None:
        """Release the connections."""
        ...


def content_type(path: str) -> str:
    """Return the content type of a request to this path of the engine."""
    is_ndjson = path.endswith(("_bulk", "_msearch"))
    return "application/x-ndjson" if is_ndjson else "application/json"


def error_of(url: str, answer: Answer, request: str = "") -> StoreError:
    """Return the error that an answer means, outside of bulk writes.

    `request` is the method and path of the request, for the message.
    """
    stopped = block_error(answer)
    if stopped is not None:
        return stopped
    if answer.status in (401, 403):
        reason = answer.reason
        if request and answer.status == 403:
            reason = f"{request} needs a right that these credentials lack: {reason}"
        return StoreAccessDenied(url=url, status=answer.status, reason=reason)
    if answer.kind in _NO_INDEX:
        return IndexMissing(url)
    if is_passing(answer):
        return StoreNotReady(url=url, reason=f"overloaded: {answer.status} {answer.reason}")
    if answer.status == 400 and (setting := _LIMIT.search(answer.reason)):
        return StoreError(
            f"{url} answered 400: {answer.reason}; the owner of the index set {setting[0]} lower "
            "than nearfold needs: set it to null, which is the engine's default, and run again"
        )
    if _EXPENSIVE in answer.reason:
        return StoreError(
            f"{url} answered {answer.status}: {answer.reason}; the owner of the cluster set "
            f"{_EXPENSIVE} to false: search whole words, without `*`"
        )
    return StoreError(
        f"{url} answered {answer.status}: {answer.reason}; "
        "see the server's log, and run `nearfold doctor`"
    )


def is_passing(answer: Answer) -> bool:
    """Return whether the same request may succeed soon: the engine is overloaded or not ready, a
    node was lost, or a shard is not ready, such as one of an index that another has just replaced.
    """
    return answer.status in PASSING or answer.kind in _RECOVERING or has_lost_node(answer)


def has_lost_node(answer: Answer) -> bool:
    """Return whether an answer, or a part of it, failed because a node of the cluster is gone.

    Parts are the documents of a request for several, and the shards that a request went to.
    """
    body = answer.body if isinstance(answer.body, Mapping) else {}
    shards = body.get("_shards")
    failures = shards.get("failures", ()) if isinstance(shards, Mapping) else ()
    errors = [part.get("error") for part in body.get("docs", ()) if isinstance(part, Mapping)]
    return any(_names_lost_node(error) for error in (body.get("error"), *errors, *failures))


def _names_lost_node(error: object) -> bool:
    """Return whether an error or one of its causes says that a node is gone."""
    if isinstance(error, list):
        return any(map(_names_lost_node, error))
    if not isinstance(error, Mapping):
        return False
    causes = (error.get(name) for name in ("root_cause", "caused_by", "failed_shards", "reason"))
    is_without_shard = error.get("type") == _SEARCH_FAILED and not error.get("failed_shards")
    return is_without_shard or error.get("type") in _LOST_NODE or any(map(_names_lost_node, causes))


def block_error(answer: Answer) -> StoreStopped | None:
    """Return the error when an index refuses writes, None when it does not.

    Only the kind of the answer's error decides: a full disk may come as 403 or as 429.
    """
    if answer.kind in _BLOCKED:
        return StoreStopped(
            reason=answer.reason.rstrip(";"),
            remedy="free disk space on the cluster, or lift the block from the index or cluster",
        )
    if answer.kind in _CLOSED:
        name = _error(answer).get("index") or "an index behind the name"
        return StoreStopped(reason=f"{name} is closed", remedy="open the index")
    return None


def is_missing(answer: Answer) -> bool:
    """Return whether the index does not exist, for the request or for a part of it."""
    body = answer.body if isinstance(answer.body, Mapping) else {}
    parts = [Answer(404, part) for part in body.get("docs", ()) if "error" in part]
    return any(_names_no_index(part) for part in (answer, *parts))


def _names_no_index(answer: Answer) -> bool:
    error = _error(answer)
    causes = (error, *(error.get("root_cause") or ()))
    return any(cause.get("type") in _NO_INDEX for cause in causes)


def lost_index_error(answer: Answer) -> StoreStopped | None:
    """Return the error when the index, or the right to write to it, was lost during writing.

    None when neither was.
    """
    if answer.kind in _NO_INDEX:
        return StoreStopped(
            reason=f"the index is gone ({answer.reason})",
            remedy="give --store a name that nobody deletes",
        )
    if answer.status in (401, 403):
        return StoreStopped(
            reason=f"the right to write is gone ({answer.reason})", remedy="restore it"
        )
    return None
