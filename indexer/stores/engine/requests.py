"""The interface of both engine clients: requests, responses, retries, and errors."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from indexer.errors import (
    StoreAccessDenied,
    StoreError,
    StoreNotReady,
    StoreStopped,
    StoreUnreachable,
)
from indexer.stores.engine import search_bodies

PASSING = frozenset({429, 502, 503, 504})  # statuses of a request that is worth repeating
_NO_INDEX = frozenset({"index_not_found_exception", "alias_not_found_exception"})
_CLOSED = frozenset({"index_closed_exception"})
_RECOVERING = frozenset({"no_shard_available_action_exception"})
# What the other nodes respond while they have not noticed yet that one is gone, or its shards have
# not started elsewhere; with any status: 404 for a part of a response, 500 or 503 for the whole.
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
_CREDENTIALS = "additional_unsuccessful_credentials"  # what Elasticsearch says of an API key
_BLOCKED = frozenset({"cluster_block_exception"})


@dataclass(frozen=True, slots=True)
class Response:
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
        """The engine's message, preferably of the root cause."""
        error = _error(self)
        causes = (*error.get("root_cause", ()), error, error.get("caused_by") or {})
        reasons = (cause.get(_CREDENTIALS) or cause.get("reason") for cause in causes)
        return str(next(filter(None, reasons), self.kind or "no reason given"))


def _error(response: Response) -> Mapping[str, Any]:
    """Return the error object of a response.

    An error that is only a text, which security APIs call `message`, becomes the `reason`.
    """
    body = response.body if isinstance(response.body, Mapping) else {}
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
    ) -> Response:
        """Send one request, once.

        Every status is a response; raises `StoreUnreachable` when none comes.
        """
        ...

    def close(self) -> None:
        """Release the connections."""
        ...


def content_type(path: str) -> str:
    """Return the content type of a request to this path of the engine."""
    is_ndjson = path.endswith(("_bulk", "_msearch"))
    return "application/x-ndjson" if is_ndjson else "application/json"


def error_of(url: str, response: Response, request: str = "") -> StoreError:
    """Return the error that a response means, outside of bulk writes.

    `request` is the method and path of the request, for the message.
    """
    stopped = block_error(response)
    if stopped is not None:
        return stopped
    if response.status in (401, 403):
        reason = response.reason
        if request and response.status == 403:
            reason = f"{request} needs a right that these credentials lack: {reason}"
        return StoreAccessDenied(url=url, status=response.status, reason=reason)
    if response.kind in _NO_INDEX:
        return IndexMissing(url)
    if is_passing(response):
        return StoreNotReady(url=url, reason=f"overloaded: {response.status} {response.reason}")
    if response.status == 400 and (setting := _LIMIT.search(response.reason)):
        return StoreError(
            f"{url} answered 400: {response.reason}; the owner of the index set {setting[0]} lower "
            "than nearfold needs: set it to null, which is the engine's default, and run again"
        )
    if _EXPENSIVE in response.reason:
        return StoreError(
            f"{url} answered {response.status}: {response.reason}; the owner of the cluster set "
            f"{_EXPENSIVE} to false: search whole words, without `*`, and labels of fields as "
            "`label:FIELD=VALUE`"
        )
    return StoreError(
        f"{url} answered {response.status}: {response.reason}; "
        "see the server's log, and run `nearfold doctor`"
    )


def is_passing(response: Response) -> bool:
    """Return whether the same request may succeed soon: the engine is overloaded or not ready, a
    node was lost, or a shard is not ready, such as one of an index that another has just replaced.
    """
    return response.status in PASSING or response.kind in _RECOVERING or has_lost_node(response)


def has_lost_node(response: Response) -> bool:
    """Return whether a response, or a part of it, failed because a node of the cluster is gone.

    Parts are the documents of a request for several, and the shards that a request went to.
    """
    body = response.body if isinstance(response.body, Mapping) else {}
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


