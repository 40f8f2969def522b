"""Outlook's own format (.msg) as a mail, with its rich text and its code pages."""

from __future__ import annotations

import codecs
import hashlib
import re
import struct
import zlib
from calendar import timegm
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.encoders import encode_base64
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import HeaderParser
from email.utils import formataddr, formatdate, parsedate_to_datetime
from functools import partial
from typing import TypeAlias

import olefile  # type: ignore[import-untyped]

from indexer.documents.mail.headers import entry_lines

_CODECS = {
    65001: "utf-8", 20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 28591: "latin-1",
    50220: "iso2022_jp", 50221: "iso2022_jp", 51932: "euc_jp", 51949: "euc_kr", 54936: "gb18030",
}  # fmt: skip

_DECLARED = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932",
    "euc_kr": "cp949",
}  # fmt: skip
_ALIASES = {
    "iso-8859-8-i": "iso8859-8", "iso-8859-8-e": "iso8859-8", "x-sjis": "shift_jis",
    "x-gbk": "gb18030", "x-euc-jp": "euc_jp", "x-mac-roman": "mac_roman", "ansi": "cp1252",
    "windows-31j": "cp932", "ks_c_5601-1987": "cp949", "iso-8859-6-i": "iso8859-6",
    "iso-8859-6-e": "iso8859-6", "gb_2312-80": "gb18030", "latin-9": "iso8859-15",
    "x-mac-ce": "mac_latin2",
}  # fmt: skip
_NUMBERED = re.compile(r"(?:x-)?(?:windows|win|cp|dos|ms)[-_]?(\d+)")


def decode_declared(data: bytes, charset: str) -> str:
    """Return text in the character set that a mail names; else in the larger one of Windows that
    programs mean by that name, in UTF-8, in 1252, or in Latin-1, which has every byte.

    1252 comes before Latin-1, whose control characters of eight bits are not in mail.

    >>> decode_declared(b"\\x9380 \\x80\\x94", "iso-8859-1"), decode_declared(b"caf\\xe9", "none")
    ('“80 €”', 'café')
    """
    text = declared_text(data, charset)
    if text is not None:
        return text
    for name in ("utf-8", "cp1252"):
        with suppress(ValueError):
            return data.decode(name)
    return data.decode("latin-1")


def declared_text(data: bytes, charset: str) -> str | None:
    """Return text in the character set that a mail names, or in the larger one of Windows that
    programs mean by that name; None where the name is unknown, or these bytes are not in it.

    >>> declared_text(b"rodz\\xb1 si\\xea", "ISO-8859-2"), declared_text(b"caf\\xe9", "none")
    ('rodzą się', None)
    """
    name = _codec_name(charset.strip("'\" ").lower())
    larger = _DECLARED.get(name, name)
    for codec in (larger, name) if name == "iso8859-1" else (name, larger):
        with suppress(LookupError, ValueError):
            return data.decode(codec)
    return None


def _codec_name(charset: str) -> str:
    """Return the name of a codec for a character set, as mails write it; empty if there is none."""
    numbered = _NUMBERED.fullmatch(charset)
    page = f"cp{numbered[1]}" if numbered else ""
    for name in (_ALIASES.get(charset, charset), page, charset.removeprefix("x-")):
        with suppress(LookupError):
            return codecs.lookup(name).name
    return ""


def decode_page(data: bytes, page: int) -> str:
    """Return text of a code page; 1252 where none is named (0) or Python lacks it.

    >>> decode_page(b"\\xcf\\xe0\\xf0\\xee\\xec", 1251), decode_page(b"caf\\xe9", 0)
    ('Паром', 'café')
    """
    name = _CODECS.get(page, f"iso8859-{page - 28590}" if 28590 < page < 28610 else f"cp{page}")
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        codec = "cp1252"
    return data.decode(codec, "replace")


# Rich text (RTF), as Outlook compresses and stores it.

