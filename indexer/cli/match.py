"""`nearfold match`: list all near-duplicate pairs of a store."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias

import click
from rich.console import Console
from rich.text import Text

from indexer.cli import progress
from indexer.cli.console import json_line
from indexer.cli.options import (
    cap_option,
    criteria_options,
    json_option,
    measure_option,
    memory_option,
    of_option,
    open_for_command,
    out_file_option,
    recall_option,
    seed_option,
    store_option,
    take_criteria,
    threshold_option,
)
from indexer.errors import UsageError
from indexer.exports import parquet_pairs as parquet
from indexer.matching.match import MatchOptions, match
from indexer.matching.match_result import MatchResult
from indexer.system.whole_file import check_place, write_whole
from indexer.text.wording import count_of, join_names, unmistakable

Form: TypeAlias = Literal["text", "csv", "jsonl", "parquet"]
_COLUMNS = ("similarity", "measure", "low", "high")


@click.command("match")
@threshold_option
@recall_option
@click.option(
    "--against",
    metavar="LABEL",
    help="Only pairs of a document without this label and one that carries it.",
)
@click.option(
    "--new", is_flag=True, help="Only pairs with a document that came after the last group."
)
@click.option(
    "--exact",
    is_flag=True,
    help="Measure each pair on its texts, as --complete and --contained do.",
)
@click.option(
    "--complete",
    "all_pairs",
    is_flag=True,
    help="Find every pair, without chance; reads all texts.",
)
@click.option(
    "--contained",
    is_flag=True,
    help="Find excerpts, quoting replies and documents inside longer ones; reads all texts.",
)
@click.option(
    "--audit",
    type=click.IntRange(20),
    metavar="N",
    help="Verify N pairs to estimate the recall.",
)
@seed_option("Seed of the random sample of --audit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "jsonl", "parquet"]),
    default="text",
    show_default=True,
)
@out_file_option("Write to this file instead of stdout.")
@click.option("--paths", is_flag=True, help="Name documents by path instead of id.")
@of_option
@cap_option
@memory_option
@measure_option
@criteria_options
@store_option
@json_option
def match_command(
    store_url: str,
    as_json: bool,
    form: Form,
    out: Path | None,
    paths: bool,
    audit: int | None,
    memory: int,
    **options: Any,
) -> int:
    """List all near-duplicate pairs of the store.

    --json is --format jsonl, with the summary as JSON on stderr too.
    """
    settings = MatchOptions(audit=audit or 0, criteria=take_criteria(options), **options)
    if form == "parquet":
        if out is None:
            raise UsageError("parquet is no text; give --out FILE")
        parquet.check_library()
    if out is not None:
        check_place(out)
    with open_for_command(store_url) as store, progress.show_stages() as advance:
        result = match(store, settings, memory=memory, progress=advance)
    _print_pairs(result, "jsonl" if as_json else form, out, paths)
    _print_summary(result, settings.of, as_json)
    return 0


def _print_pairs(result: MatchResult, form: Form, out: Path | None, paths: bool) -> None:
    """Print the pairs on stdout, or write them to a file."""
    names = result.paths if paths else result.ids
    if out is None:
        _write_lines(result, form, names, sys.stdout)
        return
    with write_whole(out) as part:
        if form == "parquet":
            parquet.write(result, part, names)
            return
        with part.open("w", encoding="utf-8", errors="replace", newline="") as file:
            _write_lines(result, form, names, file)


def _print_summary(result: MatchResult, of: Literal["documents", "parts"], as_json: bool) -> None:
    """Print on stderr how many pairs there are, and what limits the answer."""
    if as_json:
        sys.stderr.write(json.dumps(_summary(result)) + "\n")
        return
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    notes.print(f"{count_of(len(result), 'pair')} in {count_of(result.documents, of[:-1])}")
    for note in result.notes():
        notes.print(Text(note))


def _summary(result: MatchResult) -> dict[str, object]:
    return {
        "documents": result.documents,
        "pairs": len(result),
        "threshold": result.threshold,
        "candidates": result.candidates,
        "copies_left_out": result.copies_left_out,
        "capped": dataclasses.asdict(result.capped),
        "audit": result.audit and dataclasses.asdict(result.audit),
        "notes": list(result.notes()),
    }


def _write_lines(result: MatchResult, form: Form, names: Sequence[str], file: TextIO) -> None:
    if form == "text":
        _write_text(result, names, file)
    elif form == "csv":
        _write_csv(result, names, file)
    else:
        _write_json(result, names, file)


def _write_text(result: MatchResult, names: Sequence[str], file: TextIO) -> None:
    """Write a line for each document with its matches, the most similar first."""
    for place, matches in result.by_document():
        others = join_names(names[other] for other, _ in matches)
        greatest = matches[0][1]
        file.write(f"{unmistakable(names[place])}  # max {greatest:.3f} matches {others}\n")


def _write_csv(result: MatchResult, names: Sequence[str], file: TextIO) -> None:
    writer = csv.writer(file)  # CR LF: only then is a lone CR in a path quoted
    sides = [] if result.within is None else ["a_in_b", "b_in_a"]
    writer.writerow(["a", "b", *_COLUMNS, *sides])
    for a, b, pair in zip(result.left, result.right, result, strict=True):
        values = [getattr(pair, name) for name in _COLUMNS]
        writer.writerow([names[a], names[b], *values, *(pair.containment or ())])


def _write_json(result: MatchResult, names: Sequence[str], file: TextIO) -> None:
    for a, b, pair in zip(result.left, result.right, result, strict=True):
        fields: dict[str, object] = {"a": names[a], "b": names[b]}
        fields |= {name: getattr(pair, name) for name in _COLUMNS}
        if pair.containment is not None:
            fields["containment"] = pair.containment
        file.write(json_line(fields))
