"""The number of a clause before a name that begins small: "5. eBay". Part of `clauses_v3`.

Elsewhere a small letter after a number says that a sentence goes on there.
"""

from __future__ import annotations

import re

from indexer.text.clauses.headings import Marker, heading_v2, marker
from indexer.text.clauses.labels import SMALL_NAME

_NUMBERED = re.compile(
    r"[ \t\xa0]*(?:[^\W\d_]+\.?[ \t\xa0]+|§+[ \t\xa0]*)?[\d.()a-zA-Z\-]{1,12}:?[ \t\xa0]+"
    rf"(?P<name>{SMALL_NAME})"
)


def marker_v3(line: str) -> Marker | None:
    """Return what `marker` returns, also where a name with a small first letter follows.

    >>> marker("5. eBay") is None, marker_v3("5. eBay").label
    (True, '5')
    """
    return marker(_with_capital(line))


def heading_v3(line: str, announced: Marker) -> tuple[str, int]:
    """Return what `heading_v2` returns, also for a title that begins with such a name.

    >>> heading_v3("5. eBay", marker_v3("5. eBay"))[0]
    'eBay'
    """
    recased = _with_capital(line)
    title, body = heading_v2(recased, announced)
    start = recased.find(title, announced.rest)
    return (title if start < 0 else line[start : start + len(title)]), body


def _with_capital(line: str) -> str:
    """Return a line with a capital at the beginning of the name after its number."""
    name = _NUMBERED.match(line)
    if name is None or len(line[name.start("name")].upper()) != 1:
        return line
    at = name.start("name")
    return line[:at] + line[at].upper() + line[at + 1 :]
