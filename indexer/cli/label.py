"""`nearfold label`: label documents and the members of their families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from indexer.cli.console import console, print_json, print_lines
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import ShareType, json_option, open_for_command, store_option
from indexer.errors import UsageError
from indexer.grouping.label import (
    LabelOptions,
    LabelResult,
    ReviewItem,
    UndoResult,
    label,
    label_history,
    undo_labels,
)
from indexer.grouping.label_journal import LabelJob
from indexer.text.visible import visible
from indexer.text.wording import count_of, spell_labels

_REASONS = {"label": "its family carries a label for review", "similarity": "not similar enough"}


@click.command("label")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--carrying", metavar="LABEL", help="Name the documents that carry this label.")
@click.option(
    "--label", "add", multiple=True, metavar="LABEL", help="Add it; may be given several times."
)
@click.option(
    "--remove", multiple=True, metavar="LABEL", help="Remove it; may be given several times."
)
@click.option("--family", is_flag=True, help="Do the same to all members of their families.")
@click.option(
    "--review",
    multiple=True,
    metavar="LABEL",
    help="With --family: list families that carry it for review, change nothing.",
)
@click.option(
    "--threshold",
    type=ShareType(0, 1),
    default=0.0,
    show_default=True,
    help="With --family: list less similar members for review.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would change.")
@click.option(
    "--undo",
    type=int,
    metavar="JOB",
    help="Give documents the labels back that they had before this labelling.",
)
@click.option("--history", is_flag=True, help="List the labellings that were made.")
@store_option
@json_option
def label_command(
    ids: tuple[str, ...],
    carrying: str | None,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    family: bool,
    review: tuple[str, ...],
    threshold: float,
    dry_run: bool,
    undo: int | None,
    history: bool,
    store_url: str,
    as_json: bool,
) -> int:
    """Label documents and the members of their families; every change can be undone."""
    named = bool(ids or carrying is not None or add or remove)
    if named + (undo is not None) + history != 1:
        raise UsageError(
            "name documents and labels, or give --undo JOB, or --history, and only one of these"
        )
    if (review or threshold) and not family:
        raise UsageError(
            "--review and --threshold are about the members of families; give --family too"
        )
    with open_for_command(store_url) as store:
        if history:
            _print_history(label_history(store), as_json)
            return 0
        if undo is not None:
            undone = undo_labels(store, undo, dry_run=dry_run)
            _print_undo(undone, as_json, dry_run)
            return EXIT_FAILED if undone.changed_since or undone.absent else 0
        options = LabelOptions(add, remove, family, review, threshold)
        done = label(store, ids, options, carrying=carrying, dry_run=dry_run)
    _print_labels(done, as_json, dry_run)
    return EXIT_FAILED if done.absent else 0


def _print_labels(done: LabelResult, as_json: bool, dry_run: bool) -> None:
    """What a labelling changed or would change, and what it leaves for review."""
    if as_json:
        print_json(_labels_json(done, dry_run))
        return
    out = console()
    verb = "would change" if dry_run else "changed"
    out.print(
        f"labels of {count_of(len(done.changes), 'document')} {verb}; {done.unchanged:,} had them already"
    )
    print_lines(
        f"  {_turn(one.before, one.after)}  {_near(one.similarity)}{one.id}  {one.path}"
        for one in done.changes
    )
    if done.provisional:
        out.print(
            f"note: {done.provisional:,} of them are in their family on arrival only; `nearfold group` makes it final"
        )
    if done.review:
        out.print(f"{count_of(len(done.review), 'document')} left for review:")
        print_lines(_queued(one) for one in done.review)
    print_lines(f"  not in the store: {id}" for id in done.absent)
    if done.job is not None:
        out.print(f"labelling {done.job}; `nearfold label --undo {done.job}` takes it back")


def _print_undo(done: UndoResult, as_json: bool, dry_run: bool) -> None:
    """What became of a labelling that was undone."""
    if as_json:
        restored = [
            {"id": one.id, "path": one.path, "labels": list(one.before)} for one in done.restored
        ]
        since = [
            {
                "id": one.id,
                "path": one.path,
                "expected": list(one.before),
                "labels": list(one.after),
            }
            for one in done.changed_since
        ]
        absent = list(done.absent)
        print_json(
            {
                "job": done.job,
                "dry_run": dry_run,
                "restored": restored,
                "changed_since": since,
                "absent": absent,
            }
        )
        return
    out = console()
    verb = "would have their labels back" if dry_run else "have their labels back"
    out.print(f"labelling {done.job}: {count_of(len(done.restored), 'document')} {verb}")
    print_lines(f"  {_turn(one.after, one.before)}  {one.id}  {one.path}" for one in done.restored)
    for one in done.changed_since:
        out.print(
            Text(
                visible(
                    f"  kept, its labels changed since: {_turn(one.before, one.after)}  {one.id}  {one.path}"
                )
            )
        )
    print_lines(f"  not in the store: {id}" for id in done.absent)


def _print_history(jobs: Sequence[LabelJob], as_json: bool) -> None:
    """The labellings of a store."""
    if as_json:
        names = ("number", "at", "added", "removed", "documents", "restored")
        print_json([{name: getattr(job, name) for name in names} for job in jobs])
        return
    out = console()
    out.print(f"{count_of(len(jobs), 'labelling')}")
    for job in jobs:
        signs = " ".join([*(f"+{one}" for one in job.added), *(f"-{one}" for one in job.removed)])
        back = f", {job.restored:,} restored" if job.restored else ""
        out.print(
            Text(
                visible(
                    f"  {job.number}  {job.at}  {signs}  {count_of(job.documents, 'document')}{back}"
                )
            )
        )


def _labels_json(done: LabelResult, dry_run: bool) -> dict[str, Any]:
    changes = [
        {
            "id": one.id,
            "path": one.path,
            "family": one.family,
            "before": list(one.before),
            "after": list(one.after),
            "similarity": one.similarity,
        }
        for one in done.changes
    ]
    review = [
        {
            "id": one.id,
            "path": one.path,
            "family": one.family,
            "labels": list(one.labels),
            "similarity": one.similarity,
            "reason": one.reason,
        }
        for one in done.review
    ]
    told = {
        "unchanged": done.unchanged,
        "provisional": done.provisional,
        "absent": list(done.absent),
    }
    return {"job": done.job, "dry_run": dry_run, "changes": changes, "review": review, **told}


def _queued(one: ReviewItem) -> str:
    return f"  {spell_labels(one.labels)}  {_near(one.similarity)}{one.id}  {one.path}  ({_REASONS[one.reason]})"


def _turn(before: Sequence[str], after: Sequence[str]) -> str:
    return f"{spell_labels(before)} -> {spell_labels(after)}"


def _near(similarity: float | None) -> str:
    return "" if similarity is None else f"{similarity:.3f}  "
