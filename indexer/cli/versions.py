"""`nearfold versions`: show which version of a document came from which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import json_option, open_for_command, store_option
from indexer.cli.output import console, print_json, short_path
from indexer.cli.side_by_side import abridged
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from rich.text import Text

    from indexer.comparing.compare import Change, Stretch
    from indexer.jobs.versions import Step, Version, Versions


CONTEXT = 12  # words at either end of a stretch that are printed
_MARKS: dict[Change, tuple[str, str, str]] = {
    "same": ("", "", ""),
    "removed": ("[-", "-]", "red strike"),
    "added": ("{+", "+}", "green underline"),
}


@click.command("versions")
@click.argument("document", metavar="ID|PATH")
@click.option(
    "--redline", "redlined", is_flag=True, help="Show the words added and removed in each step."
)
@click.option("--no-dates", is_flag=True, help="Order the versions by their texts only.")
@store_option
@json_option
def versions_command(
    document: str, redlined: bool, no_dates: bool, store_url: str, as_json: bool
) -> int:
    """Show the probable order of revisions in a group. Print it as a tree."""
    from indexer.jobs.versions import versions
    from indexer.stores.requirements import stored_ids

    with open_for_command(store_url) as store:
        [id] = stored_ids(store, [document])
        result = versions(store, id, dates=not no_dates)
    _print_versions(result, as_json, redlined)
    return 0


def _print_versions(result: Versions, as_json: bool, redlined: bool) -> None:
    """Print the tree of versions, then with `redlined` the words that changed in each step."""
    if as_json:
        print_json(_versions_json(result, redlined))
        return
    out = console()
    documents = count_of(result.documents, "document")
    out.print(f"{count_of(len(result.versions), 'version')} in {documents}")
    for line in _tree_lines(result.versions):
        out.print(line)
    paths = {version.id: version.path for version in result.versions}
    for version in result.versions:
        if redlined and version.step:
            out.print(_heading(version, version.step, paths))
            out.print(_redline(version.step.redline))
    for note in result.notes:
        out.print(f"note: {note}")


def _tree_lines(versions: Sequence[Version]) -> Iterator[Text]:
    """Yield a line for each version below the one it came from, and one for each of its copies."""
    from rich.text import Text

    for index, version in enumerate(versions):
        later_depths = [later.depth for later in versions[index + 1 :]]
        levels = range(1, version.depth + 1)
        open_levels = [_goes_on(later_depths, level) for level in levels]
        trunk = "".join("│   " if is_open else "    " for is_open in open_levels[:-1])
        branch, below = "", trunk
        if open_levels:
            branch = "├── " if open_levels[-1] else "└── "
            below += "│   " if open_levels[-1] else "    "
        line = Text.assemble(trunk + branch, _date(version), short_path(version.path or version.id))
        line.append(f"  {_change(version)}", "bold")
        yield line.append(f"  {visible(version.id)}", "dim")
        yield from (Text(f"{below}= {short_path(path)}", "dim") for _, path in version.copies)


def _goes_on(later_depths: Sequence[int], level: int) -> bool:
    """Return whether a version of this depth comes later under the same one."""
    return next((depth for depth in later_depths if depth <= level), 0) == level


def _date(version: Version) -> str:
    from indexer.review.exports.writers import iso_time

    return f"{iso_time(version.date)[:10]}  " if version.date is not None else ""


def _change(version: Version) -> str:
    """Return how much a version differs from the one it came from; of a root, its length."""
    step = version.step
    if step is None:
        return count_of(version.words, "word")
    direction = "" if step.dated else "  either way"
    return f"{percent(step.similarity, 1)}  +{step.added:,} -{step.removed:,} words{direction}"


def _heading(version: Version, step: Step, paths: dict[str, str]) -> Text:
    from rich.text import Text

    title = f"{short_path(paths[step.origin])} -> {short_path(version.path)}"
    return Text.assemble("\n", (title, "bold"))


def _redline(stretches: Sequence[Stretch]) -> Text:
    """Return removed and added words between signs; long stretches that stayed are abridged."""
    from rich.text import Text

    line = Text()
    for stretch in stretches:
        before, after, style = _MARKS[stretch.change]
        body = abridged(stretch.text, CONTEXT)
        body.stylize_before(style)
        line.append_text(Text.assemble(" " if line else "", (before, style), body, (after, style)))
    return line


def _versions_json(result: Versions, redlined: bool) -> dict[str, Any]:
    return {
        "family": result.family,
        "documents": result.documents,
        "versions": [_version_json(version, redlined) for version in result.versions],
        "notes": list(result.notes),
    }


def _version_json(version: Version, redlined: bool) -> dict[str, Any]:
    from indexer.review.exports.writers import iso_time

    step = version.step
    fields: dict[str, Any] = {
        "id": version.id,
        "path": version.path,
        "words": version.words,
        "date": iso_time(version.date) or None,
        "date_of": version.source,
        "copies": [{"id": id, "path": path} for id, path in version.copies],
        "from": step and step.origin,
        "dated": step and step.dated,
        "similarity": step and step.similarity,
        "added": step and step.added,
        "removed": step and step.removed,
    }
    if redlined and step:
        fields["redline"] = [[stretch.change, stretch.text] for stretch in step.redline]
    return fields
