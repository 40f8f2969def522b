"""Concordance load files (DAT) as a source: one document a row, its text in a field or a text file.

Fields stand between U+00FE and are separated by U+0014, line ends inside a field are U+00AE, and
the first row has the names of the fields. Encodings: UTF-8, UTF-16 with or without byte order mark,
and any other that is named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

from indexer.errors import ExtractionError
from indexer.mail.message_ids import message_ids
from indexer.model import Blob, FailedBlob
from indexer.sources import delimited, record_documents
from indexer.sources.base import Reading, Records, SourceItem
from indexer.sources.mail_metadata import CUSTODIAN, MESSAGE_ID, PARENT
from indexer.sources.members import inner_id
from indexer.sources.payloads import DamagedRecord
from indexer.sources.text_files import TextFiles, read_text_files

QUOTE, DELIMITER, NEWLINE = "\u00fe", "\u0014", "\u00ae"
_UNDECODED_QUOTE = "\udcfe"
_LETTERS = re.compile(r"[^a-z0-9]+")
IDS = (
    "docid", "controlnumber", "documentid", "begdoc", "begbates", "batesbeg", "begno", "docno",
    "prodbeg", "prodbegbates", "begcontrol", "begprod", "id",
)  # fmt: skip
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
SEPARATOR = ";"


def blobs(outer: Blob, stream: BinaryIO, reading: Reading) -> Iterator[SourceItem]:
    """Yield a blob for each row, known by its document id; the file itself if it is no load file.

    The fields of id, text and title have their usual names, in any spelling, unless `reading` names
    others. A text that is one line ending in `.txt` is the path of a text file, which begins in
    `reading.text_files` or else in the folder of the load file. Values of the label field are
    separated by `;`. Custodian, Message-ID and the mail of an attachment go to the metadata that
    documents of mails have; of the fields that name the mail, the first of the attachment family
    counts before its range, and this before the parent.
    """
    try:
        table = read_table(stream, reading)
        if table is None:
            yield outer
            return
        names, records = table
        reading = _with_fields(names, reading)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))
        return
    files = TextFiles(reading.text_files or folder_of(outer), reading)
    fields = _MailFields(names, outer, reading)
    values = _restored(records, reading, fields)
    restored = read_text_files(values, reading, files, is_path=_is_path)
    yield from record_documents.blobs(outer, restored, reading)


def read_table(stream: BinaryIO, reading: Reading) -> tuple[list[str], Records] | None:
    """Return the names of the fields, and the place and fields of each row; None if it is no load
    file.

    Raises `DamagedRecord` for a file in an unknown encoding, or without a row of names.
    """
    lines = delimited.text_lines(stream, reading)
    first = next(lines, "")
    if first.startswith(_UNDECODED_QUOTE):
        raise DamagedRecord(
            "it is neither UTF-8 nor UTF-16; name its encoding by --encoding, such as cp1252, "
            "that of Western Windows, in which many programs write load files"
        )
    if QUOTE not in first and DELIMITER not in first:
        return None
    rows = delimited.Rows(chain([first], lines), DELIMITER, reading.max_bytes, QUOTE)
    names = next(rows, None)
    if isinstance(names, ExtractionError) or not names:
        raise DamagedRecord(f"it has no row of field names ({names or 'it is empty'}); add one")
    return names, _records(names, rows, reading)


def field_named(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the first field with one of the known names, the best known first; None without any.

    >>> field_named(["Control Number", "BEGDOC#"], ("begdoc", "controlnumber"))
    'BEGDOC#'
    """
    spelled = {_LETTERS.sub("", name.casefold()): name for name in reversed(names)}
    return next((spelled[name] for name in known if name in spelled), None)


def split_labels(value: str) -> list[str]:
    """Return the labels of a field.

    >>> split_labels("hot; privileged"), split_labels("")
    (['hot', 'privileged'], [])
    """
    return [label.strip() for label in value.split(SEPARATOR) if label.strip()]


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


def _records(names: list[str], rows: delimited.Rows, reading: Reading) -> Records:
    for number, row in enumerate((row for row in rows if row != []), 1):
        if isinstance(row, ExtractionError):
            yield str(number), row
        else:
            yield str(number), delimited.record(names, row, reading)


def _restored(records: Records, reading: Reading, fields: _MailFields) -> Records:
    for place, record in records:
        if isinstance(record, ExtractionError):
            yield place, record
        else:
            yield place, fields.named(_values(record, reading))


class _MailFields:
    """The fields of mails and attachments under the names that metadata has for them."""

    def __init__(self, names: Sequence[str], outer: Blob, reading: Reading) -> None:
        self._outer = outer
        self._reading = reading
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
        own = str(values.get(self._reading.id_field or "", ""))
        mail = self._mail_of(own, values)
        if mail and mail != own:
            key = mail.encode("utf-8", "surrogatepass")
            result[PARENT] = mail if self._reading.own_ids else inner_id(self._outer, key)
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


def _values(fields: Mapping[str, str], reading: Reading) -> dict[str, object]:
    """Return the fields of a row without empty ones, their line ends and labels restored."""
    values: dict[str, object] = {
        name: value.replace(NEWLINE, "\n")
        for name, value in fields.items()
        if value or name == reading.text_field
    }
    if reading.label_field and reading.label_field in fields:
        values[reading.label_field] = split_labels(fields[reading.label_field])
    return values


def _with_fields(names: Sequence[str], reading: Reading) -> Reading:
    """Return how the rows are read: by the fields that are named, else by those of usual names.

    Raises `DamagedRecord` for a field that is not there.
    """
    id_field = reading.id_field or field_named(names, IDS)
    default = Reading()
    text_field: str | None = reading.text_field
    if text_field == default.text_field and text_field not in names:
        text_field = field_named(names, _TEXTS)
    title = reading.title_field
    if title == default.title_field:
        title = field_named(names, _TITLES) or title
    wanted = {
        "--id-field": id_field,
        "--text-field": text_field,
        "--label-field": reading.label_field or names[0],
    }
    for option, name in wanted.items():
        if name not in names:
            problem = "no field that is known as such" if name is None else f"no field {name!r}"
            raise DamagedRecord(
                f"it has {problem}, but: {', '.join(names[:40])}; choose one by {option}"
            )
    return replace(reading, id_field=id_field, text_field=str(text_field), title_field=title)
