"""Approved passages in the rows that stay: the first copy of each is kept, others are removed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TextIO, TypeAlias, TypeVar

from indexer.comparing.words import folded_words
from indexer.system.approved_passages import ApprovedPassages, Span, without_spans

_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_COLON = re.compile(r"\s*:")
_SURROGATE = re.compile("[\ud800-\udfff]")
T = TypeVar("T")
_Key: TypeAlias = tuple[int, tuple[str, ...]]
"""The number of a passage or expression, and the words of a copy."""


@dataclass(frozen=True, slots=True)
class RowName:
    """A row: its file and its number there."""

    file: str
    row: int


@dataclass(frozen=True, slots=True)
class RemovedSpan:
    """A copy that was removed from a row: its characters [start, stop) in the text as it was, its
    words, and the row that has the copy which stays.
    """

    name: RowName
    start: int
    stop: int
    words: int
    kept: RowName

    def fields(self) -> dict[str, object]:
        """Return the fields of a report."""
        return {
            "file": self.name.file,
            "row": self.name.row,
            "start": self.start,
            "stop": self.stop,
            "words": self.words,
            "kept_file": self.kept.file,
            "kept_row": self.kept.row,
        }


@dataclass(frozen=True, slots=True)
class SpanEdits:
    """Edits of rows: which copies go, the report that has a line of JSON for each of them, and the
    names of files there, by their paths.
    """

    copies: SpanCopies
    report: TextIO
    names: Mapping[str, str]

    def edit(self, path: str, row: int, text: str, replaced: Callable[[str], T | None]) -> T | None:
        """Return what `replaced` makes of the shorter text, None if the row stays as it is."""
        shorter, removed = self.copies.shorten(text, RowName(self.names[path], row))
        result = replaced(shorter) if removed else None
        for span in removed if result is not None else ():
            self.report.write(json.dumps(span.fields()) + "\n")
        return result


@dataclass(slots=True)
class SpanCopies:
    """Removes approved passages from texts that are given in reading order, but the first copies.

    A copy has all words of the passage and no others; what expressions match are copies if their
    words are the same. So all words that are removed stay in another row, or earlier in this one.
    """

    approved: ApprovedPassages
    first: dict[_Key, RowName] = field(default_factory=dict)

    def shorten(self, text: str, name: RowName) -> tuple[str, list[RemovedSpan]]:
        """Return a text without the copies that an earlier one makes superfluous, and these."""
        removed = []
        stop = 0
        for start, end, key in sorted(self._copies(text)):
            if start < stop:
                continue  # inside another copy
            stop = end
            if key in self.first:
                removed.append(RemovedSpan(name, start, end, len(key[1]), self.first[key]))
            else:
                self.first[key] = name
        spans = [(span.start, span.stop) for span in removed]
        return without_spans(text, spans) if spans else text, removed

    def _copies(self, text: str) -> Iterator[tuple[int, int, _Key]]:
        for number, span in self.approved.passage_spans(text):
            key = _key(number, text, span)
            if key[1] == self.approved.words_of(number):
                yield *span, key
        for number, span in self.approved.pattern_spans(text):
            yield *span, _key(number, text, span)


def _key(number: int, text: str, span: Span) -> _Key:
    return number, tuple(folded_words(text[slice(*span)]))


def with_json_text(row: str, field: str, text: str, shorter: str) -> str | None:
    """Return a line of JSON with another text in a field, all else as it stands.

    A dotted field leads into nested records. None unless exactly one value of that name is the
    text.

    >>> with_json_text('{"n": 1.0, "text": "to be"}', "text", "to be", "to")
    '{"n": 1.0, "text": "to"}'
    """
    names = (field, field.rpartition(".")[2])
    key = ""
    positions = []
    for literal in _LITERAL.finditer(row):
        value = json.loads(literal[0], strict=False)
        if _COLON.match(row, literal.end()):
            key = value
        elif key in names and value == text:
            positions.append(literal.span())
    if len(positions) != 1:
        return None
    [(start, stop)] = positions
    escapes = row.isascii() or bool(_SURROGATE.search(shorter))
    return row[:start] + json.dumps(shorter, ensure_ascii=escapes) + row[stop:]


def with_csv_text(row: str, text: str, shorter: str) -> str | None:
    """Return a row of CSV with another text instead of one, all else as it stands.

    None unless the text is in exactly one place of the row.

    >>> with_csv_text('1,"to ""be"", or"', 'to "be", or', "to")
    '1,"to"'
    """
    old = text.replace('"', '""')
    return row.replace(old, shorter.replace('"', '""')) if row.count(old) == 1 else None
