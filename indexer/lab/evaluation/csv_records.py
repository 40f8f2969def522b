"""Read csv and JSON Lines files as records that know their file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from indexer.errors import SourceNotFound, UsageError
from indexer.text.wording import count_of

MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a file: its fields, path and line number."""

    path: str
    line: int
    fields: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Return path and line, for error messages."""
        return f"{self.path}, line {self.line}"

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text field. Raises `UsageError` when it is missing or empty (unless there is a
        default), or not text.
        """
        value = self.fields.get(name)
        if value is None or value == "":
            if default is None:
                raise self.wrong(f"{name} is missing")
            return default
        if not isinstance(value, str):
            raise self.wrong(f"{name} is {json.dumps(value)}, not text")
        return value

    def wrong(self, what: str) -> UsageError:
        """Return the error to raise about this line."""
        return UsageError(f"{self.place}: {what}")


def records(path: str) -> Iterator[Record]:
    """Yield the lines of a `.csv` file with a header, or of a `.jsonl` file, without empty lines.

    The last line of a `.jsonl` file is left out when it has no line end and cannot be parsed: it
    was cut short while it was written. Raises `SourceNotFound`, and `UsageError` for another kind
    of file and for what cannot be read, with the line.
    """
    place = Path(path)
    if place.is_dir():
        raise UsageError(f"{path} is a folder; give a .csv file with a header, or a .jsonl file")
    if not place.exists():
        raise SourceNotFound(path=path)
    if not place.is_file():
        raise UsageError(f"{path} is not a regular file; give a .csv or a .jsonl file")
    suffix = place.suffix.lower()
    if suffix not in (".csv", ".jsonl", ".ndjson"):
        raise UsageError(f"{path}: give a .csv file with a header, or a .jsonl file")
    if place.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path} has more than {MOST_BYTES >> 20} MB; split it")
    try:
        text = place.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    yield from _rows(path, text) if suffix == ".csv" else _lines(path, text)


def _rows(path: str, text: str) -> Iterator[Record]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise UsageError(f"{path}, line 1: the header names a column twice; rename one of them")
        line = reader.line_num
        for row in reader:
            if any(row):
                if len(row) != len(header):
                    raise UsageError(
                        f"{path}, line {line + 1}: {count_of(len(row), 'field')} under "
                        f"{count_of(len(header), 'name')}; repair the line"
                    )
                yield Record(path, line + 1, dict(zip(header, row, strict=True)))
            line = reader.line_num
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {error}") from error


def _lines(path: str, text: str) -> Iterator[Record]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            raise UsageError(
                f"{path}, line {number}: not JSON ({error}); repair the line"
            ) from error
        if not isinstance(value, dict):
            raise UsageError(
                f"{path}, line {number}: not a JSON object; "
                'write one such as {"a": "one", "b": "other"}'
            )
        yield Record(path, number, value)
