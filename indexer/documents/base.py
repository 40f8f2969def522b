"""The source interface: options of reading, and the items that sources yield."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import mimetypes
import posixpath
import re
import zipfile
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from itertools import accumulate
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar
from urllib.parse import unquote_to_bytes

from indexer.defaults import (
    ENCODING,
    EXTRACTION_MEGABYTES,
    EXTRACTION_SECONDS,
    FILE_BYTES,
    TEXT_CHARS,
    TEXT_FIELD,
    TITLE_FIELD,
)
from indexer.errors import ExtractionError, UsageError
from indexer.model import (
    NO_GAPS,
    Blob,
    Document,
    EmbeddedFile,
    EmbeddedKind,
    FailedBlob,
    SkippedBlob,
)
from indexer.wording import count_of

SourceItem: TypeAlias = Blob | SkippedBlob | FailedBlob
# The position of each record, such as `7` for the seventh, and its fields or why it has none.
Records: TypeAlias = Iterator[tuple[str, Mapping[str, Any] | ExtractionError]]
Containers: TypeAlias = Literal["given", "all", "none"]
_NO_DELIMITERS = '"\r\n\0'


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of reading sources.

    `text_field`, `id_field`, `title_field`, `label_field`: fields of a record; a dot leads into a
    nested one. Without `id_field` a record's key is its number. `own_ids`: a record's key is its
    document's id; with `parted` not one that ends as ids of parts do. `containers`: which
    archives, mailboxes and tables are opened: those that are PATHs (`given`), those in folders too
    (`all`), or none. `namespace`: what ids are relative to. `query`: selects documents of a source
    that can be queried. `delimiter`: separates the fields of CSV; None detects it in the first row.
    `encoding` is that of text without a byte order mark in tables and load files, and of text files
    that are not UTF-8. `text_files`: the folder in which the paths of text files begin that records
    hold instead of texts; None: records of tables hold texts, and the paths of a load file begin in
    its own folder. `attachments`: attachments of mails are documents of their own; None: as the
    store has them, which a new one does, and never without a store. `metadata`: the other fields of
    records are of interest. `raw_markup`: HTML that Hansken made of a document is its text as it
    is, for a recipe that removes markup itself. `max_bytes` and `max_chars` bound one document.
    Raises `UsageError` for a delimiter that is not one character, or one that CSV has another use
    for, and for an encoding that Python does not know.
    """

    text_field: str = TEXT_FIELD
    id_field: str | None = None
    title_field: str = TITLE_FIELD
    label_field: str | None = None
    own_ids: bool = False
    parted: bool = False
    containers: Containers = "given"
    namespace: str | None = None
    query: str | None = None
    delimiter: str | None = None
    encoding: str = ENCODING
    text_files: str | None = None
    attachments: bool | None = None
    metadata: bool = True
    raw_markup: bool = False
    max_bytes: int = FILE_BYTES
    max_chars: int = TEXT_CHARS

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", _encoding_name(self.encoding))
        if self.delimiter is None:
            return
        if len(self.delimiter) != 1 or self.delimiter in _NO_DELIMITERS:
            raise UsageError(
                f"{self.delimiter!r} cannot separate fields; give one character, or `tab`"
            )

    @property
    def required_fields(self) -> list[str]:
        """The fields that a table must have as columns."""
        names = (self.text_field, self.id_field, self.label_field)
        return [name for name in names if name]


def _encoding_name(encoding: str) -> str:
    """Return Python's name of an encoding of texts. Raises `UsageError` for any other.

    >>> _encoding_name("Windows-1252"), _encoding_name("UTF8")
    ('cp1252', 'utf-8')
    """
    try:
        "a".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise UsageError(
            f"{encoding!r} is not a text encoding; give a name such as cp1252 or utf-16-le"
        ) from error


class Source(Protocol):
    """Documents of one kind of source location."""

    def blobs(self) -> Iterator[SourceItem]:
        """Yield each item once, with stable ids, in an order that depends only on content.

        A `FailedBlob` stands for what cannot be listed or opened; the rest follows.
        """
        ...

    def scopes(self) -> tuple[str, ...]:
        """Return the paths at or below which every row came from this source; empty when rows must
        not be pruned by it.
        """
        ...

    def holds(self, path: str) -> bool:
        """Return whether the item of a row's path exists, or may exist, although `blobs` did not
        yield it.
        """
        ...


