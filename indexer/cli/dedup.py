"""`nearfold dedup`: write a dataset without its duplicates."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
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
    dry_run_option,
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
    from indexer.jobs.dedup import DedupOptions, DedupResult, Template
    from indexer.system.approved_passages import ApprovedPassages


_COUNTS = ("read", "kept", "exact", "near", "failed", "without_text")
STDOUT = Path("-")


keep_option = click.option(
    "--keep",
    type=click.Choice(["longest", "first"]),
    default="longest",
    show_default=True,
    help="The row that stays: most words, or first in the input.",
)


id_field_option = click.option(
    "--id-field", metavar="NAME", help="Also identify rows in the report by this column."
)


@click.command("dedup")
@click.argument("paths", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="OUTPUT",
    help="A file in the format of INPUT, or a new folder with a file per input; - is stdout.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="Replace the files OUTPUT, OUTPUT.removed.jsonl, OUTPUT.spans.jsonl and "
    "OUTPUT.manifest.json.",
)
@dry_run_option("Write nothing; print how many rows would be removed.")
@approved_option(
    "--spans",
    "Keep one copy of each passage approved in this file, written by `passages --out`, and remove "
    "the others from the rows that stay; OUTPUT.spans.jsonl lists them.",
)
@policy_option
@fold_threshold_option
@measure_option
@keep_option
@text_field_option
@id_field_option
@delimiter_option
@numbers_option
@require_option
@cap_option
@memory_option
@json_option
def dedup_command(
    paths: tuple[str, ...],
    out: Path | None,
    dry_run: bool,
    replace: bool,
    spans: ApprovedPassages,
    memory: int,
    as_json: bool,
    **options: Any,
) -> int:
    """Write a dataset of texts without its duplicates.

    INPUT is JSON Lines, CSV or Parquet, a folder of such files, or a pattern. Rows that stay are
    not changed. OUTPUT.removed.jsonl lists the removed rows and the reasons; with --out -, only the
    rows that stay are written, to stdout. Existing files are kept unless --replace is given. Run
    the same command again to resume after an interruption. In addition to --memory, each row takes
    some 700 bytes.
    """
    from indexer.jobs.dedup import DedupOptions, dedup

    drop_defaults(options, "policy", "threshold")
    settings = DedupOptions(**options)
    if not dry_run:
        _check_output(out, replace, as_json)
    with progress.show_stages(as_json) as advance:
        write = partial(
            dedup,
            paths,
            options=settings,
            memory=memory,
            replace=replace,
            progress=advance,
            spans=spans,
        )
        if dry_run:
            result = write(None)
        elif out == STDOUT:
            result = _write_to_stdout(write, paths)
        else:
            result = write(out)
    if out and out != STDOUT and not dry_run:
        _write_manifest(out, settings, result, spans)
    if as_json:
        print_json(dataclasses.asdict(result))
    else:
        _print_result(result, to_stderr=out == STDOUT)
    return EXIT_FAILED if result.failed else 0


def _check_output(out: Path | None, replace: bool, as_json: bool) -> None:
    """Raise `UsageError` where nothing says where the rows go, or something is there already."""
    from indexer.system.files import check_new

    if out is None:
        raise UsageError("give --out OUTPUT, or --dry-run to write nothing")
    if out == STDOUT and as_json:
        raise UsageError("--out - writes the rows to stdout, and so does --json; leave one out")
    if not replace:
        check_new(manifest_path(out))


def _write_to_stdout(write: Callable[[Path], DedupResult], paths: Sequence[str]) -> DedupResult:
    """Write the rows into a temporary file, and its bytes to stdout."""
    from indexer.jobs.dedup_output import stdout_name

    with TemporaryDirectory(prefix="nearfold") as folder:
        out = Path(folder, stdout_name(paths))
        result = write(out)
        with out.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    return dataclasses.replace(result, out="", report="")


def _write_manifest(
    out: Path, settings: DedupOptions, result: DedupResult, spans: ApprovedPassages
) -> None:
    """Write the manifest of a run next to its output."""
    from indexer.recipe import DEFAULT

    counts = {name: getattr(result, name) for name in _COUNTS}
    if spans:
        counts |= {"spans": result.spans, "span_words": result.span_words, "list": spans.id}
    layout = settings.family_options().band_plan(DEFAULT)
    write_manifest(out, run_manifest("dedup", DEFAULT, settings, counts, layout))


def _print_result(result: DedupResult, to_stderr: bool) -> None:
    """Print how many rows stay and how many do not, and where both are."""
    from rich.text import Text

    out = console(to_stderr)
    kept = f"{result.kept:,} kept"
    if result.without_text:
        kept += f" ({result.without_text:,} without text)"
    out.print(
        f"{count_of(result.read, 'row')}: {kept}, {result.exact:,} exact and "
        f"{result.near:,} near duplicates removed, {result.failed:,} failed"
    )
    if result.out:
        summary = f"kept in {visible(result.out)}, the others listed in {visible(result.report)}"
        out.print(Text(summary))
    if result.spans:
        spans = f"{count_of(result.spans, 'copy')} of approved passages"
        out.print(f"{spans} ({count_of(result.span_words, 'word')}) removed from rows that stay")
    if result.resumed:
        out.print(
            f"{count_of(result.resumed, 'row')} had been fingerprinted before the interruption"
        )
    notes = console(stderr=True)
    for template in result.templates:
        notes.print(f"warning: {_format_template(template)}")
    if result.other_files:
        notes.print(f"{count_of(result.other_files, 'other file')} without rows left out")


def _format_template(template: Template) -> str:
    """Return the warning about rows that were removed for a row of other facts."""
    row = f"row {template.kept_row:,} of {visible(template.kept_file)}"
    return (
        f"{count_of(template.differ, 'row')} have one template in common with {row} and were "
        "removed, though numbers, names or other facts differ; --numbers distinguish keeps them"
    )
