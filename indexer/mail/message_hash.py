"""The EDRM Message Identification Hash (MIH), by which systems name the same mail alike.

EDRM Message Identification Hash Specification 1.0 (January 2023): the MD5 of the value of the field
Message-ID with its angle brackets, as 32 lower-case hexadecimal digits.
"""

from __future__ import annotations

import hashlib


def message_hash(message_id: str) -> str:
    """Return the MIH of a Message-ID with its angle brackets; empty for an empty one.

    >>> message_hash("<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>")
    '1de319c276884bd0c9e2f1621ada26cc'
    """
    data = message_id.encode("utf-8", "surrogateescape")
    return hashlib.md5(data, usedforsecurity=False).hexdigest() if message_id else ""
