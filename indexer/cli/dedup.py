"""`nearfold dedup`: write a dataset without its duplicates."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli import progress
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.manifest import manifest_path, run_manifest, write_manifest
from indexer.cli.options import (
    approved_option,
    cap_option,
    delimiter_option,
    drop_defaults,
    fold_threshold_option,
    json_option,
    measure_option,
    memory_option,
    numbers_option,
    policy_option,
    require_option,
    text_field_option,
)
from indexer.cli.output import console, print_json
from indexer.errors import UsageError
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.jobs.dedup import DedupResult
    from indexer.system.approved_passages import ApprovedPassages


_COUNTS = ("read", "kept", "exact", "near", "failed")


keep_option = click.option(
    "--keep",
    type=click.Choice(["longest", "first"]),
    default="longest",
    show_default=True,
    help="The row that stays: most words, or first in the input.",
)


@click.command("dedup")
@click.argument("paths", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="OUTPUT",
    help="A file of the same kind, or a new folder that gets a file for each.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="Replace the files OUTPUT, OUTPUT.removed.jsonl, OUTPUT.spans.jsonl and "
    "OUTPUT.manifest.json.",
)
@approved_option(
    "--spans",
    "Keep one copy of each passage that is approved in this file of `passages --out`, and "
    "remove the others from the rows that stay; OUTPUT.spans.jsonl lists them.",
)
@policy_option
@fold_threshold_option
@measure_option
@keep_option
@text_field_option
@delimiter_option
@numbers_option
@require_option
@cap_option
@memory_option
@json_option
def dedup_command(
    paths: tuple[str, ...],
    out: Path,
    replace: bool,
    spans: ApprovedPassages,
    memory: int,
    as_json: bool,
    **options: Any,
) -> int:
    """Write a dataset of texts without its duplicates.

    INPUT is JSON Lines, CSV or Parquet, a folder of such files, or a pattern. Rows that stay are
    not changed. OUTPUT.removed.jsonl lists the others, and why. Files that exist are not replaced
    unless you say so. Run again to go on after an interruption. Beside --memory, each row takes
    some 700 bytes.
    """
    from indexer.jobs.dedup import DedupOptions, dedup
    from indexer.recipe import DEFAULT

    drop_defaults(options, "policy", "threshold")
    settings = DedupOptions(**options)
    if not replace and manifest_path(out).exists():
        raise UsageError(
            f"{manifest_path(out)} exists; give --out another name, or --replace to replace it"
        )
    with progress.show_stages(as_json) as advance:
        result = dedup(
            paths, out, settings, memory=memory, replace=replace, progress=advance, spans=spans
        )
    counts = {name: getattr(result, name) for name in _COUNTS}
    if spans:
        counts |= {"spans": result.spans, "span_words": result.span_words, "list": spans.id}
    layout = settings.family_options().band_plan(DEFAULT)
    write_manifest(out, run_manifest("dedup", DEFAULT, settings, counts, layout))
    if as_json:
        print_json(dataclasses.asdict(result))
    else:
        _print_result(result)
    return EXIT_FAILED if result.failed else 0


def _print_result(result: DedupResult) -> None:
    """Print how many rows stay and how many do not, and where both are."""
    from rich.console import Console
    from rich.text import Text

    out = console()
    out.print(
        f"{count_of(result.read, 'row')}: {result.kept:,} kept, {result.exact:,} exact and "
        f"{result.near:,} near duplicates removed, {result.failed:,} failed"
    )
    out.print(Text(f"kept in {visible(result.out)}, the others listed in {visible(result.report)}"))
    if result.spans:
        spans = f"{count_of(result.spans, 'copy')} of approved passages"
        out.print(f"{spans} ({count_of(result.span_words, 'word')}) removed from rows that stay")
    if result.resumed:
        out.print(f"{count_of(result.resumed, 'row')} had been signed before the interruption")
    if result.other_files:
        notes = Console(stderr=True, highlight=False, soft_wrap=True)
        notes.print(f"{count_of(result.other_files, 'other file')} without rows left out")
