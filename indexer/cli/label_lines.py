"""Output of `nearfold label`: changes, undone labellings and the history, as lines or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from rich.text import Text

from indexer.cli.console import console, print_json, print_lines
from indexer.grouping.label import LabelResult, LabelUpdate, ReviewItem
from indexer.grouping.label_from import LabelFileResult
from indexer.grouping.label_journal import LabelJob
from indexer.grouping.undo_labels import UndoResult
from indexer.text.visible import visible
from indexer.text.wording import count_of, spell_labels

_REASONS = {"label": "its family carries a label for review", "similarity": "not similar enough"}


def print_coding(result: LabelFileResult, as_json: bool, dry_run: bool) -> None:
    """Print what a file of labels changed or would change, and what of it was left."""
    if as_json:
        print_json(_coding_json(result, dry_run))
        return
    _print_changes(result, dry_run)
    out = console()
    if result.conflicts:
        out.print(f"{count_of(len(result.conflicts), 'document')} with labels not in the file:")
        print_lines(
            f"  kept {spell_labels(conflict.kept)}  {conflict.id}  {conflict.path}"
            for conflict in result.conflicts
        )
        out.print("--replace removes them")
    print_lines(f"  failed  {failure.path}: {failure.error}" for failure in result.failed)
    print_lines(f"  not in the store: {id}" for id in result.absent)
    _print_job(result.job)


def _print_changes(result: LabelResult | LabelFileResult, dry_run: bool) -> None:
    """Print how many documents have other labels, and which."""
    verb = "would change" if dry_run else "changed"
    documents = count_of(len(result.changes), "document")
    console().print(f"labels of {documents} {verb}; {result.unchanged:,} had them already")
    print_lines(_change_lines(result.changes))


def _change_lines(changes: Sequence[LabelUpdate]) -> Iterator[str]:
    for change in changes:
        labels = _label_change(change.before, change.after)
        mail = f"  (with {change.attached_with})" if change.attached_with else ""
        yield f"  {labels}  {_similarity(change.similarity)}{change.id}  {change.path}{mail}"


def _print_job(job: int | None) -> None:
    if job is not None:
        console().print(f"labelling {job}; `nearfold label --undo {job}` takes it back")


def print_labels(result: LabelResult, as_json: bool, dry_run: bool) -> None:
    """Print what a labelling changed or would change, and what it leaves for review."""
    if as_json:
        print_json(_labels_json(result, dry_run))
        return
    _print_changes(result, dry_run)
    out = console()
    if result.provisional:
        out.print(
            f"note: in the family of their arrival only: {result.provisional:,}; "
            "`nearfold group` makes it final"
        )
    if result.review:
        out.print(f"{count_of(len(result.review), 'document')} left for review:")
        print_lines(map(_review_line, result.review))
    print_lines(f"  not in the store: {id}" for id in result.absent)
    _print_job(result.job)


def print_undo(result: UndoResult, as_json: bool, dry_run: bool) -> None:
    """Print which documents have their labels back, and which do not."""
    if as_json:
        print_json(_undo_json(result, dry_run))
        return
    out = console()
    verb = "would have their labels back" if dry_run else "have their labels back"
    out.print(f"labelling {result.job}: {count_of(len(result.restored), 'document')} {verb}")
    print_lines(
        f"  {_label_change(change.after, change.before)}  {change.id}  {change.path}"
        for change in result.restored
    )
    for change in result.changed_since:
        turn = _label_change(change.before, change.after)
        line = f"  kept, its labels changed since: {turn}  {change.id}  {change.path}"
        out.print(Text(visible(line)))
    print_lines(f"  not in the store: {id}" for id in result.absent)


def print_history(jobs: Sequence[LabelJob], as_json: bool) -> None:
    """Print the labellings of a store."""
    if as_json:
        names = (
            "number",
            "at",
            "added",
            "removed",
            "documents",
            "restored",
            "reviewer",
            "undone_by",
        )
        values = attrgetter(*names)
        print_json([dict(zip(names, values(job), strict=True)) for job in jobs])
        return
    out = console()
    out.print(f"{count_of(len(jobs), 'labelling')}")
    for job in jobs:
        added = [f"+{name}" for name in job.added]
        removed = [f"-{name}" for name in job.removed]
        labels = " ".join(added + removed)
        undone_by = f" by {' and '.join(job.undone_by)}" if job.undone_by else ""
        restored = f", {job.restored:,} restored{undone_by}" if job.restored else ""
        documents = f"{count_of(job.documents, 'document')}{restored}"
        by = f"  by {job.reviewer}" if job.reviewer else ""
        out.print(Text(visible(f"  {job.number}  {job.at}  {labels}  {documents}{by}")))


def _coding_json(result: LabelFileResult, dry_run: bool) -> dict[str, Any]:
    return {
        "job": result.job,
        "dry_run": dry_run,
        "changes": [_change_json(change) for change in result.changes],
        "conflicts": [
            {"id": conflict.id, "path": conflict.path, "kept": list(conflict.kept)}
            for conflict in result.conflicts
        ],
        "failed": [{"path": item.path, "error": item.error} for item in result.failed],
        "unchanged": result.unchanged,
        "absent": list(result.absent),
    }


def _change_json(change: LabelUpdate) -> dict[str, Any]:
    return {
        "id": change.id,
        "path": change.path,
        "family": change.family,
        "before": list(change.before),
        "after": list(change.after),
        "similarity": change.similarity,
        "attached_with": change.attached_with,
    }


def _labels_json(result: LabelResult, dry_run: bool) -> dict[str, Any]:
    review = [
        {
            "id": item.id,
            "path": item.path,
            "family": item.family,
            "labels": list(item.labels),
            "similarity": item.similarity,
            "reason": item.reason,
        }
        for item in result.review
    ]
    return {
        "job": result.job,
        "dry_run": dry_run,
        "changes": [_change_json(change) for change in result.changes],
        "review": review,
        "unchanged": result.unchanged,
        "provisional": result.provisional,
        "absent": list(result.absent),
    }


def _undo_json(result: UndoResult, dry_run: bool) -> dict[str, Any]:
    restored = [
        {"id": change.id, "path": change.path, "labels": list(change.before)}
        for change in result.restored
    ]
    changed_since = [
        {
            "id": change.id,
            "path": change.path,
            "expected": list(change.before),
            "labels": list(change.after),
        }
        for change in result.changed_since
    ]
    return {
        "job": result.job,
        "dry_run": dry_run,
        "restored": restored,
        "changed_since": changed_since,
        "absent": list(result.absent),
    }


def _review_line(item: ReviewItem) -> str:
    document = f"{_similarity(item.similarity)}{item.id}  {item.path}"
    return f"  {spell_labels(item.labels)}  {document}  ({_REASONS[item.reason]})"


def _label_change(before: Sequence[str], after: Sequence[str]) -> str:
    return f"{spell_labels(before)} -> {spell_labels(after)}"


def _similarity(similarity: float | None) -> str:
    return "" if similarity is None else f"{similarity:.3f}  "
