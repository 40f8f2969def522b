"""What the commands print: a table for people, one JSON document (or lines) for programs. Progress goes to stderr."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from indexer.checkup import Check
from indexer.ingest import Account
from indexer.installing import Installation
from indexer.jobs import Failure
from indexer.lookup import Found
from indexer.model import Match, Outcome
from indexer.overview import Overview
from indexer.terminal import counted, percent, visible

LISTED_FAILURES = 20
EXCERPT = 70
_MARKS = {"good": "[green]ok[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}


def console() -> Console:
    """Standard output; colours only on a terminal, `NO_COLOR` respected."""
    return Console(highlight=False, soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON document on one line of stdout; what is not valid Unicode is written as escapes."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[Outcome], None]]:
    """A line on stderr with the documents done; nothing when stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,} documents"),
        TextColumn("{task.fields[last]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, last="")
        yield lambda outcome: bar.update(task, advance=1, last=visible(outcome.path[-60:]))


def account(done: Account, as_json: bool) -> None:
    """What became of every file."""
    if as_json:
        failures = [{"path": one.path, "error": one.error} for one in done.failed]
        print_json(
            {
                "seen": done.seen,
                "indexed": done.indexed,
                "unchanged": done.unchanged,
                "skipped": done.skipped,
                "failed": failures,
                "removed": done.removed,
                "seconds": round(done.seconds, 3),
            }
        )
        return
    out = console()
    skipped = "".join(f", {number:,} {reason.replace('_', ' ')}" for reason, number in done.skipped.items())
    out.print(
        f"{counted(done.seen, 'document')}: {done.indexed:,} indexed, {done.unchanged:,} unchanged{skipped}, "
        f"{len(done.failed):,} failed{f'; {done.removed:,} removed' if done.removed else ''}  ({done.seconds:.1f} s)"
    )
    for one in done.failed[:LISTED_FAILURES]:
        out.print(Text(f"  failed  {visible(one.path)}: {visible(one.error)}"))
    if len(done.failed) > LISTED_FAILURES:
        out.print(f"  ... and {len(done.failed) - LISTED_FAILURES:,} more; --json or `nearfold status --failures` lists all")


def found(answer: Found, as_json: bool) -> None:
    """The matches of a look-up."""
    if as_json:
        print_json(
            {
                "query": answer.query,
                "recipe": answer.recipe,
                "matches": [_match(one) for one in answer.matches],
                "capped_keys": list(answer.capped_keys),
                "notes": list(answer.notes),
            }
        )
        return
    out = console()
    for one in answer.matches:
        out.print(Text.assemble((_percent(one), "bold"), f"  {visible(one.path)}  ", (one.id, "dim")))
        out.print(Text(f"  {_reasons(one, answer.text)}"))
    if answer.matches:
        out.print(f"\n{counted(len(answer.matches), 'near duplicate')} by measure: {answer.matches[0].measure}")
    else:
        out.print("no near duplicates found")
    for note in answer.notes:
        out.print(f"note: {note}")


def _reasons(match: Match, text: str) -> str:
    """Why a match is one: containment both ways, and the longest shared passage in its own words."""
    query_in_match, match_in_query = match.containment
    contained = f"{percent(query_in_match)} of the query is in it, {percent(match_in_query)} of it in the query"
    if not match.shared:
        return contained
    longest = max(match.shared, key=lambda passage: passage.words)
    words = sum(passage.words for passage in match.shared)
    opening = textwrap.shorten(visible(" ".join(text[slice(*longest.a)].split())), EXCERPT, placeholder=" …")
    return f"{contained}; {counted(len(match.shared), 'shared passage')}, {counted(words, 'word')}, the longest: “{opening}”"


def _percent(match: Match) -> str:
    if match.low == match.high:
        return percent(match.similarity, 1)
    return f"{percent(match.similarity, 1)} ({percent(match.low)}-{percent(match.high)})"


def _match(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "path": match.path,
        "similarity": match.similarity,
        "measure": match.measure,
        "low": match.low,
        "high": match.high,
        "keys_shared": match.keys_shared,
        "containment": list(match.containment),
        "shared": [{"a": list(one.a), "b": list(one.b), "words": one.words} for one in match.shared],
    }


def status(seen: Overview, as_json: bool) -> None:
    """What is in the store."""
    counts = seen.counts
    if as_json:
        print_json(
            {
                "store": seen.store,
                "recipe": {"name": seen.recipe.name, "id": seen.recipe.id},
                "documents": counts.documents,
                "parts": counts.parts,
                "families": counts.families,
                "status": counts.by_status,
                "content_types": counts.by_content_type,
                "failed": list(map(_failure, seen.failed)),
                "bytes": counts.size_bytes,
                "running": seen.running,
            }
        )
        return
    out = console()
    parts = f" in {counted(counts.parts, 'part')}" if counts.parts else ""
    size = f", {counts.size_bytes / 1e6:,.1f} MB" if counts.size_bytes is not None else ""
    out.print(
        f"{seen.store}: {counted(counts.documents, 'document')}{parts}, recipe {seen.recipe.name} ({seen.recipe.id}){size}"
    )
    if seen.running:
        out.print("a job is at work on it")
    out.print(_tally("status", counts.by_status))
    out.print(_tally("content type", counts.by_content_type))
    if seen.failed:
        out.print(f"{len(seen.failed):>10,}  failed: `nearfold status --failures` says why, `index --retry` tries again")


def failures(seen: Overview, as_json: bool) -> None:
    """Every file that could not be read or stored, one a line: when, id, path and reason."""
    for one in seen.failed:
        if as_json:
            print_json(_failure(one))
        else:
            id = "not read" if one.unread else visible(one.id)
            print(f"{_moment(one.at) or 'long ago'}  {id}  {visible(one.path)}: {visible(one.error)}")
    if seen.running:
        print("a job is at work on the store: what failed is known when it ends", file=sys.stderr)


def _failure(one: Failure) -> dict[str, Any]:
    return {"id": None if one.unread else one.id, "path": one.path, "error": one.error, "at": _moment(one.at)}


def _moment(at: float | None) -> str | None:
    """A time in seconds as ISO 8601 in UTC."""
    return None if at is None else datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="seconds")


def _tally(title: str, numbers: dict[Any, int]) -> str:
    rows = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join([f"{'documents':>10}  {title}", *(f"{number:>10,}  {visible(name)}" for name, number in rows)])


def checks(made: Sequence[Check], as_json: bool) -> None:
    """The verdicts of `doctor`."""
    if as_json:
        print_json({"checks": [{"name": one.name, "verdict": one.verdict, "detail": one.detail} for one in made]})
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for one in made:
        table.add_row(_MARKS[one.verdict], one.name, Text(visible(one.detail)))
    console().print(table)


def installation(done: Installation, as_json: bool, dry_run: bool) -> None:
    """What was installed or removed; `installed` lists the pieces in the order of the work."""
    pieces = [{"kind": one.kind, "name": one.name, "action": one.action, "detail": one.detail} for one in done.changes]
    if as_json:
        print_json({"store": done.store, "recipe": done.recipe.name, "dry_run": dry_run, "installed": pieces})
        return
    for one in done.changes:
        would = "would be " if dry_run and one.action in ("created", "updated", "removed") else ""
        print(visible(f"{would}{one.action}  {one.kind} {one.name}{one.detail and f': {one.detail}'}"))
    if not pieces:
        print("nothing is installed there")
