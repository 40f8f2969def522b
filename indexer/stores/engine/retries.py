"""Limits and pauses of requests that are sent again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


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
