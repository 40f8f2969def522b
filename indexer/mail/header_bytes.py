"""The header of a mail as bytes, before a parser reads it."""

from __future__ import annotations

import re

from indexer.text.byte_order_marks import byte_order_mark

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
