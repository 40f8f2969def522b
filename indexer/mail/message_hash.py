"""The EDRM Message Identification Hash (MIH), by which systems name the same mail alike.

EDRM Message Identification Hash Specification 1.0 (January 2023): the MD5 of the value of the field
Message-ID with its angle brackets, as 32 lower-case hexadecimal digits.
"""

from __future__ import annotations

import hashlib
import re

_BRACKETED = re.compile(r"<[^<>]*>")


def message_hash(message_id: str) -> str:
    """Return the MIH of a Message-ID with its angle brackets; empty for an empty one.

    >>> message_hash("<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>")
    '1de319c276884bd0c9e2f1621ada26cc'
    """
    data = message_id.encode("utf-8", "surrogateescape")
    return hashlib.md5(data, usedforsecurity=False).hexdigest() if message_id else ""


def message_ids(field: str) -> tuple[str, ...]:
    """Return the Message-IDs of a field, with their brackets and without blanks, each once, in
    order.

    A field without brackets is one Message-ID, several where each word has an `@`; they get
    brackets, for answers name them so.

    >>> message_ids(" <a@x>\\n <b@\\n y> (Ann) <a@x>"), message_ids("c@z"), message_ids("")
    (('<a@x>', '<b@y>'), ('<c@z>',), ())
    """
    items = _BRACKETED.findall(field) or _bare_ids(field)
    ids = (f"<{''.join(item.split()).strip('<>')}>" for item in items)
    return tuple(dict.fromkeys(item for item in ids if item != "<>"))


def _bare_ids(field: str) -> list[str]:
    parts = field.split()
    return parts if all("@" in part for part in parts) else [field]
