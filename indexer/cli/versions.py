"""`nearfold versions`: which version of a document came from which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.cli.side_by_side import abridged
from indexer.comparing import versions as revisions
from indexer.comparing.redline import Change, Stretch
from indexer.comparing.versions import Step, Version, Versions
from indexer.exports.tables import iso_time
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent

CONTEXT = 12
_MARKS: dict[Change, tuple[str, str, str]] = {
    "same": ("", "", ""),
    "removed": ("[-", "-]", "red strike"),
    "added": ("{+", "+}", "green underline"),
}


@click.command("versions")
@click.argument("id")
@click.option(
    "--redline", "redlined", is_flag=True, help="Show the words that came and went on each step."
)
@click.option("--no-dates", is_flag=True, help="Go by the texts alone.")
@store_option
@json_option
def versions_command(id: str, redlined: bool, no_dates: bool, store_url: str, as_json: bool) -> int:
    """Which document of a family probably came from which, as a tree of revisions."""
    with open_for_command(store_url) as store:
        found = revisions.versions(store, id, dates=not no_dates)
    _print_versions(found, as_json, redlined)
    return 0


def _print_versions(found: Versions, as_json: bool, redlined: bool) -> None:
    """The tree of versions, with `redlined` the words that came and went on each step after it."""
    if as_json:
        print_json(_json(found, redlined))
        return
    out = console()
    out.print(
        f"{count_of(len(found.versions), 'version')} in {count_of(found.documents, 'document')}"
    )
    for line in _lines(found.versions):
        out.print(line)
    for version in found.versions:
        if redlined and version.step:
            out.print(_heading(version, version.step, {one.id: one.path for one in found.versions}))
            out.print(_redline(version.step.redline))
    for note in found.notes:
        out.print(f"note: {note}")


def _lines(made: Sequence[Version]) -> Iterator[Text]:
    """A line for each version below the one it came from, and one for each of its copies."""
    for place, one in enumerate(made):
        after = [other.depth for other in made[place + 1 :]]
        open_levels = [_goes_on(after, level) for level in range(1, one.depth + 1)]
        trunk = "".join("│   " if goes_on else "    " for goes_on in open_levels[:-1])
        branch = ("├── " if open_levels[-1] else "└── ") if open_levels else ""
        told = Text.assemble(trunk + branch, _date(one), visible(one.path or one.id))
        yield told.append_text(
            Text.assemble(("  " + _told(one), "bold"), (f"  {visible(one.id)}", "dim"))
        )
        below = trunk + (("│   " if open_levels[-1] else "    ") if open_levels else "")
        yield from (Text(f"{below}= {visible(path)}", "dim") for _, path in one.copies)


def _goes_on(after: Sequence[int], level: int) -> bool:
    """Whether a version of this depth comes later under the same one."""
    return next((depth for depth in after if depth <= level), 0) == level


def _date(one: Version) -> str:
    return f"{iso_time(one.date)[:10]}  " if one.date is not None else ""


def _told(one: Version) -> str:
    if one.step is None:
        return count_of(one.words, "word")
    sign = "" if one.step.dated else "  either way"
    return (
        f"{percent(one.step.similarity, 1)}  +{one.step.added:,} -{one.step.removed:,} words{sign}"
    )


def _heading(version: Version, step: Step, paths: dict[str, str]) -> Text:
    return Text.assemble(
        "\n", (f"{visible(paths[step.origin])} -> {visible(version.path)}", "bold")
    )


def _redline(stretches: Sequence[Stretch]) -> Text:
    """Words that went and came between signs, the long stretches that stayed abridged."""
    told = Text()
    for one in stretches:
        before, after, style = _MARKS[one.change]
        body = abridged(one.text, CONTEXT)
        body.stylize_before(style)
        told.append_text(Text.assemble(" " if told else "", (before, style), body, (after, style)))
    return told


def _json(found: Versions, redlined: bool) -> dict[str, Any]:
    return {
        "family": found.family,
        "documents": found.documents,
        "versions": [_version(one, redlined) for one in found.versions],
        "notes": list(found.notes),
    }


def _version(one: Version, redlined: bool) -> dict[str, Any]:
    step = one.step
    told: dict[str, Any] = {
        "id": one.id,
        "path": one.path,
        "words": one.words,
        "date": iso_time(one.date) or None,
        "date_of": one.source,
        "copies": [{"id": id, "path": path} for id, path in one.copies],
        "from": step and step.origin,
        "dated": step and step.dated,
        "similarity": step and step.similarity,
        "added": step and step.added,
        "removed": step and step.removed,
    }
    if redlined and step:
        told["redline"] = [[stretch.change, stretch.text] for stretch in step.redline]
    return told
