"""The bytes of a mail as mail programs send it: one byte a character at least in the header."""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexer.mail.outlook_message import MAGIC, outlook_mail
from indexer.text.byte_order_marks import byte_order_mark

_LITTLE = re.compile(rb"(?:[A-Za-z-]\0){4}")
_BIG = re.compile(rb"(?:\0[A-Za-z-]){4}")
_HEADER_END = re.compile(rb"\r?\n\r?\n|\r\r")
_KNOWN_FIELD = re.compile(rb"^(?:from|to|subject|date|message-id|received):", re.I | re.M)
_FIRST_FIELD = re.compile(rb"[!-9;-~]+:")
_RAW_NAME = re.compile(rb"^[\x21-\x39\x3b-\x7e]*[\x80-\xff][\x21-\x39\x3b-\xff]*:", re.M)


@dataclass(frozen=True, slots=True)
class MailBytes:
    """A mail whose header is ASCII but for values; `is_recoded`: all of it was brought to UTF-8, so
    that parts without a transfer encoding are UTF-8, whatever they declare.
    """

    data: bytes
    is_recoded: bool = False


def mail_bytes(data: bytes) -> MailBytes:
    """Return a mail without byte order mark, in UTF-8 where it is in UTF-16 or UTF-32.

    A message of Outlook (`.msg`) is written as such a mail; raises `ValueError` where that fails. A
    field whose name has bytes that are not ASCII is renamed `X-Unnamed` where the header has one
    of the usual fields, for a parser ends the header there.

    >>> mail_bytes("\\ufeffFrom: Ann".encode("utf-16-le"))
    MailBytes(data=b'From: Ann', is_recoded=True)
    """
    if data.startswith(MAGIC):
        return MailBytes(outlook_mail(data))
    mark, encoding = byte_order_mark(data)
    data = data[len(mark) :]
    if encoding in ("", "utf-8"):
        encoding = _unmarked_encoding(data)
    if encoding:
        data = data.decode(encoding, "replace").encode("utf-8", "replace")
    return MailBytes(_named_fields(data), bool(encoding))


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


def _unmarked_encoding(data: bytes) -> str:
    if _LITTLE.match(data):
        return "utf-16-le"
    return "utf-16-be" if _BIG.match(data) else ""


def _named_fields(data: bytes) -> bytes:
    end = _HEADER_END.search(data)
    stop = end.start() if end else len(data)
    if not _RAW_NAME.search(data, 0, stop) or not _KNOWN_FIELD.search(data, 0, stop):
        return data
    return _RAW_NAME.sub(b"X-Unnamed:", data[:stop]) + data[stop:]
