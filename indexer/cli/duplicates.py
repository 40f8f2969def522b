"""`nearfold duplicates`: list groups of duplicate files, and act on redundant ones on request."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from indexer.cli import progress
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import FractionType, json_option, limit_option
from indexer.cli.output import console, first_items, report_failures, short_path
from indexer.defaults import FOLD
from indexer.errors import UsageError
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from indexer.jobs.duplicates import DuplicatesResult, FileGroup


@click.command("duplicates")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--near", is_flag=True, help="Group files with similar texts and the same facts.")
@click.option(
    "--threshold",
    type=FractionType(0, 1),
    default=FOLD,
    show_default=True,
    help="Minimum similarity of near duplicates.",
)
@click.option("--move", metavar="DIR", help="Move redundant files below this folder.")
@click.option(
    "--hardlink", is_flag=True, help="Replace identical files by hard links to the one kept."
)
@click.option("--script", metavar="FILE", help="Write a shell script that removes identical files.")
@click.option("--undo", is_flag=True, help="Undo earlier moves and links of files below PATH.")
@limit_option
@json_option
def duplicates_command(
    paths: tuple[str, ...], undo: bool, limit: int | None, as_json: bool, **options: Any
) -> int:
    """List duplicate files of folders; link or move them.

    Groups with the most redundant bytes come first; --json prints one line for each.

    Files are duplicates if their bytes are identical. One file of each group is kept: the one in
    the earliest PATH, then the first by name; of near duplicates, the one with the longest text.
    Files are compared once more before one is moved or linked. A journal makes --undo possible.
    """
    from indexer.jobs.duplicates import DuplicatesOptions, duplicates

    settings = DuplicatesOptions(**options)
    if undo:
        if settings != DuplicatesOptions():
            raise UsageError("--undo goes with PATH alone; leave the other options out")
        return _undo(paths, as_json)
    with progress.show_stages(as_json) as advance:
        result = duplicates(paths, settings, progress=advance)
    if as_json:
        for group in first_items(_largest_first(result.groups), limit, as_json):
            # escapes keep names that are not UTF-8
            sys.stdout.write(json.dumps(_fields(group)) + "\n")
    else:
        _print_groups(result, limit, settings.script)
    report_failures(result.failed, as_json)
    return EXIT_FAILED if result.failed else 0


def _largest_first(groups: Sequence[FileGroup]) -> list[FileGroup]:
    """Return groups by the bytes of their redundant files."""
    return sorted(groups, key=lambda group: -sum(file.bytes for file in group.redundant))


def _fields(group: FileGroup) -> dict[str, object]:
    redundant = [
        {"path": file.path, "identical": file.identical, "similarity": file.similarity}
        for file in group.redundant
    ]
    return {"keep": group.keep, "redundant": redundant}


def _print_groups(result: DuplicatesResult, limit: int | None, script: str | None) -> None:
    from rich.text import Text

    out = console()
    done = set(result.done)
    for group in first_items(_largest_first(result.groups), limit):
        out.print(Text(f"keep {visible(group.keep)}"))
        for file in group.redundant:
            kind = "identical" if file.identical else percent(file.similarity)
            note = "  (done)" if file.path in done else ""
            out.print(Text(f"  {kind:>9}  {short_path(file.path)}{note}"))
    redundant = [file for group in result.groups for file in group.redundant]
    size = sum(file.bytes for file in redundant)
    out.print(
        f"{count_of(result.files, 'file')}: {count_of(len(result.groups), 'group')}, "
        f"{count_of(len(redundant), 'redundant file')} of {size:,} bytes"
    )
    if script is not None:
        out.print(Text(f"nothing was changed; read {visible(script)}, then run it"))
    elif result.journal:
        out.print(f"{count_of(len(done), 'file')} changed; --undo with the same PATHs reverts it")
    else:
        out.print("nothing was changed; --hardlink, --move DIR or --script FILE act on them")


def _undo(paths: Sequence[str], as_json: bool) -> int:
    from rich.text import Text

    from indexer.jobs.duplicates import undo_duplicates

    result = undo_duplicates(paths)
    if as_json:
        sys.stdout.write(json.dumps({"undone": result.undone}) + "\n")
    else:
        out = console()
        for path in result.undone:
            out.print(Text(f"undone {short_path(path)}"))
        out.print(f"{count_of(len(result.undone), 'file')} as before")
    report_failures(result.failed, as_json)
    return EXIT_FAILED if result.failed else 0
