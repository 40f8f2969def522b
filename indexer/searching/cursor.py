"""Where a paged search goes on: which hits were shown, and at which moment of the store, spelled as
one token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from dataclasses import dataclass

from indexer.errors import UsageError

LONGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """The state after `page` pages of a search: `shown` are the ids of the hits shown, in order."""

    search: str
    page: int
    shown: tuple[str, ...]
    snapshot: str | None

    @property
    def token(self) -> str:
        """The cursor as letters, digits, `-` and `_`: about 25 characters a shown hit of nearfold's
        own ids.
        """
        state = json.dumps([self.search, self.page, self.snapshot, *self.shown], ensure_ascii=False)
        return (
            base64.urlsafe_b64encode(zlib.compress(state.encode("utf-8", "replace"), 9))
            .decode()
            .rstrip("=")
        )

    def later(self, shown: tuple[str, ...], snapshot: str | None) -> Cursor:
        """The cursor after one more page."""
        return Cursor(self.search, self.page + 1, self.shown + shown, snapshot)


def fingerprint_of(*asked: object) -> str:
    """A digest of what a search asks, by which a token of another search is told."""
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]


def cursor(token: str, search: str) -> Cursor:
    """The inverse of `Cursor.token`; raises `UsageError` for what is no token, and for one of
    another search.

    >>> cursor(Cursor("0a", 1, ("x", "y"), None).token, "0a")
    Cursor(search='0a', page=1, shown=('x', 'y'), snapshot=None)
    """
    try:
        packed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        of, page, snapshot, *shown = json.loads(zlib.decompressobj().decompress(packed, LONGEST))
        read = Cursor(
            str(of), int(page), tuple(map(str, shown)), None if snapshot is None else str(snapshot)
        )
    except (binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise UsageError(
            "that is no token of a page; copy the whole `next` of the page before"
        ) from error
    if read.search != search:
        raise UsageError(
            "that token belongs to another search; give the same query, filters, order, folding and threshold"
        )
    return read
