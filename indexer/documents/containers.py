"""Files that hold documents: archives, mailboxes, tables, load files, mails with attachments.

A type of file is declared once, in `CONTAINERS`; the end of a file's name decides which it is. To
add one, write a function like `zip_members`, and declare it here.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import chain, pairwise
from lzma import LZMAError
from typing import IO, Any, BinaryIO, TypeAlias, cast

from indexer.documents import blobs, load_files, tables
from indexer.documents.base import PARENT, ReadOptions, Records, SourceItem, may_be_mail
from indexer.documents.blobs import (
    INSIDE,
    Allowance,
    DamagedRecord,
    LoadedSource,
    MailFile,
    NumberedBlobs,
    archive_member,
    bounded,
    file_payload,
    inner_blob,
    lines,
    read,
    seekable,
)
from indexer.documents.load_files import TextFiles, read_text_files
from indexer.documents.mail.message import split_attachments
from indexer.errors import ExtractionError, MissingExtra, UnreadableFile
from indexer.model import Blob, FailedBlob, Payload, SkippedBlob, pack_embedded

Members: TypeAlias = Callable[[Blob, BinaryIO, ReadOptions], Iterator[SourceItem]]
RecordReader: TypeAlias = Callable[[str, BinaryIO, ReadOptions], Records]
LineReader: TypeAlias = Callable[[str, BinaryIO, ReadOptions], Iterator[bytes]]
ColumnReader: TypeAlias = Callable[[str, BinaryIO, ReadOptions], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Container:
    """A type of file that holds documents.

    `suffixes`: the ends of its names, in lower case. `members`: yields its documents.
    `holds_files`: they are files, and not records. `unpacks_gzip`: `members` unpacks a file whose
    name ends in `.gz` itself; for others it is unpacked before.
    """

    suffixes: tuple[str, ...]
    members: Members
    holds_files: bool = False
    unpacks_gzip: bool = False


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """A format of files of rows, each of which is a document.

    `records`: yields the rows. `lines`: yields each row of a text format as it stands, in UTF-8, of
    a table the names of the columns first. `columns`: returns the columns of a table, each with its
    type. `may_be_packed`: files of the format may be packed by gzip, with `.gz` after their suffix.
    """

    name: str
    suffixes: tuple[str, ...]
    records: RecordReader
    lines: LineReader | None = None
    columns: ColumnReader | None = None
    may_be_packed: bool = True

    def holds(self, path: str) -> bool:
        """Return whether a file of this name has the format."""
        name = path.lower()
        return name.removesuffix(".gz" * self.may_be_packed).endswith(self.suffixes)

    def container(self) -> Container:
        """Return the container of documents that such a file is."""
        packed = tuple(f"{suffix}.gz" for suffix in self.suffixes if self.may_be_packed)
        return Container((*self.suffixes, *packed), self._members)

    def _members(
        self, outer: Blob, stream: BinaryIO, read_options: ReadOptions
    ) -> Iterator[SourceItem]:
        rows = self.records(outer.path, stream, read_options)
        if read_options.text_files is not None:
            files = TextFiles(read_options.text_files, read_options)
            rows = read_text_files(rows, read_options, files, is_path=bool)
        return tables.record_blobs(outer, rows, read_options)


# Tar archives, plain or packed by gzip, bzip2 or xz: one document a member, in one pass.

_TAR_DAMAGE = (tarfile.TarError, zlib.error, LZMAError, OSError, EOFError, ValueError)


class _Header(tarfile.TarInfo):
    """A header that must be whole: anything else but the end mark is damage, never a quiet end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                raise
            reason = str(error) if buf else "it has no mark at its end, so members may be missing"
            raise tarfile.ReadError(reason) from error


