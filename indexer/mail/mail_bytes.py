"""The bytes of a mail as mail programs send it: one byte a character at least in the header."""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexer.mail.header_bytes import named_fields
from indexer.mail.outlook_message import MAGIC, outlook_mail
from indexer.text.byte_order_marks import byte_order_mark

_LITTLE = re.compile(rb"(?:[A-Za-z-]\0){4}")
_BIG = re.compile(rb"(?:\0[A-Za-z-]){4}")


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
    return MailBytes(named_fields(data), bool(encoding))


def _unmarked_encoding(data: bytes) -> str:
    if _LITTLE.match(data):
        return "utf-16-le"
    return "utf-16-be" if _BIG.match(data) else ""
