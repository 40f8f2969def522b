"""URLs of users: their parts, and how to show them."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from indexer.errors import UsageError

# Up to the last @: a password may hold / ? and #, though no URL may.
_LOGIN = re.compile(r"//.*@", re.DOTALL)


def parts_of(url: str) -> SplitResult:
    """Return the parts of a URL. Raises `UsageError` when it has none, as `http://[host`.

    >>> parts_of("http://ada@host:9200/docs").hostname
    'host'
    """
    try:
        parts = urlsplit(url)
        parts.hostname, parts.port  # noqa: B018 - read for the errors that they raise
    except ValueError as error:
        raise UsageError(f"{without_login(url)!r} is not a URL ({error}); correct it") from None
    return parts


def without_login(url: str) -> str:
    """Return the URL without user and password, for messages.

    >>> without_login("postgres://ada:secret@host/docs")
    'postgres://host/docs'
    >>> without_login("opensearch://ada:half/secret@host/docs")
    'opensearch://host/docs'
    """
    return _LOGIN.sub("//", url, count=1)