def tar_members(outer: Blob, stream: BinaryIO, read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the files of an archive in its order; an archive within it is one document.

    Links, devices and the like are `SkippedBlob`; a member that is too large fails. Of two members
    with one name the second is known by the name and `#2`. The sum of unpacked bytes is bounded;
    beyond it, and where it is damaged, the rest fails.
    """
    try:
        with tarfile.open(fileobj=stream, mode="r|*", tarinfo=_Header) as archive:
            yield from _tar_members(outer, archive, read_options)
    except UnreadableFile as error:
        yield FailedBlob(outer.path, str(error))
    except _TAR_DAMAGE as error:
        yield FailedBlob(
            outer.path,
            f"it is damaged, or not a tar archive ({error}); repair the file, then run again",
        )


def _tar_members(
    outer: Blob, archive: tarfile.TarFile, read_options: ReadOptions
) -> Iterator[SourceItem]:
    allowance = Allowance.of(outer, read_options.max_bytes)
    numbered = NumberedBlobs()
    for info in archive:
        allowance.take(info.size)
        if allowance.is_spent:
            raise allowance.refusal()
        if info.isdir():
            continue
        if not info.isfile():
            name = info.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            yield SkippedBlob(f"{outer.path}{INSIDE}{name}", "special_file")
            continue
        modified = int(info.mtime * 10**9)
        result = _read_tar_member(archive, info, read_options.max_bytes, modified)
        yield archive_member(outer, info.name, numbered, result, modified)


def _read_tar_member(
    archive: tarfile.TarFile, info: tarfile.TarInfo, max_bytes: int, modified: int
) -> Payload | UnreadableFile:
    if info.size > max_bytes:
        return UnreadableFile.too_large(max_bytes, info.size)
    with cast(IO[bytes], archive.extractfile(info)) as stream:
        return file_payload(stream.read(), modified)


# Zip archives: one document a member, read one after the other, nothing written to disk.

_ENCRYPTED = 1
_ZIP_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def zip_members(outer: Blob, stream: BinaryIO, read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the files of an archive in the order of its directory; an archive within it is one
    document.

    Links are `SkippedBlob`; encrypted, damaged and too large members fail. Of two members with one
    name the second is known by the name and `#2`. The sum of unpacked bytes is bounded: members
    beyond it fail.
    """
    with contextlib.ExitStack() as stack:
        try:
            content = stack.enter_context(seekable(stream))
            archive = stack.enter_context(zipfile.ZipFile(content))
        except _ZIP_DAMAGE as error:
            yield FailedBlob(
                outer.path,
                f"it cannot be read as a zip archive ({error}); repair the file, then run again",
            )
            return
        allowance = Allowance.of(outer, read_options.max_bytes)
        numbered = NumberedBlobs()
        for info in archive.infolist():
            if not info.is_dir():
                yield _zip_member(outer, archive, info, allowance, numbered)


def _zip_member(
    outer: Blob,
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    allowance: Allowance,
    numbered: NumberedBlobs,
) -> Blob | SkippedBlob:
    if stat.S_ISLNK(info.external_attr >> 16):
        return SkippedBlob(f"{outer.path}{INSIDE}{info.filename}", "special_file")
    modified = _modified(info)
    result: Payload | ExtractionError
    if info.flag_bits & _ENCRYPTED:
        result = UnreadableFile(
            reason="it is encrypted", remedy="unpack the archive, then index the folder"
        )
    else:
        result = _read_zip_member(archive, info, allowance, modified)
    return archive_member(outer, info.filename, numbered, result, modified)


def _read_zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, modified: int | None
) -> Payload | UnreadableFile:
    if allowance.is_spent:
        return allowance.refusal()
    try:
        with archive.open(info) as stream:
            data = bounded(stream, allowance.max_member)  # type: ignore[arg-type]
    except _ZIP_DAMAGE as error:
        return UnreadableFile(
            reason=f"the archive is damaged here ({error})", remedy="repair it, then run again"
        )
    if isinstance(data, UnreadableFile):
        allowance.take(allowance.max_member)
        return data
    allowance.take(len(data))
    return file_payload(data, modified)


def _modified(info: zipfile.ZipInfo) -> int | None:
    """Return nanoseconds since 1970; archives name no time zone, so the time is taken for UTC."""
    try:
        return int(datetime(*info.date_time, tzinfo=timezone.utc).timestamp()) * 10**9
    except ValueError:
        return None


# Parquet: one record a row, known by its number, counted from 1; read a few rows at a time.

_BATCH_ROWS = 256


