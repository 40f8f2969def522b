"""HTTP statuses of errors, and the headings of the pages that show them."""

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
from indexer.web.safety import TokenRefusal

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
    400: "Invalid request",
    403: "Not allowed",
    404: "Not found",
    405: "Not allowed",
    409: "The store cannot answer",
    500: "Internal error",
    502: "The store refused the request",
    503: "The store does not answer",
}


def status_of(error: NearfoldError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def heading(status: int) -> str:
    """Return the heading of the page that shows an error."""
    return _HEADINGS.get(status, "The request failed")
