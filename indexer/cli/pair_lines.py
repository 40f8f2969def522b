"""The lines of pairs that `nearfold match` writes, in each of its formats."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from indexer.cli.console import json_line
from indexer.cli.copietje_lines import copietje_line
from indexer.exports import parquet_pairs as parquet
from indexer.matching.match_result import MatchResult, Pair
from indexer.similarity.reasons import Reasons, spell_reasons
from indexer.text.visible import visible
from indexer.text.wording import count_of

Line: TypeAlias = tuple[str, str, Pair, Reasons | None]
Form: TypeAlias = Literal["text", "csv", "jsonl", "parquet", "copietje"]
_COLUMNS = ("similarity", "measure", "low", "high", "as_read")


class PairLines:
    """Writes the pairs of a store in one format, in parts.

    `explain` returns the reasons of pairs of ids; None to write pairs without.
    """

    explain: Callable[[Sequence[tuple[str, str]]], Iterable[Reasons | None]] | None = None

    def __init__(self, form: Form, ids: bool, file: TextIO) -> None:
        self._form = form
        self._ids = ids
        self._file = file
        self._count = 0
        self._is_begun = False

    def count(self) -> str:
        """Return the number of pairs so far."""
        return count_of(self._count, "pair")

    def write(self, part: MatchResult) -> None:
        """Write some pairs, except in formats that need all of them."""
        names = self._names(part)
        places = part.left, part.right
        a, b = (map(names.__getitem__, side) for side in places)
        lines = zip(a, b, part, self._reasons(part), strict=True)
        if self._form == "csv":
            sides = [] if part.within is None else ["a_in_b", "b_in_a"]
            others = ["left_out"] if part.omissions else []
            others += ["reasons"] if self.explain else []
            if not self._is_begun:
                csv.writer(self._file).writerow(["a", "b", *_COLUMNS, *sides, *others])
            _write_csv(lines, self._file)
        elif self._form == "jsonl":
            _write_json(lines, self._file)
        elif self._form == "text":
            _write_text(lines, self._file)
        self._count += len(part)
        self._is_begun = True
        self._file.flush()

    def finish(self, result: MatchResult) -> None:
        """Write what needs all pairs."""
        if self._form == "copietje":
            _write_copietje(result, self._names(result), self._file)
        elif self._form == "parquet":
            parquet.write(result, Path(self._file.name), self._names(result))

    def _reasons(self, part: MatchResult) -> Iterable[Reasons | None]:
        if self.explain is None:
            return repeat(None, len(part))
        return self.explain([(pair.a, pair.b) for pair in part])

    def _names(self, result: MatchResult) -> Sequence[str]:
        return result.ids if self._ids else result.names


def _write_text(lines: Iterable[Line], file: TextIO) -> None:
    """Write a line for each pair: the similarity and both documents, with tabs between them.

    A similarity that was estimated from the slots, not measured on the texts, begins with ~. What
    is to be said of the pair comes last.
    """
    for a, b, pair, reasons in lines:
        mark = "~" if pair.measure == "estimate" else ""
        columns = [f"{mark}{_decimals(pair.similarity)}", visible(a), visible(b)]
        columns += filter(None, ["; ".join(_remarks(pair, reasons))])
        file.write("\t".join(columns) + "\n")


def _remarks(pair: Pair, reasons: Reasons | None) -> Iterator[str]:
    """Yield sentences: whether texts were cut, and the reasons."""
    if pair.as_read and not (reasons and reasons.same):
        yield "the same as far as read" if pair.similarity == 1 else "as far as read"
    if pair.left_out and pair.left_out.passages:
        yield str(pair.left_out)
    if reasons:
        yield from map(visible, spell_reasons(reasons))


def _write_copietje(result: MatchResult, names: Sequence[str], file: TextIO) -> None:
    """Write copietje's `duplicates.txt`: each document with its matches, most similar first, ties
    by descending name.
    """
    for place, matches in result.by_document():
        file.write(copietje_line(names[place], [(value, names[other]) for other, value in matches]))


def _write_csv(lines: Iterable[Line], file: TextIO) -> None:
    writer = csv.writer(file)  # CR LF: only then is a lone CR in a path quoted
    for a, b, pair, reasons in lines:
        values = [getattr(pair, name) for name in _COLUMNS[:-1]]
        values += ["true" if pair.as_read else "false", *(pair.containment or ())]
        if pair.left_out:
            values.append(pair.left_out.words)
        if reasons:
            values.append("; ".join(spell_reasons(reasons)))
        writer.writerow([a, b, *values])


def _write_json(lines: Iterable[Line], file: TextIO) -> None:
    for a, b, pair, reasons in lines:
        fields: dict[str, object] = {"a": a, "b": b}
        fields |= {name: getattr(pair, name) for name in _COLUMNS}
        if pair.containment is not None:
            fields["containment"] = pair.containment
        if pair.left_out is not None:
            passages, words = len(pair.left_out.passages), pair.left_out.words
            fields["left_out"] = {"passages": passages, "words": words}
        if reasons:
            fields |= dataclasses.asdict(reasons)
        file.write(json_line(fields))


def _decimals(similarity: float) -> str:
    """Return three decimals; texts that differ are never shown as equal.

    >>> _decimals(1.0), _decimals(0.9998)
    ('1.000', '0.999')
    """
    return f"{similarity if similarity == 1 else min(similarity, 0.999):.3f}"