@contextlib.contextmanager
def _parquet_file(stream: BinaryIO) -> Iterator[Any]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise MissingExtra(package="pyarrow", extra="parquet") from error
    try:
        with seekable(stream) as content, pyarrow.parquet.ParquetFile(content) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        raise DamagedRecord(
            f"it cannot be read as Parquet ({error}); repair the file, then run again"
        ) from error


def _parquet_records(path: str, stream: BinaryIO, read_options: ReadOptions) -> Records:
    """Yield the rows of a file.

    Columns of lists and structures are read only if they are named, others also as metadata.

    Raises `DamagedRecord` when the text field is not a column, or the file cannot be read.
    """
    with _parquet_file(stream) as file:
        columns = _read_columns(file.schema_arrow, read_options)
        number = 0
        for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
            for record in batch.to_pylist():
                number += 1
                yield str(number), record


def _parquet_columns(path: str, stream: BinaryIO, read_options: ReadOptions) -> dict[str, str]:
    """Return the names of the columns in their order, each with its type.

    Raises `DamagedRecord` as `_parquet_records` does.
    """
    with _parquet_file(stream) as file:
        schema = file.schema_arrow
    _read_columns(schema, read_options)
    return {field.name: f"{field.type}{'' if field.nullable else ' not null'}" for field in schema}


def _read_columns(schema: Any, read_options: ReadOptions) -> list[str]:
    """Return the columns to read. Raises `DamagedRecord` when a named one is missing."""
    import pyarrow

    columns = set()
    for name in read_options.required_fields:
        column = name if name in schema.names else name.partition(".")[0]
        if column not in schema.names:
            raise DamagedRecord(
                f"it has no column {name!r}, but: {', '.join(schema.names[:20])}; "
                "choose by --text-field and --id-field"
            )
        columns.add(column)
    if not read_options.metadata:
        return sorted(columns)
    nested = pyarrow.types.is_nested
    return [name for name in schema.names if name in columns or not nested(schema.field(name).type)]


# Mailboxes in mbox format, one document a message, as if each were a file `.eml`.

