"""Load files of e-discovery as sources: Concordance (DAT) and Opticon (OPT), and their texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import BinaryIO, cast

from indexer.documents import blobs, tables
from indexer.documents.base import (
    CUSTODIAN,
    MESSAGE_ID,
    PARENT,
    ReadOptions,
    Records,
    SourceItem,
    byte_order_mark,
)
from indexer.documents.blobs import DamagedRecord, inner_id
from indexer.documents.mail.headers import message_ids
from indexer.documents.tables import (
    DELIMITER,
    IDS,
    NEWLINE,
    QUOTE,
    field_named,
    split_labels,
)
from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob
from indexer.wording import count_of, field_of

# ruff: noqa: PTH113, PTH114, PTH118, PTH119, PTH122, PTH208
# (names are joined one by one, so that none leads out of the folder)


_REMEDY = "name the folder in which the paths begin by --text-files"


class TextFiles:
    """The text files at or below a folder, by the paths that a load file gives them.

    Such a path has `/` or `\\` between its names, in capitals or not, and may begin with the name
    of the folder itself. It never leads out of the folder, nor through a symbolic link.
    """

    def __init__(self, folder: str | None, read_options: ReadOptions) -> None:
        """Open no file yet; without a folder every path is refused."""
        self._folder = None if folder is None else os.path.realpath(folder)
        self._options = read_options
        self._entries: dict[str, Mapping[str, str]] = {}

    def text(self, path: str) -> str | ExtractionError:
        """Return the text of a file, or why it cannot be read."""
        try:
            position = self._locate(path)
            blob = Blob("", b"", position, os.fsencode(position), 0, None)
            data = blobs.read(blob, self._options.max_bytes).data
        except UnreadableFile as error:
            return error
        return decode(data, path, self._options.encoding)

    def by_stem(self) -> dict[str, list[str]]:
        """Return the paths of all `.txt` files below the folder, by their names in lower case
        without `.txt`; files behind links are left out.
        """
        by_stem: dict[str, list[str]] = {}
        for folder, _, names in os.walk(self._folder or ""):
            for name in names:
                stem, suffix = os.path.splitext(name)
                if suffix.casefold() == ".txt":
                    path = os.path.relpath(os.path.join(folder, name), self._folder)
                    by_stem.setdefault(stem.casefold(), []).append(path)
        return {stem: sorted(paths) for stem, paths in by_stem.items()}

    def _locate(self, path: str) -> str:
        """Return where a file is. Raises `UnreadableFile`."""
        if self._folder is None:
            raise UnreadableFile(reason=f"the location of {path} is not given", remedy=_REMEDY)
        names = [name for name in path.replace("\\", "/").split("/") if name not in ("", ".")]
        if not names or ".." in names or ":" in names[0] or "\0" in path:
            raise UnreadableFile(
                reason=f"the path {path} is not below {self._folder}", remedy=_REMEDY
            )
        position = _below(self._folder, names, self._names)
        if position is None and names[0].casefold() == os.path.basename(self._folder).casefold():
            position = _below(self._folder, names[1:], self._names)
        if position is None:
            raise UnreadableFile(
                reason=f"there is no text file {path} below {self._folder}", remedy=_REMEDY
            )
        return position

    def _names(self, folder: str) -> Mapping[str, str]:
        """Return the names in a folder by their folded form; the first of several counts."""
        if folder not in self._entries:
            try:
                names = sorted(os.listdir(folder), reverse=True)
            except OSError:
                names = []
            self._entries[folder] = {name.casefold(): name for name in names}
        return self._entries[folder]


def read_text_files(
    records: Records, read_options: ReadOptions, files: TextFiles, is_path: Callable[[str], bool]
) -> Records:
    """Yield records, with the texts of files instead of the paths that their text field holds.

    `is_path` says whether a text is one; an empty field stays an empty text. A file that cannot be
    read leaves its error in the field.
    """
    for position, record in records:
        if isinstance(record, ExtractionError):
            yield position, record
            continue
        path = field_of(record, read_options.text_field)
        if isinstance(path, str) and path.strip() and is_path(path):
            yield position, {**record, read_options.text_field: files.text(path.strip())}
        else:
            yield position, record


def _below(
    folder: str, names: Sequence[str], names_in: Callable[[str], Mapping[str, str]]
) -> str | None:
    """Return the regular file of that path below the folder, without links; None without one."""
    position = folder
    for name in names:
        exact = os.path.join(position, name)
        if not os.path.lexists(exact):
            exact = os.path.join(position, names_in(position).get(name.casefold(), name))
        if os.path.islink(exact):
            return None
        position = exact
    return position if os.path.isfile(position) else None


def decode(data: bytes, path: str, encoding: str) -> str | ExtractionError:
    """Return the text of a file: UTF-16 and UTF-32 by their byte order mark, else UTF-8, else the
    encoding that is given; the error where it is none of these.
    """
    mark, marked_encoding = byte_order_mark(data)
    first = marked_encoding or "utf-8"
    with suppress(UnicodeDecodeError):
        return data[len(mark) :].decode(first)
    with suppress(UnicodeDecodeError):
        return data.decode(encoding)
    return ExtractionError(
        f"the text file {path} is not {first.upper()}; name its encoding by --encoding, such as "
        "cp1252, or convert it"
    )


# Concordance (DAT): one document a row, its text in a field or a text file.

_UNDECODED_QUOTE = "\udcfe"
_TEXTS = (
    "text", "textpath", "extractedtext", "extractedtextpath", "textlink", "textfile", "fulltext",
    "fulltextpath", "ocrpath", "ocrtext", "ocrtextpath", "ocr", "txtpath", "textfilepath",
)  # fmt: skip
_TITLES = ("title", "subject", "emailsubject", "filename", "docname")
_CUSTODIANS = ("custodian", "custodianname")
_MESSAGE_IDS = ("messageid", "internetmessageid", "emailmessageid")
_FIRST_OF_FAMILY = (
    "begattach", "attachbeg", "begattachment", "begattachbates", "batesbegattach", "prodbegattach",
)  # fmt: skip
_RANGES = ("attachrange", "attachmentrange")
_PARENTS = ("parentid", "parentdocid", "parentcontrolnumber", "parentdoc", "parent")


def concordance_documents(
    outer: Blob, stream: BinaryIO, read_options: ReadOptions
) -> Iterator[SourceItem]:
    """Yield a blob for each row, known by its document id; the file itself if it is no load file.

    The fields of id, text and title have their usual names, however written, unless `read_options`
    names others. A text that is one line ending in `.txt` is the path of a text file, which begins
    in `read_options.text_files` or else in the folder of the load file. Values of the label field
    are separated by `;`. Custodian, Message-ID and the mail of an attachment go to the metadata
    that documents of mails have; of the fields that name the mail, the first of the attachment
    family counts before its range, and this before the parent.
    """
    try:
        table = read_table(stream, read_options)
        if table is None:
            yield outer
            return
        names, records = table
        read_options = _with_fields(names, read_options)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))
        return
    files = TextFiles(read_options.text_files or folder_of(outer), read_options)
    fields = _MailFields(names, outer, read_options)
    values = _restored(records, read_options, fields)
    restored = read_text_files(values, read_options, files, is_path=_is_path)
    yield from tables.record_blobs(outer, restored, read_options)


def read_table(stream: BinaryIO, read_options: ReadOptions) -> tuple[list[str], Records] | None:
    """Return the names of the fields, and the position and fields of each row; None if it is no
    load file.

    Raises `DamagedRecord` for a file in an unknown encoding, or without a row of names.
    """
    lines = tables.text_lines(stream, read_options)
    first = next(lines, "")
    if first.startswith(_UNDECODED_QUOTE):
        raise DamagedRecord(
            "it is neither UTF-8 nor UTF-16; name its encoding by --encoding, such as cp1252, "
            "that of Western Windows, in which many programs write load files"
        )
    if QUOTE not in first and DELIMITER not in first:
        return None
    rows = tables.Rows(chain([first], lines), DELIMITER, read_options.max_bytes, QUOTE)
    names = next(rows, None)
    if isinstance(names, ExtractionError) or not names:
        raise DamagedRecord(f"it has no row of field names ({names or 'it is empty'}); add one")
    return names, _records(names, rows, read_options)


def folder_of(outer: Blob) -> str | None:
    """Return the folder that holds a load file; None if it is not in the file system."""
    name = outer.opener
    return os.path.dirname(os.fsdecode(name)) if isinstance(name, bytes) else None  # noqa: PTH120


def _is_path(text: str) -> bool:
    """Return whether a text is the path of a text file.

    >>> _is_path("TEXT/0001.TXT"), _is_path("See notes.txt\\nand more")
    (True, False)
    """
    return "\n" not in text and text.rstrip().casefold().endswith(".txt")


def _records(names: list[str], rows: tables.Rows, read_options: ReadOptions) -> Records:
    for number, row in enumerate((row for row in rows if row != []), 1):
        if isinstance(row, ExtractionError):
            yield str(number), row
        else:
            yield str(number), tables.record(names, row, read_options)


def _restored(records: Records, read_options: ReadOptions, fields: _MailFields) -> Records:
    for position, record in records:
        if isinstance(record, ExtractionError):
            yield position, record
        else:
            yield position, fields.named(_values(record, read_options))


class _MailFields:
    """The fields of mails and attachments under the names that metadata has for them."""

    def __init__(self, names: Sequence[str], outer: Blob, read_options: ReadOptions) -> None:
        self._outer = outer
        self._options = read_options
        self._renamed = {
            CUSTODIAN: field_named(names, _CUSTODIANS),
            MESSAGE_ID: field_named(names, _MESSAGE_IDS),
        }
        self._first = field_named(names, _FIRST_OF_FAMILY)
        self._range = field_named(names, _RANGES)
        self._parent = field_named(names, _PARENTS)
        self._mails: dict[str, str] = {}

    def named(self, values: Mapping[str, object]) -> Mapping[str, object]:
        """Return the values of a row with these fields; a parent is read before its attachments."""
        result = dict(values)
        for name, field in self._renamed.items():
            if field in result:
                value = str(result.pop(field))
                value = next(iter(message_ids(value)), "") if name == MESSAGE_ID else value
                result |= {name: value} if value else {}
        own = str(values.get(self._options.id_field or "", ""))
        mail = self._mail_of(own, values)
        if mail and mail != own:
            key = mail.encode("utf-8", "surrogatepass")
            result[PARENT] = mail if self._options.own_ids else inner_id(self._outer, key)
        return result

    def _mail_of(self, own: str, values: Mapping[str, object]) -> str:
        """Return the id of the mail to which a document is attached, also by another attachment;
        empty where the fields name none.
        """
        span = str(values.get(self._range or "", ""))
        first = str(values.get(self._first or "", "")) or _first_of(span, own)
        parent = str(values.get(self._parent or "", ""))
        mail = first.strip() or self._mails.get(parent, parent).strip()
        if mail and mail != own:
            self._mails[own] = mail
        return mail


def _first_of(span: str, own: str) -> str:
    """Return the first id of a range of ids with as many hyphens as `own`; empty where it is none.

    >>> _first_of("A-01 - A-04", "A-02"), _first_of("A-01-A-04", "A-02"), _first_of("A-01", "A-01")
    ('A-01', 'A-01', '')
    """
    if " - " in span:
        return span.partition(" - ")[0].strip()
    names = span.split("-")
    half = own.count("-") + 1
    return "-".join(names[:half]).strip() if len(names) == 2 * half else ""


def _values(fields: Mapping[str, str], read_options: ReadOptions) -> dict[str, object]:
    """Return the fields of a row without empty ones, their line ends and labels restored."""
    values: dict[str, object] = {
        name: value.replace(NEWLINE, "\n")
        for name, value in fields.items()
        if value or name == read_options.text_field
    }
    if read_options.label_field and read_options.label_field in fields:
        values[read_options.label_field] = split_labels(fields[read_options.label_field])
    return values


def _with_fields(names: Sequence[str], read_options: ReadOptions) -> ReadOptions:
    """Return how the rows are read: by the fields that are named, else by usual names.

    Raises `DamagedRecord` for a field that is not there.
    """
    id_field = read_options.id_field or field_named(names, IDS)
    default = ReadOptions()
    text_field: str | None = read_options.text_field
    if text_field == default.text_field and text_field not in names:
        text_field = field_named(names, _TEXTS)
    title = read_options.title_field
    if title == default.title_field:
        title = field_named(names, _TITLES) or title
    wanted = {
        "--id-field": id_field,
        "--text-field": text_field,
        "--label-field": read_options.label_field or names[0],
    }
    for option, name in wanted.items():
        if name not in names:
            problem = "no field that is known as such" if name is None else f"no field {name!r}"
            raise DamagedRecord(
                f"it has {problem}, but: {', '.join(names[:40])}; choose one by {option}"
            )
    return replace(read_options, id_field=id_field, text_field=str(text_field), title_field=title)


# Opticon (OPT): one document for each run of pages, its text in text files.

_FIELDS = 7
_BREAKS = ("Y", "")
_ID, _VOLUME, _PAGES, _TEXT = "DOCID", "Volume", "PageCount", "text"


def opticon_documents(
    outer: Blob, stream: BinaryIO, read_options: ReadOptions
) -> Iterator[SourceItem]:
    """Yield a blob for each document, known by the key of its first page; the file itself if it is
    no load file.

    The text of a page is the file `KEY.txt` anywhere below `read_options.text_files`, or else below
    the folder of the load file. A document has the texts of all its pages, or one text next to its
    first page; one of which only some pages have a text fails.
    """
    lines = tables.text_lines(stream, read_options)
    try:
        first = next(lines, "")
        fields = first.rstrip("\r\n").split(",")
        if len(fields) != _FIELDS or fields[3] not in _BREAKS:
            yield outer
            return
        rows = tables.Rows(chain([first], lines), ",", read_options.max_bytes)
        texts = _PageTexts(read_options.text_files or folder_of(outer), read_options)
        read_options = replace(read_options, id_field=_ID, text_field=_TEXT, label_field=None)
        yield from tables.record_blobs(
            outer, _opticon_records(rows, texts, read_options), read_options
        )
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _opticon_records(rows: tables.Rows, texts: _PageTexts, read_options: ReadOptions) -> Records:
    """Yield the documents, by the number of the line on which each begins."""
    pages: list[str] = []
    volume = ""
    begin = 1
    for number, row in enumerate(rows, 1):
        if row == []:
            continue
        if isinstance(row, ExtractionError) or len(row) != _FIELDS or row[3] not in _BREAKS:
            reason = row if isinstance(row, ExtractionError) else "it is not a page of seven fields"
            yield str(number), ExtractionError(f"{reason}; repair the line")
            continue
        if row[3] == "Y" and pages:
            yield str(begin), _document(pages, volume, texts)
            pages = []
        if not pages:
            begin, volume = number, row[1]
        pages.append(row[0])
    if pages:
        yield str(begin), _document(pages, volume, texts)


def _document(pages: Sequence[str], volume: str, texts: _PageTexts) -> Mapping[str, object]:
    fields = {_ID: pages[0], _VOLUME: volume, _PAGES: str(len(pages)), _TEXT: texts.of(pages)}
    return {name: value for name, value in fields.items() if value or name == _TEXT}


class _PageTexts:
    """The text files below a folder, by the key of the page."""

    def __init__(self, folder: str | None, read_options: ReadOptions) -> None:
        self._files = TextFiles(folder, read_options)
        self._paths = self._files.by_stem()

    def of(self, pages: Sequence[str]) -> str | ExtractionError:
        """Return the text of a document of these pages, or why there is none."""
        positions = [self._paths.get(key.casefold(), []) for key in pages]
        missing = [key for key, paths in zip(pages, positions, strict=True) if not paths]
        if missing and (missing[0] == pages[0] or len(missing) < len(pages) - 1):
            count = count_of(len(pages), "page")
            return UnreadableFile(
                reason=f"{len(missing):,} of {count} have no text file, such as {missing[0]}.txt",
                remedy="name the folder that holds them by --text-files",
            )
        duplicate_paths = next((paths for paths in positions if len(paths) > 1), None)
        if duplicate_paths:
            return UnreadableFile(
                reason="two text files have one name: "
                f"{duplicate_paths[0]} and {duplicate_paths[1]}",
                remedy="name the folder of one volume by --text-files",
            )
        texts = [self._files.text(paths[0]) for paths in positions if paths]
        error = next((text for text in texts if isinstance(text, ExtractionError)), None)
        return error or "\n".join(cast(list[str], texts))