def unique(items: Iterable[SourceItem]) -> Iterator[SourceItem]:
    """Yield the items; a blob with the id of an earlier one fails, naming that one.

    Remembers the id and path of each blob.
    """
    paths: dict[str, str] = {}
    for item in items:
        if isinstance(item, Blob) and paths.setdefault(item.id, item.path) != item.path:
            yield FailedBlob(
                item.path,
                f"has the same name under this namespace as {paths[item.id]}; "
                "give each PATH a namespace of its own, or leave --own-ids out",
            )
        else:
            yield item


# The extraction interface: extractors, their factories, and the limits of one document.

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one document. Text beyond `chars` is cut and the document `truncated`; beyond the
    others extraction fails.

    `seconds`: wall-clock time of extraction. `megabytes`: resident memory of the process that
    extracts (2**20 bytes each). `chars`: code points of text. `bytes`: size of the file; a larger
    one is not read at all.
    """

    seconds: float = EXTRACTION_SECONDS
    megabytes: int = EXTRACTION_MEGABYTES
    chars: int = TEXT_CHARS
    bytes: int = FILE_BYTES


DEFAULT_LIMITS = Limits()
CUT = "the text was cut at the limit of characters"
# ends of the names of such files
HTML_NAMES = frozenset({".htm", ".html", ".shtml", ".xht", ".xhtml"})
XML_NAMES = frozenset(
    (
        ".atom", ".fb2", ".fodp", ".fods", ".fodt", ".kml", ".opml", ".rdf", ".rss", ".svg", ".xml",
        ".xsl", ".xslt",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task(Generic[K]):
    """One document to extract.

    `key` is returned with the result; `name` is the file's name, a hint about its format.
    """

    key: K
    data: bytes
    name: str


class Extractor(Protocol):
    """An extractor of documents from bytes."""

    @property
    def identity(self) -> str:
        """Name and version, such as `iscc-tika/0.6.0-2`, as stored with every row."""
        ...

    def extract(self, data: bytes, name: str) -> Document:
        """Read one document; `name` is the file's name, a hint about its format.

        No bytes give an empty document. Raises `ExtractionError` when the document cannot be read,
        and `TryAlone` when another document may be to blame.
        """
        ...


class ExtractorFactory(Protocol):
    """A factory of an extractor, called in the process that uses the extractor.

    It must be picklable, so a class or function of an importable module.
    """

    @property
    def identity(self) -> str:
        """The `identity` of the extractor, known before there is one."""
        ...

    @property
    def extra_seconds(self) -> float:
        """Seconds that a document may take beyond the limit because the extractor waits for a
        server to respond again.
        """
        ...

    def __call__(self, limits: Limits) -> Extractor:
        """Make the extractor. Raises `ExtractorUnavailable` or `MissingExtra`."""
        ...


class ExtractorPool(Protocol):
    """A pool of processes that extract, as `indexer.documents.extractors` opens one."""

    @property
    def identity(self) -> str:
        """The `identity` of its extractor."""
        ...

    def __enter__(self) -> ExtractorPool: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def extract_all(
        self, items: Iterable[Task[K] | T]
    ) -> Iterator[tuple[K, Document | ExtractionError] | T]:
        """Yield (key, result) for each `Task`, as they are ready; other items pass through.

        Raises `ExtractorUnavailable` or `MissingExtra` when the extractor cannot be made.
        """
        ...


class TryAlone(Exception):
    """Raised when a server that several documents share broke the connection.

    The document is to be tried once more while no other is being read.
    """


# Byte order marks: the first bytes of a text that name its encoding.

_MARKS = {  # longest first: the mark of UTF-32 begins with the mark of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
_ANY_MARK = tuple(_MARKS)


def byte_order_mark(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark with which data begin, and its encoding; both empty without one.

    >>> byte_order_mark("\\ufeffa".encode("utf-16-le")), byte_order_mark(b"a")
    ((b'\\xff\\xfe', 'utf-16-le'), (b'', ''))
    """
    if not data.startswith(_ANY_MARK):
        return b"", ""
    return next(pair for pair in _MARKS.items() if data.startswith(pair[0]))


_ENCODING = re.compile(rb"(<\?xml\b[^>]{0,200}?)\sencoding\s*=\s*[\"'][^\"']*[\"']")


