"""`nearfold group`: group a store into families and clusters."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import click

from indexer.cli import progress
from indexer.cli.console import console, print_json
from indexer.cli.options import (
    cap_option,
    json_option,
    measure_option,
    memory_option,
    of_option,
    open_for_command,
    principal_option,
    store_option,
    threshold_option,
)
from indexer.grouping.account import Copies, GroupResult
from indexer.grouping.assign_families import GroupOptions
from indexer.grouping.group import group
from indexer.matching.match_result import describe_missed
from indexer.text.visible import visible
from indexer.text.wording import count_of

LISTED = 20


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
@principal_option
@cap_option
@memory_option
@threshold_option
@measure_option
@store_option
@json_option
def group_command(
    store_url: str,
    as_json: bool,
    consistency: bool,
    dry_run: bool,
    memory: int,
    **options: Any,
) -> int:
    """Families around a principal and clusters by chains, written back to the store."""
    with open_for_command(store_url) as store, progress.show_stages() as advance:
        result = group(
            store, GroupOptions(**options), memory=memory, write=not dry_run, progress=advance
        )
    _print_groups(result, as_json, consistency, options["of"])
    return 0


def _print_groups(
    done: GroupResult,
    as_json: bool,
    consistency: bool,
    of: Literal["documents", "parts"] = "documents",
) -> None:
    """Families and clusters in numbers, and what changed."""
    if as_json:
        print_json(_group_json(done))
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


def _group_json(done: GroupResult) -> dict[str, object]:
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
        "same_bytes": [_copies_json(one) for one in done.same_bytes],
        "same_text": [_copies_json(one) for one in done.same_text],
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


def _copies_json(copies: Copies) -> dict[str, object]:
    return {
        "digest": copies.digest,
        "documents": [{"id": id, "path": path} for id, path in copies.documents],
    }
