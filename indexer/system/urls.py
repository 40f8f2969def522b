"""Taking URLs apart that people wrote."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from indexer.errors import UsageError

_LOGIN = re.compile(
    r"//.*@", re.DOTALL
)  # to the last @: a password may hold / ? and #, though no URL may


def parts_of(url: str) -> SplitResult:
    """The parts of a URL. Raises `UsageError` where there is no telling them apart, as in
    `http://[host`.

    >>> parts_of("http://ada@host:9200/docs").hostname
    'host'
    """
    try:
        parts = urlsplit(url)
        parts.hostname, parts.port  # noqa: B018 - read for the errors that they raise
    except ValueError as error:
        raise UsageError(f"{without_login(url)!r} is not a URL ({error}); mend it") from None
    return parts


def without_login(url: str) -> str:
    """The URL without user and password, for messages.

    >>> without_login("postgres://ada:secret@host/docs")
    'postgres://host/docs'
    >>> without_login("opensearch://ada:half/secret@host/docs")
    'opensearch://host/docs'
    """
    return _LOGIN.sub("//", url, count=1)
