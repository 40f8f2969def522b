"""Fields in the header of a mail: Message-IDs, and names that a parser can read."""

from __future__ import annotations

import re

from indexer.documents.base import HEADER_END, USUAL_FIELD

_BRACKETED = re.compile(r"<[^<>]*>")
_MAX_REFERENCES = 1_000


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
        return line[-_MAX_REFERENCES:]
    return message_ids(in_reply_to)[:1] if _names_ids(in_reply_to) else ()


def _names_ids(field: str) -> bool:
    return "<" in field or all("@" in part for part in field.split())


# The header of a mail as bytes, before a parser reads it.

_RAW_NAME = re.compile(rb"^[\x21-\x39\x3b-\x7e]*[\x80-\xff][\x21-\x39\x3b-\xff]*:", re.M)


def named_fields(data: bytes) -> bytes:
    """Return a mail whose fields have names in ASCII: others are renamed `X-Unnamed`.

    Mails whose header has none of the usual fields are returned as they are.

    >>> named_fields("From: Ann\\nGrüße: x\\n\\nYes.".encode("latin-1"))
    b'From: Ann\\nX-Unnamed: x\\n\\nYes.'
    """
    end = HEADER_END.search(data)
    stop = end.start() if end else len(data)
    if not _RAW_NAME.search(data, 0, stop) or not USUAL_FIELD.search(data, 0, stop):
        return data
    return _RAW_NAME.sub(b"X-Unnamed:", data[:stop]) + data[stop:]
