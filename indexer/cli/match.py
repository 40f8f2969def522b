"""`nearfold match`: list all near-duplicate pairs of a store."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TextIO

import click
from rich.console import Console
from rich.text import Text

from indexer.cli import progress
from indexer.cli.options import (
    cap_option,
    json_option,
    measure_option,
    memory_option,
    of_option,
    open_for_command,
    store_option,
)
from indexer.errors import UsageError
from indexer.exports import parquet_pairs as parquet
from indexer.matching.match import MatchOptions, match
from indexer.matching.match_result import MatchResult
from indexer.system.whole_file import check_place, write_whole
from indexer.text.wording import count_of, join_names, unmistakable

_COLUMNS = ("similarity", "measure", "low", "high")


@click.command("match")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Least similarity.",
)
@click.option(
    "--false-negative-weight", type=click.FloatRange(0, 1), default=0.75, show_default=True
)
@click.option(
    "--against",
    metavar="LABEL",
    help="Only documents without this label, with those that carry it.",
)
@click.option(
    "--new", is_flag=True, help="Only pairs that touch documents that came after the last group."
)
@click.option(
    "--exact",
    is_flag=True,
    help="Measure each pair on its texts, as --complete and --contained do.",
)
@click.option(
    "--complete", "all_pairs", is_flag=True, help="Every pair, without chance; reads all texts."
)
@click.option(
    "--contained",
    is_flag=True,
    help="Excerpts, quoting replies, documents inside longer ones; reads all texts.",
)
@click.option(
    "--audit",
    type=click.IntRange(20),
    metavar="N",
    help="Verify N pairs to estimate what is missed.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of --audit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "jsonl", "parquet"]),
    default="text",
    show_default=True,
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of stdout.",
)
@click.option("--paths", is_flag=True, help="Name documents by path instead of id.")
@of_option
@cap_option
@memory_option
@measure_option
@store_option
@json_option
def match_command(
    store_url: str,
    as_json: bool,
    form: Literal["text", "csv", "jsonl", "parquet"],
    out: Path | None,
    paths: bool,
    audit: int | None,
    memory: int,
    **options: Any,
) -> int:
    """All near-duplicate pairs of the store; --json is --format jsonl, with the summary as JSON on
    stderr too.
    """
    chosen = MatchOptions(audit=audit or 0, **options)
    if form == "parquet" and out is None:
        raise UsageError("parquet is no text; give --out FILE")
    if form == "parquet":
        parquet.check_library()
    if out is not None:
        check_place(out)
    with open_for_command(store_url) as store, progress.show_stages() as advance:
        matched = match(store, chosen, memory=memory, progress=advance)
    _print_pairs(matched, "jsonl" if as_json else form, out, paths, as_json, chosen.of)
    return 0


def _print_pairs(
    found: MatchResult,
    form: Literal["text", "csv", "jsonl", "parquet"],
    out: Path | None,
    paths: bool,
    as_json: bool,
    of: Literal["documents", "parts"] = "documents",
) -> None:
    """The pairs on stdout or in a file, and on stderr what an honest answer adds, with `as_json` as
    one JSON document.
    """
    names = found.paths if paths else found.ids
    if out is None:
        _write_lines(found, form, names, sys.stdout)
    else:
        with write_whole(out) as part:
            _write_file(found, form, names, part)
    if as_json:
        sys.stderr.write(json.dumps(_summary(found)) + "\n")
        return
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    notes.print(f"{count_of(len(found), 'pair')} in {count_of(found.documents, of[:-1])}")
    for note in found.notes():
        notes.print(Text(note))


def _write_file(found: MatchResult, form: str, names: Sequence[str], out: Path) -> None:
    if form == "parquet":
        parquet.write(found, out, names)
        return
    with out.open("w", encoding="utf-8", errors="replace", newline="") as file:
        _write_lines(found, form, names, file)


def _summary(found: MatchResult) -> dict[str, object]:
    return {
        "documents": found.documents,
        "pairs": len(found),
        "threshold": found.threshold,
        "candidates": found.candidates,
        "copies_left_out": found.copies_left_out,
        "capped": dataclasses.asdict(found.capped),
        "audit": found.audit and dataclasses.asdict(found.audit),
        "notes": list(found.notes()),
    }


def _write_lines(found: MatchResult, form: str, names: Sequence[str], file: TextIO) -> None:
    if form == "text":
        for place, others in found.by_document():
            called = join_names(names[other] for other, _ in others)
            file.write(f"{unmistakable(names[place])}  # max {others[0][1]:.3f} matches {called}\n")
        return
    rows = zip(found.left, found.right, found, strict=True)
    if form == "csv":
        writer = csv.writer(file)  # CR LF: only then is a lone CR in a path quoted
        sides = [] if found.within is None else ["a_in_b", "b_in_a"]
        writer.writerow(["a", "b", *_COLUMNS, *sides])
        for a, b, pair in rows:
            writer.writerow(
                [
                    names[a],
                    names[b],
                    *(getattr(pair, name) for name in _COLUMNS),
                    *(pair.containment or ()),
                ]
            )
        return
    for a, b, pair in rows:
        fields: dict[str, object] = {
            "a": names[a],
            "b": names[b],
            **{name: getattr(pair, name) for name in _COLUMNS},
        }
        if pair.containment is not None:
            fields["containment"] = pair.containment
        file.write(
            json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
        )
