"""The Message-IDs in fields of a mail."""

from __future__ import annotations

import re

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