_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_FIRST_WINDOW = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})"
    rb"|\\(?P<sign>.)|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_WITHOUT_TEXT = frozenset(
    b"colortbl datastore fldinst footer footerf footerl footerr footnote generator header headerf "
    b"headerl headerr info listoverridetable listtable object pict pntext revtbl rsidtbl "
    b"stylesheet themedata xmlnstbl".split()
)
_SIGNS = {b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n", b"\r": "\n"}
_WORDS = {
    b"par": "\n", b"line": "\n", b"row": "\n", b"sect": "\n", b"page": "\n", b"tab": "\t",
    b"cell": "\t", b"nestcell": "\t", b"nestrow": "\n", b"emdash": "—", b"endash": "–",
    b"bullet": "•", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"emspace": " ", b"enspace": " ", b"qmspace": " ",
}  # fmt: skip
_PAGE_OF_FONT = {
    77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258,
    177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip


def decompress_rich_text(data: bytes) -> bytes:
    """Return RTF that is compressed as in the property PR_RTF_COMPRESSED (MS-OXRTFCP of Microsoft).

    Raises `ValueError` where it is damaged.
    """
    if len(data) < 16:
        raise ValueError("compressed rich text ends too early")
    size, _, kind, check = struct.unpack_from("<II4sI", data)
    content = data[16 : size + 4]
    if kind == _PLAIN:
        return content
    if kind != _COMPRESSED or zlib.crc32(content, 0xFFFFFFFF) ^ 0xFFFFFFFF != check:
        raise ValueError("compressed rich text is damaged")
    return _expanded(content)


def _expanded(content: bytes) -> bytes:
    """Return the bytes of runs of eight: a literal byte, or an offset and a length."""
    text = bytearray(b" " * _WINDOW + _FIRST_WINDOW)  # what was written before is the window
    start, position = len(text), 1
    base = start - len(_FIRST_WINDOW)
    control = content[0] if content else 0
    bit = 0
    while position < len(content):
        if control >> bit & 1:
            reference = int.from_bytes(content[position : position + 2], "big")
            position += 2
            written = len(text) - base
            back = (written - (reference >> 4)) % _WINDOW
            if back == 0:  # a reference to the next position ends the text
                break
            for _ in range((reference & 15) + 2):
                text.append(text[-back])
        else:
            text.append(content[position])
            position += 1
        bit += 1
        if bit == 8 and position < len(content):
            control, bit, position = content[position], 0, position + 1
    return bytes(text[start:])


def rich_text(data: bytes) -> str:
    """Return the text of RTF: paragraphs as lines, without formats, pictures and fields' commands.

    Whatever is damaged is read as far as it goes.

    >>> rich_text(rb"{\\rtf1\\ansicpg1251{\\b \\'cf\\'e0\\'f0\\'ee\\'ec}\\par 1\\u8364?}")
    'Паром\\n1€'
    """
    reader = _Reader()
    position = 0
    while token := _TOKEN.search(data, position):
        position = token.end() + reader.take(token)
        if reader.is_closed:
            break
    reader.end_bytes()
    text = "".join(reader.pieces)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True, slots=True)
class _Group:
    """Settings within a pair of braces; `replacement`: the bytes that follow `\\u`."""

    is_skipped: bool = False
    defines_fonts: bool = False
    page: int = 0
    replacement: int = 1


@dataclass(slots=True)
class _Reader:
    """Reads tokens of RTF one by one."""

    pieces: list[str] = field(default_factory=list)
    is_closed: bool = False
    _group: _Group = _Group()
    _outer: list[_Group] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)
    _page: int = 0
    _pages: dict[int, int] = field(default_factory=dict)
    _font: int = 0
    _left: int = 0

    def take(self, token: re.Match[bytes]) -> int:
        """Add the text of a token; return the number of bytes after it that are no text."""
        word, number = token["word"], int(token["number"] or 0)
        if token["text"] or token["hex"]:
            self._add_bytes(token["text"] or bytes.fromhex(token["hex"].decode("ascii")))
        elif token["brace"]:
            self._nest(token["brace"] == b"{")
        elif token["sign"] == b"*":  # what only some programs know
            self._group = replace(self._group, is_skipped=True)
        elif token["sign"]:
            self._add(_SIGNS.get(token["sign"], ""))
        elif word == b"bin":
            return max(number, 0)
        elif word in _WITHOUT_TEXT:
            self._group = replace(self._group, is_skipped=True)
        elif word == b"u":
            self._add(chr(number % 0x10000))
            self._left = self._group.replacement
        elif word in _WORDS:
            self._add(_WORDS[word])
        else:
            self._set(word, number)
        return 0

    def _set(self, word: bytes, number: int) -> None:
        """Take a control word that changes how what follows is read."""
        group = self._group
        if word == b"fonttbl":
            self._group = replace(group, is_skipped=True, defines_fonts=True)
        elif word == b"ansicpg":
            self._page = number
            self._change_page(number)
        elif word == b"uc":
            self._group = replace(group, replacement=max(number, 0))
        elif word == b"f" and group.defines_fonts:
            self._font = number
        elif word == b"fcharset" and group.defines_fonts:
            self._pages[self._font] = _PAGE_OF_FONT.get(number, 0)
        elif word == b"f":
            self._change_page(self._pages.get(number, 0) or self._page)
        elif word == b"plain":
            self._change_page(self._page)

    def _nest(self, is_begin: bool) -> None:
        self.end_bytes()
        self._left = 0
        if is_begin:
            self._outer.append(self._group)
        elif self._outer:
            self._group = self._outer.pop()
            self.is_closed = not self._outer

    def _change_page(self, page: int) -> None:
        self.end_bytes()
        self._group = replace(self._group, page=page)

    def _add_bytes(self, data: bytes) -> None:
        """Add text in the code page, without the substitute after `\\u` for older programs."""
        skipped = min(self._left, len(data))
        self._left -= skipped
        if not self._group.is_skipped:
            self._bytes += data[skipped:]

    def _add(self, text: str) -> None:
        self.end_bytes()
        self._left = 0
        if not self._group.is_skipped:
            self.pieces.append(text)

    def end_bytes(self) -> None:
        """Decode the bytes that were added so far."""
        if self._bytes:
            self.pieces.append(decode_page(bytes(self._bytes), self._group.page))
            self._bytes.clear()


