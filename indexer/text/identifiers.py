"""URLs and identifiers, which tokens leave out.

The patterns are ASCII only and explicit, so that any regular-expression library finds the same: a
URL ends at the first character that is not printable ASCII, also in the middle of Chinese or Thai
text. Every pattern is linear in the length of the text.
"""

from __future__ import annotations

import re

_HEX = "[0-9A-Fa-f]"
_FREE = r"(?<![A-Za-z0-9])"
_PATTERNS = (  # in this order
    # any scheme with an authority: https, ftp, file, ...
    r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://[!-~]+",
    _FREE + r"[Ww]{3}\.[!-~]+",
    _FREE + r"(?i:mailto|urn|doi|arxiv|isbn|issn|pmid|pmcid|hdl|ark|orcid):[!-~]+",
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",  # e-mail addresses
    _FREE + r"10\.[0-9]{4,9}/[!-~]+",  # bare DOIs
    _FREE + _HEX + "{8}-" + (_HEX + "{4}-") * 3 + _HEX + r"{12}(?![A-Za-z0-9])",  # UUIDs
    _FREE + _HEX + r"{32,}(?![A-Za-z0-9])",  # digests
)
_IDENTIFIERS = [re.compile(pattern, re.ASCII) for pattern in _PATTERNS]


def without_identifiers(text: str) -> str:
    """Replace each identifier by one space.

    Identifiers are URLs, e-mail addresses, DOI, arXiv, ISBN and URN identifiers, UUIDs and long
    digests. Host names without a scheme or `www.` stay: in running text they look like a missing
    space after a full stop.

    >>> without_identifiers("see https://example.com/a?b=c, doi:10.1145/3331184 or me@example.org.")
    'see     or  .'
    """
    for identifier in _IDENTIFIERS:  # one after the other is faster than all in one alternation
        text = identifier.sub(" ", text)
    return text
