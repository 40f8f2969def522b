"""`nearfold group`: put the documents of a store into near-duplicate groups and clusters."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from indexer.cli import progress
from indexer.cli.manifest import run_manifest
from indexer.cli.options import (
    cap_option,
    criteria_options,
    drop_defaults,
    dry_run_option,
    fold_threshold_option,
    json_option,
    leave_out_option,
    measure_option,
    memory_option,
    of_option,
    open_for_command,
    principal_option,
    store_option,
    take_criteria,
)
from indexer.cli.output import console, note, print_json
from indexer.errors import (
    ExpiredCredentials,
    IndexMissing,
    StoreBusy,
    StoreStopped,
    StoreUnreachable,
    UsageError,
)
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.grouping.group import Copies, FamilyMove, GroupResult
    from indexer.grouping.group_options import GroupOptions
    from indexer.jobs.arrival import FollowPass
    from indexer.system.approved_passages import ApprovedPassages


_COUNTS = ("documents", "families", "largest", "singletons", "clusters")
LISTED = 20  # moves
NAMED = 5  # documents of a move
MAX_PAUSE = 60.0  # seconds between two attempts to reach an engine


@click.command("group")
@click.option(
    "--cluster-threshold",
    type=click.FloatRange(0, 1),
    help="Minimum similarity of linked documents in a cluster (default: --threshold).",
)
@click.option(
    "--consistency", is_flag=True, help="List the groups whose members carry different labels."
)
@click.option(
    "--within",
    type=click.Choice(["labels"]),
    help="Group only documents with the same set of labels, as if each set were a store.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="Keep running and group the documents that clients send to an engine as they arrive.",
)
@click.option(
    "--every",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="Time between two polls of --follow.  [default: 1.0]",
)
@dry_run_option("Write nothing; print what would change.")
@of_option
@principal_option
@cap_option
@memory_option
@fold_threshold_option
@measure_option
@criteria_options
@leave_out_option
@store_option
@json_option
def group_command(
    store_url: str,
    as_json: bool,
    consistency: bool,
    dry_run: bool,
    memory: int,
    leave_out: ApprovedPassages,
    follow: bool,
    every: float | None,
    **options: Any,
) -> int:
    """Find near-duplicate groups and clusters, and store them."""
    from indexer.grouping.group import group
    from indexer.grouping.group_options import GroupOptions
    from indexer.jobs.review_file import joined_documents
    from indexer.jobs.status import unknown_facts
    from indexer.stores.requirements import require_recipe
    from indexer.system.approved_passages import left_out_json

    drop_defaults(options, "threshold", "measure")
    settings = GroupOptions(criteria=take_criteria(options), **options)
    if every is not None and not (follow and math.isfinite(every)):
        raise UsageError("--every is the time between two polls of --follow, in seconds")
    if follow:
        if dry_run or consistency or leave_out or settings.within or settings.of != "documents":
            raise UsageError(
                "--follow adds documents one by one and cannot be combined with --dry-run, "
                "--consistency, --within, --of parts or --leave-out; run `group` without --follow "
                "for these"
            )
        return _follow(store_url, settings, every or 1.0, as_json)
    with open_for_command(store_url) as store, progress.show_stages(as_json) as advance:
        result = group(
            store,
            settings,
            memory=memory,
            write=not dry_run,
            progress=advance,
            leave_out=leave_out,
            joined=joined_documents(store) if settings.of == "documents" else {},
        )
        recipe = require_recipe(store)
        not_compared = unknown_facts(store)
    settings = settings.for_recipe(recipe)
    if as_json:
        response = _group_json(result)
        response["not_compared"] = list(map(dataclasses.asdict, not_compared))
        counts = {name: response[name] for name in _COUNTS}
        layout = settings.band_plan(recipe) if recipe.minhash else None
        left_out = left_out_json(result.left_out)
        manifest = run_manifest("group", recipe, settings, counts | left_out, layout)
        print_json({**response, **left_out, "manifest": manifest})
        return 0
    _print_groups(result, store_url, consistency, settings.of, dry_run)
    for unknown in not_compared:
        console().print(f"note: {unknown}")
    return 0


def _follow(store_url: str, options: GroupOptions, every: float, as_json: bool) -> int:
    """Place what arrives until a signal.

    An engine that cannot be reached, or takes no documents, and an index that is not there yet are
    waited for; `ExpiredCredentials` ends it, since new ones are read at its start.
    """
    from indexer.jobs.arrival import FOLLOWED_AT_ONCE, follow_once, seen_writes

    with open_for_command(store_url) as store, progress.drain_on_interrupt(as_json) as drain:
        pause, seen = every, seen_writes(store)
        while not drain():
            started, used = time.monotonic(), time.process_time()
            try:
                done = follow_once(store, options, seen)
            except ExpiredCredentials:
                raise
            except (StoreUnreachable, StoreBusy, StoreStopped, IndexMissing) as error:
                pause = max(every, min(2 * pause, MAX_PAUSE))
                why = (
                    f"{error.reason}; {error.remedy}" if isinstance(error, StoreStopped) else error
                )
                note(f"{why}; trying again in {pause:g} s", as_json)
                drain.wait(pause)
                continue
            pause = every
            if done.placed or done.changed or done.repaired:
                spent = time.monotonic() - started, time.process_time() - used
                _print_pass(done, *spent, as_json)
            if max(done.placed, done.compared) < FOLLOWED_AT_ONCE:
                drain.wait(every)
    return 0


def _print_pass(done: FollowPass, seconds: float, processor: float, as_json: bool) -> None:
    """Print the counts of a pass, its time, and the processor time of this process and of the
    engine.
    """
    if as_json:
        spent = {"seconds": round(seconds, 3), "processor_seconds": round(processor, 3)}
        print_json({**dataclasses.asdict(done), **spent})
        return
    out = console()
    if done.changed:
        out.print(f"{count_of(done.changed, 'document')} with another text now left a group")
    if done.repaired:
        out.print(f"{count_of(done.repaired, 'group')} got another principal")
    if not done.placed:
        return
    engine = done.engine_processor_seconds
    of_engine = "" if engine is None else f", {1000 * engine / done.placed:.1f} ms of the engine's"
    out.print(
        f"{count_of(done.placed, 'document')} placed, {done.joined:,} of them in a group that was "
        f"there; {done.waiting:,} waiting ({seconds:.1f} s, "
        f"{1000 * processor / done.placed:.2f} ms of processor time each{of_engine})"
    )


def _print_groups(
    result: GroupResult,
    store_url: str,
    consistency: bool,
    of: Literal["documents", "parts"],
    dry_run: bool,
) -> None:
    """Print groups and clusters in numbers, and what changed or, on a dry run, would change."""
    from indexer.grouping.match import describe_missed

    out = console()
    noun = of[:-1]
    out.print(
        f"{count_of(result.documents, noun)}: {count_of(result.families, 'near-duplicate group')}, "
        f"the largest of {result.largest:,}; {count_of(result.singletons, 'singleton')}; "
        f"{count_of(result.clusters, 'cluster')}"
    )
    _print_exceptions(result, store_url)
    _print_copies("the same bytes", result.same_bytes, of)
    _print_copies("the same text", result.same_text, of)
    would = "would be " if dry_run else ""
    out.print(f"{count_of(result.changed, 'row')} {would}changed")
    if result.provisional:
        final = "would become final" if dry_run else "is final now"
        out.print(
            f"{count_of(result.provisional, noun)} had a provisional group, which {final} "
            f"({count_of(result.provisional_families, 'group')} of two or more)"
        )
    _print_moves(result.moved, noun, dry_run)
    if result.left_out:
        out.print(str(result.left_out))
    if dry_run:
        out.print("dry run: nothing was written")
    if result.capped.keys:
        out.print(
            f"note: in {count_of(result.capped.keys, 'frequent band')} "
            f"(up to {result.capped.largest:,} texts) all were compared "
            "with the first only; --cap raises the limit"
        )
    if result.capped.missed:
        out.print(describe_missed(result.capped.missed))
    for sentence in result.passed_over.sentences("groups", "--measure containment"):
        out.print(sentence)
    _print_consistency(result, consistency)


def _print_exceptions(result: GroupResult, store_url: str) -> None:
    """Print how many documents no group takes, were never fingerprinted, or were left alone."""
    from rich.text import Text

    from indexer.stores.requirements import fingerprint_command

    out = console()
    for status, number in result.excluded.items():
        out.print(f"  {number:,} {status.replace('_', ' ')}: in no group without a copy")
    command = fingerprint_command(store_url)
    if result.never_signed:
        out.print(
            Text(
                f"  {result.never_signed:,} never fingerprinted, each on its own; `{command}` "
                "fingerprints them"
            )
        )
    if result.left_alone:
        reason = "a change would harm values of another program"
        out.print(Text(f"  {result.left_alone:,} left alone: {reason}; `{command}` names them"))
    if result.outdated:
        out.print(f"  {result.outdated:,} changed meanwhile by other programs: run group again")


def _print_copies(title: str, copies: Sequence[Copies], of: str) -> None:

    if copies:
        number = sum(len(group.documents) for group in copies)
        console().print(f"  {number:,} {of} in {count_of(len(copies), 'group')} of {title}")


def _print_moves(moves: Sequence[FamilyMove], noun: str, dry_run: bool) -> None:
    """Print how many documents changed group, and the first moves with their first documents."""
    from rich.text import Text

    out = console()
    if moves:
        documents = sum(len(move.documents) for move in moves)
        moved = "would move" if dry_run else "moved"
        out.print(f"{count_of(documents, noun)} {moved} to another group:")
    for move in moves[:LISTED]:
        before = move.before_path or move.before
        after = move.after_path or move.after
        line = f"  {before} -> {after}  {count_of(len(move.documents), noun)}"
        out.print(Text(visible(line)))
        for name in _names(move)[:NAMED]:
            out.print(Text(f"    {visible(name)}"))
        if len(move.documents) > NAMED:
            out.print(f"    ... and {len(move.documents) - NAMED:,} more")
    if len(moves) > LISTED:
        out.print(f"  ... and {len(moves) - LISTED:,} more moves; --json lists all")


def _names(move: FamilyMove) -> list[str]:
    """Return the paths of documents, or ids where there are none."""
    return [path or id for path, id in zip(move.paths, move.documents, strict=True)]


def _print_consistency(result: GroupResult, is_listed: bool) -> None:
    out = console()
    if is_listed:
        for family in result.inconsistent:
            counts = [f"{visible(label)} {number:,}" for label, number in family.labels.items()]
            counts.append(f"none {family.unlabelled:,}")
            documents = count_of(family.documents, "document")
            out.print(f"labels differ  {family.family}  {documents}: {', '.join(counts)}")
    if result.inconsistent or is_listed:
        groups = count_of(len(result.inconsistent), "near-duplicate group")
        more = "" if is_listed else "; --consistency lists them"
        out.print(f"{groups} whose members carry different labels{more}")


def _group_json(result: GroupResult) -> dict[str, object]:
    return {
        "documents": result.documents,
        "families": result.families,
        "largest": result.largest,
        "singletons": result.singletons,
        "clusters": result.clusters,
        "changed": result.changed,
        "provisional": result.provisional,
        "provisional_families": result.provisional_families,
        "excluded": result.excluded,
        "never_signed": result.never_signed,
        "left_alone": result.left_alone,
        "outdated": result.outdated,
        "moved": [
            {
                "from": move.before,
                "to": move.after,
                "from_path": move.before_path,
                "to_path": move.after_path,
                "documents": list(move.documents),
                "paths": list(move.paths),
            }
            for move in result.moved
        ],
        "same_bytes": list(map(_copies_json, result.same_bytes)),
        "same_text": list(map(_copies_json, result.same_text)),
        "inconsistent": [
            {
                "family": family.family,
                "documents": family.documents,
                "labels": family.labels,
                "unlabelled": family.unlabelled,
            }
            for family in result.inconsistent
        ],
        "capped": dataclasses.asdict(result.capped),
        "passed_over": dataclasses.asdict(result.passed_over),
    }


def _copies_json(copies: Copies) -> dict[str, object]:
    documents = [{"id": id, "path": path} for id, path in copies.documents]
    return {"digest": copies.digest, "documents": documents}