# The properties of a message in TNEF, which Outlook attaches to mails as `winmail.dat` (MS-OXTNEF).

TNEF = b"\x78\x9f\x3e\x22"
"""The first bytes of TNEF."""
CUT_TNEF = "the end of winmail.dat is missing"
"""Names a part of a mail that was made of TNEF which is cut."""
_TNEF_TEXT, _TNEF_SUBJECT, _TNEF_PAGE = 0x2800C, 0x18004, 0x69007
_TNEF_PROPERTIES, _TNEF_FIRST, _TNEF_ATTACHED = 0x69003, 0x69002, 0x69005
_TNEF_TITLE, _TNEF_DATA, _TNEF_CLASS = 0x18010, 0x6800F, 0x78008
_TNEF_TIMES = {0x30006: 0x0060, 0x30007: 0x0061}
_WIDTHS = {0x02: 4, 0x03: 4, 0x04: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x0A: 4, 0x0B: 4, 0x14: 8}
_WIDTHS |= {0x40: 8, 0x48: 16}
_VARIABLE = (0x1E, 0x1F, 0x0D, 0x102)
_NAMED, _MULTIPLE, _INTERFACE = 0x8000, 0x1000, 16


class _Tnef:
    """The properties of a message, or of an attachment, in TNEF: what `_Storage` gives."""

    def __init__(self, page: int, depth: int = 0) -> None:
        self._page, self._depth = page, depth
        self._values: dict[int, tuple[int, bytes]] = {}
        self._attachments: list[_Tnef] = []

    @classmethod
    def of(cls, data: bytes, depth: int = 0) -> _Tnef:
        """Read a message. Raises `ValueError` and `struct.error` for a damaged one."""
        if not data.startswith(TNEF):
            raise ValueError("no TNEF")
        attributes = list(_tnef_attributes(data))
        pages = [value for name, value in attributes if name == _TNEF_PAGE]
        message = cls(int.from_bytes(pages[0][:4], "little") if pages else 0, depth)
        for name, value in attributes:
            message._add(name, value)
        return message

    def _add(self, name: int, value: bytes) -> None:
        last = self._attachments[-1] if self._attachments else self
        if name == _TNEF_FIRST:
            self._attachments.append(_Tnef(self._page, self._depth))
        elif name == _TNEF_PROPERTIES:
            self._values |= dict(_tnef_properties(value))
        elif name == _TNEF_ATTACHED:
            last._values |= dict(_tnef_properties(value))
        elif name == _TNEF_TEXT:
            self._values.setdefault(int(_BODY, 16), (0x1E, value))
        elif name == _TNEF_SUBJECT:
            self._values.setdefault(int(_SUBJECT, 16), (0x1E, value))
        elif name == _TNEF_TITLE:
            last._values.setdefault(int(_NAME, 16), (0x1E, value))
        elif name == _TNEF_DATA:
            last._values[int(_DATA, 16)] = (0x102, value)
        elif name == _TNEF_CLASS:
            self._values.setdefault(int(_CLASS, 16), (0x1E, value))
        elif name in _TNEF_TIMES:
            with suppress(ValueError, struct.error):
                seconds = timegm(struct.unpack_from("<6H", value)) + _SECONDS_FROM_1601_TO_1970
                time = struct.pack("<q", seconds * 10**7)
                self._values.setdefault(_TNEF_TIMES[name], (0x40, time))

    def text(self, tag: str) -> str:
        """Return a property that is text; empty without it."""
        kind, value = self._values.get(int(tag, 16), (0, b""))
        if kind == 0x1F:
            return value.decode("utf-16-le", "replace").rstrip("\0")
        page = self.number(_PAGE) or self._page
        return decode_page(value, page).rstrip("\0") if kind == 0x1E else ""

    def html(self) -> str:
        """Return the body in HTML; empty without one."""
        binary = self.binary(_HTML)
        if not binary:
            return self.text(_HTML)
        return decode_page(binary, self.number(_HTML_PAGE) or self._page).rstrip("\0")

    def binary(self, tag: str) -> bytes:
        """Return a property that is bytes, or an object; none without it."""
        kind, value = self._values.get(int(tag, 16), (0, b""))
        start = {0x102: 0, 0x0D: _INTERFACE}.get(kind, len(value))
        return value[start:]

    def number(self, tag: int) -> int:
        """Return a property of four bytes; 0 without it."""
        kind, value = self._values.get(tag, (0, b""))
        return int.from_bytes(value[:4], "little") if kind == 0x03 else 0

    def date(self, tag: int) -> str:
        """Return a property that is a time as a field Date; empty without it."""
        kind, value = self._values.get(tag, (0, b""))
        return _date(value) if kind == 0x40 else ""

    def tag_of(self, id: int) -> int:
        """Return the tag of a property that has an id of its own."""
        return id

    def attachments(self) -> Iterator[_Tnef]:
        """Yield the attachments in order."""
        yield from self._attachments

    def inner(self) -> _Tnef | None:
        """Return the message that an attachment is; None of another one."""
        kind, value = self._values.get(int(_DATA, 16), (0, b""))
        if kind != 0x0D or not value[_INTERFACE:].startswith(TNEF):
            return None
        if self._depth >= _MAX_NESTED:
            raise _UnreadError(f"mails in mails, more than {_MAX_NESTED} deep")
        return _Tnef.of(value[_INTERFACE:], self._depth + 1)


