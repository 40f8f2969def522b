"""E-mail addresses and URLs in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ADDRESS = re.compile(
    r"""(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+  # e-mail
    | (?:\b[a-z][a-z0-9+.-]{1,9}://|\bwww\.)[^\s<>"\u201c\u201d]+  # a URL
    """,
    re.VERBOSE | re.IGNORECASE,
)
# each address has one of these; a set of first characters is found faster than alternatives
_SIGN = re.compile(r"[@:wW](?:(?<=@)|(?<=:)//|(?<=[wW])[wW]{2}\.)")
_BEFORE = 64  # characters at most that an address has before it
_SCHEME = re.compile(r"(?:https?://)?(?:www\.)?")
_AFTER = ".,;:!?)]}'\u2019*_/"  # signs that end a sentence around an address


def addresses(text: str) -> Iterator[tuple[int, str]]:
    """Yield each address with the place in the text where it begins.

    >>> list(addresses("Ask <ann@x.org>, or see www.x.org/a."))
    [(5, 'ann@x.org'), (24, 'www.x.org/a')]
    """
    place = 0
    while sign := _SIGN.search(text, place):
        match = _ADDRESS.search(text, max(place, sign.start() - _BEFORE))
        if match is None:
            return
        yield match.start(), match.group().rstrip(_AFTER)
        place = match.end()


def address_value(address: str) -> str:
    """Return what spellings of an address have in common.

    >>> address_value("https://www.X.org/a")
    'x.org/a'
    """
    return _SCHEME.sub("", address.casefold(), count=1)
