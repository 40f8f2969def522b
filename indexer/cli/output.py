"""Standard output of the commands, as docs/cli.md describes it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TextIO, TypeVar, cast

from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from rich.console import Console


T = TypeVar("T")
LISTED = 50  # lines of a list that are printed on a terminal


def console(stderr: bool = False, soft_wrap: bool = True) -> Console:
    """Return standard output, or stderr; colours only on a terminal, `NO_COLOR` respected.

    Square brackets are text, as in `nearfold[web]`. Elsewhere no line ends with blanks.
    """
    from rich.console import Console  # loads sixty modules, of which JSON needs none

    stream = sys.stderr if stderr else sys.stdout
    file = None if stream.isatty() else cast("TextIO", _PlainStream(stream))
    return Console(file=file, stderr=stderr, highlight=False, soft_wrap=soft_wrap, markup=False)


class _PlainStream:
    """A text stream that removes the blanks at the ends of lines, with which tables are padded."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write whole lines without the blanks at their ends."""
        lines = text.split("\n")
        return self._stream.write("\n".join([*map(str.rstrip, lines[:-1]), lines[-1]]))


def short_path(path: str) -> str:
    """Return a path as it is printed: relative to the working folder if it is below it."""
    return visible(path.removeprefix(os.path.join(os.getcwd(), "")))  # noqa: PTH109, PTH118 - speed


def json_line(value: object) -> str:
    """Return a JSON document as one line; a lone surrogate becomes `?`."""
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode() + "\n"


def print_json(value: object) -> None:
    """Print one JSON document on one line of stdout."""
    sys.stdout.write(json_line(value))


def note(sentence: str, as_json: bool = False) -> None:
    """Write a sentence on stderr; with `as_json` as the field `note` of a JSON object."""
    text = json_line({"note": sentence}) if as_json else f"{sentence}\n"
    sys.stderr.write(text)


def report_failures(failures: Sequence[tuple[str, str]], as_json: bool) -> None:
    """Write on stderr which paths failed and why; with `as_json` in one object, as `failed`."""
    if as_json and failures:
        listed = [{"path": path, "error": error} for path, error in failures]
        sys.stderr.write(json_line({"failed": listed}))
    else:
        for path, error in failures:
            sys.stderr.write(f"failed: {short_path(path)}: {visible(error)}\n")


def effective_limit(limit: int | None, is_data: bool) -> int | None:
    """Return the limit of a list: the one that is given, else `LISTED` on a terminal, else none.

    `is_data`: it is printed as JSON or to a file, whatever the terminal.
    """
    is_terminal = not is_data and sys.stdout.isatty()
    return LISTED if limit is None and is_terminal else limit


def first_items(
    items: Iterable[T],
    limit: int | None = None,
    as_json: bool = False,
    remedy: str = "--limit N lists more",
) -> Iterator[T]:
    """Yield the items of a list that are printed, then print how many there are beyond them.

    Without a limit these are the first `LISTED` on a terminal, and all elsewhere and as JSON.
    """
    limit = effective_limit(limit, as_json)
    rest = iter(items)
    yield from islice(rest, limit)
    more = 0 if as_json or limit is None else sum(1 for _ in rest)
    if more:
        print(f"... and {more:,} more; {remedy}")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of a result that JSON has whole; on a terminal the first `LISTED`."""
    from rich.text import Text

    out = console()
    for line in first_items(lines, remedy="--json lists all"):
        out.print(Text(visible(line)))


def guessed_text(encodings: Mapping[str, int]) -> str:
    """Return how many documents are not UTF-8, by the encoding in which they were read.

    >>> guessed_text({"cp1252": 1200, "johab": 1})
    '1,201 documents not in UTF-8, read in an encoding that is a guess: cp1252 (1,200), johab (1)'
    """
    documents = count_of(sum(encodings.values()), "document")
    names = ", ".join(f"{visible(name)} ({count:,})" for name, count in sorted(encodings.items()))
    return f"{documents} not in UTF-8, read in an encoding that is a guess: {names}"