def _tnef_attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield name and value of each attribute; of a file that is cut, those before the cut, and
    what there is of an attachment.
    """
    position = 6
    while position + 9 <= len(data):
        _, name, size = struct.unpack_from("<BII", data, position)
        position += 9
        if position + size <= len(data) or name == _TNEF_DATA:
            yield name, data[position : position + size]
        position += size + 2


def is_cut_tnef(data: bytes) -> bool:
    """Return whether data are TNEF that ends inside an attribute.

    >>> is_cut_tnef(TNEF + b"\\0\\0\\1" + bytes(8)), is_cut_tnef(TNEF + b"\\0\\0\\1" + bytes(7))
    (False, True)
    """
    position = 6
    while data.startswith(TNEF) and position < len(data) and data[position] in (1, 2):
        size = int.from_bytes(data[position + 5 : position + 9], "little")
        position += 9 + size
        if position > len(data):
            return True
        position += 2
    return False


def _tnef_properties(data: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Yield number, type and value of each property; of several values the first."""
    (count,) = struct.unpack_from("<I", data)
    position = 4
    for _ in range(count):
        kind, number = struct.unpack_from("<HH", data, position)
        position += 4
        if number >= _NAMED:
            (has_name,) = struct.unpack_from("<I", data, position + _INTERFACE)
            (size,) = struct.unpack_from("<I", data, position + 20)
            number = 0 if has_name else size  # of a number without a name
            position += 24 + (_padded(size) if has_name else 0)
        is_multiple, kind = bool(kind & _MULTIPLE), kind & ~_MULTIPLE
        values = 1
        if is_multiple or kind in _VARIABLE:
            (values,) = struct.unpack_from("<I", data, position)
            position += 4
        value = b""
        for index in range(values):
            width = _WIDTHS.get(kind)
            if kind in _VARIABLE:
                (width,) = struct.unpack_from("<I", data, position)
                position += 4
            if width is None or position + width > len(data):
                raise ValueError("a property of TNEF is damaged")
            value = value if index else data[position : position + width]
            position += _padded(width)
        yield number, (kind, value)


