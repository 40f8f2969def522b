"""Digests as an engine stores them: a SHA-256 in 43 characters of base64url instead of 64."""

from __future__ import annotations

import base64
import re

_HEXADECIMAL = re.compile("[0-9a-f]{64}")
_SHORT = re.compile("[0-9A-Za-z_-]{43}")
_ESCAPE = "."
_LAST = frozenset("AEIMQUYcgkosw048")  # characters whose two last bits, which are padding, are 0


def shorten(digest: str) -> str:
    """Return a SHA-256 in lower-case hexadecimal digits as base64url without padding.

    Any other text stays as it is; one that looks shortened, or escaped, gets a full stop in front.

    >>> shorten("00" * 31 + "ff"), shorten("etag 5"), shorten("")
    ('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8', 'etag 5', '')
    >>> shorten("A" * 43) == "." + "A" * 43
    True
    """
    if _HEXADECIMAL.fullmatch(digest):
        return base64.urlsafe_b64encode(bytes.fromhex(digest)).decode("ascii").rstrip("=")
    return f"{_ESCAPE}{digest}" if _SHORT.fullmatch(digest.lstrip(_ESCAPE)) else digest


def lengthen(stored: str) -> str:
    """Return the text that `shorten` made this of; what an earlier nearfold stored stays as it is.

    >>> lengthen(shorten("0f" * 32)) == "0f" * 32 == lengthen("0f" * 32)
    True
    """
    if stored.startswith(_ESCAPE) and _SHORT.fullmatch(stored.lstrip(_ESCAPE)):
        return stored.removeprefix(_ESCAPE)
    if not _SHORT.fullmatch(stored) or stored[-1] not in _LAST:
        return stored
    return base64.urlsafe_b64decode(f"{stored}=").hex()
