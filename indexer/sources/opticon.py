"""Opticon load files (OPT) as a source: one document for each run of pages, its text in text files.

A line is a page: its key, the volume, the path of its image, `Y` where a document begins, two more
such marks (folder, box), and the number of pages. There is no row of names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import BinaryIO, cast

from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, FailedBlob
from indexer.sources import delimited, record_documents
from indexer.sources.base import Reading, Records, SourceItem
from indexer.sources.concordance import folder_of
from indexer.sources.payloads import DamagedRecord
from indexer.sources.text_files import TextFiles
from indexer.text.wording import count_of

_FIELDS = 7
_BREAKS = ("Y", "")
_ID, _VOLUME, _PAGES, _TEXT = "DOCID", "Volume", "PageCount", "text"


def blobs(outer: Blob, stream: BinaryIO, reading: Reading) -> Iterator[SourceItem]:
    """Yield a blob for each document, known by the key of its first page; the file itself if it is
    no load file.

    The text of a page is the file `KEY.txt` anywhere below `reading.text_files`, or else below the
    folder of the load file. A document has the texts of all its pages, or one text beside its first
    page; one of which only some pages have a text fails.
    """
    lines = delimited.text_lines(stream, reading)
    try:
        first = next(lines, "")
        fields = first.rstrip("\r\n").split(",")
        if len(fields) != _FIELDS or fields[3] not in _BREAKS:
            yield outer
            return
        rows = delimited.Rows(chain([first], lines), ",", reading.max_bytes)
        texts = _PageTexts(reading.text_files or folder_of(outer), reading)
        reading = replace(reading, id_field=_ID, text_field=_TEXT, label_field=None)
        yield from record_documents.blobs(outer, _records(rows, texts, reading), reading)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _records(rows: delimited.Rows, texts: _PageTexts, reading: Reading) -> Records:
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

    def __init__(self, folder: str | None, reading: Reading) -> None:
        self._files = TextFiles(folder, reading)
        self._paths = self._files.by_stem()

    def of(self, pages: Sequence[str]) -> str | ExtractionError:
        """Return the text of a document of these pages, or why there is none."""
        places = [self._paths.get(key.casefold(), []) for key in pages]
        missing = [key for key, paths in zip(pages, places, strict=True) if not paths]
        if missing and (missing[0] == pages[0] or len(missing) < len(pages) - 1):
            count = count_of(len(pages), "page")
            return UnreadableFile(
                reason=f"{len(missing):,} of {count} have no text file, such as {missing[0]}.txt",
                remedy="name the folder that holds them by --text-files",
            )
        duplicate_paths = next((paths for paths in places if len(paths) > 1), None)
        if duplicate_paths:
            return UnreadableFile(
                reason="two text files have one name: "
                f"{duplicate_paths[0]} and {duplicate_paths[1]}",
                remedy="name the folder of one volume by --text-files",
            )
        texts = [self._files.text(paths[0]) for paths in places if paths]
        error = next((text for text in texts if isinstance(text, ExtractionError)), None)
        return error or "\n".join(cast(list[str], texts))