def block_error(response: Response) -> StoreStopped | None:
    """Return the error when an index refuses writes, None when it does not.

    Only the kind of the response's error decides: a full disk may come as 403 or as 429.
    """
    if response.kind in _BLOCKED:
        return StoreStopped(
            reason=response.reason.rstrip(";"),
            remedy="free disk space on the cluster, or lift the block from the index or cluster",
        )
    if response.kind in _CLOSED:
        name = _error(response).get("index") or "an index behind the name"
        return StoreStopped(reason=f"{name} is closed", remedy="open the index")
    return None


def is_missing(response: Response) -> bool:
    """Return whether the index does not exist, for the request or for a part of it."""
    body = response.body if isinstance(response.body, Mapping) else {}
    parts = [Response(404, part) for part in body.get("docs", ()) if "error" in part]
    return any(_names_no_index(part) for part in (response, *parts))


def _names_no_index(response: Response) -> bool:
    error = _error(response)
    causes = (error, *(error.get("root_cause") or ()))
    return any(cause.get("type") in _NO_INDEX for cause in causes)


def index_gone(details: str = "") -> StoreStopped:
    """Return the error of a write to an index that was deleted meanwhile."""
    return StoreStopped(
        reason=f"the index is gone{details}", remedy="give --store a name that nobody deletes"
    )


def lost_index_error(response: Response) -> StoreStopped | None:
    """Return the error when the index, or the right to write to it, was lost during writing.

    None when neither was.
    """
    if response.kind in _NO_INDEX:
        return index_gone(f" ({response.reason})")
    if response.status in (401, 403):
        return StoreStopped(
            reason=f"the right to write is gone ({response.reason})", remedy="restore it"
        )
    return None