def recoded_markup(data: bytes) -> bytes:
    """Return markup in UTF-16 or UTF-32 with a byte order mark as UTF-8 with a mark, without the
    name of the encoding; other bytes as they are.

    >>> recoded_markup("\\ufeff<p>a".encode("utf-16-le"))
    b'\\xef\\xbb\\xbf<p>a'
    """
    mark, encoding = byte_order_mark(data)
    if not encoding or encoding == "utf-8":
        return data
    text = data[len(mark) :].decode(encoding, "replace")
    if not text.lstrip().startswith("<"):
        return data
    start, end = text[:_SMALL].encode("utf-8", "replace"), text[_SMALL:].encode("utf-8", "replace")
    return codecs.BOM_UTF8 + _ENCODING.sub(rb"\1", start, count=1) + end


# Mails: how their bytes are recognised, and the names of their metadata.

_HEADER = re.compile(
    rb"(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|content-type"
    rb"|delivered-to|x-[\w-]+):",
    re.IGNORECASE,
)
HEADER_END = re.compile(rb"\r?\n\r?\n|\r\r")


USUAL_FIELD = re.compile(rb"^(?:from|to|subject|date|message-id|received):", re.I | re.M)


_FIRST_FIELD = re.compile(rb"[!-9;-~]+:")
PARENT = "parent_id"
"""Of an attachment: the id of its mail."""
CUSTODIAN = "custodian"
"""Of a document: who held it."""
OCR = "ocr_program"
"""Of a scan: the program that recognised its characters."""
MESSAGE_ID = "message_id"
"""Of a mail: its Message-ID, in angle brackets."""
REFERENCES = "references"
"""Of a mail: the Message-IDs that it refers to, oldest first, by blanks."""
THREAD = "thread"
"""Of a mail: the MIH of the first Message-ID that it refers to, else of its own."""


def may_be_mail(path: str) -> bool:
    """Return whether a file is a mail by its name, or by its folder in a Maildir.

    >>> may_be_mail("a/x.EML"), may_be_mail("box/cur/1700.M1.host:2,S"), may_be_mail("a/new.txt")
    (True, True, False)
    """
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return path.lower().endswith((".eml", ".msg")) or folder in ("cur", "new")


def is_mail(data: bytes, name: str) -> bool:
    """Return whether bytes are a message, by the name or by a header at the beginning; under the
    name of one of Outlook, by any fields.
    """
    if name.lower().endswith(".eml") or _HEADER.match(data):
        return True
    return name.lower().endswith(".msg") and is_mail_text(data)


def is_mail_text(data: bytes) -> bool:
    """Return whether bytes are a mail as mail programs send it, by the fields that they begin with.

    >>> is_mail_text(b"Importance: high\\nFrom: Ann\\n\\nYes."), is_mail_text(b"a: b\\n\\nFrom: x")
    (True, False)
    """
    mark, _ = byte_order_mark(data)
    data = data[len(mark) :]
    end = HEADER_END.search(data)
    stop = end.start() if end else len(data)
    return bool(_FIRST_FIELD.match(data) and USUAL_FIELD.search(data, 0, stop))


def message_hash(message_id: str) -> str:
    """Return the EDRM Message Identification Hash (MIH) of a Message-ID with its angle brackets;
    empty for an empty one.

    >>> message_hash("<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>")
    '1de319c276884bd0c9e2f1621ada26cc'
    """
    data = message_id.encode("utf-8", "surrogateescape")
    return hashlib.md5(data, usedforsecurity=False).hexdigest() if message_id else ""


# The files in a document besides its text.


def sha256(data: bytes | bytearray) -> str:
    """Return the SHA-256 of bytes in hexadecimal digits, by which such a file is known."""
    return hashlib.sha256(data).hexdigest()


_METAFILES = (".emf", ".wmf", ".emz", ".wmz", ".jxr", ".wdp", ".pict")


def embedded_kind(name: str, other: EmbeddedKind) -> EmbeddedKind:
    """Return the kind of a file by its name or type.

    >>> embedded_kind("scan.png", "attachment"), embedded_kind("a.doc", "attachment")
    ('picture', 'attachment')
    """
    if name.lower().endswith(_METAFILES):
        return "picture"
    guessed = mimetypes.guess_type(name, strict=False)[0] or name
    kind, slash, _ = guessed.partition("/")
    if kind == "image" and slash:
        return "picture"
    return "media" if kind in ("audio", "video") and slash else other


# Markup in which patterns take linear time: they would look for an end that is missing, of a tag or
# of an element, to the end of the markup, once for each beginning.