def _padded(size: int) -> int:
    return (size + 3) // 4 * 4


def tnef_message(data: bytes) -> Message:
    """Return the message in TNEF as a mail of its properties: subject, body and attachments.

    Raises `ValueError` for data that are not TNEF, or are damaged.
    """
    try:
        return _mail(_Tnef.of(data))
    except (_UnreadError, struct.error, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"TNEF is damaged: {error}") from error


# A message as a mail of RFC 5322.

MAGIC: bytes = olefile.MAGIC
"""The first bytes of a compound file, such as a message of Outlook or a Word document."""
_DAMAGED = "no message of Outlook, or a damaged one"
_PROPERTIES = "__properties_version1.0"
_IDS = "__nameid_version1.0/__substg1.0_00030102"
_TEXT, _TEXT_8_BIT, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_ROOT_HEAD, _INNER_HEAD, _ATTACHMENT_HEAD = 32, 24, 8
_MAX_NESTED = 20
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


def outlook_mail(data: bytes) -> bytes:
    """Return the mail of a file `.msg`: its transport header with what this lacks from properties,
    its plain text and HTML, or else the text of its RTF, and its attachments, mails in it as mails.
    Of a signed one that is not encrypted, text and attachments are in the part that is signed.

    The same bytes give the same mail. Raises `ValueError` for a file that is no message of Outlook,
    or is damaged.
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


def compound_streams(data: bytes, names: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the streams of a compound file whose path begins with one of
    `names`.
    """
    with olefile.OleFileIO(data) as file:
        for path in file.listdir():
            if path[0].startswith(names) and file.get_size(path):
                yield "/".join(path), file.openstream(path).read()


