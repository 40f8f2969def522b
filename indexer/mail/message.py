"""One mail: the fields that make threads, the text of its body, and its attachments."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import mktime_tz, parsedate_tz
from functools import reduce

from indexer.mail.alternative_text import alternative_text
from indexer.mail.code_pages import decode_declared
from indexer.mail.html_body import html_text
from indexer.mail.mail_bytes import mail_bytes
from indexer.mail.message_hash import message_hash
from indexer.mail.message_ids import ancestors, message_ids

_NOT_BASE64 = re.compile(r"^(?![A-Za-z0-9+/=]*[ \t\r]*$)(?s:.+)", re.MULTILINE)
_PADDED = re.compile(r"=(?=\s*[A-Za-z0-9+/])")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part that is no text of the body: its name, and the SHA-256 of its bytes (64 digits)."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A mail as its sender sent it.

    `id` and `path` say which document it is. `message_id` has its angle brackets and is empty where
    the field is missing. `replies_to`: the Message-IDs of In-Reply-To and References, oldest
    ancestor first, the parent last. `date`: milliseconds since 1970 UTC, None for none or one that
    cannot be read. `body`: its text, quotes marked by `>` where the program marks them.
    """

    id: str
    path: str
    message_id: str = ""
    replies_to: tuple[str, ...] = ()
    subject: str = ""
    sender: str = ""
    date: int | None = None
    body: str = ""
    attachments: tuple[Attachment, ...] = ()

    @property
    def mih(self) -> str:
        """The EDRM Message Identification Hash; empty without a Message-ID."""
        return message_hash(self.message_id)


