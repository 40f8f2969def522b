"""HTTP statuses of errors, and the headings of the pages that show them."""

from __future__ import annotations

from collections.abc import Mapping

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
from indexer.web.original_files import OriginalUnavailable
from indexer.web.safety import TokenRefusal

_STATUSES: tuple[tuple[type[NearfoldError], int], ...] = (
    (TokenRefusal, 403),
    (UnknownNumber, 404),
    (OriginalUnavailable, 404),
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


_PAGE_MESSAGES: Mapping[type[NearfoldError], str] = {
    DocumentNotFound: (
        "This document is not in the store: it was deleted, or indexed again from another place. "
        "A search finds what is there now."
    ),
}


def status_of(error: NearfoldError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def heading(status: int) -> str:
    """Return the heading of the page that shows an error."""
    return _HEADINGS.get(status, "The request failed")


def page_message(error: Exception) -> str | None:
    """Return what a reader of pages can do about an error, None where its own words say that."""
    return _PAGE_MESSAGES.get(type(error)) if isinstance(error, NearfoldError) else None