_SMALL = 10_000  # bytes in which no pattern takes long
_MAX_OPEN = 30  # tags before a `>`; a page has one, a script in it some
_READ_TO_END = (
    b"a:custGeom", b"cellXfs", b"fills", b"fonts", b"is", b"math", b"math:math",
    b"office:annotation", b"p:bgPr", b"p:spPr", b"si", b"style:style",
    b"table:cell-content-change", b"table:deletion", b"table:tracked-changes", b"text:deletion",
    b"text:p", b"text:tracked-changes", b"w:checkBox", b"w:comboBox", b"w:ddList",
    b"w:dropDownList", b"w:p", b"w:rPr", b"w:rPrChange", b"w:style",
)  # fmt: skip


def searchable(markup: bytes) -> bytes:
    """Return markup of the same length without tags that have no `>`, where there are many, and
    with other names of elements that patterns read up to an end tag, where none follows.

    >>> searchable(b"<math>x</math><math>" + b" " * 10_000)[:20]
    b'<math>x</math><_ath>'
    >>> searchable(b"<a " * 9_999 + b"<b>")[-8:]
    b'a  a <b>'
    """
    if len(markup) < _SMALL:
        return markup
    pieces = markup.split(b">")
    if max(map(len, pieces)) > _MAX_OPEN and any(p.count(b"<") > _MAX_OPEN for p in pieces):
        markup = b">".join(map(_last_tag, pieces))
    for name in _READ_TO_END:
        start = b"<" + name
        if start in markup:
            end = max(0, markup.rfind(b"</%s>" % name))
            following = markup[end:].replace(start, b"<_" + name[1:])
            markup = markup[:end] + following if start in markup[end:] else markup
    return markup


def _last_tag(piece: bytes) -> bytes:
    if piece.count(b"<") <= _MAX_OPEN:
        return piece
    before, start, tag = piece.rpartition(b"<")
    return before.replace(b"<", b" ") + start + tag


_TEXT = re.compile(rb"(?:>|\A)([^<>]+)")
_UNSHOWN = re.compile(rb"<(?:(?P<name>script|style|title)(?=[\s>])|!--)", re.IGNORECASE)
_END_OF_UNSHOWN = {
    name: re.compile(rb"</%s\s*>" % name if name else b"-->", re.IGNORECASE)
    for name in (b"script", b"style", b"title", b"")
}


class Anchors:
    """The number of characters of text before each position of a part, blanks not counted."""

    def __init__(self, content: bytes, text: re.Pattern[bytes] | None = None) -> None:
        if text is None:
            text, content = _TEXT, without_unshown(content)
        runs = [(match.end(), _count(match[1])) for match in text.finditer(content)]
        self._ends = [end for end, _ in runs]
        self._counts = [0, *accumulate(count for _, count in runs)]

    def __call__(self, position: int) -> int:
        """Return the number of characters before a position."""
        return self._counts[bisect(self._ends, position)]


def _count(text: bytes) -> int:
    written = text.decode("utf-8", "replace")
    return len("".join((unescape(written) if "&" in written else written).split()))


def anchored(
    found: Iterable[tuple[int, bytes]], anchor: Callable[[int], object]
) -> Iterator[tuple[str, bytes]]:
    """Yield what was found at positions with its anchor: what is before it, and its number."""
    last: object = None
    count = 0
    for position, content in found:
        before = anchor(position)
        count = count + 1 if before == last else 0
        last = before
        yield f"{before}.{count}", content


def without_unshown(page: bytes) -> bytes:
    """Return a page of the same length in which scripts, styles, titles and comments are blank.

    >>> without_unshown(b"<title>a</title>b<!--c--><title>d")
    b'<              >b<      ><title>d'
    """
    pieces: list[bytes] = []
    missing: set[bytes] = set()
    copied = position = 0
    while found := _UNSHOWN.search(page, position):
        name = (found["name"] or b"").lower()
        end = None if name in missing else _END_OF_UNSHOWN[name].search(page, found.end())
        if end is None:
            missing.add(name)
            position = found.end()
            continue
        size = end.end() - found.start()
        pieces += [page[copied : found.start()], b"<%s>" % (b" " * (size - 2))]
        copied = position = end.end()
    return b"".join([*pieces, page[copied:]])


def all_of(name: str, found: Iterable[tuple[str, bytes]]) -> EmbeddedFile:
    """Return what was found at anchors, in order, as one file."""
    lines = [anchor.encode() + b" " + content for anchor, content in found]
    return EmbeddedFile("object", name, sha256(b"\n".join(lines)))


