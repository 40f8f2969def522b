"""One mail: the fields that make threads, the text of its body, and its attachments."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import mktime_tz, parsedate_tz
from functools import reduce
from html import unescape

from indexer.documents.base import byte_order_mark, embedded_kind, message_hash, sha256
from indexer.documents.mail.headers import ancestors, message_ids, named_fields, replies_elsewhere
from indexer.documents.mail.outlook import (
    CUT_TNEF,
    MAGIC,
    TNEF,
    decode_declared,
    is_cut_tnef,
    outlook_mail,
    tnef_message,
)
from indexer.documents.mail.quote_headings import formatted, marked_lines, segment_words
from indexer.model import EmbeddedFile

# The bytes of a mail as mail programs send it: one byte a character at least in the header.

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
    if data.startswith(TNEF):
        return MailBytes(tnef_message(data).as_bytes())
    mark, encoding = byte_order_mark(data)
    data = data[len(mark) :]
    if encoding in ("", "utf-8"):
        encoding = _unmarked_encoding(data)
    if encoding:
        data = data.decode(encoding, "replace").encode("utf-8", "replace")
    return MailBytes(with_tnef(named_fields(data)), bool(encoding))


_TNEF_NAMED = re.compile(rb"application/(?:vnd\.)?ms-tnef|winmail\.dat", re.IGNORECASE)


def with_tnef(data: bytes) -> bytes:
    """Return a mail with what Outlook hid in `winmail.dat` (TNEF) in its parts: attachments, and
    the body where it says more than the mail. What cannot be read stays as it is.
    """
    if not _TNEF_NAMED.search(data):
        return data

    def unpack(message: Message) -> bool:
        texts = [payload_text(part) for part in message.walk() if is_body_text(part)]
        changed = [_unpack_tnef(part, "\n".join(texts)) for part in message.walk()]
        return any(changed)

    return rearranged(data, unpack)


def rearranged(data: bytes, change: Callable[[Message], bool]) -> bytes:
    """Return a mail after `change`, which says whether it did anything; a damaged one as it is."""
    try:
        message = message_from_bytes(data, policy=policy.compat32)
        return message.as_bytes() if change(message) else data
    except (MessageError, LookupError, TypeError, RecursionError, AttributeError, ValueError):
        return data


def _unpack_tnef(part: Message, text: str) -> bool:
    """Replace a part in TNEF by its parts; return False for any other part."""
    if part.is_multipart() or not (content := part_bytes(part)).startswith(TNEF):
        return False
    unpacked = tnef_message(content)
    parts = [child for child in children(unpacked) if _says_more(child, text)]
    for name in ("Content-Type", "Content-Transfer-Encoding", "Content-Disposition"):
        del part[name]
    part["Content-Type"] = unpacked["Content-Type"]
    if is_cut_tnef(content):
        part["Content-Description"] = CUT_TNEF
    payload: list[Message | str] = [*parts]
    part.set_payload(payload)
    return True


def _says_more(part: Message, text: str) -> bool:
    """Return whether a part is no text, or has words that a text lacks."""
    if not is_body_text(part) and part.get_content_type() != "multipart/alternative":
        return True
    body = read_message(part.as_bytes(), "", "").body
    return not text.strip() or alternative_text(text, body) != text


def is_compound_file(data: bytes) -> bool:
    """Return whether bytes are a compound file of Microsoft, such as an Outlook message."""
    return data.startswith(MAGIC)


def is_outlook_message(data: bytes, name: str) -> bool:
    """Return whether bytes are a compound file whose name says that it is a message.

    >>> is_outlook_message(MAGIC, "a.MSG"), is_outlook_message(MAGIC, "a.doc")
    (True, False)
    """
    return is_compound_file(data) and name.lower().endswith(".msg")


def _unmarked_encoding(data: bytes) -> str:
    if _LITTLE.match(data):
        return "utf-16-le"
    return "utf-16-be" if _BIG.match(data) else ""


# The text of an HTML body, with the quotes of mail programs marked as in plain text.

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "caption", "center", "dd", "details", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol", "option", "p", "pre",
    "section", "summary", "table", "tr", "ul",
))  # fmt: skip
_SILENT = frozenset(("script", "style", "title", "template"))
_SPACED = frozenset(("p", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table"))
_SIGNATURE = re.compile(r"\b(?:gmail_signature|moz-signature|signature)\b", re.IGNORECASE)
_TOKEN = re.compile(r"<[^<>]*>|[^<]+|<")
_SILENT_END = re.compile(rf"</({'|'.join(sorted(_SILENT))})\b", re.IGNORECASE)
_TAG = re.compile(r"<(?:(/?)([A-Za-z][A-Za-z0-9]*)|[!?][^<>]*>)")
_MARK = re.compile(r"""\b(?:class|id)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""")
_CELLS = frozenset(("td", "th", "button"))
_ALT = re.compile(r"""\balt\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|svg|webp)$", re.IGNORECASE)
_POWER = re.compile(r"(?<=\d)(?=<sup\b[^<>]*>\s*[-+−]?\d)", re.IGNORECASE)
_STRUCK = frozenset(("s", "strike", "del"))
_INLINE = _STRUCK | {"a", "b", "font", "i", "span", "u"}
_STRUCK_STYLE = re.compile(r"\bline-through\b", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_MAX_QUOTES = 50


def html_text(html: str) -> str:
    """Return the text of an HTML body: one line a block, each line after one `>` for every
    `blockquote` around it, and `-- ` above what a mail program marks as a signature.

    Any input is read, however broken; scripts, styles and the title are left out, which end with
    their own closing tags: those that are never closed are text. What an image stands for (`alt`)
    is written as Gmail does, `^` is before a power, `~~` around struck-out text. Quotes within
    more than 50 others have 50 marks. Empty for a body without text.

    >>> print(html_text("<p>Yes.</p>Ann wrote:<blockquote>Shall<br>we <b>meet</b>?</blockquote>"))
    Yes.
    <BLANKLINE>
    Ann wrote:
    > Shall
    > we meet?
    """
    reader = _Reader()
    reader.read(html)
    return reader.text()


class _Reader:
    """Collects lines; `_quotes` and `_pre` count the open elements of their kind.

    `_inline`: the open ones within a line, with the mark of struck-out text.
    """

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._line: list[str] = []
        self._inline: list[tuple[str, str]] = []
        self._quotes = self._pre = 0

    def read(self, html: str) -> None:
        """Read a page from the first to the last token."""
        page = _POWER.sub("^", without_comments(html))
        last_ends = {end[1].lower(): end.start() for end in _SILENT_END.finditer(page)}
        silent = ""
        for token in _TOKEN.finditer(page):
            tag = _TAG.match(token[0])
            name = (tag[2] or "").lower() if tag else ""
            if silent:
                is_end = tag is not None and tag[1] and name == silent
                silent = "" if is_end else silent
            elif tag is None:
                self._text(unescape(token[0]))
            elif tag[1]:
                self._close(name)
            elif name in _SILENT:
                silent = name if last_ends.get(name, -1) > token.start() else ""
            elif name:
                self._open(name, token[0])

    def text(self) -> str:
        """Return the lines, empty ones once only."""
        self._end_block("")
        lines: list[str] = []
        for quotes, line in self._lines:
            marks = ">" * min(quotes, _MAX_QUOTES)
            shown = f"{marks} {line}" if marks and line else marks + line
            if shown.strip(">").strip() or (lines and lines[-1].strip(">").strip()):
                lines.append(shown)
        return "\n".join(lines).strip("\n")

    def _open(self, tag: str, source: str) -> None:
        if tag == "br":
            self._end_line()
        elif tag == "img":
            self._line += [f" {said} " for said in map(_image, _ALT.findall(source)) if said]
        elif tag in _CELLS:
            self._line.append(" ")
        elif tag in _INLINE:
            mark = "~~" if tag in _STRUCK or _STRUCK_STYLE.search(source) else ""
            self._line.append(mark)
            self._inline.append((tag, mark))
        if tag not in _BLOCKS:
            return
        self._end_block(tag)
        self._quotes += tag == "blockquote"
        self._pre += tag == "pre"
        if tag == "div" and any(_SIGNATURE.search(mark) for mark in _MARK.findall(source)):
            self._lines.append((self._quotes, "-- "))

    def _close(self, tag: str) -> None:
        if tag in _CELLS:
            self._line.append(" ")
        elif self._inline and self._inline[-1][0] == tag:
            self._line.append(self._inline.pop()[1])
        if tag not in _BLOCKS:
            return
        self._end_block(tag)
        self._quotes = max(0, self._quotes - (tag == "blockquote"))
        self._pre = max(0, self._pre - (tag == "pre"))

    def _text(self, data: str) -> None:
        if not self._pre:
            self._line.append(_BLANKS.sub(" ", data))
            return
        first, *others = data.split("\n")
        self._line.append(first)
        for line in others:
            self._end_line()
            self._line.append(line)

    def _end_block(self, tag: str) -> None:
        """End the line that has begun, with an empty one after it where the block is spaced."""
        if "".join(self._line).strip():
            self._end_line()
        self._line = []
        if tag in _SPACED and self._lines and self._lines[-1][1] and tag != "blockquote":
            self._lines.append((self._quotes, ""))

    def _end_line(self) -> None:
        line = "".join(self._line).replace("\u00a0", " ")
        self._lines.append((self._quotes, line.rstrip() if self._pre else line.strip()))
        self._line = []


def _image(value: str) -> str:
    """Return the text for the value of `alt`: faces as they are; nothing for the name of a file."""
    said = _BLANKS.sub(" ", unescape(value.strip("\"'"))).strip()
    if _FILE.match(said):
        return ""
    return f"[image: {said}]" if any(map(str.isalnum, said)) else said


def without_comments(html: str) -> str:
    """Return a page without its comments; one that is not closed stays.

    >>> without_comments("a<!-- b -->c<!-- d"), without_comments("a<!-- b --!>c<!-->d")
    ('ac<!-- d', 'acd')
    """
    parts = []
    start = 0
    while (begin := html.find("<!--", start)) >= 0:
        end = _COMMENT_END.search(html, begin + 2)
        if end is None:
            break
        parts.append(html[start:begin])
        start = end.end()
    return "".join(parts) + html[start:]


# The text of a mail that has it twice, as plain text and as HTML.

# What programs write in plain text alone: the addresses of links, their numbers, and images.
_ADDED = re.compile(
    r"<[^<>\s]*(?:://|mailto:|@)[^<>]*>|\((?:https?://|mailto:)[^()\s]*\)"
    r"|\[(?:image:|cid:|https?://|\d+\])[^\[\]]*\]?",
    re.IGNORECASE,
)


def alternative_text(plain: str, rich: str) -> str:
    """Return the plain text if it has all lines of the other in order, each with its words in a
    row; the other if only that has all. Addresses of links and images between words do not count.

    Where each has lines that the other lacks: the one with more words, below those lines of the
    other. Either may be empty.

    >>> alternative_text("At one.", "Two"), alternative_text("See HTML.", "At one.\\nSee HTML.")
    ('Two\\n\\nAt one.', 'At one.\\nSee HTML.')
    """
    rich_lines = _lines_beyond(rich, plain)
    if not rich_lines:
        return plain
    plain_lines = _lines_beyond(plain, rich)
    if not plain_lines:
        return rich
    if len(_words(plain)) >= len(_words(rich)):
        return f"{rich_lines}\n\n{plain}"
    return f"{plain_lines}\n\n{rich}"


def _words(text: str) -> list[str]:
    return segment_words("\n".join(line.text for line in marked_lines(text)))


def _lines_beyond(text: str, other: str) -> str:
    """Return the lines of a text that another one lacks; all where it has them in another order."""
    versions = (other, _ADDED.sub(" ", other))
    return min((_missing(text, formatted(_words(version))) for version in versions), key=len)


def _missing(text: str, words: str) -> str:
    position = 0
    lines = []
    for line in marked_lines(text):
        line_words = segment_words(line.text)
        spelling = formatted(line_words)
        following = words.find(spelling, position) if line_words else position
        if following >= 0:
            position = following + len(spelling) - 1 if line_words else position
        elif spelling in words:
            return text
        else:
            lines.append(text[line.start : line.stop].rstrip("\n"))
    return "\n".join(lines)


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
        """Return the text of a part; attachments are added to `attachments`."""
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
    """Return the texts of a part's parts, with the text above the first and below the last.

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

    `is_recoded`: text that is not encoded for transport is UTF-8, whatever character set is named.
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
    content = part_bytes(part)
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    if part.get_content_maintype() == "text" and encoding != "base64":
        content = content.replace(b"\r\n", b"\n")  # as the mail is stored, not as the file was
    return Attachment(file_name(part) or part.get_content_type(), sha256(content))


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


def contents_of_mail(data: bytes) -> tuple[list[EmbeddedFile], bytes, dict[str, str]]:
    """Return the attachments of a mail, but for signatures; its pages in HTML, one after the other;
    and the SHA-256 of the files that these show, by their addresses (`cid:`). Raises `ValueError`
    for what the `email` package fails on.
    """
    try:
        message = message_from_bytes(mail_bytes(data).data, policy=policy.compat32)
        pages = [part for part in message.walk() if part.get_content_type() == "text/html"]
        page = "\n".join(map(payload_text, pages)).encode(errors="replace")
        files: list[EmbeddedFile] = []
        displayed: dict[str, str] = {}
        for part in _attachments(message):
            name, digest = (attached := _attachment(part)).name, attached.sha256
            address = f"cid:{str(part.get('Content-ID', '')).strip('<> ')}"
            is_displayed = len(address) > len("cid:") and address.encode(errors="replace") in page
            if is_displayed:
                displayed[address] = digest
            kind = embedded_kind(name, "attachment")
            files.append(EmbeddedFile(kind, name, digest, "" if is_displayed else name.casefold()))
        fields = [(name, str(value)) for name, value in message.items()]
        if elsewhere := replies_elsewhere(fields):
            digest = sha256(elsewhere.encode(errors="replace"))
            files.append(EmbeddedFile("object", f"Reply-To {elsewhere}", digest))
        if beyond := _plain_beyond(message):
            files.append(EmbeddedFile("unread", "plain text", sha256(beyond)))
        return files, page, displayed
    except (MessageError, LookupError, TypeError, RecursionError, AttributeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _plain_beyond(message: Message) -> bytes:
    """Return the words of the lines that a plain text has and the HTML next to it lacks."""
    beyond: list[str] = []
    for part in message.walk():
        if part.get_content_type() != "multipart/alternative":
            continue
        texts: dict[str, list[str]] = {"text/plain": [], "text/html": []}
        for child in filter(is_body_text, part.walk()):
            texts[child.get_content_type()].append(payload_text(child))
        plain, page = map("\n".join, texts.values())
        shown = _compact(_MARKUP.sub("", unescape(page)))
        if not shown or _compact(_ADDED.sub(" ", plain)) in shown:
            continue
        for line in _lines_beyond(_ADDRESS.sub(" ", plain), html_text(page)).splitlines():
            compact = _compact(line)
            if len(compact) < _MIN_COMPACT or compact not in shown:
                beyond.append(compact)
    return " ".join(filter(None, beyond)).encode(errors="replace")


def _compact(text: str) -> str:
    return _NO_WORD.sub("", text).casefold()


_MARKUP, _NO_WORD, _MIN_COMPACT = re.compile(r"<[^>]*>"), re.compile(r"[\W_]+"), 20
_ADDRESS = re.compile(
    r"(?:https?://|mailto:|www\.)[^\s<>\"]*|\[[^\[\]]*\.(?:png|gif|jpe?g)\]", re.IGNORECASE
)


def _attachments(part: Message) -> Iterator[Message]:
    if is_container(part):
        for child in children(part):
            yield from _attachments(child)
    elif not is_body_text(part) and part.get_content_type() not in _SIGNATURES:
        yield part


# The attachments of a mail as files, and the mail without them.

_SIGNATURES = (
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
)
_ENVELOPES = ("application/pkcs7-mime", "application/x-pkcs7-mime")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """An attachment: its name, and its bytes as they were before they were encoded."""

    name: str
    data: bytes


def split_attachments(data: bytes) -> tuple[bytes, tuple[AttachedFile, ...]]:
    """Return a mail without its attachments, and these in order; the mail as it is without any.

    Pictures that the text shows, other versions of the text, signatures by a key, and what is
    encrypted by S/MIME, so that the mail says so, stay in the mail. An attached mail is one
    attachment, with all that is in it. Raises `ValueError` for a mail that the `email` package
    cannot divide, and one in UTF-16.
    """
    source = mail_bytes(data)
    if source.is_recoded:
        raise ValueError("a mail in UTF-16 is not divided")
    files: list[AttachedFile] = []
    try:
        message = message_from_bytes(source.data, policy=policy.compat32)
        if is_container(message):
            _detach(message, files)
        elif not is_body_text(message) and not _is_encrypted(message):
            files.append(_file(message))
            _empty(message)
        return (message.as_bytes() if files else data), tuple(files)
    except (MessageError, LookupError, TypeError, RecursionError, AttributeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _detach(container: Message, files: list[AttachedFile]) -> None:
    """Move the attachments of a part with parts to `files`."""
    kept: list[Message | str] = []
    for part in children(container):
        if is_container(part):
            _detach(part, files)
        elif not _belongs_to_text(part, container):
            files.append(_file(part))
            continue
        kept.append(part)
    container.set_payload(kept)


def _belongs_to_text(part: Message, container: Message) -> bool:
    if is_body_text(part) or part.get_content_type() in _SIGNATURES or _is_encrypted(part):
        return True
    if container.get_content_type() == "multipart/alternative":
        return True
    is_shown = container.get_content_type() == "multipart/related" or "Content-ID" in part
    return is_shown and part.get_content_disposition() != "attachment"


def _is_encrypted(part: Message) -> bool:
    """Return whether a part says that it is encrypted by S/MIME."""
    kind = str(part.get_param("smime-type", "")).lower()
    return part.get_content_type() in _ENVELOPES and kind.endswith("enveloped-data")


def _empty(message: Message) -> None:
    for name in ("Content-Type", "Content-Transfer-Encoding", "Content-Disposition"):
        del message[name]
    message["Content-Type"] = "text/plain"
    message.set_payload("")


def _file(part: Message) -> AttachedFile:
    return AttachedFile(_name(part), part_bytes(part))


def _name(part: Message) -> str:
    """Return the name of an attachment; `attachment` and an ending without any."""
    name = file_name(part)
    kind = part.get_content_type()
    ending = ".eml" if kind == "message/rfc822" else mimetypes.guess_extension(kind) or ""
    if not name:
        return f"attachment{ending}"
    return name if kind != "message/rfc822" or name.lower().endswith(".eml") else f"{name}.eml"
