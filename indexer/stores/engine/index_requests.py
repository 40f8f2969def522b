"""Requests to an engine: send them, and repeat those that fail for a while."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.errors import StoreError, StoreStopped, StoreUnreachable
from indexer.stores.engine import bodies
from indexer.stores.engine.link import Answer, Link, error_of, has_lost_node, is_missing, is_passing
from indexer.stores.engine.retries import RetryPolicy

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
    close_body: Callable[[str], bodies.Body]
    search_pipelines: bool
    roles: str
    tie_breaker: str


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests to one engine that are not bulk writes.

    Without a `retry_policy`, as in a search, there are a few retries, and none when no answer
    comes. While a cluster has lost a node, a search waits as a job does.
    """

    link: Link
    url: str
    retry_policy: RetryPolicy | None = None

    def send(
        self,
        method: str,
        path: str,
        body: bodies.Body | Sequence[bodies.Body] | None = None,
        params: Mapping[str, str] = _NO_PARAMETERS,
        seconds: float = SECONDS,
    ) -> Answer:
        """Return the answer of any status; retry while the engine is overloaded or not ready.

        Several bodies are sent one a line. Raises `StoreStopped` when the patience of a job is at
        its end, and `StoreUnreachable` when no answer comes and no job waits for it.
        """
        lines = [body] if isinstance(body, dict) else body or []
        data = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n" if lines else None
        since = time.monotonic()
        for attempt in itertools.count():
            answer, problem = Answer(0, None), ""
            try:
                answer = self.link.request(method, path, data, params, seconds)
            except StoreUnreachable as error:
                if self.retry_policy is None:
                    raise
                problem = f"no answer ({error.reason})"
            if answer.status and not is_passing(answer):
                return answer
            policy = self._policy(answer)
            is_late = time.monotonic() - since > policy.seconds
            if attempt == policy.attempts or is_late:
                break
            policy.pause(attempt, answer.retry_after)
        if policy is _FEW_RETRIES:
            return answer
        raise StoreStopped(
            reason=problem or f"it is overloaded or lost a node: {answer.status} {answer.reason}",
            remedy="wait until it has recovered",
        )

    def _policy(self, answer: Answer) -> RetryPolicy:
        """Return the limits of retries after such an answer."""
        if self.retry_policy is not None:
            return self.retry_policy
        return RetryPolicy() if has_lost_node(answer) else _FEW_RETRIES

    def patient(self) -> Requests:
        """Return the same requests, each retried as those of a job."""
        return replace(self, retry_policy=RetryPolicy())

    def call(
        self,
        method: str,
        path: str,
        body: bodies.Body | Sequence[bodies.Body] | None = None,
        params: Mapping[str, str] = _NO_PARAMETERS,
        seconds: float = SECONDS,
    ) -> bodies.Body:
        """Return the JSON object of a successful answer; raise the error of any other."""
        answer = self.send(method, path, body, params, seconds)
        if method == "POST" and is_missing(answer):
            # another index may be taking over the name
            time.sleep(_NAME_SECONDS)
            answer = self.send(method, path, body, params, seconds)
        if not 200 <= answer.status < 300:
            raise error_of(self.url, answer, f"{method} {path}")
        if not isinstance(answer.body, dict):
            raise StoreError(
                f"{self.url} did not answer with JSON; check that a search engine listens there"
            )
        return answer.body
