"""What label and consistency print: lists for people, one JSON document for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.grouping.consistency import Disagreement
from indexer.grouping.label import LabelResult, ReviewItem, UndoResult
from indexer.grouping.label_journal import LabelJob
from indexer.text.visible import visible
from indexer.text.wording import count_of

LISTED = 50
_REASONS = {"label": "its family carries a label for review", "similarity": "not similar enough"}


def labelled(done: LabelResult, as_json: bool, dry_run: bool) -> None:
    """What a labelling changed or would change, and what it leaves for review."""
    if as_json:
        print_json(_json(done, dry_run))
        return
    out = console()
    verb = "would change" if dry_run else "changed"
    out.print(
        f"labels of {count_of(len(done.changes), 'document')} {verb}; {done.unchanged:,} had them already"
    )
    _print(
        f"  {_turn(one.before, one.after)}  {_near(one.similarity)}{one.id}  {one.path}"
        for one in done.changes
    )
    if done.provisional:
        out.print(
            f"note: {done.provisional:,} of them are in their family on arrival only; `nearfold group` makes it final"
        )
    if done.review:
        out.print(f"{count_of(len(done.review), 'document')} left for review:")
        _print(_queued(one) for one in done.review)
    _print(f"  not in the store: {id}" for id in done.absent)
    if done.job is not None:
        out.print(f"labelling {done.job}; `nearfold label --undo {done.job}` takes it back")


def undone(done: UndoResult, as_json: bool, dry_run: bool) -> None:
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
    _print(f"  {_turn(one.after, one.before)}  {one.id}  {one.path}" for one in done.restored)
    for one in done.changed_since:
        out.print(
            Text(
                visible(
                    f"  kept, its labels changed since: {_turn(one.before, one.after)}  {one.id}  {one.path}"
                )
            )
        )
    _print(f"  not in the store: {id}" for id in done.absent)


def history(jobs: Sequence[LabelJob], as_json: bool) -> None:
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


def disagreements(found: Sequence[Disagreement], as_json: bool) -> None:
    """Families whose documents carry different labels, each with its documents."""
    if as_json:
        print_json({"families": [_disagreement(one) for one in found]})
        return
    out = console()
    out.print(f"{count_of(len(found), 'family')} whose documents carry different labels")
    for one in found:
        told = ", ".join(
            [
                *(f"{label} {number:,}" for label, number in one.labels.items()),
                f"none {one.unlabelled:,}",
            ]
        )
        out.print(Text(visible(f"{one.family}  {count_of(len(one.members), 'document')}: {told}")))
        _print(f"  {_spelled(member.labels)}  {member.id}  {member.path}" for member in one.members)


def _json(done: LabelResult, dry_run: bool) -> dict[str, Any]:
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


def _disagreement(one: Disagreement) -> dict[str, Any]:
    members = [
        {
            "id": member.id,
            "path": member.path,
            "labels": list(member.labels),
            "principal": member.principal,
            "similarity": member.similarity,
        }
        for member in one.members
    ]
    return {
        "family": one.family,
        "labels": one.labels,
        "unlabelled": one.unlabelled,
        "members": members,
    }


def _queued(one: ReviewItem) -> str:
    return f"  {_spelled(one.labels)}  {_near(one.similarity)}{one.id}  {one.path}  ({_REASONS[one.reason]})"


def _print(lines: Iterable[str]) -> None:
    """The first lines, and how many there are beyond them."""
    told = list(lines)
    out = console()
    for line in told[:LISTED]:
        out.print(Text(visible(line)))
    if len(told) > LISTED:
        out.print(f"  ... and {len(told) - LISTED:,} more; --json lists all")


def _turn(before: Sequence[str], after: Sequence[str]) -> str:
    return f"{_spelled(before)} -> {_spelled(after)}"


def _spelled(labels: Sequence[str]) -> str:
    return ", ".join(labels) or "(none)"


def _near(similarity: float | None) -> str:
    return "" if similarity is None else f"{similarity:.3f}  "