_HEADERS = re.compile(rb"\A.*?\r?\n\r?\n", re.DOTALL)
_MAX_HEADERS = 1 << 20
_FIELD = re.compile(rb"[!-9;-~]+:")
_USUAL_FIELD = re.compile(
    rb"(?:from|to|subject|date|message-id|received|return-path|delivered-to|mime-version"
    rb"|content-[!-9;-~]+|x-[!-9;-~]+|status|sender|reply-to):",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(rb"From \S+@")
_DATE = re.compile(  # as `asctime` writes it (RFC 4155), also with a zone
    rb"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +[A-Z][a-z]{2} +\d{1,2} +\d{1,2}:\d\d(?::\d\d)?"
    rb"(?: +[+-]?\w+)? +\d{4}\b(?: +[+-]?\d{4})?\s*$"
)


def mbox_messages(outer: Blob, stream: BinaryIO, read_options: ReadOptions) -> Iterator[SourceItem]:
    """Yield the messages of a mailbox, divided at lines that begin with `From ` and have two of
    three: an empty line above, the date of a delivery, a field of a message below. Without the date
    it is a usual field, or an address follows `From `.

    A message is known by its Message-ID, the second with the same one by `#2` after it; without
    one, by the byte at which it begins. Lines quoted as `>From ` stay as they are.
    """
    numbered = NumberedBlobs()
    try:
        for offset, message in _messages(stream, read_options.max_bytes):
            if isinstance(message, UnreadableFile):
                key = numbered.key(offset.encode())
                yield inner_blob(outer, key, f"{key.decode()}.eml", message)
                continue
            name = _message_id(message) or offset
            key = numbered.key(name.encode("utf-8", "surrogateescape"))
            shown = f"{key.decode('utf-8', 'replace')}.eml"
            yield inner_blob(outer, key, shown, file_payload(message, None))
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _messages(stream: BinaryIO, max_bytes: int) -> Iterator[tuple[str, bytes | UnreadableFile]]:
    """Yield the number of the byte where a message's `From ` line begins, and the message without
    that line.
    """
    rest = lines(stream, max_bytes)
    first = next(rest, b"")
    if not isinstance(first, bytes) or not first.startswith(b"From "):
        if first:
            raise DamagedRecord(
                "it is not a mailbox: it does not begin with `From `; "
                "rename it, or give --containers none"
            )
        return
    start = 0
    position = len(first)
    size = 0
    is_after_empty = False
    message: list[bytes] = []
    for line, following in pairwise(chain(rest, [None, None])):
        if line is None or _is_from_line(line, following, is_after_empty):
            is_whole = size <= max_bytes
            content = b"".join(message) if is_whole else UnreadableFile.too_large(max_bytes)
            yield str(start), content
            start = position
            size = 0
            message = []
            is_after_empty = False
            position += len(line) if isinstance(line, bytes) else 0
            continue
        length = len(line) if isinstance(line, bytes) else max_bytes + 1
        size += length
        position += length
        if size <= max_bytes and isinstance(line, bytes):
            message.append(line)
        is_after_empty = line in (b"\n", b"\r\n")


def _is_from_line(
    line: bytes | UnreadableFile, following: bytes | UnreadableFile | None, is_after_empty: bool
) -> bool:
    """Return whether a line begins a message, also where the program that wrote the box left out
    the empty line above.

    A sentence may begin with "From", where the program quoted no such line.
    """
    if not isinstance(line, bytes) or not line.startswith(b"From "):
        return False
    below = following if isinstance(following, bytes) else b""
    if _DATE.search(line):
        return is_after_empty or _FIELD.match(below) is not None
    field = _FIELD if _ADDRESSED.match(line) else _USUAL_FIELD
    return is_after_empty and field.match(below) is not None


def _message_id(message: bytes) -> str | None:
    """Return the Message-ID without its brackets, None without one."""
    from email import message_from_bytes
    from email.errors import MessageError

    headers = _HEADERS.match(message[:_MAX_HEADERS])
    try:
        parsed = message_from_bytes(headers[0] if headers else message[:_MAX_HEADERS])
        value = parsed["Message-ID"]
    except (MessageError, ValueError):
        return None
    return str(value).strip().strip("<>") or None if value else None


# Types of files.

RECORD_FORMATS = (
    RecordFormat("jsonl", (".jsonl", ".ndjson"), tables.json_records, tables.json_lines),
    RecordFormat(
        "csv", (".csv",), tables.delimited_records, tables.delimited_lines, tables.columns
    ),
    RecordFormat(
        "tsv", (".tsv",), tables.delimited_records, tables.delimited_lines, tables.columns
    ),
    RecordFormat(
        "parquet", (".parquet",), _parquet_records, columns=_parquet_columns, may_be_packed=False
    ),
)
MAILBOX = Container((".mbox", ".mbox.gz"), mbox_messages, holds_files=True)
CONTAINERS = (
    Container((".zip",), zip_members, holds_files=True),
    Container(
        (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"),
        tar_members,
        holds_files=True,
        unpacks_gzip=True,
    ),
    MAILBOX,
    Container((".dat",), load_files.concordance_documents),
    Container((".opt",), load_files.opticon_documents),
    *(format.container() for format in RECORD_FORMATS),
)


def record_format(path: str) -> RecordFormat | None:
    """Return the format of the rows in a file of that name; None for another file.

    >>> [format and format.name for format in map(record_format, ("A.TSV.gz", "a.parquet.gz"))]
    ['tsv', None]
    """
    return next((format for format in RECORD_FORMATS if format.holds(path)), None)


def read_table(path: str, stream: BinaryIO, read_options: ReadOptions) -> tuple[list[str], Records]:
    """Return the names of the fields of a load file or a table, and its records.

    Raises `DamagedRecord`, also for a file of another type.
    """
    name = path.lower()
    if name.endswith(".dat"):
        table = load_files.read_table(stream, read_options)
        if table is None:
            raise DamagedRecord(
                "it is no Concordance load file; if it is a table, let its name end in .csv"
            )
        return table
    if not name.endswith((".csv", ".tsv")):
        raise DamagedRecord("it is no load file or table; give a file that ends in .dat or .csv")
    return tables.read_table(name, stream, read_options)


def container_of(path: str) -> Container | None:
    """Return the container that a file of that name is; None when it is none.

    >>> container_of("Mail.MBOX") is MAILBOX, container_of("a.docx")
    (True, None)
    """
    name = path.lower()
    return next((kind for kind in CONTAINERS if name.endswith(kind.suffixes)), None)


def holds_files(path: str) -> bool:
    """Return whether a container of that name, or a mail, has files, and not records.

    >>> holds_files("mail.mbox"), holds_files("a.dat"), holds_files("a.csv"), holds_files("a.eml")
    (True, False, False, True)
    """
    container = container_of(path)
    return may_be_mail(path) if container is None else container.holds_files


def expand(
    items: Iterable[SourceItem], paths: Collection[str], read_options: ReadOptions, opened: set[str]
) -> Iterator[SourceItem]:
    """Yield the items, containers replaced by their members, and add their paths to `opened`.

    Unless `read_options.containers` is `all`, only the containers among `paths`, which the caller
    named, are opened. With `read_options.attachments`, mails are followed by their attachments.
    """
    for item in _open_containers(items, paths, read_options, opened):
        if not isinstance(item, Blob) or not may_be_mail(item.path):
            yield item
            continue
        blobs = divide(item, read_options) if read_options.attachments else [item]
        if blobs is not None:
            opened.add(item.path)
        yield from blobs or [item]


def _open_containers(
    items: Iterable[SourceItem], paths: Collection[str], read_options: ReadOptions, opened: set[str]
) -> Iterator[SourceItem]:
    for item in items:
        container = _container(item, paths, read_options)
        if container is None or not isinstance(item, Blob):
            yield item
            continue
        opened.add(item.path)
        try:
            yield from _documents_in(item, container, read_options)
        except MissingExtra as error:
            yield FailedBlob(item.path, str(error))


def _container(
    item: SourceItem, paths: Collection[str], read_options: ReadOptions
) -> Container | None:
    """Return the container that an item is opened as; None when it is to stay as it is."""
    is_named = read_options.containers == "given" and item.path in paths
    if is_named or read_options.containers == "all":
        return container_of(item.path)
    return None


def _documents_in(
    outer: Blob, container: Container, read_options: ReadOptions
) -> Iterator[SourceItem]:
    """Yield the items of a container, or its failure when it cannot be opened."""
    try:
        stream = blobs.stream(outer)
    except ExtractionError as error:
        yield FailedBlob(outer.path, str(error))
        return
    with stream:
        if outer.path.lower().endswith(".gz") and not container.unpacks_gzip:
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield from container.members(outer, cast(BinaryIO, unpacked), read_options)
        else:
            yield from container.members(outer, stream, read_options)


# Mails with attachments.


def divide(mail: Blob, read_options: ReadOptions) -> Sequence[Blob] | None:
    """Return a mail without its attachments, then these; None for one that cannot be divided.

    An attachment is known by its name, the second of a name by `#2` after it, and has the id of the
    mail in its metadata. The bytes and digest of the mail stay the same as of its file.
    """
    from indexer.documents.embedded import mail_files

    try:
        payload = read(mail, read_options.max_bytes)
        text, files = split_attachments(payload.data)
        embedded = pack_embedded(mail_files(payload.data))
    except (ExtractionError, ValueError):
        return None
    if not files:
        return [replace(mail, opener=LoadedSource(payload))]
    source = hashlib.sha256(f"{payload.source}:without attachments".encode("ascii")).hexdigest()
    rest = LoadedSource(replace(payload, data=text, source=source))
    blobs = [replace(mail, opener=rest, source=None, embedded=embedded)]
    numbered = NumberedBlobs()
    for file in files:
        key = numbered.key(file.name.encode("utf-8", "surrogateescape"))
        name = key.decode("utf-8", "replace")
        content = file_payload(file.data, None)
        if isinstance(mail.opener, MailFile):
            content = mail.opener.with_name(content)
        blob = inner_blob(mail, key, name, content)
        blobs.append(replace(blob, metadata={PARENT: mail.id}))
    return blobs