# red, green and blue, or as it is written where these are unknown
Colour: TypeAlias = tuple[int, int, int] | str | None
_NEAR = 8  # of 255, by which colours differ that look the same
NEAR_WHITE = rb"(?:[fF][7-9a-fA-F]){3}"  # in hexadecimal digits
MAX_PAIRS = 10_000  # of colours and backgrounds that are compared before a document is read


def is_near(colour: Colour, background: Colour) -> bool:
    """Return whether a text of a colour is not seen on a background.

    >>> is_near((255, 255, 255), (250, 250, 250)), is_near((0, 0, 0), (255, 255, 255))
    (True, False)
    """
    if isinstance(colour, tuple) and isinstance(background, tuple):
        pairs = zip(colour, background, strict=True)
        return all(abs(one - other) <= _NEAR for one, other in pairs)
    return colour is not None and colour == background


def colour_of_digits(digits: bytes) -> Colour:
    """Return a colour that is written in six hexadecimal digits; other words as they are.

    >>> colour_of_digits(b"00ff80"), colour_of_digits(b"auto")
    ((0, 255, 128), 'auto')
    """
    with suppress(ValueError):
        red, green, blue = bytes.fromhex(digits.decode("ascii"))
        return red, green, blue
    return digits.decode("latin-1")


_DATA_URL = re.compile(
    rb"(?<=[\"'(=])data:(?:(\w+)/[\w.+-]+)?(?:;[\w.=+-]+)*?(?:;base64,([A-Za-z0-9+/=%\s]+)"
    rb"|,([\w.~!*'()%+:/?&=-]+))",
    re.IGNORECASE,
)
_BINARY_DATA = re.compile(
    rb"<(?:office:binary-data|w:binData|pkg:binaryData|binary)\b[^>]*>([A-Za-z0-9+/=\s]+)</"
)
_SVG = re.compile(rb"<(/?)svg\b", re.IGNORECASE)
_SVG_SHAPE = re.compile(
    rb"""\s(?:d|points|x|y|width|height|c[xy]|r[xy]?|[xy][12])=["']([^"']*)""", re.IGNORECASE
)
IN_MARKUP = (b";base64,", b"data:", b"binary", b":binData", b"<svg")


def markup_files(data: bytes) -> Iterator[EmbeddedFile]:
    """Yield what a page, or an office document in one file of XML, holds in base64, and the shapes
    of drawings in SVG.
    """
    found = [
        (match.start(), match[1] or b"text", _decoded(match)) for match in _DATA_URL.finditer(data)
    ]
    pictures = _BINARY_DATA.finditer(data)
    found += [(match.start(), b"image", base64_bytes(match[1])) for match in pictures]
    drawings = [drawing for drawing in _drawings(data) if drawing[1]]
    if not drawings and not any(content for _, _, content in found):
        return
    anchors = Anchors(data)
    contents = ((start, main.lower() + b" " + content) for start, main, content in found if content)
    for count, (anchor, content) in enumerate(anchored(contents, anchors), start=1):
        main_type, _, file = content.partition(b" ")
        kind: EmbeddedKind = embedded_kind(f"{main_type.decode()}/", "object")
        yield EmbeddedFile(kind, f"{kind} {count}", sha256(file), anchor)
    for count, (anchor, content) in enumerate(anchored(drawings, anchors), start=1):
        yield EmbeddedFile("picture", f"drawing {count}", sha256(content), anchor)


def _decoded(found: re.Match[bytes]) -> bytes:
    content = unquote_to_bytes(found[3] if found[2] is None else found[2])
    return content if found[2] is None else base64_bytes(content)


def base64_bytes(encoded: bytes) -> bytes:
    """Return the bytes that a page has in base64, also without padding; as they are written where
    they are no base64.

    >>> base64_bytes(b"QUJD RA"), base64_bytes(b"Q")
    (b'ABCD', b'Q')
    """
    written = b"".join(encoded.split()).rstrip(b"=")
    with suppress(binascii.Error):
        return base64.b64decode(written + b"=" * (-len(written) % 4))
    return written


