"""Fields in the header of a mail: Message-IDs, threads, and names that a parser can read; fields
of calendars and contacts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from email.utils import getaddresses

from indexer.documents.base import HEADER_END, USUAL_FIELD, message_hash

_BRACKETED = re.compile(r"<[^<>]*>")
_MAX_REFERENCES = 1_000


def message_ids(field: str) -> tuple[str, ...]:
    """Return the Message-IDs of a field, with their brackets and without blanks, each once, in
    order.

    A field without brackets is one Message-ID, several where each word has an `@`; they get
    brackets, for replies name them so.

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


# The thread of a mail, from Tika's metadata.

_MAX_VALUE = 1000
_RAW = "message:raw-header:"
_ID_FIELDS = (
    ("message-id", "mapi:internet-message-id"),
    ("in-reply-to", "mapi:in-reply-to-id"),
    ("references", "mapi:internet-references"),
)


def thread_fields(metadata: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the `message_id` of a mail, the ids that it refers to (`references`), oldest first, by
    blanks, and the MIH of the first of these, else of its own (`thread`); from Tika's metadata,
    also of Outlook's own format. Empty for other documents.

    Of more ids than 1,000 characters hold, the first and the last ones stay.

    >>> thread_fields({"Message:Raw-Header:Message-Id": ["<b@x>"]})
    {'message_id': '<b@x>', 'thread': '206802fe1e22b48356a5a4dee51e44bd'}
    """
    fields = {
        key.lower().removeprefix(_RAW): " ".join(values)
        for key, values in metadata.items()
        if key.lower().startswith((_RAW, "mapi:"))
    }
    own, in_reply_to, references = (
        fields.get(name) or fields.get(property, "") for name, property in _ID_FIELDS
    )
    line = ancestors(in_reply_to, references)
    own_ids = message_ids(own)[:1]
    values = {
        "message_id": "".join(own_ids)[:_MAX_VALUE],
        "references": _fitting(line),
        "thread": message_hash(next(iter(line or own_ids), "")),
    }
    return {name: value for name, value in values.items() if value}


def _fitting(ids: Sequence[str]) -> str:
    """Return ids by blanks: all, or the first and as many of the last as fit into a value."""
    while len(" ".join(ids)) > _MAX_VALUE and len(ids) > 1:
        ids = (ids[0], *ids[2:])
    return " ".join(ids)[:_MAX_VALUE]


def replies_elsewhere(fields: Sequence[tuple[str, str]]) -> str:
    """Return the addresses to which replies go that are not of the sender, by blanks; empty for
    none, and for a mail of a list, which names itself there.

    >>> replies_elsewhere([("From", "Ann <ann@x.org>"), ("Reply-To", "Ann <Ann@y.org>")])
    'ann@y.org'
    >>> replies_elsewhere([("From", "ann@x.org"), ("Reply-To", "l@x.org"), ("List-Id", "<l>")])
    ''
    """
    names = {name.lower() for name, _ in fields}
    if "reply-to" not in names or any(name.startswith(_OF_LISTS) for name in names):
        return ""
    addresses: dict[str, set[str]] = {"from": set(), "sender": set(), "reply-to": set()}
    for name, value in fields:
        if (found := addresses.get(name.lower())) is not None:
            found.update(address.lower() for _, address in getaddresses([value]) if address)
    elsewhere = addresses["reply-to"] - addresses["from"] - addresses["sender"]
    return " ".join(sorted(elsewhere))


_OF_LISTS = ("list-", "mailing-list", "x-mailing-list")


# The header of a mail as bytes, before a parser reads it.

_FIELD = re.compile(rb"[!-9;-~]+:")
_FIRST_FIELD = b"Return-Path: <>\n"
_RAW_NAME = re.compile(rb"^[\x21-\x39\x3b-\x7e]*[\x80-\xff][\x21-\x39\x3b-\xff]*:", re.M)


def mark_type(data: bytes, name: str) -> bytes:
    """Return the bytes of a file `.eml` with a field before the others by which Tika knows a mail.

    It takes others, such as `To:` and `X-Gmail-Labels:`, for the beginning of another format, whose
    fields are text. What begins with no field is returned unchanged.

    >>> mark_type(b"To: ann@x.org\\n\\nYes.\\n", "a.eml")
    b'Return-Path: <>\\nTo: ann@x.org\\n\\nYes.\\n'
    """
    is_message = name.lower().endswith(".eml") and _FIELD.match(data)
    return _FIRST_FIELD + data if is_message else data


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


# Ids of Outlook's properties of calendars and contacts, by their names in iCalendar and vCard.
_METHODS = {
    ("request", "mtgreq"): ("METHOD:REQUEST",),
    ("canceled", "mtgcncl"): ("METHOD:CANCEL",),
    (".pos", "mtgrespp"): ("METHOD:REPLY", "PARTSTAT:ACCEPTED"),
    (".neg", "mtgrespn"): ("METHOD:REPLY", "PARTSTAT:DECLINED"),
    (".tent", "mtgrespa"): ("METHOD:REPLY", "PARTSTAT:TENTATIVE"),
}
_ENTRY = (
    ("DTSTART", 0x820D), ("DTSTART", 0x0060), ("DTEND", 0x820E), ("DTEND", 0x0061),
    ("LOCATION", 0x8208), ("LOCATION", 0x3A0D), ("RRULE", 0x8232),
    ("N", 0x3A11, 0x3A06), ("ORG", 0x3A16, 0x3A18), ("TITLE", 0x3A17), ("BDAY", 0x3A42),
    ("TEL;TYPE=work", 0x3A08, 0x3A1B), ("TEL;TYPE=home", 0x3A09, 0x3A2F),
    ("TEL;TYPE=cell", 0x3A1C), ("TEL", 0x3A1A, 0x3A1F), ("TEL;TYPE=pager", 0x3A21),
    ("TEL;TYPE=fax", 0x3A24, 0x3A25, 0x3A23), ("EMAIL", 0x8083, 0x8093, 0x80A3),
    ("ADR;TYPE=work", 0x801B), ("ADR;TYPE=home", 0x801A), ("ADR;TYPE=other", 0x801C),
    ("ADR", 0x3A29, 0x3A27, 0x3A28, 0x3A2A, 0x3A26), ("LABEL", 0x3A15), ("URL", 0x3A51),
)  # fmt: skip


def entry_lines(kind: str, value: Callable[[int], str]) -> list[str]:
    """Return the fields of an entry of a calendar, or of a contact, as lines of iCalendar or vCard;
    none of another message.

    `kind` is the class of a message of Outlook, `value` gives a property by its id, empty without
    it. Of two properties for one line the first counts.

    >>> entry_lines("IPM.Schedule.Meeting.Canceled", {0x8208: "Pier 2", 0x3A0D: "Pier"}.get)
    ['METHOD:CANCEL', 'LOCATION:Pier 2']
    """
    method = [lines for ends, lines in _METHODS.items() if kind.lower().endswith(ends)]
    fields: dict[str, str] = {}
    for name, *ids in _ENTRY:
        if text := ";".join(filter(None, map(value, ids))):
            fields.setdefault(name, text)
    return [*(method[0] if method else ()), *(f"{name}:{text}" for name, text in fields.items())]
