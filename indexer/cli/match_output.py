"""What match, group and delete print: pairs in four forms, counts for people, one JSON document for
programs.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TextIO

from rich.console import Console
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.exports import parquet_pairs as parquet
from indexer.grouping.account import Copies, GroupResult
from indexer.grouping.delete import DeleteResult
from indexer.matching.pairs import MatchResult, describe_missed
from indexer.system.whole_file import write_whole
from indexer.text.visible import visible
from indexer.text.wording import count_of, join_names, unmistakable

LISTED = 20
_TOLD = ("similarity", "measure", "low", "high")


def matched(
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
        _lines(found, form, names, sys.stdout)
    else:
        with write_whole(out) as part:
            _write(found, form, names, part)
    if as_json:
        sys.stderr.write(json.dumps(_summary(found)) + "\n")
        return
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    notes.print(f"{count_of(len(found), 'pair')} in {count_of(found.documents, of[:-1])}")
    for note in found.notes():
        notes.print(Text(note))


def _write(found: MatchResult, form: str, names: Sequence[str], out: Path) -> None:
    if form == "parquet":
        parquet.write(found, out, names)
        return
    with out.open("w", encoding="utf-8", errors="replace", newline="") as file:
        _lines(found, form, names, file)


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


def _lines(found: MatchResult, form: str, names: Sequence[str], file: TextIO) -> None:
    if form == "text":
        for place, others in found.by_document():
            called = join_names(names[other] for other, _ in others)
            file.write(f"{unmistakable(names[place])}  # max {others[0][1]:.3f} matches {called}\n")
        return
    rows = zip(found.left, found.right, found, strict=True)
    if form == "csv":
        writer = csv.writer(file)  # CR LF: only then is a lone CR in a path quoted
        sides = [] if found.within is None else ["a_in_b", "b_in_a"]
        writer.writerow(["a", "b", *_TOLD, *sides])
        for a, b, pair in rows:
            writer.writerow(
                [
                    names[a],
                    names[b],
                    *(getattr(pair, name) for name in _TOLD),
                    *(pair.containment or ()),
                ]
            )
        return
    for a, b, pair in rows:
        fields: dict[str, object] = {
            "a": names[a],
            "b": names[b],
            **{name: getattr(pair, name) for name in _TOLD},
        }
        if pair.containment is not None:
            fields["containment"] = pair.containment
        file.write(
            json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
        )


def grouped(
    done: GroupResult,
    as_json: bool,
    consistency: bool,
    of: Literal["documents", "parts"] = "documents",
) -> None:
    """Families and clusters in numbers, and what changed."""
    if as_json:
        print_json(_json(done))
        return
    out = console()
    out.print(
        f"{count_of(done.documents, of[:-1])}: {count_of(done.families, 'family')}, the largest of {done.largest:,}; "
        f"{count_of(done.singletons, 'singleton')}; {count_of(done.clusters, 'cluster')}"
    )
    for status, number in done.aside.items():
        out.print(f"  {number:,} {status.replace('_', ' ')}: never in a family")
    for name, copies in (("the same bytes", done.same_bytes), ("the same text", done.same_text)):
        if copies:
            out.print(
                f"  {sum(len(one.documents) for one in copies):,} {of} in {count_of(len(copies), 'group')} of {name}"
            )
    out.print(
        f"{count_of(done.changed, 'row')} changed; {count_of(done.settled, of[:-1])} provisional before"
    )
    if done.moved:
        out.print(
            f"{count_of(sum(len(move.documents) for move in done.moved), 'document')} moved to another family:"
        )
    for move in done.moved[:LISTED]:
        out.print(f"  {move.before} -> {move.after}  {count_of(len(move.documents), 'document')}")
    if len(done.moved) > LISTED:
        out.print(f"  ... and {len(done.moved) - LISTED:,} more moves; --json lists all")
    if done.capped.keys:
        out.print(
            f"note: in {count_of(done.capped.keys, 'hot band')} (up to {done.capped.largest:,} texts) all were compared "
            "with the first only; --cap raises the limit"
        )
    if done.capped.missed:
        out.print(describe_missed(done.capped.missed))
    _print_consistency(done, consistency)


def _print_consistency(done: GroupResult, listed: bool) -> None:
    out = console()
    if listed:
        for one in done.inconsistent:
            labels = ", ".join(
                f"{visible(label)} {number:,}" for label, number in one.labels.items()
            )
            out.print(
                f"labels differ  {one.family}  {count_of(one.documents, 'document')}: {labels}, none {one.unlabelled:,}"
            )
    if done.inconsistent or listed:
        more = "" if listed else "; --consistency lists them"
        out.print(
            f"{count_of(len(done.inconsistent), 'family')} whose members carry different labels{more}"
        )


def _json(done: GroupResult) -> dict[str, object]:
    return {
        "documents": done.documents,
        "families": done.families,
        "largest": done.largest,
        "singletons": done.singletons,
        "clusters": done.clusters,
        "changed": done.changed,
        "provisional": done.settled,
        "aside": done.aside,
        "moved": [
            {"from": one.before, "to": one.after, "documents": list(one.documents)}
            for one in done.moved
        ],
        "same_bytes": [_copies(one) for one in done.same_bytes],
        "same_text": [_copies(one) for one in done.same_text],
        "inconsistent": [
            {
                "family": one.family,
                "documents": one.documents,
                "labels": one.labels,
                "unlabelled": one.unlabelled,
            }
            for one in done.inconsistent
        ],
        "capped": dataclasses.asdict(done.capped),
    }


def _copies(copies: Copies) -> dict[str, object]:
    return {
        "digest": copies.digest,
        "documents": [{"id": id, "path": path} for id, path in copies.documents],
    }


def deleted(done: DeleteResult, as_json: bool) -> None:
    """What was removed, what was not there, and which families were mended."""
    if as_json:
        mended = [{"family": one.family, "into": one.into} for one in done.mended]
        print_json({"deleted": list(done.deleted), "absent": list(done.absent), "mended": mended})
        return
    out = console()
    out.print(f"{count_of(len(done.deleted), 'document')} deleted")
    for one in done.mended:
        into = ", ".join(f"{family} ({number:,})" for family, number in one.into.items())
        out.print(f"  the family of {one.family} is now {into}; provisional until `nearfold group`")
    for id in done.absent:
        out.print(Text(f"  not in the store: {visible(id)}"))
