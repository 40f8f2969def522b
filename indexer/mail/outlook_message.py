"""Outlook's own format (.msg) as a mail of RFC 5322.

The format is a compound file in which each property of a message is a stream (MS-OXMSG, MS-OXPROPS
of Microsoft). olefile reads the compound file; its properties are read here.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from email import message_from_bytes, policy
from email.encoders import encode_base64
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import HeaderParser
from email.utils import formataddr, formatdate

import olefile  # type: ignore[import-untyped]

from indexer.mail.code_pages import decode_page
from indexer.mail.rich_text import decompress_rich_text, rich_text

MAGIC: bytes = olefile.MAGIC
"""The first bytes of a compound file, such as a message of Outlook or a Word document."""
_DAMAGED = "no message of Outlook, or a damaged one"
_PROPERTIES = "__properties_version1.0"
_TEXT, _TEXT_8_BIT, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_ROOT_HEAD, _INNER_HEAD, _ATTACHMENT_HEAD = 32, 24, 8
_MOST_NESTED = 20
_SUBJECT, _HEADER, _SENDER, _SENDER_SMTP, _SENDER_ADDRESS = "0037", "007D", "0C1A", "5D01", "0C1F"
_BODY, _RICH_TEXT, _HTML = "1000", "1009", "1013"
_CLASS, _SIGNED = "001A", ".smime.multipartsigned"
_SENT, _DELIVERED, _HTML_PAGE, _PAGE = 0x0039, 0x0E06, 0x3FDE, 0x3FFD
_DATA, _LONG_NAME, _NAME, _TYPE, _CONTENT_ID = "3701", "3707", "3704", "370E", "3712"
_FIELDS = {
    "Message-ID": "1035",
    "In-Reply-To": "1042",
    "References": "1039",
    "To": "0E04",
    "Cc": "0E03",
}
_FIELD_LINE = re.compile(r"^[!-9;-~]+:", re.MULTILINE)
_NESTED_TYPES = ("message", "multipart")
_SECONDS_FROM_1601_TO_1970 = 11_644_473_600


class _UnreadError(Exception):
    """Raised for a message whose form is not read."""


def is_outlook_message(data: bytes, name: str) -> bool:
    """Return whether bytes are a compound file whose name says that it is a message.

    >>> is_outlook_message(MAGIC, "a.MSG"), is_outlook_message(MAGIC, "a.doc")
    (True, False)
    """
    return data.startswith(MAGIC) and name.lower().endswith(".msg")


def outlook_mail(data: bytes) -> bytes:
    """Return the mail of a file `.msg`: its transport header with what this lacks from properties,
    its plain text and HTML, or else the text of its RTF, and its attachments, mails in it as mails.
    Of a signed one that is not encrypted, text and attachments are in the part that is signed.

    The same bytes give the same mail. Raises `ValueError` for what is no message of Outlook, or is
    damaged.
    """
    if len(data) < olefile.MINIMAL_OLEFILE_SIZE:
        raise ValueError(f"{_DAMAGED}: it ends too early")
    try:
        with olefile.OleFileIO(data) as file:
            return _mail(_Storage(file, (), _ROOT_HEAD)).as_bytes()
    except _UnreadError as error:
        raise ValueError(str(error)) from error
    except (
        OSError,
        ValueError,
        struct.error,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise ValueError(f"{_DAMAGED}: {error}") from error


class _Storage:
    """The properties of a message or of an attachment, by tags of four hexadecimal digits."""

    def __init__(self, file: olefile.OleFileIO, path: tuple[str, ...], head: int) -> None:
        self._file, self._path = file, path
        self._fixed = _fixed_values(self._stream(_PROPERTIES), head)

    def text(self, tag: str) -> str:
        """Return a property that is text; empty without it."""
        if self._has(f"__substg1.0_{tag}{_TEXT}"):
            data = self._stream(f"__substg1.0_{tag}{_TEXT}")
            return data.decode("utf-16-le", "replace").rstrip("\0")
        if self._has(f"__substg1.0_{tag}{_TEXT_8_BIT}"):
            data = self._stream(f"__substg1.0_{tag}{_TEXT_8_BIT}")
            return decode_page(data, self.number(_PAGE) or self.number(_HTML_PAGE)).rstrip("\0")
        return ""

    def html(self) -> str:
        """Return the body in HTML; empty without one."""
        name = f"__substg1.0_{_HTML}{_BINARY}"
        if not self._has(name):
            return self.text(_HTML)
        return decode_page(self._stream(name), self.number(_HTML_PAGE)).rstrip("\0")

    def binary(self, tag: str) -> bytes:
        """Return a property that is bytes; none without it."""
        name = f"__substg1.0_{tag}{_BINARY}"
        return self._stream(name) if self._has(name) else b""

    def number(self, tag: int) -> int:
        """Return a property of four bytes; 0 without it."""
        return int.from_bytes(self._fixed.get(tag, b"")[:4], "little")

    def date(self, tag: int) -> str:
        """Return a property that is a time as a field Date; empty without it."""
        ticks = int.from_bytes(self._fixed.get(tag, b""), "little")
        with suppress(OverflowError, ValueError, OSError):
            return formatdate(ticks // 10**7 - _SECONDS_FROM_1601_TO_1970) if ticks else ""
        return ""

    def attachments(self) -> Iterator[_Storage]:
        """Yield the attachments in the order of their numbers."""
        depth = len(self._path)
        names = {
            entry[depth]
            for entry in self._file.listdir(streams=False, storages=True)
            if len(entry) > depth and tuple(entry[:depth]) == self._path
        }
        for name in sorted(name for name in names if name.startswith("__attach_version1.0")):
            yield _Storage(self._file, (*self._path, name), _ATTACHMENT_HEAD)

    def inner(self) -> _Storage | None:
        """Return the message that an attachment is; None of another one."""
        name = f"__substg1.0_{_DATA}{_OBJECT}"
        if not self._has(f"{name}/{_PROPERTIES}"):
            return None
        if len(self._path) > 2 * _MOST_NESTED:
            raise _UnreadError(f"mails in mails, more than {_MOST_NESTED} deep")
        return _Storage(self._file, (*self._path, name), _INNER_HEAD)

    def _has(self, name: str) -> bool:
        return bool(self._file.exists("/".join((*self._path, name))))

    def _stream(self, name: str) -> bytes:
        data = self._file.openstream("/".join((*self._path, name))).read()
        return data if isinstance(data, bytes) else b""


def _fixed_values(data: bytes, head: int) -> Mapping[int, bytes]:
    """Return the eight bytes of each property of fixed size, by its tag without type."""
    whole = len(data) - (len(data) - head) % 16
    entries = (struct.unpack_from("<HHI8s", data, start) for start in range(head, whole, 16))
    return {tag: value for _, tag, _, value in entries}


def _mail(storage: _Storage) -> Message:
    """Return a message with its header, body and attachments."""
    body = _signed(storage) or _multipart("mixed", [*_body(storage), *_attachments(storage)])
    mail = Message()
    mail["MIME-Version"] = "1.0"
    _add_header(mail, storage)
    mail["Content-Type"] = body["Content-Type"]
    mail.set_payload(body.get_payload())
    return mail


def _multipart(kind: str, parts: Sequence[Message]) -> Message:
    """Return parts as one, with a boundary that depends on nothing but them."""
    digest = hashlib.sha256(b"".join(part.as_bytes() for part in parts)).hexdigest()
    return MIMEMultipart(kind, boundary=f"=_{digest[:32]}", _subparts=parts)


def _add_header(mail: Message, storage: _Storage) -> None:
    """Put the transport header into a mail, and what that lacks from properties."""
    header = storage.text(_HEADER).replace("\r\n", "\n").lstrip("\ufeff\n").split("\n\n")[0]
    first = _FIELD_LINE.search(header)  # Exchange writes a line about its version before it
    fields = HeaderParser().parsestr(header[first.start() :] if first else "").items()
    for name, value in fields:
        if not name.lower().startswith(("content-", "mime-version")):
            mail[name] = " ".join(str(value).split())
    values = {name: storage.text(tag) for name, tag in _FIELDS.items()}
    values["From"] = _sender(storage)
    values["Date"] = storage.date(_SENT) or storage.date(_DELIVERED)
    values["Subject"] = storage.text(_SUBJECT)
    for name, value in values.items():
        if value.strip() and name not in mail:
            line = " ".join(value.split())
            mail[name] = line if line.isascii() else Header(line, "utf-8", maxlinelen=70).encode()


def _sender(storage: _Storage) -> str:
    """Return the sender's name and internet address; an address of Exchange is left out."""
    address = storage.text(_SENDER_SMTP) or storage.text(_SENDER_ADDRESS)
    name = " ".join(storage.text(_SENDER).split())
    return formataddr((name if name != address else "", address)) if "@" in address else name