def _drawings(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield position and shapes of each drawing in SVG, those inside it included."""
    depth, start = 0, 0
    for tag in _SVG.finditer(data):
        if not tag[1]:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                shapes = _SVG_SHAPE.findall(data, start, tag.start())
                yield start, b"\n".join(b" ".join(shape.split()) for shape in shapes)


def columns(rows: Iterable[Sequence[str]], *, is_csv: bool = False) -> Iterator[EmbeddedFile]:
    """Yield in which columns the cells of rows stand that are not empty, of rows in which one is
    empty before another: a figure in another column makes another table. In CSV also of rows that
    have more cells than is usual there: `"1,5"` is one, and `1,5` two.

    >>> both = [["rent", "900", ""], ["fee", "", "120"]], [["rent", "", "900"], ["fee", "", "120"]]
    >>> [file.name for rows in both for file in columns(rows)]
    ['empty cells in 1 row', 'empty cells in 2 rows']
    >>> list(columns([["one cell"]]))
    []
    """
    is_table = False
    width = 0  # of rows of CSV, as is usual
    gaps: list[str] = []
    if is_csv:
        rows = list(rows)
        widths = Counter(len(row) for row in rows if len(row) > 1)
        width = min(widths, key=lambda each: (-widths[each], each), default=0)
    for row in rows:
        is_table = is_table or len(row) > 1
        filled = [str(number) for number, cell in enumerate(row) if cell.strip()]
        has_more = 0 < width < len(row)
        if filled and (has_more or filled[-1] != str(len(filled) - 1)):
            gaps.append(" ".join(filled))
    if gaps:
        digest = sha256("\n".join(gaps).encode())
        yield EmbeddedFile("columns", f"empty cells in {count_of(len(gaps), 'row')}", digest)
    elif is_table:
        yield EmbeddedFile("columns", "tables without empty cells", NO_GAPS)


def csv_rows(text: str) -> Iterator[list[str]]:
    """Yield the rows of CSV, by the delimiter with the highest count in its first line.

    >>> list(csv_rows('rent;;900\\n"a;b";c'))
    [['rent', '', '900'], ['a;b', 'c']]
    """
    import csv

    first_line = text[: text.find("\n")]
    delimiter = max(",;\t|", key=first_line.count)
    with suppress(csv.Error):  # a cell of more than 131,072 characters
        yield from csv.reader(text.split("\n"), delimiter=delimiter)


_TABLE_TAG = re.compile(rb"<(?P<end>/)?(?P<name>table|tr|t[dh])(?=[\s/>])[^>]*>", re.IGNORECASE)
_NO_TEXT = re.compile(rb"<[^<>]*>|&nbsp;|&#160;|&#xa0;", re.IGNORECASE)


def page_rows(page: bytes) -> Iterator[list[str]]:
    """Yield the rows of tables of a page in HTML as `columns` reads them, with the beginning of the
    text of each cell; rows of a table in a cell before the row of that cell.

    >>> list(page_rows(b"<table><tr><td>rent<td><td>\\n<b>900</b></tr><tr><td>&nbsp;<td>5</table>"))
    [['r', '', '9'], ['', '5']]
    """
    if b"<t" not in page and b"<T" not in page:
        return
    page = without_unshown(page)
    rows: list[list[str]] = []  # of tables in each other
    position = 0
    for tag in _TABLE_TAG.finditer(page):
        if rows and rows[-1]:
            text = _NO_TEXT.sub(b" ", page[position : tag.start()]).strip()
            rows[-1][-1] = rows[-1][-1] or text[:1].decode("latin-1")
        position, name = tag.end(), tag["name"].lower()
        if name == b"table" and not tag["end"]:
            rows.append([])
        elif rows and name in (b"table", b"tr"):
            if row := rows.pop():
                yield row
            rows += [[]] if name == b"tr" else []
        elif rows and not tag["end"]:
            rows[-1].append("")


_RELATIONSHIP = re.compile(rb"<(?:\w+:)?Relationship\s[^>]*>")
_ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


class Relationship(NamedTuple):
    """The kind of a reference of an Office document, and the path of a part in it, or a target
    outside of the file.
    """

    kind: str
    target: str
    is_external: bool


def relationships_of(archive: zipfile.ZipFile, path: str) -> dict[str, Relationship]:
    """Return what a part of an Office document may refer to, by ids; none without a list of it."""
    folder, name = posixpath.split(path)
    found: dict[str, Relationship] = {}
    try:
        listed = archive.read(posixpath.join(folder, "_rels", f"{name}.rels"))
    except KeyError:
        return found
    if listed.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        listed = listed.decode("utf-16").encode()
    for match in _RELATIONSHIP.finditer(listed):
        values = {
            key.decode(): unescape((double or single).decode("utf-8", "replace"))
            for key, double, single in _ATTRIBUTE.findall(match[0])
        }
        target = values.get("Target", "")
        is_external = values.get("TargetMode") == "External"
        if not is_external:
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[values.get("Id", "")] = Relationship(values.get("Type", ""), target, is_external)
    return found
