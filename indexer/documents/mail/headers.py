"""Names of the metadata by which mails, attachments and custodians are known."""

from __future__ import annotations

import hashlib
import re

from indexer.documents.base import byte_order_mark

PARENT = "parent_id"
"""Of an attachment: the id of its mail."""
CUSTODIAN = "custodian"
"""Of a document: who held it."""
MESSAGE_ID = "message_id"
"""Of a mail: its Message-ID, in angle brackets."""
REFERENCES = "references"
"""Of a mail: the Message-IDs that it refers to, oldest first, by blanks."""
THREAD = "thread"
"""Of a mail: the MIH of the first Message-ID that it refers to, else of its own."""


# The Message-IDs in fields of a mail.

_BRACKETED = re.compile(r"<[^<>]*>")
_MOST_REFERENCES = 1_000


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


def ancestors(in_reply_to: str, references: str) -> tuple[str, ...]:
    """Return the Message-IDs that a mail refers to, oldest first, the parent last.

    References names the whole line (RFC 5322, 3.6.4). In-Reply-To names the parent where References
    is missing; of several ids there the first counts, as in RFC 5256. Blanks and comments are left
    out, and so is a field without `<` that is no list of ids ("Your message of Monday").

    >>> ancestors("<b@x>", "<a@x> <b@x>"), ancestors("b@x", ""), ancestors("Monday", "")
    (('<a@x>', '<b@x>'), ('<b@x>',), ())
    """
    line = message_ids(references) if _names_ids(references) else ()
    if line:
        return line[-_MOST_REFERENCES:]
    return message_ids(in_reply_to)[:1] if _names_ids(in_reply_to) else ()


def _names_ids(field: str) -> bool:
    return "<" in field or all("@" in part for part in field.split())


# The EDRM Message Identification Hash (MIH), by which systems name the same mail alike.


def message_hash(message_id: str) -> str:
    """Return the MIH of a Message-ID with its angle brackets; empty for an empty one.

    >>> message_hash("<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>")
    '1de319c276884bd0c9e2f1621ada26cc'
    """
    data = message_id.encode("utf-8", "surrogateescape")
    return hashlib.md5(data, usedforsecurity=False).hexdigest() if message_id else ""


# The header of a mail as bytes, before a parser reads it.

_HEADER_END = re.compile(rb"\r?\n\r?\n|\r\r")
_KNOWN_FIELD = re.compile(rb"^(?:from|to|subject|date|message-id|received):", re.I | re.M)
_FIRST_FIELD = re.compile(rb"[!-9;-~]+:")
_RAW_NAME = re.compile(rb"^[\x21-\x39\x3b-\x7e]*[\x80-\xff][\x21-\x39\x3b-\xff]*:", re.M)


def is_mail_text(data: bytes) -> bool:
    """Return whether bytes are a mail as mail programs send it, by the fields that they begin with.

    >>> is_mail_text(b"Importance: high\\nFrom: Ann\\n\\nYes."), is_mail_text(b"a: b\\n\\nFrom: x")
    (True, False)
    """
    mark, _ = byte_order_mark(data)
    data = data[len(mark) :]
    end = _HEADER_END.search(data)
    stop = end.start() if end else len(data)
    return bool(_FIRST_FIELD.match(data) and _KNOWN_FIELD.search(data, 0, stop))


def named_fields(data: bytes) -> bytes:
    """Return a mail whose fields have names in ASCII: others are renamed `X-Unnamed`.

    Mails whose header has none of the usual fields are returned as they are.

    >>> named_fields("From: Ann\\nGrüße: x\\n\\nYes.".encode("latin-1"))
    b'From: Ann\\nX-Unnamed: x\\n\\nYes.'
    """
    end = _HEADER_END.search(data)
    stop = end.start() if end else len(data)
    if not _RAW_NAME.search(data, 0, stop) or not _KNOWN_FIELD.search(data, 0, stop):
        return data
    return _RAW_NAME.sub(b"X-Unnamed:", data[:stop]) + data[stop:]
