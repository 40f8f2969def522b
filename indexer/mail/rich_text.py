"""Text of rich text (RTF), as Outlook compresses and stores it.

Each byte is read once: libraries that were tried take minutes for hostile files of some kilobytes.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field, replace

from indexer.mail.code_pages import decode_page

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
    """Return the bytes of runs of eight: a literal byte, or a place in the window and a length."""
    text = bytearray(b" " * _WINDOW + _FIRST_WINDOW)  # what was written before is the window
    start, place = len(text), 1
    base = start - len(_FIRST_WINDOW)
    control = content[0] if content else 0
    bit = 0
    while place < len(content):
        if control >> bit & 1:
            reference = int.from_bytes(content[place : place + 2], "big")
            place += 2
            written = len(text) - base
            back = (written - (reference >> 4)) % _WINDOW
            if back == 0:  # a place that is written next ends the text
                break
            for _ in range((reference & 15) + 2):
                text.append(text[-back])
        else:
            text.append(content[place])
            place += 1
        bit += 1
        if bit == 8 and place < len(content):
            control, bit, place = content[place], 0, place + 1
    return bytes(text[start:])


def rich_text(data: bytes) -> str:
    """Return the text of RTF: paragraphs as lines, without formats, pictures and fields' commands.

    Whatever is damaged is read as far as it goes.

    >>> rich_text(rb"{\\rtf1\\ansicpg1251{\\b \\'cf\\'e0\\'f0\\'ee\\'ec}\\par 1\\u8364?}")
    'Паром\\n1€'
    """
    reader = _Reader()
    place = 0
    while token := _TOKEN.search(data, place):
        place = token.end() + reader.take(token)
        if reader.is_closed:
            break
    reader.end_bytes()
    text = "".join(reader.pieces)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True, slots=True)
class _Group:
    """Settings within a pair of braces; `replacement`: the bytes that stand beside `\\u`."""

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
        """Add text in the code page, without what stands beside `\\u` for older programs."""
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