# Limits and pauses of requests that are sent again.


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of retries without progress: `attempts` of them, none begun after `seconds`.

    Pauses are of `first` seconds, doubled up to `longest`. The defaults outlast the restart of a
    node (between 40 and 80 seconds), and give up after a few requests on a server where requests
    time out.
    """

    first: float = 0.25
    longest: float = 16.0
    attempts: int = 10
    seconds: float = 300.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def pause(self, attempt: int, retry_after: str | None = None) -> None:
        """Wait half to all of the time for this attempt, counted from 0.

        `retry_after` is a longer time in seconds that the server requests; `longest` limits both.
        """
        seconds = self.first * 2**attempt * random.uniform(0.5, 1.0)
        if retry_after and retry_after.isdecimal():
            seconds = max(seconds, float(retry_after))
        self.sleep(min(self.longest, seconds))


class Attempts:
    """The attempts of one request, and of the parts it is sent in.

    `of_request` counts those since an operation of the request got its reply, `of_cluster` those
    since an operation of any request did.
    """

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self.reset()

    def reset(self) -> None:
        """Count from 0 again, since every operation that was sent has its reply."""
        self.of_request = 0
        self._reset_cluster()

    def _reset_cluster(self) -> None:
        self.of_cluster = 0
        self._since = self._policy.clock()

    def count_incomplete(self, progress: bool, elsewhere: bool) -> None:
        """Count an attempt after which operations have no reply yet.

        `progress`: others of the request have one now; `elsewhere`: another request succeeded.
        """
        if progress:
            self.of_request = 0
        if progress or elsewhere:
            self._reset_cluster()
        self.of_request += 1
        self.of_cluster += 1

    @property
    def is_cluster_hopeless(self) -> bool:
        """Return whether to give up on the cluster."""
        seconds = self._policy.clock() - self._since
        return self.of_cluster > self._policy.attempts or seconds > self._policy.seconds

    @property
    def is_request_hopeless(self) -> bool:
        """Return whether to give up on the rest of the request, though others succeed."""
        return self.of_request > self._policy.attempts

    def pause(self, retry_after: str | None) -> None:
        """Wait before the next attempt."""
        self._policy.pause(self.of_request - 1, retry_after)


# Requests to an engine: send them, and repeat those that fail for a while.

_NO_PARAMETERS: Mapping[str, str] = {}
SECONDS = 30.0
_NAME_SECONDS = 0.2
_FEW_RETRIES = RetryPolicy(first=0.2, longest=2.0, attempts=3)
EXISTS = "resource_already_exists_exception"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences of the engines: a field type, points in time, search pipelines, roles.

    `pit_options` make a point in time one of all shards or none. `roles` is the path of the roles
    in the security API. `tie_breaker` is the last sort key of documents: unique to each, or
    `_seq_no`, which is unique in a shard only.
    """

    metadata_type: str
    open_pit: str
    pit_options: Mapping[str, str]
    pit_field: str
    close_pit: str
    close_body: Callable[[str], search_bodies.Body]
    search_pipelines: bool
    roles: str
    tie_breaker: str


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests to one engine that are not bulk writes.

    Without a `retry_policy`, as in a search, there are a few retries, and none when no response
    comes. While a cluster has lost a node, a search waits as a job does.
    """

    link: Link
    url: str
    retry_policy: RetryPolicy | None = None

    def send(
        self,
        method: str,
        path: str,
        body: search_bodies.Body | Sequence[search_bodies.Body] | None = None,
        params: Mapping[str, str] = _NO_PARAMETERS,
        seconds: float = SECONDS,
    ) -> Response:
        """Return the response of any status; retry while the engine is overloaded or not ready.

        Several bodies are sent one a line. Raises `StoreStopped` when the patience of a job is at
        its end, and `StoreUnreachable` when no response comes and no job waits for it.
        """
        lines = [body] if isinstance(body, dict) else body or []
        data = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n" if lines else None
        since = time.monotonic()
        for attempt in itertools.count():
            response, problem = Response(0, None), ""
            try:
                response = self.link.request(method, path, data, params, seconds)
            except StoreUnreachable as error:
                if self.retry_policy is None:
                    raise
                problem = f"no response ({error.reason})"
            if response.status and not is_passing(response):
                return response
            policy = self._policy(response)
            is_late = time.monotonic() - since > policy.seconds
            if attempt == policy.attempts or is_late:
                break
            policy.pause(attempt, response.retry_after)
        if policy is _FEW_RETRIES:
            return response
        raise StoreStopped(
            reason=problem
            or f"it is overloaded or lost a node: {response.status} {response.reason}",
            remedy="wait until it has recovered",
        )

    def _policy(self, response: Response) -> RetryPolicy:
        """Return the limits of retries after such a response."""
        if self.retry_policy is not None:
            return self.retry_policy
        return RetryPolicy() if has_lost_node(response) else _FEW_RETRIES

    def patient(self) -> Requests:
        """Return the same requests, each retried as requests of a job are."""
        return replace(self, retry_policy=RetryPolicy())

    def call(
        self,
        method: str,
        path: str,
        body: search_bodies.Body | Sequence[search_bodies.Body] | None = None,
        params: Mapping[str, str] = _NO_PARAMETERS,
        seconds: float = SECONDS,
    ) -> search_bodies.Body:
        """Return the JSON object of a successful response; raise the error of any other."""
        response = self.send(method, path, body, params, seconds)
        if method == "POST" and is_missing(response):
            # another index may be taking over the name
            time.sleep(_NAME_SECONDS)
            response = self.send(method, path, body, params, seconds)
        if not 200 <= response.status < 300:
            raise error_of(self.url, response, f"{method} {path}")
        if not isinstance(response.body, dict):
            raise StoreError(
                f"{self.url} did not respond with JSON; check that a search engine listens there"
            )
        return response.body

    def index(self, name: str) -> search_bodies.Body:
        """Return settings, mappings and aliases of an index; raise `StoreStopped` where its name
        has become an alias.
        """
        indices = self.call("GET", name)
        if name not in indices:
            raise StoreStopped(
                reason=f"another client made {name} an alias of {', '.join(sorted(indices))}",
                remedy="make sure that nobody replaces the index meanwhile",
            )
        index: search_bodies.Body = indices[name]
        return index
