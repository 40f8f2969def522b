"""Errors as HTTP: one table of statuses, and what a reader is told."""

from __future__ import annotations

from indexer.errors import (
    DocumentNotFound,
    NearfoldError,
    StoreAccessDenied,
    StoreBusy,
    StoreError,
    StoreUnreachable,
    UnknownNumber,
    UsageError,
)
from indexer.web.actions import TokenRefusal

_STATUSES: tuple[tuple[type[NearfoldError], int], ...] = (
    (TokenRefusal, 403),
    (UnknownNumber, 404),
    (UsageError, 400),
    (DocumentNotFound, 404),
    (StoreBusy, 409),
    (StoreUnreachable, 503),
    (StoreAccessDenied, 502),
    (StoreError, 409),
)
_HEADINGS = {
    400: "That cannot be asked",
    403: "Not allowed",
    404: "Not found",
    405: "Not allowed",
    409: "The store cannot answer",
    500: "Something went wrong here",
    502: "The store refused",
    503: "No answer from the store",
}


def status_of(error: NearfoldError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def heading(status: int) -> str:
    """What a page is called that tells of an error."""
    return _HEADINGS.get(status, "That did not work")
