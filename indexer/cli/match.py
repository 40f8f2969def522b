"""The commands on pairs and families: match, group, delete."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from indexer.cli import match_output as printing
from indexer.cli import progress
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import (
    json_option,
    measure_option,
    of_option,
    open_for_command,
    store_option,
    threshold_option,
)
from indexer.errors import UsageError
from indexer.exports import parquet_pairs as parquet
from indexer.grouping import delete as removal
from indexer.grouping import group as grouping
from indexer.matching import match as pairs
from indexer.matching.limits import CAP
from indexer.system.spill_files import DEFAULT_MEGABYTES
from indexer.system.whole_file import check_place

_principal = click.option(
    "--principal",
    type=click.Choice(["longest", "first", "central"]),
    default="longest",
    show_default=True,
    help="Who leads a family: most words, oldest, or most similar to its matches.",
)
_cap = click.option(
    "--cap",
    type=click.IntRange(2),
    default=CAP,
    show_default=True,
    help="A band that more texts share pairs them with the first only.",
)
_memory = click.option(
    "--memory",
    type=click.IntRange(1),
    metavar="MB",
    default=DEFAULT_MEGABYTES,
    show_default=True,
    help="Memory for slots, pairs and texts; what does not fit goes to temporary files (TMPDIR).",
)


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
@_cap
@_memory
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
    chosen = pairs.MatchOptions(audit=audit or 0, **options)
    if form == "parquet" and out is None:
        raise UsageError("parquet is no text; give --out FILE")
    if form == "parquet":
        parquet.check_library()
    if out is not None:
        check_place(out)
    with open_for_command(store_url) as store, progress.of_stages() as advance:
        matched = pairs.match(store, chosen, memory=memory, progress=advance)
    printing.matched(matched, "jsonl" if as_json else form, out, paths, as_json, chosen.of)
    return 0


@click.command("group")
@click.option(
    "--cluster-threshold",
    type=click.FloatRange(0, 1),
    help="Least similarity in a chain (default: --threshold).",
)
@click.option(
    "--consistency", is_flag=True, help="List the families whose members carry different labels."
)
@click.option(
    "--within",
    type=click.Choice(["labels"]),
    help="Only among documents of the same labels, as if each set were alone.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would be.")
@of_option
@_principal
@_cap
@_memory
@threshold_option
@measure_option
@store_option
@json_option
def group_command(
    store_url: str, as_json: bool, consistency: bool, dry_run: bool, **options: Any
) -> int:
    """Families around a principal and clusters by chains, written back to the store."""
    with open_for_command(store_url) as store, progress.of_stages() as advance:
        done = grouping.group(store, write=not dry_run, progress=advance, **options)
    printing.grouped(done, as_json, consistency, options["of"])
    return 0


@click.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_principal
@threshold_option
@measure_option
@store_option
@json_option
def delete_command(ids: tuple[str, ...], store_url: str, as_json: bool, **options: Any) -> int:
    """Remove documents; a family that loses its principal is grouped anew."""
    with open_for_command(store_url) as store:
        done = removal.delete(store, ids, **options)
    printing.deleted(done, as_json)
    return EXIT_FAILED if done.absent else 0
