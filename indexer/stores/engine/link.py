"""What the two engine clients have in common: a request, its answer, and what an answer that is no
success means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from indexer.errors import StoreAccessDenied, StoreError, StoreStopped, StoreUnreachable

PASSING = frozenset({429, 502, 503, 504})  # statuses that are worth asking again
_NO_INDEX = frozenset({"index_not_found_exception", "alias_not_found_exception"})
_CLOSED = frozenset({"index_closed_exception"})
_RECOVERING = frozenset({"no_shard_available_action_exception"})
_BLOCKED = frozenset({"cluster_block_exception"})


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and the JSON that came with it; `body` is None when it was no JSON. `retry_after` is
    as the server wrote it.
    """

    status: int
    body: Any
    retry_after: str | None = None

    @property
    def kind(self) -> str:
        """The engine's name of the error, empty when it gives none."""
        return str(_error(self).get("type", ""))

    @property
    def reason(self) -> str:
        """The engine's own words, the root cause's first."""
        error = _error(self)
        causes = error.get("root_cause") or [error]
        return str(causes[0].get("reason") or error.get("reason") or self.kind or "no reason given")


def _error(answer: Answer) -> Mapping[str, Any]:
    """The error object of an answer, empty when there is none; some are a mere text, which security
    APIs call `message`.
    """
    body = answer.body if isinstance(answer.body, Mapping) else {}
    error = body.get("error")
    return error if isinstance(error, Mapping) else {"reason": error or body.get("message")}


class IndexMissing(StoreError):
    """There is no such index."""

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
        """Send one request, once. Raises `StoreUnreachable` when no answer comes; every status is
        an answer.
        """
        ...

    def close(self) -> None:
        """Release the connections."""
        ...


def meaning(url: str, answer: Answer, asked: str = "") -> StoreError:
    """The error that an answer stands for, outside of bulk writes; `asked` is the request, method
    and path.
    """
    if stopped := is_stopping(answer):
        return stopped
    if answer.status in (401, 403):
        lacking = (
            f"{asked} needs a right that these credentials lack: "
            if asked and answer.status == 403
            else ""
        )
        return StoreAccessDenied(url=url, status=answer.status, reason=f"{lacking}{answer.reason}")
    if answer.kind in _NO_INDEX:
        return IndexMissing(url)
    if answer.status in PASSING or answer.kind in _RECOVERING:
        return StoreUnreachable(
            url=url, reason=f"it is overloaded or not ready: {answer.status} {answer.reason}"
        )
    return StoreError(
        f"{url} answered {answer.status}: {answer.reason}; see the server's log, and run `nearfold doctor`"
    )


def is_stopping(answer: Answer) -> StoreStopped | None:
    """Why writing cannot go on, told by the kind of the error: a full disk may come as 403 or as
    429. None when it can.
    """
    if answer.kind in _BLOCKED:
        return StoreStopped(
            reason=answer.reason,
            mend="free disk space on the cluster, or lift the block from the index",
        )
    if answer.kind in _CLOSED:
        return StoreStopped(reason=answer.reason, mend="open the index")
    return None


def is_missing(answer: Answer) -> bool:
    """Whether the index was not there, for the request or for a part of it."""
    body = answer.body if isinstance(answer.body, Mapping) else {}
    parts = [answer, *(Answer(404, one) for one in body.get("docs", ()) if "error" in one)]
    causes = [
        cause for part in parts for cause in (_error(part), *(_error(part).get("root_cause") or ()))
    ]
    return any(cause.get("type") in _NO_INDEX for cause in causes)


def is_gone(answer: Answer) -> StoreStopped | None:
    """Why writing cannot go on although it began: the index went away, or the right to write. None
    when neither did.
    """
    if answer.kind in _NO_INDEX:
        return StoreStopped(
            reason=f"the index is gone ({answer.reason})",
            mend="give --store a name that nobody deletes",
        )
    if answer.status in (401, 403):
        return StoreStopped(
            reason=f"the right to write is gone ({answer.reason})", mend="restore it"
        )
    return None
