"""Recognise mail, mark its type and the character set of its parts for Tika, and read its thread.

`mark_charset` puts a byte order mark into text parts that declare UTF-8 and are UTF-8. Tika's
detector overrules a part's declared character set: Polish mail in UTF-8 came back as Chinese (Tika
3.3.2 and iscc-tika 0.6.0). It trusts a byte order mark.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage, Message

from indexer.mail.header_bytes import is_mail_text
from indexer.mail.message_hash import message_hash
from indexer.mail.message_ids import ancestors, message_ids

_HEADER = re.compile(
    rb"(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|content-type"
    rb"|delivered-to|x-[\w-]+):",
    re.IGNORECASE,
)
_DECLARED = re.compile(rb"charset\s*=\s*\"?utf-?8", re.IGNORECASE)
_FIELD = re.compile(rb"[!-9;-~]+:")
_FIRST_FIELD = b"Return-Path: <>\n"
_MAX_BYTES = 32 << 20
_MOST_VALUE = 1000
_RAW = "message:raw-header:"
_ID_FIELDS = (
    ("message-id", "mapi:internet-message-id"),
    ("in-reply-to", "mapi:in-reply-to-id"),
    ("references", "mapi:internet-references"),
)


def is_mail(data: bytes, name: str) -> bool:
    """Return whether bytes are a message, by the name or by a header at the beginning; under the
    name of one of Outlook, by any fields.
    """
    if name.lower().endswith(".eml") or _HEADER.match(data):
        return True
    return name.lower().endswith(".msg") and is_mail_text(data)


def mark_type(data: bytes, name: str) -> bytes:
    """Return the bytes of a file `.eml` with a field before the others by which Tika knows a mail.

    It takes others, such as `To:` and `X-Gmail-Labels:`, for the beginning of another format, whose
    fields are text. What begins with no field is returned unchanged.

    >>> mark_type(b"To: ann@x.org\\n\\nYes.\\n", "a.eml")
    b'Return-Path: <>\\nTo: ann@x.org\\n\\nYes.\\n'
    """
    is_message = name.lower().endswith(".eml") and _FIELD.match(data)
    return _FIRST_FIELD + data if is_message else data


def mark_charset(data: bytes) -> bytes:
    """Return the message with a byte order mark in each text part that declares UTF-8 and is UTF-8.

    Other bytes, a message that cannot be parsed, and one of more than 32 MB are returned unchanged.
    """
    if len(data) > _MAX_BYTES or not _DECLARED.search(data):
        return data
    try:
        message = message_from_bytes(data, policy=policy.compat32)
        changed = [_mark(part) for part in message.walk() if _declares_utf8(part)]
        return message.as_bytes() if any(changed) else data
    except (MessageError, LookupError, ValueError, TypeError, RecursionError):
        return data


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
        "message_id": "".join(own_ids)[:_MOST_VALUE],
        "references": _fitting(line),
        "thread": message_hash(next(iter(line or own_ids), "")),
    }
    return {name: value for name, value in values.items() if value}


def _fitting(ids: Sequence[str]) -> str:
    """Return ids by blanks: all, or the first and as many of the last as fit into a value."""
    while len(" ".join(ids)) > _MOST_VALUE and len(ids) > 1:
        ids = (ids[0], *ids[2:])
    return " ".join(ids)[:_MOST_VALUE]


def _declares_utf8(part: Message | EmailMessage) -> bool:
    if part.is_multipart() or part.get_content_maintype() != "text":
        return False
    return (part.get_content_charset() or "").replace("-", "") == "utf8"


def _mark(part: Message | EmailMessage) -> bool:
    """Put the mark at the beginning of a part, and return True.

    Return False when the part is not UTF-8, is ASCII, or has a mark already.
    """
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or payload.isascii() or payload.startswith(codecs.BOM_UTF8):
        return False
    try:
        payload.decode("utf-8")
    except UnicodeDecodeError:
        return False
    del part["Content-Transfer-Encoding"]
    part["Content-Transfer-Encoding"] = "8bit"
    part.set_payload((codecs.BOM_UTF8 + payload).decode("ascii", "surrogateescape"))
    return True