class _Storage:
    """The properties of a message or of an attachment, by tags of four hexadecimal digits."""

    def __init__(self, file: olefile.OleFileIO, path: tuple[str, ...], header: int) -> None:
        self._file, self._path = file, path
        self._fixed = _fixed_values(self._stream(_PROPERTIES), header)

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
        """Return a property that is bytes, or the streams of an object; none without it."""
        name = f"__substg1.0_{tag}{_BINARY}"
        if self._has(name):
            return self._stream(name)
        path = [*self._path, f"__substg1.0_{tag}{_OBJECT}"]
        streams = [entry for entry in self._file.listdir() if entry[: len(path)] == path]
        return b"".join(self._file.openstream(entry).read() for entry in sorted(streams))

    def number(self, tag: int) -> int:
        """Return a property of four bytes; 0 without it."""
        return int.from_bytes(self._fixed.get(tag, b"")[:4], "little")

    def date(self, tag: int) -> str:
        """Return a property that is a time as a field Date; empty without it."""
        return _date(self._fixed.get(tag, b""))

    def tag_of(self, id: int) -> int:
        """Return the tag of a property that has an id of its own; -1 of one that is missing."""
        data = self._file.openstream(_IDS).read() if self._file.exists(_IDS) else b""
        entries = struct.iter_unpack("<IHH", data[: len(data) // 8 * 8])
        tags = (_NAMED + index for found, kind, index in entries if found == id and not kind & 1)
        return next(tags, -1)

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
        if len(self._path) > 2 * _MAX_NESTED:
            raise _UnreadError(f"mails in mails, more than {_MAX_NESTED} deep")
        return _Storage(self._file, (*self._path, name), _INNER_HEAD)

    def _has(self, name: str) -> bool:
        return bool(self._file.exists("/".join((*self._path, name))))

    def _stream(self, name: str) -> bytes:
        data = self._file.openstream("/".join((*self._path, name))).read()
        return data if isinstance(data, bytes) else b""


def _date(value: bytes) -> str:
    ticks = int.from_bytes(value, "little")
    with suppress(OverflowError, ValueError, OSError):
        return formatdate(ticks // 10**7 - _SECONDS_FROM_1601_TO_1970) if ticks else ""
    return ""


_Properties: TypeAlias = _Storage | _Tnef


def _fixed_values(data: bytes, header: int) -> Mapping[int, bytes]:
    """Return the eight bytes of each property of fixed size, by its tag without type."""
    whole = len(data) - (len(data) - header) % 16
    entries = (struct.unpack_from("<HHI8s", data, start) for start in range(header, whole, 16))
    return {tag: value for _, tag, _, value in entries}


def _mail(storage: _Properties) -> Message:
    """Return a message with its header, body and attachments."""
    body = _signed(storage) or multipart("mixed", [*_body(storage), *_attachments(storage)])
    mail = Message()
    mail["MIME-Version"] = "1.0"
    _add_header(mail, storage)
    mail["Content-Type"] = body["Content-Type"]
    mail.set_payload(body.get_payload())
    return mail


def multipart(kind: str, parts: Sequence[Message]) -> Message:
    """Return parts as one, with a boundary that depends on nothing but them."""
    digest = hashlib.sha256(b"".join(part.as_bytes() for part in parts)).hexdigest()
    return MIMEMultipart(kind, boundary=f"=_{digest[:32]}", _subparts=parts)


def _add_header(mail: Message, storage: _Properties) -> None:
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


def _sender(storage: _Properties) -> str:
    """Return the sender's name and internet address; an address of Exchange is left out."""
    address = storage.text(_SENDER_SMTP) or storage.text(_SENDER_ADDRESS)
    name = " ".join(storage.text(_SENDER).split())
    return formataddr((name if name != address else "", address)) if "@" in address else name


def _body(storage: _Properties) -> Iterator[Message]:
    """Yield the body: plain text, HTML, or both as alternatives; then what is in the fields of an
    entry of a calendar or of a contact. Nothing of an empty mail.
    """
    texts = {"plain": storage.text(_BODY).replace("\r\n", "\n"), "html": storage.html()}
    parts = [MIMEText(text, kind, "utf-8") for kind, text in texts.items() if text.strip()]
    compressed = storage.binary(_RICH_TEXT)
    if not parts and compressed and (text := rich_text(decompress_rich_text(compressed))).strip():
        parts = [MIMEText(text, "plain", "utf-8")]
    if len(parts) > 1:
        yield multipart("alternative", parts)
    else:
        yield from parts
    if lines := entry_lines(storage.text(_CLASS), partial(_value, storage)):
        yield MIMEText("\n".join(lines), "plain", "utf-8")


def _value(storage: _Properties, id: int) -> str:
    """Return a property that is text, or a time as iCalendar has it; empty without it."""
    tag = storage.tag_of(id) if id >= _NAMED else id
    if text := storage.text(f"{tag:04X}"):
        return " ".join(text.split())
    date = storage.date(tag)
    return parsedate_to_datetime(date).strftime("%Y%m%dT%H%M%SZ") if date else ""


def _signed(storage: _Properties) -> Message | None:
    """Return what a signature is of, with the signature (MS-OXOSMIME of Microsoft); None of a
    message that is not signed, or is encrypted.
    """
    attachments: list[_Properties] = [*storage.attachments()]
    if not storage.text(_CLASS).lower().endswith(_SIGNED) or len(attachments) != 1:
        return None
    fingerprinted = message_from_bytes(attachments[0].binary(_DATA), policy=policy.compat32)
    is_whole = (
        fingerprinted.get_content_type() == "multipart/signed" and fingerprinted.is_multipart()
    )
    return fingerprinted if is_whole else None


def _attachments(storage: _Properties) -> Iterator[Message]:
    return (_attached(attachment) for attachment in storage.attachments())


def _attached(attachment: _Properties) -> Message:
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
