"""Containers: files that hold documents. The end of a file's name decides which module reads it."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import ModuleType
from typing import BinaryIO, TypeAlias, cast

from indexer.documents import archives, blobs, load_files, mailboxes, tables
from indexer.documents.base import Reading, Records, SourceItem
from indexer.documents.load_files import TextFiles, read_text_files
from indexer.errors import ExtractionError, MissingExtra
from indexer.model import Blob, FailedBlob

Opener: TypeAlias = Callable[[Blob, BinaryIO, Reading], Iterator[SourceItem]]
RecordReader: TypeAlias = Callable[[str, BinaryIO, Reading], Records]


def _of_records(records: RecordReader) -> Opener:
    """Return what opens a file of records: each one becomes a blob."""

    def blobs(outer: Blob, stream: BinaryIO, reading: Reading) -> Iterator[SourceItem]:
        rows = records(outer.path, stream, reading)
        if reading.text_files is not None:
            files = TextFiles(reading.text_files, reading)
            rows = read_text_files(rows, reading, files, is_path=bool)
        return tables.record_blobs(outer, rows, reading)

    return blobs


def _parquet_records(path: str, stream: BinaryIO, reading: Reading) -> Records:
    yield from _parquet_rows().records(path, stream, reading)


def parquet_columns(path: str, stream: BinaryIO, reading: Reading) -> dict[str, str]:
    """Return the columns of a Parquet file, each with its type.

    Raises `DamagedRecord`, and `MissingExtra` without pyarrow.
    """
    columns: dict[str, str] = _parquet_rows().columns(path, stream, reading)
    return columns


def _parquet_rows() -> ModuleType:
    try:
        from indexer.documents import parquet
    except ModuleNotFoundError as error:
        raise MissingExtra(package="pyarrow", extra="parquet") from error
    return parquet


RECORDS: dict[tuple[str, ...], RecordReader] = {
    (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"): tables.json_records,
    (".csv", ".tsv", ".csv.gz", ".tsv.gz"): tables.delimited_records,
    (".parquet",): _parquet_records,
}
_OF_FILES: dict[tuple[str, ...], Opener] = {
    (".zip",): archives.zip_members,
    (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"): archives.tar_members,
    (".mbox", ".mbox.gz"): mailboxes.mbox_messages,
}
KINDS: dict[tuple[str, ...], Opener] = {
    **_OF_FILES,
    (".dat",): load_files.concordance_documents,
    (".opt",): load_files.opticon_documents,
    **{suffixes: _of_records(reader) for suffixes, reader in RECORDS.items()},
}


def kind_of(path: str) -> Opener | None:
    """Return what opens a file of that name; None when it is not a container.

    >>> kind_of("Mail.MBOX") is mailboxes.mbox_messages, kind_of("a.docx")
    (True, None)
    """
    name = path.lower()
    return next((opener for suffixes, opener in KINDS.items() if name.endswith(suffixes)), None)


def may_be_mail(path: str) -> bool:
    """Return whether a file is a mail by its name, or by its folder in a Maildir.

    >>> may_be_mail("a/x.EML"), may_be_mail("box/cur/1700.M1.host:2,S"), may_be_mail("a/new.txt")
    (True, True, False)
    """
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return path.lower().endswith((".eml", ".msg")) or folder in ("cur", "new")


def holds_files(path: str) -> bool:
    """Return whether a container of that name, or a mail, has files, and not records.

    >>> holds_files("mail.mbox"), holds_files("a.dat"), holds_files("a.csv"), holds_files("a.eml")
    (True, False, False, True)
    """
    opener = kind_of(path)
    return may_be_mail(path) if opener is None else opener in _OF_FILES.values()


def expand(
    items: Iterable[SourceItem], paths: Collection[str], reading: Reading, opened: set[str]
) -> Iterator[SourceItem]:
    """Yield the items, containers replaced by their members, and add their paths to `opened`.

    Unless `reading.containers` is `all`, only the containers among `paths`, which the caller named,
    are opened. With `reading.attachments`, mails are followed by their attachments.
    """
    for item in _open_containers(items, paths, reading, opened):
        blobs = _mail_and_attachments(item, reading)
        if blobs is None or not isinstance(item, Blob):
            yield item
        else:
            opened.add(item.path)
            yield from blobs


def _mail_and_attachments(item: SourceItem, reading: Reading) -> Sequence[Blob] | None:
    if not reading.attachments or not isinstance(item, Blob):
        return None
    if not may_be_mail(item.path):
        return None
    from indexer.documents.mailboxes import divide

    return divide(item, reading)


def _open_containers(
    items: Iterable[SourceItem], paths: Collection[str], reading: Reading, opened: set[str]
) -> Iterator[SourceItem]:
    for item in items:
        opener = _opener(item, paths, reading)
        if opener is None or not isinstance(item, Blob):
            yield item
            continue
        opened.add(item.path)
        try:
            yield from _members(item, opener, reading)
        except MissingExtra as error:
            yield FailedBlob(item.path, str(error))


def _opener(item: SourceItem, paths: Collection[str], reading: Reading) -> Opener | None:
    """Return what opens an item; None when it is to stay as it is."""
    is_named = reading.containers == "given" and item.path in paths
    if is_named or reading.containers == "all":
        return kind_of(item.path)
    return None


def _members(outer: Blob, opener: Opener, reading: Reading) -> Iterator[SourceItem]:
    """Yield what is in a container, or its failure when it cannot be opened.

    Files of records are unpacked from gzip here; archives unpack themselves.
    """
    try:
        stream = blobs.stream(outer)
    except ExtractionError as error:
        yield FailedBlob(outer.path, str(error))
        return
    with stream:
        if outer.path.lower().endswith(".gz") and opener is not archives.tar_members:
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield from opener(outer, cast(BinaryIO, unpacked), reading)
        else:
            yield from opener(outer, stream, reading)
