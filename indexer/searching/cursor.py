"""The state of a paged search as one token: which hits were shown, and at which snapshot."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from dataclasses import dataclass

from indexer.errors import UsageError

LONGEST = 4_000_000  # bytes of a decompressed token


@dataclass(frozen=True, slots=True)
class Cursor:
    """The state after `page` pages of a search.

    `search`: digest of the query and its options. `shown`: ids of the hits shown, in order.
    """

    search: str
    page: int
    shown: tuple[str, ...]
    snapshot: str | None

    @property
    def token(self) -> str:
        """The cursor as letters, digits, `-` and `_`.

        About 25 characters a shown hit of nearfold's own ids.
        """
        state = json.dumps([self.search, self.page, self.snapshot, *self.shown], ensure_ascii=False)
        packed = zlib.compress(state.encode("utf-8", "replace"), 9)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")

    def next_page(self, shown: tuple[str, ...], snapshot: str | None) -> Cursor:
        """Return the cursor after one more page."""
        return Cursor(self.search, self.page + 1, self.shown + shown, snapshot)


def search_digest(*parts: object) -> str:
    """Return a digest of a query and its options, by which tokens of other searches are refused."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def parse_token(token: str, search: str) -> Cursor:
    """Return the cursor that `Cursor.token` wrote.

    Raises `UsageError` for anything else, and for a token of another search than `search`.

    >>> parse_token(Cursor("0a", 1, ("x", "y"), None).token, "0a")
    Cursor(search='0a', page=1, shown=('x', 'y'), snapshot=None)
    """
    try:
        cursor = _unpack(token)
    except (binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise UsageError(
            "this is not a page token; copy the whole `next` of the page before"
        ) from error
    if cursor.search != search:
        raise UsageError(
            "this token belongs to another search; "
            "give the same query, filters, order, folding and threshold"
        )
    return cursor


def _unpack(token: str) -> Cursor:
    padding = "=" * (-len(token) % 4)
    packed = base64.b64decode(token + padding, altchars=b"-_", validate=True)
    state = zlib.decompressobj().decompress(packed, LONGEST)
    search, page, snapshot, *shown = json.loads(state)
    shown_ids = tuple(str(id) for id in shown)
    return Cursor(str(search), int(page), shown_ids, None if snapshot is None else str(snapshot))