def read_message(data: bytes, id: str, path: str) -> MailMessage:
    """Return the mail of RFC 5322 in `data`; Python's `email` package reads it.

    Whatever is damaged is read as far as it goes, and no bytes give an empty mail. A byte order
    mark, UTF-16 and fields in raw UTF-8 or another character set are read. Raises `ValueError` for
    what that package fails on.
    """
    source = mail_bytes(data)
    try:
        message = message_from_bytes(source.data, policy=policy.compat32)
        parts = _Parts(source.is_recoded)
        body = parts.body(message)
    except (MessageError, LookupError, TypeError, RecursionError, AttributeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error
    return MailMessage(
        id=id,
        path=path,
        message_id=next(iter(message_ids(_field(message, "Message-ID"))), ""),
        replies_to=ancestors(_field(message, "In-Reply-To"), _field(message, "References")),
        subject=decoded_field(message, "Subject"),
        sender=decoded_field(message, "From"),
        date=_milliseconds(_field(message, "Date")),
        body=body,
        attachments=tuple(parts.attachments),
    )


class _Parts:
    """Divides a message into the text of its body and attachments."""

    def __init__(self, is_recoded: bool) -> None:
        self.attachments: list[Attachment] = []
        self._is_recoded = is_recoded

    def body(self, part: Message) -> str:
        """Return the text of a part; what is an attachment is added to `attachments`."""
        kind = part.get_content_type()
        if kind == "multipart/alternative" and part.is_multipart():
            return self._alternative(part)
        if is_container(part):
            return _joined(part, [self.body(child) for child in children(part)])
        if is_body_text(part):
            text = payload_text(part, self._is_recoded)
            return html_text(text) if kind == "text/html" else text
        self.attachments.append(_attachment(part))
        return ""

    def _alternative(self, part: Message) -> str:
        """Return the plain text with what only the others say."""
        texts = [(child.get_content_type(), self.body(child)) for child in children(part)]
        plain = [text for kind, text in texts if kind == "text/plain" and text.strip()]
        others = [text for kind, text in texts if kind != "text/plain" and text.strip()]
        return _joined(part, [reduce(alternative_text, plain + others, "")])


def _joined(part: Message, texts: list[str]) -> str:
    """Return the texts of a part's parts, with what is written above the first and below the last.

    What programs write there for those that know no MIME is left out.
    """
    around = (_unlabelled(part.preamble), _unlabelled(part.epilogue))
    paragraphs = re.split(r"\n[ \t]*\n", around[0])
    above = "\n\n".join(text for text in paragraphs if "MIME" not in text)
    return "\n".join(text for text in (above, *texts, around[1]) if text.strip())


def _unlabelled(text: str | None) -> str:
    return decode_declared((text or "").encode("utf-8", "surrogateescape"), "utf-8")


def children(part: Message) -> list[Message]:
    """Return the parts of a part; none of one that has no parts."""
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if payload else []


def is_container(part: Message) -> bool:
    """Return whether a part is there for the parts in it; a mail in a mail is not."""
    return part.is_multipart() and part.get_content_maintype() == "multipart"


def is_body_text(part: Message) -> bool:
    """Return whether a part is text of the body, and no attachment."""
    is_attached = part.get_content_disposition() == "attachment" or part.get_filename()
    return part.get_content_type() in ("text/plain", "text/html") and not is_attached


def part_bytes(part: Message) -> bytes:
    """Return the bytes of a part, decoded; of one with parts, these as they are written."""
    if part.is_multipart():
        return b"\n".join(child.as_bytes() for child in children(part))
    encoding = str(part.get("Content-Transfer-Encoding", ""))
    if encoding != encoding.strip():  # with blanks behind it the payload would stay encoded
        part.replace_header("Content-Transfer-Encoding", encoding.strip())
    is_base64 = encoding.strip().lower() == "base64"
    if is_base64 and len(blocks := _PADDED.split(str(part.get_payload()))) > 1:
        return b"".join(map(_decoded_base64, blocks))  # a decoder stops where the first one ends
    decoded = part.get_payload(decode=True)
    return decoded if isinstance(decoded, bytes) else b""


def _decoded_base64(block: str) -> bytes:
    part = Message()
    part["Content-Transfer-Encoding"] = "base64"
    part.set_payload(block)
    return part_bytes(part)


def payload_text(part: Message, is_recoded: bool = False) -> str:
    """Return the text of a part, with line feeds alone.

    `is_recoded`: what is not encoded for transport is UTF-8, whatever character set is named.
    """
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    is_raw = encoding not in ("base64", "quoted-printable")
    is_utf8 = is_recoded and is_raw
    charset = "" if is_utf8 else part.get_content_charset()
    payload = str(part.get_payload())
    below = _NOT_BASE64.search(payload) if encoding == "base64" else None
    if below is None:
        text = decode_declared(part_bytes(part), charset or "utf-8")
    else:  # a mailing list adds text that is not encoded
        part.set_payload(payload[: below.start()])
        text = decode_declared(part_bytes(part), charset or "utf-8")
        text = "\n".join(filter(None, (text, _unlabelled(below[0]))))
        part.set_payload(payload)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def file_name(part: Message) -> str:
    """Return the name of the file that a part is, decoded, without folders and control characters;
    empty without one.
    """
    name = decode_words(str(part.get_filename() or ""))
    return _CONTROLS.sub(" ", name).replace("\\", "/").rpartition("/")[2].strip()


def _attachment(part: Message) -> Attachment:
    name = file_name(part) or part.get_content_type()
    return Attachment(name, hashlib.sha256(part_bytes(part)).hexdigest())


def _field(message: Message, name: str) -> str:
    """Return a field as it is written, unfolded; empty without it.

    Bytes that are not ASCII are UTF-8, else in the character set of the body.
    """
    values = (value for key, value in message.raw_items() if key.lower() == name.lower())
    data = str(next(values, "")).encode("utf-8", "surrogateescape")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = decode_declared(data, message.get_content_charset() or "latin-1")
    return " ".join(text.split())


def decoded_field(message: Message, name: str) -> str:
    """Return a field with encoded words (RFC 2047) decoded, as it is where that fails."""
    return decode_words(_field(message, name))


def decode_words(value: str) -> str:
    """Return a value with its encoded words (RFC 2047) decoded, as one line without control
    characters; as it is where that fails.

    >>> decode_words("=?utf-8?q?caf=C3=A9=0D=0A?="), decode_words("=?none?q?a?=")
    ('café ', '=?none?q?a?=')
    """
    try:
        return _CONTROLS.sub(" ", str(make_header(decode_header(value))))
    except (HeaderParseError, LookupError, ValueError):
        return value


def _milliseconds(date: str) -> int | None:
    """Return the time of a field Date; None where it cannot be read."""
    try:
        parsed = parsedate_tz(date)
        return None if parsed is None else round(mktime_tz(parsed) * 1000)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
