"""Types of the parameters of commands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from indexer.errors import UsageError
from indexer.similarity.approved_passages import ApprovedPassages, approved_passages


class ShareType(click.FloatRange):
    """A number from 0 to 1; NaN, which compares with nothing, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise a usage error."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number from 0 to 1", param, ctx)
        return number


class ByteCount(click.IntRange):
    """A number of bytes, from 1, in digits."""

    def __init__(self) -> None:
        super().__init__(1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise a usage error."""
        if isinstance(value, str) and not value.strip().lstrip("+-").isdecimal():
            self.fail(f"{value!r} is no number of bytes; write digits, such as 1000000", param, ctx)
        return super().convert(value, param, ctx)


class SynonymsFile(click.Path):
    """A file of synonyms, read into a string; empty when none is given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text of the file, or raise a usage error."""
        if not value:
            return ""
        path = str(super().convert(value, param, ctx))
        try:
            return _read_utf8(Path(path))
        except UsageError as error:
            self.fail(str(error), param, ctx)


def _read_utf8(path: Path) -> str:
    """Return the text of a file. Raises `UsageError` if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error


def read_approved(
    path: Path, parse: Callable[[Iterable[str]], ApprovedPassages] = approved_passages
) -> ApprovedPassages:
    """Return what is approved in a file, by a parser of its lines.

    Raises `UsageError` with the name of the file, also if it is not UTF-8.
    """
    text = _read_utf8(path)
    try:
        return parse(text.split("\n"))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


class ApprovedFile(click.Path):
    """A file of passages of which some are approved."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the approved passages, or raise a usage error; none without a file."""
        if isinstance(value, ApprovedPassages):
            return value
        path = str(super().convert(value, param, ctx))
        try:
            return read_approved(Path(path))
        except UsageError as error:
            self.fail(str(error), param, ctx)
