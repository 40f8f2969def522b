"""`nearfold label`: label documents and the members of their near-duplicate groups."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.exit_codes import EXIT_FAILED, EXIT_STORE
from indexer.cli.options import (
    FractionType,
    coding_options,
    dry_run_option,
    encoding_option,
    json_option,
    limit_option,
    open_for_command,
    refuse_options,
    store_option,
)
from indexer.cli.output import console, first_items, print_json, print_lines, short_path
from indexer.errors import UsageError
from indexer.wording import count_of, format_labels, format_marks, mark_name, visible

if TYPE_CHECKING:
    from indexer.coding import Coding, CodingField, CodingRule
    from indexer.jobs.label import LabelJob, LabelResult, LabelUpdate, ReviewItem, UndoResult
    from indexer.jobs.label_from import LabelFileOptions, LabelFileResult
    from indexer.model import MarkKind


# Output of `nearfold label`: changes, undone labellings and the history, as lines or JSON.

_BROKEN = "not to be written, because of the rules:"
_REASONS = {"label": "its group carries a label for review", "similarity": "not similar enough"}


def print_coding(result: LabelFileResult, store_url: str, as_json: bool, dry_run: bool) -> None:
    """Print what a file of labels changed or would change, and what of it was left."""
    if as_json:
        print_json(_coding_json(result, dry_run))
        return
    _print_changes(result, dry_run)
    out = console()
    if result.conflicts:
        out.print(f"{count_of(len(result.conflicts), 'document')} with labels not in the file:")
        print_lines(
            f"  kept {format_labels(conflict.kept)}  {conflict.id}  {short_path(conflict.path)}"
            for conflict in result.conflicts
        )
        out.print("--replace removes them")
    print_lines(
        f"  failed  {short_path(failure.path)}: {failure.error}" for failure in result.failed
    )
    print_lines(f"  not in the store: {id}" for id in result.absent)
    _print_job(result.job, store_url)


def _print_changes(result: LabelResult | LabelFileResult, dry_run: bool) -> None:
    """Print how many documents have other labels, and which."""
    verb = "would change" if dry_run else "changed"
    documents = count_of(len(result.changes), "document")
    console().print(f"labels of {documents} {verb}; {result.unchanged:,} had them already")
    print_lines(_change_lines(result.changes))
    if kinds := _count_marks(result.changes):
        counts = (f"{mark_name(kind)} {number:,}" for kind, number in sorted(kinds.items()))
        console().print(f"marks of members: {', '.join(counts)}")


def _count_marks(changes: Sequence[LabelUpdate]) -> Counter[MarkKind]:
    return Counter(mark.kind for change in changes for mark in change.marks)


def _change_lines(changes: Sequence[LabelUpdate]) -> Iterator[str]:
    for change in changes:
        labels = _label_change(change.before, change.after)
        mail = f"  (with {change.attached_with})" if change.attached_with else ""
        document = f"{_similarity(change.similarity)}{change.id}  {short_path(change.path)}"
        yield f"  {labels}  {document}{mail}"
        if change.marks:
            yield f"      marks: {format_marks(change.marks)}"


def _print_job(job: int | None, store_url: str) -> None:
    if job is not None:
        undo = f"`nearfold label --undo {job} --store {store_url}`"
        console().print(f"labelling {job}; {undo} takes it back")


def print_labels(result: LabelResult, store_url: str, as_json: bool, dry_run: bool) -> None:
    """Print what a labelling changed or would change, and what it leaves for review."""
    if as_json:
        print_json(_labels_json(result, dry_run))
        return
    _print_changes(result, dry_run)
    out = console()
    if result.provisional:
        out.print(
            f"note: {count_of(result.provisional, 'document')} with a provisional group; "
            f"`nearfold group --store {store_url}` makes it final"
        )
    if result.review:
        out.print(f"{count_of(len(result.review), 'document')} left for review:")
        print_lines(map(_review_line, result.review))
    print_lines(f"  not in the store: {id}" for id in result.absent)
    if result.broken:
        out.print(_BROKEN)
        print_lines(f"  {rule}" for rule in result.broken)
    _print_job(result.job, store_url)


def print_undo(result: UndoResult, as_json: bool, dry_run: bool) -> None:
    """Print which documents have their labels back, and which do not."""
    from rich.text import Text

    if as_json:
        print_json(_undo_json(result, dry_run))
        return
    out = console()
    verb = "would have their labels back" if dry_run else "have their labels back"
    out.print(f"labelling {result.job}: {count_of(len(result.restored), 'document')} {verb}")
    print_lines(
        f"  {_label_change(change.after, change.before)}  {change.id}  {short_path(change.path)}"
        for change in result.restored
    )
    for change in result.changed_since:
        turn = _label_change(change.before, change.after)
        line = f"  kept, its labels changed since: {turn}  {change.id}  {short_path(change.path)}"
        out.print(Text(visible(line)))
    print_lines(f"  not in the store: {id}" for id in result.absent)


def print_history(jobs: Sequence[LabelJob], limit: int | None, as_json: bool) -> None:
    """Print the labellings of a store, the last one first; with `as_json` each is a line."""
    from rich.text import Text

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
        for job in first_items(jobs, limit, as_json):
            print_json(dict(zip(names, values(job), strict=True)))
        return
    out = console()
    out.print(f"{count_of(len(jobs), 'labelling')}")
    for job in first_items(jobs, limit):
        added = [f"+{name}" for name in job.added]
        removed = [f"-{name}" for name in job.removed]
        labels = " ".join(added + removed)
        undone_by = f" by {' and '.join(job.undone_by)}" if job.undone_by else ""
        restored = f", {job.restored:,} restored{undone_by}" if job.restored else ""
        documents = f"{count_of(job.documents, 'document')}{restored}"
        by = f"  by {job.reviewer}" if job.reviewer else ""
        out.print(Text(visible(f"  {job.number}  {job.at}  {labels}  {documents}{by}")))


def print_coding_fields(coding: Coding, as_json: bool) -> None:
    """Print the fields and rules of a store."""
    if as_json:
        print_json(dataclasses.asdict(coding))
        return
    console().print(f"{count_of(len(coding.fields), 'field')}")
    print_lines(f"  {one}" for one in (*coding.fields, *coding.rules))


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
        "marks": list(map(dataclasses.asdict, change.marks)),
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
        "marks": dict(_count_marks(result.changes)),
        "review": review,
        "unchanged": result.unchanged,
        "provisional": result.provisional,
        "absent": list(result.absent),
        "broken": [dataclasses.asdict(rule) for rule in result.broken],
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
    document = f"{_similarity(item.similarity)}{item.id}  {short_path(item.path)}"
    return f"  {format_labels(item.labels)}  {document}  ({_REASONS[item.reason]})"


def _label_change(before: Sequence[str], after: Sequence[str]) -> str:
    return f"{format_labels(before)} -> {format_labels(after)}"


def _similarity(similarity: float | None) -> str:
    return "" if similarity is None else f"{similarity:.3f}  "


@click.command("label")
@click.argument("ids", nargs=-1, metavar="[ID|PATH...]")
@click.option("--carrying", metavar="LABEL", help="Label the documents that have this label.")
@click.option(
    "--label",
    "add",
    multiple=True,
    metavar="LABEL",
    help="Label to add; may be given several times.",
)
@click.option(
    "--remove", multiple=True, metavar="LABEL", help="Label to remove; may be given several times."
)
@click.option(
    "--family", is_flag=True, help="Also label all members of their near-duplicate groups."
)
@click.option("--others", is_flag=True, help="With --family: label only these other members.")
@click.option(
    "--review",
    multiple=True,
    metavar="LABEL",
    help="With --family: list groups that have this label for review, and leave them unchanged.",
)
@click.option(
    "--threshold",
    type=FractionType(0, 1),
    default=0.0,
    show_default=True,
    help="With --family: list less similar members for review.",
)
@click.option(
    "--attachments",
    is_flag=True,
    help="Treat a mail and its attachments as one unit.",
)
@click.option(
    "--from",
    "label_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Add the labels of documents in a load file (.dat) or a table (.csv, .tsv).",
)
@click.option(
    "--replace",
    is_flag=True,
    help="With --from: also remove labels of these documents that the file lacks.",
)
@click.option("--id-field", help="With --from: field with the id (default: DOCID or id).")
@click.option("--label-field", help="With --from: field with the labels (default: Labels).")
@encoding_option
@click.option(
    "--note", default="", metavar="TEXT", help="Add a note to each document, such as a reason."
)
@dry_run_option("Write nothing; print what would change.")
@click.option(
    "--reviewer", default="", metavar="NAME", help="Name of the reviewer who labels or undoes."
)
@click.option(
    "--undo",
    type=int,
    metavar="JOB",
    help="Restore the labels from before this labelling.",
)
@click.option("--history", is_flag=True, help="List earlier labellings, the latest first.")
@coding_options
@click.option("--fields", "list_fields", is_flag=True, help="List the coding fields and rules.")
@limit_option
@store_option
@json_option
def label_command(
    ids: tuple[str, ...],
    carrying: str | None,
    dry_run: bool,
    reviewer: str,
    undo: int | None,
    history: bool,
    limit: int | None,
    label_file: Path | None,
    fields: tuple[CodingField, ...],
    rules: tuple[CodingRule, ...],
    list_fields: bool,
    store_url: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Label documents and the members of their groups.

    Every change can be undone. A label may be a value of a coding field, as FIELD=VALUE.

    With --from, labels are imported from a review platform. They are added; labels that a document
    has and the file lacks are listed as conflicts and kept, unless --replace is given.
    """
    from indexer.jobs.label import LabelOptions, label, label_history, undo_labels
    from indexer.jobs.label_from import label_from
    from indexer.jobs.review_file import define_coding, stored_coding
    from indexer.stores.requirements import stored_ids

    is_labelling = bool(ids or carrying is not None or options["add"] or options["remove"])
    is_coding = bool(fields or rules or list_fields)
    if is_labelling + (undo is not None) + history + (label_file is not None) + is_coding != 1:
        raise UsageError(
            "give documents and labels, or --from FILE, or --undo JOB, or --history, or --field "
            "and --rule, and only one of these"
        )
    of_file = _take_file_options(options, label_file)
    if (options["review"] or options["threshold"]) and not options["family"]:
        raise UsageError(
            "--review and --threshold are about the members of groups; give --family too"
        )
    if not history:
        refuse_options(["limit"], "without --history")
    with open_for_command(store_url) as store:
        if is_coding:
            is_new = bool(fields or rules)
            coding = define_coding(store, fields, rules) if is_new else stored_coding(store)
            print_coding_fields(coding, as_json)
            return 0
        if history:
            print_history(label_history(store), limit, as_json)
            return 0
        if undo is not None:
            undone = undo_labels(store, undo, dry_run=dry_run, reviewer=reviewer)
            print_undo(undone, as_json, dry_run)
            return EXIT_FAILED if undone.changed_since or undone.absent else 0
        if label_file is not None:
            coded = label_from(store, label_file, of_file, dry_run=dry_run, reviewer=reviewer)
            print_coding(coded, store_url, as_json, dry_run)
            return EXIT_FAILED if coded.conflicts or coded.failed or coded.absent else 0
        settings = LabelOptions(**options)
        ids = tuple(stored_ids(store, ids))
        result = label(store, ids, settings, carrying=carrying, dry_run=dry_run, reviewer=reviewer)
    print_labels(result, store_url, as_json, dry_run)
    return EXIT_STORE if result.absent else 0


def _take_file_options(options: dict[str, Any], label_file: Path | None) -> LabelFileOptions:
    """Take the options of a file of labels out of these; refuse those that would do nothing."""
    from indexer.jobs.label_from import LabelFileOptions

    names = ("replace", "id_field", "label_field", "encoding")
    if label_file is None:
        refuse_options(names, "without --from")
    else:
        of_families = ("family", "others", "review", "threshold", "attachments", "note")
        refuse_options(of_families, "with --from")
    return LabelFileOptions(**{name: options.pop(name) for name in names})