def _body(storage: _Storage) -> Iterator[Message]:
    """Yield the body: plain text, HTML, or both as alternatives; nothing of an empty mail."""
    texts = {"plain": storage.text(_BODY).replace("\r\n", "\n"), "html": storage.html()}
    parts = [MIMEText(text, kind, "utf-8") for kind, text in texts.items() if text.strip()]
    compressed = storage.binary(_RICH_TEXT)
    if not parts and compressed and (text := rich_text(decompress_rich_text(compressed))).strip():
        parts = [MIMEText(text, "plain", "utf-8")]
    if len(parts) > 1:
        yield _multipart("alternative", parts)
    else:
        yield from parts


def _signed(storage: _Storage) -> Message | None:
    """Return what a signature is of, with the signature (MS-OXOSMIME of Microsoft); None of a
    message that is not signed, or is encrypted.
    """
    attachments = list(storage.attachments())
    if not storage.text(_CLASS).lower().endswith(_SIGNED) or len(attachments) != 1:
        return None
    signed = message_from_bytes(attachments[0].binary(_DATA), policy=policy.compat32)
    is_whole = signed.get_content_type() == "multipart/signed" and signed.is_multipart()
    return signed if is_whole else None


def _attachments(storage: _Storage) -> Iterator[Message]:
    return (_attached(attachment) for attachment in storage.attachments())


def _attached(attachment: _Storage) -> Message:
    inner = attachment.inner()
    if inner is not None:
        return MIMEMessage(_mail(inner))
    main, _, sub = _without_space(attachment.text(_TYPE)).partition("/")
    if not main or not sub or main.lower() in _NESTED_TYPES:  # these are parsed, not decoded
        main, sub = "application", "octet-stream"
    part = MIMEBase(main, sub)
    name = attachment.text(_LONG_NAME) or attachment.text(_NAME)
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    if content_id := _without_space(attachment.text(_CONTENT_ID)):
        part["Content-ID"] = f"<{content_id.strip('<>')}>"
    part.set_payload(attachment.binary(_DATA))
    encode_base64(part)
    return part


def _without_space(value: str) -> str:
    """Return a value without white space; a line feed would end the header that it is put into."""
    return "".join(value.split())
